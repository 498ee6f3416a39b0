/**
 * Finished cells: what is known is not run again. A run writes them exactly, into a file of JSON lines that only grows;
 * they are also read from the small tables of an earlier run.
 */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { InputError } from "../core/errors.js";
import { type Cell, type CellKind, type CellResult, cellKey, type ResultOf, seedOf } from "./cell.js";
import {
  CELL_KINDS,
  type CompactCell,
  compactTable,
  KEY_DIGITS,
  readCompactTable,
} from "./compact-results.js";
import { describeCell } from "./describe-cell.js";

export interface StoredCell {
  readonly key: string;
  readonly cell: Cell;
  readonly result: CellResult;
  readonly seconds: number;
}

export const storeTexts = {
  none: (path: string) =>
    `there are no results in ${path}: name a results.jsonl or a folder of tables that fairbed reproduce has written`,
  line: (path: string, line: number) =>
    `line ${line} of ${path} is not a finished cell: give a results.jsonl that fairbed reproduce wrote, or take that line out`,
};

/** What drawings read. */
export interface Results {
  get<C extends Cell>(cell: C): ResultOf<C> | undefined;
}

interface Known {
  readonly result: CellResult;
  readonly seconds: number;
}

const shortKey = (key: string): string => key.slice(0, KEY_DIGITS);

export class ResultStore implements Results {
  readonly path: string;
  /** By short keys. Results of other versions are among them, and nobody asks for those. */
  readonly #known = new Map<string, Known>();
  #seeds = 0;

  private constructor(path: string, base?: ResultStore) {
    this.path = path;
    if (base === undefined) return;
    for (const [key, known] of base.#known) this.#known.set(key, known);
    this.#seeds = base.seeds;
  }

  /**
   * Reads what is there; a last line that was cut off by a sudden end is dropped, and its cell is run again. What
   * `base` knows is known too, and not written.
   */
  static open(path: string, base?: ResultStore): ResultStore {
    const store = new ResultStore(path, base);
    if (!existsSync(path)) return store;
    const bytes = readFileSync(path);
    const whole = bytes.lastIndexOf("\n") + 1;
    store.#readLines(bytes.subarray(0, whole).toString("utf8"));
    if (whole < bytes.length) truncateSync(path, whole);
    return store;
  }

  /** A file of JSON lines or a folder of tables, which must be there and is only read. */
  static read(path: string): ResultStore {
    const store = new ResultStore(path);
    if (!existsSync(path)) throw new InputError("no-results", storeTexts.none(path));
    if (statSync(path).isDirectory()) {
      store.#readTables();
    } else {
      const text = readFileSync(path, "utf8");
      store.#readLines(text.slice(0, text.lastIndexOf("\n") + 1));
    }
    return store;
  }

  #readLines(text: string): void {
    for (const [i, line] of text.split("\n").entries()) {
      if (line === "") continue;
      const stored = parseLine(line);
      if (stored === undefined) throw new InputError("results", storeTexts.line(this.path, i + 1));
      const { key, result, seconds } = stored;
      this.#add(key, stored.seed, { result, seconds });
    }
  }

  #readTables(): void {
    const files = readdirSync(this.path);
    const kinds = CELL_KINDS.filter((kind) => files.includes(tableName(kind)));
    if (kinds.length === 0) throw new InputError("no-results", storeTexts.none(this.path));
    for (const kind of kinds) {
      const path = join(this.path, tableName(kind));
      for (const { key, seed, result, seconds } of readCompactTable(kind, readFileSync(path, "utf8"), path)) {
        this.#add(key, seed, { result, seconds });
      }
    }
  }

  /** Of a cell that two runs finished at once, the first counts. */
  #add(key: string, seed: number, known: Known): void {
    if (!this.#known.has(shortKey(key))) this.#known.set(shortKey(key), known);
    if (Number.isInteger(seed)) this.#seeds = Math.max(this.#seeds, seed + 1);
  }

  has(cell: Cell): boolean {
    return this.#known.has(shortKey(cellKey(cell)));
  }

  find(cell: Cell): StoredCell | undefined {
    const key = cellKey(cell);
    const known = this.#known.get(shortKey(key));
    return known === undefined ? undefined : { key, cell, ...known };
  }

  get<C extends Cell>(cell: C): ResultOf<C> | undefined {
    return this.find(cell)?.result as ResultOf<C> | undefined;
  }

  /** One write of one whole line. */
  append<C extends Cell>(cell: C, result: ResultOf<C>, seconds: number): void {
    const key = cellKey(cell);
    if (this.#known.has(shortKey(key))) return;
    const stored: StoredCell = { key, cell, result, seconds };
    const line = JSON.stringify(stored);
    mkdirSync(dirname(this.path), { recursive: true });
    appendFileSync(this.path, `${line}\n`);
    // What a later run would read, not what this one computed: numbers without a value are gone from both.
    this.#add(key, seedOf(cell), JSON.parse(line));
  }

  /** How many cells have a result. */
  get size(): number {
    return this.#known.size;
  }

  /** One more than the largest seed that has a result. */
  get seeds(): number {
    return this.#seeds;
  }

  /** What is known of these cells as small tables, by the names of their files. */
  tables(cells: readonly Cell[]): ReadonlyMap<string, string> {
    const found = new Map<string, { readonly kind: CellKind; readonly compact: CompactCell }>();
    for (const cell of cells) {
      const stored = this.find(cell);
      if (stored === undefined) continue;
      const { key, result, seconds } = stored;
      const compact = { key, what: describeCell(cell), seed: seedOf(cell), result, seconds };
      found.set(key, { kind: cell.kind, compact });
    }
    const all = [...found.values()];
    return new Map(
      CELL_KINDS.flatMap((kind) => {
        const own = all.filter((each) => each.kind === kind).map(({ compact }) => compact);
        return own.length === 0 ? [] : [[tableName(kind), compactTable(kind, own)] as const];
      }),
    );
  }
}

const tableName = (kind: CellKind): string => `${kind}.csv`;

/** A line that another version wrote may have a cell that this one does not know: only its seed is read. */
const parseLine = (line: string): (Known & { readonly key: string; readonly seed: number }) | undefined => {
  try {
    const { key, cell, result, seconds } = JSON.parse(line);
    const right = typeof key === "string" && typeof cell?.kind === "string" && typeof result === "object";
    return right ? { key, seed: cell.seed ?? cell.acquisition?.seed, result, seconds } : undefined;
  } catch {
    return undefined;
  }
};
