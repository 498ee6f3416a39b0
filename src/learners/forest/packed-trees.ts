/** Trees as the kernels read them, and what follows from their shape. */
import type { FeatureMatrix } from "../classifier.js";
import { floatBelow, type Trees, treeCount } from "./trees.js";

export interface PackedTrees {
  readonly trees: Trees;
  /** Whether every tree is sure of one of two classes, so that its answer is a vote. */
  readonly votes: boolean;
  /** The nodes as in `predict-kernel.ts`, four words each, with addresses that count from 0. */
  readonly words: Int32Array;
  /** The most splits between a root and a leaf, and the mean over leaves. */
  readonly levels: number;
  readonly meanLevels: number;
}

/** Packs trees; the answer of a leaf is its class where all are sure of one of two, otherwise its number. */
export const packTrees = (trees: Trees, votes: boolean): PackedTrees => {
  const nodes = trees.feature.length;
  const words = new Int32Array(4 * nodes);
  const floats = new Float32Array(words.buffer);
  const { feature, threshold, right, probabilities } = trees;
  const depth = new Int32Array(nodes);
  let [levels, sum] = [0, 0];
  for (let i = 0; i < nodes; i++) {
    const at = 4 * i;
    if (feature[i] >= 0) {
      words[at] = 4 * feature[i];
      floats[at + 1] = floatBelow(threshold[i]);
      words[at + 2] = 16 * right[i];
      words[at + 3] = 16 * (i + 1);
      depth[i + 1] = depth[i] + 1;
      depth[right[i]] = depth[i] + 1;
    } else {
      words[at + 1] = votes ? probabilities[2 * right[i] + 1] : right[i];
      words[at + 2] = 16 * i;
      words[at + 3] = 16 * i;
      levels = Math.max(levels, depth[i]);
      sum += depth[i];
    }
  }
  const leaves = (nodes + treeCount(trees)) / 2;
  return { trees, votes, words, levels, meanLevels: sum / leaves };
};

/** Words of the answers of a row: votes, 32 to a word, or a float32 for each tree and class. */
export const answerWords = ({ trees, votes }: PackedTrees): number =>
  votes ? Math.ceil(treeCount(trees) / 32) : treeCount(trees) * trees.classes;

/** Takes a part's answers, row after row, before the next part is made. */
export type TakeAnswers = (answers: Int32Array, firstRow: number, rows: number) => void;

/** What is asked of trees. */
export interface Asked {
  readonly features: FeatureMatrix;
  /** All unless given. */
  readonly rows?: Int32Array | undefined;
  readonly threads?: number | undefined;
  readonly take: TakeAnswers;
}
