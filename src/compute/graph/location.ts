/** Where in the user's code something happened, read from a stack trace. */

/** An address as people read it: files by their path, no query. */
const fileOf = (address: string): string =>
  (address.startsWith("file://") ? decodeURI(address.slice("file://".length)) : address).replace(
    /\?[^:]*/,
    "",
  );

/** `file:line:column` in one line of a stack trace; undefined for the platform's own code. */
export const locationIn = (line: string): string | undefined => {
  const text = line.trim();
  // "at name (place)" or "at place" in V8, "name@place" elsewhere.
  const [, place] =
    /^at .*?\((.*)\)$/.exec(text) ?? /^at (?:async )?(.*)$/.exec(text) ?? /@(.*)$/.exec(text) ?? [];
  if (place === undefined || !/:\d+:\d+$/.test(place) || /^node:|<anonymous>/.test(place)) return undefined;
  return fileOf(place);
};

/** Places in a stack trace, innermost first; the platform's own functions (Math.log, Array.map) have none. */
const locationsIn = (stack: string): string[] =>
  stack
    .split("\n")
    .map(locationIn)
    .filter((location) => location !== undefined);

/** Where an error was thrown. */
export const thrownAt = ({ stack = "", message }: Error): string | undefined =>
  locationsIn(stack.slice(stack.indexOf(message) + message.length))[0];

const locationsAbove = (within: (...args: never[]) => unknown): string[] => {
  const holder: { stack?: string | undefined } = {};
  const capture = (Error as { captureStackTrace?: ((target: object, from: unknown) => void) | undefined })
    .captureStackTrace;
  capture?.(holder, within);
  return locationsIn(holder.stack ?? "");
};

/** The line of the caller of `within`, so that an error names the user's code and not the library's. */
export const callerOf = (within: (...args: never[]) => unknown): string | undefined =>
  locationsAbove(within)[0];

/** Where this library's files are, as a stack names them; in a bundle, the bundle. */
/** The folder of this library, or the file that a bundler put it in. */
const LIBRARY = fileOf(import.meta.url).replace(/compute\/graph\/[^/]*$/, "");

/** Whether a line is of somebody's own code, and not of this library. */
export const isOutsideLibrary = (location: string): boolean => !location.startsWith(LIBRARY);

/** The line outside this library that called into it. */
export const callerOfLibrary = (): string | undefined =>
  locationsAbove(callerOfLibrary).find(isOutsideLibrary);
