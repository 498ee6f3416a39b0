/**
 * Logistic regression with an L2 penalty, and an ensemble around it.
 *
 * Features are standardised inside: mean 0 and variance 1 over the (weighted) training rows, constant columns as 0.
 * The penalty (l2 / 2) |W|^2 is on those weights, not on the intercept: scikit-learn's LogisticRegression with
 * C = 1 / l2 behind a StandardScaler. More than two classes are a softmax.
 *
 * Members: "laplace" draws weights from the normal distribution with the inverse Hessian at the mode as covariance
 * (of more than 8192 weights, with the inverse of each class's own block, or of the diagonal beyond 1024 columns);
 * "bootstrap" fits each member to n rows drawn with replacement; "mode" is the one member at the mode.
 *
 * From about a million values on, or 64 weights where the mode is all, it is found by conjugate gradients on sparse rows instead of the Hessian.
 */
import { InputError } from "../core/errors.js";
import type { RandomStream } from "../core/random.js";
import type { Classifier, DenseMembers, FeatureMatrix, Learner, TrainingSet } from "./classifier.js";
import { requireFeatures, requireRows, requireSameColumns } from "./features.js";

import { steppedLearner } from "./in-steps.js";
import { designSteps } from "./logistic/design.js";
import { findModeSteps, probabilitiesOf, vectorCount } from "./logistic/newton.js";
import {
  byVector,
  type Draw,
  drawAround,
  laplaceSteps,
  refitSteps,
  type SparseTraining,
  type Start,
  sparseFitSteps,
} from "./logistic/sparse-fit.js";
import { presentClasses } from "./one-member.js";
import { isNumbers, isPresent, isWhole, type Saved } from "./saved-numbers.js";
import { standardisationSteps } from "./standardise.js";
import { type ClassWeights, checkTraining, weighClasses } from "./training.js";

export interface LogisticOptions {
  /** Strength of the penalty (1): scikit-learn's 1 / C. */
  readonly l2?: number | undefined;
  /** How members are made ("laplace"); "mode" is one member, the mode itself, which spares the Hessian of large fits. */
  readonly ensemble?: "laplace" | "bootstrap" | "mode" | undefined;
  /** How many members (100; 1 at the mode). */
  readonly members?: number | undefined;
  readonly classWeights?: ClassWeights | undefined;
}

/** The Hessian has as many rows as there are weights: of more than this, which need half a gigabyte, only parts are made. */
const MOST_WEIGHTS = 8192;
/** Where the Hessian is needed for nothing but the mode, the mode of more weights than this is found sooner without it. */
const MANY_WEIGHTS = 64;
/** Values of all rows, for every vector of weights, from which on the mode is found without the Hessian. */
const MANY_VALUES = 2 ** 20;

export const logisticTexts = {
  saved: "this is no saved logistic regression: give what saveLogistic returned",
  option: (name: string, given: unknown, expected: string) =>
    `logistic regression's ${name} was ${String(given)}: give ${expected}`,
};

/** A fitted logistic regression; weights are of the standardised features. */
export class LogisticRegression implements Classifier {
  readonly classes: number;
  readonly members: number;
  /** The classes that occurred in training; the others have probability 0. */
  readonly present: readonly number[];
  /** At the mode: [vectors, columns], one vector (the log odds of the second class) where two classes occurred. */
  readonly coefficients: Float64Array;
  readonly intercepts: Float64Array;
  /** What was subtracted from each column, and what it was divided by. */
  readonly means: Float64Array;
  readonly scales: Float64Array;
  /** At the mode, [vectors, columns + 1], and of each member: for standardised features, the intercept last. */
  readonly parameters: { readonly mode: Float64Array; readonly members: readonly Float64Array[] };
  /** [members, vectors, columns + 1], for features as they come: the standardisation is in them. */
  readonly #weights: Float64Array;

  constructor(parts: {
    readonly classes: number;
    readonly present: readonly number[];
    readonly means: Float64Array;
    readonly scales: Float64Array;
    readonly mode: Float64Array;
    readonly members: readonly Float64Array[];
  }) {
    const { classes, present, means, scales, mode, members } = parts;
    const columns = means.length;
    const vectors = vectorCount(present.length);
    this.classes = classes;
    this.members = members.length;
    this.present = present;
    this.means = means;
    this.scales = scales;
    this.parameters = { mode, members };
    this.coefficients = mode.filter((_, i) => i % (columns + 1) !== columns);
    this.intercepts = mode.filter((_, i) => i % (columns + 1) === columns);
    this.#weights = new Float64Array(members.length * vectors * (columns + 1));
    members.forEach((parameters, m) => {
      this.#weights.set(unscale(parameters, means, scales), m * parameters.length);
    });
  }

  predictMembers(features: FeatureMatrix, rows?: Int32Array): DenseMembers {
    const { members, classes } = this;
    const total = rows?.length ?? features.rows;
    const values = new Float32Array(total * members * classes);
    this.#eachRow(features, rows, (row, probabilities) => {
      values.set(probabilities, row * members * classes);
    });
    return { kind: "dense", rows: total, members, classes, values };
  }

  predict(features: FeatureMatrix, rows?: Int32Array): Float64Array {
    const { members, classes } = this;
    const means = new Float64Array((rows?.length ?? features.rows) * classes);
    this.#eachRow(features, rows, (row, probabilities) => {
      for (let i = 0; i < probabilities.length; i++)
        means[row * classes + (i % classes)] += probabilities[i] / members;
    });
    return means;
  }

  /** Calls `take` with the probabilities [members, classes] of each row; the array is used again for the next. */
  #eachRow(
    features: FeatureMatrix,
    rows: Int32Array | undefined,
    take: (row: number, probabilities: Float64Array) => void,
  ): void {
    requireFeatures(features);
    requireSameColumns(features, this.means.length);
    if (rows !== undefined) requireRows(rows, features);
    const { members, classes, present } = this;
    const weights = this.#weights;
    const { columns, values } = features;
    const vectors = vectorCount(present.length);
    const logits = new Float64Array(vectors);
    const own = new Float64Array(present.length);
    const probabilities = new Float64Array(members * classes);
    // Most of a row of categories is 0.
    const others = new Int32Array(columns);
    for (let i = 0; i < (rows?.length ?? features.rows); i++) {
      const from = (rows === undefined ? i : rows[i]) * columns;
      let count = 0;
      for (let j = 0; j < columns; j++) if (values[from + j] !== 0) others[count++] = j;
      let at = 0;
      for (let m = 0; m < members; m++) {
        for (let k = 0; k < vectors; k++) {
          let sum = 0;
          for (let o = 0; o < count; o++) sum += weights[at + others[o]] * values[from + others[o]];
          logits[k] = sum + weights[at + columns];
          at += columns + 1;
        }
        probabilitiesOf(logits, present.length, own);
        for (let c = 0; c < present.length; c++) probabilities[m * classes + present[c]] = own[c];
      }
      take(i, probabilities);
    }
  }
}

/** w . (x - mean) / scale + b as weights and intercept of x itself. */
const unscale = (parameters: Float64Array, means: Float64Array, scales: Float64Array): Float64Array => {
  const columns = means.length;
  const out = parameters.slice();
  for (let at = 0; at < out.length; at += columns + 1) {
    for (let j = 0; j < columns; j++) {
      out[at + j] /= scales[j];
      out[at + columns] -= out[at + j] * means[j];
    }
  }
  return out;
};

type Ensemble = NonNullable<LogisticOptions["ensemble"]>;

const requireOption = (
  right: boolean,
  name: keyof LogisticOptions,
  given: unknown,
  expected: string,
): void => {
  if (!right) throw new InputError("logistic-option", logisticTexts.option(name, given, expected));
};

export interface LogisticLearner extends Learner {
  fit(training: TrainingSet, stream: RandomStream): LogisticRegression;
  fitSteps(training: TrainingSet, stream: RandomStream): Generator<unknown, LogisticRegression>;
}

/** Logistic regression with an L2 penalty; its members are drawn from the Laplace approximation, or fitted to bootstraps. */
export const logistic = (options: LogisticOptions = {}): LogisticLearner => {
  const { l2 = 1, ensemble = "laplace", members = 100 } = options;
  requireOption(l2 > 0 && l2 < Number.POSITIVE_INFINITY, "l2", l2, "a positive, finite number");
  requireOption(
    Number.isInteger(members) && members >= 1,
    "members",
    members,
    "a whole number of at least 1",
  );
  requireOption(
    ensemble === "laplace" || ensemble === "bootstrap" || ensemble === "mode",
    "ensemble",
    ensemble,
    '"laplace", "bootstrap" or "mode"',
  );
  requireOption(
    ensemble !== "mode" || (options.members ?? 1) === 1,
    "members",
    members,
    "1 where the ensemble is the mode",
  );
  return steppedLearner("logistic", function* (training, stream) {
    const checked = checkTraining(training);
    const { features, classes } = training;
    const weights = weighClasses(checked, classes, options.classWeights);
    const { present, labels } = presentClasses(checked.labels, classes);
    const own = { features, rows: checked.rows, labels, weights, classes: present.length, l2 };
    const vectors = vectorCount(present.length);
    const weightCount = (features.columns + 1) * vectors;
    const isLarge =
      checked.rows.length * features.columns * vectors > MANY_VALUES ||
      weightCount > (ensemble === "mode" ? MANY_WEIGHTS : MOST_WEIGHTS);
    const start = startOf(training.similar, present, features.columns);
    const fitted = isLarge
      ? yield* fitSparse(own, ensemble, members, stream, start)
      : yield* fitWhole(own, ensemble, members, stream);
    return new LogisticRegression({ classes, present, ...fitted });
  });
};

/** Where a similar classifier ended, if it is one of these classes and as many columns. */
const startOf = (
  similar: Classifier | undefined,
  present: readonly number[],
  columns: number,
): Start | undefined => {
  if (!(similar instanceof LogisticRegression) || similar.means.length !== columns) return undefined;
  if (similar.present.length !== present.length || similar.present.some((c, i) => c !== present[i]))
    return undefined;
  return { means: similar.means, scales: similar.scales, mode: similar.parameters.mode };
};

/** What is fitted, of standardised features. */
interface Fitted {
  readonly means: Float64Array;
  readonly scales: Float64Array;
  readonly mode: Float64Array;
  readonly members: readonly Float64Array[];
}

/** All that is asked for, by the whole Hessian. */
function* fitWhole(
  training: SparseTraining,
  ensemble: Ensemble,
  members: number,
  stream: RandomStream,
): Generator<unknown, Fitted> {
  const { features, rows, weights, labels, classes, l2 } = training;
  const { means, scales } = yield* standardisationSteps(features, rows, weights);
  const design = yield* designSteps(features, rows, weights, { means, scales }, { labels, classes, l2 });
  const { parameters: mode, factor } = yield* findModeSteps(design, weights);
  const again = function* (drawn: Float64Array) {
    return (yield* findModeSteps(design, drawn, mode)).parameters;
  };
  const draw = (own: RandomStream) => drawAround(mode, factor, own);
  return {
    means,
    scales,
    mode,
    members: yield* memberSteps(training, mode, { ensemble, members, draw, again }, stream),
  };
}

/** The same of many rows or columns: the Hessian is made only where members need it. */
function* fitSparse(
  training: SparseTraining,
  ensemble: Ensemble,
  members: number,
  stream: RandomStream,
  start: Start | undefined,
): Generator<unknown, Fitted> {
  const fit = yield* sparseFitSteps(training, start);
  const { means, scales, problem } = fit;
  const mode = byVector(fit.mode.parameters, problem.vectors);
  const draw = ensemble === "laplace" ? yield* laplaceSteps(fit, MOST_WEIGHTS) : () => mode;
  const again = (drawn: Float64Array) => refitSteps(fit, drawn);
  return {
    means,
    scales,
    mode,
    members: yield* memberSteps(training, mode, { ensemble, members, draw, again }, stream),
  };
}

interface Drawing {
  readonly ensemble: Ensemble;
  readonly members: number;
  /** Parameters from around the mode. */
  readonly draw: Draw;
  /** The mode of other weights. */
  readonly again: (weights: Float64Array) => Generator<unknown, Float64Array>;
}

function* memberSteps(
  training: SparseTraining,
  mode: Float64Array,
  { ensemble, members, draw, again }: Drawing,
  stream: RandomStream,
): Generator<unknown, readonly Float64Array[]> {
  if (ensemble === "mode") return [mode];
  const drawn: Float64Array[] = [];
  for (let m = 0; m < members; m++) {
    const own = stream.split(m);
    const weights = ensemble === "bootstrap" ? resampled(training, own) : undefined;
    if (ensemble === "laplace") drawn.push(draw(own));
    else drawn.push(weights === undefined ? mode : yield* again(weights));
    yield;
  }
  return drawn;
}

/** Weights of n rows drawn with replacement; drawn again where they lack a class, so that there is a mode. */
const resampled = (
  { labels, classes, weights }: SparseTraining,
  stream: RandomStream,
): Float64Array | undefined => {
  const n = labels.length;
  for (let tries = 0; ; tries++) {
    const times = new Float64Array(n);
    for (let i = 0; i < n; i++) times[stream.integer(n)]++;
    const seen = new Set(labels.filter((_, i) => times[i] > 0));
    // A class of one row among many is missed in a third of all samples; hundreds of misses in a row do not happen.
    if (seen.size < classes && tries < 1000) continue;
    if (seen.size < classes) return undefined;
    return weights.map((w, i) => w * times[i]);
  }
};

/** A logistic regression as JSON can carry it. */
export interface SavedLogistic {
  readonly format: "fairbed-logistic-1";
  readonly classes: number;
  readonly present: readonly number[];
  readonly means: readonly number[];
  readonly scales: readonly number[];
  readonly mode: readonly number[];
  readonly members: readonly (readonly number[])[];
}

export const saveLogistic = (fitted: LogisticRegression): SavedLogistic => ({
  format: "fairbed-logistic-1",
  classes: fitted.classes,
  present: [...fitted.present],
  means: Array.from(fitted.means),
  scales: Array.from(fitted.scales),
  mode: Array.from(fitted.parameters.mode),
  members: fitted.parameters.members.map((member) => Array.from(member)),
});

/** The regression that was saved, which answers with the same bits; anything else, or a damaged one, is refused. */
export const loadLogistic = (saved: SavedLogistic): LogisticRegression => {
  if (!isSavedLogistic(saved)) throw new InputError("saved-logistic", logisticTexts.saved);
  return new LogisticRegression({
    classes: saved.classes,
    present: [...saved.present],
    means: Float64Array.from(saved.means),
    scales: Float64Array.from(saved.scales),
    mode: Float64Array.from(saved.mode),
    members: saved.members.map((member) => Float64Array.from(member)),
  });
};

const isSavedLogistic = (given: unknown): given is SavedLogistic => {
  const saved = given as Saved<SavedLogistic>;
  if (saved?.format !== "fairbed-logistic-1" || !isWhole(saved.classes, 2)) return false;
  const { classes, present, means, scales, mode, members } = saved;
  if (!isPresent(present, classes) || !isNumbers(means) || means.length === 0) return false;
  const size = vectorCount(present.length) * (means.length + 1);
  return (
    isNumbers(scales, means.length) &&
    scales.every((scale) => scale > 0) &&
    isNumbers(mode, size) &&
    Array.isArray(members) &&
    members.length > 0 &&
    members.every((member) => isNumbers(member, size))
  );
};
