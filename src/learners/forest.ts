/**
 * Random forests that do what scikit-learn's RandomForestClassifier does: fully grown trees on bootstrap samples,
 * Gini impurity, floor(sqrt(F)) features drawn for every split, thresholds halfway between values.
 */
import { bitCount } from "../core/bit-count.js";
import { InputError } from "../core/errors.js";
import { unpaced } from "../core/options.js";
import type { RandomStream } from "../core/random.js";
import type { Classifier, FeatureMatrix, Learner, MemberProbabilities, TrainingSet } from "./classifier.js";
import { requireFeatures, requireRows, requireSameColumns } from "./features.js";
import { growSteps } from "./forest/grow.js";
import { checkOptions, type ForestOptions, forestTexts } from "./forest/options.js";
import { type PackedTrees, packTrees } from "./forest/packed-trees.js";
import { predictParts } from "./forest/predict.js";
import { isPure, type Trees, treeCount } from "./forest/trees.js";
import { steppedLearner } from "./in-steps.js";

export { type ForestOptions, forestTexts } from "./forest/options.js";
export type { Trees } from "./forest/trees.js";

/** A fitted forest: each tree is a member. */
export class FittedForest implements Classifier {
  readonly trees: Trees;
  /** Mean decrease of impurity by feature, normalised to sum to 1 (all 0 where nothing was split). */
  readonly importances: Float64Array;
  /** Whether every leaf of every tree is sure of one class. */
  readonly pure: boolean;
  readonly #votes: boolean;
  readonly #packed: PackedTrees;
  readonly #threads: number | undefined;

  constructor(trees: Trees, importances: Float64Array, threads?: number) {
    this.trees = trees;
    this.importances = importances;
    this.pure = isPure(trees);
    this.#votes = this.pure && trees.classes === 2;
    this.#packed = packTrees(trees, this.#votes);
    this.#threads = threads;
  }

  get classes(): number {
    return this.trees.classes;
  }

  get members(): number {
    return treeCount(this.trees);
  }

  #parts(
    features: FeatureMatrix,
    rows: Int32Array | undefined,
    take: (answers: Int32Array, firstRow: number, rows: number) => void,
  ): Generator<unknown, void> {
    requireFeatures(features);
    requireSameColumns(features, this.trees.features);
    if (rows !== undefined) requireRows(rows, features);
    return predictParts(this.#packed, { features, rows, threads: this.#threads, take });
  }

  /** Votes where the forest is pure and has two classes, otherwise the leaves' class fractions. */
  predictMembers(features: FeatureMatrix, rows?: Int32Array): MemberProbabilities {
    const { members, classes } = this;
    const total = rows?.length ?? features.rows;
    if (this.#votes) {
      const perRow = Math.ceil(members / 32);
      const words = new Uint32Array(total * perRow);
      unpaced(this.#parts(features, rows, (answers, first) => words.set(answers, first * perRow)));
      return { kind: "votes", rows: total, members, classes: 2, words };
    }
    const values = new Float32Array(total * members * classes);
    const take = (answers: Int32Array, first: number) => {
      const floats = new Float32Array(answers.buffer, answers.byteOffset, answers.length);
      values.set(floats, first * members * classes);
    };
    unpaced(this.#parts(features, rows, take));
    return { kind: "dense", rows: total, members, classes, values };
  }

  predict(features: FeatureMatrix, rows?: Int32Array): Float64Array {
    return unpaced(this.predictSteps(features, rows));
  }

  *predictSteps(features: FeatureMatrix, rows?: Int32Array): Generator<unknown, Float64Array> {
    const { members, classes } = this;
    const means = new Float64Array((rows?.length ?? features.rows) * classes);
    yield* this.#parts(features, rows, (answers, first, count) => {
      if (this.#votes) meanOfVotes(answers, members, means.subarray(2 * first, 2 * (first + count)));
      else {
        const floats = new Float32Array(answers.buffer, answers.byteOffset, answers.length);
        meanOfMembers(floats, members, classes, means.subarray(classes * first, classes * (first + count)));
      }
    });
    return means;
  }
}

const meanOfVotes = (words: Int32Array, members: number, means: Float64Array): void => {
  const perRow = Math.ceil(members / 32);
  for (let row = 0; 2 * row < means.length; row++) {
    let votes = 0;
    for (let k = 0; k < perRow; k++) votes += bitCount(words[row * perRow + k]);
    means[2 * row] = (members - votes) / members;
    means[2 * row + 1] = votes / members;
  }
};

const meanOfMembers = (values: Float32Array, members: number, classes: number, means: Float64Array): void => {
  if (classes === 2) {
    // By far the most frequent, and faster with both classes side by side: neither sum waits for the other.
    for (let row = 0, at = 0; 2 * row < means.length; row++) {
      let [sum0, sum1] = [0, 0];
      for (const end = at + 2 * members; at < end; at += 2) {
        sum0 += values[at];
        sum1 += values[at + 1];
      }
      means[2 * row] = sum0 / members;
      means[2 * row + 1] = sum1 / members;
    }
    return;
  }
  for (let row = 0; row * classes < means.length; row++) {
    const from = row * members * classes;
    for (let c = 0; c < classes; c++) {
      let sum = 0;
      for (let k = 0; k < members; k++) sum += values[from + k * classes + c];
      means[row * classes + c] = sum / members;
    }
  }
};

export interface ForestLearner extends Learner {
  fit(training: TrainingSet, stream: RandomStream): FittedForest;
  fitSteps(training: TrainingSet, stream: RandomStream): Generator<unknown, FittedForest>;
}

/** A learner of random forests; scikit-learn's defaults unless told otherwise. */
export const forest = (options: ForestOptions = {}): ForestLearner => {
  checkOptions(options);
  return steppedLearner("forest", function* (training, stream) {
    const { trees, importances } = yield* growSteps(training, options, stream);
    return new FittedForest(trees, importances, options.threads);
  });
};

/** A forest as JSON can carry it. */
export interface SavedForest {
  readonly format: "fairbed-forest-1";
  readonly features: number;
  readonly classes: number;
  readonly starts: readonly number[];
  readonly feature: readonly number[];
  readonly threshold: readonly number[];
  readonly right: readonly number[];
  readonly probabilities: readonly number[];
  readonly importances: readonly number[];
}

export const saveForest = ({ trees, importances }: FittedForest): SavedForest => ({
  format: "fairbed-forest-1",
  features: trees.features,
  classes: trees.classes,
  starts: Array.from(trees.starts),
  feature: Array.from(trees.feature),
  threshold: Array.from(trees.threshold),
  right: Array.from(trees.right),
  probabilities: Array.from(trees.probabilities),
  importances: Array.from(importances),
});

/** The forest that was saved; anything else, or one that was damaged, is refused. */
export const loadForest = (
  saved: SavedForest,
  options: Pick<ForestOptions, "threads"> = {},
): FittedForest => {
  checkOptions(options);
  if (!isSavedForest(saved)) throw new InputError("saved-forest", forestTexts.saved);
  const trees: Trees = {
    features: saved.features,
    classes: saved.classes,
    starts: Int32Array.from(saved.starts),
    feature: Int32Array.from(saved.feature),
    threshold: Float64Array.from(saved.threshold),
    right: Int32Array.from(saved.right),
    probabilities: Float32Array.from(saved.probabilities),
  };
  return new FittedForest(trees, Float64Array.from(saved.importances), options.threads);
};

/** Whether every number is one that the kernels may follow: a wrong child would lead out of the tree, or round. */
const isSavedForest = (saved: SavedForest): boolean => {
  if (typeof saved !== "object" || saved === null || saved.format !== "fairbed-forest-1") return false;
  const { features, classes, starts, feature, threshold, right, probabilities, importances } = saved;
  const lists = [starts, feature, threshold, right, probabilities, importances];
  const sized = Number.isInteger(features) && features >= 1 && Number.isInteger(classes) && classes >= 2;
  if (!sized || !lists.every((list) => Array.isArray(list) && list.every(Number.isFinite))) return false;
  const nodes = feature.length;
  if (threshold.length !== nodes || right.length !== nodes || importances.length !== features) return false;
  if (starts.length < 2 || starts[0] !== 0 || starts.at(-1) !== nodes) return false;
  if (!probabilities.every((p) => p >= 0 && p <= 1)) return false;
  let leaves = 0;
  for (let t = 0; t + 1 < starts.length; t++) {
    if (!(Number.isInteger(starts[t + 1]) && starts[t] < starts[t + 1])) return false;
    for (let i = starts[t]; i < starts[t + 1]; i++) {
      const f = feature[i];
      const leaf = f === -1;
      if (leaf ? right[i] !== leaves++ : !(Number.isInteger(f) && f >= 0 && f < features)) return false;
      // Children come after their parent and within the tree.
      if (!leaf && !(Number.isInteger(right[i]) && right[i] > i + 1 && right[i] < starts[t + 1]))
        return false;
    }
    if (feature[starts[t + 1] - 1] !== -1) return false;
  }
  return probabilities.length === leaves * classes;
};
