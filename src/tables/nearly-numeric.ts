/** Columns that were taken as text because of a few cells only. */

import { commonOf, countClasses } from "../core/rare-values.js";
import { isNumber } from "./cell-type.js";
import type { Column } from "./table.js";

/** From this share of numbers on, the other cells are more likely marks of what is missing than categories. */
const MOSTLY = 0.9;

export const nearlyNumericTexts = {
  /** `mark` is what stands there most often, where it stands in so many rows that it may be named. */
  note: (column: string, cells: number, mark: string | undefined) =>
    `"${column}" is taken as text, though it looks numeric except for ${cells} ${cells === 1 ? "cell" : "cells"}: if ${
      mark === undefined ? "their texts mean" : `"${mark}" means`
    } that the value is missing, say so with --missing${mark === undefined ? "" : ` "${mark}"`}`,
};

/** One sentence where at least nine in ten known cells of a column of text are numbers, and not all of them. */
export const nearlyNumericNote = (column: Column): string | undefined => {
  if (column.kind !== "categorical") return undefined;
  const { codes, levels, name } = column;
  const texts = levels.filter((level) => !isNumber(level));
  if (texts.length === 0 || texts.length === levels.length) return undefined;
  const counts = countClasses(codes, levels.length);
  const rowsOf = new Map(levels.map((level, place) => [level, counts[place]]));
  const known = counts.reduce((sum, count) => sum + count, 0);
  const textCounts = texts.map((text) => rowsOf.get(text) ?? 0);
  const cells = textCounts.reduce((sum, count) => sum + count, 0);
  if (cells === 0 || known - cells < MOSTLY * known) return undefined;
  const [mark] = [...commonOf(texts, textCounts)].sort((a, b) => (rowsOf.get(b) ?? 0) - (rowsOf.get(a) ?? 0));
  return nearlyNumericTexts.note(name, cells, mark);
};
