/**
 * One regression tree on gradients g and curvatures h of the loss (Chen and Guestrin 2016, equations 5 to 7).
 *
 * With G and H their sums over a node's rows, a leaf's weight is -G / (H + l2), and a split gains
 *
 *     G_L^2 / (H_L + l2) + G_R^2 / (H_R + l2) - G^2 / (H + l2).
 *
 * The halves and order of float32 roundings, and which of several equal gains wins (the lowest column, then the
 * highest threshold), are those of XGBoost's exact method, so that small tables give the very same trees.
 */
import type { FeatureMatrix } from "../classifier.js";
import type { Bins } from "./bins.js";
import type { TreeWriter } from "./trees.js";

export interface GrowthOptions {
  readonly rate: number;
  readonly maxDepth: number;
  readonly l2: number;
  readonly minChildWeight: number;
}

/** Gains below this are rounding errors (XGBoost's kRtEps). */
const LEAST_GAIN = 1e-6;
/** More than all float32 roundings of a gain together. */
const ROUNDING = 1e-6;
/** A child with less curvature than this has no rows, only what subtraction left. */
const NO_CURVATURE = 1e-6;

/** What columns that are kept may take. */
const MOST_COLUMN_BYTES = 2 ** 27;

/** Of gradients and curvatures over a node's rows. */
interface Sums {
  readonly sumG: number;
  readonly sumH: number;
}

/** A node that is still to be done: its number, rows, depth, sums and histogram. */
type OpenNode = readonly [
  id: number,
  from: number,
  to: number,
  depth: number,
  sums: Sums,
  histogram: Float64Array | undefined,
];

export class TreeGrower {
  readonly #features: FeatureMatrix;
  readonly #rows: Int32Array;
  readonly #bins: Bins;
  readonly #options: GrowthOptions;
  /** Training rows, those of a node side by side. */
  readonly #order: Int32Array;
  readonly #spare: Int32Array;
  readonly #columns = new Map<number, Float32Array>();
  /** Histograms that no node needs at the moment: sums of g and h in turn, [bins, 2]. */
  readonly #free: Float64Array[] = [];

  constructor(features: FeatureMatrix, rows: Int32Array, bins: Bins, options: GrowthOptions) {
    this.#features = features;
    this.#rows = rows;
    this.#bins = bins;
    this.#options = options;
    this.#order = new Int32Array(rows.length);
    this.#spare = new Int32Array(rows.length);
  }

  /**
   * Appends a tree for g and h, [rows] each, and adds its answers to margins[first + i stride] of every training
   * row i.
   */
  *grow(
    writer: TreeWriter,
    g: Float32Array,
    h: Float32Array,
    margins: Float32Array,
    first: number,
    stride: number,
  ): Generator<unknown, void> {
    const { maxDepth, minChildWeight, l2 } = this.#options;
    const rate = Math.fround(this.#options.rate);
    const leastChild = Math.max(minChildWeight, NO_CURVATURE);
    const order = this.#order;
    for (let i = 0; i < order.length; i++) order[i] = i;

    const sumsOf = (from: number, to: number): Sums => {
      let sumG = 0;
      let sumH = 0;
      for (let k = from; k < to; k++) {
        sumG += g[order[k]];
        sumH += h[order[k]];
      }
      return { sumG, sumH };
    };

    /** Whether these rows may be split: a child takes its share of the curvature. */
    const isOpen = ({ sumH }: Sums, depth: number): boolean =>
      depth < maxDepth && sumH >= 2 * leastChild * (1 - 1e-9);

    /** `histogram` is the node's own, and present where it is open; returns its children, the right one first. */
    const node = (
      id: number,
      from: number,
      to: number,
      depth: number,
      { sumG, sumH }: Sums,
      histogram: Float64Array | undefined,
    ): readonly OpenNode[] => {
      const split = histogram && this.#best(histogram, from, to, sumG, sumH, leastChild);
      if (histogram === undefined || split === undefined) {
        if (histogram !== undefined) this.#free.push(histogram);
        // As in XGBoost, a node of too little curvature (only a root can be one) says nothing.
        const weight = sumH < minChildWeight || sumH <= 0 ? 0 : Math.fround(-sumG / (sumH + l2));
        const value = Math.fround(weight * rate);
        writer.setLeaf(id, value);
        for (let k = from; k < to; k++) margins[first + order[k] * stride] += value;
        return [];
      }
      const left = writer.split(id, split.feature, split.threshold);
      const middle = this.#partition(from, to, split.feature, split.threshold);
      const sumsLeft = sumsOf(from, middle);
      const sumsRight = sumsOf(middle, to);
      const openLeft = isOpen(sumsLeft, depth + 1);
      const openRight = isOpen(sumsRight, depth + 1);
      // The larger child's histogram is what is left of the parent's: it is never summed over rows.
      const leftIsSmaller = middle - from <= to - middle;
      const [openSmall, openLarge] = leftIsSmaller ? [openLeft, openRight] : [openRight, openLeft];
      let small: Float64Array | undefined;
      let large: Float64Array | undefined;
      if (openSmall || openLarge)
        small = leftIsSmaller ? this.#sum(from, middle, g, h) : this.#sum(middle, to, g, h);
      if (openLarge && small !== undefined) {
        large = histogram;
        for (let b = 0; b < large.length; b++) large[b] -= small[b];
      } else this.#free.push(histogram);
      if (!openSmall && small !== undefined) {
        this.#free.push(small);
        small = undefined;
      }
      return [
        [left + 1, middle, to, depth + 1, sumsRight, leftIsSmaller ? large : small],
        [left, from, middle, depth + 1, sumsLeft, leftIsSmaller ? small : large],
      ];
    };
    const all = order.length;
    const sums = sumsOf(0, all);
    const whole = isOpen(sums, 0) ? this.#sum(0, all, g, h) : undefined;
    // The left child is the last of the two: it and all below it come before the right one.
    const open: OpenNode[] = [[writer.root(), 0, all, 0, sums, whole]];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      open.push(...node(...next));
      yield;
    }
  }

  /** A feature's values by training row: taken out of the rows once, as a feature that was split on will be again. */
  #column(feature: number): Float32Array {
    const known = this.#columns.get(feature);
    if (known !== undefined) return known;
    const { values, columns } = this.#features;
    const rows = this.#rows;
    const column = new Float32Array(rows.length);
    for (let i = 0; i < rows.length; i++) column[i] = values[rows[i] * columns + feature];
    if (this.#columns.size * column.byteLength >= MOST_COLUMN_BYTES) this.#columns.clear();
    this.#columns.set(feature, column);
    return column;
  }

  /** The sums of g and h in each bin over the rows order[from..to). */
  #sum(from: number, to: number, g: Float32Array, h: Float32Array): Float64Array {
    const { offsets, commonest, starts, entries } = this.#bins;
    const order = this.#order;
    const sums = this.#free.pop()?.fill(0) ?? new Float64Array(2 * offsets[offsets.length - 1]);
    let sumG = 0;
    let sumH = 0;
    for (let k = from; k < to; k++) {
      const i = order[k];
      const gi = g[i];
      const hi = h[i];
      sumG += gi;
      sumH += hi;
      for (let e = starts[i], end = starts[i + 1]; e < end; e++) {
        const bin = 2 * entries[e];
        sums[bin] += gi;
        sums[bin + 1] += hi;
      }
    }
    for (let j = 0; j < commonest.length; j++) {
      let restG = sumG;
      let restH = sumH;
      for (let b = 2 * offsets[j], end = 2 * offsets[j + 1]; b < end; b += 2) {
        restG -= sums[b];
        restH -= sums[b + 1];
      }
      sums[2 * commonest[j]] = restG;
      sums[2 * commonest[j] + 1] = restH;
    }
    return sums;
  }

  #best(
    sums: Float64Array,
    from: number,
    to: number,
    sumG: number,
    sumH: number,
    leastChild: number,
  ): { feature: number; threshold: number } | undefined {
    const { offsets, low } = this.#bins;
    const { l2 } = this.#options;
    const rootGain = Math.fround((sumG * sumG) / (sumH + l2));
    let bestGain = LEAST_GAIN;
    let bound = (bestGain + rootGain) * (1 - ROUNDING);
    let feature = -1;
    let bestBin = 0;
    for (let j = 0; j + 1 < offsets.length; j++) {
      let rightG = 0;
      let rightH = 0;
      for (let b = offsets[j + 1] - 1, end = offsets[j]; b > end; b--) {
        if (sums[2 * b + 1] === 0) continue;
        rightG += sums[2 * b];
        rightH += sums[2 * b + 1];
        if (rightH < leastChild) continue;
        const leftH = sumH - rightH;
        if (leftH < leastChild) break;
        const leftG = sumG - rightG;
        // Most are far from the best, which a product tells sooner than two quotients.
        const left = leftH + l2;
        const right = rightH + l2;
        if (leftG * leftG * right + rightG * rightG * left < bound * left * right) continue;
        const gain = Math.fround((leftG * leftG) / left) + Math.fround((rightG * rightG) / right);
        const change = Math.fround(Math.fround(gain) - rootGain);
        if (change > bestGain) {
          bestGain = change;
          bound = (bestGain + rootGain) * (1 - ROUNDING);
          feature = j;
          bestBin = b;
        }
      }
    }
    if (feature < 0) return undefined;
    const threshold = this.#halfway(from, to, feature, low[bestBin]);
    return threshold === undefined ? undefined : { feature, threshold };
  }

  /** Halfway between the node's last value below `bound` and its first from there on; none where a side is empty. */
  #halfway(from: number, to: number, feature: number, bound: number): number | undefined {
    const column = this.#column(feature);
    const order = this.#order;
    let below = Number.NEGATIVE_INFINITY;
    let above = Number.POSITIVE_INFINITY;
    for (let k = from; k < to; k++) {
      const x = column[order[k]];
      if (x < bound) {
        if (x > below) below = x;
      } else if (x < above) above = x;
    }
    if (below === Number.NEGATIVE_INFINITY || above === Number.POSITIVE_INFINITY) return undefined;
    const middle = Math.fround((below + above) / 2);
    // Between neighbouring floats there is no middle; smaller values go left, so the upper one parts them.
    return middle > below ? middle : above;
  }

  /** Brings the rows that go left to the front, all in the order they had; returns where the right ones start. */
  #partition(from: number, to: number, feature: number, threshold: number): number {
    const column = this.#column(feature);
    const order = this.#order;
    const spare = this.#spare;
    let left = from;
    let right = 0;
    for (let k = from; k < to; k++) {
      const i = order[k];
      if (column[i] < threshold) order[left++] = i;
      else spare[right++] = i;
    }
    for (let k = 0; k < right; k++) order[left + k] = spare[k];
    return left;
  }
}
