/** A table's name by its content: 128 bits that differ where any name, type or value of its columns does. */
import type { Table } from "./table.js";

/** One of four lanes of MurmurHash3's mixing, each from a start of its own. */
const mixed = (state: number, word: number): number => {
  let k = Math.imul(word, 0xcc9e2d51);
  k = (k << 15) | (k >>> 17);
  const next = state ^ Math.imul(k, 0x1b873593);
  return (Math.imul((next << 13) | (next >>> 19), 5) + 0xe6546b64) | 0;
};

const finished = (state: number): number => {
  let h = state ^ (state >>> 16);
  h = Math.imul(h, 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
};

/**
 * 32 hexadecimal digits: of the columns' names, kinds and values in their order, whatever the table is called and
 * however it was read. Not a secret: whoever knows a table can find another with the same one.
 */
export const tableHash = ({ rows, columns }: Table): string => {
  const lanes = Int32Array.of(0x2545f491, 0x6c078965, 0x5bd1e995, 0x27d4eb2f);
  const add = (word: number): void => {
    for (let lane = 0; lane < 4; lane++) lanes[lane] = mixed(lanes[lane], word ^ Math.imul(lane, 0x9e3779b9));
  };
  const addText = (text: string): void => {
    add(text.length);
    for (let at = 0; at < text.length; at++) add(text.charCodeAt(at));
  };
  add(rows);
  add(columns.length);
  for (const column of columns) {
    addText(column.name);
    addText(column.kind);
    if (column.kind === "numeric") {
      // Every missing value and both zeros have one form each.
      const values = column.values.map((value) => (Number.isNaN(value) ? Number.NaN : value + 0));
      for (const word of new Int32Array(values.buffer)) add(word);
    } else {
      add(column.levels.length);
      column.levels.forEach(addText);
      for (const code of column.codes) add(code);
    }
  }
  return Array.from(lanes, (lane) => finished(lane).toString(16).padStart(8, "0")).join("");
};
