/** From a training set to trees. */
import type { RandomStream } from "../../core/random.js";
import type { TrainingSet } from "../classifier.js";
import { PieceSize } from "../in-steps.js";
import { checkTraining, weighClasses } from "../training.js";
import { GROW, scratchBytes, treeLayout } from "./grow-layout.js";
import type { ForestOptions } from "./options.js";
import { TreeCollector } from "./tree-collector.js";
import type { Trees } from "./trees.js";
import { forestWorkspace } from "./workspace.js";

/** Trees are grown so many at a time that their results, before their size is known, need no more than this. */
const MOST_RESULT_BYTES = 2 ** 26;

/** Columns that are copied side by side. */
const COLUMNS = 32;

export interface Grown {
  readonly trees: Trees;
  /** [features], sums to 1, or all 0 where nothing was split. */
  readonly importances: Float64Array;
}

export function* growSteps(
  training: TrainingSet,
  options: ForestOptions,
  stream: RandomStream,
): Generator<unknown, Grown> {
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
  const collected = new TreeCollector(columns, classes, leafSmoothing);

  const addresses = workspace.allocateAll([
    GROW.bytes,
    table,
    table,
    table,
    4 * columns,
    4 * n,
    8 * n,
    8 * treeTotal,
    ownBytes * workspace.threads,
    layout.bytes * batch,
  ]);
  const [job, values, distinct, codes, distincts, labelsAt, weightsAt, keys, scratch, treesAt] = addresses;
  try {
    // Some columns at a time, so that the ends of all of them are in the cache.
    for (let first = 0; first < columns; first += COLUMNS) {
      const end = Math.min(first + COLUMNS, columns);
      // Between pieces of work others may have let the memory grow, so views of it are always new.
      const own = workspace.floats(values, n * columns);
      for (let i = 0; i < n; i++) {
        const from = rows[i] * columns;
        for (let f = first; f < end; f++) own[i + f * n] = features.values[from + f];
      }
      yield;
    }
    let words = new Int32Array(workspace.buffer);
    let reals = new Float64Array(workspace.buffer);
    for (let i = 0; i < n; i++) words[labelsAt / 4 + i] = 8 * labels[i];
    reals.set(weights, weightsAt / 8);
    for (let t = 0; t < treeTotal; t++) words.set(stream.split(t).key, keys / 4 + 2 * t);
    const maxFeatures = options.maxFeatures ?? Math.max(1, Math.floor(Math.sqrt(columns)));
    const description: Record<Exclude<keyof typeof GROW, "bytes">, number> = {
      rows: n,
      features: columns,
      classes,
      maxFeatures: Math.min(columns, maxFeatures),
      maxDepth: options.maxDepth ?? n,
      minSplit: options.minSplit ?? 2,
      minLeaf: Math.min(n, options.minLeaf ?? 1),
      bootstrap: (options.bootstrap ?? true) ? 1 : 0,
      values,
      distinct,
      distincts,
      codes,
      labels: labelsAt,
      weights: weightsAt,
      keys,
      scratch,
      scratchBytes: ownBytes,
      trees: treesAt,
      treeBytes: layout.bytes,
      pairs: fitsPairs(weights, classes) ? 1 : 0,
      draws: Math.min(n, options.maxSamples ?? n),
    };
    for (const [name, value] of Object.entries(description))
      words[(job + GROW[name as keyof typeof GROW]) / 4] = value;

    for (let first = 0; first < columns; first += COLUMNS) {
      growing.runTasks("rank", job, first, Math.min(columns, first + COLUMNS));
      yield;
    }
    const piece = new PieceSize(workspace.threads);
    for (let done = 0, count = 0; done < treeTotal; done += count) {
      words = new Int32Array(workspace.buffer);
      reals = new Float64Array(workspace.buffer);
      count = Math.min(batch, piece.next(), treeTotal - done);
      words[(job + GROW.keys) / 4] = keys + 8 * done;
      growing.run("grow", job, count);
      for (let t = 0; t < count; t++) {
        const at = treesAt + t * layout.bytes;
        collected.add(words, reals, at, layout);
        const own = (at + layout.importance) / 8;
        for (let f = 0; f < columns; f++) importances[f] += reals[own + f];
      }
      piece.done();
      yield;
    }
  } finally {
    for (const address of addresses) workspace.release(address);
  }
  const total = importances.reduce((sum, each) => sum + each, 0);
  if (total > 0) for (let f = 0; f < columns; f++) importances[f] /= total;
  return { trees: collected.trees(), importances };
}

/** Whether the weights of any bootstrap sample fit in half a word: n draws of a whole weight, of two classes. */
const fitsPairs = (weights: Float64Array, classes: number): boolean => {
  let largest = 0;
  for (const weight of weights) {
    if (!Number.isInteger(weight)) return false;
    largest = Math.max(largest, weight);
  }
  return classes === 2 && largest * weights.length < 32_768;
};
