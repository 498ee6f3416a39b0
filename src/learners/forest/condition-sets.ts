/**
 * For every split of a tree, the rows of a matrix whose value is above its threshold, as a set of bits. Most recur, in
 * the trees of a forest and from one forest to the next, so they are kept, within limits.
 */
import type { Kernels, Workspace } from "../../compute/workspace.js";
import type { FeatureMatrix } from "../classifier.js";
import { ABOVE, BLOCK_BYTES, BLOCK_ROWS, SET_STRIDE, SLAB_SETS } from "./sets-kernel.js";
import { withArrays } from "./workspace-arrays.js";

/** What the sets of all matrices may need together. */
const MOST_BYTES = 2 ** 26;

/** Values of so many rows are read side by side: what is next to each other in a row is in the cache then. */
const ROWS = 32;

/** The splits of trees: [nodes] the feature, -1 for leaves, and [nodes, 4] whose second is the threshold. */
export interface Splits {
  readonly feature: Int32Array;
  readonly floats: Float32Array;
}

/** A column of one or two values: all thresholds between them have the same set. */
interface TwoValues {
  readonly low: number;
  readonly high: number;
  /** The rows with the higher one. */
  readonly set: number;
}

/** A column of more values. */
interface ManyValues {
  readonly byThreshold: Map<number, number>;
  /** The column's values, to make sets from; 0 before there are any. */
  copy: number;
}

/** A column's copy, and sets to be made from it. */
interface CopiedColumn extends Readonly<ManyValues> {
  readonly f: number;
}

/** What splits lack. */
export interface Lacking {
  /** Columns, and those of them that were not looked at yet. */
  readonly columns: number;
  readonly unknown: number;
  /** Sets of these columns, if none of them has only two values. */
  readonly sets: number;
}

/** The sets of one matrix; it does not hold the matrix, which is given again each time. */
export class MatrixSets {
  readonly #workspace: Workspace;
  readonly #kernels: Kernels;
  readonly #blocks: number;
  /** By column, as far as they are known. */
  #columns: (TwoValues | ManyValues | undefined)[] = [];
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
    return slabs * this.#blocks * SET_STRIDE + columns * this.#copyBytes;
  }

  get #copyBytes(): number {
    return 4 * this.#blocks * BLOCK_ROWS;
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
    [this.#bytes, this.#used, this.#all, this.#none] = [0, SLAB_SETS, 0, 0];
  }

  /** The set of each split where there is one (0 elsewhere), and which are lacking: the thresholds by column. */
  look({ feature, floats }: Splits) {
    const columns = this.#columns;
    const addresses = new Int32Array(feature.length);
    const wanted = new Map<number, Set<number>>();
    let [sets, unknown] = [0, 0];
    for (let i = 0; i < feature.length; i++) {
      const f = feature[i];
      if (f < 0) continue;
      const threshold = floats[4 * i + 1];
      const column = columns[f];
      if (column !== undefined) {
        const address = "set" in column ? this.#setOf(column, threshold) : column.byThreshold.get(threshold);
        if (address !== undefined) {
          addresses[i] = address;
          continue;
        }
      }
      let own = wanted.get(f);
      if (own === undefined) {
        own = new Set();
        wanted.set(f, own);
        if (column === undefined) unknown++;
      }
      if (own.has(threshold)) continue;
      own.add(threshold);
      sets++;
    }
    const lacking: Lacking = { columns: wanted.size, unknown, sets };
    return { addresses, wanted, lacking };
  }

  #setOf({ low, high, set }: TwoValues, threshold: number): number {
    if (threshold < low) return this.#all;
    return threshold < high ? set : this.#none;
  }

  /** [nodes]: the address of each split's set, 0 for leaves; makes those that are lacking. */
  addresses(features: FeatureMatrix, splits: Splits): Int32Array {
    const { wanted } = this.look(splits);
    this.#learn(
      features,
      [...wanted.keys()].filter((f) => this.#columns[f] === undefined),
    );
    this.#make(features, wanted);
    return this.look(splits).addresses;
  }

  /** The same for a matrix that is used once: columns are not looked at first. */
  addressesOnce(features: FeatureMatrix, splits: Splits): Int32Array {
    const { wanted } = this.look(splits);
    for (const f of wanted.keys()) this.#columns[f] = { byThreshold: new Map(), copy: 0 };
    this.#make(features, wanted);
    return this.look(splits).addresses;
  }

  /** Makes all sets again where they are, for another matrix of no more rows. Not after columns were looked at. */
  refill(features: FeatureMatrix): void {
    const columns = this.#columns.flatMap((column, f) =>
      column === undefined || "set" in column ? [] : [{ f, ...column }],
    );
    this.#copyColumns(features, columns);
    this.#compare(columns);
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
    for (let row = 0; row < rows; row += ROWS) {
      const count = Math.min(ROWS, rows - row);
      let found = false;
      for (const k of open) {
        const start = row * columns + which[k];
        const one = first[k];
        let other = second[k];
        for (;;) {
          let [differs, third] = [0, 0];
          for (let i = 0, at = start; i < count; i++, at += columns) {
            const x = bitsOf[at] ^ one;
            const y = bitsOf[at] ^ other;
            const isNotFirst = (x | -x) >>> 31;
            differs |= isNotFirst << i;
            third |= isNotFirst & ((y | -y) >>> 31);
          }
          sets[k * words + row / ROWS] = differs;
          if (third === 0) break;
          if (other !== one) {
            found = true;
            this.#columns[which[k]] = { byThreshold: new Map(), copy: 0 };
            break;
          }
          other = bitsOf[start + columns * (31 - Math.clz32(differs & -differs))];
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
  #make(features: FeatureMatrix, wanted: Map<number, Set<number>>): void {
    const lacking: CopiedColumn[] = [];
    const uncopied: CopiedColumn[] = [];
    for (const [f, thresholds] of wanted) {
      const column = this.#columns[f];
      if (column === undefined || "set" in column) continue;
      const own: CopiedColumn = {
        f,
        copy: column.copy || this.#allocate(this.#copyBytes),
        byThreshold: new Map(),
      };
      if (column.copy === 0) uncopied.push(own);
      column.copy = own.copy;
      for (const threshold of thresholds) {
        const set = this.#take();
        own.byThreshold.set(threshold, set);
        column.byThreshold.set(threshold, set);
      }
      lacking.push(own);
    }
    this.#copyColumns(features, uncopied);
    this.#compare(lacking);
  }

  #copyColumns({ values, rows, columns }: FeatureMatrix, which: readonly CopiedColumn[]): void {
    const copies = which.map(({ f, copy }) => ({ f, to: this.#workspace.floats(copy, rows) }));
    for (let row = 0; row < rows; row += ROWS) {
      const end = Math.min(row + ROWS, rows);
      for (const { f, to } of copies)
        for (let i = row, at = row * columns + f; i < end; i++, at += columns) to[i] = values[at];
    }
  }

  /** Makes sets from copied columns. */
  #compare(which: readonly CopiedColumn[]): void {
    const count = which.reduce((sum, { byThreshold }) => sum + byThreshold.size, 0);
    withArrays(this.#workspace, [ABOVE.bytes, 12 * count], ([job, listAt]) => {
      const list = this.#workspace.words(listAt, 3 * count);
      const floats = this.#workspace.floats(listAt, 3 * count);
      let at = 0;
      for (const { copy, byThreshold } of which) {
        for (const [threshold, set] of byThreshold) {
          list[at] = copy;
          floats[at + 1] = threshold;
          list[at + 2] = set;
          at += 3;
        }
      }
      this.#workspace.words(job, 2).set([this.#blocks, listAt]);
      this.#kernels.run("above", job, count);
    });
  }
}

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
    const { addresses, lacking } = own.look(splits);
    if (lacking.sets === 0) return addresses;
    const needed = own.bytesFor(lacking);
    if (needed > this.#mostBytes / 2 || !isWorth(lacking)) return undefined;
    if (!this.#makeRoom(needed)) {
      // Once more without any: all are lacking then, so that there is room for them, or they are too many.
      own.clear();
      return this.addresses(features, splits, isWorth);
    }
    return own.addresses(features, splits);
  }
}
