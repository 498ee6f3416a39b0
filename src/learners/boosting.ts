/**
 * Gradient boosting of trees with XGBoost's objective and defaults (Chen and Guestrin 2016): Newton steps on the log
 * loss, here of exact splits where a column has few distinct values and of histograms otherwise.
 *
 * Two classes have one tree a round, for the log odds; more have one a round and class, for a softmax. Classes that
 * do not occur in training have probability 0. Nothing is drawn, so the stream is not used. XGBoost's alpha and
 * gamma are 0.
 */
import { InputError } from "../core/errors.js";
import { exp, log } from "../core/math.js";
import type { RandomStream } from "../core/random.js";
import { cutSteps } from "./boosting/bins.js";
import { TreeGrower } from "./boosting/grow.js";
import { addTrees, type RegressionTrees, TreeWriter } from "./boosting/trees.js";
import type { Classifier, DenseMembers, FeatureMatrix, Learner, TrainingSet } from "./classifier.js";
import { steppedLearner } from "./in-steps.js";
import { oneMember, presentClasses, requirePrediction } from "./one-member.js";
import { isNumbers, isPresent, isWhole, type Saved } from "./saved-numbers.js";
import { type ClassWeights, checkTraining, weighClasses } from "./training.js";

export interface BoostingOptions {
  /** How many rounds (100). */
  readonly rounds?: number | undefined;
  /** How much of each tree is taken (0.3): XGBoost's eta. */
  readonly rate?: number | undefined;
  /** The most splits between the root and a leaf (6). */
  readonly maxDepth?: number | undefined;
  /** The penalty on the squares of the leaves' weights (1): XGBoost's lambda. */
  readonly l2?: number | undefined;
  /** The least curvature in a leaf (1): XGBoost's min_child_weight. */
  readonly minChildWeight?: number | undefined;
  /** Bins of a column with more distinct values than that, from 1025 rows on (256). */
  readonly bins?: number | undefined;
  /** Whether the first round is the classes' shares of the weight (no: XGBoost starts from equal ones). */
  readonly fromShares?: boolean | undefined;
  readonly classWeights?: ClassWeights | undefined;
}

export const boostingTexts = {
  saved: "this is no saved boosting: give what saveBoosting returned",
  option: (name: string, given: unknown, expected: string) =>
    `boosting's ${name} was ${String(given)}: give ${expected}`,
};

/** Fitted trees, one member. */
export class FittedBoosting implements Classifier {
  readonly members = 1;
  readonly classes: number;
  readonly columns: number;
  /** The classes that occurred in training; the others have probability 0. */
  readonly present: readonly number[];
  /** Those of a round next to each other: one where two classes occurred, otherwise one for each. */
  readonly trees: RegressionTrees;

  constructor(classes: number, columns: number, present: readonly number[], trees: RegressionTrees) {
    this.classes = classes;
    this.columns = columns;
    this.present = present;
    this.trees = trees;
  }

  predict(features: FeatureMatrix, rows?: Int32Array): Float64Array {
    const total = requirePrediction(features, this.columns, rows);
    const { classes, present, trees } = this;
    const out = new Float64Array(total * classes);
    const margins = new Float32Array(marginCount(present.length));
    const own = new Float64Array(present.length);
    for (let i = 0; i < total; i++) {
      margins.fill(0);
      addTrees(trees, features.values, (rows === undefined ? i : rows[i]) * features.columns, margins);
      probabilitiesOf(margins, 0, own);
      for (let c = 0; c < own.length; c++) out[i * classes + present[c]] = own[c];
    }
    return out;
  }

  predictMembers(features: FeatureMatrix, rows?: Int32Array): DenseMembers {
    return oneMember(this.predict(features, rows), this.classes);
  }
}

export interface BoostingLearner extends Learner {
  fit(training: TrainingSet, stream?: RandomStream): FittedBoosting;
  fitSteps(training: TrainingSet, stream?: RandomStream): Generator<unknown, FittedBoosting>;
}

/** A learner of boosted trees; XGBoost's defaults unless told otherwise. */
export const boosting = (options: BoostingOptions = {}): BoostingLearner => {
  const { rounds = 100, rate = 0.3, maxDepth = 6, l2 = 1, minChildWeight = 1, bins = 256 } = options;
  const requireOption = (
    right: boolean,
    name: keyof BoostingOptions,
    given: unknown,
    expected: string,
  ): void => {
    if (!right) throw new InputError("boosting-option", boostingTexts.option(name, given, expected));
  };
  requireOption(isWhole(rounds, 1, 1e6), "rounds", rounds, "a whole number of at least 1");
  requireOption(rate > 0 && rate <= 1, "rate", rate, "a number above 0 and at most 1");
  requireOption(isWhole(maxDepth, 1, 64), "maxDepth", maxDepth, "a whole number from 1 to 64");
  requireOption(l2 >= 0 && l2 < Number.POSITIVE_INFINITY, "l2", l2, "a finite number of at least 0");
  requireOption(
    minChildWeight >= 0 && minChildWeight < Number.POSITIVE_INFINITY,
    "minChildWeight",
    minChildWeight,
    "a finite number of at least 0",
  );
  requireOption(isWhole(bins, 2, 65536), "bins", bins, "a whole number from 2 to 65536");
  return steppedLearner("boosting", function* (training) {
    const { features, classes } = training;
    const checked = checkTraining(training);
    const { rows } = checked;
    const weights = weighClasses(checked, classes, options.classWeights);
    const { present, labels } = presentClasses(checked.labels, classes);
    const cut = yield* cutSteps(features, rows, weights, bins);
    const grower = new TreeGrower(features, rows, cut, { rate, maxDepth, l2, minChildWeight });
    const writer = new TreeWriter();
    const perRound = marginCount(present.length);
    const margins = new Float32Array(rows.length * perRound);
    const g = Array.from({ length: perRound }, () => new Float32Array(rows.length));
    const h = Array.from({ length: perRound }, () => new Float32Array(rows.length));
    if (options.fromShares === true) startFromShares(writer, margins, labels, weights, present.length);
    for (let round = 0; round < rounds; round++) {
      differentiate(margins, labels, weights, present.length, g, h);
      for (let k = 0; k < perRound; k++) yield* grower.grow(writer, g[k], h[k], margins, k, perRound);
    }
    return new FittedBoosting(classes, features.columns, present, writer.finish());
  });
};

/** A tree of one leaf for each margin: the log odds or the logs of the classes' shares. */
const startFromShares = (
  writer: TreeWriter,
  margins: Float32Array,
  labels: Int32Array,
  weights: Float64Array,
  classes: number,
): void => {
  const shares = new Float64Array(classes);
  let total = 0;
  labels.forEach((label, i) => {
    shares[label] += weights[i];
    total += weights[i];
  });
  const values =
    classes === 2 ? [log(shares[1] / shares[0])] : Array.from(shares, (share) => log(share / total));
  for (const value of values) writer.setLeaf(writer.root(), value);
  for (let i = 0; i < margins.length; i++) margins[i] = values[i % values.length];
};

/** Two classes need one number, the log odds of the second. */
const marginCount = (classes: number): number => (classes === 2 ? 1 : classes);

/** The least curvature of a row, so that sums of them are never 0 (XGBoost's). */
const LEAST_CURVATURE = Math.fround(1e-16);

/**
 * Of the log loss in every margin, times the row's weight: p - y and p (1 - p), twice that for a softmax (an upper
 * bound, as in XGBoost).
 */
const differentiate = (
  margins: Float32Array,
  labels: Int32Array,
  weights: Float64Array,
  classes: number,
  g: readonly Float32Array[],
  h: readonly Float32Array[],
): void => {
  const p = new Float32Array(classes);
  const factor = classes === 2 ? 1 : 2;
  for (let i = 0; i < labels.length; i++) {
    probabilitiesOf(margins, i * g.length, p);
    for (let k = 0; k < g.length; k++) {
      const c = classes === 2 ? 1 : k;
      g[k][i] = Math.fround(p[c] - (labels[i] === c ? 1 : 0)) * weights[i];
      h[k][i] = Math.max(factor * Math.fround(p[c] * Math.fround(1 - p[c])), LEAST_CURVATURE) * weights[i];
    }
  }
};

/** The classes' probabilities from the margins that start at `from`: a sigmoid for two, otherwise a softmax. */
const probabilitiesOf = (margins: Float32Array, from: number, out: Float32Array | Float64Array): void => {
  if (out.length === 2) {
    out[0] = 1 / (1 + exp(margins[from]));
    out[1] = 1 / (1 + exp(-margins[from]));
    return;
  }
  let most = margins[from];
  for (let c = 1; c < out.length; c++) most = Math.max(most, margins[from + c]);
  let sum = 0;
  for (let c = 0; c < out.length; c++) {
    out[c] = exp(margins[from + c] - most);
    sum += out[c];
  }
  for (let c = 0; c < out.length; c++) out[c] /= sum;
};

/** Boosted trees as JSON can carry them. */
export interface SavedBoosting {
  readonly format: "fairbed-boosting-1";
  readonly classes: number;
  readonly columns: number;
  readonly present: readonly number[];
  readonly roots: readonly number[];
  readonly feature: readonly number[];
  readonly value: readonly number[];
  readonly left: readonly number[];
}

export const saveBoosting = ({ classes, columns, present, trees }: FittedBoosting): SavedBoosting => ({
  format: "fairbed-boosting-1",
  classes,
  columns,
  present: [...present],
  roots: Array.from(trees.roots),
  feature: Array.from(trees.feature),
  value: Array.from(trees.value),
  left: Array.from(trees.left),
});

/** The boosting that was saved, which answers with the same bits; anything else, or a damaged one, is refused. */
export const loadBoosting = (saved: SavedBoosting): FittedBoosting => {
  if (!isSavedBoosting(saved)) throw new InputError("saved-boosting", boostingTexts.saved);
  return new FittedBoosting(saved.classes, saved.columns, [...saved.present], {
    roots: Int32Array.from(saved.roots),
    feature: Int32Array.from(saved.feature),
    value: Float32Array.from(saved.value),
    left: Int32Array.from(saved.left),
  });
};

/** Children come after their parent and before the next tree, or a walk down might never end. */
const isSavedBoosting = (given: unknown): given is SavedBoosting => {
  const saved = given as Saved<SavedBoosting>;
  if (saved?.format !== "fairbed-boosting-1" || !isPresent(saved.present, saved.classes)) return false;
  const { columns, roots, feature, value, left } = saved;
  if (!isWhole(columns, 1) || !isNumbers(roots) || !isNumbers(feature)) return false;
  if (!isNumbers(value, feature.length) || !isNumbers(left, feature.length)) return false;
  if (roots.length === 0 || roots.length % marginCount(saved.present.length) !== 0 || roots[0] !== 0)
    return false;
  return roots.every((root, t) => {
    const end = roots[t + 1] ?? feature.length;
    if (!isWhole(end, root + 1)) return false;
    for (let node = root; node < end; node++) {
      if (feature[node] === -1) continue;
      if (!isWhole(feature[node], 0, columns - 1) || !isWhole(left[node], node + 1, end - 2)) return false;
    }
    return true;
  });
};
