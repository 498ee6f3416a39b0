/** Reweighing on a table: what the weights are, and what learning with them changes on test rows. */
import { paced, pacer } from "../core/options.js";
import type { LearnerName } from "../learners/learner-names.js";
import { type ReweighedCell, reweigh } from "../mitigation/reweighing.js";
import type { Table } from "../tables/table.js";
import { comparedGroups, measureGroups } from "./compared-groups.js";
import { bandWarnings, countFavoured, fittedBand, ratioOfShares } from "./fitted-band.js";
import { aboutOf, favourableScoreSteps, type Mitigated } from "./mitigate.js";
import { mitigationLearner } from "./mitigate-rule.js";
import { MITIGATION_DEFAULTS } from "./mitigation-defaults.js";
import { type MitigationOptions, splitForMitigation } from "./mitigation-split.js";
import type { OutcomeMeasures } from "./outcome-measures.js";

export interface ReweighTableOptions extends MitigationOptions {
  /** What learns ("forest"). */
  readonly learner?: LearnerName | undefined;
}

/** A cell with its names. */
export interface NamedCell extends Omit<ReweighedCell, "label" | "group"> {
  readonly outcome: string;
  readonly group: string;
}

export interface ReweighedTable extends Mitigated {
  readonly rows: { readonly train: number; readonly test: number };
  readonly learner: LearnerName;
  /** Outcomes and groups of the rows that are learnt from. */
  readonly cells: readonly NamedCell[];
  /** [all rows]: the weight of the row's cell; 1 where outcome or group is missing or no row to learn from is in it. */
  readonly weights: Float64Array;
  /** The same learner on rows that count the same, and on reweighed ones; the threshold is 0.5. */
  readonly metrics: { readonly before: OutcomeMeasures; readonly after: OutcomeMeasures };
}

export const reweighTableTexts = {
  empty: (outcome: string, group: string) =>
    `no row to learn from has "${outcome}" in the group ${group}, so outcome and group stay dependent whatever the weights: give more rows, or merge groups`,
};

/**
 * The weights of {@link reweigh} from the rows to learn from, for all rows, and a learner with and without them on the
 * test rows.
 */
export const reweighTable = async (table: Table, options: ReweighTableOptions): Promise<ReweighedTable> => {
  const { trees = MITIGATION_DEFAULTS.trees, learner: name = MITIGATION_DEFAULTS.learner } = options;
  const split = splitForMitigation(table, options);
  const { task, features, labels, train, test, stream } = split;
  const compared = comparedGroups(split);
  const { groups, names } = compared;
  const { cells } = reweigh({
    labels: train.map((row) => labels[row]),
    groups: train.map((row) => groups[row]),
  });
  const weightOf = (label: number, group: number) =>
    cells.find((cell) => cell.label === label && cell.group === group)?.weight ?? 1;
  const weights = Float64Array.from(labels, (label, row) => weightOf(label, groups[row]));
  const learner = mitigationLearner(name, trees);
  const pace = pacer(options);
  const decide = async (counted: Float64Array | undefined, done: number) => {
    const own = { learnFrom: train, labels };
    const steps = favourableScoreSteps(features, own, learner, counted, stream.split(name));
    const scores = await paced(steps, pace);
    const predicted = Int32Array.from(scores(test), (score) => Number(score > 0.5));
    await pace.step({ done, total: 2 });
    return { predicted, measures: measureGroups(predicted, split, compared) };
  };
  const named = cells.map(({ label, group, rows, weight }) => ({
    outcome: task.target.classes[label],
    group: names[group],
    rows,
    weight,
  }));
  const before = await decide(undefined, 1);
  const after = await decide(weights, 2);
  // With the weights, outcome and group are independent among the rows that are learnt from.
  const band = fittedBand({
    measure: "ratio",
    of: "selection rates",
    band: [1, 1],
    fitted: 1,
    test: ratioOfShares(
      names.map((_, group) => countFavoured(after.predicted, (at) => groups[test[at]] === group)),
    ),
  });
  return {
    ...aboutOf(split),
    band,
    leftOut: [...task.leftOut, ...compared.leftOut],
    rows: { train: train.length, test: test.length },
    learner: name,
    cells: named,
    weights,
    metrics: { before: before.measures, after: after.measures },
    notes: [...task.notes, ...split.notes, ...compared.notes],
    warnings: [
      ...bandWarnings(band),
      ...named
        .filter(({ weight }) => weight === undefined)
        .map(({ outcome, group }) => reweighTableTexts.empty(outcome, group)),
    ],
  };
};
