/** A folder that one process at a time writes results to. */
import { rmdir } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { claimFolder } from "../jobs/folder-claim.js";
import { failedWrite } from "./atomic-write.js";
import { makeFolder } from "./out-folder.js";

/**
 * Runs what writes results to a folder, which nobody else may do meanwhile. A folder that was made for it goes again
 * where nothing came of it.
 */
export const withClaimedFolder = async <Result>(
  folder: string,
  work: () => Promise<Result>,
): Promise<Result> => {
  const made = await makeFolder(folder);
  try {
    const release = await claimFolder(folder).catch((error: unknown) => {
      throw failedWrite(folder, error);
    });
    try {
      return await work();
    } finally {
      release();
    }
  } catch (error) {
    if (made !== undefined) await removeIfEmpty(folder, made);
    throw error;
  }
};

/** From the innermost up to `top`, as long as they hold nothing. */
const removeIfEmpty = async (folder: string, top: string): Promise<void> => {
  for (let path = resolve(folder); path.startsWith(resolve(top)); path = dirname(path)) {
    const gone = await rmdir(path).then(
      () => true,
      () => false,
    );
    if (!gone) return;
  }
};
