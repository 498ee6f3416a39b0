/** Excel workbooks (.xlsx): one sheet as rows of texts, with dates as dates. Formulas count with what they last gave. */
import { readFile, stat } from "node:fs/promises";
import { FairbedError, InputError } from "../core/errors.js";
import { nearestName } from "../core/nearest-name.js";
import { type CellType, DEFAULT_MISSING } from "../tables/cell-type.js";
import { distinctNames, looksLikeHeader } from "../tables/dialect.js";
import { someOf } from "../tables/table.js";
import type { TextRows } from "../tables/text-rows.js";
import { BrokenXml, readXml } from "./xml-events.js";
import { BrokenZip, openZip, ZipBomb, type ZipFile } from "./zip-file.js";

export interface XlsxSettings {
  /** The name of a sheet; the first one unless given. */
  readonly sheet?: string | undefined;
  readonly header?: boolean | undefined;
  readonly skipLines?: number | undefined;
  readonly missing?: readonly string[] | undefined;
  readonly asText?: readonly string[] | undefined;
}

export const xlsxTexts = {
  broken: (file: string) => `${file} is no whole Excel workbook: get it again, or save it again as .xlsx.`,
  noWorkbook: (file: string) =>
    `${file} is a zip archive without an Excel workbook in it: unpack it, and name the table in it.`,
  binary: (file: string) => `${file} is a binary Excel workbook: save it as .xlsx or CSV.`,
  tooLarge: (file: string) =>
    `${file} unpacks to more than a workbook of its size can hold: get it again, or save it as CSV.`,
  scattered: (file: string) =>
    `the sheet of ${file} is almost empty, with a few cells far apart: delete what is outside the table, or save it as CSV.`,
  empty: (file: string) => `the sheet of ${file} is empty: name another one with --sheet.`,
  noSheet: (file: string, given: string, suggestion: string | undefined, names: readonly string[]) =>
    suggestion === undefined
      ? `${file} has no sheet "${given}": its sheets are ${someOf(names)}.`
      : `${file} has no sheet "${given}"; did you mean "${suggestion}"?`,
};

/** Sheets unpack to some ten times their size, dull ones to a hundred times. */
const MOST_UNPACKED = 200;
const ALWAYS_UNPACKED = 64 * 1024 * 1024;
/** As one text it must fit into what engines allow for one. */
const NEVER_UNPACKED = 400 * 1024 * 1024;

/** `name` is what the table is called in messages. */
export const xlsxRows = async (path: string, name: string, settings: XlsxSettings): Promise<TextRows> => {
  const { size } = await stat(path);
  if (size > NEVER_UNPACKED) throw new InputError("too-large", xlsxTexts.tooLarge(name));
  try {
    const limit = Math.min(NEVER_UNPACKED, Math.max(ALWAYS_UNPACKED, MOST_UNPACKED * size));
    const zip = openZip(await readFile(path), limit);
    return rowsOf(name, sheetCells(name, zip, settings.sheet), settings);
  } catch (error) {
    if (error instanceof FairbedError) throw error;
    if (error instanceof ZipBomb) throw new InputError("too-large", xlsxTexts.tooLarge(name));
    const isBroken = error instanceof BrokenZip || error instanceof BrokenXml || error instanceof RangeError;
    throw isBroken ? new InputError("broken-table", xlsxTexts.broken(name)) : error;
  }
};

const decoder = new TextDecoder("utf-8", { fatal: true });

const textIn = (zip: ZipFile, path: string): string | undefined => {
  const contents = zip.contents(path);
  try {
    return contents === undefined ? undefined : decoder.decode(contents);
  } catch {
    throw new BrokenXml();
  }
};

type CellKind = "number" | "date" | "text";

/** What stands in a sheet, in the order of the file. */
interface SheetCells {
  readonly rows: readonly ReadonlyMap<number, SheetCell>[];
}

interface SheetCell {
  readonly text: string;
  readonly kind: CellKind;
}

const sheetCells = (name: string, zip: ZipFile, wanted: string | undefined): SheetCells => {
  const workbook = textIn(zip, "xl/workbook.xml");
  if (workbook === undefined) {
    const isBinary = zip.names.includes("xl/workbook.bin");
    throw new InputError("no-table", (isBinary ? xlsxTexts.binary : xlsxTexts.noWorkbook)(name));
  }
  const sheets = new Map<string, string>();
  let is1904 = false;
  readXml(workbook, {
    open(tag, attributes) {
      if (tag === "sheet") sheets.set(attributes("name") ?? "", attributes("id") ?? "");
      if (tag === "workbookPr") is1904 = /^(1|true)$/.test(attributes("date1904") ?? "");
    },
    close() {},
    text() {},
  });
  const names = [...sheets.keys()];
  const id = sheets.get(wanted ?? names[0] ?? "");
  if (id === undefined) {
    if (wanted === undefined) throw new BrokenXml();
    throw new InputError("no-sheet", xlsxTexts.noSheet(name, wanted, nearestName(wanted, names), names));
  }
  const target = targetOf(textIn(zip, "xl/_rels/workbook.xml.rels"), id);
  const sheet = target === undefined ? undefined : textIn(zip, target);
  if (sheet === undefined) throw new BrokenXml();
  const strings = sharedStrings(textIn(zip, "xl/sharedStrings.xml"));
  const isDate = dateStyles(textIn(zip, "xl/styles.xml"));
  return readSheet(sheet, strings, isDate, is1904);
};

/** Where in the archive a sheet is. */
const targetOf = (relations: string | undefined, id: string): string | undefined => {
  let target: string | undefined;
  readXml(relations ?? "", {
    open(tag, attributes) {
      if (tag === "Relationship" && attributes("Id") === id) target = attributes("Target");
    },
    close() {},
    text() {},
  });
  if (target === undefined) return undefined;
  return target.startsWith("/") ? target.slice(1) : `xl/${target}`;
};

/** Excel writes characters that XML has not as `_x000D_`. */
const withCharacters = (text: string): string =>
  text.replace(/_x([\da-fA-F]{4})_/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

const sharedStrings = (xml: string | undefined): readonly string[] => {
  const strings: string[] = [];
  let parts: string[] = [];
  let isText = false;
  let phonetic = 0;
  readXml(xml ?? "", {
    open(tag) {
      if (tag === "si") parts = [];
      if (tag === "rPh") phonetic += 1;
      isText = tag === "t" && phonetic === 0;
    },
    close(tag) {
      if (tag === "si") strings.push(withCharacters(parts.join("")));
      if (tag === "rPh") phonetic -= 1;
      isText = false;
    },
    text(text) {
      if (isText) parts.push(text);
    },
  });
  return strings;
};

/** Formats that Excel has by number and that show a day. */
const DATE_FORMATS: readonly (readonly [number, number])[] = [
  [14, 17],
  [22, 22],
  [27, 31],
  [34, 36],
  [50, 54],
  [57, 58],
];

/** Whether a format shows a day, and not only a time: texts in it, colours and conditions do not count. */
const showsDay = (format: string): boolean => {
  const letters = format.replace(/"[^"]*"|\[[^\]]*\]|\\./g, "");
  return /[yd]/i.test(letters) || (/m/i.test(letters) && !/[hs]/i.test(letters));
};

/** Whether cells of a style hold days. */
const dateStyles = (xml: string | undefined): ((style: number) => boolean) => {
  const own = new Map<number, boolean>();
  const formats: number[] = [];
  let isCells = false;
  readXml(xml ?? "", {
    open(tag, attributes) {
      if (tag === "numFmt") {
        own.set(Number(attributes("numFmtId")), showsDay(attributes("formatCode") ?? ""));
      }
      if (tag === "cellXfs") isCells = true;
      if (tag === "xf" && isCells) formats.push(Number(attributes("numFmtId") ?? 0));
    },
    close(tag) {
      if (tag === "cellXfs") isCells = false;
    },
    text() {},
  });
  const isDay = (format: number) =>
    own.get(format) ?? DATE_FORMATS.some(([from, to]) => format >= from && format <= to);
  const days = formats.map(isDay);
  return (style) => days[style] ?? false;
};

const readSheet = (
  xml: string,
  strings: readonly string[],
  isDate: (style: number) => boolean,
  is1904: boolean,
): SheetCells => {
  const rows: Map<number, SheetCell>[] = [];
  let row = new Map<number, SheetCell>();
  let column = -1;
  let [type, style] = ["", 0];
  let parts: string[] = [];
  let isValue = false;
  readXml(xml, {
    open(tag, attributes) {
      if (tag === "row") {
        row = new Map();
        column = -1;
      } else if (tag === "c") {
        column = placeOf(attributes("r")) ?? column + 1;
        type = attributes("t") ?? "n";
        style = Number(attributes("s") ?? 0);
        parts = [];
      }
      isValue = tag === "v" || tag === "t";
    },
    close(tag) {
      isValue = false;
      if (tag === "c") {
        const cell = cellOf(type, parts.join(""), strings, isDate(style), is1904);
        if (cell !== undefined) row.set(column, cell);
      } else if (tag === "row" && row.size > 0) rows.push(row);
    },
    text(text) {
      if (isValue) parts.push(text);
    },
  });
  return { rows };
};

const MOST_COLUMNS = 16384;

/** The column of `AB12`, from 0. */
const placeOf = (reference: string | undefined): number | undefined => {
  if (reference === undefined) return undefined;
  const letters = /^([A-Z]{1,3})\d{1,7}$/.exec(reference)?.[1];
  if (letters === undefined) throw new BrokenXml();
  let place = 0;
  for (const letter of letters) place = 26 * place + letter.charCodeAt(0) - 64;
  if (place > MOST_COLUMNS) throw new BrokenXml();
  return place - 1;
};

/** Undefined for a cell with nothing in it, or with an error such as #N/A. */
const cellOf = (
  type: string,
  value: string,
  strings: readonly string[],
  isDay: boolean,
  is1904: boolean,
): SheetCell | undefined => {
  if (value === "" || type === "e") return undefined;
  if (type === "s") {
    const text = /^\d+$/.test(value) ? strings[Number(value)] : undefined;
    if (text === undefined) throw new BrokenXml();
    return text.trim() === "" ? undefined : { text, kind: "text" };
  }
  if (type === "b") return { text: value.trim() === "1" ? "true" : "false", kind: "text" };
  if (type === "d") return { text: value.replace(/Z$/, ""), kind: "date" };
  if (type !== "n") return value.trim() === "" ? undefined : { text: withCharacters(value), kind: "text" };
  const number = Number(value);
  if (!Number.isFinite(number) || value.trim() === "") throw new BrokenXml();
  const day = isDay ? dayText(number, is1904) : undefined;
  return day === undefined ? { text: String(number), kind: "number" } : { text: day, kind: "date" };
};

/** Days from 1899-12-30 and from 1904-01-01 to 1970-01-01. */
const [TO_1970, FROM_1904] = [25569, 24107];
/** Excel has a 29 February 1900, which was none: before it, days are one less. */
const FALSE_LEAP_DAY = 60;
const LAST_DAY = 2958466;
const MS_PER_DAY = 86_400_000;

/** `2020-01-05`, with the time where there is one; undefined for a number that is no day. */
const dayText = (serial: number, is1904: boolean): string | undefined => {
  if (serial < 0 || serial >= LAST_DAY) return undefined;
  const days = is1904 ? serial - FROM_1904 : serial - TO_1970 + (serial <= FALSE_LEAP_DAY ? 1 : 0);
  const [day, time] = new Date(Math.round(days * MS_PER_DAY)).toISOString().split("T");
  const short = time.replace("Z", "").replace(/\.000$/, "");
  return short === "00:00:00" ? day : `${day} ${short}`;
};

/** So many cells are looked at to find a header. */
const SAMPLE_ROWS = 500;
/** A table may have so many times as many places as cells with something in them, and in any case so many. */
const [MOST_SPREAD, ALWAYS_PLACES] = [100, 2_000_000];

const rowsOf = (
  name: string,
  { rows: all }: SheetCells,
  { header, skipLines = 0, missing = DEFAULT_MISSING, asText = [] }: XlsxSettings,
): TextRows => {
  const rows = all.slice(skipLines);
  if (rows.length === 0) throw new InputError("empty-table", xlsxTexts.empty(name));
  const filled = rows.reduce((sum, { size }) => sum + size, 0);
  const used = new Set<number>();
  for (const row of rows) for (const place of row.keys()) used.add(place);
  const places = [...used].sort((a, b) => a - b);
  if (places.length * rows.length > Math.max(ALWAYS_PLACES, MOST_SPREAD * filled)) {
    throw new InputError("too-large", xlsxTexts.scattered(name));
  }
  const textsOf = (row: ReadonlyMap<number, SheetCell>) => places.map((place) => row.get(place)?.text ?? "");
  const hasHeader = header ?? headerSeen(rows.slice(0, SAMPLE_ROWS).map(textsOf), rows[0]);
  const { names, notes } = hasHeader
    ? distinctNames(textsOf(rows[0]).map((text) => text.trim()))
    : { names: places.map((_, index) => `column${index + 1}`), notes: [] };
  const below = hasHeader ? rows.slice(1) : rows;
  const isMissing = new Set(["", ...missing]);
  const columns = places.map((place, index) => ({
    name: names[index],
    type: asText.includes(names[index]) ? ("text" as const) : columnType(below, place, isMissing),
  }));
  return {
    columns,
    missing,
    notes,
    async *read() {
      yield below.map(textsOf);
    },
  };
};

/** A first row of texts alone is a header whatever they look like: a year as a name is a text in a workbook. */
const headerSeen = (rows: readonly (readonly string[])[], first: ReadonlyMap<number, SheetCell>): boolean =>
  rows.length > 1 && [...first.values()].some(({ kind }) => kind === "text") && looksLikeHeader(rows);

/** What all cells of a column are that are not missing; text where they are of several kinds. */
const columnType = (
  rows: readonly ReadonlyMap<number, SheetCell>[],
  place: number,
  isMissing: ReadonlySet<string>,
): CellType => {
  let type: CellKind | undefined;
  for (const row of rows) {
    const cell = row.get(place);
    if (cell === undefined || isMissing.has(cell.text.trim())) continue;
    if (type !== undefined && cell.kind !== type) return "text";
    type = cell.kind;
  }
  return type ?? "number";
};
