/** From trees and features to what every tree says. */
import type { FeatureMatrix } from "../classifier.js";
import { LANES, PREDICT, TASK_ROWS } from "./predict-kernel.js";
import { floatBelow, type Trees, treeCount } from "./trees.js";
import { forestWorkspace, withArrays } from "./workspace.js";

/** Rows are handed to the kernels in parts of about this many bytes, values and answers together. */
const PART_BYTES = 2 ** 24;

/** The trees as the kernels read them (see `predict-kernel.ts`), with addresses that count from 0. */
export interface PackedTrees {
  readonly trees: Trees;
  readonly words: Int32Array;
}

/** Packs trees; the answer of a leaf is its class where all are sure of one of two, otherwise its number. */
export const packTrees = (trees: Trees, votes: boolean): PackedTrees => {
  const words = new Int32Array(4 * trees.feature.length);
  const floats = new Float32Array(words.buffer);
  for (let t = 0; t < treeCount(trees); t++) packTree(trees, t, votes, words, floats);
  return { trees, words };
};

const packTree = (
  { starts, feature, threshold, right, probabilities }: Trees,
  tree: number,
  votes: boolean,
  words: Int32Array,
  floats: Float32Array,
): void => {
  for (let i = starts[tree]; i < starts[tree + 1]; i++) {
    const at = 4 * i;
    if (feature[i] >= 0) {
      words[at] = 4 * feature[i];
      floats[at + 1] = floatBelow(threshold[i]);
      words[at + 2] = 16 * right[i];
      words[at + 3] = 16 * (i + 1);
    } else {
      words[at + 1] = votes ? probabilities[2 * right[i] + 1] : right[i];
      words[at + 2] = 16 * i;
      words[at + 3] = 16 * i;
    }
  }
};

/** Takes a part's answers, row after row, before the next part is made. */
export type TakeAnswers = (answers: Int32Array, firstRow: number, rows: number) => void;

/**
 * Sends every row down every tree, part by part. Answers are words: [rows, ceil(trees / 32)] of votes, or the bits
 * of float32 [rows, trees, classes].
 */
export const predictParts = (
  { trees, words }: PackedTrees,
  votes: boolean,
  features: FeatureMatrix,
  rows: Int32Array | undefined,
  threads: number | undefined,
  take: TakeAnswers,
): void => {
  const { workspace, predicting } = forestWorkspace(threads);
  const { columns } = features;
  const count = treeCount(trees);
  const total = rows?.length ?? features.rows;
  const answerWords = votes ? Math.ceil(count / 32) : count * trees.classes;
  const fit = Math.floor(PART_BYTES / (4 * (columns + answerWords)));
  const most = Math.max(
    LANES,
    Math.min(Math.ceil(fit / TASK_ROWS) * TASK_ROWS, Math.ceil(total / LANES) * LANES),
  );
  withArrays(
    workspace,
    [
      PREDICT.bytes,
      4 * words.length,
      4 * count,
      4 * trees.probabilities.length,
      4 * most * columns,
      4 * most * answerWords,
    ],
    ([job, nodesAt, rootsAt, probabilitiesAt, valuesAt, answersAt]) => {
      const { buffer } = workspace.memory;
      placeTrees(
        trees,
        words,
        votes,
        new Int32Array(buffer, nodesAt, words.length),
        nodesAt,
        probabilitiesAt,
      );
      if (!votes)
        new Float32Array(buffer, probabilitiesAt, trees.probabilities.length).set(trees.probabilities);
      const roots = new Int32Array(buffer, rootsAt, count);
      for (let t = 0; t < count; t++) roots[t] = nodesAt + 16 * trees.starts[t];
      const values = new Float32Array(buffer, valuesAt, most * columns);
      const answers = new Int32Array(buffer, answersAt, most * answerWords);
      const description = new Int32Array(buffer, job, PREDICT.bytes / 4);
      const set = (field: number, value: number) => {
        description[field / 4] = value;
      };
      set(PREDICT.rowBytes, 4 * columns);
      set(PREDICT.values, valuesAt);
      set(PREDICT.trees, count);
      set(PREDICT.roots, rootsAt);
      set(PREDICT.answers, answersAt);
      set(PREDICT.answerBytes, 4 * answerWords);
      set(PREDICT.classes, trees.classes);
      for (let done = 0; done < total; done += most) {
        const part = Math.min(most, total - done);
        if (rows === undefined) values.set(features.values.subarray(done * columns, (done + part) * columns));
        else
          for (let i = 0; i < part; i++) {
            const from = rows[done + i] * columns;
            values.set(features.values.subarray(from, from + columns), i * columns);
          }
        if (votes) answers.fill(0);
        set(PREDICT.rows, Math.ceil(part / LANES) * LANES);
        predicting.run(votes ? "votes" : "dense", job, Math.ceil(part / TASK_ROWS));
        take(answers.subarray(0, part * answerWords), done, part);
      }
    },
  );
};

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
