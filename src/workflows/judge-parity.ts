/** What an acquired set is worth where parity is required: with the fair decision rule, chosen without the test rows. */

import { type IncludedRow, inclusionWeights } from "../active/inclusion.js";
import type { RunOptions } from "../core/options.js";
import type { RandomStream } from "../core/random.js";
import { DIFFERENCE_RANGE, FROM_ZERO, type Interval, UNIT_RANGE } from "../core/stats.js";
import { acquiredLeakage } from "../fairness/acquired-leakage.js";
import { atSelectionRate, parityRatios } from "../fairness/group-metrics.js";
import { type ForestOptions, forest } from "../learners/forest.js";
import { accuracyAtParity } from "../mitigation/parity-frontier.js";
import type { PreparedSeed } from "./simulation.js";
import { tuneRule } from "./tune-rule.js";

/** What has no value is undefined. */
export interface ParityMetrics {
  /** The highest accuracy at the level, as many selected as are truly positive, multipliers read off the test rows. */
  readonly accuracyAtParity: number | undefined;
  /** The rule as it was chosen without the test rows: accuracy, ratio of selection rates, and how many it selects. */
  readonly ruleAccuracy: number | undefined;
  readonly ruleDpRatio: number | undefined;
  readonly ruleSelectionRate: number | undefined;
  /** Without a rule. */
  readonly accuracy: number | undefined;
  readonly dpRatio: number | undefined;
  readonly matchedAccuracy: number | undefined;
  readonly matchedDpRatio: number | undefined;
  /** Of guessing the attribute at the population's shares. */
  readonly leakage: number | undefined;
  readonly leakageAuc: number | undefined;
  /** The acquired share of the group that has most of the population, less its share there. */
  readonly shareShift: number | undefined;
  /** The least, over groups, of the acquired share over the population's. */
  readonly leastShare: number | undefined;
}

export const PARITY_NAMES = [
  "accuracyAtParity",
  "ruleAccuracy",
  "ruleDpRatio",
  "ruleSelectionRate",
  "accuracy",
  "dpRatio",
  "matchedAccuracy",
  "matchedDpRatio",
  "leakage",
  "leakageAuc",
  "shareShift",
  "leastShare",
] as const satisfies readonly (keyof ParityMetrics)[];

/** What each can be; the least share over the population's is at most 1, since shares add up to 1. */
export const PARITY_RANGES: Readonly<Record<(typeof PARITY_NAMES)[number], Interval>> = {
  ...(Object.fromEntries(PARITY_NAMES.map((name) => [name, UNIT_RANGE])) as Record<
    (typeof PARITY_NAMES)[number],
    Interval
  >),
  shareShift: DIFFERENCE_RANGE,
  leakage: FROM_ZERO,
};

/** The model of the group, for the rule: leaves that tell how sure it is. */
const GROUP_LEAF = 5;

export interface JudgeParityInput extends PreparedSeed, RunOptions {
  /** What was asked for, in that order, beyond the initial labels. */
  readonly acquired: readonly (IncludedRow & { readonly row: number })[];
  readonly weights?: Float64Array | undefined;
  readonly reweigh?: boolean | undefined;
  readonly forest: ForestOptions;
  /** The least ratio of selection rates. */
  readonly level: number;
  readonly stream: RandomStream;
}

export const judgeParity = async ({
  features,
  target,
  sensitive: [attribute],
  split,
  acquired: asked,
  weights,
  reweigh,
  forest: options,
  level,
  stream,
  ...run
}: JudgeParityInput): Promise<ParityMetrics> => {
  const acquired = Int32Array.from(asked, ({ row }) => row);
  const labelled = Int32Array.from([...split.initial, ...acquired]);
  const has = new Set(labelled);
  const tuned = await tuneRule({
    ...run,
    features,
    target,
    sensitive: attribute,
    labelled,
    representative: representativeOf(asked),
    unlabelled: split.pool.filter((row) => !has.has(row)),
    weights,
    reweighed: reweigh,
    learner: forest(options),
    sensitiveLearner: forest({ ...options, minLeaf: GROUP_LEAF }),
    level,
    stream: stream.split("rule"),
  });
  const { test } = split;
  const actual = test.map((row) => target.labels[row]);
  const groups = test.map((row) => attribute.labels[row]);
  const blind = tuned.blindRows(test);
  const scores = Float64Array.from(blind.scores);
  const plain = parityRatios(
    Int32Array.from(scores, (score) => Number(score > 0.5)),
    actual,
    groups,
  );
  const positives = actual.reduce((sum, label) => sum + label, 0) / actual.length;
  const matched = parityRatios(
    atSelectionRate(scores, positives, stream.split("ties")).predicted,
    actual,
    groups,
  );
  const decided = parityRatios(tuned.decide(test), actual, groups);
  const atParity = accuracyAtParity({ ...blind, labels: actual, groups }, { level });
  const leakage = acquiredLeakage(
    { features, sensitive: attribute.labels, classes: attribute.classes, acquired, test },
    { learner: forest(options), interval: false, stream: stream.split("leakage") },
  );
  return {
    accuracyAtParity: atParity.accuracy,
    ruleAccuracy: decided.accuracy,
    ruleDpRatio: decided.dpRatio,
    ruleSelectionRate: decided.selectionRate,
    accuracy: plain.accuracy,
    dpRatio: plain.dpRatio,
    matchedAccuracy: matched.accuracy,
    matchedDpRatio: matched.dpRatio,
    leakage: leakage.nats,
    leakageAuc: leakage.auc,
    ...shiftsOf(acquired, split.pool, attribute.labels, attribute.classes),
  };
};

/** Those drawn at random and for how many each stands; all the same where the whole acquisition was random. */
const representativeOf = (acquired: JudgeParityInput["acquired"]) => {
  const drawn = acquired.flatMap(({ probability }, i) => (probability === undefined ? [] : [i]));
  if (drawn.length === 0) return undefined;
  const rows = Int32Array.from(drawn, (i) => acquired[i].row);
  if (drawn.length === acquired.length) return { rows };
  const weights = inclusionWeights(acquired);
  return { rows, weights: Float64Array.from(drawn, (i) => weights[i]) };
};

const shiftsOf = (acquired: Int32Array, pool: Int32Array, groups: Int32Array, classes: number) => {
  const sharesOf = (rows: Int32Array) => {
    const counts = new Float64Array(classes);
    for (const row of rows) counts[groups[row]] += 1 / rows.length;
    return counts;
  };
  const [now, population] = [sharesOf(acquired), sharesOf(pool)];
  const largest = population.indexOf(Math.max(...population));
  return {
    shareShift: now[largest] - population[largest],
    leastShare: Math.min(...Array.from(population, (share, g) => (share > 0 ? now[g] / share : 1))),
  };
};
