/** Whether a file can be written where it was asked for, looked at before the work and not after it. */
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { InputError } from "../core/errors.js";
import { writeText } from "./atomic-write.js";

/** Throws where the folder of `out` is not there, or `out` is a folder itself. */
export const requireFolder = async (out: string): Promise<void> => {
  const folder = await stat(dirname(out)).catch(() => undefined);
  if (!folder?.isDirectory()) throw new InputError("no-folder", writeText.noFolder(out));
  const file = await stat(out).catch(() => undefined);
  if (file?.isDirectory()) throw new InputError("file-is-folder", writeText.isFolder(out));
};
