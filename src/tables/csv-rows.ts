/** The rows of a CSV text that comes piece by piece, in time and memory that grow with the text alone. */
import { InputError } from "../core/errors.js";
import { DEFAULT_MISSING, guessCellType } from "./cell-type.js";
import { type Dialect, type DialectSettings, dialectTexts, findDialect, LONGEST_RECORD } from "./dialect.js";
import { recordReader } from "./records.js";
import type { TextRows } from "./text-rows.js";

/** A text that can be read from its beginning as often as needed. */
export interface TextPieces {
  /** The beginning, without a byte order mark. */
  readonly start: string;
  /** Whether that is all of it. */
  readonly whole: boolean;
  /** All of it, piece by piece, without a byte order mark. */
  pieces(): AsyncIterable<string> | Iterable<string>;
}

export interface CsvRowsSettings extends DialectSettings {
  readonly missing?: readonly string[] | undefined;
  readonly asText?: readonly string[] | undefined;
}

/**
 * Runs `use` with the rows of a text. Where they turn out to be broken further down than was looked at first, and a
 * backslash before each quote would mend them, it is run again.
 */
export const withCsvRows = async <Result>(
  name: string,
  text: TextPieces,
  settings: CsvRowsSettings,
  use: (rows: TextRows) => Promise<Result>,
): Promise<Result> => {
  try {
    return await use(csvRows(name, text, settings));
  } catch (error) {
    const isBroken = error instanceof InputError && /^(broken-table|ragged)$/.test(error.code);
    if (!isBroken || settings.escape !== undefined) throw error;
    const rows = await csvRowsOrNone(name, text, { ...settings, escape: "backslash" });
    if (rows === undefined) throw error;
    return use({ ...rows, notes: [...rows.notes, dialectTexts.backslash] }).catch(() => {
      throw error;
    });
  }
};

const csvRowsOrNone = async (name: string, text: TextPieces, settings: CsvRowsSettings) => {
  let last = "";
  for await (const piece of text.pieces()) {
    if ((last + piece).includes('\\"')) return csvRows(name, text, settings);
    last = piece.slice(-1);
  }
  return undefined;
};

/** `name` is what the table is called in messages. */
const csvRows = (name: string, text: TextPieces, settings: CsvRowsSettings): TextRows => {
  const { missing = DEFAULT_MISSING, asText = [], skipLines = 0 } = settings;
  const dialect = findDialect(name, text.start, text.whole, settings);
  const isMissing = new Set(["", ...missing]);
  const stayText = new Set(asText);
  const columns = dialect.names.map((column, index) => {
    const known = dialect.sample.map((row) => row[index]).filter((cell) => !isMissing.has(cell));
    const type = stayText.has(column) ? ("text" as const) : guessCellType(known, dialect.delimiter);
    return { name: column, type };
  });
  return {
    columns,
    missing,
    notes: dialect.notes,
    read: () => readCsv(name, text, dialect, skipLines),
  };
};

async function* readCsv(
  name: string,
  text: TextPieces,
  dialect: Dialect,
  skipLines: number,
): AsyncGenerator<Iterable<readonly string[]>, void, undefined> {
  const rows = new RowsOfPieces(name, dialect, skipLines);
  for await (const piece of text.pieces()) {
    if (rows.add(piece)) yield rows.complete(false);
  }
  yield rows.complete(true);
}

/** Keeps what is not yet a whole record until there is more. */
class RowsOfPieces {
  private readonly name: string;
  private readonly dialect: Dialect;
  private pieces: string[] = [];
  private length = 0;
  /** Only with so many characters is it worth while to look again: to look every time would take quadratic time. */
  private enough = 0;
  private line: number;
  private linesToSkip: number;
  private hasHeader: boolean;
  private isEmpty = true;

  constructor(name: string, dialect: Dialect, skipLines: number) {
    this.name = name;
    this.dialect = dialect;
    this.line = 1 + skipLines;
    this.linesToSkip = skipLines;
    this.hasHeader = dialect.header;
  }

  /** Whether there is enough to look at. */
  add(piece: string): boolean {
    const text = this.afterSkipped(piece);
    this.pieces.push(text);
    this.length += text.length;
    return this.length > this.enough;
  }

  private afterSkipped(piece: string): string {
    let at = 0;
    while (this.linesToSkip > 0) {
      const end = piece.indexOf("\n", at);
      if (end < 0) return "";
      this.linesToSkip -= 1;
      at = end + 1;
    }
    return at === 0 ? piece : piece.slice(at);
  }

  /** The whole records, or all of them at the end of the text. */
  *complete(isLast: boolean): Generator<readonly string[], void, undefined> {
    const { name, dialect } = this;
    const text = this.pieces.join("");
    const columns = dialect.names.length;
    const next = recordReader(text, dialect, this.line);
    let rest = text.length;
    for (let record = next(); record !== undefined; record = next()) {
      const { cells, line } = record;
      // The next piece may go on with this record, or begin with the second half of its end.
      const isOpen = record.end >= text.length || (record.end === text.length - 1 && text.endsWith("\r"));
      if (isOpen && !isLast) {
        rest = record.start;
        break;
      }
      this.line = record.nextLine;
      // An empty line is a missing value in a table of one column, and nothing in one of several.
      if (cells.length === 1 && (columns > 1 || this.isEmpty) && cells[0].trim() === "") continue;
      if (record.broken) throw new InputError("broken-table", dialectTexts.quote(name, line));
      if (cells.length !== columns) {
        throw new InputError("ragged", dialectTexts.ragged(name, line, cells.length, columns));
      }
      this.isEmpty = false;
      if (this.hasHeader) this.hasHeader = false;
      else yield cells;
    }
    this.pieces = [text.slice(rest)];
    this.length = text.length - rest;
    this.enough = 2 * this.length;
    if (this.length > LONGEST_RECORD) {
      throw new InputError("broken-table", dialectTexts.tooLong(name, this.line));
    }
  }
}

export interface TextLine {
  readonly line: string;
  /** From 1. */
  readonly number: number;
}

/** The lines of a text without their ends, in batches; a line ends with `\n`, `\r\n` or `\r`. */
export async function* linesOf(
  name: string,
  text: TextPieces,
): AsyncGenerator<readonly TextLine[], void, undefined> {
  let open: string[] = [];
  let length = 0;
  let number = 0;
  for await (const piece of text.pieces()) {
    open.push(piece);
    length += piece.length;
    if (!/[\r\n]/.test(piece)) {
      if (length > LONGEST_RECORD)
        throw new InputError("broken-table", dialectTexts.tooLong(name, number + 1));
      continue;
    }
    const all = open.join("");
    // A carriage return at the very end may be half of an end of line.
    const end = Math.max(all.lastIndexOf("\n"), all.lastIndexOf("\r", all.length - 2));
    const rest = end < 0 ? all : all.slice(end + 1);
    open = [rest];
    length = rest.length;
    if (end < 0) continue;
    const lines = all.slice(0, all.startsWith("\r\n", end - 1) ? end - 1 : end).split(/\r\n|\n|\r/);
    yield lines.map((line, at) => ({ line, number: number + at + 1 }));
    number += lines.length;
  }
  const last = open.join("");
  if (last !== "") yield last.split(/\r\n|\n|\r/).map((line, at) => ({ line, number: number + at + 1 }));
}
