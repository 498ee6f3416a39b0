/** How a text file writes its table: separator, quotes, header; found from its beginning. */
import { InputError } from "../core/errors.js";
import { isNumber } from "./cell-type.js";
import { recordsOf, type TextRecord } from "./records.js";

export interface Dialect {
  readonly delimiter: string;
  readonly quote: string;
  readonly escape: string;
  readonly header: boolean;
  /** Of the first row, or of the header; trimmed. */
  readonly names: readonly string[];
  /** Cells of the first rows below the header, trimmed. */
  readonly sample: readonly (readonly string[])[];
  /** Empty lines before the first row. */
  readonly emptyLines: number;
  /** In characters. */
  readonly longestLine: number;
  readonly notes: readonly string[];
}

export interface DialectSettings {
  readonly delimiter?: string | undefined;
  /** Whether the first line holds the names; found out unless given. */
  readonly header?: boolean | undefined;
  readonly skipLines?: number | undefined;
}

export const dialectTexts = {
  empty: (file: string) => `${file} is empty: give a table with at least one row.`,
  ragged: (file: string, line: number, found: number, expected: number) =>
    `${file} is ragged or no table: line ${line} has ${found} value${found === 1 ? "" : "s"} where ${expected} were expected; mend the line, or name the separator with --delimiter.`,
  headerNamed: (from: string, to: string) => `a second column called "${from}" is called "${to}" here`,
};

const DELIMITERS = [",", ";", "\t", "|"] as const;
const SAMPLE_RECORDS = 500;
/** Below this share of lines of the same length, none of the separators explains the file. */
const LEAST_AGREEMENT = 0.5;

/** `text` is the beginning of the file, or all of it where `whole`. */
export const findDialect = (
  file: string,
  text: string,
  whole: boolean,
  { delimiter, header, skipLines = 0 }: DialectSettings = {},
): Dialect => {
  const body = afterLines(text, skipLines);
  if (body.trim() === "") throw new InputError("empty-table", dialectTexts.empty(file));
  const quote = !body.includes('"') && /(^|[,;\t|]) *'[^'\n]*' *($|[,;\t|\r])/m.test(body) ? "'" : '"';
  const escapedBy = body.includes(`\\${quote}`) ? "\\" : quote;
  const split = (by: string) => firstRecords(body, whole, { delimiter: by, quote, escape: escapedBy });
  const best = delimiter === undefined ? bestSplit(body, split) : { delimiter, records: split(delimiter) };
  const { records } = best;
  const columns = mode(records.map(({ cells }) => cells.length)).value;
  const agreeing = records.filter(({ cells }) => cells.length === columns);
  if (agreeing.length < LEAST_AGREEMENT * records.length || records[0].cells.length !== columns) {
    const odd = records.find(({ cells }) => cells.length !== records[0].cells.length) ?? records[0];
    const [line, found] = [odd.line + skipLines, odd.cells.length];
    throw new InputError("ragged", dialectTexts.ragged(file, line, found, records[0].cells.length));
  }
  const rows = agreeing.map(({ cells }) => cells.map((cell) => cell.trim()));
  const hasHeader = header ?? looksLikeHeader(rows);
  const { names, notes } = hasHeader
    ? distinctNames(rows[0])
    : { names: rows[0].map((_, index) => `column${index + 1}`), notes: [] };
  return {
    delimiter: best.delimiter,
    quote,
    escape: escapedBy,
    header: hasHeader,
    names,
    sample: rows.slice(hasHeader ? 1 : 0),
    emptyLines: records[0].line - 1,
    longestLine: body.split("\n", SAMPLE_RECORDS).reduce((most, line) => Math.max(most, line.length), 0),
    notes,
  };
};

const afterLines = (text: string, count: number): string => {
  let at = 0;
  for (let line = 0; line < count; line++) {
    const end = text.indexOf("\n", at);
    if (end < 0) return "";
    at = end + 1;
  }
  return text.slice(at);
};

const bestSplit = (
  body: string,
  split: (delimiter: string) => readonly TextRecord[],
): { readonly delimiter: string; readonly records: readonly TextRecord[] } => {
  // A quote counts only right after the separator: `a, "b, c"` is separated by comma and space.
  const candidates = [...DELIMITERS, ...(body.includes(', "') ? [", "] : [])];
  const tried = candidates.map((delimiter) => ({ delimiter, records: split(delimiter) })).map(withAgreement);
  const several = tried.filter(({ columns }) => columns > 1);
  several.sort((a, b) => b.agreement - a.agreement || b.columns - a.columns);
  if (several.length > 0) return several[0];
  const spaces = withAgreement({ delimiter: " ", records: split(" ") });
  return spaces.columns > 1 && spaces.agreement === 1 ? spaces : (tried[0] ?? spaces);
};

const withAgreement = (tried: { readonly delimiter: string; readonly records: readonly TextRecord[] }) => {
  const { value, count } = mode(tried.records.map(({ cells }) => cells.length));
  return { ...tried, columns: value, agreement: count / tried.records.length };
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
const firstRecords = (
  text: string,
  whole: boolean,
  style: { readonly delimiter: string; readonly quote: string; readonly escape: string },
): readonly TextRecord[] => {
  const records: TextRecord[] = [];
  for (const record of recordsOf(text, style)) {
    if (record.end >= text.length && !whole && records.length > 0) return records;
    if (record.cells.length > 1 || record.cells[0].trim() !== "") records.push(record);
    if (records.length === SAMPLE_RECORDS) break;
  }
  return records;
};

/** What often stands for nothing: no evidence of what a column holds. */
const NO_EVIDENCE = new Set(["", "?", "NA", "N/A", "NaN", "nan", "null", "NULL"]);

/**
 * The first line holds names where a word stands above nothing but numbers; else where it has no number in it.
 * (A table of words alone is taken to have a header.)
 */
const looksLikeHeader = ([first, ...below]: readonly (readonly string[])[]): boolean => {
  const standsAboveNumbers = first.some((cell, column) => {
    if (isNumber(cell) || NO_EVIDENCE.has(cell)) return false;
    const known = below.map((row) => row[column]).filter((each) => !NO_EVIDENCE.has(each));
    return known.length > 0 && known.every(isNumber);
  });
  return standsAboveNumbers || !first.some(isNumber);
};

/** Names for every column, each a different one, and what was changed for it. */
export const distinctNames = (header: readonly string[]) => {
  const taken = new Set<string>(header);
  const seen = new Set<string>();
  const notes: string[] = [];
  const names = header.map((given, index) => {
    const name = given === "" ? `column${index + 1}` : given;
    if (!seen.has(name)) {
      seen.add(name);
      return name;
    }
    let number = 2;
    while (taken.has(`${name}_${number}`)) number += 1;
    const renamed = `${name}_${number}`;
    taken.add(renamed);
    seen.add(renamed);
    notes.push(dialectTexts.headerNamed(name, renamed));
    return renamed;
  });
  return { names, notes };
};
