/** `readTable` in a page, where there are no files: it fetches an address and reads it as CSV or ARFF. */
import { EnvironmentError, InputError } from "../core/errors.js";
import { dialectTexts } from "./dialect.js";
import { type ParseTableOptions, parseTable } from "./parse-table.js";
import type { Table } from "./table.js";

export const pageTexts = {
  query:
    "a page has no database engine, so `query` cannot be used here: read the whole table, or do it in Node.",
  kind: (address: string) =>
    `${address} is no text, and a page reads CSV and ARFF only: convert it to CSV first, or read it in Node.`,
  encoding: (address: string, encoding: string) =>
    `${address} is not ${encoding} text, or there is no such encoding: name another one, or leave it out to have it found.`,
  unreachable: (address: string, reason: string) =>
    `${address} could not be fetched (${reason}): check the address, and that its server lets this page read it.`,
};

/** Zip and so xlsx, Parquet, gzip, Arrow, SQLite: what a table may be that is not text. */
const BINARY = [
  [0x50, 0x4b],
  [0x50, 0x41, 0x52, 0x31],
  [0x1f, 0x8b],
  [0x41, 0x52, 0x52, 0x4f, 0x57],
  [0x53, 0x51, 0x4c, 0x69, 0x74, 0x65],
];

/** The same call as in Node, for a web address of a CSV file; `parseTable(text)` where the text is there already. */
export const readTable = async (
  address: string,
  options: ParseTableOptions & {
    readonly query?: string | undefined;
    /** How the letters are encoded, such as `windows-1252`; found unless given. */
    readonly encoding?: string | undefined;
  } = {},
): Promise<Table> => {
  if (options.query !== undefined) throw new InputError("query", pageTexts.query);
  const response = await fetch(address).catch((error: unknown) => {
    throw new EnvironmentError("fetch", pageTexts.unreachable(address, String(error)), { cause: error });
  });
  if (!response.ok) {
    throw new EnvironmentError("fetch", pageTexts.unreachable(address, `status ${response.status}`));
  }
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (BINARY.some((start) => start.every((byte, at) => bytes[at] === byte))) {
    throw new InputError("table-kind", pageTexts.kind(address));
  }
  const { text, notes } = decode(bytes, address, options.encoding);
  const table = await parseTable(text, { ...options, name: options.name ?? address });
  return { ...table, notes: [...notes, ...table.notes] };
};

/** By the same rules as of a file: what was asked for, what its mark says, UTF-8, or else Windows-1252. */
const decode = (bytes: Uint8Array, address: string, asked: string | undefined) => {
  const isUtf16 = (first: number, second: number) => bytes[0] === first && bytes[1] === second;
  const marked = isUtf16(0xff, 0xfe) ? "utf-16le" : isUtf16(0xfe, 0xff) ? "utf-16be" : "utf-8";
  try {
    return { text: new TextDecoder(asked ?? marked, { fatal: true }).decode(bytes), notes: [] };
  } catch (error) {
    if (asked !== undefined || marked !== "utf-8") {
      throw new InputError("encoding", pageTexts.encoding(address, asked ?? marked), { cause: error });
    }
    const taken = "windows-1252";
    return { text: new TextDecoder(taken).decode(bytes), notes: [dialectTexts.encoding(taken)] };
  }
};
