/**
 * How far the groups lie apart in a rate, from values that were computed once.
 *
 * Intervals. What is signed (a group against the reference) has the percentile interval of its replicates. What is
 * not (largest - smallest, smallest / largest, a distance) has not: its replicates lie further out than the estimate
 * as the estimate lies further out than the truth, and where all groups are alike a percentile interval would never
 * reach 0. Instead, the largest difference D(p) = max_g p_g - min_g p_g obeys
 *
 *     |D(p) - D(q)| <= max_g (p_g - q_g) - min_g (p_g - q_g)
 *
 * so with r the `level` quantile of the right side for p = a replicate and q = the estimate, estimate ± r covers the
 * truth at least as often as it says, for any number of groups. The same holds for the logarithm of the ratio.
 */
import { type Interval, momentsOf, quantile, quantiles, sampleVariance } from "../../core/stats.js";
import { type RateName, type Rates, reasonTexts } from "./rates.js";

/** A difference, ratio or distance. What could not be said is undefined, and `reason` says why. */
export interface Gap {
  readonly value: number | undefined;
  readonly interval: Interval | undefined;
  /** The standard deviation of the bootstrap replicates. */
  readonly standardError: number | undefined;
  readonly reason: string | undefined;
}

export interface GroupAgainst {
  readonly group: string;
  /** rate of the group - rate of the reference */
  readonly difference: Gap;
  /** rate of the group / rate of the reference */
  readonly ratio: Gap;
}

export interface RateComparison {
  readonly lowest: string | undefined;
  readonly highest: string | undefined;
  /** largest - smallest over the groups compared */
  readonly difference: Gap;
  /** smallest / largest over the groups compared */
  readonly ratio: Gap;
  readonly reference: string;
  readonly against: readonly GroupAgainst[];
  readonly leftOut: readonly { readonly group: string; readonly reason: string }[];
}

export interface ComparedGroup {
  readonly name: string;
  readonly rates: Rates;
}

/** The rates of every group in every resample. */
export interface Replicates {
  readonly count: number;
  readonly level: number;
  /** The rate of this group in resample r; NaN where it has no rows to take a share of. */
  rate(name: RateName, group: number, r: number): number;
}

export const unknownGap = (reason: string): Gap => ({
  value: undefined,
  interval: undefined,
  standardError: undefined,
  reason,
});

const bare = (value: number, reason: string): Gap => ({
  value,
  interval: undefined,
  standardError: undefined,
  reason,
});

/**
 * An estimate with its replicates (NaN where not defined) as a gap: `deviations` are how far the truth may lie from
 * the estimate on the scale of `apply`, or undefined for the percentile interval.
 */
export const gapOf = (
  value: number,
  replicates: Float64Array,
  level: number,
  deviations?: { readonly of: Float64Array; readonly apply: (value: number, by: number) => Interval },
): Gap => {
  if (replicates.length === 0) return bare(value, reasonTexts.noReplicates);
  const defined = replicates.filter((x) => !Number.isNaN(x));
  if (defined.length < 0.9 * replicates.length) return bare(value, reasonTexts.oftenUndefined);
  const standardError = Math.sqrt(sampleVariance(momentsOf(defined)));
  if (standardError === 0) return bare(value, reasonTexts.unmoved);
  if (deviations !== undefined) {
    const by = quantile(
      deviations.of.filter((x) => !Number.isNaN(x)),
      level,
    );
    return { value, interval: deviations.apply(value, by), standardError, reason: undefined };
  }
  const [low, high] = quantiles(defined, [(1 - level) / 2, (1 + level) / 2]);
  return { value, interval: [low, high], standardError, reason: undefined };
};

/** estimate ± by, within [0, 1]. */
export const plusMinus = (value: number, by: number): Interval => [
  Math.max(0, value - by),
  Math.min(1, value + by),
];

/** estimate * e^±by, within [0, 1]; `by` is given as e^by, which is infinite where a replicate's smallest rate is 0. */
const timesOrOver = (value: number, by: number): Interval => [value / by, Math.min(1, value * by)];

const range = (values: readonly number[]): number => Math.max(...values) - Math.min(...values);

const minOverMax = (values: readonly number[]): number => Math.min(...values) / Math.max(...values);

const valueIn = (group: ComparedGroup, name: RateName): number => group.rates[name].value ?? Number.NaN;

/** The groups large enough to be compared in all of these rates, by number. */
const comparable = (groups: readonly ComparedGroup[], names: readonly RateName[]): number[] =>
  groups.flatMap((group, g) => (names.some((name) => group.rates[name].tooSmall) ? [] : [g]));

/**
 * The largest difference and the smallest ratio over these rates (one, or both of equalised odds) between any two
 * of the groups.
 */
export const worstGaps = (
  groups: readonly ComparedGroup[],
  names: readonly RateName[],
  replicates: Replicates,
): { readonly difference: Gap; readonly ratio: Gap } => {
  const compared = comparable(groups, names);
  if (compared.length < 2) {
    const gap = unknownGap(reasonTexts.fewGroups);
    return { difference: gap, ratio: gap };
  }
  const estimates = names.map((name) => compared.map((g) => valueIn(groups[g], name)));
  const difference = Math.max(...estimates.map(range));
  // 0 / 0 is NaN and makes the ratio unknown.
  const ratio = Math.min(...estimates.map(minOverMax));
  const differences = new Float64Array(replicates.count);
  const ratios = new Float64Array(replicates.count);
  const differenceDeviations = new Float64Array(replicates.count);
  const ratioDeviations = new Float64Array(replicates.count);
  for (let r = 0; r < replicates.count; r++) {
    let ratioDeviation = 1;
    ratios[r] = 1;
    for (let n = 0; n < names.length; n++) {
      const drawn = compared.map((g) => replicates.rate(names[n], g, r));
      // Math.max and Math.min keep NaN.
      differences[r] = Math.max(differences[r], range(drawn));
      ratios[r] = Math.min(ratios[r], minOverMax(drawn));
      differenceDeviations[r] = Math.max(
        differenceDeviations[r],
        range(drawn.map((rate, i) => rate - estimates[n][i])),
      );
      ratioDeviation = Math.max(
        ratioDeviation,
        1 / minOverMax(drawn.map((rate, i) => rate / estimates[n][i])),
      );
    }
    ratioDeviations[r] = ratioDeviation;
  }
  return {
    difference: gapOf(difference, differences, replicates.level, {
      of: differenceDeviations,
      apply: plusMinus,
    }),
    ratio: Number.isNaN(ratio)
      ? unknownGap(reasonTexts.zeroOverZero)
      : gapOf(ratio, ratios, replicates.level, { of: ratioDeviations, apply: timesOrOver }),
  };
};

const againstReference = (
  groups: readonly ComparedGroup[],
  name: RateName,
  group: number,
  reference: number,
  replicates: Replicates,
): GroupAgainst => {
  const named = groups[group].name;
  const { tooSmall, reason } = groups[group].rates[name];
  if (tooSmall || groups[reference].rates[name].tooSmall) {
    const gap = unknownGap(tooSmall && reason !== undefined ? reason : reasonTexts.referenceLeftOut);
    return { group: named, difference: gap, ratio: gap };
  }
  const own = valueIn(groups[group], name);
  const other = valueIn(groups[reference], name);
  const differences = new Float64Array(replicates.count);
  const ratios = new Float64Array(replicates.count);
  for (let r = 0; r < replicates.count; r++) {
    const drawn = replicates.rate(name, group, r);
    const drawnReference = replicates.rate(name, reference, r);
    differences[r] = drawn - drawnReference;
    // A ratio to 0 has no value, not even an infinite one.
    ratios[r] = drawnReference === 0 ? Number.NaN : drawn / drawnReference;
  }
  return {
    group: named,
    difference: gapOf(own - other, differences, replicates.level),
    ratio: other === 0 ? unknownGap(reasonTexts.zeroReference) : gapOf(own / other, ratios, replicates.level),
  };
};

/** The groups compared in one rate. */
export const compareRate = (
  groups: readonly ComparedGroup[],
  name: RateName,
  reference: number,
  replicates: Replicates,
): RateComparison => {
  const compared = comparable(groups, [name]);
  const byRate = compared.toSorted((a, b) => valueIn(groups[a], name) - valueIn(groups[b], name));
  const lowest = byRate.at(0);
  const highest = byRate.at(-1);
  return {
    lowest: lowest === undefined ? undefined : groups[lowest].name,
    highest: highest === undefined ? undefined : groups[highest].name,
    ...worstGaps(groups, [name], replicates),
    reference: groups[reference].name,
    against: groups.flatMap((_, g) =>
      g === reference ? [] : [againstReference(groups, name, g, reference, replicates)],
    ),
    leftOut: groups.flatMap(({ name: group, rates }) => {
      const { tooSmall, reason } = rates[name];
      return tooSmall && reason !== undefined ? [{ group, reason }] : [];
    }),
  };
};
