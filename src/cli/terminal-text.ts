/**
 * Text that a terminal shows and does not obey. Names and values come from files, databases and queues that others
 * wrote: a control character in them could colour or clear the screen, retitle the window, type into it on some
 * terminals, or turn what follows around.
 */

/** C0 and C1 controls, DEL, separators of lines, and what turns the direction of writing. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about
const OBEYED = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
/** The same, except that lines end and are indented. */
const OBEYED_IN_LINES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** A name or a value, on one line. */
export const shownText = (text: string): string => text.replace(OBEYED, escaped);

/**
 * Whole output, whose lines stay. Escapes are those of JSON, where these characters stand in texts only: JSON stays what
 * it was.
 */
export const shownLines = (text: string): string => text.replace(OBEYED_IN_LINES, escaped);

/** A result with every text and name in it as it may be shown; the same object where nothing has to change. */
export const shownResult = <Value>(value: Value): Value => shown(value) as Value;

const shown = (value: unknown): unknown => {
  if (typeof value === "string") return shownText(value);
  if (Array.isArray(value)) {
    const items = value.map(shown);
    return items.some((item, i) => item !== value[i]) ? items : value;
  }
  if (!isPlain(value)) return value;
  const entries = Object.entries(value).map(([name, each]) => [shownText(name), shown(each)] as const);
  const changed = Object.entries(value).some(([name, each], i) => {
    const [shownName, shownEach] = entries[i];
    return name !== shownName || each !== shownEach;
  });
  return changed ? Object.fromEntries(entries) : value;
};

const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> => {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
};
