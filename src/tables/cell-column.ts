/** A column that grows cell by cell, as texts from a file: numbers, or texts with their places. */
import { type CellType, DATE_UNIT, isNumber, VALUE_IN } from "./cell-type.js";
import { byCodePoint, type CategoricalColumn, type Column } from "./table.js";

/** What stands in a column of texts, the same for all parts of a table: raw cells with their places. */
export type CellTexts = Map<string, number>;

export interface CellColumn {
  append(cell: string): void;
  /** Whether a cell is neither of the column's type nor missing: the column is text then, and read again. */
  readonly isMisfit: boolean;
  /** The cells so far as a column; the next one begins anew. */
  take(): Column;
}

export interface CellColumnSettings {
  readonly name: string;
  readonly type: CellType;
  /** Texts that stand for nothing, besides the empty one. */
  readonly missing: readonly string[];
  /** Whether values are kept; without, only types and texts are found out. */
  readonly keep: boolean;
  /** Of an earlier look at the column. */
  readonly texts?: CellTexts | undefined;
}

export const cellColumn = (settings: CellColumnSettings): CellColumn =>
  settings.type === "text" ? textColumn(settings) : numberColumn(settings, settings.type);

/** Few, because a table may have a hundred thousand columns. */
const FIRST_ROWS = 16;

const numberColumn = (
  { name, missing, keep }: CellColumnSettings,
  type: Exclude<CellType, "text">,
): CellColumn => {
  const valueIn = VALUE_IN[type];
  const nothing = new Set(["", ...missing]);
  const marks = new Set(missing.filter(isNumber).map(Number));
  let values = new Float64Array(keep ? FIRST_ROWS : 0);
  let count = 0;
  let isMisfit = false;
  return {
    append(cell) {
      let value = valueIn(cell);
      if (value === undefined) {
        isMisfit ||= !nothing.has(cell.trim());
        value = Number.NaN;
      } else if (marks.size > 0 && marks.has(value)) value = Number.NaN;
      if (!keep) return;
      if (count === values.length) {
        const longer = new Float64Array(2 * count);
        longer.set(values);
        values = longer;
      }
      values[count++] = value;
    },
    get isMisfit() {
      return isMisfit;
    },
    take() {
      const taken = values.slice(0, count);
      count = 0;
      return { kind: "numeric", name, values: taken, ...(type === "date" ? { unit: DATE_UNIT } : {}) };
    },
  };
};

const textColumn = ({ name, missing, keep, texts = new Map() }: CellColumnSettings): CellColumn => {
  let codes = new Int32Array(keep ? FIRST_ROWS : 0);
  let count = 0;
  return {
    append(cell) {
      let code = texts.get(cell);
      if (code === undefined) {
        code = texts.size;
        texts.set(ownCopy(cell), code);
      }
      if (!keep) return;
      if (count === codes.length) {
        const longer = new Int32Array(2 * count);
        longer.set(codes);
        codes = longer;
      }
      codes[count++] = code;
    },
    isMisfit: false,
    take() {
      const taken = levelsOf(name, codes.subarray(0, count), texts, missing);
      count = 0;
      return taken;
    },
  };
};

/** Engines keep a short piece of a long text as a view of all of it, so that the whole file would stay in memory. */
const ownCopy = (text: string): string => (text.length < 13 ? text : JSON.parse(JSON.stringify(text)));

/** Places among the raw cells as places among the levels: trimmed, sorted, without what means missing. */
const levelsOf = (
  name: string,
  places: Int32Array,
  texts: CellTexts,
  missing: readonly string[],
): CategoricalColumn => {
  const trimmed = Array.from(texts.keys(), (text) => text.trim());
  const isMissing = new Set(["", ...missing]);
  const levels = [...new Set(trimmed)].filter((text) => !isMissing.has(text)).sort(byCodePoint);
  const codeOf = new Map(levels.map((level, at) => [level, at]));
  const codes = Int32Array.from(trimmed, (text) => codeOf.get(text) ?? -1);
  return { kind: "categorical", name, levels, codes: places.map((place) => codes[place]) };
};
