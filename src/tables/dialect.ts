/** How a text file writes its table: separator, quotes, header; found from its beginning. */
import { InputError } from "../core/errors.js";
import { isNumber } from "./cell-type.js";
import { type RecordStyle, recordReader, type TextRecord } from "./records.js";

export interface Dialect {
  readonly delimiter: string;
  readonly quote: string;
  readonly escape: string;
  readonly header: boolean;
  /** Of the first row, or of the header; trimmed. */
  readonly names: readonly string[];
  /** Cells of the first rows below the header, trimmed. */
  readonly sample: readonly (readonly string[])[];
  readonly notes: readonly string[];
}

export interface DialectSettings {
  readonly delimiter?: string | undefined;
  /** Whether the first line holds the names; found out unless given. */
  readonly header?: boolean | undefined;
  readonly skipLines?: number | undefined;
  /**
   * What stands before a quote inside quotes: another quote, as RFC 4180 says, or a backslash. Unless given, a
   * backslash is a character like any other as long as the table can be read so.
   */
  readonly escape?: "quote" | "backslash" | undefined;
}

type QuoteEscape = NonNullable<DialectSettings["escape"]>;

export const dialectTexts = {
  empty: (file: string) => `${file} is empty: give a table with at least one row.`,
  ragged: (file: string, line: number, found: number, expected: number) =>
    `${file} is ragged or no table: line ${line} has ${found} value${found === 1 ? "" : "s"} where ${expected} ${expected === 1 ? "was" : "were"} expected; mend the line, or name the separator with --delimiter.`,
  quote: (file: string, line: number) =>
    `${file} could not be read as a table (the quotes of the record on line ${line} do not match): mend the line, or say with --escape what stands before a quote inside quotes.`,
  tooLong: (file: string, line: number) =>
    `${file} is no table (the record on line ${line} is longer than ${LONGEST_RECORD} characters): look for a quote that is not closed.`,
  tooWide: (file: string, line: number, found: number) =>
    `${file} has ${found} values on line ${line}, and a table may have ${MOST_COLUMNS} columns: name the separator with --delimiter, or leave columns out.`,
  delimiter: (given: string) =>
    `the separator ${JSON.stringify(given)} separates nothing: give one or more characters that are no quote and no end of a line, such as ";" or "\\t".`,
  escape: (given: string) => `escape was ${JSON.stringify(given)}: give "quote" or "backslash".`,
  headerNamed: (from: string, to: string) => `a second column called "${from}" is called "${to}" here`,
  manyNamed: (count: number) =>
    `${count} columns have names that were there already, and are called name_2, name_3 and so on here`,
  encoding: (taken: string) =>
    `the text is not UTF-8 and was taken as ${taken}: say so with --encoding if it is another`,
  backslash:
    "a backslash before a quote is taken to mean that the quote belongs to its cell, because the table cannot be read otherwise",
};

/** More than any table has, and what a line of nothing but separators soon exceeds. */
export const MOST_COLUMNS = 100_000;
/** In characters: what may have to be held at once. */
export const LONGEST_RECORD = 64 * 1024 * 1024;

const DELIMITERS = [",", ";", "\t", "|"] as const;
const SAMPLE_RECORDS = 500;
/** Of wide tables fewer records are enough. */
const SAMPLE_CELLS = 1_000_000;
/** Below this share of lines of the same length, none of the separators explains the file. */
const LEAST_AGREEMENT = 0.5;

/** `text` is the beginning of the file, or all of it where `whole`. */
export const findDialect = (
  file: string,
  text: string,
  whole: boolean,
  { delimiter, header, skipLines = 0, escape: asked }: DialectSettings = {},
): Dialect => {
  requireSettings(delimiter, asked);
  const body = afterLines(text, skipLines);
  if (isBlank(body)) throw new InputError("empty-table", dialectTexts.empty(file));
  const quote = !body.includes('"') && hasSingleQuotes(body) ? "'" : '"';
  const { style, escapes } = chooseStyle(body, whole, delimiter, quote, asked);
  const records = firstRecords(body, whole, style);
  const lineOf = (record: TextRecord) => record.line + skipLines;
  const [first] = records;
  // Quotes with nothing between them may be all there is.
  if (first === undefined) throw new InputError("empty-table", dialectTexts.empty(file));
  if (first.cells.length > MOST_COLUMNS) {
    throw new InputError("too-wide", dialectTexts.tooWide(file, lineOf(first), first.cells.length));
  }
  const columns = mode(records.map(({ cells }) => cells.length)).value;
  const agreeing = records.filter(({ cells }) => cells.length === columns);
  if (agreeing.length < LEAST_AGREEMENT * records.length || first.cells.length !== columns) {
    const broken = records.find((record) => record.broken);
    if (broken !== undefined) throw new InputError("broken-table", dialectTexts.quote(file, lineOf(broken)));
    const odd = records.find(({ cells }) => cells.length !== first.cells.length) ?? first;
    const text = dialectTexts.ragged(file, lineOf(odd), odd.cells.length, first.cells.length);
    throw new InputError("ragged", text);
  }
  const rows = agreeing.map(({ cells }) => cells.map((cell) => cell.trim()));
  const hasHeader = header ?? looksLikeHeader(rows);
  const { names, notes } = hasHeader
    ? distinctNames(rows[0])
    : { names: rows[0].map((_, index) => `column${index + 1}`), notes: [] };
  return {
    ...style,
    header: hasHeader,
    names,
    sample: rows.slice(hasHeader ? 1 : 0),
    notes: escapes ? [...notes, dialectTexts.backslash] : notes,
  };
};

const requireSettings = (delimiter: string | undefined, asked: string | undefined): void => {
  if (delimiter !== undefined && (delimiter === "" || /["\r\n]/.test(delimiter))) {
    throw new InputError("delimiter", dialectTexts.delimiter(delimiter));
  }
  if (asked !== undefined && asked !== "quote" && asked !== "backslash") {
    throw new InputError("escape", dialectTexts.escape(asked));
  }
};

const isBlank = (text: string): boolean => !/\S/.test(text);

/** A cell in single quotes, between separators or ends of lines. */
const hasSingleQuotes = (text: string): boolean => /(?:^|[,;\t|]) *'[^'\n]*' *(?:$|[,;\t|\r])/m.test(text);

const afterLines = (text: string, count: number): string => {
  let at = 0;
  for (let line = 0; line < count; line++) {
    const end = text.indexOf("\n", at);
    if (end < 0) return "";
    at = end + 1;
  }
  return text.slice(at);
};

/** How a way to split the first records turns out: how many values most of them have, and how many have so many. */
interface Trial {
  readonly style: RecordStyle;
  readonly columns: number;
  /** Share of the records that have so many values and whose quotes match. */
  readonly agreement: number;
}

/** The separator under which the records agree most; backslashes escape only where the table is broken otherwise. */
const chooseStyle = (
  body: string,
  whole: boolean,
  delimiter: string | undefined,
  quote: string,
  asked: QuoteEscape | undefined,
): { readonly style: RecordStyle; readonly escapes: boolean } => {
  const best = (escapedBy: string): Trial => {
    const tryOut = (by: string) => trial(body, whole, { delimiter: by, quote, escape: escapedBy });
    return delimiter === undefined ? bestTrial(body, tryOut) : tryOut(delimiter);
  };
  if (asked !== undefined) return { style: best(asked === "backslash" ? "\\" : quote).style, escapes: false };
  const plain = best(quote);
  if (plain.agreement === 1 || !body.includes(`\\${quote}`)) return { style: plain.style, escapes: false };
  const escaped = best("\\");
  const escapes = escaped.agreement > plain.agreement;
  return { style: (escapes ? escaped : plain).style, escapes };
};

const bestTrial = (body: string, tryOut: (delimiter: string) => Trial): Trial => {
  // A quote counts only right after the separator: `a, "b, c"` is separated by comma and space.
  const candidates = [...DELIMITERS, ...(body.includes(', "') ? [", "] : [])];
  const tried = candidates.map(tryOut);
  const several = tried.filter(({ columns }) => columns > 1);
  several.sort((a, b) => b.agreement - a.agreement || b.columns - a.columns);
  if (several.length > 0) return several[0];
  const spaces = tryOut(" ");
  return spaces.columns > 1 && spaces.agreement === 1 ? spaces : tried[0];
};

const trial = (body: string, whole: boolean, style: RecordStyle): Trial => {
  const records = firstRecords(body, whole, style);
  const { value, count } = mode(records.map(({ cells, broken }) => (broken ? 0 : cells.length)));
  const columns = value === 0 ? mode(records.map(({ cells }) => cells.length)).value : value;
  return { style, columns, agreement: value === 0 ? 0 : count / records.length };
};

/** The value that is there most often; of two, the larger. */
const mode = (values: readonly number[]): { readonly value: number; readonly count: number } => {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  let best = { value: 0, count: 0 };
  for (const [value, count] of counts) {
    if (count > best.count || (count === best.count && value > best.value)) best = { value, count };
  }
  return best;
};

/** The first records, without empty lines and without one that the sample cuts off. */
const firstRecords = (text: string, whole: boolean, style: RecordStyle): readonly TextRecord[] => {
  const records: TextRecord[] = [];
  const next = recordReader(text, style);
  let cells = 0;
  for (let record = next(); record !== undefined; record = next()) {
    if (record.end >= text.length && !whole && records.length > 0) return records;
    if (record.cells.length > 1 || record.cells[0].trim() !== "") {
      records.push(record);
      cells += record.cells.length;
    }
    if (records.length === SAMPLE_RECORDS || cells > SAMPLE_CELLS) break;
  }
  return records;
};

/** What often stands for nothing: no evidence of what a column holds. */
const NO_EVIDENCE = new Set(["", "?", "NA", "N/A", "NaN", "nan", "null", "NULL"]);

/**
 * The first line holds names where a word stands above nothing but numbers; else where it has no number in it.
 * (A table of words alone is taken to have a header.)
 */
export const looksLikeHeader = ([first, ...below]: readonly (readonly string[])[]): boolean => {
  const standsAboveNumbers = first.some((cell, column) => {
    if (isNumber(cell) || NO_EVIDENCE.has(cell)) return false;
    const known = below.map((row) => row[column]).filter((each) => !NO_EVIDENCE.has(each));
    return known.length > 0 && known.every(isNumber);
  });
  return standsAboveNumbers || !first.some(isNumber);
};

/** So many are read by a person. */
const MOST_NOTES = 8;

/** Names for every column, each a different one, and what was changed for it. */
export const distinctNames = (header: readonly string[]) => {
  const taken = new Set<string>(header);
  const seen = new Set<string>();
  // Where to go on counting, so that thousands of columns of one name do not count from 2 each.
  const counted = new Map<string, number>();
  const notes: string[] = [];
  const names = header.map((given, index) => {
    const name = given === "" ? `column${index + 1}` : given;
    if (!seen.has(name)) {
      seen.add(name);
      return name;
    }
    let number = counted.get(name) ?? 2;
    while (taken.has(`${name}_${number}`)) number += 1;
    counted.set(name, number + 1);
    const renamed = `${name}_${number}`;
    taken.add(renamed);
    seen.add(renamed);
    notes.push(dialectTexts.headerNamed(name, renamed));
    return renamed;
  });
  return { names, notes: notes.length > MOST_NOTES ? [dialectTexts.manyNamed(notes.length)] : notes };
};
