/** Reads what a relation describes, chunk by chunk, into typed columns. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { isNumber } from "../tables/cell-type.js";
import { byCodePoint, type Column } from "../tables/table.js";
import { rowsOf } from "./duckdb.js";
import type { Relation, RelationColumn } from "./relation.js";

/** The different texts of a source's column, with their places. */
type Texts = Map<string, number>;

/** The texts of a column that the database has counted: cells then come as their places, and not as texts. */
interface Dictionary {
  readonly texts: Texts;
  /** INTEGER, a place among the texts, -1 where NULL. */
  readonly sql: string;
}
type Dictionaries = ReadonlyMap<RelationColumn, Dictionary>;

export interface ScannedColumn {
  readonly column: RelationColumn;
  /** [rows] numbers, or places among the texts (-1 where NULL); without any where only texts were asked for. */
  readonly values: Float64Array | Int32Array;
  readonly texts: Texts | undefined;
  readonly dictionary: Dictionary | undefined;
}

export interface Scan {
  readonly rows: number;
  readonly columns: readonly ScannedColumn[];
}

/** The relation with every guessed type that does not hold replaced by text, and what was read. */
export const scanSettled = async (
  connection: DuckDBConnection,
  relation: Relation,
  keep: boolean,
): Promise<{ readonly relation: Relation; readonly scan: Scan }> => {
  const { scan, doubtful } = await scanOnce(connection, relation, keep);
  const misfits = await misfitsAmong(connection, relation.from, doubtful);
  if (misfits.size === 0) return { relation, scan };
  const columns = relation.columns.map((column) =>
    misfits.has(column) ? (column.guess?.otherwise ?? column) : column,
  );
  const settled = { ...relation, columns };
  return { relation: settled, scan: (await scanOnce(connection, settled, keep)).scan };
};

const scanOnce = async (connection: DuckDBConnection, relation: Relation, keep: boolean) => {
  const dictionaries = await dictionariesOf(connection, relation);
  const builders = relation.columns.map((column) => new Builder(column, dictionaries.get(column)));
  let rows = 0;
  for await (const chunk of chunksOf(connection, relation.from, builders)) {
    for (const [index, builder] of builders.entries()) {
      builder.append(chunk, index, keep ? rows : 0, 0, chunk.rowCount);
    }
    rows += chunk.rowCount;
  }
  const doubtful = builders.filter(({ isDoubtful }) => isDoubtful).map(({ column }) => column);
  const scan: Scan = {
    rows,
    columns: builders.map((builder) => ({
      column: builder.column,
      values: builder.take(keep ? rows : 0),
      texts: builder.texts,
      dictionary: builder.dictionary,
    })),
  };
  return { scan, doubtful };
};

/**
 * With more text columns than this, and then few rows, cells come as texts: planning the count of so many columns
 * would take longer than reading them.
 */
const MOST_DICTIONARIES = 200;

/** To count texts in the database, as ENUM types, is several times faster than to bring every cell here as a text. */
const dictionariesOf = async (
  connection: DuckDBConnection,
  { from, columns }: Relation,
): Promise<Dictionaries> => {
  const texts = columns.filter(({ kind }) => kind === "categorical");
  const found = new Map<RelationColumn, Dictionary>();
  if (texts.length === 0 || texts.length > MOST_DICTIONARIES) return found;
  const lists = texts.map(
    ({ sql }, index) => `list(DISTINCT ${sql}) FILTER (WHERE ${sql} IS NOT NULL) AS l${index}`,
  );
  await connection.run(`CREATE OR REPLACE TEMP TABLE texts AS SELECT ${lists.join(", ")} FROM ${from}`);
  for (const [index, column] of texts.entries()) {
    const all = await rowsOf(connection, `SELECT unnest(l${index}) FROM temp.texts`);
    const places = new Map(all.map(([text], place) => [String(text), place]));
    // There is no ENUM of nothing.
    if (all.length > 0) {
      await connection.run(
        `CREATE OR REPLACE TEMP TYPE texts${index} AS ENUM (SELECT unnest(l${index}) FROM temp.texts)`,
      );
    }
    const code = all.length === 0 ? "NULL" : `enum_code(CAST(${column.sql} AS texts${index}))`;
    found.set(column, { texts: places, sql: `coalesce(CAST(${code} AS INTEGER), -1)` });
  }
  return found;
};

/** Only so many at a time: thousands of aggregates in one statement are slow to plan. */
const BATCH = 500;

/** Columns with a cell that is neither of the guessed type nor missing. */
const misfitsAmong = async (
  connection: DuckDBConnection,
  from: string,
  doubtful: readonly RelationColumn[],
): Promise<ReadonlySet<RelationColumn>> => {
  const guessed = doubtful.flatMap((column) => (column.guess === undefined ? [] : [column]));
  const misfits = new Set<RelationColumn>();
  for (let start = 0; start < guessed.length; start += BATCH) {
    const batch = guessed.slice(start, start + BATCH);
    const list = batch.map(({ guess }) => `bool_or(${guess?.misfit})`);
    const [found] = await rowsOf(connection, `SELECT ${list.join(", ")} FROM ${from}`);
    for (const [at, column] of batch.entries()) if (found[at] === true) misfits.add(column);
  }
  return misfits;
};

/** The relation of a scan again, in parts of `chunkRows` rows whose texts have the places that they had in it. */
export async function* scanParts(
  connection: DuckDBConnection,
  { from }: Relation,
  scan: Scan,
  chunkRows: number,
): AsyncGenerator<Scan, void, undefined> {
  const fresh = () =>
    scan.columns.map(({ column, texts, dictionary }) => new Builder(column, dictionary, texts));
  let builders = fresh();
  let filled = 0;
  const part = (): Scan => ({
    rows: filled,
    columns: builders.map((builder) => ({
      column: builder.column,
      values: builder.take(filled),
      texts: builder.texts,
      dictionary: builder.dictionary,
    })),
  });
  for await (const chunk of chunksOf(connection, from, builders)) {
    let start = 0;
    while (start < chunk.rowCount) {
      const count = Math.min(chunk.rowCount - start, chunkRows - filled);
      for (const [index, builder] of builders.entries()) builder.append(chunk, index, filled, start, count);
      filled += count;
      start += count;
      if (filled < chunkRows) continue;
      yield part();
      builders = fresh();
      filled = 0;
    }
  }
  if (filled > 0) yield part();
}

async function* chunksOf(connection: DuckDBConnection, from: string, builders: readonly Builder[]) {
  const list = builders.map(({ sql }, index) => `${sql} AS v${index}`);
  // The search for expressions that occur twice takes minutes for ten thousand columns.
  const disabled = builders.length > WIDE ? "common_subexpressions" : "";
  await connection.run(`SET disabled_optimizers = '${disabled}'`);
  const result = await connection.stream(`SELECT ${list.join(", ")} FROM ${from}`);
  for (let chunk = await result.fetchChunk(); chunk !== null; chunk = await result.fetchChunk()) {
    if (chunk.rowCount === 0) return;
    yield chunk;
  }
}

type Chunk = NonNullable<Awaited<ReturnType<Awaited<ReturnType<DuckDBConnection["stream"]>>["fetchChunk"]>>>;

const FIRST_ROWS = 2048;
const WIDE = 500;
const LARGE = 1e15;

/** One column that grows. */
class Builder {
  readonly column: RelationColumn;
  readonly dictionary: Dictionary | undefined;
  readonly texts: Texts | undefined;
  /** What to select: numbers (NaN where missing), places among the texts, or texts. */
  readonly sql: string;
  /** Whether it has a cell that may not be of the type that was guessed. */
  isDoubtful = false;
  private values: Float64Array | Int32Array;

  constructor(column: RelationColumn, dictionary?: Dictionary, texts?: Texts) {
    this.column = column;
    this.dictionary = dictionary;
    const isText = column.kind === "categorical";
    this.texts = isText ? (dictionary?.texts ?? texts ?? new Map()) : undefined;
    this.sql = isText ? (dictionary?.sql ?? column.sql) : `coalesce(${column.sql}, CAST('NaN' AS DOUBLE))`;
    this.values = isText ? new Int32Array(FIRST_ROWS) : new Float64Array(FIRST_ROWS);
  }

  append(chunk: Chunk, index: number, to: number, from: number, count: number): void {
    if (to + count > this.values.length) this.grow(to + count);
    if (this.texts !== undefined && this.dictionary === undefined) {
      this.appendTexts(chunk, index, to, from, count, this.texts);
    } else this.appendNumbers(chunk, index, to, from, count);
  }

  private appendNumbers(chunk: Chunk, index: number, to: number, from: number, count: number): void {
    const { values } = this;
    const vector = chunk.getColumnVector(index);
    // The numbers behind a vector, where the package has them as an array: copying them at once is far faster.
    const items: unknown = Reflect.get(vector, "items");
    if (items instanceof Float64Array || items instanceof Int32Array) {
      values.set(items.subarray(from, from + count), to);
    } else for (let row = 0; row < count; row++) values[to + row] = Number(vector.getItem(from + row));
    if (this.texts !== undefined) return;
    for (let row = to; row < to + count; row++) {
      // Infinite, or so large that it may be an identifier.
      if (Math.abs(values[row]) >= LARGE) this.isDoubtful = true;
    }
  }

  private appendTexts(chunk: Chunk, index: number, to: number, from: number, count: number, texts: Texts) {
    const { values } = this;
    const vector = chunk.getColumnVector(index);
    for (let row = 0; row < count; row++) {
      const item = vector.getItem(from + row);
      if (item === null) {
        values[to + row] = -1;
        continue;
      }
      const text = String(item);
      let code = texts.get(text);
      if (code === undefined) {
        code = texts.size;
        texts.set(text, code);
      }
      values[to + row] = code;
    }
  }

  private grow(atLeast: number): void {
    const { values } = this;
    const length = Math.max(2 * values.length, atLeast);
    this.values = values instanceof Float64Array ? new Float64Array(length) : new Int32Array(length);
    this.values.set(values);
  }

  /** The first rows, without the room that was made for more; the builder is empty afterwards. */
  take(rows: number): Float64Array | Int32Array {
    const { values } = this;
    const taken = values.length === rows ? values : values.slice(0, rows);
    this.values = values instanceof Float64Array ? new Float64Array(0) : new Int32Array(0);
    return taken;
  }
}

/** A column of a table: texts are trimmed, and their levels sorted. */
export const columnOf = (
  { column: { name, unit }, values, texts }: ScannedColumn,
  missing: readonly string[],
): Column => {
  if (texts === undefined) {
    const numbers = values instanceof Float64Array ? values : Float64Array.from(values);
    const marks = missing.filter(isNumber).map(Number);
    for (let row = 0; row < numbers.length; row++) {
      const value = numbers[row];
      if (Math.abs(value) === Number.POSITIVE_INFINITY || marks.includes(value)) numbers[row] = Number.NaN;
    }
    return { kind: "numeric", name, values: numbers, unit };
  }
  const trimmed = Array.from(texts.keys(), (text) => text.trim());
  const isMissing = new Set(["", ...missing]);
  const levels = [...new Set(trimmed)].filter((text) => !isMissing.has(text)).sort(byCodePoint);
  const place = new Map(levels.map((level, at) => [level, at]));
  const levelOf = Int32Array.from(trimmed, (text) => place.get(text) ?? -1);
  const codes = values instanceof Int32Array ? values : Int32Array.from(values);
  for (let row = 0; row < codes.length; row++) if (codes[row] >= 0) codes[row] = levelOf[codes[row]];
  return { kind: "categorical", name, codes, levels };
};
