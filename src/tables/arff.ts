/**
 * ARFF, the format of Weka and of OpenML: a header that declares every column, then rows with commas, dense or sparse.
 * What is declared holds: a text in a numeric column or a value that its list lacks is refused, not read as something
 * else.
 */
import { InputError } from "../core/errors.js";
import { type CellType, isNumber, VALUE_IN } from "./cell-type.js";
import { type CsvRowsSettings, linesOf, type TextLine, type TextPieces } from "./csv-rows.js";
import { dialectTexts, distinctNames, MOST_COLUMNS } from "./dialect.js";
import type { TextRows } from "./text-rows.js";

export const arffTexts = {
  header: (file: string, line: number) =>
    `${file} could not be read as ARFF (line ${line} of its header is none of @relation, @attribute and @data): mend the line.`,
  attribute: (file: string, line: number) =>
    `${file} could not be read as ARFF (the attribute on line ${line} has no name, or a type that is none of numeric, string, date and a list in braces): mend the line.`,
  noData: (file: string) =>
    `${file} could not be read as ARFF (it has no @data or no attribute): get it again.`,
  quote: (file: string, line: number) =>
    `${file} could not be read as ARFF (the quotes on line ${line} do not match): mend the line.`,
  sparse: (file: string, line: number) =>
    `${file} could not be read as ARFF (the sparse row on line ${line} is no list of places and values): mend the line.`,
  value: (file: string, line: number, attribute: string) =>
    `${file} could not be read as ARFF (the value of "${attribute}" on line ${line} is not what its attribute declares): mend the line or the header.`,
};

interface Attribute {
  readonly name: string;
  readonly type: CellType;
  /** Of a list in braces. */
  readonly values?: ReadonlySet<string> | undefined;
  /** What a sparse row leaves out. */
  readonly zero: string;
}

const MISSING = "?";

/** `name` is what the table is called in messages. */
export const arffRows = async (
  name: string,
  text: TextPieces,
  { missing = [], asText = [] }: CsvRowsSettings = {},
): Promise<TextRows> => {
  const attributes: Attribute[] = [];
  let isComplete = false;
  for await (const lines of linesOf(name, text)) {
    for (const { line, number } of lines) {
      isComplete = readHeaderLine(name, line, number, attributes);
      if (isComplete) break;
    }
    if (isComplete) break;
  }
  if (!isComplete || attributes.length === 0) throw new InputError("broken-table", arffTexts.noData(name));
  if (attributes.length > MOST_COLUMNS) {
    throw new InputError("too-wide", dialectTexts.tooWide(name, 1, attributes.length));
  }
  const { names, notes } = distinctNames(attributes.map((attribute) => attribute.name.trim()));
  const stayText = new Set(asText);
  const named = attributes.map((attribute, index) => ({
    ...attribute,
    name: names[index],
    type: stayText.has(names[index]) ? ("text" as const) : attribute.type,
  }));
  const marks = [MISSING, ...missing];
  return { columns: named, missing: marks, notes, read: () => readData(name, text, named, new Set(marks)) };
};

/** Adds what a line of the header declares; whether the data begin behind it. */
const readHeaderLine = (file: string, line: string, number: number, attributes: Attribute[]): boolean => {
  const trimmed = line.trim();
  if (trimmed === "" || trimmed.startsWith("%") || /^@relation\b/i.test(trimmed)) return false;
  if (/^@data\b/i.test(trimmed)) return true;
  if (!/^@attribute\s/i.test(trimmed)) throw new InputError("broken-table", arffTexts.header(file, number));
  const { value: name, next } = wordAt(trimmed, "@attribute".length, WHITE);
  const type = name === undefined || name === "" ? undefined : typeOf(trimmed.slice(next).trim());
  if (name === undefined || type === undefined) {
    throw new InputError("broken-table", arffTexts.attribute(file, number));
  }
  attributes.push({ name, ...type });
  return false;
};

const WHITE = /[\s{]/;
const COMMA = /,/;

const typeOf = (declared: string): Omit<Attribute, "name"> | undefined => {
  if (/^(numeric|real|integer)$/i.test(declared)) return { type: "number", zero: "0" };
  if (/^string$/i.test(declared)) return { type: "text", zero: MISSING };
  if (/^date\b/i.test(declared)) return { type: "date", zero: MISSING };
  if (!declared.startsWith("{") || !declared.endsWith("}")) return undefined;
  const values = cellsOf(declared.slice(1, -1));
  if (values === undefined) return undefined;
  return { type: "text", values: new Set(values), zero: values[0] };
};

const afterWhite = (line: string, from: number): number => {
  let at = from;
  while (at < line.length && /\s/.test(line[at])) at += 1;
  return at;
};

/** A word or a quoted text from a place on, and where it ends; undefined where its quotes do not match. */
const wordAt = (
  line: string,
  from: number,
  end: RegExp,
): { readonly value?: string; readonly next: number } => {
  let at = afterWhite(line, from);
  const quote = line[at];
  if (quote !== "'" && quote !== '"') {
    const start = at;
    while (at < line.length && !end.test(line[at])) at += 1;
    return { value: line.slice(start, at).trim(), next: at };
  }
  const parts: string[] = [];
  for (at += 1; at < line.length; at++) {
    if (line[at] === quote) return { value: parts.join(""), next: at + 1 };
    if (line[at] === "\\" && at + 1 < line.length) at += 1;
    parts.push(line[at]);
  }
  return { next: at };
};

/** Values with commas between them; undefined where quotes do not match. */
const cellsOf = (line: string): readonly string[] | undefined => {
  // Most lines have no quotes, and are parted faster.
  if (!line.includes("'") && !line.includes('"')) return line.split(",").map((cell) => cell.trim());
  const cells: string[] = [];
  for (let at = 0; ; at += 1) {
    const { value, next } = wordAt(line, at, COMMA);
    if (value === undefined) return undefined;
    cells.push(value);
    at = afterWhite(line, next);
    if (at >= line.length) return cells;
    if (line[at] !== ",") return undefined;
  }
};

/** The cells of `{0 5, 3 'some text'}`; undefined where it is no such list. */
const sparseCells = (line: string, attributes: readonly Attribute[]): readonly string[] | undefined => {
  const cells = attributes.map(({ zero }) => zero);
  const end = line.lastIndexOf("}");
  if (end < 0 || line.slice(end + 1).trim() !== "") return undefined;
  const list = line.slice(1, end);
  let before = -1;
  for (let at = afterWhite(list, 0); at < list.length; ) {
    const { value: place, next } = wordAt(list, at, /\s/);
    const { value, next: after } = wordAt(list, next, COMMA);
    if (place === undefined || value === undefined || value === "" || !/^\d{1,9}$/.test(place))
      return undefined;
    // In order, so that none is there twice.
    if (Number(place) <= before || Number(place) >= attributes.length) return undefined;
    before = Number(place);
    cells[before] = value;
    at = afterWhite(list, after);
    if (at < list.length && list[at] !== ",") return undefined;
    at = afterWhite(list, at + 1);
  }
  return cells;
};

async function* readData(
  file: string,
  text: TextPieces,
  attributes: readonly Attribute[],
  missing: ReadonlySet<string>,
): AsyncGenerator<Iterable<readonly string[]>, void, undefined> {
  const state = { isData: false };
  for await (const lines of linesOf(file, text)) yield rowsOfLines(file, lines, attributes, missing, state);
}

function* rowsOfLines(
  file: string,
  lines: Iterable<TextLine>,
  attributes: readonly Attribute[],
  missing: ReadonlySet<string>,
  state: { isData: boolean },
): Generator<readonly string[], void, undefined> {
  for (const { line, number } of lines) {
    const trimmed = line.trim();
    if (!state.isData) {
      state.isData = /^@data\b/i.test(trimmed);
      continue;
    }
    if (trimmed === "" || trimmed.startsWith("%")) continue;
    const isSparse = trimmed.startsWith("{");
    const cells = isSparse ? sparseCells(trimmed, attributes) : cellsOf(trimmed);
    if (cells === undefined) {
      throw new InputError("broken-table", (isSparse ? arffTexts.sparse : arffTexts.quote)(file, number));
    }
    if (cells.length !== attributes.length) {
      throw new InputError("ragged", dialectTexts.ragged(file, number, cells.length, attributes.length));
    }
    for (const [at, cell] of cells.entries()) {
      if (!missing.has(cell) && !isDeclared(cell, attributes[at])) {
        throw new InputError("broken-table", arffTexts.value(file, number, attributes[at].name));
      }
    }
    yield cells;
  }
}

const isDeclared = (cell: string, { type, values }: Attribute): boolean => {
  if (values !== undefined) return values.has(cell);
  // A number of many digits is one, though it is kept as text.
  return type !== "number" || VALUE_IN.number(cell) !== undefined || isNumber(cell);
};
