/**
 * Why a predictor treats groups differently (appendix A.1 of the paper): because it reads the sensitive attribute, or
 * because the groups come with different features.
 *
 * With f_g(x) the predictor's answer for the features x as if the row were in group g, the demographic-parity gap of
 * group 1 against group 0 is
 *
 *     E[f_1(x) | 1] - E[f_0(x) | 0] = reading + features
 *     reading  = ½ (E[f_1 - f_0 | 1] + E[f_1 - f_0 | 0])
 *     features = ½ ((E[f_0 | 1] - E[f_0 | 0]) + (E[f_1 | 1] - E[f_1 | 0]))
 *
 * the two channels of equation (general_pred): p(z | x, phi) and p(x | phi), each averaged over both states of the
 * other, so that they add up and neither comes first. For a predictor that does not see the attribute, f_0 = f_1,
 * reading is exactly 0 and all of the gap is p(x | phi).
 */
import { InputError } from "../core/errors.js";
import { type Filled, unpaced } from "../core/options.js";
import type { RandomStream } from "../core/random.js";
import { badLevelText, blockMeans, type Interval, quantiles } from "../core/stats.js";
import { groupTexts, requireLabels, requireLength } from "./group-metrics/group-labels.js";

export interface PredictionsByGroup {
  /** [groups][rows]: P(positive), or 0/1 for hard labels, as if every row were in that group. */
  readonly asIf: readonly Float64Array[];
  /** [rows], the group each row is in; -1 is unknown and left out. */
  readonly groups: Int32Array;
  readonly groupNames: readonly string[];
}

export interface DecompositionOptions {
  readonly stream: RandomStream;
  /** The group that the others are held against (0). */
  readonly reference?: number | undefined;
  /** Of the intervals (0.95). */
  readonly level?: number | undefined;
  /** Bootstrap resamples (1000). */
  readonly replicates?: number | undefined;
  /** A group with fewer rows (10) is not compared. */
  readonly leastRows?: number | undefined;
}

/** A part of a gap; undefined where the group is too small, with the reason. */
export interface GapPart {
  readonly value: number;
  readonly interval: Interval;
}

export interface GroupDecomposition {
  readonly group: string;
  readonly reference: string;
  /** mean prediction of the group - that of the reference */
  readonly gap: GapPart | undefined;
  /** Because the predictor reads the attribute. */
  readonly reading: GapPart | undefined;
  /** Because of p(x | phi). */
  readonly features: GapPart | undefined;
  readonly reason: string | undefined;
}

export const decompositionTexts = {
  asIf: (given: number, groups: number): string =>
    `There are predictions as if in ${given} groups, but ${groups} groups; give the predictions of all rows for each group.`,
  replicates: (given: number): string =>
    `The decomposition got ${given} bootstrap replicates, but needs a whole number of at least 100; 1000 is a common choice.`,
  few: (rows: number, least: number): string =>
    `one of the two groups has only ${rows} rows, fewer than the ${least} needed to compare them`,
};

/** Means of f_0 and f_1 in groups 0 and 1 to the three numbers. */
const partsOf = (f0in0: number, f1in0: number, f0in1: number, f1in1: number) => ({
  gap: f1in1 - f0in0,
  reading: (f1in1 - f0in1 + (f1in0 - f0in0)) / 2,
  features: (f0in1 - f0in0 + (f1in1 - f1in0)) / 2,
});

const requireInput = (
  { asIf, groups, groupNames }: PredictionsByGroup,
  { reference, level, replicates }: Filled<Pick<DecompositionOptions, "reference" | "level" | "replicates">>,
): void => {
  if (asIf.length !== groupNames.length) {
    throw new InputError("as-if", decompositionTexts.asIf(asIf.length, groupNames.length));
  }
  for (const predictions of asIf) {
    requireLength("predictions", predictions, groups.length);
    const wrong = predictions.findIndex((score) => !(score >= 0 && score <= 1));
    if (wrong >= 0) throw new InputError("group-score", groupTexts.score(wrong, predictions[wrong]));
  }
  requireLabels(groups, groupNames.length);
  if (!Number.isInteger(reference) || reference < 0 || reference >= groupNames.length) {
    throw new InputError("reference-group", groupTexts.reference(reference, groupNames.length));
  }
  if (!(level > 0 && level < 1)) throw new InputError("level", badLevelText(level));
  if (!Number.isInteger(replicates) || replicates < 100) {
    throw new InputError("group-replicates", decompositionTexts.replicates(replicates));
  }
};

/** Answers as if in the reference and as if in the group, of the rows of one of the two. */
interface Answers {
  readonly f0: Float64Array;
  readonly f1: Float64Array;
}

const mean = (values: Float64Array): number => {
  let sum = 0;
  for (const value of values) sum += value;
  return sum / values.length;
};

/** The means of rows drawn with replacement, as many as there are. */
const resampledMeans = ({ f0, f1 }: Answers, stream: RandomStream): readonly [number, number] => {
  const n = f0.length;
  let [sum0, sum1] = [0, 0];
  for (let i = 0; i < n; i++) {
    const at = stream.integer(n);
    sum0 += f0[at];
    sum1 += f1[at];
  }
  return [sum0 / n, sum1 / n];
};

/**
 * Splits the demographic-parity gap of every group against the reference into what comes from reading the attribute
 * and what comes from p(x | phi) (appendix A.1): one entry for each group but the reference, in order. `asIf` is
 * [groups][rows] and `groups` [rows]; the resamples draw rows of each of the two groups with replacement.
 *
 * @example
 * ```ts
 * import { decomposeParity, seededStream } from "fairbed/fairness";
 *
 * // Twenty rows; the predictor adds 0.2 for group b, whatever the features say.
 * const groups = Int32Array.from({ length: 20 }, (_, row) => row % 2);
 * const base = Float64Array.from(groups, (_, row) => 0.25 + 0.5 * Number(row < 10));
 * const [b] = decomposeParity(
 *   { asIf: [base, base.map((p) => p + 0.2)], groups, groupNames: ["a", "b"] },
 *   { stream: seededStream(0) },
 * );
 * console.log(b.reading.value.toFixed(2), b.features.value.toFixed(2)); // 0.20 0.00
 * ```
 */
export const decomposeParity = (
  input: PredictionsByGroup,
  options: DecompositionOptions,
): readonly GroupDecomposition[] => unpaced(decomposeParitySteps(input, options));

/** {@link decomposeParity}, resample by resample, for a caller that must let go of the thread now and then. */
export function* decomposeParitySteps(
  input: PredictionsByGroup,
  options: DecompositionOptions,
): Generator<number, readonly GroupDecomposition[]> {
  const { stream, reference = 0, level = 0.95, replicates = 1000, leastRows = 10 } = options;
  requireInput(input, { reference, level, replicates });
  const { asIf, groups, groupNames } = input;
  const rowsOf = groupNames.map((_, group) =>
    Int32Array.from([...groups.keys()].filter((row) => groups[row] === group)),
  );
  const parts: GroupDecomposition[] = [];
  for (const [group, name] of groupNames.entries()) {
    if (group === reference) continue;
    const [zero, one] = [rowsOf[reference], rowsOf[group]];
    const least = Math.min(zero.length, one.length);
    const named = { group: name, reference: groupNames[reference] };
    if (least < leastRows) {
      const reason = decompositionTexts.few(least, leastRows);
      parts.push({ ...named, gap: undefined, reading: undefined, features: undefined, reason });
      continue;
    }
    const [f0, f1] = [asIf[reference], asIf[group]];
    const answersOf = (rows: Int32Array): Answers => ({
      f0: Float64Array.from(rows, (row) => f0[row]),
      f1: Float64Array.from(rows, (row) => f1[row]),
    });
    const [in0, in1] = [answersOf(zero), answersOf(one)];
    const own = stream.split(name);
    const blocksOf = (of: Answers): Answers => ({ f0: blockMeans(of.f0), f1: blockMeans(of.f1) });
    const [blocks0, blocks1] = [blocksOf(in0), blocksOf(in1)];
    const drawn: ReturnType<typeof partsOf>[] = [];
    for (let r = 0; r < replicates; r++) {
      drawn.push(partsOf(...resampledMeans(blocks0, own), ...resampledMeans(blocks1, own)));
      yield r;
    }
    const estimate = partsOf(mean(in0.f0), mean(in0.f1), mean(in1.f0), mean(in1.f1));
    const part = (which: keyof typeof estimate): GapPart => {
      const [low, high] = quantiles(
        drawn.map((each) => each[which]),
        [(1 - level) / 2, (1 + level) / 2],
      );
      return { value: estimate[which], interval: [low, high] };
    };
    parts.push({
      ...named,
      gap: part("gap"),
      reading: part("reading"),
      features: part("features"),
      reason: undefined,
    });
  }
  return parts;
}
