/** Which rows are tested on, which are predicted for, which may be asked for, and which are known at the start. */
import { InputError } from "../core/errors.js";
import type { RandomStream } from "../core/random.js";

export interface Split {
  /** Held out: nothing is learnt or scored on them. */
  readonly test: Int32Array;
  /** What EPIG's predictions are wanted for; disjoint from all others, their labels are not used. */
  readonly targets: Int32Array;
  /** Labelled from the start. */
  readonly initial: Int32Array;
  /** May be asked for. */
  readonly pool: Int32Array;
}

export interface SplitOptions {
  /** The class of every row of the target label; rows with -1 are left out. */
  readonly labels: Int32Array;
  readonly classes: number;
  /** Further labels that a row must have, such as the sensitive ones. */
  readonly required?: readonly Int32Array[] | undefined;
  readonly stream: RandomStream;
  /** The share that is tested on (0.3). */
  readonly testFraction?: number | undefined;
  /**
   * How many rows are set aside as targets: unless given a tenth of the rest, at least 100 (or a quarter, where that
   * is less) and at most 1000.
   */
  readonly targets?: number | undefined;
  /** How many rows are known at the start: 2 of every class unless given, then drawn at random with one of each. */
  readonly initial?: number | undefined;
}

export const splitTexts = {
  fraction: (given: unknown) =>
    `the test fraction was ${String(given)}: give a number above 0 and below 1, such as 0.3`,
  few: (rows: number, wanted: number) =>
    `${rows} rows have all labels, and the test rows, the targets and the initial labels need ${wanted}: give a larger table, or ask for fewer`,
  initial: (given: unknown, classes: number) =>
    `the number of initial labels was ${String(given)}: give a whole number of at least ${classes}, one for each class`,
  targets: (given: unknown) =>
    `the number of targets was ${String(given)}: give a whole number of at least 1`,
  classMissing: (count: number, needed: number) =>
    `one class of the target has ${count} rows outside the test rows and the targets, and ${needed} are needed to begin with: set fewer rows aside (test fraction, targets), or choose another target`,
};

const PER_CLASS = 2;

/**
 * The same stream gives the same split, whatever is acquired afterwards.
 *
 * @example
 * ```ts
 * import { seededStream } from "fairbed";
 * import { splitRows } from "fairbed/active";
 *
 * const labels = Int32Array.from({ length: 100 }, (_, row) => row % 2);
 * const { test, targets, initial, pool } = splitRows({ labels, classes: 2, stream: seededStream(1) });
 * console.log(test.length, targets.length, initial.length, pool.length); // 30 17 4 49
 * ```
 */
export const splitRows = ({
  labels,
  classes,
  required = [],
  stream,
  testFraction = 0.3,
  targets,
  initial,
}: SplitOptions): Split => {
  if (!(testFraction > 0 && testFraction < 1)) {
    throw new InputError("test-fraction", splitTexts.fraction(testFraction));
  }
  if (initial !== undefined && !(Number.isInteger(initial) && initial >= classes)) {
    throw new InputError("initial", splitTexts.initial(initial, classes));
  }
  if (targets !== undefined && !(Number.isInteger(targets) && targets >= 1)) {
    throw new InputError("targets", splitTexts.targets(targets));
  }
  const known = Int32Array.from(labels.keys()).filter(
    (row) => labels[row] >= 0 && required.every((each) => each[row] >= 0),
  );
  const order = stream.split("split").permutation(known.length);
  const shuffled = Int32Array.from(order, (at) => known[at]);
  const tested = Math.round(testFraction * known.length);
  const rest = known.length - tested;
  const least = Math.min(100, Math.floor(rest / 4));
  const aside = targets ?? Math.min(1000, Math.max(1, least, Math.round(0.1 * rest)));
  const first = initial ?? PER_CLASS * classes;
  if (tested < 1 || rest - aside <= first) {
    throw new InputError("rows", splitTexts.few(known.length, tested + aside + first + 1));
  }
  const candidates = shuffled.subarray(tested + aside);
  const chosen = new Set<number>();
  const perClass = initial === undefined ? PER_CLASS : 1;
  for (let c = 0; c < classes; c++) {
    const own = candidates.filter((row) => labels[row] === c);
    if (own.length < perClass) throw new InputError("rows", splitTexts.classMissing(own.length, perClass));
    for (const row of own.subarray(0, perClass)) chosen.add(row);
  }
  for (const row of candidates) {
    if (chosen.size === first) break;
    chosen.add(row);
  }
  return {
    test: shuffled.slice(0, tested).sort(),
    targets: shuffled.slice(tested, tested + aside).sort(),
    initial: Int32Array.from(chosen),
    pool: candidates.filter((row) => !chosen.has(row)).sort(),
  };
};
