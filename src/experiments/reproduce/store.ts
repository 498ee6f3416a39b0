/** Finished cells in a file of JSON lines that only grows: what is in it is not run again. */
import { appendFileSync, existsSync, mkdirSync, readFileSync, truncateSync } from "node:fs";
import { dirname } from "node:path";
import { InputError } from "../../core/errors.js";
import { type Cell, type CellResult, cellKey, type ResultOf } from "./cell.js";

export interface StoredCell {
  readonly key: string;
  readonly cell: Cell;
  readonly result: CellResult;
  readonly seconds: number;
}

export const storeTexts = {
  none: (path: string) => `there are no results in ${path}: name a file that fairbed reproduce has written`,
  line: (path: string, line: number) =>
    `line ${line} of ${path} is not a finished cell: give a results.jsonl that fairbed reproduce wrote, or take that line out`,
};

/** What drawings read. */
export interface Results {
  get<C extends Cell>(cell: C): ResultOf<C> | undefined;
}

export class ResultStore implements Results {
  readonly path: string;
  readonly #cells = new Map<string, StoredCell>();

  private constructor(path: string) {
    this.path = path;
  }

  /** Reads what is there; a last line that was cut off by a sudden end is dropped, and its cell is run again. */
  static open(path: string): ResultStore {
    const store = new ResultStore(path);
    if (!existsSync(path)) return store;
    const bytes = readFileSync(path);
    const whole = bytes.lastIndexOf("\n") + 1;
    store.#read(bytes.subarray(0, whole).toString("utf8"));
    if (whole < bytes.length) truncateSync(path, whole);
    return store;
  }

  /** The same for a file that must be there and is only read. */
  static read(path: string): ResultStore {
    if (!existsSync(path)) throw new InputError("no-results", storeTexts.none(path));
    const store = new ResultStore(path);
    const text = readFileSync(path, "utf8");
    store.#read(text.slice(0, text.lastIndexOf("\n") + 1));
    return store;
  }

  #read(text: string): void {
    for (const [i, line] of text.split("\n").entries()) {
      if (line === "") continue;
      const stored = parseLine(line);
      if (stored === undefined) throw new InputError("results", storeTexts.line(this.path, i + 1));
      // Of a cell that two runs finished at once, the first counts.
      if (!this.#cells.has(stored.key)) this.#cells.set(stored.key, stored);
    }
  }

  has(cell: Cell): boolean {
    return this.#cells.has(cellKey(cell));
  }

  find(cell: Cell): StoredCell | undefined {
    return this.#cells.get(cellKey(cell));
  }

  get<C extends Cell>(cell: C): ResultOf<C> | undefined {
    return this.find(cell)?.result as ResultOf<C> | undefined;
  }

  /** One write of one whole line. */
  append<C extends Cell>(cell: C, result: ResultOf<C>, seconds: number): void {
    const key = cellKey(cell);
    if (this.#cells.has(key)) return;
    const stored: StoredCell = { key, cell, result, seconds };
    const line = JSON.stringify(stored);
    if (this.#cells.size === 0) mkdirSync(dirname(this.path), { recursive: true });
    appendFileSync(this.path, `${line}\n`);
    // What a later run would read, not what this one computed: numbers without a value are gone from both.
    this.#cells.set(key, JSON.parse(line));
  }

  get cells(): readonly StoredCell[] {
    return [...this.#cells.values()];
  }
}

const parseLine = (line: string): StoredCell | undefined => {
  try {
    const value = JSON.parse(line);
    const right =
      typeof value?.key === "string" &&
      typeof value.cell?.kind === "string" &&
      typeof value.result === "object";
    return right ? value : undefined;
  } catch {
    return undefined;
  }
};
