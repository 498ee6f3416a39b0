/** Takes trees out of the workspace, one after the other. */
import type { TreeLayout } from "./grow-layout.js";
import type { Trees } from "./trees.js";

export class TreeCollector {
  readonly #features: number;
  readonly #classes: number;
  readonly #smoothing: number;
  readonly #starts: number[] = [0];
  #leaves = 0;
  #feature = new Int32Array(16_384);
  #threshold = new Float64Array(16_384);
  #right = new Int32Array(16_384);
  #probabilities = new Float32Array(16_384);

  constructor(features: number, classes: number, smoothing: number) {
    this.#features = features;
    this.#classes = classes;
    this.#smoothing = smoothing;
  }

  /** Makes room for so many more nodes, all of which might be leaves. */
  #reserve(nodes: number): void {
    const needed = this.#starts[this.#starts.length - 1] + nodes;
    if (needed > this.#feature.length) {
      this.#feature = copyOf(this.#feature, new Int32Array(2 * needed));
      this.#threshold = copyOf(this.#threshold, new Float64Array(2 * needed));
      this.#right = copyOf(this.#right, new Int32Array(2 * needed));
    }
    const values = (this.#leaves + nodes) * this.#classes;
    if (values > this.#probabilities.length)
      this.#probabilities = copyOf(this.#probabilities, new Float32Array(2 * values));
  }

  /** The tree whose result lies at this address, with the probabilities (count + a) / (n + a C) of its leaves. */
  add(words: Int32Array, reals: Float64Array, address: number, layout: TreeLayout): void {
    const nodes = words[address / 4];
    this.#reserve(nodes);
    const classes = this.#classes;
    const smoothing = this.#smoothing;
    const feature = this.#feature;
    const threshold = this.#threshold;
    const right = this.#right;
    const probabilities = this.#probabilities;
    const start = this.#starts[this.#starts.length - 1];
    const features = (address + layout.feature) / 4;
    const thresholds = (address + layout.threshold) / 8;
    const rights = (address + layout.right) / 4;
    const values = (address + layout.value) / 8;
    let leaf = this.#leaves;
    for (let i = 0; i < nodes; i++) {
      feature[start + i] = words[features + i];
      threshold[start + i] = reals[thresholds + i];
      if (words[features + i] >= 0) {
        right[start + i] = start + words[rights + i];
        continue;
      }
      right[start + i] = leaf;
      let sum = 0;
      for (let c = 0; c < classes; c++) sum += reals[values + i * classes + c];
      for (let c = 0; c < classes; c++)
        probabilities[leaf * classes + c] =
          (reals[values + i * classes + c] + smoothing) / (sum + smoothing * classes);
      leaf++;
    }
    this.#leaves = leaf;
    this.#starts.push(start + nodes);
  }

  trees(): Trees {
    const nodes = this.#starts[this.#starts.length - 1];
    return {
      features: this.#features,
      classes: this.#classes,
      starts: Int32Array.from(this.#starts),
      feature: this.#feature.slice(0, nodes),
      threshold: this.#threshold.slice(0, nodes),
      right: this.#right.slice(0, nodes),
      probabilities: this.#probabilities.slice(0, this.#leaves * this.#classes),
    };
  }
}

const copyOf = <Numbers extends Int32Array | Float32Array | Float64Array>(
  from: Numbers,
  to: Numbers,
): Numbers => {
  to.set(from);
  return to;
};
