/**
 * A table from a `Blob` or a `File`, as a page gets it when somebody drops one: CSV and ARFF piece by piece, so that the
 * text is never held as a whole, and Parquet column by column.
 */
import { EnvironmentError, InputError } from "../core/errors.js";
import type { RunOptions } from "../core/options.js";
import { arffRows } from "./arff.js";
import { type TextPieces, withCsvRows } from "./csv-rows.js";
import { dialectTexts } from "./dialect.js";
import { isArff } from "./is-arff.js";
import { readParquet } from "./parquet.js";
import type { ParseTableOptions } from "./parse-table.js";
import type { Table } from "./table.js";
import { type TextRows, tableOfRows } from "./text-rows.js";

/** What of a `Blob` or a `File` is used: the types then need neither a browser's declarations nor Node's. */
export interface TableFile {
  /** In bytes. */
  readonly size: number;
  /** Of a `File`: what the table is called in messages unless another name is given. */
  readonly name?: string | undefined;
  slice(start: number, end: number): { arrayBuffer(): Promise<ArrayBuffer> };
}

export interface ReadTableFileOptions extends ParseTableOptions {
  /** How the letters are encoded, such as `windows-1252`; found unless given. */
  readonly encoding?: string | undefined;
}

export const tableFileTexts = {
  kind: (name: string) =>
    `${name} is no text, and a page reads CSV, ARFF and Parquet only: convert it to one of them first, or read it in Node.`,
  encoding: (name: string, encoding: string) =>
    `${name} is not ${encoding} text, or there is no such encoding: name another one, or leave it out to have it found.`,
  unreadable: (name: string, reason: string) =>
    `${name} could not be read (${reason}): choose it again, since it may have been changed, moved or closed meanwhile.`,
  reading: "reading",
  again: "reading again",
};

const PARQUET = [0x50, 0x41, 0x52, 0x31];
/** Zip and so xlsx, gzip, Arrow, SQLite: what a table may be that is not text. */
const BINARY = [
  [0x50, 0x4b],
  [0x1f, 0x8b],
  [0x41, 0x52, 0x52, 0x4f, 0x57],
  [0x53, 0x51, 0x4c, 0x69, 0x74, 0x65],
];

/** The beginning that the separator, the header and the types are found from, in bytes. */
const SAMPLE = 4 * 1024 * 1024;
/** What is fetched at once. */
const READ = 1024 * 1024;
/** What is decoded at once: few enough characters that a page can answer in between. */
const PIECE = 64 * 1024;

const WINDOWS_1252 = "windows-1252";

/**
 * The same as `readTable` of a file in Node, for a `Blob` or a `File`: CSV, with its separator, header and encoding found,
 * ARFF or Parquet (which needs the packages hyparquet and hyparquet-compressors). Memory grows with the columns and not
 * with the text. `onProgress` counts bytes.
 *
 * @example
 * ```ts
 * import { readTableFile } from "fairbed/tables";
 *
 * const file = new Blob(["id;age;sex\n007;31;f\n008;?;m\n"]);
 * const table = await readTableFile(file, { asText: ["id"] });
 * console.log(table.rows, table.columns.map(({ name, kind }) => `${name} is ${kind}`).join(", "));
 * // 2 id is categorical, age is numeric, sex is categorical
 * ```
 */
export const readTableFile = async (file: TableFile, options: ReadTableFileOptions = {}): Promise<Table> => {
  const name = options.name ?? file.name ?? "the table";
  options.signal?.throwIfAborted();
  const start = await bytesBetween(file, name, 0, Math.min(SAMPLE, file.size));
  if (startsWith(start, PARQUET)) {
    const bytes = (from: number, to = file.size) => file.slice(from, to).arrayBuffer();
    const source = {
      byteLength: file.size,
      slice: (from: number, to?: number) => readable(name, () => bytes(from, to)),
    };
    return readParquet(source, { ...options, name });
  }
  if (BINARY.some((magic) => startsWith(start, magic))) {
    throw new InputError("table-kind", tableFileTexts.kind(name));
  }
  const { encoding: asked } = options;
  const marked = markedEncoding(start);
  // Only text of two bytes a letter has zeros in it.
  if (asked === undefined && marked === "utf-8" && start.includes(0)) {
    throw new InputError("table-kind", tableFileTexts.kind(name));
  }
  try {
    return await readText({ file, name, start, encoding: asked ?? marked }, options);
  } catch (error) {
    const isOther = error instanceof InputError && error.code === "encoding";
    if (!isOther || asked !== undefined || marked !== "utf-8") throw error;
    const table = await readText({ file, name, start, encoding: WINDOWS_1252 }, options);
    return { ...table, notes: [dialectTexts.encoding(WINDOWS_1252), ...table.notes] };
  }
};

const startsWith = (bytes: Uint8Array, magic: readonly number[]): boolean =>
  magic.every((byte, at) => bytes[at] === byte);

const markedEncoding = (bytes: Uint8Array): string => {
  if (startsWith(bytes, [0xff, 0xfe])) return "utf-16le";
  return startsWith(bytes, [0xfe, 0xff]) ? "utf-16be" : "utf-8";
};

const bytesBetween = async (file: TableFile, name: string, start: number, end: number): Promise<Uint8Array> =>
  new Uint8Array(await readable(name, () => file.slice(start, end).arrayBuffer()));

const readable = async (name: string, read: () => Promise<ArrayBuffer>): Promise<ArrayBuffer> => {
  try {
    return await read();
  } catch (error) {
    const reason = error instanceof Error ? error.name : String(error);
    throw new EnvironmentError("unreadable-file", tableFileTexts.unreadable(name, reason), { cause: error });
  }
};

interface EncodedFile {
  readonly file: TableFile;
  readonly name: string;
  /** Its first bytes. */
  readonly start: Uint8Array;
  readonly encoding: string;
}

const readText = async (encoded: EncodedFile, options: ReadTableFileOptions): Promise<Table> => {
  const { file, name, start } = encoded;
  const whole = start.length === file.size;
  const progress = { bytes: 0, passes: 0 };
  const text: TextPieces = {
    start: pieceDecoder(encoded)(start, whole),
    whole,
    pieces: () => piecesOf(encoded, progress),
  };
  const { onProgress } = options;
  const run: RunOptions = {
    signal: options.signal,
    onProgress:
      onProgress === undefined
        ? undefined
        : () => {
            const label = progress.passes > 1 ? tableFileTexts.again : tableFileTexts.reading;
            return onProgress({ done: progress.bytes, total: file.size, label });
          },
  };
  const use = (rows: TextRows) => tableOfRows(rows, { ...options, ...run, name });
  return isArff(text.start)
    ? use(await arffRows(name, text, options))
    : withCsvRows(name, text, options, use);
};

/** Bytes to text, piece by piece, without a byte order mark; throws where they are no such text. */
const pieceDecoder = ({ name, encoding }: EncodedFile) => {
  const failed = (cause: unknown) =>
    new InputError("encoding", tableFileTexts.encoding(name, encoding), { cause });
  let decoder: TextDecoder;
  try {
    decoder = new TextDecoder(encoding, { fatal: true });
  } catch (error) {
    throw failed(error);
  }
  return (bytes: Uint8Array, isLast: boolean): string => {
    try {
      return decoder.decode(bytes, { stream: !isLast });
    } catch (error) {
      throw failed(error);
    }
  };
};

async function* piecesOf(
  encoded: EncodedFile,
  progress: { bytes: number; passes: number },
): AsyncGenerator<string, void, undefined> {
  const { file, name } = encoded;
  const decode = pieceDecoder(encoded);
  progress.bytes = 0;
  progress.passes += 1;
  for (let at = 0; at < file.size; at += READ) {
    const bytes = await bytesBetween(file, name, at, Math.min(at + READ, file.size));
    for (let from = 0; from < bytes.length; from += PIECE) {
      const piece = bytes.subarray(from, from + PIECE);
      progress.bytes += piece.length;
      yield decode(piece, false);
    }
  }
  const rest = decode(new Uint8Array(0), true);
  if (rest !== "") yield rest;
}
