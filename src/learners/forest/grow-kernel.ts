/**
 * Growing trees over shared memory, as scikit-learn's BestSplitter and DepthFirstTreeBuilder do.
 *
 * {@link growScript} is sent to other threads as text (see `Workspace.loadScript`), so it refers to nothing outside
 * itself: constants that the caller must know too are repeated in it, and a test compares them.
 */
import type { Kernel } from "../../compute/pool.js";

/** Words of the job's description, which the caller fills in; addresses are in bytes. */
export const GROW = {
  /** Training rows n, features F and classes C. */
  rows: 0,
  features: 1,
  classes: 2,
  /** How many features a node looks at; constant ones count, but one that is not is always found if there is one. */
  maxFeatures: 3,
  maxDepth: 4,
  minSplit: 5,
  minLeaf: 6,
  bootstrap: 7,
  /** float32 [F, n]: the values, by column. */
  values: 8,
  /** float32 [F, n]: the distinct values of each column in ascending order. */
  distinct: 9,
  /** int32 [F, n]: which of them each row has. */
  codes: 10,
  /** int32 [n] and float64 [n]: classes and weights. */
  labels: 11,
  weights: 12,
  /** uint32 [trees, 2]: the keys of the trees' random streams. */
  keys: 13,
  /** Each thread's own working memory, and how many bytes each has. */
  scratch: 14,
  scratchBytes: 15,
  /** Each tree's result (see {@link treeLayout}), and how many bytes each has. */
  trees: 16,
  treeBytes: 17,
  /**
   * Not 0 where there are two classes and whole weights that sum to less than 2^15: the sums of both classes then
   * share a word, class 0 in its lower half.
   */
  packed: 18,
  /** int32 [F]: how many distinct values each column has. */
  distincts: 19,
  words: 20,
} as const;

/** Where the parts of a tree's result lie, in bytes from its start. Room for 2 n - 1 nodes. */
export const treeLayout = (rows: number, features: number, classes: number) => {
  const nodes = 2 * rows - 1;
  /** float64 [nodes]. */
  const threshold = 16; // after the number of nodes
  /** float64 [nodes, C]: the weight of each class. */
  const value = threshold + 8 * nodes;
  /** float64 [F]: the decrease of impurity that each feature brought, normalised to sum to 1 (or all 0). */
  const importance = value + 8 * nodes * classes;
  /** int32 [nodes]: the feature a node splits on, or -1 for a leaf. */
  const feature = importance + 8 * features;
  /** int32 [nodes]: the child for values above the threshold; the other child is the next node. */
  const right = feature + 4 * nodes;
  return { threshold, value, importance, feature, right, bytes: Math.ceil((right + 4 * nodes) / 64) * 64 };
};

/** Bytes of working memory that one thread needs. */
export const scratchBytes = (rows: number, features: number, classes: number): number =>
  // weights, class sums by code, class sums of a node | samples, two lists of codes, counts, pairs twice, bits, features twice, stack
  Math.ceil(
    (8 * (rows + rows * classes + 2 * classes + 8) +
      4 * (7 * rows + Math.ceil(rows / 32) + 2 * features + 6 * (rows + 2) + 16)) /
      64,
  ) * 64;

export const growScript = (memory: WebAssembly.Memory): { rank: Kernel; grow: Kernel } => {
  let buffer: ArrayBufferLike = memory.buffer;
  let views = { I: new Int32Array(buffer), F: new Float32Array(buffer), D: new Float64Array(buffer) };
  let column = new Float32Array(0);
  // Values closer than this are the same to scikit-learn (FEATURE_THRESHOLD).
  const CLOSE = Math.fround(1e-7);
  const EPSILON = 2.220446049250313e-16;

  const look = (): void => {
    if (memory.buffer === buffer) return;
    buffer = memory.buffer;
    views = { I: new Int32Array(buffer), F: new Float32Array(buffer), D: new Float64Array(buffer) };
  };

  /** Task f: the distinct values of column f, and which of them each row has. */
  const rank = (descriptor: number, _thread: number, task: number): void => {
    look();
    const { I, F } = views;
    const d = descriptor >>> 2;
    const n = I[d];
    const values = (I[d + 8] >>> 2) + task * n;
    const distinct = (I[d + 9] >>> 2) + task * n;
    const codes = (I[d + 10] >>> 2) + task * n;
    if (column.length !== n) column = new Float32Array(n);
    for (let i = 0; i < n; i++) column[i] = F[values + i];
    column.sort();
    let count = 0;
    for (let i = 0; i < n; i++) {
      if (count === 0 || column[i] !== F[distinct + count - 1]) F[distinct + count++] = column[i];
    }
    I[(I[d + 19] >>> 2) + task] = count;
    for (let i = 0; i < n; i++) {
      const x = F[values + i];
      let low = 0;
      let high = count - 1;
      while (low < high) {
        const middle = (low + high) >>> 1;
        if (F[distinct + middle] < x) low = middle + 1;
        else high = middle;
      }
      I[codes + i] = low;
    }
  };

  const gini = (D: Float64Array, at: number, C: number, sum: number): number => {
    let squares = 0;
    for (let k = 0; k < C; k++) squares += D[at + k] * D[at + k];
    return 1 - squares / (sum * sum);
  };

  // The hot loops are functions of their own: within `grow` they would have no registers left.
  /** For rows `from` to `to`: pairs[code] += pair[row], and the code's bit is set. */
  const addPairs = (
    I: Int32Array,
    from: number,
    to: number,
    code: number,
    pair: number,
    pairs: number,
    bits: number,
  ): void => {
    for (let i = from; i < to; i++) {
      const row = I[i];
      const q = I[code + row];
      I[pairs + q] += I[pair + row];
      I[bits + (q >>> 5)] |= 1 << (q & 31);
    }
  };

  /** Writes the numbers of the bits that are set, in ascending order, clears them and returns how many they were. */
  const takeCodes = (I: Int32Array, bits: number, words: number, order: number): number => {
    let at = order;
    for (let word = 0; word < words; word++) {
      let rest = I[bits + word];
      if (rest === 0) continue;
      I[bits + word] = 0;
      const last = (word << 5) + 31;
      while (rest !== 0) {
        I[at++] = last - Math.clz32(rest & -rest);
        rest &= rest - 1;
      }
    }
    return at - order;
  };

  /** The same for few rows and many codes: those whose bit is set are put in order one by one. */
  const sortCodes = (
    I: Int32Array,
    from: number,
    to: number,
    code: number,
    bits: number,
    order: number,
  ): number => {
    let end = order;
    for (let i = from; i < to; i++) {
      const q = I[code + I[i]];
      const rest = I[bits + (q >>> 5)] & ~(1 << (q & 31));
      if (rest === I[bits + (q >>> 5)]) continue;
      I[bits + (q >>> 5)] = rest;
      let at = end++;
      for (; at > order && I[at - 1] > q; at--) I[at] = I[at - 1];
      I[at] = q;
    }
    return end - order;
  };

  /** The best threshold by class sums in pairs, which are cleared: its proxy, if above `best`, with both codes and the left sums at `found`. */
  const scanPairs = (
    I: Int32Array,
    F: Float32Array,
    order: number,
    count: number,
    pairs: number,
    values: number,
    total0: number,
    total1: number,
    best: number,
    found: number,
  ): number => {
    const sum = total0 + total1;
    let bestProxy = best;
    let leftPair = 0;
    let q = I[order];
    for (let j = 1; j < count; j++) {
      leftPair += I[pairs + q];
      I[pairs + q] = 0;
      const above = I[order + j];
      if (F[values + above] > Math.fround(F[values + q] + CLOSE)) {
        const left0 = leftPair & 0xffff;
        const left1 = leftPair >>> 16;
        const right0 = total0 - left0;
        const right1 = total1 - left1;
        const leftSum = left0 + left1;
        const rightSum = sum - leftSum;
        const proxy =
          -rightSum * (1 - (right0 * right0 + right1 * right1) / (rightSum * rightSum)) -
          leftSum * (1 - (left0 * left0 + left1 * left1) / (leftSum * leftSum));
        if (proxy > bestProxy) {
          bestProxy = proxy;
          I[found] = q;
          I[found + 1] = above;
          I[found + 2] = leftPair;
        }
      }
      q = above;
    }
    I[pairs + q] = 0;
    return bestProxy;
  };

  /** Rows whose code is at most `best` first, otherwise in the same order; returns how many they are. No branches. */
  const partition = (
    I: Int32Array,
    from: number,
    to: number,
    code: number,
    best: number,
    spare: number,
  ): number => {
    let write = from;
    let waiting = spare;
    for (let i = from; i < to; i++) {
      const row = I[i];
      const stays = (I[code + row] - best - 1) >>> 31;
      I[write] = row;
      I[waiting] = row;
      write += stays;
      waiting += 1 - stays;
    }
    for (let i = spare, at = write; i < waiting; i++, at++) I[at] = I[i];
    return write - from;
  };

  /** Task t: tree t. */
  const grow = (descriptor: number, thread: number, task: number): void => {
    look();
    const { I, F, D } = views;
    const d = descriptor >>> 2;
    const n = I[d];
    const features = I[d + 1];
    const C = I[d + 2];
    const maxFeatures = I[d + 3];
    const maxDepth = I[d + 4];
    const minSplit = I[d + 5];
    const minLeaf = I[d + 6];
    const packed = I[d + 18] !== 0 && minLeaf === 1;
    const distinct = I[d + 9] >>> 2;
    const codes = I[d + 10] >>> 2;
    const distincts = I[d + 19] >>> 2;
    const labels = I[d + 11] >>> 2;
    const weights = I[d + 12] >>> 3;
    const keys = (I[d + 13] >>> 2) + 2 * task;
    const scratch = I[d + 14] + thread * I[d + 15];
    const tree = I[d + 16] + task * I[d + 17];

    const capacity = 2 * n - 1;
    const threshold = (tree >>> 3) + 2;
    const value = threshold + capacity;
    const importance = value + capacity * C;
    const feature = (importance + features) * 2;
    const right = feature + capacity;

    const weight = scratch >>> 3;
    const sums = weight + n; // class sums by code [n, C], all 0 between uses
    const total = sums + n * C;
    const left = total + C;
    const samples = (left + C) * 2;
    const order = samples + n;
    const spare = order + n;
    const counts = spare + n; // rows by code, all 0 between uses
    const pair = counts + n;
    const pairs = pair + n; // pairs by code, all 0 between uses
    const bits = pairs + n; // which codes occur, all 0 between uses
    const drawn = bits + ((n + 31) >>> 5);
    const constants = drawn + features;
    const found = constants + features;
    const stack = found + 3;

    // sfc32 (Doty-Humphrey's small fast counting generator), seeded by the tree's key.
    let a = I[keys];
    let b = I[keys + 1];
    let c = 0x46616972;
    let counter = 1;
    const next = (): number => {
      const sum = (a + b + counter) | 0;
      counter = (counter + 1) | 0;
      a = b ^ (b >>> 9);
      b = (c + (c << 3)) | 0;
      c = (((c << 21) | (c >>> 11)) + sum) | 0;
      return (sum >>> 0) / 4294967296;
    };
    for (let i = 0; i < 12; i++) next();

    // The bootstrap sample as whole-number weights; rows that were not drawn take no part.
    I.fill(I[d + 7] === 0 ? 1 : 0, counts, counts + n);
    if (I[d + 7] !== 0) for (let i = 0; i < n; i++) I[counts + Math.floor(next() * n)]++;
    let sampleCount = 0;
    let rootPair = 0;
    for (let i = 0; i < n; i++) {
      const times = I[counts + i];
      if (times === 0) continue;
      I[counts + i] = 0;
      I[samples + sampleCount++] = i;
      const w = times * D[weights + i];
      if (packed) {
        I[pair + i] = I[labels + i] === 0 ? w : w * 65536;
        rootPair += I[pair + i];
      } else D[weight + i] = w;
    }
    for (let i = 0; i < features; i++) {
      I[drawn + i] = i;
      D[importance + i] = 0;
    }

    let nodes = 0;
    let height = 1;
    I[stack] = 0; // first sample, end, depth, parent whose right child this is (or -1), known constants, class sums as a pair
    I[stack + 1] = sampleCount;
    I[stack + 2] = 0;
    I[stack + 3] = -1;
    I[stack + 4] = 0;
    I[stack + 5] = rootPair;
    while (height > 0) {
      height--;
      const entry = stack + 6 * height;
      const start = I[entry];
      const end = I[entry + 1];
      const depth = I[entry + 2];
      const parent = I[entry + 3];
      const knownConstants = I[entry + 4];
      const size = end - start;
      const node = nodes++;
      if (parent >= 0) I[right + parent] = node;

      if (packed) {
        D[total] = I[entry + 5] & 0xffff;
        D[total + 1] = I[entry + 5] >>> 16;
      } else {
        for (let k = 0; k < C; k++) D[total + k] = 0;
        for (let i = start; i < end; i++) {
          const row = I[samples + i];
          D[total + I[labels + row]] += D[weight + row];
        }
      }
      let sum = 0;
      for (let k = 0; k < C; k++) {
        const w = D[total + k];
        sum += w;
        D[value + node * C + k] = w;
      }
      const impurity = gini(D, total, C, sum);
      const total0 = D[total];
      const total1 = D[total + 1];

      let bestFeature = -1;
      let bestCode = 0;
      let bestNext = 0;
      let bestPair = 0;
      let totalConstants = knownConstants;
      if (depth < maxDepth && size >= minSplit && size >= 2 * minLeaf && impurity > EPSILON) {
        let bestProxy = Number.NEGATIVE_INFINITY;
        let remaining = features;
        let visited = 0;
        let foundConstants = 0;
        let drawnConstants = 0;
        // Fisher-Yates over the features; known constants stand in front (as BestSplitter.node_split).
        while (
          remaining > totalConstants &&
          (visited < maxFeatures || visited <= foundConstants + drawnConstants)
        ) {
          visited++;
          const choices = remaining - foundConstants - drawnConstants;
          let pick = drawnConstants + Math.floor(next() * choices);
          if (pick < knownConstants) {
            const other = I[drawn + drawnConstants];
            I[drawn + drawnConstants] = I[drawn + pick];
            I[drawn + pick] = other;
            drawnConstants++;
            continue;
          }
          pick += foundConstants;
          const f = I[drawn + pick];
          const code = codes + f * n;
          const values = distinct + f * n;

          // Constant in the node? Mostly two of the first few rows differ.
          const first = I[code + I[samples + start]];
          let same = start + 1;
          while (same < end && I[code + I[samples + same]] === first) same++;
          let constant = same === end;
          let count = 0;
          if (!constant) {
            // Class sums by code, and which codes occur.
            if (packed) addPairs(I, samples + start, samples + end, code, pair, pairs, bits);
            else {
              for (let i = start; i < end; i++) {
                const row = I[samples + i];
                const q = I[code + row];
                D[sums + q * C + I[labels + row]] += D[weight + row];
                I[bits + (q >>> 5)] |= 1 << (q & 31);
              }
            }
            if (minLeaf > 1) for (let i = start; i < end; i++) I[counts + I[code + I[samples + i]]]++;
            // The codes in ascending order.
            const words = (I[distincts + f] + 31) >>> 5;
            count =
              size < 64 && size < words
                ? sortCodes(I, samples + start, samples + end, code, bits, order)
                : takeCodes(I, bits, words, order);
            constant = F[values + I[order + count - 1]] <= Math.fround(F[values + I[order]] + CLOSE);
          }
          if (constant) {
            for (let j = 0; j < count; j++) {
              const q = I[order + j];
              I[counts + q] = 0;
              I[pairs + q] = 0;
              for (let k = 0; k < C; k++) D[sums + q * C + k] = 0;
            }
            I[drawn + pick] = I[drawn + totalConstants];
            I[drawn + totalConstants] = f;
            foundConstants++;
            totalConstants++;
            continue;
          }
          remaining--;
          I[drawn + pick] = I[drawn + remaining];
          I[drawn + remaining] = f;

          // Every threshold between two values that occur: the left side grows code by code.
          let position = 0;
          let q = I[order];
          if (packed && minLeaf === 1) {
            const proxy = scanPairs(I, F, order, count, pairs, values, total0, total1, bestProxy, found);
            if (proxy > bestProxy) {
              bestProxy = proxy;
              bestFeature = f;
              bestCode = I[found];
              bestNext = I[found + 1];
              bestPair = I[found + 2];
            }
          } else {
            let leftSum = 0;
            for (let k = 0; k < C; k++) D[left + k] = 0;
            for (let j = 1; j <= count; j++) {
              const at = sums + q * C;
              for (let k = 0; k < C; k++) {
                const w = D[at + k];
                D[left + k] += w;
                leftSum += w;
                D[at + k] = 0;
              }
              position += I[counts + q];
              I[counts + q] = 0;
              if (j === count) break;
              const above = I[order + j];
              if (
                F[values + above] > Math.fround(F[values + q] + CLOSE) &&
                (minLeaf === 1 || (position >= minLeaf && size - position >= minLeaf))
              ) {
                const rightSum = sum - leftSum;
                let leftSquares = 0;
                let rightSquares = 0;
                for (let k = 0; k < C; k++) {
                  const l = D[left + k];
                  const r = D[total + k] - l;
                  leftSquares += l * l;
                  rightSquares += r * r;
                }
                const proxy =
                  -rightSum * (1 - rightSquares / (rightSum * rightSum)) -
                  leftSum * (1 - leftSquares / (leftSum * leftSum));
                if (proxy > bestProxy) {
                  bestProxy = proxy;
                  bestFeature = f;
                  bestCode = q;
                  bestNext = above;
                }
              }
              q = above;
            }
          }
        }
        // The children know the constants that were found, in the order of finding.
        for (let j = 0; j < knownConstants; j++) I[drawn + j] = I[constants + j];
        for (let j = knownConstants; j < totalConstants; j++) I[constants + j] = I[drawn + j];
      }

      if (bestFeature < 0) {
        I[feature + node] = -1;
        I[right + node] = -1;
        D[threshold + node] = 0;
        continue;
      }
      const low = F[distinct + bestFeature * n + bestCode];
      const high = F[distinct + bestFeature * n + bestNext];
      const middle = low / 2 + high / 2;
      I[feature + node] = bestFeature;
      D[threshold + node] = middle === high || middle - middle !== 0 ? low : middle;

      const code = codes + bestFeature * n;
      const write = start + partition(I, samples + start, samples + end, code, bestCode, spare);
      if (packed) {
        D[left] = bestPair & 0xffff;
        D[left + 1] = bestPair >>> 16;
      } else {
        for (let k = 0; k < C; k++) D[left + k] = 0;
        for (let i = start; i < write; i++) {
          const row = I[samples + i];
          D[left + I[labels + row]] += D[weight + row];
        }
      }
      let leftSum = 0;
      for (let k = 0; k < C; k++) leftSum += D[left + k];
      const leftImpurity = gini(D, left, C, leftSum);
      for (let k = 0; k < C; k++) D[left + k] = D[total + k] - D[left + k];
      D[importance + bestFeature] +=
        sum * impurity - leftSum * leftImpurity - (sum - leftSum) * gini(D, left, C, sum - leftSum);

      I[entry] = write;
      I[entry + 1] = end;
      I[entry + 2] = depth + 1;
      I[entry + 3] = node;
      I[entry + 4] = totalConstants;
      I[entry + 11] = bestPair;
      I[entry + 5] -= bestPair;
      I[entry + 6] = start;
      I[entry + 7] = write;
      I[entry + 8] = depth + 1;
      I[entry + 9] = -1;
      I[entry + 10] = totalConstants;
      height += 2;
    }
    I[tree >>> 2] = nodes;
    let decrease = 0;
    for (let i = 0; i < features; i++) decrease += D[importance + i];
    if (decrease > 0) for (let i = 0; i < features; i++) D[importance + i] /= decrease;
  };

  return { rank, grow };
};
