/** From a training set to trees. */
import type { RandomStream } from "../../core/random.js";
import type { TrainingSet } from "../classifier.js";
import { checkTraining, weighClasses } from "../training.js";
import { GROW, scratchBytes, treeLayout } from "./grow-kernel.js";
import type { ForestOptions } from "./options.js";
import type { Trees } from "./trees.js";
import { forestWorkspace, withArrays } from "./workspace.js";

/** Trees are grown so many at a time that their results, before their size is known, need no more than this. */
const MOST_RESULT_BYTES = 2 ** 26;

export interface Grown {
  readonly trees: Trees;
  /** [features], sums to 1, or all 0 where nothing was split. */
  readonly importances: Float64Array;
}

/** One batch's trees, taken out of the workspace. */
interface TakenTree {
  readonly feature: Int32Array;
  readonly threshold: Float64Array;
  readonly right: Int32Array;
  /** [nodes, classes]: class weights. */
  readonly value: Float64Array;
}

export const growForest = (training: TrainingSet, options: ForestOptions, stream: RandomStream): Grown => {
  const { features, classes } = training;
  const { columns } = features;
  const checked = checkTraining(training);
  const weights = weighClasses(checked, classes, options.classWeights);
  const { rows, labels } = checked;
  const n = rows.length;
  const { trees: treeTotal = 100, leafSmoothing = 0, threads } = options;
  const { workspace, growing } = forestWorkspace(threads);
  const layout = treeLayout(n, columns, classes);
  const batch = Math.min(
    treeTotal,
    Math.max(workspace.threads, Math.floor(MOST_RESULT_BYTES / layout.bytes)),
  );
  const ownBytes = scratchBytes(n, columns, classes);
  const table = 4 * n * columns;
  const importances = new Float64Array(columns);
  const taken: TakenTree[] = [];

  withArrays(
    workspace,
    [
      4 * GROW.words,
      table,
      table,
      table,
      4 * columns,
      4 * n,
      8 * n,
      8 * treeTotal,
      ownBytes * workspace.threads,
      layout.bytes * batch,
    ],
    ([job, valuesAt, distinctAt, codesAt, distinctsAt, labelsAt, weightsAt, keysAt, scratchAt, treesAt]) => {
      const { buffer } = workspace.memory;
      const values = new Float32Array(buffer, valuesAt, n * columns);
      for (let i = 0; i < n; i++) {
        const from = rows[i] * columns;
        for (let f = 0; f < columns; f++) values[f * n + i] = features.values[from + f];
      }
      new Int32Array(buffer, labelsAt, n).set(labels);
      new Float64Array(buffer, weightsAt, n).set(weights);
      const keys = new Int32Array(buffer, keysAt, 2 * treeTotal);
      for (let t = 0; t < treeTotal; t++) keys.set(stream.split(t).key, 2 * t);
      const words = new Int32Array(buffer, job, GROW.words);
      words[GROW.rows] = n;
      words[GROW.features] = columns;
      words[GROW.classes] = classes;
      words[GROW.maxFeatures] = Math.min(
        columns,
        options.maxFeatures ?? Math.max(1, Math.floor(Math.sqrt(columns))),
      );
      words[GROW.maxDepth] = options.maxDepth ?? 0x7fffffff;
      words[GROW.minSplit] = options.minSplit ?? 2;
      words[GROW.minLeaf] = options.minLeaf ?? 1;
      words[GROW.bootstrap] = (options.bootstrap ?? true) ? 1 : 0;
      words[GROW.packed] = fitsPairs(weights, classes) ? 1 : 0;
      words[GROW.values] = valuesAt;
      words[GROW.distinct] = distinctAt;
      words[GROW.codes] = codesAt;
      words[GROW.distincts] = distinctsAt;
      words[GROW.labels] = labelsAt;
      words[GROW.weights] = weightsAt;
      words[GROW.scratch] = scratchAt;
      words[GROW.scratchBytes] = ownBytes;
      words[GROW.trees] = treesAt;
      words[GROW.treeBytes] = layout.bytes;
      growing.run("rank", job, columns);
      for (let done = 0; done < treeTotal; done += batch) {
        const count = Math.min(batch, treeTotal - done);
        words[GROW.keys] = keysAt + 8 * done;
        growing.run("grow", job, count);
        for (let t = 0; t < count; t++) {
          const at = treesAt + t * layout.bytes;
          const nodes = new Int32Array(buffer, at, 1)[0];
          taken.push({
            feature: new Int32Array(buffer, at + layout.feature, nodes).slice(),
            threshold: new Float64Array(buffer, at + layout.threshold, nodes).slice(),
            right: new Int32Array(buffer, at + layout.right, nodes).slice(),
            value: new Float64Array(buffer, at + layout.value, nodes * classes).slice(),
          });
          const own = new Float64Array(buffer, at + layout.importance, columns);
          for (let f = 0; f < columns; f++) importances[f] += own[f];
        }
      }
    },
  );
  const total = importances.reduce((sum, each) => sum + each, 0);
  if (total > 0) for (let f = 0; f < columns; f++) importances[f] /= total;
  return { trees: joinTrees(taken, columns, classes, leafSmoothing), importances };
};

/** Whether the weights of any bootstrap sample fit in half a word: n draws of a whole weight, of two classes. */
const fitsPairs = (weights: Float64Array, classes: number): boolean => {
  let largest = 0;
  for (const weight of weights) {
    if (!Number.isInteger(weight)) return false;
    largest = Math.max(largest, weight);
  }
  return classes === 2 && largest * weights.length < 32_768;
};

/** One list of nodes, and the probabilities (count + a) / (n + a C) of the leaves. */
const joinTrees = (
  taken: readonly TakenTree[],
  features: number,
  classes: number,
  smoothing: number,
): Trees => {
  const starts = new Int32Array(taken.length + 1);
  taken.forEach(({ feature }, t) => {
    starts[t + 1] = starts[t] + feature.length;
  });
  const nodes = starts[taken.length];
  const feature = new Int32Array(nodes);
  const threshold = new Float64Array(nodes);
  const right = new Int32Array(nodes);
  const probabilities = new Float32Array(((nodes + taken.length) / 2) * classes);
  let leaf = 0;
  taken.forEach((tree, t) => {
    feature.set(tree.feature, starts[t]);
    threshold.set(tree.threshold, starts[t]);
    leaf = joinTree(tree, starts[t], classes, smoothing, right, probabilities, leaf);
  });
  return { features, classes, starts, feature, threshold, right, probabilities };
};

/** Children and leaves of one tree; returns the number of its next leaf. */
const joinTree = (
  tree: TakenTree,
  start: number,
  classes: number,
  smoothing: number,
  right: Int32Array,
  probabilities: Float32Array,
  firstLeaf: number,
): number => {
  let leaf = firstLeaf;
  for (let i = 0; i < tree.feature.length; i++) {
    if (tree.feature[i] >= 0) {
      right[start + i] = start + tree.right[i];
      continue;
    }
    right[start + i] = leaf;
    let sum = 0;
    for (let c = 0; c < classes; c++) sum += tree.value[i * classes + c];
    for (let c = 0; c < classes; c++)
      probabilities[leaf * classes + c] =
        (tree.value[i * classes + c] + smoothing) / (sum + smoothing * classes);
    leaf++;
  }
  return leaf;
};
