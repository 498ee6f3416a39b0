/** A training run in the middle: what it takes to go on, and what must be the same when it does. */
import { InputError } from "../core/errors.js";

/** By the names that messages use. */
export type CheckpointedSettings = Readonly<Record<string, unknown>>;

/** Plain JSON data. */
export interface PolicyCheckpoint {
  readonly format: "fairbed checkpoint";
  readonly version: 1;
  readonly settings: CheckpointedSettings;
  /** What the training goes on from. */
  readonly state: unknown;
}

export const policyCheckpointTexts = {
  notCheckpoint:
    "this is no checkpoint of a policy: give what the progress of trainPolicy offered, or start again",
  otherSettings: (name: string, made: unknown, given: unknown) =>
    `the checkpoint was made with ${name} ${JSON.stringify(made)} and not ${JSON.stringify(given)}: give the same settings, or start again`,
};

export const policyCheckpoint = (settings: CheckpointedSettings, state: unknown): PolicyCheckpoint => ({
  format: "fairbed checkpoint",
  version: 1,
  settings,
  state,
});

const isRecord = (value: unknown): value is CheckpointedSettings =>
  typeof value === "object" && value !== null;

/** Those of the processor do not say where they are from. */
const withDevice = (settings: CheckpointedSettings): CheckpointedSettings => ({ device: "cpu", ...settings });

/** Where a checkpoint was made. */
export const deviceOf = (checkpoint: PolicyCheckpoint): unknown =>
  withDevice((checkpoint as Partial<PolicyCheckpoint> | null)?.settings ?? {}).device;

/** The state in a checkpoint; throws unless it was made with these settings. */
export const checkedState = (checkpoint: PolicyCheckpoint, settings: CheckpointedSettings): unknown => {
  const { format, version, settings: made } = (checkpoint ?? {}) as Partial<PolicyCheckpoint>;
  if (format !== "fairbed checkpoint" || version !== 1 || !isRecord(made)) {
    throw new InputError("checkpoint", policyCheckpointTexts.notCheckpoint);
  }
  const [before, now] = [made, settings].map(withDevice);
  for (const name of Object.keys({ ...before, ...now })) {
    if (JSON.stringify(before[name]) !== JSON.stringify(now[name])) {
      throw new InputError("checkpoint", policyCheckpointTexts.otherSettings(name, before[name], now[name]));
    }
  }
  return checkpoint.state;
};
