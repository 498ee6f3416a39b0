/**
 * Learned fair representations (Zemel et al. 2013): each row becomes its probabilities of belonging to a few learned
 * prototypes, such that the prototypes say what they can about the row and its label while both groups use each of
 * them equally often. Models are then trained on those probabilities in place of the features.
 */

import { InputError } from "../core/errors.js";
import { significant } from "../core/number-text.js";
import { pacer, type RunOptions } from "../core/options.js";
import { fillUniform, type RandomStream } from "../core/random.js";
import type { FeatureMatrix } from "../learners/classifier.js";
import { requireFeatures, requireRows, requireSameColumns } from "../learners/features.js";
import { checkBothGroups, checkLabels } from "./groups.js";
import { type Bounds, type MinimiseProgress, type Minimum, minimiseSteps, type StopReason } from "./lbfgs.js";
import { assignRows, clipPrediction, type LossParts, RepresentationLoss } from "./lfr/objective.js";
import { rowSums } from "./lfr/row-sums.js";
import { type FeatureScaling, standardisationOf, standardise } from "./lfr/standardisation.js";

import { REPRESENTATION_DEFAULTS } from "./representation-defaults.js";

export type { LossParts } from "./lfr/objective.js";
export type { FeatureScaling } from "./lfr/standardisation.js";

export interface RepresentationTraining {
  readonly features: FeatureMatrix;
  /** Rows of `features` to learn from; all of them unless given. */
  readonly rows?: Int32Array | undefined;
  /** 1 where the outcome was favourable, else 0: one for each of those rows. */
  readonly labels: ArrayLike<number>;
  /** 1 where the row is of the privileged group, else 0: one for each of those rows. */
  readonly privileged: ArrayLike<number>;
}

export interface RepresentationOptions {
  /** How many prototypes, k (5). */
  readonly prototypes?: number | undefined;
  /** Ax: how much the prototypes should say about the features (0.01). */
  readonly reconstruction?: number | undefined;
  /** Ay: how much they should say about the label (1). */
  readonly prediction?: number | undefined;
  /** Az: how equally the groups should use them (1). */
  readonly parity?: number | undefined;
  /** Gaps between the groups are added up over prototypes ("sum", unless given), or averaged as in AIF360 ("mean"). */
  readonly parityForm?: "sum" | "mean" | undefined;
  /** Whether columns get mean 0 and variance 1 first (true). */
  readonly standardise?: boolean | undefined;
  /**
   * Whether w stays in [0, 1] (true), so that a prediction is a mean of probabilities. Without bounds a few hundred rows
   * are soon learnt by heart: the loss is far lower, and so is the accuracy on other rows.
   */
  readonly bounded?: boolean | undefined;
  /** Steps of L-BFGS from a start (5000). */
  readonly maxSteps?: number | undefined;
  /**
   * At most half of the steps first go down a loss in which |gap| is sqrt(gap^2 + s^2) - s (s = 0.01); 0 for none of
   * it. Without it, steps end where groups first use a prototype equally often, far above what can be reached, and
   * often collapsed: other implementations do.
   */
  readonly smoothing?: number | undefined;
  /** Random starts (5): each gets 200 of those steps, and the one with the lowest loss then goes on. */
  readonly restarts?: number | undefined;
}

/** AIF360's settings. Its gaps are averaged over prototypes, so that a weight of 50 is 10 in the other form. */
export const aif360Representation: RepresentationOptions = {
  prototypes: 5,
  reconstruction: 0.01,
  prediction: 1,
  parity: 50,
  parityForm: "mean",
  standardise: false,
  bounded: true,
  smoothing: 0,
};

/** What came of one start. */
export interface RepresentationStart {
  readonly loss: number;
  readonly steps: number;
  /** Why it ended; "behind": another start was ahead after the first steps. */
  readonly reason: StopReason | "behind";
}

/** Plain data: it can be written as JSON, read back and applied. */
export interface FairRepresentation {
  /** w: what each prototype says of the label. */
  readonly weights: readonly number[];
  /** V: [k, columns], of standardised features where there is a standardisation. */
  readonly prototypes: readonly (readonly number[])[];
  readonly standardisation: FeatureScaling | undefined;
  /** The three losses and their weighted sum on the rows it was learned from. */
  readonly losses: LossParts;
  readonly starts: readonly RepresentationStart[];
  /** Which of them was kept. */
  readonly start: number;
  /** The largest standard deviation, over rows, of the probability of a prototype: near 0 all rows look alike. */
  readonly spread: number;
  /** The part of the rows that its own predictions favour. */
  readonly favoured: number;
  /** One sentence for a person where it says next to nothing about a row any more; undefined where it does. */
  readonly collapse: string | undefined;
}

export const representationTexts = {
  option: (name: string, given: unknown, expected: string) =>
    `the representation's ${name} was ${String(given)}: give ${expected}`,
  alike: (spread: number) =>
    `the representation has collapsed: all rows get nearly the same probabilities (their largest standard deviation is ${significant(spread, 2)}), so a model trained on it can tell no row from another: lower the weight of parity, or try more prototypes or restarts`,
  oneClass: (favoured: boolean) =>
    `the representation has collapsed: it predicts the ${favoured ? "favourable" : "unfavourable"} outcome for every row although both occur: lower the weight of parity, or try more prototypes or restarts`,
};

/** Below this spread all rows look alike. */
const LEAST_SPREAD = 0.01;
/** Ten steps that gain less than this are the last: it is far below what a model trained on the result could notice. */
const LEAST_DECREASE = 1e-9;

/** The same where the loss is only on the way to the exact one. */
const SMOOTH_DECREASE = 1e-6;
/** After this many steps losses of different starts can be compared: the order hardly changes later. */
const SCREENING = 200;

/** Where the learning stands: steps so far, of all starts, and the most there can be. */
interface RepresentationProgress {
  readonly steps: number;
  readonly mostSteps: number;
  readonly loss: number;
}

const requireOption = (right: boolean, name: string, given: unknown, expected: string): void => {
  if (!right)
    throw new InputError("representation-option", representationTexts.option(name, given, expected));
};

const checkOptions = (options: RepresentationOptions) => {
  const D = REPRESENTATION_DEFAULTS;
  const checked = {
    prototypes: options.prototypes ?? D.prototypes,
    reconstruction: options.reconstruction ?? D.reconstruction,
    prediction: options.prediction ?? D.prediction,
    parity: options.parity ?? D.parity,
    parityForm: options.parityForm ?? D.parityForm,
    standardise: options.standardise ?? D.standardise,
    bounded: options.bounded ?? D.bounded,
    maxSteps: options.maxSteps ?? D.maxSteps,
    smoothing: options.smoothing ?? D.smoothing,
    restarts: options.restarts ?? D.restarts,
  } as const;
  const { prototypes, parityForm } = checked;
  const whole = (n: number, least: number) => Number.isInteger(n) && n >= least;
  requireOption(whole(prototypes, 2), "prototypes", prototypes, "a whole number of at least 2");
  for (const name of ["maxSteps", "restarts"] as const)
    requireOption(whole(checked[name], 1), name, checked[name], "a whole number of at least 1");
  for (const name of ["reconstruction", "prediction", "parity", "smoothing"] as const) {
    const label = name === "smoothing" ? name : `weight of ${name}`;
    const right = checked[name] >= 0 && Number.isFinite(checked[name]);
    requireOption(right, label, checked[name], "a finite number of at least 0");
  }
  requireOption(parityForm === "sum" || parityForm === "mean", "parityForm", parityForm, '"sum" or "mean"');
  return checked;
};

/** One start on its way. */
interface Run {
  readonly walk: Generator<MinimiseProgress, Minimum>;
  readonly start: number;
  steps: number;
  x: Float64Array;
  reason: RepresentationStart["reason"];
}

/** Down the smooth loss, and then the exact one with the steps that are left. */
function* descend(
  loss: RepresentationLoss,
  start: Float64Array,
  maxSteps: number,
  smoothing: number,
  bounds: Bounds | undefined,
): Generator<MinimiseProgress, Minimum> {
  const smooth =
    smoothing === 0
      ? undefined
      : yield* minimiseSteps((x, gradient) => loss.evaluate(x, gradient, smoothing), start, {
          maxSteps: Math.floor(maxSteps / 2),
          leastDecrease: SMOOTH_DECREASE,
          bounds,
        });
  return yield* minimiseSteps((x, gradient) => loss.evaluate(x, gradient), smooth?.x ?? start, {
    maxSteps: maxSteps - (smooth?.steps ?? 0),
    leastDecrease: LEAST_DECREASE,
    bounds,
  });
}

/** {@link learnFairRepresentation}, step by step. */
function* fairRepresentationSteps(
  training: RepresentationTraining,
  stream: RandomStream,
  options: RepresentationOptions = {},
): Generator<RepresentationProgress, FairRepresentation> {
  const { features } = training;
  const settings = checkOptions(options);
  requireFeatures(features);
  const rows = training.rows ?? everyRow(features);
  requireRows(rows, features);
  const labels = checkLabels(training.labels, rows.length);
  const privileged = checkBothGroups(training.privileged, rows.length);
  const standardisation = settings.standardise ? standardisationOf(features, rows) : undefined;
  const loss = new RepresentationLoss({
    ...settings,
    x: standardise(features, rows, standardisation),
    columns: features.columns,
    labels,
    privileged,
  });
  const bounds = settings.bounded ? weightsWithin(loss.size, settings.prototypes) : undefined;
  const { restarts, maxSteps } = settings;

  const runs = Array.from({ length: restarts }, (_, start): Run => {
    const x = new Float64Array(loss.size);
    fillUniform(stream.split(start), x);
    const walk = descend(loss, x, maxSteps, settings.smoothing, bounds);
    return { walk, start, steps: 0, x, reason: "behind" };
  });
  const screening = Math.min(SCREENING, maxSteps);
  const mostSteps = maxSteps + (restarts - 1) * screening;
  let steps = 0;
  const advance = function* (run: Run, most: number) {
    while (run.steps < most) {
      const { done, value } = run.walk.next();
      run.x = value.x;
      if (done === true) {
        run.reason = value.reason;
        return;
      }
      run.steps++;
      steps++;
      yield { steps: Math.min(steps, mostSteps), mostSteps, loss: value.value };
    }
  };
  for (const run of runs) yield* advance(run, screening);
  const exactLoss = (run: Run): number => loss.parts(run.x).loss;
  const lowest = (): Run => runs.reduce((low, run) => (exactLoss(run) < exactLoss(low) ? run : low));
  let best = lowest();
  // One that was ahead is seldom overtaken; if it is, the other goes on as well.
  for (; best.reason === "behind"; best = lowest()) yield* advance(best, Number.POSITIVE_INFINITY);
  const { x } = best;
  const { columns } = features;
  const k = settings.prototypes;
  return {
    weights: Array.from(x.subarray(0, k)),
    prototypes: Array.from({ length: k }, (_, i) =>
      Array.from(x.subarray(k + i * columns, k + (i + 1) * columns)),
    ),
    standardisation,
    starts: runs.map((run) => ({
      loss: exactLoss(run),
      steps: run.steps,
      reason: run.reason,
    })),
    start: best.start,
    ...describe(loss, x),
  };
}

/**
 * A representation of these rows, from several random starts (Zemel et al. 2013, equations 4 to 11): prototypes V
 * [k, columns] and weights w [k] that minimise Ax Lx + Ay Ly + Az Lz. `features` is [rows, columns]; `labels` and
 * `privileged` have an entry of 0 or 1 for each row that is learnt from. The same training, stream and options give
 * the same one, bit for bit.
 *
 * @example
 * ```ts
 * import { learnFairRepresentation, seededStream } from "fairbed/mitigation";
 *
 * const rows = 40;
 * const privileged = Array.from({ length: rows }, (_, row) => row % 2);
 * const labels = privileged.map((group, row) => Number((row % 5) + group > 2));
 * const values = Float32Array.from(labels, (label, row) => label + privileged[row] + (row % 3) / 3);
 * const representation = await learnFairRepresentation(
 *   { features: { values, rows, columns: 1 }, labels, privileged },
 *   seededStream(0),
 *   { prototypes: 3, maxSteps: 50, restarts: 1 },
 * );
 * console.log(representation.weights.length, representation.prototypes[0].length); // 3 1
 * ```
 */
export const learnFairRepresentation = async (
  training: RepresentationTraining,
  stream: RandomStream,
  options: RepresentationOptions & RunOptions = {},
): Promise<FairRepresentation> => {
  const walk = fairRepresentationSteps(training, stream, options);
  const pace = pacer(options);
  for (;;) {
    const { done, value } = walk.next();
    if (done === true) return value;
    await pace.step({ done: value.steps, total: value.mostSteps, label: "learning" });
  }
};

const everyRow = ({ rows }: FeatureMatrix): Int32Array => Int32Array.from({ length: rows }, (_, i) => i);

/** w in [0, 1], V free. */
const weightsWithin = (size: number, prototypes: number): Bounds => ({
  lower: new Float64Array(size).fill(Number.NEGATIVE_INFINITY).fill(0, 0, prototypes),
  upper: new Float64Array(size).fill(Number.POSITIVE_INFINITY).fill(1, 0, prototypes),
});

/** What the training rows look like at these parameters, and whether that is a collapse. */
const describe = (
  loss: RepresentationLoss,
  parameters: Float64Array,
): Pick<FairRepresentation, "losses" | "spread" | "favoured" | "collapse"> => {
  const losses = loss.parts(parameters);
  const { assignments, raw, rows } = loss;
  const k = loss.problem.prototypes;
  let spread = 0;
  for (let i = 0; i < k; i++) {
    let mean = 0;
    for (let at = i; at < assignments.length; at += k) mean += assignments[at] / rows;
    let variance = 0;
    for (let at = i; at < assignments.length; at += k) variance += (assignments[at] - mean) ** 2 / rows;
    spread = Math.max(spread, Math.sqrt(variance));
  }
  const favoured = raw.filter((y) => y > 0.5).length / rows;
  const collapse =
    spread < LEAST_SPREAD
      ? representationTexts.alike(spread)
      : favoured === 0 || favoured === 1
        ? representationTexts.oneClass(favoured === 1)
        : undefined;
  return { losses, spread, favoured, collapse };
};

/** M of the given rows (all unless given), [rows, k] in float64. */
const assign = (
  { weights, prototypes, standardisation }: FairRepresentation,
  features: FeatureMatrix,
  rows: Int32Array,
): Float64Array => {
  requireFeatures(features);
  const columns = prototypes[0].length;
  requireSameColumns(features, columns);
  requireRows(rows, features);
  const k = weights.length;
  const parameters = Float64Array.from([...weights, ...prototypes.flat()]);
  const x = standardise(features, rows, standardisation);
  const out = new Float64Array(rows.length * k);
  assignRows(rowSums(x, columns, k), parameters, k, out);
  return out;
};

/**
 * The representation of the given rows (all unless given): features [rows, k], the probabilities M of the prototypes
 * (Zemel et al. 2013, equation 2), for a model to be trained on.
 *
 * @example
 * ```ts
 * import { applyRepresentation, learnFairRepresentation, seededStream } from "fairbed/mitigation";
 *
 * const rows = 20;
 * const privileged = Array.from({ length: rows }, (_, row) => row % 2);
 * const labels = privileged.map((_, row) => Number(row % 4 > 1));
 * const features = { values: Float32Array.from(labels, (label, row) => label + (row % 3)), rows, columns: 1 };
 * const learnt = await learnFairRepresentation({ features, labels, privileged }, seededStream(0), { maxSteps: 20 });
 * const { values, columns } = applyRepresentation(learnt, features, Int32Array.of(0));
 * console.log(columns, values.reduce((sum, p) => sum + p, 0).toFixed(3)); // 5 1.000
 * ```
 */
export const applyRepresentation = (
  representation: FairRepresentation,
  features: FeatureMatrix,
  rows: Int32Array = everyRow(features),
): FeatureMatrix => ({
  values: Float32Array.from(assign(representation, features, rows)),
  rows: rows.length,
  columns: representation.weights.length,
});

/**
 * P(favourable) of the given rows (all unless given), [rows], by the representation's own linear prediction M w (Zemel
 * et al. 2013, equation 11), kept within 0 and 1.
 *
 * @example
 * ```ts
 * import { learnFairRepresentation, predictFromRepresentation, seededStream } from "fairbed/mitigation";
 *
 * const rows = 20;
 * const privileged = Array.from({ length: rows }, (_, row) => row % 2);
 * const labels = privileged.map((_, row) => Number(row % 4 > 1));
 * const features = { values: Float32Array.from(labels), rows, columns: 1 };
 * const learnt = await learnFairRepresentation({ features, labels, privileged }, seededStream(0), { parity: 0 });
 * const predicted = predictFromRepresentation(learnt, features);
 * console.log(predicted.every((p, row) => p > 0.5 === (labels[row] === 1))); // true
 * ```
 */
export const predictFromRepresentation = (
  representation: FairRepresentation,
  features: FeatureMatrix,
  rows: Int32Array = everyRow(features),
): Float64Array => {
  const { weights } = representation;
  const assigned = assign(representation, features, rows);
  return Float64Array.from(rows, (_, n) =>
    clipPrediction(weights.reduce((sum, w, k) => sum + w * assigned[n * weights.length + k], 0)),
  );
};
