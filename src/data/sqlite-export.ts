/** SQLite by Node itself (from 22.13 on, 22.5 behind a flag), for machines without DuckDB's extension. */
import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/** The part of `node:sqlite` that is used; Node 20, whose types these are built with, does not have it. */
interface Sqlite {
  readonly DatabaseSync: new (path: string, options: { readonly readOnly: boolean }) => Database;
}
interface Database {
  prepare(sql: string): { iterate(): Iterable<Readonly<Record<string, unknown>>> };
  close(): void;
}

const MODULE = "node:sqlite";

const loadSqlite = async (): Promise<Sqlite | undefined> => {
  try {
    return (await import(MODULE)) as Sqlite;
  } catch {
    return undefined;
  }
};

/** Writes the answer of the query, or the only table, as JSON lines; the names of the tables where it must be told. */
export const exportSqlite = async (
  path: string,
  query: string | undefined,
  answer: string,
): Promise<"written" | "no sqlite" | readonly string[]> => {
  const sqlite = await loadSqlite();
  if (sqlite === undefined) return "no sqlite";
  const database = new sqlite.DatabaseSync(path, { readOnly: true });
  try {
    let sql = query;
    if (sql === undefined) {
      const listing = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
      const tables = [...database.prepare(listing).iterate()].map(({ name }) => String(name));
      if (tables.length !== 1) return tables;
      sql = `SELECT * FROM "${tables[0].replaceAll('"', '""')}"`;
    }
    await pipeline(Readable.from(jsonLines(database.prepare(sql).iterate())), createWriteStream(answer));
    return "written";
  } finally {
    database.close();
  }
};

function* jsonLines(rows: Iterable<Readonly<Record<string, unknown>>>): Generator<string> {
  for (const row of rows) {
    const plain = Object.entries(row).map(([name, value]) => [
      name,
      typeof value === "bigint" ? String(value) : value instanceof Uint8Array ? null : value,
    ]);
    yield `${JSON.stringify(Object.fromEntries(plain))}\n`;
  }
}
