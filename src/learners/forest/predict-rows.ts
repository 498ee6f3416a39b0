/** From trees and features to what every tree says, row by row. */
import { type Asked, answerWords, type PackedTrees } from "./packed-trees.js";
import { LANES, PREDICT, TASK_ROWS } from "./predict-kernel.js";
import { type Trees, treeCount } from "./trees.js";
import { forestWorkspace } from "./workspace.js";

/** Rows are handed to the kernels in parts of about this many bytes, values and answers together. */
const PART_BYTES = 2 ** 24;

/**
 * Sends every row down every tree, part by part. Answers are words: [rows, ceil(trees / 32)] of votes, or the bits
 * of float32 [rows, trees, classes].
 */
export function* predictByRows(
  packed: PackedTrees,
  { features, rows, threads, take }: Asked,
): Generator<unknown, void> {
  const { trees, votes, words } = packed;
  const { workspace, predicting } = forestWorkspace(threads);
  const { columns } = features;
  const count = treeCount(trees);
  const total = rows?.length ?? features.rows;
  const wide = answerWords(packed);
  const fit = Math.floor(PART_BYTES / (4 * (columns + wide)));
  const most = Math.max(
    LANES,
    Math.min(Math.ceil(fit / TASK_ROWS) * TASK_ROWS, Math.ceil(total / LANES) * LANES),
  );
  const addresses = workspace.allocateAll([
    PREDICT.bytes,
    4 * words.length,
    4 * count,
    4 * trees.probabilities.length,
    4 * most * columns,
    4 * most * wide,
  ]);
  const [job, nodesAt, rootsAt, probabilitiesAt, valuesAt, answersAt] = addresses;
  try {
    const { buffer } = workspace;
    placeTrees(trees, words, votes, new Int32Array(buffer, nodesAt, words.length), nodesAt, probabilitiesAt);
    if (!votes)
      new Float32Array(buffer, probabilitiesAt, trees.probabilities.length).set(trees.probabilities);
    const roots = new Int32Array(buffer, rootsAt, count);
    for (let t = 0; t < count; t++) roots[t] = nodesAt + 16 * trees.starts[t];
    const set = (field: number, value: number) => {
      workspace.words(job + field, 1)[0] = value;
    };
    set(PREDICT.rowBytes, 4 * columns);
    set(PREDICT.values, valuesAt);
    set(PREDICT.trees, count);
    set(PREDICT.roots, rootsAt);
    set(PREDICT.answers, answersAt);
    set(PREDICT.answerBytes, 4 * wide);
    set(PREDICT.classes, trees.classes);
    for (let done = 0; done < total; done += most) {
      const part = Math.min(most, total - done);
      // After a pause the memory may be larger, and views of it stale.
      const values = workspace.floats(valuesAt, most * columns);
      const answers = workspace.words(answersAt, most * wide);
      if (rows === undefined) values.set(features.values.subarray(done * columns, (done + part) * columns));
      else
        for (let i = 0; i < part; i++) {
          const from = rows[done + i] * columns;
          values.set(features.values.subarray(from, from + columns), i * columns);
        }
      if (votes) answers.fill(0);
      set(PREDICT.rows, Math.ceil(part / LANES) * LANES);
      predicting.run(votes ? "votes" : "dense", job, Math.ceil(part / TASK_ROWS));
      take(answers.subarray(0, part * wide), done, part);
      yield;
    }
  } finally {
    for (const address of addresses) workspace.release(address);
  }
}

/** Copies packed trees to their place, with the addresses they have there. */
const placeTrees = (
  { feature, classes }: Trees,
  words: Int32Array,
  votes: boolean,
  out: Int32Array,
  nodesAt: number,
  probabilitiesAt: number,
): void => {
  out.set(words);
  for (let i = 0; i < feature.length; i++) {
    out[4 * i + 2] += nodesAt;
    out[4 * i + 3] += nodesAt;
    if (!votes && feature[i] < 0) out[4 * i + 1] = probabilitiesAt + 4 * classes * words[4 * i + 1];
  }
};
