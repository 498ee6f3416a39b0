/**
 * Who goes first where scores are equal. The lowest row would favour whatever the table happens to be sorted by (a
 * forest's votes take few values, so that hundreds of candidates may share the best score); the choice is random
 * instead, from a stream of its own, so that nothing else changes with it.
 */
import { philox4x32, type RandomStream, seededStream, uniformFromWords } from "../core/random.js";

/** The key of a row: of candidates with equal scores those with smaller keys go first. */
export type RowKeys = (row: number) => number;

/**
 * The key of row i is uniform number i of the stream, read without those before it: it depends on the row alone, not on
 * the parts, threads or order in which candidates are looked at. Shapes: a row of the pool, from 0, to (0, 1).
 *
 * @example
 * ```ts
 * import { seededStream } from "fairbed";
 * import { tieKeys } from "fairbed/active";
 *
 * const key = tieKeys(seededStream(7));
 * console.log(key(3) === tieKeys(seededStream(7))(3)); // true
 * ```
 */
export const tieKeys = ({ key }: RandomStream): RowKeys => {
  const counter = new Uint32Array(4);
  const words = new Uint32Array(4);
  return (row) => {
    const block = Math.floor(row / 2);
    counter[0] = block;
    counter[1] = Math.floor(block / 4294967296);
    philox4x32(counter, key, words);
    const at = 2 * (row % 2);
    return uniformFromWords(words[at], words[at + 1]);
  };
};

/** What decides where nobody said: the same every time, and still not the order of the rows. */
export const defaultTies = (stream?: RandomStream): RowKeys =>
  tieKeys((stream ?? seededStream(0)).split("ties"));

/** Whether row a goes before row b, their scores being equal. */
export const goesFirst = (ties: RowKeys, a: number, b: number): boolean => {
  const [first, second] = [ties(a), ties(b)];
  return first < second || (first === second && a < b);
};
