/** What a file is, from its first bytes: names and endings lie. */
import { createReadStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import { InputError } from "../core/errors.js";
import { isArff } from "../tables/is-arff.js";
import { fileTexts, openError } from "./file-texts.js";
import { bytesOf, decoderOf, encodingNamed, encodingTexts, textOf, WINDOWS_1252 } from "./text-encoding.js";

export { fileTexts } from "./file-texts.js";

export type FileKind = "text" | "arff" | "json" | "xlsx" | "parquet" | "arrow" | "duckdb" | "sqlite";

export interface FileStart {
  readonly kind: FileKind;
  readonly gzip: boolean;
  /** The beginning as text, without a byte order mark; "" for what is no text. */
  readonly text: string;
  /** Whether `text` is all there is. */
  readonly whole: boolean;
  /** Of a text. */
  readonly encoding: string;
}

/** Enough for a few lines of a table of ten thousand columns. */
const SAMPLE_BYTES = 4 * 1024 * 1024;

/** `file` is what the file is called in messages, `encoding` that of its text, found unless given. */
export const inspectFile = async (path: string, file = path, encoding?: string): Promise<FileStart> => {
  const asked = encoding === undefined ? undefined : encodingNamed(encoding);
  await requireFile(path, file);
  const head = await firstBytes(path);
  if (head.length === 0) throw new InputError("empty-table", fileTexts.empty(file));
  const binary = binaryKind(head);
  const noText = { gzip: false, text: "", whole: false, encoding: "" };
  if (binary !== undefined) return { kind: binary, ...noText };
  if (/\.parquet$/i.test(file)) throw new InputError("not-parquet", fileTexts.notParquet(file));
  const gzip = head[0] === 0x1f && head[1] === 0x8b;
  const { bytes, whole } = await sampleOf(path, file, gzip);
  if (bytes.length === 0) throw new InputError("empty-table", fileTexts.empty(file));
  const start = decode(file, bytes, whole, asked);
  return { kind: textKind(start.text), gzip, whole, ...start };
};

const textKind = (text: string): FileKind => {
  if (isArff(text)) return "arff";
  return /^\s*[[{]/.test(text) && isJson(text) ? "json" : "text";
};

const requireFile = async (path: string, file: string): Promise<void> => {
  try {
    if ((await stat(path)).isDirectory()) throw new InputError("table-is-folder", fileTexts.folder(file));
    await (await open(path)).close();
  } catch (error) {
    throw error instanceof InputError ? error : openError(error, file);
  }
};

const firstBytes = async (path: string): Promise<Buffer> => {
  const parts: Buffer[] = [];
  for await (const part of createReadStream(path, { end: 1023 })) parts.push(part as Buffer);
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
  if (startsWith("PK\x03\x04")) return "xlsx";
  return undefined;
};

const sampleOf = async (path: string, name: string, gzip: boolean) => {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of bytesOf({ path, name, gzip })) {
    parts.push(part);
    size += part.length;
    if (size > SAMPLE_BYTES) break;
  }
  return { bytes: Buffer.concat(parts), whole: size <= SAMPLE_BYTES };
};

/** The encoding that a byte order mark names. */
const markedEncoding = (bytes: Buffer): string | undefined => {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff && bytes.length > 2) return "utf-16be";
  return undefined;
};

/** Tab, the ends of lines, form feed, and what some systems end a text with. */
const TEXT_CONTROLS = new Set([0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x1a]);

const decode = (file: string, bytes: Buffer, whole: boolean, asked: string | undefined) => {
  const encoding = asked ?? markedEncoding(bytes) ?? "utf-8";
  const looksLike = binaryLook(bytes, encoding.startsWith("utf-16"));
  if (looksLike !== undefined) throw new InputError("no-table", fileTexts.noTable(file, looksLike));
  const decoded = (by: string) => ({ encoding: by, text: decoderOf(by).decode(bytes, whole) });
  let found: { readonly encoding: string; readonly text: string };
  try {
    found = decoded(encoding);
  } catch {
    if (asked !== undefined || encoding !== "utf-8") {
      throw new InputError("not-utf8", encodingTexts.not(file, encoding));
    }
    // Text of any kind has no control characters but these, and other files have them soon.
    if (bytes.some((byte) => byte < 0x20 && !TEXT_CONTROLS.has(byte))) {
      throw new InputError("no-table", fileTexts.noTable(file, "binary data"));
    }
    found = decoded(WINDOWS_1252);
  }
  if (/^\s*<(!doctype|html|\?xml|svg)/i.test(found.text)) {
    throw new InputError("no-table", fileTexts.noTable(file, "a web page or XML"));
  }
  return found;
};

/** Whether a text file is UTF-8 to its end; true for what is no text or cannot be read. */
export const isUtf8 = async (path: string): Promise<boolean> => {
  try {
    const { kind, gzip, encoding } = await inspectFile(path);
    if (kind !== "text" && kind !== "json") return true;
    if (encoding !== "utf-8") return false;
    for await (const _ of textOf({ path, name: path, gzip }, "utf-8", false));
    return true;
  } catch (error) {
    return !(error instanceof InputError && error.code === "not-utf8");
  }
};

const MAGIC: readonly (readonly [string, string])[] = [
  ["\x89PNG", "a picture"],
  ["\xff\xd8\xff", "a picture"],
  ["GIF8", "a picture"],
  ["%PDF", "a PDF document"],
  ["PK\x05\x06", "an empty zip archive"],
  ["\xd0\xcf\x11\xe0", "a workbook of an old Excel, or one with a password: save it as .xlsx"],
  ["\x28\xb5\x2f\xfd", "zstd-compressed data"],
  ["FEA1", "the first Feather format, which is no longer written: save it again as Feather 2 or Parquet"],
  ["BZh91AY&SY", "bzip2-compressed data"],
];

const binaryLook = (bytes: Buffer, isUtf16: boolean): string | undefined => {
  const head = bytes.toString("latin1", 0, 16);
  const known = MAGIC.find(([magic]) => head.startsWith(magic))?.[1];
  return known ?? (bytes.includes(0) && !isUtf16 ? "binary data" : undefined);
};

/** A CSV may begin with a bracket too: only a first line or a whole text that parses is JSON. */
const isJson = (text: string): boolean => {
  const trimmed = text.trimStart();
  if (/^\[\s*(\{|\]|$)/.test(trimmed)) return true;
  if (!trimmed.startsWith("{")) return false;
  return /^\{\s*("|\}|$)/.test(trimmed);
};
