/**
 * What the members of an ensemble say, as the scores read it.
 *
 * P[n, k, c] is the probability of class c that member k gives to row n. A score that looks at two sets of rows,
 * candidates and targets, needs the **same** members on both sides, in the same order.
 */
import { bitCount } from "../core/bit-count.js";
import { InputError } from "../core/errors.js";
import type { DenseMembers, VoteMembers } from "../learners/classifier.js";

/** `DenseMembers` in float64, for members that were not computed in float32: [rows, members, classes]. */
export interface ExactMembers {
  readonly kind: "dense";
  readonly rows: number;
  readonly members: number;
  readonly classes: number;
  readonly values: Float64Array;
}

export type Members = DenseMembers | ExactMembers | VoteMembers;

export const membersTexts = {
  empty: (what: string) => `${what} has no rows, so there is nothing to score: give at least one row`,
  size: (what: string, given: number, expected: number) =>
    `${what} holds ${given} values where its rows, members and classes ask for ${expected}: give one value for each`,
  count: (what: string, name: string, given: unknown, least: number) =>
    `${what} has ${name} = ${String(given)}: give a whole number of at least ${least}`,
  probability: (what: string, row: number) =>
    `row ${row} of ${what} has a member whose class probabilities are not between 0 and 1 with the sum 1: give probabilities`,
  spareBits: (what: string, row: number) =>
    `row ${row} of ${what} has bits set beyond its last member: leave those 0`,
  members: (pool: number, targets: number) =>
    `the pool has ${pool} members and the targets have ${targets}: predict both with the same ensemble`,
  rows: (what: string, given: number, expected: number) =>
    `${what} has ${given} rows and the target model's pool has ${expected}: predict the same candidates with every model`,
};

/** Words of a row of votes. */
export const wordsPerRow = (members: number): number => Math.ceil(members / 32);

/** How far a member's probabilities may be from the sum 1: float32 rounding of many classes, and no more. */
const SUM_TOLERANCE = 1e-4;

const requireCount = (what: string, name: string, value: number, least: number): void => {
  if (!Number.isInteger(value) || value < least) {
    throw new InputError("members", membersTexts.count(what, name, value, least));
  }
};

/** Sizes alone: cheap, done by every score. `what` names the rows in errors ("the pool"). */
export const requireMembers = (what: string, given: Members): void => {
  requireCount(what, "members", given.members, 1);
  requireCount(what, "classes", given.classes, 1);
  if (given.rows === 0) throw new InputError("empty-pool", membersTexts.empty(what));
  requireCount(what, "rows", given.rows, 1);
  const [length, expected] =
    given.kind === "votes"
      ? [given.words.length, given.rows * wordsPerRow(given.members)]
      : [given.values.length, given.rows * given.members * given.classes];
  if (length !== expected) throw new InputError("members", membersTexts.size(what, length, expected));
};

/**
 * Every value, for members that come from outside (a file, another program): reads them all once.
 *
 * @example
 * ```ts
 * import { requireProbabilities } from "fairbed/active";
 *
 * requireProbabilities("members", { kind: "dense", rows: 1, members: 1, classes: 2, values: Float32Array.of(0.25, 0.75) });
 * ```
 */
export const requireProbabilities = (what: string, given: Members): void => {
  requireMembers(what, given);
  if (given.kind === "votes") {
    const words = wordsPerRow(given.members);
    const used = given.members % 32;
    if (used === 0) return;
    for (let row = 0; row < given.rows; row++) {
      if (given.words[(row + 1) * words - 1] >>> used !== 0) {
        throw new InputError("members", membersTexts.spareBits(what, row));
      }
    }
    return;
  }
  const { values, classes, members } = given;
  for (let at = 0; at < values.length; at += classes) {
    let sum = 0;
    let inside = true;
    for (let c = 0; c < classes; c++) {
      const p = values[at + c];
      inside &&= p >= 0 && p <= 1;
      sum += p;
    }
    if (!inside || !(Math.abs(sum - 1) <= SUM_TOLERANCE)) {
      throw new InputError("members", membersTexts.probability(what, Math.floor(at / (members * classes))));
    }
  }
};

/** Both sides, from the same ensemble. */
export const requireSameMembers = (pool: Members, targets: Members): void => {
  requireMembers("the pool", pool);
  requireMembers("the target set", targets);
  if (pool.members !== targets.members) {
    throw new InputError("members", membersTexts.members(pool.members, targets.members));
  }
};

/** How many members vote for class 1, [rows]. */
export const countVotes = ({ rows, members, words }: VoteMembers): Int32Array => {
  const width = wordsPerRow(members);
  const counts = new Int32Array(rows);
  for (let row = 0; row < rows; row++) {
    let count = 0;
    for (let w = row * width; w < (row + 1) * width; w++) count += bitCount(words[w]);
    counts[row] = count;
  }
  return counts;
};

/** pbar(c | n) = mean_k P[n, k, c]: [rows, classes]. */
export const meanProbabilities = (given: Members): Float64Array => {
  const { rows, members, classes } = given;
  const mean = new Float64Array(rows * classes);
  if (given.kind === "votes") {
    countVotes(given).forEach((ones, row) => {
      mean[2 * row] = (members - ones) / members;
      mean[2 * row + 1] = ones / members;
    });
    return mean;
  }
  const { values } = given;
  for (let row = 0, at = 0; row < rows; row++) {
    if (classes === 2) {
      // By far the most frequent, and twice as fast in one pass.
      let [zero, one] = [0, 0];
      for (const end = at + 2 * members; at < end; at += 2) {
        zero += values[at];
        one += values[at + 1];
      }
      mean[2 * row] = zero / members;
      mean[2 * row + 1] = one / members;
      continue;
    }
    for (let k = 0; k < members; k++)
      for (let c = 0; c < classes; c++) mean[row * classes + c] += values[at++];
    for (let c = 0; c < classes; c++) mean[row * classes + c] /= members;
  }
  return mean;
};

/** sum_k v_k P[n, k, c], v being weights of the members with the sum 1: [rows, classes]. */
export const weightedProbabilities = (given: Members, memberWeights: Float64Array): Float64Array => {
  const { rows, members, classes } = given;
  const mean = new Float64Array(rows * classes);
  const row = new Float64Array(members * classes);
  for (let n = 0; n < rows; n++) {
    readRow(given, n, row);
    for (let k = 0, at = 0; k < members; k++) {
      for (let c = 0; c < classes; c++) mean[n * classes + c] += memberWeights[k] * row[at++];
    }
  }
  return mean;
};

/** The members of one row in float64, [members, classes], into `out`. */
export const readRow = (given: Members, row: number, out: Float64Array): void => {
  const { members, classes } = given;
  if (given.kind === "votes") {
    const start = row * wordsPerRow(members);
    for (let k = 0; k < members; k++) {
      const vote = (given.words[start + (k >> 5)] >>> (k & 31)) & 1;
      out[2 * k] = 1 - vote;
      out[2 * k + 1] = vote;
    }
    return;
  }
  const size = members * classes;
  for (let i = 0, at = row * size; i < size; i++) out[i] = given.values[at + i];
};

/** Some of the rows, in the given order. */
export const takeRows = (given: Members, rows: ArrayLike<number>): Members => {
  const { members } = given;
  if (given.kind === "votes") {
    const width = wordsPerRow(members);
    const words = new Uint32Array(rows.length * width);
    for (let i = 0; i < rows.length; i++) {
      words.set(given.words.subarray(rows[i] * width, (rows[i] + 1) * width), i * width);
    }
    return { ...given, rows: rows.length, words };
  }
  const size = members * given.classes;
  const copy = <Values extends Float32Array | Float64Array>(from: Values, to: Values): Values => {
    for (let i = 0; i < rows.length; i++) {
      to.set(from.subarray(rows[i] * size, (rows[i] + 1) * size), i * size);
    }
    return to;
  };
  const length = rows.length * size;
  return given.values instanceof Float32Array
    ? { ...given, values: copy(given.values, new Float32Array(length)), rows: rows.length }
    : { ...given, values: copy(given.values, new Float64Array(length)), rows: rows.length };
};

/** The same rows with the members in another order: member k is the given one's `order[k]`. */
export const reorderMembers = (given: Members, order: ArrayLike<number>): Members => {
  const { rows, members, classes } = given;
  if (given.kind === "votes") {
    const width = wordsPerRow(members);
    const words = new Uint32Array(rows * width);
    for (let row = 0; row < rows; row++) {
      for (let k = 0; k < members; k++) {
        const vote = (given.words[row * width + (order[k] >> 5)] >>> (order[k] & 31)) & 1;
        words[row * width + (k >> 5)] |= vote << (k & 31);
      }
    }
    return { ...given, words };
  }
  const reorder = <Values extends Float32Array | Float64Array>(from: Values, to: Values): Values => {
    for (let row = 0; row < rows; row++) {
      for (let k = 0; k < members; k++) {
        const [a, b] = [(row * members + order[k]) * classes, (row * members + k) * classes];
        for (let c = 0; c < classes; c++) to[b + c] = from[a + c];
      }
    }
    return to;
  };
  return given.values instanceof Float32Array
    ? { ...given, values: reorder(given.values, new Float32Array(given.values.length)) }
    : { ...given, values: reorder(given.values, new Float64Array(given.values.length)) };
};

/**
 * One ensemble over the product of two labels that knows nothing of their dependence: member (k, l) is member k of
 * the first and member l of the second, and its class c * second.classes + d has probability P_k(c) Q_l(d).
 */
export const productMembers = (first: Members, second: Members): ExactMembers => {
  const { rows } = first;
  if (second.rows !== rows)
    throw new InputError("members", membersTexts.rows("the second model", second.rows, rows));
  const members = first.members * second.members;
  const classes = first.classes * second.classes;
  const values = new Float64Array(rows * members * classes);
  const [p, q] = [first, second].map((each) => new Float64Array(each.members * each.classes));
  for (let row = 0, at = 0; row < rows; row++) {
    readRow(first, row, p);
    readRow(second, row, q);
    for (let k = 0; k < first.members; k++) {
      for (let l = 0; l < second.members; l++) {
        for (let c = 0; c < first.classes; c++) {
          for (let d = 0; d < second.classes; d++) {
            values[at++] = p[k * first.classes + c] * q[l * second.classes + d];
          }
        }
      }
    }
  }
  return { kind: "dense", rows, members, classes, values };
};
