/**
 * For every split of a tree, the rows of a matrix whose value is above its threshold, as a set of bits. Most recur, in
 * the trees of a forest and from one forest to the next, so they are kept, within limits.
 */
import type { Kernels, Workspace } from "../../compute/workspace.js";
import type { FeatureMatrix } from "../classifier.js";
import { ABOVE, BLOCK_BYTES, BLOCK_ROWS, firstRowOf, SET_STRIDE, SLAB_SETS } from "./sets-kernel.js";
import { SplitIndex } from "./split-index.js";
import { withArrays } from "./workspace-arrays.js";

/** What the sets of all matrices may need together. */
const MOST_BYTES = 2 ** 26;

/** Values of so many rows are read side by side: what is next to each other in a row is in the cache then. */
const ROWS = 32;

/** The splits of trees: [nodes] the feature, -1 for leaves, and [nodes, 4] whose second is the threshold's bits. */
export interface Splits {
  readonly feature: Int32Array;
  readonly words: Int32Array;
}

/** A column of one or two values: all thresholds between them have the same set. */
interface TwoValues {
  readonly low: number;
  readonly high: number;
  /** The rows with the higher one. */
  readonly set: number;
}

/** A column of more values: a copy of them to make sets from, 0 before there are any. */
interface ManyValues {
  copy: number;
}

/** What splits lack. */
export interface Lacking {
  /** Sets, as long as no unknown column turns out to have only two values. */
  readonly sets: number;
  /** Their columns, and those of them that were not looked at yet. */
  readonly columns: number;
  readonly unknown: number;
}

export interface Looked {
  /** [nodes]: the address of each split's set; 0 for leaves and where there is none. */
  readonly addresses: Int32Array;
  readonly lacking: SplitIndex;
}

/** The sets of one matrix; it does not hold the matrix, which is given again each time. */
export class MatrixSets {
  readonly #workspace: Workspace;
  readonly #kernels: Kernels;
  readonly #blocks: number;
  /** By column, as far as they are known. */
  #columns: (TwoValues | ManyValues | undefined)[] = [];
  /** Splits of columns with more than two values, and the set of each. */
  #splits = new SplitIndex();
  #sets: number[] = [];
  readonly #taken: number[] = [];
  #bytes = 0;
  /** The last slab, and how many of its sets are in use. */
  #slab = 0;
  #used = SLAB_SETS;
  /** The sets of all rows and of none. */
  #all = 0;
  #none = 0;

  constructor(workspace: Workspace, kernels: Kernels, rows: number) {
    this.#workspace = workspace;
    this.#kernels = kernels;
    this.#blocks = Math.ceil(rows / BLOCK_ROWS);
  }

  /** What is taken from the workspace. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The most bytes that so many sets of so many columns can need. */
  bytesFor({ columns, sets }: Pick<Lacking, "columns" | "sets">): number {
    const slabs = 2 + Math.ceil((sets + columns) / SLAB_SETS);
    return this.#blocks * (slabs * SET_STRIDE + columns * 4 * BLOCK_ROWS);
  }

  #allocate(bytes: number): number {
    const address = this.#workspace.allocate(bytes);
    this.#taken.push(address);
    this.#bytes += bytes;
    return address;
  }

  /** Room for a set. */
  #take(): number {
    if (this.#used === SLAB_SETS) {
      this.#slab = this.#allocate(this.#blocks * SET_STRIDE);
      this.#used = 0;
    }
    return this.#slab + BLOCK_BYTES * this.#used++;
  }

  /** Room for a set, with these words in it. */
  #put(words: Int32Array): number {
    const set = this.#take();
    const perBlock = BLOCK_BYTES / 4;
    for (let block = 0; block < this.#blocks; block++) {
      const own = words.subarray(block * perBlock, (block + 1) * perBlock);
      this.#workspace.words(set + block * SET_STRIDE, perBlock).set(own);
    }
    return set;
  }

  /** Forgets everything. */
  clear(): void {
    for (const address of this.#taken) this.#workspace.release(address);
    this.#taken.length = 0;
    this.#columns = [];
    this.#splits = new SplitIndex();
    this.#sets = [];
    [this.#bytes, this.#used, this.#all, this.#none] = [0, SLAB_SETS, 0, 0];
  }

  /** The set of each split where there is one (0 elsewhere), and the splits that lack one. */
  look({ feature, words }: Splits): Looked {
    const columns = this.#columns;
    const addresses = new Int32Array(feature.length);
    const lacking = new SplitIndex();
    const threshold = new Float32Array(words.buffer, words.byteOffset, words.length);
    for (let i = 0; i < feature.length; i++) {
      const f = feature[i];
      if (f < 0) continue;
      const column = columns[f];
      if (column !== undefined && "set" in column) {
        addresses[i] = this.#setOf(column, threshold[4 * i + 1]);
        continue;
      }
      const number = column === undefined ? -1 : this.#splits.find(f, words[4 * i + 1]);
      if (number >= 0) addresses[i] = this.#sets[number];
      else lacking.add(f, words[4 * i + 1]);
    }
    return { addresses, lacking };
  }

  #setOf({ low, high, set }: TwoValues, threshold: number): number {
    if (threshold < low) return this.#all;
    return threshold < high ? set : this.#none;
  }

  /** How much is lacking. */
  count(lacking: SplitIndex): Lacking {
    const columns = columnsOf(lacking);
    const unknown = columns.filter((f) => this.#columns[f] === undefined).length;
    return { columns: columns.length, unknown, sets: lacking.size };
  }

  /** [nodes]: the address of each split's set, 0 for leaves; makes those that are lacking. */
  addresses(features: FeatureMatrix, splits: Splits, { lacking }: Looked): Int32Array {
    try {
      this.#learn(
        features,
        columnsOf(lacking).filter((f) => this.#columns[f] === undefined),
      );
      this.#make(features, lacking);
    } catch (error) {
      // There was no memory for all, and some may be there without what belongs in them.
      this.clear();
      throw error;
    }
    return this.look(splits).addresses;
  }

  /** The same for a matrix that is used once: columns are not looked at first. */
  addressesOnce(features: FeatureMatrix, splits: Splits): Int32Array {
    const { lacking } = this.look(splits);
    for (const f of columnsOf(lacking)) this.#columns[f] = { copy: 0 };
    this.#make(features, lacking);
    return this.look(splits).addresses;
  }

  /** Makes all sets again where they are, for another matrix of no more rows. Not after columns were looked at. */
  refill(features: FeatureMatrix): void {
    this.#copyColumns(features, columnsOf(this.#splits));
    this.#compare(0);
  }

  /** Looks through columns, and makes the set of each that has no more than two values. */
  #learn({ values, rows, columns }: FeatureMatrix, which: readonly number[]): void {
    if (which.length === 0) return;
    const words = (this.#blocks * BLOCK_BYTES) / 4;
    if (this.#all === 0) {
      this.#all = this.#put(new Int32Array(words).fill(-1));
      this.#none = this.#put(new Int32Array(words));
    }
    // As bits, so that there is nothing to mispredict; that -0 is not 0 then makes no difference to any set.
    const bitsOf = new Int32Array(values.buffer, values.byteOffset, values.length);
    /** Of each column: its first value, another one, and where it has that. */
    const first = Int32Array.from(which, (f) => bitsOf[f]);
    const second = first.slice();
    const sets = new Int32Array(which.length * words);
    let open = which.map((_, k) => k);
    for (let word = 0; word < words; word++) {
      // Its rows are every fourth of 128.
      const row = firstRowOf(word);
      const count = Math.min(32, Math.ceil((rows - row) / 4));
      let found = false;
      for (const k of open) {
        const start = row * columns + which[k];
        const one = first[k];
        let other = second[k];
        for (;;) {
          let differs = 0;
          let third = 0;
          for (let i = 0, at = start; i < count; i++, at += 4 * columns) {
            const x = bitsOf[at] ^ one;
            const y = bitsOf[at] ^ other;
            const isNotFirst = (x | -x) >>> 31;
            differs |= isNotFirst << i;
            third |= isNotFirst & ((y | -y) >>> 31);
          }
          sets[k * words + word] = differs;
          if (third === 0) break;
          if (other !== one) {
            found = true;
            this.#columns[which[k]] = { copy: 0 };
            break;
          }
          other = bitsOf[start + 4 * columns * (31 - Math.clz32(differs & -differs))];
        }
        second[k] = other;
      }
      if (found) open = open.filter((k) => this.#columns[which[k]] === undefined);
    }
    const floats = new Float32Array(second.buffer);
    for (const k of open) {
      const [a, b] = [values[which[k]], floats[k]];
      const own = sets.subarray(k * words, (k + 1) * words);
      const set = this.#put(a < b ? own : own.map((word) => ~word));
      this.#columns[which[k]] = { low: Math.min(a, b), high: Math.max(a, b), set };
    }
  }

  /** Makes the sets of columns with more values. */
  #make(features: FeatureMatrix, lacking: SplitIndex): void {
    const before = this.#sets.length;
    const uncopied: number[] = [];
    for (const f of columnsOf(lacking)) {
      const column = this.#columns[f];
      if (column === undefined || "set" in column || column.copy > 0) continue;
      column.copy = this.#allocate(4 * this.#blocks * BLOCK_ROWS);
      uncopied.push(f);
    }
    for (let k = 0; k < lacking.size; k++) {
      const f = lacking.columnOf(k);
      if (this.#copyOf(f) === 0) continue;
      this.#splits.add(f, lacking.thresholdOf(k));
      this.#sets.push(this.#take());
    }
    this.#copyColumns(features, uncopied);
    this.#compare(before);
  }

  #copyOf(f: number): number {
    const column = this.#columns[f];
    return column === undefined || "set" in column ? 0 : column.copy;
  }

  #copyColumns({ values, rows, columns }: FeatureMatrix, which: readonly number[]): void {
    const all = new Float32Array(this.#workspace.buffer);
    const starts = Int32Array.from(which, (f) => this.#copyOf(f) / 4);
    for (let row = 0; row < rows; row += ROWS) {
      const count = Math.min(ROWS, rows - row);
      for (let k = 0; k < which.length; k++) {
        const to = starts[k] + row;
        for (let i = 0, at = row * columns + which[k]; i < count; i++, at += columns)
          all[to + i] = values[at];
      }
    }
  }

  /** Makes the sets of the splits from this number on, from copied columns. */
  #compare(first: number): void {
    const count = this.#sets.length - first;
    if (count === 0) return;
    withArrays(this.#workspace, [ABOVE.bytes, 12 * count], ([job, listAt]) => {
      const list = this.#workspace.words(listAt, 3 * count);
      for (let k = 0; k < count; k++) {
        list[3 * k] = this.#copyOf(this.#splits.columnOf(first + k));
        list[3 * k + 1] = this.#splits.thresholdOf(first + k);
        list[3 * k + 2] = this.#sets[first + k];
      }
      this.#workspace.words(job, 2).set([this.#blocks, listAt]);
      this.#kernels.run("above", job, count);
    });
  }
}

/** The columns of splits, each once, in the order of the matrix: neighbours are in the cache together. */
const columnsOf = (splits: SplitIndex): number[] => {
  const columns = new Set<number>();
  for (let k = 0; k < splits.size; k++) columns.add(splits.columnOf(k));
  return [...columns].sort((a, b) => a - b);
};

/** The sets of the matrices that were predicted lately. */
export class ConditionSets {
  readonly #workspace: Workspace;
  readonly #kernels: Kernels;
  readonly #mostBytes: number;
  readonly #byMatrix = new WeakMap<FeatureMatrix, MatrixSets>();
  /** The last used last. */
  #recent: MatrixSets[] = [];

  constructor(workspace: Workspace, kernels: Kernels, mostBytes = MOST_BYTES) {
    this.#workspace = workspace;
    this.#kernels = kernels;
    this.#mostBytes = mostBytes;
  }

  /** What is taken from the workspace. */
  get bytes(): number {
    return this.#recent.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  #of(features: FeatureMatrix): MatrixSets {
    let found = this.#byMatrix.get(features);
    if (found === undefined) {
      found = new MatrixSets(this.#workspace, this.#kernels, features.rows);
      this.#byMatrix.set(features, found);
    }
    if (this.#recent.at(-1) !== found) {
      this.#recent = [...this.#recent.filter((each) => each !== found && each.bytes > 0), found];
    }
    return found;
  }

  /** Lets go of the sets of other matrices, the oldest first, until so many bytes more may be taken. */
  #makeRoom(bytes: number): boolean {
    for (const each of this.#recent.slice(0, -1)) {
      if (this.bytes + bytes > this.#mostBytes) each.clear();
    }
    return this.bytes + bytes <= this.#mostBytes;
  }

  /**
   * [nodes]: the address of each split's set, 0 for leaves. Nothing where those that are lacking are not worth it, or
   * where the splits could need so much that sets would not be kept for long.
   */
  addresses(
    features: FeatureMatrix,
    splits: Splits,
    isWorth: (lacking: Lacking) => boolean,
  ): Int32Array | undefined {
    const own = this.#of(features);
    const looked = own.look(splits);
    if (looked.lacking.size === 0) return looked.addresses;
    const lacking = own.count(looked.lacking);
    const needed = own.bytesFor(lacking);
    if (needed > this.#mostBytes / 2 || !isWorth(lacking)) return undefined;
    if (!this.#makeRoom(needed)) {
      // Once more without any: all are lacking then, so that there is room for them, or they are too many.
      own.clear();
      return this.addresses(features, splits, isWorth);
    }
    return own.addresses(features, splits, looked);
  }
}
