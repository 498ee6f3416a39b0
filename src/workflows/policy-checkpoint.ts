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
    "this is no checkpoint of a policy: give what the progress of trainPolicy offered, or start again without it",
  otherSettings: (name: string, made: unknown, given: unknown) =>
    `the checkpoint was made with ${name} ${JSON.stringify(made)} and not ${JSON.stringify(given)}: give the same settings, or start again without it`,
  changedModel: (model: unknown) =>
    `the checkpoint was made before the model ${JSON.stringify(model)} or its options changed: give the model as it was, or start again without it`,
};

/** Among the settings: what tells a model from another of the same name. */
export const MODEL_HASH = "model's hash";

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

/** Whether this can be one, whatever it was made with. */
export const isPolicyCheckpoint = (given: unknown): given is PolicyCheckpoint =>
  isRecord(given) && given.format === "fairbed checkpoint" && given.version === 1 && isRecord(given.settings);

/** The state in a checkpoint; throws unless it was made with these settings. */
export const checkedState = (checkpoint: PolicyCheckpoint, settings: CheckpointedSettings): unknown => {
  if (!isPolicyCheckpoint(checkpoint)) {
    throw new InputError("checkpoint", policyCheckpointTexts.notCheckpoint);
  }
  const [before, now] = [checkpoint.settings, settings].map(withDevice);
  for (const name of Object.keys({ ...before, ...now })) {
    if (JSON.stringify(before[name]) !== JSON.stringify(now[name])) {
      const { otherSettings, changedModel } = policyCheckpointTexts;
      // The model's own name stands before its hash.
      const text =
        name === MODEL_HASH ? changedModel(now.model) : otherSettings(name, before[name], now[name]);
      throw new InputError("checkpoint", text);
    }
  }
  return checkpoint.state;
};
