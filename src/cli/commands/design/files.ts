/** Input files, read whole, with one sentence for everything that can be wrong with them. */
import { readFile } from "node:fs/promises";
import { EnvironmentError, InputError } from "../../../core/errors.js";

export const fileTexts = {
  missing: (path: string) => `there is no file ${path}: check its name and folder`,
  folder: (path: string) => `${path} is a folder: name a file in it`,
  refused: (path: string, reason: string) => `${path} could not be read (${reason})`,
  /** Without the parser's reason, which quotes the file; the line is where it stopped, if it says so. */
  notJson: (path: string, line?: number) =>
    `${path} is not JSON${line === undefined ? "" : ` (see line ${line})`}: give a file that is`,
};

export const readBytes = async (path: string): Promise<Uint8Array> => {
  try {
    return await readFile(path);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    if (code === "ENOENT" || code === "ENOTDIR") throw new InputError("no-file", fileTexts.missing(path));
    if (code === "EISDIR") throw new InputError("file-is-folder", fileTexts.folder(path));
    throw new EnvironmentError("read-refused", fileTexts.refused(path, code), { cause: error });
  }
};

export const readJson = async (path: string): Promise<unknown> => {
  const text = new TextDecoder().decode(await readBytes(path));
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new InputError("not-json", fileTexts.notJson(path, lineOf(error, text)));
  }
};

/** The line of the position at the end of the parser's message; undefined where it has none. */
const lineOf = (error: unknown, text: string): number | undefined => {
  const message = error instanceof Error ? error.message : "";
  if (message === "Unexpected end of JSON input") return text.trimEnd().split("\n").length;
  const [, position] = / at position (\d+)(?: \(line \d+ column \d+\))?$/.exec(message) ?? [];
  return position === undefined ? undefined : text.slice(0, Number(position)).split("\n").length;
};
