/**
 * A support vector machine with a radial basis function kernel and probabilities: libsvm's C-SVC, with the defaults of
 * scikit-learn's SVC (C = 1, gamma "scale").
 *
 * Unlike there, features are standardised inside unless told otherwise (a StandardScaler before it). Probabilities are
 * Platt's sigmoid of the decision value, fitted on the decisions of five-fold cross-validation; the folds are
 * stratified (libsvm's are not, so that in a fold short of a class its threshold leans the wrong way). More than two
 * classes: one machine for each pair, their probabilities coupled as in libsvm. Classes that do not occur in training
 * have probability 0.
 *
 * Time grows with rows^2 to rows^3: made for thousands of rows, not for hundreds of thousands.
 */
import { InputError } from "../core/errors.js";
import type { RandomStream } from "../core/random.js";
import type { Classifier, DenseMembers, FeatureMatrix, Learner, TrainingSet } from "./classifier.js";
import { steppedLearner } from "./in-steps.js";
import { oneMember, presentClasses, requirePrediction } from "./one-member.js";
import { isNumbers, isPresent, isWhole, type Saved } from "./saved-numbers.js";
import {
  noStandardisation,
  rowsOrAll,
  type Standardisation,
  standardisationSteps,
  standardise,
  standardiseSteps,
} from "./standardise.js";
import { type KernelRows, kernelCache, kernelColumn, kernelRows } from "./svm/kernel.js";
import { couplePairs, fitSigmoid, type PlattSigmoid, sigmoidAt } from "./svm/platt.js";
import { type SvmProblem, solveSvm } from "./svm/smo.js";
import { type ClassWeights, checkTraining, weighClasses } from "./training.js";

export interface SvmOptions {
  /** The largest multiplier of a row of weight 1 (1): scikit-learn's C. */
  readonly c?: number | undefined;
  /** Of exp(-gamma |x - z|^2); 1 / (columns x variance of all the features' values) unless given. */
  readonly gamma?: number | undefined;
  /** Whether features are brought to mean 0 and variance 1 (yes). */
  readonly standardise?: boolean | undefined;
  readonly classWeights?: ClassWeights | undefined;
}

export const svmTexts = {
  saved: "this is no saved support vector machine: give what saveSvm returned",
  option: (name: string, given: unknown, expected: string) =>
    `the support vector machine's ${name} was ${String(given)}: give ${expected}`,
};

/** The machine that tells two classes apart. */
export interface SvmPair {
  /** Places in `present`, lower < upper; a positive decision is for the upper. */
  readonly lower: number;
  readonly upper: number;
  /** Of each support vector (0 for those of other pairs). */
  readonly coefficients: Float64Array;
  readonly bias: number;
  readonly sigmoid: PlattSigmoid;
}

/** libsvm keeps the pairs' probabilities this far from 0 and 1. */
const LEAST_PAIR_PROBABILITY = 1e-7;

/** A fitted support vector machine, one member. */
export class FittedSvm implements Classifier {
  readonly members = 1;
  readonly classes: number;
  /** The classes that occurred in training; the others have probability 0. */
  readonly present: readonly number[];
  readonly gamma: number;
  readonly pairs: readonly SvmPair[];
  /** The training rows that the decisions look at, standardised. */
  readonly vectors: KernelRows;
  /** What is done to features first. */
  readonly standardisation: Standardisation;

  constructor(parts: {
    readonly classes: number;
    readonly present: readonly number[];
    readonly gamma: number;
    readonly pairs: readonly SvmPair[];
    readonly vectors: KernelRows;
    readonly standardisation: Standardisation;
  }) {
    this.classes = parts.classes;
    this.present = parts.present;
    this.gamma = parts.gamma;
    this.pairs = parts.pairs;
    this.vectors = parts.vectors;
    this.standardisation = parts.standardisation;
  }

  /** How many training rows the decisions look at. */
  get supportVectors(): number {
    return this.vectors.squares.length;
  }

  /** The decision value of every pair, [rows, pairs]: positive for the upper class. */
  decide(features: FeatureMatrix, rows?: Int32Array): Float64Array {
    const { columns } = features;
    const total = requirePrediction(features, this.standardisation.means.length, rows);
    const { pairs, gamma, vectors } = this;
    const chosen = rowsOrAll(features, rows);
    const x = new Float64Array(columns);
    const k = new Float64Array(vectors.squares.length);
    const out = new Float64Array(total * pairs.length);
    for (let i = 0; i < total; i++) {
      standardise(features, chosen.subarray(i, i + 1), this.standardisation, x);
      kernelColumn(kernelRows(x, columns), 0, vectors, gamma, k);
      for (let m = 0; m < pairs.length; m++) {
        const { coefficients, bias } = pairs[m];
        let sum = bias;
        for (let s = 0; s < k.length; s++) sum += coefficients[s] * k[s];
        out[i * pairs.length + m] = sum;
      }
    }
    return out;
  }

  predict(features: FeatureMatrix, rows?: Int32Array): Float64Array {
    const { classes, present, pairs } = this;
    const decisions = this.decide(features, rows);
    const total = decisions.length / pairs.length;
    const out = new Float64Array(total * classes);
    const count = present.length;
    const r = new Float64Array(count * count);
    for (let i = 0; i < total; i++) {
      pairs.forEach(({ lower, upper, sigmoid }, m) => {
        const p = sigmoidAt(sigmoid, decisions[i * pairs.length + m]);
        const within = Math.min(Math.max(p, LEAST_PAIR_PROBABILITY), 1 - LEAST_PAIR_PROBABILITY);
        r[upper * count + lower] = within;
        r[lower * count + upper] = 1 - within;
      });
      const own = count === 2 ? [r[1], r[2]] : couplePairs(r, count);
      for (let c = 0; c < count; c++) out[i * classes + present[c]] = own[c];
    }
    return out;
  }

  predictMembers(features: FeatureMatrix, rows?: Int32Array): DenseMembers {
    return oneMember(this.predict(features, rows), this.classes);
  }
}

export interface SvmLearner extends Learner {
  fit(training: TrainingSet, stream: RandomStream): FittedSvm;
  fitSteps(training: TrainingSet, stream: RandomStream): Generator<unknown, FittedSvm>;
}

/** A learner of support vector machines; scikit-learn's defaults, behind a StandardScaler, unless told otherwise. */
export const svm = (options: SvmOptions = {}): SvmLearner => {
  const { c = 1 } = options;
  const isPositive = (given: number) => given > 0 && given < Number.POSITIVE_INFINITY;
  const requireOption = (right: boolean, name: keyof SvmOptions, given: unknown): void => {
    if (!right) throw new InputError("svm-option", svmTexts.option(name, given, "a positive, finite number"));
  };
  requireOption(isPositive(c), "c", c);
  requireOption(options.gamma === undefined || isPositive(options.gamma), "gamma", options.gamma);
  return steppedLearner("svm", function* (training, stream) {
    const { features, classes } = training;
    const { columns } = features;
    const checked = checkTraining(training);
    const { rows } = checked;
    const weights = weighClasses(checked, classes, options.classWeights);
    const { present, labels } = presentClasses(checked.labels, classes);
    const standardisation =
      options.standardise === false
        ? noStandardisation(columns)
        : yield* standardisationSteps(features, rows, weights);
    const out = new Float64Array(rows.length * columns);
    const x = yield* standardiseSteps(features, rows, standardisation, out);
    const gamma = options.gamma ?? scaleOf(x, columns);
    const column = kernelCache(kernelRows(x, columns), gamma);
    const machines: Machine[] = [];
    for (let lower = 0; lower < present.length; lower++)
      for (let upper = lower + 1; upper < present.length; upper++) {
        const own = Int32Array.from(labels.keys()).filter((i) => labels[i] === lower || labels[i] === upper);
        const y = Int8Array.from(own, (i) => (labels[i] === upper ? 1 : -1));
        const problem = { rows: own, y, c: Float64Array.from(own, (i) => c * weights[i]), column };
        const pairStream = stream.split(`${lower}-${upper}`);
        const ownWeights = Float64Array.from(own, (i) => weights[i]);
        const sigmoid = fitSigmoid(yield* crossDecide(problem, pairStream), y, ownWeights);
        machines.push({ lower, upper, rows: own, sigmoid, ...(yield* solveSvm(problem)) });
      }
    const { vectors, pairs } = gatherVectors(machines, x, columns);
    return new FittedSvm({
      classes,
      present,
      gamma,
      pairs,
      vectors: kernelRows(vectors, columns),
      standardisation,
    });
  });
};

/** A pair's machine, with coefficients of its training rows. */
interface Machine extends SvmPair {
  readonly rows: Int32Array;
}

/** scikit-learn's gamma "scale". */
const scaleOf = (x: Float64Array, columns: number): number => {
  const mean = x.reduce((sum, each) => sum + each, 0) / x.length;
  const variance = x.reduce((sum, each) => sum + (each - mean) ** 2, 0) / x.length;
  return variance > 0 ? 1 / (columns * variance) : 1;
};

const FOLDS = 5;
/** Kernel columns that are made in one piece of work, at most. */
const PIECE_STEPS = 8;

/** The decision value of each row, by the machine that was fitted without the row's fold. */
function* crossDecide(
  { rows, y, c, column }: SvmProblem,
  stream: RandomStream,
): Generator<unknown, Float64Array> {
  const fold = new Int32Array(rows.length);
  let next = 0;
  const order = stream.permutation(rows.length);
  // Dealt out class by class, so that every fold has its share of each.
  for (const sign of [1, -1]) for (const i of order) if (y[i] === sign) fold[i] = next++ % FOLDS;
  const decisions = new Float64Array(rows.length);
  for (let f = 0; f < FOLDS; f++) {
    const kept = Int32Array.from(fold.keys()).filter((i) => fold[i] !== f);
    const part: SvmProblem = {
      rows: Int32Array.from(kept, (i) => rows[i]),
      y: Int8Array.from(kept, (i) => y[i]),
      c: Float64Array.from(kept, (i) => c[i]),
      column,
    };
    // Without a row of one class there is nothing to decide, and libsvm says the other.
    const single = part.y.every((sign) => sign === part.y[0]);
    const { coefficients, bias } = single
      ? { coefficients: new Float64Array(kept.length), bias: part.y[0] ?? 0 }
      : yield* solveSvm(part);
    const held = Int32Array.from(fold.keys()).filter((i) => fold[i] === f);
    for (const i of held) decisions[i] = bias;
    for (let s = 0; s < kept.length; s++) {
      if (coefficients[s] === 0) continue;
      const k = column(part.rows[s]);
      for (const i of held) decisions[i] += coefficients[s] * k[rows[i]];
      if (s % PIECE_STEPS === 0) yield;
    }
  }
  return decisions;
}

/** The rows that any pair needs, and the pairs' coefficients of just these. */
const gatherVectors = (
  machines: readonly Machine[],
  x: Float64Array,
  columns: number,
): { vectors: Float64Array; pairs: SvmPair[] } => {
  const place = new Map<number, number>();
  for (const { rows, coefficients } of machines)
    rows.forEach((row, s) => {
      if (coefficients[s] !== 0 && !place.has(row)) place.set(row, place.size);
    });
  const vectors = new Float64Array(place.size * columns);
  for (const [row, at] of place) vectors.set(x.subarray(row * columns, (row + 1) * columns), at * columns);
  const pairs = machines.map(({ lower, upper, rows, coefficients, bias, sigmoid }) => {
    const own = new Float64Array(place.size);
    rows.forEach((row, s) => {
      const at = place.get(row);
      if (at !== undefined) own[at] = coefficients[s];
    });
    return { lower, upper, coefficients: own, bias, sigmoid };
  });
  return { vectors, pairs };
};

/** A support vector machine as JSON can carry it. It holds rows of the table: those that decide. */
export interface SavedSvm {
  readonly format: "fairbed-svm-1";
  readonly classes: number;
  readonly present: readonly number[];
  readonly gamma: number;
  readonly means: readonly number[];
  readonly scales: readonly number[];
  /** [support vectors, columns], standardised. */
  readonly vectors: readonly number[];
  readonly pairs: readonly {
    readonly lower: number;
    readonly upper: number;
    readonly coefficients: readonly number[];
    readonly bias: number;
    readonly slope: number;
    readonly offset: number;
  }[];
}

export const saveSvm = ({
  classes,
  present,
  gamma,
  standardisation,
  vectors,
  pairs,
}: FittedSvm): SavedSvm => ({
  format: "fairbed-svm-1",
  classes,
  present: [...present],
  gamma,
  means: Array.from(standardisation.means),
  scales: Array.from(standardisation.scales),
  vectors: Array.from(vectors.x),
  pairs: pairs.map(({ lower, upper, coefficients, bias, sigmoid: { slope, offset } }) => ({
    lower,
    upper,
    coefficients: Array.from(coefficients),
    bias,
    slope,
    offset,
  })),
});

/** The machine that was saved, which answers with the same bits; anything else, or a damaged one, is refused. */
export const loadSvm = (saved: SavedSvm): FittedSvm => {
  if (!isSavedSvm(saved)) throw new InputError("saved-svm", svmTexts.saved);
  const { classes, present, gamma, means, scales } = saved;
  return new FittedSvm({
    classes,
    present: [...present],
    gamma,
    pairs: saved.pairs.map(({ lower, upper, coefficients, bias, slope, offset }) => ({
      lower,
      upper,
      coefficients: Float64Array.from(coefficients),
      bias,
      sigmoid: { slope, offset },
    })),
    vectors: kernelRows(Float64Array.from(saved.vectors), means.length),
    standardisation: { means: Float64Array.from(means), scales: Float64Array.from(scales) },
  });
};

const isSavedSvm = (given: unknown): given is SavedSvm => {
  const saved = given as Saved<SavedSvm>;
  if (saved?.format !== "fairbed-svm-1" || !isWhole(saved.classes, 2)) return false;
  const { classes, present, gamma, means, scales, vectors, pairs } = saved;
  if (!isPresent(present, classes) || !isNumbers(means) || means.length === 0) return false;
  if (!isNumbers([gamma]) || !isNumbers(scales, means.length) || !isNumbers(vectors)) return false;
  const count = present.length;
  if (vectors.length % means.length !== 0 || !Array.isArray(pairs)) return false;
  // Every pair of classes once, in the order in which they are made.
  let next = 0;
  for (let lower = 0; lower < count; lower++)
    for (let upper = lower + 1; upper < count; upper++) {
      const pair = pairs[next++] as Saved<SavedSvm["pairs"][number]>;
      const right =
        pair?.lower === lower &&
        pair.upper === upper &&
        isNumbers(pair.coefficients, vectors.length / means.length) &&
        isNumbers([pair.bias, pair.slope, pair.offset]);
      if (!right) return false;
    }
  return pairs.length === next;
};
