/** The fair decision rule on a table: models on some rows, the rule on others, and what it changes on test rows. */
import { paced, pacer } from "../core/options.js";
import { learnerNamed } from "../learners/by-name.js";
import type { Learner } from "../learners/classifier.js";
import { fitInSteps } from "../learners/in-steps.js";
import type { LearnerName } from "../learners/learner-names.js";
import {
  applyFairRule,
  type FairMetric,
  type FairRuleOptions,
  type FittedFairRule,
  fitFairRule,
  type JudgedRule,
  judgeFairRule,
} from "../mitigation/fair-rule.js";
import { stratify } from "../mitigation/stratify.js";
import type { Table } from "../tables/table.js";
import { type ComparedGroups, comparedGroups, measureGroups } from "./compared-groups.js";
import { bandWarnings, fittedBand } from "./fitted-band.js";
import { aboutOf, favourableScoreSteps, givenScores, type Mitigated } from "./mitigate.js";
import { MITIGATION_DEFAULTS } from "./mitigation-defaults.js";
import {
  type MitigationOptions,
  type MitigationSplit,
  requireBoth,
  splitForMitigation,
} from "./mitigation-split.js";
import type { OutcomeMeasures } from "./outcome-measures.js";
import { reweighedRows } from "./reweighed-rows.js";

export interface FairRuleTableOptions
  extends MitigationOptions,
    Pick<FairRuleOptions, "metric" | "level" | "selectionRate" | "replicates"> {
  /** A column of probabilities of the favourable outcome; those of a model of the features unless given. */
  readonly scores?: string | undefined;
  /** What learns the outcome and the group from the features ("forest"). */
  readonly learner?: LearnerName | undefined;
  /** Learns the outcome from rows that are reweighed (false). */
  readonly reweighed?: boolean | undefined;
  /** Counts the rates that choose the rule by predicted probabilities of the groups, not by the column (false). */
  readonly soft?: boolean | undefined;
  /** The share of the rows that are not tested on which the rule is fitted on, and the models are not (0.3). */
  readonly validationFraction?: number | undefined;
}

export interface FairRuleTable extends Mitigated {
  readonly rows: { readonly train: number; readonly validation: number; readonly test: number };
  /** What the groups of the rule are called, in its order. */
  readonly groups: readonly string[];
  readonly rule: FittedFairRule;
  /** What the rule comes to on the test rows, by the groups of the column. */
  readonly reached: JudgedRule;
  /** The rows tested on, and of each its score, the label by the threshold 0.5 and the one by the rule. */
  readonly test: Int32Array;
  readonly scores: Float64Array;
  readonly before: Int32Array;
  readonly after: Int32Array;
  readonly metrics: { readonly before: OutcomeMeasures; readonly after: OutcomeMeasures };
}

/** A learner by name; the number of trees is a forest's alone. */
export const mitigationLearner = (name: LearnerName, trees: number): Learner =>
  name === "forest" ? learnerNamed(name, { trees }) : learnerNamed(name);

/** P(group | x), or P(group | x, y = 1) for equal opportunity, of rows, by a classifier of others: [rows, groups]. */
function* groupProbabilitySteps(
  { features, labels, privileged, stream }: MitigationSplit,
  { groups, names }: ComparedGroups,
  learnFrom: Int32Array,
  learner: Learner,
  metric: FairMetric,
): Generator<unknown, (rows: Int32Array) => Float64Array> {
  const rows = learnFrom.filter((row) => groups[row] >= 0 && (metric === "dp" || labels[row] === 1));
  if (metric === "dp") requireBoth(rows, labels, privileged, "to learn from");
  else requireBoth(rows, privileged, privileged, "with the favourable outcome to learn from");
  const own = { features, rows, labels: rows.map((row) => groups[row]), classes: names.length };
  const classifier = yield* fitInSteps(learner, own, stream.split("groups"));
  return (of) => classifier.predict(features, of);
}

/**
 * Decisions by a rule that needs no attribute, on a table, [test rows]: models of outcome and group learn from some rows,
 * the rule is fitted on others with {@link fitFairRule}, and both are judged on the test rows, which neither has seen.
 */
export const fairRuleTable = async (table: Table, options: FairRuleTableOptions): Promise<FairRuleTable> => {
  const { metric = MITIGATION_DEFAULTS.fairRule.metric, scores: column, soft = false } = options;
  const { level, selectionRate, replicates, reweighed = false, signal, onProgress } = options;
  const { trees = MITIGATION_DEFAULTS.trees, learner: name = MITIGATION_DEFAULTS.learner } = options;
  const { validationFraction = MITIGATION_DEFAULTS.validationFraction } = options;
  const split = splitForMitigation(table, options);
  const { task, features, labels, privileged, train, test, stream } = split;
  const compared = comparedGroups(split);
  const { groups, names, notes } = compared;
  const { rest, part } = stratify(train, labels, privileged, validationFraction, stream.split("validation"));
  requireBoth(rest, labels, privileged, "to learn from");
  requireBoth(part, labels, privileged, "to fit the rule on");
  const learner = mitigationLearner(name, trees);
  const pace = pacer({ signal });
  const weights = reweighed ? reweighedRows({ rows: rest, labels, groups }) : undefined;
  const learnt = { learnFrom: rest, labels };
  const scoresOf =
    column === undefined
      ? await paced(favourableScoreSteps(features, learnt, learner, weights, stream.split(name)), pace)
      : givenScores(task.table, column);
  await pace.pause();
  const steps = groupProbabilitySteps(split, compared, rest, learner, metric);
  const probabilitiesOf = await paced(steps, pace);
  await pace.pause();
  const rowsOf = (rows: Int32Array) => ({
    scores: scoresOf(rows),
    groupProbabilities: probabilitiesOf(rows),
    labels: rows.map((row) => labels[row]),
  });
  const known = (rows: Int32Array) => ({ ...rowsOf(rows), groups: rows.map((row) => groups[row]) });
  const rule = await fitFairRule(soft ? rowsOf(part) : known(part), {
    metric,
    level,
    selectionRate,
    replicates,
    stream: stream.split("interval"),
    signal,
    onProgress,
  });
  const tested = known(test);
  const before = Int32Array.from(tested.scores, (score) => Number(score > 0.5));
  const after = applyFairRule(rule, tested);
  const reached = judgeFairRule(rule, tested, { replicates, stream: stream.split("interval on test rows") });
  const band = fittedBand({
    measure: "ratio",
    of: metric === "dp" ? "selection rates" : "true positive rates",
    band: [rule.level, 1],
    fitted: rule.ratio,
    test: { value: reached.ratio, interval: reached.interval },
  });
  return {
    ...aboutOf(split),
    band,
    leftOut: [...task.leftOut, ...compared.leftOut],
    rows: { train: rest.length, validation: part.length, test: test.length },
    groups: names,
    rule,
    reached,
    test,
    scores: tested.scores,
    before,
    after,
    metrics: {
      before: measureGroups(before, split, compared),
      after: measureGroups(after, split, compared),
    },
    notes: [...task.notes, ...split.notes, ...notes],
    warnings: [...rule.warnings, ...bandWarnings(band)],
  };
};
