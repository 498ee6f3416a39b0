/** Arrow files and streams, Feather 2 among them, by the package apache-arrow. */
import { open } from "node:fs/promises";
import * as zlib from "node:zlib";
import type { DuckDBConnection, DuckDBType, DuckDBValue } from "@duckdb/node-api";
import type { DataType, RecordBatch } from "apache-arrow";
import { EnvironmentError, FairbedError, InputError } from "../core/errors.js";
import { requireCells } from "./arrow-cells.js";
import { requireFrames } from "./arrow-frames.js";
import { type Batch, type LoadSettings, loadedTexts, loadTable } from "./loaded-relation.js";
import { decompressLz4 } from "./lz4.js";
import { optionalPackage } from "./optional-package.js";
import { type TextSettings, typedColumn } from "./query-relation.js";
import { reasonOf } from "./reason.js";
import type { Relation } from "./relation.js";

type Arrow = typeof import("apache-arrow");
type DuckDB = typeof import("@duckdb/node-api");

export const arrowTexts = {
  broken: (file: string, reason: string) =>
    `${file} could not be read as an Arrow file (${reason}): get it again.`,
  noZstd: (file: string) =>
    `${file} is compressed with zstd, which this version of Node cannot open: use Node 22.15 or newer, or write the file with lz4.`,
  noCodec: (file: string) =>
    `${file} is compressed, which needs apache-arrow 21 or newer: run npm install apache-arrow@latest.`,
};

export const arrowRelation = async (
  connection: DuckDBConnection,
  path: string,
  name: string,
  { missing, asText }: TextSettings,
  load: LoadSettings,
): Promise<Relation> => {
  const arrow = await optionalPackage(
    () => import("apache-arrow"),
    "reading an Arrow or Feather file",
    "apache-arrow",
  );
  const duckdb = await import("@duckdb/node-api");
  openCompressed(arrow);
  const file = await open(path);
  try {
    await requireFrames(file);
    const reader = await (await arrow.RecordBatchReader.from(file)).open();
    const { fields } = reader.schema;
    const cells = fields.map(({ type }) => cellsOf(type, arrow, duckdb));
    const loaded = await loadTable(
      connection,
      name,
      fields.map(({ name: column }, index) => ({ name: column ?? "", ...cells[index] })),
      batchesOf(reader, cells, arrow),
      load,
    );
    const columns = loaded.columns.map(({ name: column, sql, type }) =>
      typedColumn(column, sql, type, asText.includes(column)),
    );
    const bytes = columns.filter((_, index) => cells[index].isBytes);
    const notes = [...loaded.notes, ...bytes.map((column) => loadedTexts.bytes(column.name))];
    return { from: loaded.from, columns, missing, notes };
  } catch (error) {
    if (error instanceof FairbedError || !(error instanceof Error)) throw error;
    if (/codec not found/.test(error.message)) {
      throw new EnvironmentError("arrow-codec", arrowTexts.noCodec(name));
    }
    if (error instanceof NoZstd) throw new EnvironmentError("arrow-codec", arrowTexts.noZstd(name));
    throw new InputError("broken-table", arrowTexts.broken(name, reasonOf(error)));
  } finally {
    // The package closes it too, at the end of some files.
    await file.close().catch(() => {});
  }
};

/** Feather files are compressed unless asked otherwise, and the package leaves decompression to its users. */
const openCompressed = (arrow: Arrow): void => {
  // The first versions that are allowed have no place to say so.
  if (!("compressionRegistry" in arrow)) return;
  const { compressionRegistry, CompressionType } = arrow;
  compressionRegistry.set(CompressionType.LZ4_FRAME, { decode: decompressLz4 });
  compressionRegistry.set(CompressionType.ZSTD, { decode: decompressZstd });
};

class NoZstd extends Error {}

const decompressZstd = (bytes: Uint8Array): Uint8Array => {
  const decompress: unknown = Reflect.get(zlib, "zstdDecompressSync");
  if (typeof decompress !== "function") throw new NoZstd();
  // A copy of its own: numbers are read from it in place, which needs them aligned.
  return Uint8Array.from(decompress(bytes) as Uint8Array);
};

/** How the cells of a column become DuckDB's. */
interface Cells {
  readonly given: DuckDBType;
  readonly type: string;
  readonly cell: (value: unknown) => DuckDBValue;
  readonly isBytes?: boolean | undefined;
}

const same = (value: unknown) => value as DuckDBValue;

const cellsOf = (type: DataType, arrow: Arrow, duckdb: DuckDB): Cells => {
  const { DataType: is, DateUnit } = arrow;
  const plain = (given: DuckDBType, cell: Cells["cell"] = same): Cells => ({
    given,
    type: String(given),
    cell,
  });
  if (is.isDictionary(type)) {
    // Whoever wrote a dictionary meant categories, also where they are numbers.
    const { cell } = cellsOf(type.dictionary, arrow, duckdb);
    return plain(duckdb.VARCHAR, (value) => {
      const inner = cell(value);
      return inner === null ? null : String(inner);
    });
  }
  if (is.isNull(type)) return plain(duckdb.DOUBLE, () => null);
  if (is.isInt(type)) {
    if (type.bitWidth === 64) return plain(type.isSigned ? duckdb.BIGINT : duckdb.UBIGINT);
    if (type.bitWidth === 32 && !type.isSigned)
      return plain(duckdb.BIGINT, (value) => BigInt(value as number));
    return plain(duckdb.INTEGER);
  }
  if (is.isFloat(type)) return plain(duckdb.DOUBLE);
  if (is.isBool(type)) return plain(duckdb.BOOLEAN);
  if (is.isDecimal(type)) return decimalCells(type, plain, duckdb);
  if (is.isDate(type) && type.unit === DateUnit.DAY) {
    return plain(duckdb.DATE, (value) => new duckdb.DuckDBDateValue(Math.floor((value as number) / DAY_MS)));
  }
  if (is.isDate(type) || is.isTimestamp(type)) {
    return plain(
      duckdb.TIMESTAMP,
      (value) => new duckdb.DuckDBTimestampValue(BigInt(Math.round((value as number) * 1000))),
    );
  }
  if (is.isTime(type)) {
    const perSecond = 1000 ** type.unit;
    return plain(
      duckdb.TIME,
      (value) => new duckdb.DuckDBTimeValue(BigInt(Math.round((Number(value) * 1e6) / perSecond))),
    );
  }
  if (/Binary/.test(String(type))) return { ...plain(duckdb.DOUBLE, () => null), isBytes: true };
  // Texts of any width, and lists and records as they are written.
  return plain(duckdb.VARCHAR, String);
};

const DAY_MS = 86_400_000;
const WIDEST_HUGEINT = 38;

const decimalCells = (
  { scale, precision }: { readonly scale: number; readonly precision: number },
  plain: (given: DuckDBType, cell: Cells["cell"]) => Cells,
  { DOUBLE, HUGEINT }: DuckDB,
): Cells => {
  const whole = (value: unknown) => wholeOf(value as Uint32Array);
  if (scale === 0 && precision <= WIDEST_HUGEINT) return plain(HUGEINT, whole);
  // Through its digits, so that 0.1 is the 0.1 of a text.
  return plain(DOUBLE, (value) => Number(`${whole(value)}e${-scale}`));
};

/** Words of 32 bits, the lowest first, in two's complement. */
const wholeOf = (words: Uint32Array): bigint => {
  let total = 0n;
  for (let at = words.length - 1; at >= 0; at--) total = (total << 32n) | BigInt(words[at]);
  return BigInt.asIntN(32 * words.length, total);
};

const SOME_ROWS = 2048;

async function* batchesOf(
  reader: AsyncIterable<RecordBatch>,
  cells: readonly Cells[],
  arrow: Arrow,
): AsyncGenerator<Batch> {
  for await (const batch of reader) {
    for (const child of batch.data.children) requireCells(child, arrow);
    const vectors = cells.map((_, column) => batch.getChildAt(column));
    // A batch may be the whole file: only some of its rows at a time are boxed.
    for (let start = 0; start < batch.numRows; start += SOME_ROWS) {
      const rows = Math.min(SOME_ROWS, batch.numRows - start);
      yield cells.map(({ cell }, column) => {
        const vector = vectors[column];
        const values = new Array<DuckDBValue>(rows);
        for (let row = 0; row < rows; row++) {
          const value: unknown = vector?.get(start + row) ?? null;
          values[row] = value === null ? null : cell(value);
        }
        return values;
      });
    }
  }
}
