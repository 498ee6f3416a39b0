/**
 * A training run in the middle, on disk as JSON: what `--resume` goes on from. It is written whole or not at all every
 * few seconds beside the policy, and taken away when the policy is there.
 */
import { rename, rm } from "node:fs/promises";
import { isGpuFailure } from "../../../compute/webgpu/failure.js";
import { InputError } from "../../../core/errors.js";
import { TrainingError } from "../../../design/training.js";
import { deviceOf, isPolicyCheckpoint, type PolicyCheckpoint } from "../../../workflows/policy-checkpoint.js";
import { LeakageBudgetError } from "../../../workflows/train-within-budget.js";
import type { CommandContext } from "../../command.js";
import { readJson } from "./files.js";

export const checkpointTexts = {
  goOn: (path: string) => `the same command with --resume goes on from ${path}`,
  left: (path: string) =>
    `${path} is what an interrupted training has left, and will be replaced: to go on from it, stop this one and add --resume`,
  lastGood: (path: string) => `the last good state is in ${path}`,
  notUsed: (device: unknown, kept: string) =>
    `a checkpoint that was made on the device "${device}" was not used, since training began again on another: it is kept as ${kept}`,
  notCheckpoint: (path: string) =>
    `${path} is JSON but no checkpoint of a policy: name another file with --out, or start again without --resume`,
  none: (path: string) => `there is no checkpoint ${path} to go on from: training starts from the beginning`,
  /** What the library says of a checkpoint, for someone who has a file and an option. */
  unusable: (path: string, text: string) =>
    text.replace(/^the checkpoint /, `the checkpoint ${path} `).replace(/ without it$/, " without --resume"),
  damaged: (path: string) =>
    `the checkpoint ${path} is damaged or cut short: delete it and start again without --resume`,
};

const EVERY_MS = 2000;

export interface CheckpointFile {
  /** Writes the checkpoint when the last time is long enough ago. */
  offer(checkpoint: () => PolicyCheckpoint): Promise<void>;
  /**
   * Fails with an error that ended training, once what it carries is written: it then says where that is. Where the
   * search came to its end and there is no policy, nothing is left to go on from.
   */
  rescue(error: unknown): Promise<never>;
  /** Once there is a policy, found on this device: a checkpoint of another one is kept. */
  remove(device: "cpu" | "gpu"): Promise<void>;
}

export const checkpointFile = (
  path: string,
  { writeFile, saysHowToGoOn, say }: Pick<CommandContext, "writeFile" | "saysHowToGoOn" | "say">,
  resume: PolicyCheckpoint | undefined,
): CheckpointFile => {
  let written = performance.now();
  /** Where the checkpoint in the file was made, where that is known. */
  let madeOn = resume === undefined ? undefined : deviceOf(resume);
  const write = async (checkpoint: PolicyCheckpoint): Promise<void> => {
    const device = deviceOf(checkpoint);
    if (madeOn !== undefined && madeOn !== device) {
      const kept = `${path}.${madeOn}`;
      await rename(path, kept);
      say(checkpointTexts.notUsed(madeOn, kept));
    }
    await writeFile(path, JSON.stringify(checkpoint));
    madeOn = device;
    saysHowToGoOn(checkpointTexts.goOn(path));
    written = performance.now();
  };
  return {
    async offer(checkpoint) {
      if (performance.now() - written < EVERY_MS) return;
      await write(checkpoint());
    },
    async rescue(error) {
      if (error instanceof LeakageBudgetError) await rm(path, { force: true });
      if (error instanceof InputError && error.code === "checkpoint") {
        throw new InputError(error.code, checkpointTexts.unusable(path, error.message), { cause: error });
      }
      if (!(error instanceof TrainingError)) throw error;
      const { message, checkpoint, cause } = error;
      await write(checkpoint);
      // The same numbers come again where one was none.
      const where = isGpuFailure(error) ? checkpointTexts.goOn(path) : checkpointTexts.lastGood(path);
      throw new TrainingError(`${message}; ${where}`, checkpoint, { cause });
    },
    async remove(device) {
      if (madeOn === undefined || madeOn === device) await rm(path, { force: true });
      else say(checkpointTexts.notUsed(madeOn, path));
    },
  };
};

/** The checkpoint of an interrupted run; undefined where none was interrupted. */
export const readCheckpoint = async (path: string): Promise<PolicyCheckpoint | undefined> => {
  try {
    const given = await readJson(path);
    if (isPolicyCheckpoint(given)) return given;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    if (error.code === "no-file") return undefined;
    if (error.code === "not-json") throw new InputError("checkpoint", checkpointTexts.damaged(path));
    throw error;
  }
  throw new InputError("checkpoint", checkpointTexts.notCheckpoint(path));
};
