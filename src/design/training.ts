/** What training has in common, whatever is trained: its progress, its checkpoints, and when it stops or warns. */

import { LOG_LAST_RATE } from "../compute/adam.js";
import { isGpuFailure } from "../compute/webgpu/failure.js";
import { FairbedError, InputError } from "../core/errors.js";
import { exp } from "../core/math.js";
import { fixed } from "../core/number-text.js";
import type { Progress, RunOptions } from "../core/options.js";
import { meanEstimate } from "../core/stats.js";
import type { Model } from "./model.js";
import { identityOf } from "./model-catalogue.js";

/** How far training is: `done` of at most `total` steps. */
export interface TrainingProgress<Checkpoint> extends Progress {
  /** The bound at this step's samples, in nats. */
  readonly value: number;
  /** Everything that `resume` needs, as plain JSON data; made only when it is asked for. */
  checkpoint(): Checkpoint;
  /** Of static designs, those of the start that leads so far, [horizon][variables]; made only when it is asked for. */
  readonly designs?: (() => number[][]) | undefined;
}

/** What every training takes: the result is the same with or without them. */
export interface TrainingRunOptions<Checkpoint> extends Omit<RunOptions, "onProgress"> {
  /** Called after every step; what it returns is waited for. */
  readonly onProgress?: ((progress: TrainingProgress<Checkpoint>) => unknown) | undefined;
  /** Goes on from where a checkpoint was taken, and ends as if there had been no interruption. */
  readonly resume?: Checkpoint | undefined;
}

/** What decides where training goes, as plain JSON data: a run goes on only from a checkpoint with the same. */
export type TrainingSettings = Readonly<Record<string, unknown>>;

export const trainTexts = {
  whole: (name: string, given: unknown) => `${name} was ${String(given)}: give a whole number of at least 1`,
  beta: (given: unknown) => `beta was ${String(given)}: give a number from 0, such as 0.8`,
  speed: (given: unknown) =>
    `the speed below which designs have settled was ${String(given)}: give a share above 0 and below 1, such as 0.03`,
  decay:
    "designs cannot be seen to settle while the rate decays, since they slow down with it: turn decay off, or leave out settled",
  notFinite: (step: number, what: string, given: number) =>
    `training stopped at step ${step}, where the ${what} was ${given}: give bounds inside which the outcome's distribution is finite for every parameter, or a smaller rate`,
  otherSettings: (what: string, made: unknown, given: unknown) =>
    `the checkpoint was made with ${what} ${JSON.stringify(made)} and not ${JSON.stringify(given)}: give the same settings, or start again without it`,
  otherDevice: (wanted: "cpu" | "gpu") =>
    `the checkpoint is not one of this training on the device "${wanted}": go on with it on the device and with the kind of policy that it was made with, or start again without it`,
  damaged: (field: string) =>
    `the checkpoint is damaged: ${field} is not what training with these settings writes; start again without it`,
  nothingGained: (gain: number, error: number, steps: number) =>
    `training gained ${fixed(gain, 4)} nats in ${steps} steps, with a standard error of ${fixed(error, 4)}: nothing that can be told from noise was learned; give more steps, a larger rate or larger batches`,
  nothingReached: (value: number, error: number) =>
    `the objective that was reached is ${fixed(value, 4)} nats, with a standard error of ${fixed(error, 4)}: these designs are worth no more than none at all; give a smaller beta, more starts or other bounds`,
};

/** A rate that falls by the same factor at every step, of `steps` numbered from 1. */
export const decayingRate =
  (rate: number, steps: number) =>
  (step: number): number =>
    rate * exp((Math.min(step, steps) / steps) * LOG_LAST_RATE);

/**
 * Training met a number that is none (`code` is then `not-finite`), or lost the GPU that it ran on (`code` and `cause` are
 * those of that loss). `checkpoint` is the last good state.
 */
export class TrainingError<Checkpoint> extends InputError {
  readonly checkpoint: Checkpoint;

  constructor(message: string, checkpoint: Checkpoint, options?: ErrorOptions) {
    const cause = options?.cause;
    super(cause instanceof FairbedError && isGpuFailure(cause) ? cause.code : "not-finite", message, options);
    this.checkpoint = checkpoint;
  }
}

/** Refuses numbers of steps and the like that are none, and a beta that is none. */
export const requireTrainable = (counts: Readonly<Record<string, number>>, beta: number): void => {
  for (const [name, value] of Object.entries(counts)) {
    if (!Number.isInteger(value) || value < 1) throw new InputError(name, trainTexts.whole(name, value));
  }
  if (!(beta >= 0 && beta < Infinity)) throw new InputError("beta", trainTexts.beta(beta));
};

/** What a checkpoint says about the models it was made for. */
export const modelSettings = (
  model: Model,
  against: readonly Model[],
): { readonly model: string; readonly against: readonly string[] } => {
  const describe = (each: Model): string => {
    const { name, fingerprint } = identityOf(each);
    return `${name} (${fingerprint})`;
  };
  return { model: describe(model), against: against.map(describe) };
};

/** Refuses a checkpoint of another run. */
export const requireSameSettings = (made: TrainingSettings, given: TrainingSettings): void => {
  for (const key of new Set([...Object.keys(given), ...Object.keys(made)])) {
    if (JSON.stringify(made[key]) !== JSON.stringify(given[key])) {
      throw new InputError("checkpoint", trainTexts.otherSettings(key, made[key], given[key]));
    }
  }
};

/** Numbers of a checkpoint, which may come from a file. */
export const requireNumbers = (values: readonly number[], length: number, field: string): void => {
  if (!Array.isArray(values) || values.length !== length || !values.every(Number.isFinite)) {
    throw new InputError("checkpoint", trainTexts.damaged(field));
  }
};

/** The share of the steps that is compared, and the fewest steps that say anything. */
const COMPARED = 0.2;
const FEWEST_COMPARED = 5;

/** A sentence where the bounds at the last steps are no better than at the first by two standard errors. */
export const warningsOf = (values: readonly number[]): readonly string[] => {
  const steps = values.length;
  const compared = Math.max(FEWEST_COMPARED, Math.floor(COMPARED * steps));
  if (steps < 2 * compared) return [];
  const [first, last] = [meanEstimate(values.slice(0, compared)), meanEstimate(values.slice(-compared))];
  const gain = last.mean - first.mean;
  const error = Math.sqrt(first.standardError ** 2 + last.standardError ** 2);
  return gain > 2 * error ? [] : [trainTexts.nothingGained(gain, error, steps)];
};
