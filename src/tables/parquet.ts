/** Parquet files where there is no database: column by column, one group of rows after the other. */
import type { FileMetaData, SchemaElement } from "hyparquet";
import { EnvironmentError, FairbedError, InputError } from "../core/errors.js";
import { nearestName } from "../core/nearest-name.js";
import { type Pacer, pacer, type RunOptions } from "../core/options.js";
import { cellColumn } from "./cell-column.js";
import { DEFAULT_MISSING, isNumber } from "./cell-type.js";
import { distinctNames } from "./dialect.js";
import { nearlyNumericNote } from "./nearly-numeric.js";
import { cellsOf, type ParquetCells } from "./parquet-cells.js";
import { type Column, type Table, tableTexts } from "./table.js";
import { textRowsTexts } from "./text-rows.js";

/** The bytes of a file, of which only some are read at a time; an `ArrayBuffer` is one. */
export interface ParquetSource {
  readonly byteLength: number;
  slice(start: number, end?: number): ArrayBuffer | Promise<ArrayBuffer>;
}

export interface ParquetOptions extends RunOptions {
  /** Only these columns, in this order; all unless given. */
  readonly columns?: readonly string[] | undefined;
  /** Texts that stand for nothing, besides the empty one; `NA`, `N/A`, `NaN`, `null` and `?` unless given. */
  readonly missing?: readonly string[] | undefined;
  /** Columns that become text, such as identifiers, even where all their values are numbers. */
  readonly asText?: readonly string[] | undefined;
  /** What the table is called in messages; "the table" unless given. */
  readonly name?: string | undefined;
}

export const parquetReadTexts = {
  packages:
    "Parquet files need the packages hyparquet and hyparquet-compressors here, which are not installed: run npm install hyparquet hyparquet-compressors.",
  broken: (name: string, reason: string) =>
    `${name} could not be read as a Parquet file (${reason}): get it again, or convert it to CSV.`,
  damaged: "it is damaged or not whole",
  notUtf8: "a text in it is not UTF-8",
  reading: "reading",
};

/** Bundlers take a package that is not there for one that may be lacking if its `import()` has a handler of its own. */
const rethrow = (error: unknown): never => {
  throw error;
};

const load = async () => {
  try {
    const [reader, { compressors }] = await Promise.all([
      import("hyparquet").catch(rethrow),
      import("hyparquet-compressors").catch(rethrow),
    ]);
    return { ...reader, compressors };
  } catch (cause) {
    throw new EnvironmentError("no-package", parquetReadTexts.packages, { cause });
  }
};

type Reader = Awaited<ReturnType<typeof load>>;

/**
 * A whole Parquet file as a table, in a page or in Node without DuckDB. Columns are typed as those of `readTable` in Node:
 * dates and moments are days since 1970, whole numbers that a float does not hold and all that is no number are texts.
 * Needs the packages hyparquet and hyparquet-compressors. `onProgress` counts bytes.
 */
export const readParquet = async (source: ParquetSource, options: ParquetOptions = {}): Promise<Table> => {
  const { name = "the table", asText = [], missing = DEFAULT_MISSING } = options;
  options.signal?.throwIfAborted();
  const reader = await load();
  const metadata = await inWords(name, () => reader.parquetMetadataAsync(source, { geoparquet: false }));
  const { columns: all, notes } = await inWords(name, async () => columnsOf(metadata));
  const columns = chosenOf(all, name, options.columns);
  const rows = metadata.row_groups.reduce((sum, group) => sum + Number(group.num_rows), 0);
  if (rows === 0 || columns.length === 0) throw new InputError("empty-table", textRowsTexts.noRows(name));
  const total = columns.reduce((sum, column) => sum + column.bytes.reduce((all, bytes) => all + bytes, 0), 0);
  const run: Run = {
    reader,
    source,
    name,
    rows,
    missing,
    pace: pacer(options),
    progress: { done: 0, total },
  };
  const read: Column[] = [];
  for (const column of columns) read.push(await readColumn(run, column, asText.includes(column.name)));
  const doubts = read.flatMap((column) =>
    asText.includes(column.name) ? [] : (nearlyNumericNote(column) ?? []),
  );
  return { name, rows, columns: read, notes: [...notes, ...doubts] };
};

/** What goes wrong in the reader, as one sentence without the contents of the file. */
const inWords = async <Result>(name: string, use: () => Promise<Result>): Promise<Result> => {
  try {
    return await use();
  } catch (error) {
    if (error instanceof FairbedError) throw error;
    const message = error instanceof Error ? error.message : "";
    const reason = /^parquet [\w ():!=,<>.-]+$/.test(message) ? message : parquetReadTexts.damaged;
    throw new InputError("broken-table", parquetReadTexts.broken(name, reason), { cause: error });
  }
};

interface StoredColumn {
  readonly name: string;
  readonly cells: ParquetCells;
  /** A file of this column alone: names are not looked up among thousands, nor mixed up where two are the same. */
  readonly metadata: FileMetaData;
  /** Compressed, of each group of rows. */
  readonly bytes: readonly number[];
}

/** The schema is a tree, written depth first, whose root stands first; a group has a chunk for each leaf. */
const columnsOf = (metadata: FileMetaData) => {
  const [root, ...elements] = metadata.schema;
  const found: { readonly own: readonly SchemaElement[]; readonly leaf: number; readonly leaves: number }[] =
    [];
  let leaf = 0;
  for (let at = 0; at < elements.length; ) {
    let end = at;
    for (let open = 1; open > 0; end++) {
      if (end >= elements.length) throw new Error("parquet schema ends early");
      open += (elements[end].num_children ?? 0) - 1;
    }
    const own = elements.slice(at, end);
    const leaves = own.filter(({ num_children }) => (num_children ?? 0) === 0).length;
    found.push({ own, leaf, leaves });
    leaf += leaves;
    at = end;
  }
  const { names, notes } = distinctNames(found.map(({ own }) => own[0].name.trim()));
  const columns = found.map(({ own, leaf, leaves }, place): StoredColumn => {
    const isNested = own.length > 1 || own[0].repetition_type === "REPEATED";
    const cells = cellsOf(own[0], isNested);
    const groups = metadata.row_groups.map((group) => ({
      ...group,
      columns: group.columns.slice(leaf, leaf + leaves),
    }));
    return {
      name: names[place],
      cells,
      metadata: {
        ...metadata,
        schema: [{ ...root, num_children: 1 }, cells.element, ...own.slice(1)],
        row_groups: groups,
      },
      bytes: groups.map((group) =>
        group.columns.reduce((sum, chunk) => sum + Number(chunk.meta_data?.total_compressed_size ?? 0), 0),
      ),
    };
  });
  return { columns, notes };
};

const chosenOf = (
  all: readonly StoredColumn[],
  name: string,
  wanted: readonly string[] | undefined,
): readonly StoredColumn[] => {
  if (wanted === undefined) return all;
  const byName = new Map(all.map((column) => [column.name, column]));
  return wanted.map((each) => {
    const found = byName.get(each);
    if (found !== undefined) return found;
    const names = [...byName.keys()];
    const text = tableTexts.noColumn(name, each, nearestName(each, names), names);
    throw new InputError("unknown-column", text);
  });
};

interface Run {
  readonly reader: Reader;
  readonly source: ParquetSource;
  readonly name: string;
  readonly rows: number;
  readonly missing: readonly string[];
  readonly pace: Pacer;
  /** In bytes. */
  readonly progress: { done: number; total: number };
}

const readColumn = async (run: Run, column: StoredColumn, asText: boolean): Promise<Column> => {
  if (column.cells.number === undefined || asText) return readTexts(run, column);
  const numbers = await readNumbers(run, column, column.cells.number);
  if (numbers !== undefined) return numbers;
  run.progress.total += column.bytes.reduce((sum, bytes) => sum + bytes, 0);
  return readTexts(run, column);
};

/** Undefined where a whole number is too long to be one. */
const readNumbers = async (
  run: Run,
  column: StoredColumn,
  numberOf: (cell: unknown) => number,
): Promise<Column | undefined> => {
  const { name, rows, missing } = run;
  const { isLong = false, unit } = column.cells;
  const values = await inWords(name, async () => new Float64Array(rows));
  const marks = new Set(missing.filter(isNumber).map(Number));
  let at = 0;
  let isTooLong = false;
  const take = (cell: unknown): void => {
    const value = cell === null || cell === undefined ? Number.NaN : numberOf(cell);
    if (isLong && Math.abs(value) > Number.MAX_SAFE_INTEGER) isTooLong = true;
    values[at++] = Number.isFinite(value) && !(marks.size > 0 && marks.has(value)) ? value : Number.NaN;
  };
  for (let group = 0; group < column.bytes.length; group++) {
    await readGroup(run, column, group, take);
    if (isTooLong) return undefined;
  }
  return { kind: "numeric", name: column.name, values, ...(unit === undefined ? {} : { unit }) };
};

const readTexts = async (run: Run, column: StoredColumn): Promise<Column> => {
  const { text } = column.cells;
  const build = cellColumn({ name: column.name, type: "text", missing: run.missing, keep: true });
  const take = (cell: unknown): void => build.append(cell === null || cell === undefined ? "" : text(cell));
  for (let group = 0; group < column.bytes.length; group++) await readGroup(run, column, group, take);
  return build.take();
};

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Every cell of a group of rows, in order. */
const readGroup = async (
  { reader, source, name, pace, progress }: Run,
  { cells, metadata, bytes }: StoredColumn,
  group: number,
  take: (cell: unknown) => void,
): Promise<void> => {
  const own = metadata.row_groups[group];
  const expected = Number(own.num_rows);
  await inWords(name, async () => {
    const chunks: ArrayLike<unknown>[] = [];
    if (expected > 0) {
      await reader.parquetRead({
        file: source,
        metadata: { ...metadata, row_groups: [own], num_rows: own.num_rows },
        compressors: reader.compressors,
        utf8: cells.isNested === true,
        geoparquet: false,
        parsers: {
          stringFromBytes: (text: Uint8Array) => textIn(text, name),
          jsonFromBytes: (text: Uint8Array) => textIn(text, name),
          ...(cells.isNested === true ? {} : { timestampFromNanoseconds: (nanos: bigint) => nanos }),
        },
        onChunk: ({ columnData }) => chunks.push(columnData),
      });
    }
    const read = chunks.reduce((sum, { length }) => sum + length, 0);
    if (read !== expected) throw new Error("parquet group of rows has another length than it says");
    for (const chunk of chunks) for (let row = 0; row < chunk.length; row++) take(chunk[row]);
  });
  progress.done += bytes[group];
  await pace.step({ ...progress, label: parquetReadTexts.reading });
};

const textIn = (bytes: Uint8Array | undefined, name: string): string | undefined => {
  if (bytes === undefined) return undefined;
  try {
    return decoder.decode(bytes);
  } catch (error) {
    const text = parquetReadTexts.broken(name, parquetReadTexts.notUtf8);
    throw new InputError("not-utf8", text, { cause: error });
  }
};
