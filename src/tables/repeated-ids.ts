/** Ids that stand in several rows of a table, and whether the labels of those rows agree. */
import { idReader } from "./ids.js";
import { columnNamed, type Table } from "./table.js";

export interface RepeatedIds {
  /** Ids that stand in two rows or more. */
  readonly repeated: number;
  /** Of these, ids with labels that differ. */
  readonly conflicting: number;
}

export const repeatedIdTexts = {
  /** Says how many and not which: an id names a person. */
  conflict: (column: string, ids: number, target: string) =>
    `${ids} ${ids === 1 ? "id" : "ids"} in the column "${column}" ${ids === 1 ? "is" : "are"} labelled twice with different values of ${target}: keep one row of each, or name another column.`,
  repeated: (column: string, ids: number) =>
    `${ids} ${ids === 1 ? "id stands" : "ids stand"} in several labelled rows of "${column}", with the same label: each of those rows counts`,
};

/** `labels` are [rows], -1 where unknown. Rows without an id are nobody's. */
export const repeatedIds = (table: Table, id: string, labels: Int32Array): RepeatedIds => {
  const read = idReader(columnNamed(table, id));
  const first = new Map<string, number>();
  const repeated = new Set<string>();
  const conflicting = new Set<string>();
  for (let row = 0; row < table.rows; row++) {
    const each = read(row);
    if (each === undefined) continue;
    const before = first.get(each);
    if (before === undefined) {
      first.set(each, labels[row]);
      continue;
    }
    repeated.add(each);
    if (before < 0) first.set(each, labels[row]);
    else if (labels[row] >= 0 && labels[row] !== before) conflicting.add(each);
  }
  return { repeated: repeated.size, conflicting: conflicting.size };
};
