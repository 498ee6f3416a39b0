/**
 * How far the groups' score distributions lie apart, whatever the threshold.
 *
 * With F_g the distribution function of the scores of group g, the share selected at threshold t is 1 - F_g(t), so
 *
 *     area    = integral over t in [0, 1] of max_g F_g(t) - min_g F_g(t)
 *     largest = max over t of                max_g F_g(t) - min_g F_g(t)
 *
 * are the mean and the largest demographic-parity difference over all thresholds. For two groups they are the
 * Wasserstein-1 and the Kolmogorov-Smirnov distance.
 */
import type { RandomStream } from "../../core/random.js";
import { type Gap, gapOf, plusMinus, unknownGap } from "./comparison.js";
import { reasonTexts } from "./rates.js";
import { resampleOf } from "./resample.js";

export interface Distances {
  readonly area: Gap;
  readonly largest: Gap;
}

export interface ScoreGaps extends Distances {
  readonly reference: string;
  /** Each other group against the reference alone. */
  readonly against: readonly (Distances & { readonly group: string })[];
  /** Groups with too few rows. */
  readonly leftOut: readonly { readonly group: string; readonly reason: string }[];
}

export interface ScoredRows {
  readonly scores: Float64Array;
  /** -1 is unknown and left out. */
  readonly groups: Int32Array;
  readonly weights: Float64Array | undefined;
  readonly groupNames: readonly string[];
  readonly reference: number;
  readonly leastRows: number;
  readonly level: number;
  readonly replicates: number;
  readonly stream: RandomStream;
}

/** Above this many steps (groups x scores x replicates) there are no intervals. */
const MOST_STEPS = 4e9;

/** The distribution functions of `groups` groups at `count` scores, from counts of that shape, in place. */
const cumulate = (counts: Float64Array, groups: number, count: number): void => {
  for (let g = 0; g < groups; g++) {
    let sum = 0;
    for (let i = g * count; i < (g + 1) * count; i++) {
      sum += counts[i];
      counts[i] = sum;
    }
    // A group that a resample missed has 0 / 0 = NaN, which every distance from it then is.
    for (let i = g * count; i < (g + 1) * count; i++) counts[i] /= sum;
  }
};

/** Area and largest distance between the envelopes of the given groups' functions, of [groups, count]. */
const envelope = (
  functions: Float64Array,
  groups: readonly number[],
  widths: Float64Array,
): readonly [number, number] => {
  const count = widths.length;
  let area = 0;
  let largest = 0;
  if (groups.length === 2) {
    const [a, b] = [groups[0] * count, groups[1] * count];
    for (let i = 0; i < count; i++) {
      const gap = Math.abs(functions[a + i] - functions[b + i]);
      area += gap * widths[i];
      largest = Math.max(largest, gap);
    }
    return [area, largest];
  }
  for (let i = 0; i < count; i++) {
    let high = Number.NEGATIVE_INFINITY;
    let low = Number.POSITIVE_INFINITY;
    for (const g of groups) {
      high = Math.max(high, functions[g * count + i]);
      low = Math.min(low, functions[g * count + i]);
    }
    area += (high - low) * widths[i];
    largest = Math.max(largest, high - low);
  }
  return [area, largest];
};

/** Which groups are compared, by place: area and largest distance, and per replicate their values and deviations. */
interface Comparison {
  readonly groups: readonly number[];
  readonly estimate: readonly [number, number];
  readonly values: readonly [Float64Array, Float64Array];
  readonly deviations: readonly [Float64Array, Float64Array];
}

const record = (
  into: readonly [Float64Array, Float64Array],
  r: number,
  [area, largest]: readonly [number, number],
): void => {
  into[0][r] = area;
  into[1][r] = largest;
};

const distancesOf = ({ estimate, values, deviations }: Comparison, level: number): Distances => {
  const [area, largest] = ([0, 1] as const).map((k) =>
    gapOf(estimate[k], values[k], level, { of: deviations[k], apply: plusMinus }),
  );
  return { area, largest };
};

/** The rows of the given groups, and the cell [group, score] that each is in. */
const cellsByScore = ({ scores, groups, weights }: ScoredRows, compared: readonly number[]) => {
  const place = new Map(compared.map((group, at) => [group, at]));
  const rows = Array.from(scores.keys()).filter((row) => place.has(groups[row]));
  const distinct = Float64Array.from(new Set(rows.map((row) => scores[row]))).sort();
  const rank = new Map(Array.from(distinct, (score, at) => [score, at]));
  const cells = Int32Array.from(
    rows,
    (row) => (place.get(groups[row]) ?? 0) * distinct.length + (rank.get(scores[row]) ?? 0),
  );
  // The functions are constant from one score to the next; after the last they all are 1.
  const widths = distinct.map((score, i) => (i + 1 < distinct.length ? distinct[i + 1] - score : 0));
  return {
    cells,
    widths,
    weights: weights === undefined ? undefined : Float64Array.from(rows, (row) => weights[row]),
  };
};

export const scoreGaps = (input: ScoredRows): ScoreGaps => {
  const { groups, groupNames, reference, leastRows, level, stream } = input;
  const sizes = new Float64Array(groupNames.length);
  const totals = new Float64Array(groupNames.length);
  groups.forEach((group, row) => {
    if (group < 0) return;
    sizes[group]++;
    totals[group] += input.weights?.[row] ?? 1;
  });
  const reasonFor = (g: number): string | undefined => {
    if (sizes[g] === 0) return reasonTexts.nobody("rows");
    if (sizes[g] < leastRows) return reasonTexts.few(sizes[g], "rows", leastRows);
    return totals[g] === 0 ? reasonTexts.noWeight("rows") : undefined;
  };
  const reasons = groupNames.map((_, g) => reasonFor(g));
  const compared = groupNames.flatMap((_, g) => (reasons[g] === undefined ? [g] : []));
  const { cells, widths, weights } = cellsByScore(input, compared);
  const count = widths.length;
  const estimate = new Float64Array(compared.length * count);
  for (let i = 0; i < cells.length; i++) estimate[cells[i]] += weights?.[i] ?? 1;
  cumulate(estimate, compared.length, count);

  const tooMany = compared.length * count * input.replicates > MOST_STEPS;
  const replicates = tooMany ? 0 : input.replicates;
  const comparisonOf = (places: readonly number[]): Comparison => ({
    groups: places,
    estimate: envelope(estimate, places, widths),
    values: [new Float64Array(replicates), new Float64Array(replicates)],
    deviations: [new Float64Array(replicates), new Float64Array(replicates)],
  });
  const referencePlace = compared.indexOf(reference);
  const all = compared.length < 2 ? undefined : comparisonOf(compared.map((_, place) => place));
  const pairs = compared.map((_, place) =>
    referencePlace < 0 || place === referencePlace ? undefined : comparisonOf([place, referencePlace]),
  );
  const comparisons = [all, ...pairs].filter((comparison) => comparison !== undefined);
  const resample = resampleOf(cells, estimate.length, weights);
  const drawn = new Float64Array(estimate.length);
  const deviations = new Float64Array(estimate.length);
  for (let r = 0; r < (comparisons.length === 0 ? 0 : replicates); r++) {
    resample(stream, drawn);
    cumulate(drawn, compared.length, count);
    for (let i = 0; i < drawn.length; i++) deviations[i] = drawn[i] - estimate[i];
    for (const comparison of comparisons) {
      record(comparison.values, r, envelope(drawn, comparison.groups, widths));
      record(comparison.deviations, r, envelope(deviations, comparison.groups, widths));
    }
  }

  const inWords = (comparison: Comparison | undefined, reason: string): Distances => {
    if (comparison === undefined) return { area: unknownGap(reason), largest: unknownGap(reason) };
    const { area, largest } = distancesOf(comparison, level);
    if (!tooMany) return { area, largest };
    const { tooManyGroups } = reasonTexts;
    return { area: { ...area, reason: tooManyGroups }, largest: { ...largest, reason: tooManyGroups } };
  };
  return {
    ...inWords(all, reasonTexts.fewGroups),
    reference: groupNames[reference],
    against: groupNames.flatMap((group, g) =>
      g === reference
        ? []
        : [{ group, ...inWords(pairs[compared.indexOf(g)], reasons[g] ?? reasonTexts.referenceLeftOut) }],
    ),
    leftOut: groupNames.flatMap((group, g) => {
      const reason = reasons[g];
      return reason === undefined ? [] : [{ group, reason }];
    }),
  };
};
