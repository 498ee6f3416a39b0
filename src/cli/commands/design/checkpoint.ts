/**
 * A training run in the middle, on disk: what `--resume` goes on from. It is written whole or not at all every few
 * seconds beside the policy, and taken away when the policy is there.
 */
import { rm } from "node:fs/promises";
import { deserialize, serialize } from "node:v8";
import { InputError } from "../../../core/errors.js";
import { crc32 } from "../../../design/policy-file.js";
import type { FileContents } from "../../command.js";
import { readBytes } from "./files.js";

export const checkpointTexts = {
  damaged: (path: string) =>
    `the checkpoint ${path} is damaged or cut short: delete it and start again without --resume`,
  otherSettings: (path: string, what: string, made: unknown, given: unknown) =>
    `the checkpoint ${path} was made with ${what} ${JSON.stringify(made)} and not ${JSON.stringify(given)}: give the same settings, or leave out --resume`,
};

/** What must be the same for a run to go on, by the names that messages use. */
export type RunSettings = Readonly<Record<string, unknown>>;

const EVERY_MS = 2000;

export const checkpointPath = (out: string): string => `${out}.checkpoint`;

export interface CheckpointFile<State> {
  /** Writes the state when the last time is long enough ago. */
  offer(state: () => State): Promise<void>;
  remove(): Promise<void>;
}

export const checkpointFile = <State>(
  path: string,
  settings: RunSettings,
  write: (path: string, data: FileContents) => Promise<void>,
  every = EVERY_MS,
): CheckpointFile<State> => {
  let written = performance.now();
  return {
    async offer(state) {
      if (performance.now() - written < every) return;
      const body = serialize({ settings, state: state() });
      const checksum = new Uint8Array(4);
      new DataView(checksum.buffer).setUint32(0, crc32(body), true);
      await write(path, Buffer.concat([checksum, body]));
      written = performance.now();
    },
    remove: () => rm(path, { force: true }),
  };
};

/** The state of an interrupted run with these settings; undefined where none was interrupted. */
export const readCheckpoint = async <State>(
  path: string,
  settings: RunSettings,
): Promise<State | undefined> => {
  const bytes = await readBytes(path).catch((error: unknown) => {
    if (error instanceof InputError && error.code === "no-file") return undefined;
    throw error;
  });
  if (bytes === undefined) return undefined;
  const damaged = () => new InputError("checkpoint", checkpointTexts.damaged(path));
  if (bytes.length < 5) throw damaged();
  const body = bytes.subarray(4);
  const checksum = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  if (crc32(body) !== checksum) throw damaged();
  const { settings: made, state } = deserialize(body) as { settings: RunSettings; state: State };
  for (const key of new Set([...Object.keys(made), ...Object.keys(settings)])) {
    if (JSON.stringify(made[key]) !== JSON.stringify(settings[key])) {
      const message = checkpointTexts.otherSettings(path, key, made[key], settings[key]);
      throw new InputError("checkpoint", message);
    }
  }
  return state;
};
