/**
 * A training run in the middle, on disk as JSON: what `--resume` goes on from. It is written whole or not at all every
 * few seconds beside the policy, and taken away when the policy is there.
 */
import { rm } from "node:fs/promises";
import { InputError } from "../../../core/errors.js";
import type { PolicyCheckpoint } from "../../../workflows/policy-checkpoint.js";
import type { CommandContext } from "../../command.js";
import { readJson } from "./files.js";

export const checkpointTexts = {
  goOn: (path: string) => `the same command with --resume goes on from ${path}`,
  left: (path: string) =>
    `${path} is what an interrupted training has left, and will be replaced: to go on from it, stop this one and add --resume`,
  damaged: (path: string) =>
    `the checkpoint ${path} is damaged or cut short: delete it and start again without --resume`,
};

const EVERY_MS = 2000;

export interface CheckpointFile {
  /** Writes the checkpoint when the last time is long enough ago. */
  offer(checkpoint: () => PolicyCheckpoint): Promise<void>;
  remove(): Promise<void>;
}

export const checkpointFile = (
  path: string,
  { writeFile, saysHowToGoOn }: Pick<CommandContext, "writeFile" | "saysHowToGoOn">,
  every = EVERY_MS,
): CheckpointFile => {
  let written = performance.now();
  return {
    async offer(checkpoint) {
      if (performance.now() - written < every) return;
      await writeFile(path, JSON.stringify(checkpoint()));
      saysHowToGoOn(checkpointTexts.goOn(path));
      written = performance.now();
    },
    remove: () => rm(path, { force: true }),
  };
};

/** The checkpoint of an interrupted run; undefined where none was interrupted. */
export const readCheckpoint = async (path: string): Promise<PolicyCheckpoint | undefined> => {
  try {
    return (await readJson(path)) as PolicyCheckpoint;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    if (error.code === "no-file") return undefined;
    if (error.code === "not-json") throw new InputError("checkpoint", checkpointTexts.damaged(path));
    throw error;
  }
};
