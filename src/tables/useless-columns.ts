/** Columns that cannot help to predict anything: empty, the same in every row, or another text in every row. */
import type { Column } from "./table.js";

export type UselessColumn =
  | { readonly kind: "empty" }
  | { readonly kind: "constant" }
  /** So many different texts among so many known ones. */
  | { readonly kind: "own-texts"; readonly different: number; readonly known: number };

/** Fewer rows than this may well have different texts without their being names or ids. */
const ROWS_TO_TELL_IDS = 50;
/** From this share of different texts on, a text nearly says which row it is of. */
const NEARLY_ALL = 0.9;

/** Why a column is of no use, if so. */
export const uselessColumn = (column: Column): UselessColumn | undefined => {
  if (column.kind === "numeric") {
    const first = column.values.findIndex((value) => !Number.isNaN(value));
    if (first < 0) return { kind: "empty" };
    // A value that is there or missing tells rows apart, so a number is constant only where none is missing.
    return column.values.every((value) => value === column.values[first]) ? { kind: "constant" } : undefined;
  }
  const counts = new Int32Array(column.levels.length);
  let missing = 0;
  for (const code of column.codes) {
    if (code < 0) missing += 1;
    else counts[code] += 1;
  }
  const different = counts.filter((count) => count > 0).length;
  if (different === 0) return { kind: "empty" };
  if (different === 1 && missing === 0) return { kind: "constant" };
  const known = column.codes.length - missing;
  const nearlyNames = different >= NEARLY_ALL * known && known >= ROWS_TO_TELL_IDS;
  return nearlyNames ? { kind: "own-texts", different, known } : undefined;
};
