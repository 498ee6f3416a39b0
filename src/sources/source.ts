/** Tables from files, databases and addresses, column by column or a part at a time. */
import { rm } from "node:fs/promises";
import type { DuckDBConnection } from "@duckdb/node-api";
import { FairbedError, InputError } from "../core/errors.js";
import { nearestName } from "../core/nearest-name.js";
import { DEFAULT_MISSING } from "../tables/cell-type.js";
import type { DialectSettings } from "../tables/dialect.js";
import { nearlyNumericNote } from "../tables/nearly-numeric.js";
import { columnNamed, selectRows, type Table, tableTexts } from "../tables/table.js";
import { partsOfRows, settleRows, type TextRows, tableOfRows } from "../tables/text-rows.js";
import { ANSWER } from "./answer-place.js";
import { jsonNames, parquetNames } from "./column-names.js";
import { limitAccess, parquetSql, sqlText, withDatabase } from "./duckdb.js";
import { type FileKind, fileTexts, inspectFile, isUtf8 } from "./file-kind.js";
import { isEmbedding, readEmbeddedTable } from "./images/embedded-table.js";
import { IMAGE_COLUMN } from "./images/manifest.js";
import { imageTexts } from "./images/texts.js";
import { brokenJsonLine } from "./json-lines.js";
import { type OpenedFile, openedTexts, withOpenedFile } from "./opened-file.js";
import { isPostgres, postgresRelation } from "./postgres-relation.js";
import { queryRelation, type TextSettings, typedRelation } from "./query-relation.js";
import { readApart } from "./read-apart.js";
import { reasonOf } from "./reason.js";
import type { Relation } from "./relation.js";
import { columnOf, type Scan, scanParts, scanSettled } from "./scan.js";
import { nodeReadsSqlite } from "./sqlite-relation.js";
import { tableRelation } from "./table-relation.js";
import { type InspectedFile, isTextSource, withTextRows } from "./text-source.js";
import { downloadToTemporary, isAddress } from "./web-file.js";
import { withoutPassword } from "./without-password.js";

export interface ReadOptions extends DialectSettings {
  /** How the letters of a text file are encoded, such as `windows-1252`; found unless given. */
  readonly encoding?: string | undefined;
  /** The sheet of an Excel workbook; its first one unless given. */
  readonly sheet?: string | undefined;
  /** Only these columns, in this order. */
  readonly columns?: readonly string[] | undefined;
  /** SQL; a file that is no database is the table `data` in it. A database with one table needs none. */
  readonly query?: string | undefined;
  /** Texts that stand for nothing, besides the empty one; `NA`, `N/A`, `NaN`, `null` and `?` unless given. */
  readonly missing?: readonly string[] | undefined;
  /** Columns that stay text, such as identifiers, even where all their values are numbers. */
  readonly asText?: readonly string[] | undefined;
  /** What the table is called in messages; its path unless given. */
  readonly name?: string | undefined;
  /** Gets the SHA-256 of the file, of the very bytes that were read; not called for a database on a server. */
  readonly onHash?: ((sha256: string) => void) | undefined;
}

export interface StreamOptions extends ReadOptions {
  /** At most this many rows at a time. */
  readonly chunkRows?: number | undefined;
}

export const sourceTexts = {
  noRows: (file: string) => `${file} has no rows: give a table with at least one.`,
  broken: (file: string, reason: string) =>
    `${file} could not be read as a table (${reason}): get it again, or write it anew, as CSV or with fewer columns.`,
  json: (file: string, line: number | undefined) =>
    `${file} is not valid JSON${line === undefined ? "" : ` (line ${line})`}: give one object in braces on each line, or one list of objects.`,
  noSheets: (file: string) => `${file} is no Excel workbook: leave out --sheet.`,
  chunkRows: (given: number) => `chunkRows was ${given}: give a whole number of at least 1.`,
};

/**
 * Reads a whole table: a file's path, a folder that `fairbed data embed` wrote, a web address, or
 * `postgres://user:password@host/database`. Arrow and Feather
 * files need the package apache-arrow, PostgreSQL pg, and SQLite files libsql on Node before 22.16.
 *
 * @example
 * ```ts
 * import { mkdtemp, writeFile } from "node:fs/promises";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { readTable } from "fairbed";
 *
 * const file = join(await mkdtemp(join(tmpdir(), "people-")), "people.csv");
 * await writeFile(file, "id,age,sex\n007,31,f\n008,,m\n");
 * const table = await readTable(file, { asText: ["id"] });
 * console.log(table.rows, table.columns.map(({ kind }) => kind).join(" ")); // 2 categorical numeric categorical
 * ```
 */
export const readTable = async (path: string, options: ReadOptions = {}): Promise<Table> => {
  if (await isFolderOfImages(path)) return readImages(path, options);
  return readFileTable(path, options);
};

const isFolderOfImages = async (path: string): Promise<boolean> =>
  path !== "" && !isAddress(path) && !isPostgres(path) && isEmbedding(path);

const readFileTable = (path: string, options: ReadOptions): Promise<Table> =>
  withSource(path, options, {
    rows: (read, name) => read((rows) => tableOfRows(rows, { ...options, name })),
    relation: async ({ connection, name, relation: guessed }) => {
      const { relation, scan } = await scanSettled(connection, guessed, true);
      if (scan.rows === 0) throw new InputError("empty-table", sourceTexts.noRows(name));
      const table = tableOfScan(name, relation, scan);
      const asked = new Set(options.asText);
      const doubts = table.columns.flatMap((column) =>
        asked.has(column.name) ? [] : (nearlyNumericNote(column) ?? []),
      );
      return { ...table, notes: [...table.notes, ...doubts] };
    },
  });

/** A folder that `fairbed data embed` wrote. */
const readImages = async (folder: string, options: ReadOptions): Promise<Table> => {
  const { query, columns, name = folder, onHash = () => {}, asText = [], missing } = options;
  if (query !== undefined) throw new InputError("query", imageTexts.query(name));
  const { table, sha256 } = await readEmbeddedTable(folder, name, (path, onLabelsHash) =>
    readFileTable(path, { missing, asText: [...asText, IMAGE_COLUMN], onHash: onLabelsHash }),
  );
  onHash(sha256);
  return columns === undefined
    ? table
    : { ...table, columns: columns.map((each) => columnNamed(table, each)) };
};

/**
 * The same table in parts of at most `chunkRows` rows, of which only one is held at a time. It is read twice: types
 * and levels are those of the whole table, the same in every part.
 */
export async function* streamTable(
  path: string,
  { chunkRows = 65536, ...options }: StreamOptions = {},
): AsyncGenerator<Table, void, undefined> {
  if (!Number.isSafeInteger(chunkRows) || chunkRows < 1) {
    throw new InputError("chunk-rows", sourceTexts.chunkRows(chunkRows));
  }
  if (await isFolderOfImages(path)) {
    const table = await readImages(path, options);
    for (let start = 0; start < table.rows; start += chunkRows) {
      const rows = Math.min(chunkRows, table.rows - start);
      yield selectRows(
        table,
        Array.from({ length: rows }, (_, row) => start + row),
      );
    }
    return;
  }
  const parts = new Handover<Table>();
  const reading = withSource(path, options, {
    rows: async (read, name) => {
      const settled = await read((rows) => settleRows(rows, { ...options, name }));
      for await (const part of partsOfRows(settled, chunkRows, name)) if (!(await parts.give(part))) return;
    },
    relation: async ({ connection, name, relation: guessed }) => {
      const { relation, scan } = await scanSettled(connection, guessed, false);
      if (scan.rows === 0) throw new InputError("empty-table", sourceTexts.noRows(name));
      for await (const part of scanParts(connection, relation, scan, chunkRows)) {
        if (!(await parts.give(tableOfScan(name, relation, part)))) return;
      }
    },
  });
  reading.then(
    () => parts.end(),
    (error) => parts.end(error),
  );
  try {
    for (let part = await parts.take(); part !== undefined; part = await parts.take()) yield part;
  } finally {
    parts.stop();
    await reading.catch(() => {});
  }
}

const tableOfScan = (name: string, { missing, notes }: Relation, { rows, columns }: Scan): Table => ({
  name,
  rows,
  columns: columns.map((column) => columnOf(column, missing)),
  notes,
});

/** One value at a time from a reader that owns the database to a caller who may stop early. */
class Handover<Value> {
  private waitingTaker: ((value: Value | undefined) => void) | undefined;
  private failTaker: ((error: unknown) => void) | undefined;
  private offered: { readonly value: Value; readonly taken: (wanted: boolean) => void } | undefined;
  private ended: { readonly error: unknown } | undefined;
  private stopped = false;

  /** Resolves when the value was taken and the next is wanted; false when nobody wants more. */
  give(value: Value): Promise<boolean> {
    if (this.stopped) return Promise.resolve(false);
    return new Promise((taken) => {
      if (this.waitingTaker === undefined) {
        this.offered = { value, taken };
        return;
      }
      const taker = this.waitingTaker;
      this.waitingTaker = undefined;
      taker(value);
      taken(true);
    });
  }

  take(): Promise<Value | undefined> {
    return new Promise((resolve, reject) => {
      if (this.offered !== undefined) {
        const { value, taken } = this.offered;
        this.offered = undefined;
        resolve(value);
        taken(true);
      } else if (this.ended !== undefined) {
        if (this.ended.error === undefined) resolve(undefined);
        else reject(this.ended.error);
      } else {
        this.waitingTaker = resolve;
        this.failTaker = reject;
      }
    });
  }

  end(error?: unknown): void {
    this.ended = { error };
    if (this.waitingTaker === undefined) return;
    if (error === undefined) this.waitingTaker(undefined);
    else this.failTaker?.(error);
  }

  stop(): void {
    this.stopped = true;
    this.offered?.taken(false);
  }
}

interface Source {
  readonly connection: DuckDBConnection;
  readonly name: string;
  readonly relation: Relation;
}

/** What is done with a source: with rows that are read here, or with what the database reads. */
interface Uses<Result> {
  rows(read: <Read>(use: (rows: TextRows) => Promise<Read>) => Promise<Read>, name: string): Promise<Result>;
  relation(source: Source): Promise<Result>;
}

const withSource = async <Result>(
  path: string,
  options: ReadOptions,
  uses: Uses<Result>,
): Promise<Result> => {
  const name = withoutPassword(options.name ?? path);
  if (path === "") throw new InputError("no-file", openedTexts.noName);
  const read = async (file: OpenedFile | undefined) => {
    const start = file === undefined ? undefined : await inspectFile(file.path, name, options.encoding);
    if (options.sheet !== undefined && start?.kind !== "xlsx") {
      throw new InputError("sheet", sourceTexts.noSheets(name));
    }
    if (
      file !== undefined &&
      start !== undefined &&
      isTextSource(start.kind) &&
      options.query === undefined
    ) {
      return uses.rows((use) => withTextRows({ path: file.path, name, start }, options, use), name);
    }
    return withDatabase(async (connection) => {
      const relation =
        file === undefined || start === undefined
          ? await serverRelation(connection, path, name, options)
          : await fileRelation(connection, file, { path: file.path, name, start }, options);
      return uses.relation({ connection, name, relation: chooseColumns(relation, name, options.columns) });
    }, packagesBeside(start?.kind));
  };
  if (isPostgres(path)) {
    return read(undefined).catch(async (error) => {
      throw await inWords(error, name, undefined);
    });
  }
  const remote = isAddress(path) ? await downloadToTemporary(path) : undefined;
  try {
    return await withOpenedFile(remote?.path ?? path, name, async (file) => {
      try {
        const result = await read(file);
        await file.requireUnchanged();
        if (options.onHash !== undefined) options.onHash(await file.sha256());
        return result;
      } catch (error) {
        // Where the file changed meanwhile, that is the reason, whatever came of it.
        await file.requireUnchanged();
        throw await inWords(error, name, file.path);
      }
    });
  } finally {
    if (remote !== undefined) await rm(remote.folder, { recursive: true, force: true });
  }
};

/** What a file of this kind needs beside DuckDB; without a kind, it is a database on a server. */
const packagesBeside = (kind: FileKind | undefined): readonly string[] => {
  if (kind === undefined) return ["pg"];
  if (kind === "arrow") return ["apache-arrow"];
  return kind === "sqlite" && !nodeReadsSqlite() ? ["libsql"] : [];
};

const settingsOf = ({ missing = DEFAULT_MISSING, asText = [] }: ReadOptions): TextSettings => ({
  missing,
  asText,
});

const serverRelation = async (
  connection: DuckDBConnection,
  address: string,
  name: string,
  options: ReadOptions,
): Promise<Relation> => {
  await limitAccess(connection, []);
  return postgresRelation(connection, address, name, options.query, settingsOf(options));
};

const fileRelation = async (
  connection: DuckDBConnection,
  { folder, bytes }: OpenedFile,
  file: InspectedFile,
  options: ReadOptions,
): Promise<Relation> => {
  const { query } = options;
  const settings = settingsOf(options);
  const { path, name, start } = file;
  const { kind } = start;
  if (kind === "arrow" || kind === "sqlite" || kind === "duckdb") {
    // An Arrow file is no database: queries on it are answered here.
    const own = kind === "arrow" ? undefined : query;
    const { answer, relation } = await readApart({ kind, path, name, query: own, settings, bytes }, folder);
    await connection.run(`ATTACH ${sqlText(answer)} AS ${ANSWER} (READ_ONLY)`);
    await limitAccess(connection, []);
    return kind === "arrow" ? queried(connection, relation, query, name, settings) : relation;
  }
  await limitAccess(connection, [path]);
  const plain = async (): Promise<Relation> => {
    switch (kind) {
      case "text":
      case "arff":
      case "xlsx": {
        const { asText } = settings;
        const table = await withTextRows(file, options, (rows) => tableOfRows(rows, { name, asText }));
        return tableRelation(connection, table);
      }
      case "json": {
        if (start.encoding !== "utf-8") throw new InputError("not-utf8", fileTexts.notUtf8(name));
        const compression = start.gzip ? "gzip" : "uncompressed";
        const from = `read_json(${sqlText(path)}, sample_size = -1, maximum_depth = 2, compression = '${compression}', hive_partitioning = false)`;
        return typedRelation(connection, from, settings, (described) =>
          jsonNames(connection, path, compression, described),
        );
      }
      default:
        return typedRelation(connection, parquetSql(path), settings, (described) =>
          parquetNames(connection, path, described),
        );
    }
  };
  return queried(connection, await plain(), query, name, settings);
};

const queried = async (
  connection: DuckDBConnection,
  guessed: Relation,
  query: string | undefined,
  name: string,
  settings: TextSettings,
): Promise<Relation> => {
  if (query === undefined) return guessed;
  const { relation } = await scanSettled(connection, guessed, false);
  return queryRelation(connection, relation, query, name, settings);
};

const chooseColumns = (relation: Relation, name: string, wanted?: readonly string[]): Relation => {
  if (wanted === undefined) return relation;
  const byName = new Map(relation.columns.map((column) => [column.name, column]));
  const columns = wanted.map((each) => {
    const found = byName.get(each);
    if (found !== undefined) return found;
    const names = [...byName.keys()];
    const text = tableTexts.noColumn(name, each, nearestName(each, names), names);
    throw new InputError("unknown-column", text);
  });
  return { ...relation, columns };
};

/** What DuckDB complains about, as one sentence without the contents of the file. */
const inWords = async (error: unknown, name: string, path: string | undefined): Promise<unknown> => {
  if (error instanceof FairbedError || !(error instanceof Error)) return error;
  const { message } = error;
  // DuckDB does not always say so: bytes that are no text may also end in an internal error of its own.
  if (/invalid unicode|utf-?8/i.test(message) || (path !== undefined && !(await isUtf8(path)))) {
    return new InputError("not-utf8", fileTexts.notUtf8(name));
  }
  if (/GZIP|gzip|decompress/.test(message)) {
    return new InputError("broken-gzip", fileTexts.brokenGzip(name));
  }
  if (
    path !== undefined &&
    /JSON/.test(message) &&
    (await inspectFile(path).catch(() => undefined))?.kind === "json"
  ) {
    const line = /in line \d/.test(message) ? await brokenJsonLine(path) : undefined;
    return new InputError("broken-json", sourceTexts.json(name, line));
  }
  // What is no complaint of the database is a mistake of ours, and shown as one.
  if (!/^[A-Z][A-Za-z ]+ (Error|Exception):/.test(message)) return error;
  return new InputError("broken-table", sourceTexts.broken(name, reasonOf(error)));
};
