/** Whether what a mitigation was fitted to on some rows holds on the test rows. */
import { between, fixed } from "../core/number-text.js";
import { type Interval, wilsonInterval } from "../core/stats.js";

export interface FittedBand {
  /** What is compared between the groups: the difference of selection rates, or the smallest rate over the largest. */
  readonly measure: "difference" | "ratio";
  readonly of: "selection rates" | "true positive rates";
  /** What was aimed at; the same number twice where it is one. */
  readonly band: Interval;
  /** On the rows that it was fitted on. */
  readonly fitted: number;
  /** On the test rows, with its 95 % interval; null where a group is not there. */
  readonly test: { readonly value: number; readonly interval: Interval } | null;
  /** Whether the value on the test rows lies outside the band; null where there is none. */
  readonly outside: boolean | null;
  readonly sentence: string;
}

export const fittedBandTexts = {
  none: "a group has no test rows, so whether what was fitted holds on others cannot be said",
  sentence: (
    { measure, of, band, fitted, test }: Omit<FittedBand, "sentence" | "outside">,
    outside: boolean,
  ) => {
    const [low, high] = band;
    const aim = low === high ? fixed(low, 2) : between(band, 2);
    const value = test === null ? "" : `${fixed(test.value, 3)} (${between(test.interval)})`;
    const chance =
      test !== null && outside && test.interval[0] <= high && test.interval[1] >= low
        ? ", though its interval reaches inside"
        : "";
    return `fitted to a ${measure} of ${of} of ${aim}, ${fixed(fitted, 3)} on the rows it was fitted on; on the test rows ${value}: ${outside ? `outside${chance}` : "inside"}`;
  },
};

/** Counts of a group: how many of its rows are favoured. */
export interface FavouredCount {
  readonly favoured: number;
  readonly rows: number;
}

/** Of a group among rows that were decided. */
export const countFavoured = (predicted: ArrayLike<number>, isIn: (at: number) => boolean): FavouredCount => {
  let [favoured, rows] = [0, 0];
  for (let at = 0; at < predicted.length; at++) {
    if (!isIn(at)) continue;
    rows += 1;
    favoured += predicted[at];
  }
  return { favoured, rows };
};

/** p1 - p2 with Newcombe's interval from those of Wilson (Statistics in Medicine 17, 1998, method 10). */
export const differenceOfShares = (
  first: FavouredCount,
  second: FavouredCount,
): { readonly value: number; readonly interval: Interval } | null => {
  if (first.rows === 0 || second.rows === 0) return null;
  const [p1, p2] = [first, second].map(({ favoured, rows }) => favoured / rows);
  const [[l1, u1], [l2, u2]] = [first, second].map(({ favoured, rows }) => wilsonInterval(favoured, rows));
  const value = p1 - p2;
  return {
    value,
    interval: [
      value - Math.sqrt((p1 - l1) ** 2 + (u2 - p2) ** 2),
      value + Math.sqrt((u1 - p1) ** 2 + (p2 - l2) ** 2),
    ],
  };
};

/**
 * The smallest share over the largest, with the interval for a ratio that Donner and Zou recover from those of the two
 * (Statistical Methods in Medical Research 21, 2012), within 0 and 1.
 */
export const ratioOfShares = (
  groups: readonly FavouredCount[],
): { readonly value: number; readonly interval: Interval } | null => {
  if (groups.length < 2 || groups.some(({ rows }) => rows === 0)) return null;
  const byShare = [...groups].sort((a, b) => a.favoured / a.rows - b.favoured / b.rows);
  const [least, most] = [byShare[0], byShare[byShare.length - 1]];
  if (most.favoured === 0) return null;
  const [p1, p2] = [least, most].map(({ favoured, rows }) => favoured / rows);
  const [[l1, u1], [l2, u2]] = [least, most].map(({ favoured, rows }) => wilsonInterval(favoured, rows));
  const root = (a: number, b: number) =>
    Math.sqrt(Math.max(0, (p1 * p2) ** 2 - a * b * (2 * p1 - a) * (2 * p2 - b)));
  const low = (p1 * p2 - root(l1, u2)) / (u2 * (2 * p2 - u2));
  const high = (p1 * p2 + root(u1, l2)) / (l2 * (2 * p2 - l2));
  return { value: p1 / p2, interval: [Math.max(0, low), Math.min(1, high)] };
};

/** Outside by the value itself; a single number is missed where the interval does not have it. */
export const fittedBand = (about: Omit<FittedBand, "sentence" | "outside">): FittedBand => {
  const { band, test } = about;
  if (test === null) return { ...about, outside: null, sentence: fittedBandTexts.none };
  const [low, high] = band;
  const outside =
    low === high ? test.interval[0] > high || test.interval[1] < low : test.value < low || test.value > high;
  return { ...about, outside, sentence: fittedBandTexts.sentence(about, outside) };
};

/** What a person must know of it before using the mitigation. */
export const bandWarnings = ({ outside, sentence }: FittedBand): readonly string[] =>
  outside === false ? [] : [sentence];
