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

/** The state in a checkpoint; throws unless it was made with these settings. */
export const checkedState = (checkpoint: PolicyCheckpoint, settings: CheckpointedSettings): unknown => {
  const { format, version, settings: made } = (checkpoint ?? {}) as Partial<PolicyCheckpoint>;
  if (format !== "fairbed checkpoint" || version !== 1 || !isRecord(made)) {
    throw new InputError("checkpoint", policyCheckpointTexts.notCheckpoint);
  }
  for (const name of new Set([...Object.keys(made), ...Object.keys(settings)])) {
    if (JSON.stringify(made[name]) !== JSON.stringify(settings[name])) {
      throw new InputError(
        "checkpoint",
        policyCheckpointTexts.otherSettings(name, made[name], settings[name]),
      );
    }
  }
  return checkpoint.state;
};
