/**
 * Krippendorff's alpha (Content Analysis, 2004, chapter 11): how far annotators agree beyond what chance would give.
 *
 * A unit u with m_u >= 2 values pairs each of them with the others; all pairs are counted in the coincidences
 *
 *     o(c, k) = sum over u of (ordered pairs of values c, k in u) / (m_u - 1),   n(c) = sum over k of o(c, k),   n = sum n(c)
 *
 * and with a squared distance d between values
 *
 *     alpha = 1 - (n - 1) sum o(c, k) d(c, k) / sum n(c) n(k) d(c, k),   the second sum over pairs of different values.
 *
 * 1 is perfect agreement, 0 what chance gives; below 0 annotators contradict each other. Values may be missing anywhere.
 */
import { InputError } from "../errors.js";
import type { RandomStream } from "../random.js";
import type { Interval } from "./intervals.js";
import { quantiles } from "./quantile.js";
import { requireLevel } from "./values.js";

/** What an annotator said of a unit; null, undefined and NaN are nothing. Texts are for nominal values only. */
export type Rating = number | string | null | undefined;

/** What the values are: names, places in an order, or numbers whose differences count. */
export type AgreementScale = "nominal" | "ordinal" | "interval";

export interface AgreementOptions {
  /** ("nominal") */
  readonly scale?: AgreementScale | undefined;
  /** Resamples the units. */
  readonly stream: RandomStream;
  /** Resamples (1000). */
  readonly replicates?: number | undefined;
  /** Of the interval (0.95). */
  readonly level?: number | undefined;
}

export interface Agreement {
  /** Null where it is undefined: `reason` says why. */
  readonly alpha: number | null;
  /**
   * From resamples of the units; those in which all values are the same have no alpha and are drawn again. Where no unit
   * disagrees none of the resamples does, and the interval is [1, 1] however few units there are.
   */
  readonly interval: Interval | null;
  /** Fewer than two units have two values each; or all values are the same, so that nobody could have disagreed. */
  readonly reason: "few-units" | "no-variation" | null;
  /** Units that have at least two values, and the values in them: what alpha rests on. */
  readonly units: number;
  readonly values: number;
}

export const agreementTexts = {
  number: (value: number | string, unit: number) =>
    `The value ${JSON.stringify(value)} of unit ${unit} is not a number, which agreement on an ordinal or interval scale needs; give numbers, or use the scale "nominal".`,
  infinite: (value: number, unit: number) =>
    `The value ${value} of unit ${unit} is not finite; leave it out or repair it.`,
  replicates: (given: number) =>
    `Agreement got ${given} resamples, but needs a whole number of at least 2; 1000 is a common choice.`,
};

/** Coincidences of one unit: places of the two values in the list of all values, and how much the pair counts. */
interface UnitPairs {
  readonly size: number;
  readonly first: Uint16Array;
  readonly second: Uint16Array;
  readonly counts: Float64Array;
}

const isGiven = (rating: Rating): rating is number | string =>
  rating !== null && rating !== undefined && !(typeof rating === "number" && Number.isNaN(rating));

const requireRating = (rating: number | string, unit: number, scale: AgreementScale): void => {
  if (typeof rating === "string") {
    if (scale !== "nominal") throw new InputError("agreement", agreementTexts.number(rating, unit));
  } else if (!Number.isFinite(rating)) {
    throw new InputError("agreement", agreementTexts.infinite(rating, unit));
  }
};

const pairsOf = (ratings: readonly (number | string)[], places: ReadonlyMap<number | string, number>) => {
  const counts = new Map<number, number>();
  for (const rating of ratings) {
    const place = places.get(rating) ?? 0;
    counts.set(place, (counts.get(place) ?? 0) + 1);
  }
  const entries = [...counts].sort(([a], [b]) => a - b);
  const pairs = entries.flatMap(([c, ofC]) =>
    entries.map(([k, ofK]) => ({
      c,
      k,
      count: (ofC * (c === k ? ofC - 1 : ofK)) / (ratings.length - 1),
    })),
  );
  return {
    size: ratings.length,
    first: Uint16Array.from(pairs, ({ c }) => c),
    second: Uint16Array.from(pairs, ({ k }) => k),
    counts: Float64Array.from(pairs, ({ count }) => count),
  };
};

/** d(c, k) by the marginal counts n(c), values in ascending order. */
const distanceBy = (scale: AgreementScale, values: readonly (number | string)[]) => {
  if (scale === "nominal") return () => (c: number, k: number) => Number(c !== k);
  if (scale === "interval")
    return () => (c: number, k: number) => (Number(values[c]) - Number(values[k])) ** 2;
  return (marginals: Float64Array) => {
    const upTo = new Float64Array(marginals.length + 1);
    marginals.forEach((count, c) => {
      upTo[c + 1] = upTo[c] + count;
    });
    return (c: number, k: number) => {
      const [low, high] = c < k ? [c, k] : [k, c];
      return (upTo[high + 1] - upTo[low] - (marginals[low] + marginals[high]) / 2) ** 2;
    };
  };
};

/**
 * Krippendorff's alpha of `units`, [units][annotators], with a 95 % interval for other units by the same annotators. The
 * order of units does not matter to alpha, that of the annotators to nothing.
 */
export const krippendorffAlpha = (
  units: readonly (readonly Rating[])[],
  { scale = "nominal", stream, replicates = 1000, level = 0.95 }: AgreementOptions,
): Agreement => {
  requireLevel(level);
  if (!Number.isInteger(replicates) || replicates < 2)
    throw new InputError("agreement", agreementTexts.replicates(replicates));
  const given = units.map((unit, at) => {
    const ratings = unit.filter(isGiven);
    for (const rating of ratings) requireRating(rating, at, scale);
    return ratings;
  });
  const paired = given.filter((ratings) => ratings.length > 1);
  const values = [...new Set(paired.flat())].sort((a, b) =>
    typeof a === "number" && typeof b === "number" ? a - b : String(a) < String(b) ? -1 : 1,
  );
  const places = new Map(values.map((value, place) => [value, place]));
  const pairs: readonly UnitPairs[] = paired.map((ratings) => pairsOf(ratings, places));
  const counted = { units: pairs.length, values: pairs.reduce((sum, { size }) => sum + size, 0) };
  const distanceOf = distanceBy(scale, values);
  const alphaOf = (rows: ArrayLike<number>): number | undefined => {
    const coincidences = new Float64Array(values.length * values.length);
    const marginals = new Float64Array(values.length);
    for (let i = 0; i < rows.length; i++) {
      const { first, second, counts } = pairs[rows[i]];
      counts.forEach((count, at) => {
        coincidences[first[at] * values.length + second[at]] += count;
        marginals[first[at]] += count;
      });
    }
    const distance = distanceOf(marginals);
    const n = marginals.reduce((sum, count) => sum + count, 0);
    let observed = 0;
    let expected = 0;
    for (let c = 0; c < values.length; c++) {
      for (let k = 0; k < c; k++) {
        observed += coincidences[c * values.length + k] * distance(c, k);
        expected += marginals[c] * marginals[k] * distance(c, k);
      }
    }
    return expected > 0 ? 1 - ((n - 1) * observed) / expected : undefined;
  };
  if (pairs.length < 2) return { alpha: null, interval: null, reason: "few-units", ...counted };
  const alpha = alphaOf(Uint32Array.from(pairs.keys()));
  if (alpha === undefined) return { alpha: null, interval: null, reason: "no-variation", ...counted };
  const drawn: number[] = [];
  const rows = new Uint32Array(pairs.length);
  // At least every second resample has two values, even where one unit alone is unlike the others.
  while (drawn.length < replicates) {
    for (let i = 0; i < rows.length; i++) rows[i] = stream.integer(pairs.length);
    const value = alphaOf(rows);
    if (value !== undefined) drawn.push(value);
  }
  const tail = (1 - level) / 2;
  const [low, high] = quantiles(drawn, [tail, 1 - tail]);
  return { alpha, interval: [low, high], reason: null, ...counted };
};
