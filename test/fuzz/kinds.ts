/**
 * What is damaged: small files of every kind that a table is read from, made here. Every cell that is a text has
 * `SECRET` in it, so that a message that repeats a cell is recognised; names of columns have not.
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { sheetRows, workbookParts, zipOf } from "../sources/workbook.js";

export const SECRET = "qxz";

export interface FuzzKind {
  readonly name: string;
  /** Of the files, e.g. `.csv`. */
  readonly ending: string;
  /** Read in a process of its own. */
  readonly isApart?: boolean;
  /** Whole files, which damage is done to; `made` writes one by a program that needs a path. */
  files(
    made: (write: (path: string) => Promise<unknown>) => Promise<Uint8Array>,
  ): Promise<readonly Uint8Array[]>;
}

const encoder = new TextEncoder();
const bytes = (text: string): Uint8Array => encoder.encode(text);
const numbers = Array.from({ length: 12 }, (_, row) => row);

/** A table as lines, in a dialect of its own. */
const lines = (delimiter: string, end: string, quoted: (text: string) => string): string =>
  [
    ["id", "age", "sex", "note", "day"],
    ...numbers.map((row) => [
      String(row),
      (20 + row * 1.5).toString(),
      row % 2 === 0 ? `f${SECRET}` : `m${SECRET}`,
      quoted(`${SECRET}${row}, it's a "${SECRET}"${row % 5 === 0 ? `\n${SECRET}` : ""}`),
      row % 4 === 0 ? "" : `2020-01-${10 + row}`,
    ]),
  ]
    .map((row) => row.join(delimiter) + end)
    .join("");

const doubled = (text: string): string => `"${text.replaceAll('"', '""')}"`;

const csv: FuzzKind = {
  name: "csv",
  ending: ".csv",
  files: async () => [
    bytes(lines(",", "\n", doubled)),
    bytes(lines(";", "\r\n", doubled)),
    bytes(lines("\t", "\n", doubled)),
    bytes(`\ufeff${lines("|", "\n", doubled)}`),
    bytes(lines(",", "\n", (text) => `"${text.replaceAll('"', '\\"')}"`)),
    bytes(`name\n${numbers.map((row) => `${SECRET}${row}`).join("\n")}`),
    bytes(`a b c\n${numbers.map((row) => `${row} ${row}.5 ${SECRET}`).join("\n")}`),
    Buffer.from(`name,town\n${SECRET},M\xfcnchen ${SECRET}\n`, "latin1"),
    Buffer.from(`\ufeff${lines(",", "\n", doubled)}`, "utf16le"),
    gzipSync(lines(",", "\n", doubled)),
  ],
};

const json: FuzzKind = {
  name: "json",
  ending: ".jsonl",
  files: async () => {
    const records = numbers.map((row) => ({
      id: row,
      share: row / 3,
      sex: row % 2 === 0 ? `f${SECRET}` : null,
      more: { inner: [row, `${SECRET}${row}`] },
      day: `2020-01-${10 + row}`,
    }));
    const each = `${records.map((record) => JSON.stringify(record)).join("\n")}\n`;
    return [bytes(each), bytes(JSON.stringify(records, undefined, 1)), gzipSync(each)];
  },
};

/** The same table in a few types, as DuckDB's SQL. */
const ROWS = `SELECT range AS id, 20 + range * 1.5 AS age, CASE WHEN range % 2 = 0 THEN 'f${SECRET}' END AS sex,
  '${SECRET}' || range AS note, DATE '2020-01-10' + range::INTEGER AS day, TIMESTAMPTZ '2020-01-10 00:00:00+00' AS seen,
  [range, 2] AS list, {'a': range, 'b': '${SECRET}'} AS record FROM range(12)`;

const duckdbRun = async (path: string, ...statements: readonly string[]): Promise<void> => {
  const { DuckDBInstance } = await import("@duckdb/node-api");
  const instance = await DuckDBInstance.create(path);
  const connection = await instance.connect();
  for (const sql of statements) await connection.run(sql);
  connection.closeSync();
  instance.closeSync();
};

const parquet: FuzzKind = {
  name: "parquet",
  ending: ".parquet",
  files: (made) =>
    Promise.all(
      ["", ", COMPRESSION zstd", ", COMPRESSION uncompressed, PARQUET_VERSION v2"].map((options) =>
        made((path) => duckdbRun(":memory:", `COPY (${ROWS}) TO '${path}' (FORMAT parquet${options})`)),
      ),
    ),
};

const duckdb: FuzzKind = {
  name: "duckdb",
  ending: ".duckdb",
  isApart: true,
  files: (made) =>
    Promise.all([
      made((path) => duckdbRun(path, `CREATE TABLE people AS ${ROWS}`)),
      made((path) => duckdbRun(path, `CREATE TABLE people AS ${ROWS}`, "CREATE INDEX i ON people (id)")),
    ]),
};

const arrow: FuzzKind = {
  name: "arrow",
  ending: ".arrow",
  isApart: true,
  files: async () => {
    const { Bool, Dictionary, Int8, Table, tableToIPC, Utf8, vectorFromArray } = await import("apache-arrow");
    const table = new Table({
      id: vectorFromArray(Int32Array.from(numbers)),
      share: vectorFromArray(Float64Array.from(numbers, (row) => row / 3)),
      big: vectorFromArray(BigInt64Array.from(numbers, BigInt)),
      sex: vectorFromArray(
        numbers.map((row) => (row % 2 === 0 ? `f${SECRET}` : null)),
        new Dictionary(new Utf8(), new Int8()),
      ),
      note: vectorFromArray(
        numbers.map((row) => `${SECRET}${row}`),
        new Utf8(),
      ),
      member: vectorFromArray(
        numbers.map((row) => row % 3 === 0),
        new Bool(),
      ),
      at: vectorFromArray(numbers.map((row) => new Date(1.5e12 + row))),
      list: vectorFromArray(numbers.map((row) => [row, 2])),
    });
    return [tableToIPC(table, "file"), tableToIPC(table, "stream")];
  },
};

const sqlite: FuzzKind = {
  name: "sqlite",
  ending: ".sqlite",
  isApart: true,
  files: async (made) => {
    const { default: Database } = await import("libsql");
    const rows = numbers.map(
      (row) => `(${row}, ${20 + row * 1.5}, 'f${SECRET}', '${SECRET.repeat(row)}', x'00ff', NULL)`,
    );
    const sql = `CREATE TABLE people (id INTEGER PRIMARY KEY, age, sex TEXT, note, photo, empty); CREATE INDEX i ON people (sex);
      INSERT INTO people VALUES ${rows.join(", ")}`;
    return Promise.all(
      ["", "PRAGMA page_size = 512;", "PRAGMA encoding = 'UTF-16le';"].map((first) =>
        made(async (path) => {
          const database = new Database(path);
          database.exec(first + sql);
          database.close();
        }),
      ),
    );
  },
};

const arff: FuzzKind = {
  name: "arff",
  ending: ".arff",
  files: async () => {
    const header = `% about\n@relation 'made up'\n@attribute id numeric\n@attribute "the sex" {f${SECRET},'m ${SECRET}'}\n@attribute note string\n@attribute day date "yyyy-MM-dd"\n@data\n`;
    const dense = numbers.map((row) => `${row},'m ${SECRET}',"${SECRET}, \\"${row}",2020-01-${10 + row}\n`);
    const sparse = numbers.map((row) => `{0 ${row}, 2 '${SECRET} x'}\n`);
    return [
      bytes(header + dense.join("")),
      bytes(header + sparse.join("")),
      gzipSync(header + dense.join("")),
    ];
  },
};

const xlsx: FuzzKind = {
  name: "xlsx",
  ending: ".xlsx",
  files: async () => {
    const rows = sheetRows([
      ["id", "sex", "note", "day"],
      ...numbers.map((row) => [row, `f${SECRET}`, `${SECRET} & ${row}`, row % 3 === 0 ? null : 43831 + row]),
    ]).replaceAll(/<c><v>(43\d+)/g, '<c s="1"><v>$1');
    const shared = rows.replaceAll(/<c t="inlineStr"><is><t>f.*?<\/is><\/c>/g, '<c t="s"><v>0</v></c>');
    const styles = '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>';
    const strings = `<si><t>f${SECRET}</t></si>`;
    const parts = workbookParts({ people: shared, other: rows }, { styles, strings });
    return [zipOf(parts), zipOf(parts, { stored: true })];
  },
};

/** Every kind that is read; a reader that is added gets an entry. */
export const FUZZ_KINDS: readonly FuzzKind[] = [csv, json, arff, xlsx, parquet, arrow, sqlite, duckdb];

/** The whole files of a kind. */
export const filesOf = async ({ files, ending }: FuzzKind): Promise<readonly Uint8Array[]> => {
  const folder = await mkdtemp(join(tmpdir(), "fairbed-fuzz-"));
  try {
    let count = 0;
    return await files(async (write) => {
      const path = join(folder, `${count++}${ending}`);
      await write(path);
      return readFile(path);
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};
