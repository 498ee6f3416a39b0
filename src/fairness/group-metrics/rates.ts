/** The rates of every group, from one table of counts. */
import { normalQuantile } from "../../core/math.js";
import { type Interval, wilsonInterval } from "../../core/stats.js";

/** Counts are kept by group and by these three yes/no answers about a row: [groups, CELLS]. */
const PREDICTED = 1;
const ACTUAL = 2;
const RIGHT = 4;
export const CELLS = 8;

export const cellOf = (predicted: boolean, actual: boolean, right: boolean): number =>
  (predicted ? PREDICTED : 0) + (actual ? ACTUAL : 0) + (right ? RIGHT : 0);

/** A rate is a share of the rows in some cells: those of which it counts the ones in `counted`. */
interface RateDefinition {
  readonly among: (cell: number) => boolean;
  readonly counted: (cell: number) => boolean;
  /** What it is a share of, in words: "rows", "rows with the positive outcome". */
  readonly of: string;
  readonly needsActual: boolean;
}

const all = () => true;
const has = (bit: number) => (cell: number) => (cell & bit) !== 0;
const lacks = (bit: number) => (cell: number) => (cell & bit) === 0;
const POSITIVES = "rows with the positive outcome";
const NEGATIVES = "rows without the positive outcome";

export const RATES = {
  /** P(y = 1 | g) */
  baseRate: { among: all, counted: has(ACTUAL), of: "rows", needsActual: true },
  /** P(z = 1 | g) */
  selectionRate: { among: all, counted: has(PREDICTED), of: "rows", needsActual: false },
  /** P(z = 1 | y = 1, g) */
  truePositiveRate: { among: has(ACTUAL), counted: has(PREDICTED), of: POSITIVES, needsActual: true },
  /** P(z = 1 | y = 0, g) */
  falsePositiveRate: { among: lacks(ACTUAL), counted: has(PREDICTED), of: NEGATIVES, needsActual: true },
  /** P(y = 1 | z = 1, g) */
  precision: {
    among: has(PREDICTED),
    counted: has(ACTUAL),
    of: "rows predicted positive",
    needsActual: true,
  },
  /** P(z = y | g), of all classes where there are more than two */
  accuracy: { among: all, counted: has(RIGHT), of: "rows", needsActual: true },
} as const satisfies Record<string, RateDefinition>;

export type RateName = keyof typeof RATES;

export const RATE_NAMES = Object.keys(RATES) as readonly RateName[];

/** Why something could not be said, in words for the reader of a report. */
export const reasonTexts = {
  noActual: "the actual outcomes were not given",
  nobody: (of: string) => `the group has no ${of}`,
  noWeight: (of: string) => `the ${of} of the group all have weight 0`,
  few: (rows: number, of: string, least: number) =>
    `the group has only ${rows} ${of}, fewer than the ${least} needed to compare it`,
  fewGroups: "fewer than two groups are large enough to compare",
  zeroOverZero: "the rate is 0 in every group that it would compare",
  zeroReference: "the rate of the reference group is 0",
  referenceLeftOut: "the reference group is not large enough to compare",
  unmoved: "every resample gave the same value, so that resampling cannot say how sure it is",
  oftenUndefined: "the value was not defined in more than a tenth of the resamples",
  noReplicates: "no replicates were asked for",
  tooManyGroups: "there are too many groups and different scores to resample their distributions",
};

/** A share of rows. `value` and `interval` are undefined where there is nothing to take a share of. */
export interface Rate {
  readonly value: number | undefined;
  /** Wilson's; with weights at the effective number of rows (sum w)^2 / sum w^2. */
  readonly interval: Interval | undefined;
  /** Rows; sums of weights where there are weights. */
  readonly numerator: number;
  readonly denominator: number;
  /** It has too few rows to be compared with the rate of another group; `reason` says so. */
  readonly tooSmall: boolean;
  readonly reason: string | undefined;
}

export type Rates = Readonly<Record<RateName, Rate>>;

/** Numerator and denominator of a rate from `counts` [CELLS] that start at `from`. */
export const fractionOf = (
  name: RateName,
  counts: ArrayLike<number>,
  from: number,
): readonly [number, number] => {
  const { among, counted } = RATES[name];
  let numerator = 0;
  let denominator = 0;
  for (let cell = 0; cell < CELLS; cell++) {
    if (!among(cell)) continue;
    denominator += counts[from + cell];
    if (counted(cell)) numerator += counts[from + cell];
  }
  return [numerator, denominator];
};

/** Wilson's interval at a share p of a number of rows that need not be whole. */
const wilsonAtShare = (p: number, n: number, level: number): Interval => {
  const z = -normalQuantile((1 - level) / 2);
  const center = p + (z * z) / (2 * n);
  const half = z * Math.sqrt((p * (1 - p)) / n + (z * z) / (4 * n * n));
  const scale = 1 + (z * z) / n;
  return [Math.max(0, (center - half) / scale), Math.min(1, (center + half) / scale)];
};

/** How many rows are in each cell [groups, CELLS], and where rows have weights the sums of w and of w^2. */
export interface CellCounts {
  readonly rows: Float64Array;
  readonly weighted: { readonly weights: Float64Array; readonly squares: Float64Array } | undefined;
}

export interface RateRules {
  readonly level: number;
  readonly leastRows: number;
  readonly hasActual: boolean;
}

/** One rate of the group whose cells start at `from`. */
const rateOf = (name: RateName, counts: CellCounts, from: number, rules: RateRules): Rate => {
  const { of, needsActual } = RATES[name];
  const unknown = (numerator: number, denominator: number, reason: string): Rate => ({
    value: undefined,
    interval: undefined,
    numerator,
    denominator,
    tooSmall: true,
    reason,
  });
  if (needsActual && !rules.hasActual) return unknown(0, 0, reasonTexts.noActual);
  const [hits, rows] = fractionOf(name, counts.rows, from);
  if (rows === 0) return unknown(0, 0, reasonTexts.nobody(of));
  const { weighted } = counts;
  const [numerator, denominator] =
    weighted === undefined ? [hits, rows] : fractionOf(name, weighted.weights, from);
  if (denominator === 0) return unknown(0, 0, reasonTexts.noWeight(of));
  const value = numerator / denominator;
  const tooSmall = rows < rules.leastRows;
  return {
    value,
    interval:
      weighted === undefined
        ? wilsonInterval(hits, rows, rules.level)
        : wilsonAtShare(
            Math.min(1, value),
            (denominator * denominator) / fractionOf(name, weighted.squares, from)[1],
            rules.level,
          ),
    numerator,
    denominator,
    tooSmall,
    reason: tooSmall ? reasonTexts.few(rows, of, rules.leastRows) : undefined,
  };
};

export const ratesOf = (counts: CellCounts, from: number, rules: RateRules): Rates =>
  Object.fromEntries(RATE_NAMES.map((name) => [name, rateOf(name, counts, from, rules)])) as unknown as Rates;
