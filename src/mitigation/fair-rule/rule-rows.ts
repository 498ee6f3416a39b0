/** What a fair rule is given, checked, and what the search over rules counts with. */
import { InputError } from "../../core/errors.js";
import { checkLabels, mitigationTexts } from "../groups.js";
import { correctedRows } from "./corrected-rows.js";

/** "dp": equal selection rates. "eopp": equal true positive rates. */
export type FairMetric = "dp" | "eopp";

/** What is known of a person when the rule decides: no attribute, only what a model says of it. */
export interface BlindRows {
  /** eta(x) = P(y = 1 | x), [rows]. */
  readonly scores: ArrayLike<number>;
  /**
   * Row-major [rows, groups]: P(group | x) for "dp" and P(group | x, y = 1) for "eopp", which a model of the group on
   * rows with y = 1 gives. Rows of 0 and 1 make the rule one that knows the attribute.
   */
  readonly groupProbabilities: ArrayLike<number>;
}

/** Rows that neither model was trained on and that nothing is tested on. */
export interface FairRuleRows extends BlindRows {
  /**
   * [rows]: the group of each row, by which rates are then counted; -1 is unknown and left out of them. Without it a row
   * counts in every group by its probability, which is right where those are calibrated.
   */
  readonly groups?: ArrayLike<number> | undefined;
  /** [rows]: 1 for the favourable outcome, 0 for the other. Without it what is expected by the scores is counted. */
  readonly labels?: ArrayLike<number> | undefined;
  /** [rows]: how much each row counts; 1 unless given. */
  readonly weights?: ArrayLike<number> | undefined;
  /**
   * Some more rows, drawn at random, whose groups are known, where those of the others are not: what rates counted by
   * them say beyond rates counted by probabilities is added. For "eopp" their outcomes must be known, too.
   */
  readonly correction?: Omit<FairRuleRows, "correction" | "correctionStrength"> | undefined;
  /** How much of that is added, from 0 to 1 (1): less is less noise, and more of the bias of the probabilities. */
  readonly correctionStrength?: number | undefined;
}

export const ruleRowTexts = {
  score: (row: number) =>
    `the score of row ${row} is no probability: give P(favourable), from 0 to 1, for every row`,
  probabilities: (given: number, rows: number) =>
    `there are ${given} group probabilities for ${rows} rows: give one for each row and group, row by row`,
  // Says the row and not the entries: they are about a person's attribute.
  probability: (row: number) =>
    `the group probabilities of row ${row} are not numbers from 0 to 1 with the sum 1: give those of all groups`,
  group: (row: number, groups: number) =>
    `the group of row ${row} is none of 0 to ${groups - 1} and not -1: number the groups as the probabilities do, -1 where it is not known`,
  noGroup:
    "no row has a known group: give the groups of some rows, or leave them out to count by probabilities",
  weight: (row: number) => `the weight of row ${row} is negative or not finite: weights are 0 or more`,
  noWeight: "all rows have the weight 0: give rows that count",
  knownTwice:
    "both the rows and those that correct them have known groups: give the groups of the correction alone, or no correction",
  correctionGroups: (given: number, expected: number) =>
    `the rows that correct have probabilities of ${given} groups and the others of ${expected}: give those of the same groups`,
  correctionStrength: (given: unknown) =>
    `the strength of the correction was ${String(given)}: give a number from 0 to 1`,
  correctionUnknown: "the rows that correct have no known groups: give theirs, or no correction",
  labelsNeeded:
    "true positive rates of known groups need known outcomes: give labels, or leave the groups out to count by probabilities",
};

const requireCount = (what: string, given: ArrayLike<unknown>, rows: number): void => {
  if (given.length !== rows) throw new InputError("shape", mitigationTexts.lengths(what, given.length, rows));
};

/** Scores and probabilities as numbers that can be trusted, and how many groups there are. */
export const checkBlindRows = ({ scores, groupProbabilities }: BlindRows) => {
  const eta = Float64Array.from(scores);
  const rows = eta.length;
  if (rows === 0) throw new InputError("no-rows", mitigationTexts.noRows());
  eta.forEach((score, row) => {
    if (!(score >= 0 && score <= 1)) throw new InputError("score", ruleRowTexts.score(row));
  });
  const groups = groupProbabilities.length / rows;
  if (!Number.isInteger(groups) || groups < 1)
    throw new InputError("shape", ruleRowTexts.probabilities(groupProbabilities.length, rows));
  const probabilities = Float64Array.from(groupProbabilities);
  for (let row = 0; row < rows; row++) {
    const own = probabilities.subarray(row * groups, (row + 1) * groups);
    const sum = own.reduce((total, each) => total + each, 0);
    // Means of float32 votes add up to 1 only nearly.
    if (!own.every((each) => each >= 0 && each <= 1 + 1e-6) || !(Math.abs(sum - 1) < 1e-4))
      throw new InputError("group-probability", ruleRowTexts.probability(row));
  }
  return { eta, probabilities, rows, groups };
};

/** Rows in the form in which rules are tried out on them. */
export interface CountedRows {
  readonly rows: number;
  /** The sizes of samples that were drawn by themselves, one after the other. */
  readonly parts: readonly number[];
  readonly groups: number;
  readonly eta: Float64Array;
  readonly probabilities: Float64Array;
  /** [rows, groups]: how much a row counts in the rate of a group if it is selected. */
  readonly counts: Float64Array;
  /** [groups]: the same over all rows, of which a rate is a share. */
  readonly totals: Float64Array;
  /** [groups]: P(g) for "dp", P(y = 1, g) for "eopp", among rows that count in a rate. */
  readonly shares: readonly number[];
  readonly weights: Float64Array;
  readonly weight: number;
  /** [rows]: by how much selecting a row raises what is decided rightly, and what is right where nobody is selected. */
  readonly gains: Float64Array;
  readonly rightAtNone: number;
}

const checkWeights = (weights: ArrayLike<number> | undefined, rows: number): Float64Array => {
  if (weights === undefined) return new Float64Array(rows).fill(1);
  requireCount("weights", weights, rows);
  const out = Float64Array.from(weights);
  out.forEach((weight, row) => {
    if (!(weight >= 0 && weight < Number.POSITIVE_INFINITY))
      throw new InputError("weight", ruleRowTexts.weight(row));
  });
  if (!out.some((weight) => weight > 0)) throw new InputError("weight", ruleRowTexts.noWeight);
  return out;
};

const checkGroups = (groups: ArrayLike<number>, rows: number, count: number): Int32Array => {
  requireCount("groups", groups, rows);
  for (let row = 0; row < rows; row++)
    if (!Number.isInteger(groups[row]) || groups[row] < -1 || groups[row] >= count)
      throw new InputError("group", ruleRowTexts.group(row, count));
  const out = Int32Array.from(groups);
  if (out.every((group) => group < 0)) throw new InputError("group", ruleRowTexts.noGroup);
  return out;
};

/** Checks everything, and counts. */
export const countRows = (given: FairRuleRows, metric: FairMetric): CountedRows => {
  const { correction, correctionStrength: strength = 1 } = given;
  if (correction === undefined) return countPart(given, metric);
  if (given.groups !== undefined) throw new InputError("groups", ruleRowTexts.knownTwice);
  if (correction.groups === undefined) throw new InputError("groups", ruleRowTexts.correctionUnknown);
  if (!(strength >= 0 && strength <= 1))
    throw new InputError("correction", ruleRowTexts.correctionStrength(strength));
  const predicted = countPart(given, metric);
  const known = countPart(correction, metric);
  if (known.groups !== predicted.groups)
    throw new InputError("groups", ruleRowTexts.correctionGroups(known.groups, predicted.groups));
  // Rows whose group is not known say nothing beyond their probabilities.
  const { groups, weights } = correction;
  const counted = Float64Array.from(groups, (group, row) => (group < 0 ? 0 : (weights?.[row] ?? 1)));
  const own = { ...correction, weights: counted };
  const { scores, groupProbabilities } = own;
  return correctedRows(
    predicted,
    countPart(own, metric),
    countPart({ scores, groupProbabilities, weights: counted }, metric),
    strength,
  );
};

const countPart = (given: FairRuleRows, metric: FairMetric): CountedRows => {
  const { eta, probabilities, rows, groups } = checkBlindRows(given);
  const weights = checkWeights(given.weights, rows);
  const labels = given.labels === undefined ? undefined : checkLabels(given.labels, rows);
  const known = given.groups === undefined ? undefined : checkGroups(given.groups, rows, groups);
  if (metric === "eopp" && known !== undefined && labels === undefined)
    throw new InputError("labels", ruleRowTexts.labelsNeeded);
  const chance = Float64Array.from(eta, (score, row) => labels?.[row] ?? score);
  const counts = new Float64Array(rows * groups);
  const totals = new Float64Array(groups);
  let counted = 0;
  for (let row = 0; row < rows; row++) {
    if (known !== undefined && known[row] < 0) continue;
    counted += weights[row];
    const relevant = weights[row] * (metric === "dp" ? 1 : chance[row]);
    for (let g = 0; g < groups; g++) {
      const member = known === undefined ? probabilities[row * groups + g] : Number(known[row] === g);
      counts[row * groups + g] = relevant * member;
      totals[g] += relevant * member;
    }
  }
  return {
    rows,
    parts: [rows],
    groups,
    eta,
    probabilities,
    counts,
    totals,
    shares: Array.from(totals, (total) => (total === 0 ? 0 : total / counted)),
    weights,
    weight: weights.reduce((sum, each) => sum + each, 0),
    gains: weights.map((weight, row) => weight * (2 * chance[row] - 1)),
    rightAtNone: weights.reduce((sum, weight, row) => sum + weight * (1 - chance[row]), 0),
  };
};
