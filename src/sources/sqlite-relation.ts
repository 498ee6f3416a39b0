/** Tables and queries of a SQLite file, by Node itself where it can (from 22.16 on), else by the package libsql. */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { DuckDBConnection } from "@duckdb/node-api";
import { FairbedError, InputError } from "../core/errors.js";
import { type CellType, ISO_DATE } from "../tables/cell-type.js";
import { type Relation, textColumn } from "./csv-relation.js";
import { databaseTexts } from "./database-relation.js";
import { sqlName } from "./duckdb.js";
import { type Batch, loadedTexts, loadTable } from "./loaded-relation.js";
import { optionalPackage } from "./optional-package.js";
import type { TextSettings } from "./query-relation.js";

type Cell = string | number | bigint | Uint8Array | null;

interface Answer {
  readonly names: readonly string[];
  readonly rows: Iterable<readonly Cell[]>;
}

interface SqliteFile {
  /** Only one answer at a time. */
  ask(sql: string): Answer;
  close(): void;
}

export const sqliteRelation = async (
  connection: DuckDBConnection,
  path: string,
  name: string,
  query: string | undefined,
  { missing, asText }: TextSettings,
): Promise<Relation> => {
  const file = await openSqlite(path);
  try {
    const { names, rows } = file.ask(query ?? onlyTable(file, name));
    const { VARCHAR } = await import("@duckdb/node-api");
    const kinds = names.map(() => new SeenCells(missing));
    const loaded = await loadTable(
      connection,
      name,
      names.map((each) => ({ name: each, given: VARCHAR, type: "VARCHAR" })),
      textBatches(rows, kinds),
    );
    const columns = loaded.columns.map(({ name: column, sql }, index) =>
      textColumn(column, sql, asText.includes(column) ? "text" : kinds[index].type, missing),
    );
    const bytes = columns.filter((_, index) => kinds[index].hasBytes);
    const notes = [...loaded.notes, ...bytes.map((column) => loadedTexts.bytes(column.name))];
    return { from: loaded.from, columns, missing, notes };
  } catch (error) {
    if (error instanceof FairbedError || !(error instanceof Error) || !isSqliteError(error)) throw error;
    throw new InputError("broken-table", databaseTexts.refused(name, error.message), { cause: error });
  } finally {
    file.close();
  }
};

const isSqliteError = (error: Error): boolean => {
  const code = "code" in error ? String(error.code) : "";
  return code.startsWith("SQLITE_") || code === "ERR_SQLITE_ERROR";
};

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

const openSqlite = async (path: string): Promise<SqliteFile> =>
  (await openByNode(path)) ?? openByLibsql(path);

/** The part of `node:sqlite` that is used; Node 20, whose types these are built with, does not have it. */
interface NodeSqlite {
  readonly DatabaseSync: new (path: string, options: { readonly readOnly: boolean }) => NodeDatabase;
  readonly StatementSync: { readonly prototype: object };
}
interface NodeDatabase {
  prepare(sql: string): NodeStatement;
  close(): void;
}
interface NodeStatement {
  setReadBigInts(on: boolean): void;
  setReturnArrays(on: boolean): void;
  columns(): readonly { readonly name: string }[];
  iterate(): Iterable<readonly Cell[]>;
}

const NODE_SQLITE = "node:sqlite";

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
    close: () => {
      database.close();
    },
  };
};
