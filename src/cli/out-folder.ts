/** Whether files can be written where they were asked for, looked at before the work and not after it. */
import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { EnvironmentError, InputError } from "../core/errors.js";
import { writeText } from "./atomic-write.js";

/** Makes the folder that files are to go to, with those above it. */
export const makeFolder = async (path: string): Promise<void> => {
  try {
    await mkdir(path, { recursive: true });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    if (code === "EEXIST" || code === "ENOTDIR") throw new InputError("no-folder", writeText.isFile(path));
    throw new EnvironmentError("write-refused", writeText.refused(path, code), { cause: error });
  }
};

/** Throws where the folder of `out` is not there, `out` is a folder itself, or one of the files that are read. */
export const requireFolder = async (
  out: string,
  inputs: readonly (string | undefined)[] = [],
): Promise<void> => {
  const folder = await stat(dirname(out)).catch(() => undefined);
  if (!folder?.isDirectory()) throw new InputError("no-folder", writeText.noFolder(out));
  const file = await stat(out).catch(() => undefined);
  if (file?.isDirectory()) throw new InputError("file-is-folder", writeText.isFolder(out));
  if (file === undefined) return;
  for (const input of inputs) {
    const read = input === undefined ? undefined : await stat(input).catch(() => undefined);
    // The same file by whatever name: a link, another spelling of its path.
    if (read?.isFile() && read.dev === file.dev && read.ino === file.ino) {
      throw new InputError("out-is-input", writeText.isInput(out));
    }
  }
};
