/** Fitted trees as plain data. */

/**
 * All trees of a forest, node after node in depth-first order: the left child of a node, for values not above its
 * threshold, is the node after it.
 */
export interface Trees {
  readonly features: number;
  readonly classes: number;
  /** [trees + 1]: the first node of each tree, and the number of all nodes. */
  readonly starts: Int32Array;
  /** [nodes]: the feature a node splits on, or -1 for a leaf. */
  readonly feature: Int32Array;
  /** [nodes]: halfway between two values that occurred; 0 for a leaf. */
  readonly threshold: Float64Array;
  /** [nodes]: the right child of a node; for a leaf, its number among all leaves. */
  readonly right: Int32Array;
  /** [leaves, classes]. */
  readonly probabilities: Float32Array;
}

export const treeCount = ({ starts }: Trees): number => starts.length - 1;

/** Whether every leaf is sure of one class. */
export const isPure = ({ probabilities }: Trees): boolean => probabilities.every((p) => p === 0 || p === 1);

const word = new DataView(new ArrayBuffer(4));

/** The largest float32 that is not above x: for float32 values v, v <= x and v <= floatBelow(x) are the same. */
export const floatBelow = (x: number): number => {
  const near = Math.fround(x);
  if (!(near > x)) return near;
  if (near === 0) return -1.401298464324817e-45;
  word.setFloat32(0, near);
  word.setInt32(0, word.getInt32(0) + (near > 0 ? -1 : 1));
  return word.getFloat32(0);
};
