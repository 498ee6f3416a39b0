/** Regression trees one after another in flat arrays; nodes of a tree are in the order in which they were made. */
export interface RegressionTrees {
  /** [trees], the node where each starts. */
  readonly roots: Int32Array;
  /** [nodes], the column that is looked at; -1 for a leaf. */
  readonly feature: Int32Array;
  /** [nodes], smaller values go left; for a leaf, what it adds. */
  readonly value: Float32Array;
  /** [nodes], the left child; the right one follows it. */
  readonly left: Int32Array;
}

/** Trees that are still being made. */
export class TreeWriter {
  readonly #roots: number[] = [];
  readonly #feature: number[] = [];
  readonly #value: number[] = [];
  readonly #left: number[] = [];

  /** A node that is a leaf of 0 so far. */
  #node(): number {
    this.#value.push(0);
    this.#left.push(-1);
    return this.#feature.push(-1) - 1;
  }

  /** Starts the next tree; returns its root. */
  root(): number {
    const node = this.#node();
    this.#roots.push(node);
    return node;
  }

  setLeaf(node: number, value: number): void {
    this.#value[node] = value;
  }

  /** Returns the left child; the right one follows it. */
  split(node: number, feature: number, threshold: number): number {
    this.#feature[node] = feature;
    this.#value[node] = threshold;
    const left = this.#node();
    this.#node();
    this.#left[node] = left;
    return left;
  }

  finish(): RegressionTrees {
    return {
      roots: Int32Array.from(this.#roots),
      feature: Int32Array.from(this.#feature),
      value: Float32Array.from(this.#value),
      left: Int32Array.from(this.#left),
    };
  }
}

/** Adds tree t's answer for the row of `values` that starts at `from` to margins[t % margins.length], in float32. */
export const addTrees = (
  { roots, feature, value, left }: RegressionTrees,
  values: Float32Array,
  from: number,
  margins: Float32Array,
): void => {
  for (let t = 0, k = 0; t < roots.length; t++) {
    let node = roots[t];
    while (feature[node] >= 0)
      node = values[from + feature[node]] < value[node] ? left[node] : left[node] + 1;
    margins[k] += value[node];
    if (++k === margins.length) k = 0;
  }
};
