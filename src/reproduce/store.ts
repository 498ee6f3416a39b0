/**
 * Finished cells: a store of jobs that is asked for by cells, and that is also read from the small tables of an earlier
 * run.
 */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { InputError } from "../core/errors.js";
import { JobStore, type ReadJobsOptions } from "../jobs/job-store.js";
import { type Cell, type CellKind, type CellResult, cellKey, type ResultOf, seedOf } from "./cell.js";
import { cellJob, cellJobs } from "./cell-jobs.js";
import { CELL_KINDS, type CompactCell, compactTable, readCompactTable } from "./compact-results.js";
import { describeCell } from "./describe-cell.js";
import { isStoredResult } from "./stored-result.js";

export interface StoredCell {
  readonly key: string;
  readonly cell: Cell;
  readonly result: CellResult;
  readonly seconds: number;
}

export const storeTexts = {
  none: (path: string) =>
    `there are no results in ${path}: name a results.jsonl or a folder of tables that fairbed reproduce has written`,
};

/** In the folder that a run writes: the results it made, whole, and small tables of all that it knew. */
export const RESULTS = "results.jsonl";
export const TABLES = "results";

/** What drawings read. */
export interface Results {
  get<C extends Cell>(cell: C): ResultOf<C> | undefined;
}

export class ResultStore implements Results {
  /** The same results by the keys of their jobs. */
  readonly jobs: JobStore;
  #seeds = 0;

  private constructor(open: (options: Required<ReadJobsOptions>) => JobStore) {
    this.jobs = open({
      onJob: ({ input }) => this.#noticeSeed(seedIn(input)),
      isWhole: ({ kind, input, result }) => kind === cellJobs.name && isStoredResult(input, result),
    });
  }

  /** Results in a file that grows. What `base` knows is known too, and not written. */
  static open(path: string, base?: ResultStore): ResultStore {
    const store = new ResultStore((options) => JobStore.open(path, options));
    if (base === undefined) return store;
    store.jobs.addAll(base.jobs);
    store.#noticeSeed(base.seeds - 1);
    return store;
  }

  /** A file of JSON lines, a folder of tables, or a folder that a run wrote; it must be there and is only read. */
  static read(path: string): ResultStore {
    if (!existsSync(path)) throw new InputError("no-results", storeTexts.none(path));
    if (!statSync(path).isDirectory()) return new ResultStore((options) => JobStore.read(path, options));
    const lines = join(path, RESULTS);
    const hasLines = existsSync(lines);
    const folders = [path, join(path, TABLES)].filter(hasTables);
    if (!hasLines && folders.length === 0) throw new InputError("no-results", storeTexts.none(path));
    // The lines first: they have all digits, and of two results of a cell the first counts.
    const store = new ResultStore((options) =>
      hasLines ? JobStore.read(lines, options) : new JobStore(undefined, options.onJob),
    );
    for (const folder of folders) store.#readTables(folder);
    return store;
  }

  #readTables(folder: string): void {
    for (const kind of kindsIn(folder)) {
      const path = join(folder, tableName(kind));
      for (const { key, seed, result, seconds } of readCompactTable(kind, readFileSync(path, "utf8"), path)) {
        this.jobs.add(key, { result, seconds });
        this.#noticeSeed(seed);
      }
    }
  }

  #noticeSeed(seed: unknown): void {
    if (Number.isInteger(seed)) this.#seeds = Math.max(this.#seeds, Number(seed) + 1);
  }

  has(cell: Cell): boolean {
    return this.jobs.has(cellKey(cell));
  }

  find(cell: Cell): StoredCell | undefined {
    const key = cellKey(cell);
    const known = this.jobs.get(key);
    return known === undefined ? undefined : { key, cell, ...known, result: known.result as CellResult };
  }

  get<C extends Cell>(cell: C): ResultOf<C> | undefined {
    return this.jobs.get(cellKey(cell))?.result as ResultOf<C> | undefined;
  }

  append<C extends Cell>(cell: C, result: ResultOf<C>, seconds: number): void {
    this.jobs.append(cellJob(cell), result, seconds);
  }

  /** How many cells have a result. */
  get size(): number {
    return this.jobs.size;
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

const kindsIn = (folder: string): readonly CellKind[] => {
  const files = readdirSync(folder);
  return CELL_KINDS.filter((kind) => files.includes(tableName(kind)));
};

const hasTables = (folder: string): boolean =>
  statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true && kindsIn(folder).length > 0;

/** A line that another version wrote may have a cell that this one does not know: only its seed is read. */
const seedIn = (input: unknown): unknown => {
  const cell = input as { readonly seed?: unknown; readonly acquisition?: { readonly seed?: unknown } };
  return cell?.seed ?? cell?.acquisition?.seed;
};
