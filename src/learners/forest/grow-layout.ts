/** What growing a forest reads and writes, as the caller and the kernels agree on it. */

/** Bytes of the job's description, which the caller fills in; every field is an i32, addresses are in bytes. */
export const GROW = {
  /** Training rows n, features F and classes C. */
  rows: 0,
  features: 4,
  classes: 8,
  /** How many features a node looks at; constant ones count, but one that is not is always found if there is one. */
  maxFeatures: 12,
  maxDepth: 16,
  minSplit: 20,
  minLeaf: 24,
  bootstrap: 28,
  /** float32 [F, n]: the values, by column. */
  values: 32,
  /** float32 [F, n]: the distinct values of each column in ascending order. */
  distinct: 36,
  /** i32 [F]: how many distinct values each column has. */
  distincts: 40,
  /** i32 [F, n]: which of them each row has, times 4. */
  codes: 44,
  /** i32 [n]: the classes, times 8. */
  labels: 48,
  /** float64 [n]. */
  weights: 52,
  /** i32 [trees, 2]: the keys of the trees' random streams. */
  keys: 56,
  /** Each thread's own working memory, all 0 at first, and how many bytes each has. */
  scratch: 60,
  scratchBytes: 64,
  /** Each tree's result (see {@link treeLayout}), and how many bytes each has. */
  trees: 68,
  treeBytes: 72,
  /**
   * Not 0 where there are two classes and whole weights that sum to less than 2^15: the sums of both classes then
   * share a word, class 0 in its lower half.
   */
  pairs: 76,
  /** How many rows a bootstrap sample draws. */
  draws: 80,
  bytes: 84,
} as const;

const aligned = (bytes: number): number => Math.ceil(bytes / 64) * 64;

/** Where the parts of a tree's result lie, in bytes from its start. Room for 2 n - 1 nodes. */
export const treeLayout = (rows: number, features: number, classes: number) => {
  const nodes = 2 * rows - 1;
  /** float64 [nodes]; before it, the number of nodes. */
  const threshold = 16;
  /** float64 [nodes, C]: the weight of each class. */
  const value = threshold + 8 * nodes;
  /** float64 [F]: the decrease of impurity that each feature brought, normalised to sum to 1 (or all 0). */
  const importance = value + 8 * nodes * classes;
  /** i32 [nodes]: the feature a node splits on, or -1 for a leaf. */
  const feature = importance + 8 * features;
  /** i32 [nodes]: the child for values above the threshold; the other child is the next node. */
  const right = feature + 4 * nodes;
  return { threshold, value, importance, feature, right, bytes: aligned(right + 4 * nodes) };
};

export type TreeLayout = ReturnType<typeof treeLayout>;

/** Words of an entry of the stack of nodes to do. */
export const STACK_WORDS = 6;

/** Bytes of working memory that one thread needs: twice n pairs of i64 to sort, or what a tree needs. */
export const scratchBytes = (rows: number, features: number, classes: number): number => {
  const reals = rows + rows * classes + 2 * classes;
  const words = 6 * rows + Math.ceil(rows / 32) + 2 * features + STACK_WORDS * (rows + 2) + 4;
  return aligned(Math.max(16 * rows, 8 * reals + 4 * words));
};
