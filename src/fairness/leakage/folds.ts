/** Rows dealt into folds so that every class is spread evenly over them. */
import type { RandomStream } from "../../core/random.js";

/** `folds` sets of rows, each with the same share of every class up to one row; classes of [rows]. */
export const stratifiedFolds = (
  rows: Int32Array,
  classOf: (row: number) => number,
  folds: number,
  stream: RandomStream,
): Int32Array[] => {
  const byClass = new Map<number, number[]>();
  for (const at of stream.permutation(rows.length)) {
    const row = rows[at];
    const members = byClass.get(classOf(row));
    if (members === undefined) byClass.set(classOf(row), [row]);
    else members.push(row);
  }
  const dealt: number[][] = Array.from({ length: folds }, () => []);
  let next = 0;
  // Going on where the last class ended keeps the folds' sizes within one of each other.
  for (const key of [...byClass.keys()].sort((a, b) => a - b)) {
    for (const row of byClass.get(key) ?? []) dealt[next++ % folds].push(row);
  }
  return dealt.map((fold) => Int32Array.from(fold).sort());
};

/** Several sets of rows as one. */
export const joinRows = (sets: readonly Int32Array[]): Int32Array => {
  const joined = new Int32Array(sets.reduce((sum, set) => sum + set.length, 0));
  let at = 0;
  for (const set of sets) {
    joined.set(set, at);
    at += set.length;
  }
  return joined;
};

/** At most `most` of the rows, drawn at random. */
export const someRows = (rows: Int32Array, most: number, stream: RandomStream): Int32Array =>
  rows.length <= most ? rows : Int32Array.from(stream.choice(rows.length, most), (at) => rows[at]).sort();
