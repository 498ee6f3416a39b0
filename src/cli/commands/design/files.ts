/** Input files, read whole, with one sentence for everything that can be wrong with them. */
import { readFile } from "node:fs/promises";
import { EnvironmentError, InputError } from "../../../core/errors.js";

export const fileTexts = {
  missing: (path: string) => `there is no file ${path}: check its name and folder`,
  folder: (path: string) => `${path} is a folder: name a file in it`,
  refused: (path: string, reason: string) => `${path} could not be read (${reason})`,
  /** Without the parser's reason, which quotes the file. */
  notJson: (path: string) => `${path} is not JSON: give a file that is`,
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
  } catch {
    throw new InputError("not-json", fileTexts.notJson(path));
  }
};
