/** What a file is, from its first bytes: names and endings lie. */
import { createReadStream, type ReadStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import { createGunzip } from "node:zlib";
import { InputError } from "../core/errors.js";

export type FileKind = "text" | "json" | "parquet" | "arrow" | "duckdb" | "sqlite";

export interface FileStart {
  readonly kind: FileKind;
  readonly gzip: boolean;
  /** The beginning as text, without a byte order mark; "" for what is no text. */
  readonly text: string;
  /** Whether `text` is all there is. */
  readonly whole: boolean;
}

export const fileTexts = {
  missing: (file: string) => `there is no file ${file}: check the path.`,
  folder: (file: string) => `${file} is a folder: name a table in it.`,
  unreadable: (file: string, reason: string) =>
    `${file} could not be read (${reason}): check who may read it.`,
  empty: (file: string) => `${file} is empty: give a table with at least one row.`,
  notUtf8: (file: string) =>
    `${file} is not UTF-8 text: convert it, for example with iconv -f latin1 -t utf-8 ${file}.`,
  utf16: (file: string) =>
    `${file} is UTF-16 and not UTF-8 text: convert it, for example with iconv -f utf-16 -t utf-8 ${file}.`,
  notParquet: (file: string) =>
    `${file} is no Parquet file, whatever its name says: get it again, or rename it if it is another kind of table.`,
  noTable: (file: string, looksLike: string) =>
    `${file} is no table (it looks like ${looksLike}): give CSV, Parquet, JSON lines, Arrow, or a DuckDB or SQLite file.`,
  brokenGzip: (file: string) => `${file} is not whole: its gzip data end early or are damaged; get it again.`,
};

/** Enough for a few lines of a table of ten thousand columns. */
const SAMPLE_BYTES = 4 * 1024 * 1024;

/** `file` is what the file is called in messages. */
export const inspectFile = async (path: string, file = path): Promise<FileStart> => {
  await requireFile(path, file);
  const head = await firstBytes(createReadStream(path, { end: 1023 }));
  if (head.length === 0) throw new InputError("empty-table", fileTexts.empty(file));
  const binary = binaryKind(head);
  if (binary !== undefined) return { kind: binary, gzip: false, text: "", whole: false };
  if (/\.parquet$/i.test(file)) throw new InputError("not-parquet", fileTexts.notParquet(file));
  const gzip = head[0] === 0x1f && head[1] === 0x8b;
  const { bytes, whole } = await sampleOf(path, file, gzip);
  if (bytes.length === 0) throw new InputError("empty-table", fileTexts.empty(file));
  const text = decode(file, bytes, whole);
  return { kind: /^\s*[[{]/.test(text) && isJson(text) ? "json" : "text", gzip, text, whole };
};

const requireFile = async (path: string, file: string): Promise<void> => {
  try {
    if ((await stat(path)).isDirectory()) throw new InputError("table-is-folder", fileTexts.folder(file));
    await (await open(path)).close();
  } catch (error) {
    if (error instanceof InputError) throw error;
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    const text = /ENOENT|ENOTDIR/.test(code) ? fileTexts.missing(file) : fileTexts.unreadable(file, code);
    throw new InputError(/ENOENT|ENOTDIR/.test(code) ? "no-file" : "unreadable-file", text, { cause: error });
  }
};

const firstBytes = async (stream: ReadStream): Promise<Buffer> => {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part as Buffer);
  return Buffer.concat(parts);
};

const binaryKind = (head: Buffer): FileKind | undefined => {
  const startsWith = (text: string, at = 0) => head.toString("latin1", at, at + text.length) === text;
  if (startsWith("PAR1")) return "parquet";
  if (startsWith("ARROW1")) return "arrow";
  // A stream of Arrow messages begins with a marker that no text begins with.
  if (head.length > 8 && head.readUInt32LE(0) === 0xffffffff) return "arrow";
  if (startsWith("SQLite format 3\0")) return "sqlite";
  if (startsWith("DUCK", 8)) return "duckdb";
  return undefined;
};

const sampleOf = async (path: string, file: string, gzip: boolean) => {
  const source = createReadStream(path);
  const stream = gzip ? source.pipe(createGunzip()) : source;
  // An error of the file's own stream does not pass through a pipe by itself.
  if (gzip) source.on("error", (error) => stream.destroy(error));
  const parts: Buffer[] = [];
  let size = 0;
  try {
    for await (const part of stream) {
      parts.push(part as Buffer);
      size += (part as Buffer).length;
      if (size > SAMPLE_BYTES) break;
    }
  } catch (error) {
    throw new InputError("broken-gzip", fileTexts.brokenGzip(file), { cause: error });
  } finally {
    source.destroy();
  }
  return { bytes: Buffer.concat(parts), whole: size <= SAMPLE_BYTES };
};

const decode = (file: string, bytes: Buffer, whole: boolean): string => {
  const isUtf16 =
    (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff && bytes.length > 2);
  if (isUtf16) throw new InputError("not-utf8", fileTexts.utf16(file));
  const looksLike = binaryLook(bytes);
  if (looksLike !== undefined) throw new InputError("no-table", fileTexts.noTable(file, looksLike));
  let text: string;
  try {
    // `stream` leaves out a character that the end of the sample cuts.
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: !whole });
  } catch (error) {
    throw new InputError("not-utf8", fileTexts.notUtf8(file), { cause: error });
  }
  if (/^\s*<(!doctype|html|\?xml|svg)/i.test(text)) {
    throw new InputError("no-table", fileTexts.noTable(file, "a web page or XML"));
  }
  return text;
};

/** Whether a text file is UTF-8 to its end; true for what is no text or cannot be read. */
export const isUtf8 = async (file: string): Promise<boolean> => {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  try {
    const { kind, gzip } = await inspectFile(file);
    if (kind !== "text" && kind !== "json") return true;
    const source = createReadStream(file);
    for await (const part of gzip ? source.pipe(createGunzip()) : source) {
      decoder.decode(part as Buffer, { stream: true });
    }
    decoder.decode();
    return true;
  } catch (error) {
    return !(error instanceof TypeError);
  }
};

const MAGIC: readonly (readonly [string, string])[] = [
  ["\x89PNG", "a picture"],
  ["\xff\xd8\xff", "a picture"],
  ["GIF8", "a picture"],
  ["%PDF", "a PDF document"],
  ["PK\x03\x04", "a zip archive or an Excel workbook"],
  ["\x28\xb5\x2f\xfd", "zstd-compressed data"],
  ["FEA1", "the first Feather format, which is no longer written: save it again as Feather 2 or Parquet"],
  ["BZh91AY&SY", "bzip2-compressed data"],
];

const binaryLook = (bytes: Buffer): string | undefined => {
  const head = bytes.toString("latin1", 0, 16);
  const known = MAGIC.find(([magic]) => head.startsWith(magic))?.[1];
  return known ?? (bytes.includes(0) ? "binary data" : undefined);
};

/** A CSV may begin with a bracket too: only a first line or a whole text that parses is JSON. */
const isJson = (text: string): boolean => {
  const trimmed = text.trimStart();
  if (/^\[\s*(\{|\]|$)/.test(trimmed)) return true;
  if (!trimmed.startsWith("{")) return false;
  return /^\{\s*("|\}|$)/.test(trimmed);
};
