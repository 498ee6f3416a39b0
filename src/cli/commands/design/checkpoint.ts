/**
 * A training run in the middle, on disk: what `--resume` goes on from. It is written whole or not at all every few
 * seconds beside the policy, and taken away when the policy is there.
 */
import { rm } from "node:fs/promises";
import { deserialize, serialize } from "node:v8";
import { InputError } from "../../../core/errors.js";
import { crc32 } from "../../../design/policy-file.js";
import type { PolicyCheckpoint } from "../../../workflows/policy-checkpoint.js";
import type { FileContents } from "../../command.js";
import { readBytes } from "./files.js";

export const checkpointTexts = {
  damaged: (path: string) =>
    `the checkpoint ${path} is damaged or cut short: delete it and start again without --resume`,
};

const EVERY_MS = 2000;

export const checkpointPath = (out: string): string => `${out}.checkpoint`;

export interface CheckpointFile {
  /** Writes the checkpoint when the last time is long enough ago. */
  offer(checkpoint: () => PolicyCheckpoint): Promise<void>;
  remove(): Promise<void>;
}

export const checkpointFile = (
  path: string,
  write: (path: string, data: FileContents) => Promise<void>,
  every = EVERY_MS,
): CheckpointFile => {
  let written = performance.now();
  return {
    async offer(checkpoint) {
      if (performance.now() - written < every) return;
      const body = serialize(checkpoint());
      const checksum = new Uint8Array(4);
      new DataView(checksum.buffer).setUint32(0, crc32(body), true);
      await write(path, Buffer.concat([checksum, body]));
      written = performance.now();
    },
    remove: () => rm(path, { force: true }),
  };
};

/** The checkpoint of an interrupted run; undefined where none was interrupted. */
export const readCheckpoint = async (path: string): Promise<PolicyCheckpoint | undefined> => {
  const bytes = await readBytes(path).catch((error: unknown) => {
    if (error instanceof InputError && error.code === "no-file") return undefined;
    throw error;
  });
  if (bytes === undefined) return undefined;
  const body = bytes.subarray(4);
  const isWhole =
    bytes.length > 4 && crc32(body) === new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  if (!isWhole) throw new InputError("checkpoint", checkpointTexts.damaged(path));
  return deserialize(body) as PolicyCheckpoint;
};
