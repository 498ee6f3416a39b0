/**
 * What is damaged: small files of every kind that a table is read from, made here. Every cell that is a text has
 * `SECRET` in it, so that a message that repeats a cell is recognised; names of columns have not.
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

export const SECRET = "qxz";

export interface FuzzKind {
  readonly name: string;
  /** Of the files, e.g. `.csv`. */
  readonly ending: string;
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

/** Every kind that is read; a reader that is added gets an entry. */
export const FUZZ_KINDS: readonly FuzzKind[] = [csv, json];

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
