/** Tables and queries of a SQLite file, by Node itself where it can (from 22.16 on), else by the package libsql. */
import { isUtf8 } from "node:buffer";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { DuckDBConnection } from "@duckdb/node-api";
import { FairbedError, InputError } from "../core/errors.js";
import { type CellType, ISO_DATE } from "../tables/cell-type.js";
import { databaseTexts } from "./database-relation.js";
import { sqlName } from "./duckdb.js";
import { type Batch, type LoadSettings, loadedTexts, loadTable } from "./loaded-relation.js";
import { optionalPackage } from "./optional-package.js";
import type { TextSettings } from "./query-relation.js";
import { reasonOf } from "./reason.js";
import { type Relation, textColumn } from "./relation.js";
import { singleStatement } from "./single-statement.js";

export const sqliteTexts = {
  acts: (word: string) =>
    `a query reads the named file and does nothing else, but this one says ${word}: leave it out.`,
  encoding: (file: string, column: string) =>
    `the column "${column}" of ${file} has text that is not in the file's encoding, such as Latin-1 in UTF-8: mend it there, or leave the column out with --query.`,
};

type Cell = string | number | bigint | Uint8Array | null;

interface Answer {
  readonly names: readonly string[];
  readonly rows: Iterable<readonly Cell[]>;
}

interface SqliteFile {
  /** Only one answer at a time. */
  ask(sql: string): Answer;
  /** Without an answer. */
  run(sql: string): void;
  close(): void;
}

export const sqliteRelation = async (
  connection: DuckDBConnection,
  path: string,
  name: string,
  query: string | undefined,
  { missing, asText }: TextSettings,
  load: LoadSettings,
): Promise<Relation> => {
  const file = await openSqlite(path, name);
  try {
    const { names, rows } = exactly(file, query ?? onlyTable(file, name), name);
    const { VARCHAR } = await import("@duckdb/node-api");
    const kinds = names.map(() => new SeenCells(missing));
    const loaded = await loadTable(
      connection,
      name,
      names.map((each) => ({ name: each, given: VARCHAR, type: "VARCHAR" })),
      textBatches(rows, kinds),
      load,
    );
    const columns = loaded.columns.map(({ name: column, sql }, index) =>
      textColumn(column, sql, asText.includes(column) ? "text" : kinds[index].type, missing),
    );
    const bytes = columns.filter((_, index) => kinds[index].hasBytes);
    const notes = [...loaded.notes, ...bytes.map((column) => loadedTexts.bytes(column.name))];
    return { from: loaded.from, columns, missing, notes };
  } catch (error) {
    if (error instanceof FairbedError || !(error instanceof Error) || !isSqliteError(error)) throw error;
    throw new InputError("broken-table", databaseTexts.refused(name, saidBy(error)));
  } finally {
    file.close();
  }
};

/**
 * The answer with texts as they are in the file. Readers of SQLite take it for granted that texts are UTF-8: one ends
 * the process where they are not, another puts marks in their place. So texts are asked for as bytes, and bytes, which
 * are of no use here, as a mark.
 */
const exactly = (file: SqliteFile, query: string, name: string): Answer => {
  const { text } = singleStatement(query, "sqlite");
  const [acts] = ACTS.exec(text) ?? [];
  if (acts !== undefined) throw new InputError("query", sqliteTexts.acts(acts));
  const { names } = file.ask(text);
  const columns = names.map((_, index) => `c${index}`);
  if (columns.length === 0) return { names, rows: [] };
  const cells = columns.map(
    (column) =>
      `CASE typeof(${column}) WHEN 'text' THEN CAST(${column} AS BLOB) WHEN 'blob' THEN 'bytes' ELSE ${column} END`,
  );
  // In lines of their own: the query may end with a comment.
  const sql = `WITH fairbed_answer(${columns.join(", ")}) AS (\n${text}\n) SELECT ${cells.join(", ")} FROM fairbed_answer`;
  return { names, rows: decoded(file.ask(sql).rows, names, decoderOf(file), name) };
};

/**
 * What some builds of SQLite have beyond SQL and what reads or writes other files. In the views of a file SQLite itself
 * refuses these; a name has no other way of being written, so that a query without these words cannot call them.
 */
const ACTS =
  /\b(readfile|writefile|fsdir|load_extension|sqlite_log|sqlite_dbpage|sqlite3mc_\w+|fts3_tokenizer|carray)\b/i;

type Decode = (bytes: Uint8Array) => string | undefined;

/** Of texts in the encoding of the file; undefined where the bytes are none. */
const decoderOf = (file: SqliteFile): Decode => {
  const [[encoding]] = [...file.ask("PRAGMA encoding").rows];
  if (String(encoding) === "UTF-8") {
    return (bytes) =>
      isUtf8(bytes) ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString() : undefined;
  }
  const decoder = new TextDecoder(String(encoding).toLowerCase(), { fatal: true, ignoreBOM: true });
  return (bytes) => {
    try {
      return decoder.decode(bytes);
    } catch {
      return undefined;
    }
  };
};

const BYTES = new Uint8Array();

function* decoded(
  rows: Iterable<readonly Cell[]>,
  names: readonly string[],
  decode: Decode,
  name: string,
): Generator<readonly Cell[]> {
  for (const row of rows) {
    yield row.map((cell, index) => {
      if (typeof cell === "string") return BYTES;
      if (!(cell instanceof Uint8Array)) return cell;
      const text = decode(cell);
      if (text === undefined) throw new InputError("not-utf8", sqliteTexts.encoding(name, names[index]));
      return text;
    });
  }
}

const isSqliteError = (error: Error): boolean => {
  const code = "code" in error ? String(error.code) : "";
  return code.startsWith("SQLITE_") || code === "ERR_SQLITE_ERROR";
};

/** What SQLite says about the query is about its words; all else may quote a cell. */
const saidBy = (error: Error): string =>
  /^(no such|near "|ambiguous|wrong number|unrecognized|incomplete|misuse|unsafe use)/.test(error.message)
    ? error.message
    : reasonOf(error);

const onlyTable = (file: SqliteFile, name: string): string => {
  const listing =
    "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT GLOB 'sqlite_*' ORDER BY name";
  const tables = Array.from(file.ask(listing).rows, ([table]) => String(table));
  if (tables.length !== 1) throw new InputError("which-table", databaseTexts.whichTable(name, tables));
  return `SELECT * FROM ${sqlName(tables[0])}`;
};

/** What a column holds: SQLite has types for cells and not for columns. */
class SeenCells {
  hasBytes = false;
  private readonly missing: ReadonlySet<string>;
  private hasNumbers = false;
  private hasTexts = false;
  private hasOtherThanDates = false;

  constructor(missing: readonly string[]) {
    this.missing = new Set(["", ...missing]);
  }

  /** The cell as text. */
  add(cell: Cell): string | null {
    if (cell === null) return null;
    if (cell instanceof Uint8Array) {
      this.hasBytes = true;
      return null;
    }
    if (typeof cell !== "string") {
      this.hasNumbers = true;
      // A whole number with many digits is an identifier, but not where the file has a floating-point number.
      return typeof cell === "number" && Math.abs(cell) >= 1e15 ? cell.toExponential() : String(cell);
    }
    const text = cell.trim();
    if (this.missing.has(text)) return cell;
    this.hasTexts = true;
    if (!ISO_DATE.test(text)) this.hasOtherThanDates = true;
    return cell;
  }

  get type(): CellType {
    if (!this.hasTexts) return "number";
    return this.hasNumbers || this.hasOtherThanDates ? "text" : "date";
  }
}

const BATCH_ROWS = 2048;

function* textBatches(rows: Iterable<readonly Cell[]>, kinds: readonly SeenCells[]): Generator<Batch> {
  let batch: (string | null)[][] = kinds.map(() => []);
  for (const row of rows) {
    for (const [index, cell] of row.entries()) batch[index].push(kinds[index].add(cell));
    if (batch[0].length < BATCH_ROWS) continue;
    yield batch;
    batch = kinds.map(() => []);
  }
  if (batch[0].length > 0) yield batch;
}

const openSqlite = async (path: string, name: string): Promise<SqliteFile> => {
  try {
    const file = (await openByNode(path)) ?? (await openByLibsql(path));
    // What stands in the file is not trusted: its views call nothing that acts, and what its pages say is checked.
    file.run("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA query_only = ON");
    return file;
  } catch (error) {
    if (error instanceof FairbedError || !(error instanceof Error) || !isSqliteError(error)) throw error;
    throw new InputError("broken-table", databaseTexts.refused(name, saidBy(error)));
  }
};

/** The part of `node:sqlite` that is used; Node 20, whose types these are built with, does not have it. */
interface NodeSqlite {
  readonly DatabaseSync: new (path: string, options: { readonly readOnly: boolean }) => NodeDatabase;
  readonly StatementSync: { readonly prototype: object };
}
interface NodeDatabase {
  prepare(sql: string): NodeStatement;
  exec(sql: string): void;
  close(): void;
}
interface NodeStatement {
  setReadBigInts(on: boolean): void;
  setReturnArrays(on: boolean): void;
  columns(): readonly { readonly name: string }[];
  iterate(): Iterable<readonly Cell[]>;
}

const NODE_SQLITE = "node:sqlite";

/** Whether `openByNode` finds all it needs; told by the version, for loading it prints a warning. */
export const nodeReadsSqlite = (version = process.versions.node): boolean => {
  const [major, minor] = version.split(".").map(Number);
  return major >= 24 || (major === 22 && minor >= 16);
};

const openByNode = async (path: string): Promise<SqliteFile | undefined> => {
  const sqlite = await (import(NODE_SQLITE) as Promise<NodeSqlite>).catch(() => undefined);
  // The first versions give rows as objects, in which columns called 2019 or twice the same lose their places.
  if (sqlite === undefined || !("setReturnArrays" in sqlite.StatementSync.prototype)) return undefined;
  const database = new sqlite.DatabaseSync(path, { readOnly: true });
  return {
    ask: (sql) => {
      const statement = database.prepare(sql);
      if (statement.columns().length === 0) return { names: [], rows: [] };
      statement.setReadBigInts(true);
      statement.setReturnArrays(true);
      return { names: statement.columns().map(({ name }) => name), rows: statement.iterate() };
    },
    run: (sql) => database.exec(sql),
    close: () => database.close(),
  };
};

const openByLibsql = async (path: string): Promise<SqliteFile> => {
  const { default: Database } = await optionalPackage(
    () => import("libsql"),
    "reading a SQLite file",
    "libsql",
    "use Node 22.16 or newer",
  );
  // It has no setting for this, but hands on SQLite's own kind of address.
  const { pathname } = pathToFileURL(resolve(path));
  const database = new Database(`file:${pathname}?mode=ro`);
  database.defaultSafeIntegers(true);
  return {
    ask: (sql) => {
      const statement = database.prepare(sql);
      if (!statement.reader) return { names: [], rows: [] };
      statement.raw(true);
      const names = statement.columns().map(({ name }) => name);
      return { names, rows: statement.iterate() as Iterable<readonly Cell[]> };
    },
    run: (sql) => {
      database.exec(sql);
    },
    close: () => {
      database.close();
    },
  };
};
