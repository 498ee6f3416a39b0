/** Files that tests write, in a folder that goes away with them. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll } from "vitest";
import type { Column, Table } from "../../src/tables/table.js";

export const temporaryFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), "fairbed-data-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  return {
    folder,
    at: (name: string) => join(folder, name),
    file: (name: string, contents: string | Uint8Array): string => {
      writeFileSync(join(folder, name), contents);
      return join(folder, name);
    },
  };
};

/** A column's cells as numbers and texts, null where missing. */
export const cells = (column: Column): readonly (number | string | null)[] =>
  column.kind === "numeric"
    ? Array.from(column.values, (value) => (Number.isNaN(value) ? null : value))
    : Array.from(column.codes, (code) => (code < 0 ? null : column.levels[code]));

export const contents = (table: Table) =>
  Object.fromEntries(table.columns.map((column) => [column.name, cells(column)]));

export const unpacked = (base64: string): Buffer => gunzipSync(Buffer.from(base64, "base64"));
