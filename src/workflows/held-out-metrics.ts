/** What a model is worth: every labelled row, or a part of them, judged by a model that has not seen it. */
import type { LeftOutGroup } from "../core/left-out.js";
import { paced, pacer, type RunOptions } from "../core/options.js";
import type { RandomStream } from "../core/random.js";
import { namesToShow } from "../core/rare-values.js";
import {
  type Gap,
  groupMetricsSteps,
  type MetricsByGroup,
  type Rate,
  type Rates,
} from "../fairness/group-metrics.js";
import { joinRows, stratifiedFolds } from "../fairness/leakage/folds.js";
import type { CategoryEncoding } from "../tables/encoder.js";
import { intersectionOf, type Task } from "../tables/task.js";
import { againstReference } from "./against-reference.js";
import type { FittedParts } from "./fit-parts.js";
import type { HeldOutGroups, HeldOutMetrics, HeldOutRate, HeldOutRates } from "./fitted-model.js";

export const heldOutTexts = {
  fewRows:
    "no rows could be held out, since fewer than two classes have two rows or more: the model has no held-out metrics",
  noGroup: (attribute: string) =>
    `no row that was judged has a known value of "${attribute}": there are no metrics by it`,
};

/** How rows are held out; the defaults are those of `FitOptions`. */
export interface HoldOut {
  readonly folds: number;
  readonly testFraction: number | undefined;
  readonly level: number;
  readonly replicates: number;
  readonly categories: CategoryEncoding;
}

/** One model and the rows that it judges. */
export interface Part {
  readonly learntFrom: Int32Array;
  readonly judged: Int32Array;
}

/**
 * The parts that are held out in turn: `folds` of them, or one of `testFraction` of every class. Fewer folds where the
 * second largest class has fewer rows, so that every model sees two classes; none where that has one row only.
 */
export const heldOutParts = (
  rows: Int32Array,
  labels: Int32Array,
  { folds, testFraction }: Pick<HoldOut, "folds" | "testFraction">,
  stream: RandomStream,
): readonly Part[] => {
  const counts = new Map<number, number>();
  for (const row of rows) counts.set(labels[row], (counts.get(labels[row]) ?? 0) + 1);
  const second = [...counts.values()].sort((a, b) => b - a)[1] ?? 0;
  if (second < 2) return [];
  if (testFraction === undefined) {
    const dealt = stratifiedFolds(rows, (row) => labels[row], Math.min(folds, second), stream);
    return dealt.map((judged, k) => ({
      judged,
      learntFrom: joinRows(dealt.filter((_, fold) => fold !== k)).sort(),
    }));
  }
  const judged = new Set<number>();
  for (const label of [...counts.keys()].sort((a, b) => a - b)) {
    const own = rows.filter((row) => labels[row] === label);
    // At least one of every class that has two is judged, and at least one learnt from.
    const most = Math.max(0, own.length - 1);
    const count = Math.min(most, Math.max(Math.min(1, most), Math.round(testFraction * own.length)));
    for (const at of stream.split(label).choice(own.length, count)) judged.add(own[at]);
  }
  const isJudged = (row: number) => judged.has(row);
  return [{ judged: rows.filter(isJudged), learntFrom: rows.filter((row) => !isJudged(row)) }];
};

/** Probabilities [rows, classes] of every judged row, and what they are of. */
export interface Judgements {
  readonly rows: Int32Array;
  readonly predicted: Int32Array;
}

/** Every part's rows by a model of the others; encoders, too, see only the rows that are learnt from. */
export const judge = async (
  parts: readonly Part[],
  fit: (rows: Int32Array, stream: RandomStream) => Promise<Pick<FittedParts, "decide">>,
  stream: RandomStream,
  onFit: (fits: number) => Promise<void>,
): Promise<Judgements> => {
  const answers: Int32Array[] = [];
  for (const [k, { learntFrom, judged }] of parts.entries()) {
    const { decide } = await fit(learntFrom, stream.split(`part ${k}`));
    answers.push(decide(judged));
    await onFit(k + 1);
  }
  return { rows: joinRows(parts.map(({ judged }) => judged)), predicted: joinRows(answers) };
};

/** Rates of all rows and by group, with intervals. */
export const heldOutMetrics = async (
  task: Task,
  { rows, predicted }: Judgements,
  holdOut: HoldOut & { readonly parts: number },
  stream: RandomStream,
  notes: string[],
  run: RunOptions = {},
): Promise<HeldOutMetrics> => {
  const pace = pacer({ signal: run.signal });
  const { classes, labels } = task.target;
  const { level, replicates, testFraction } = holdOut;
  const actual = rows.map((row) => labels[row]);
  const weights =
    task.weights === undefined ? undefined : Float64Array.from(rows, (row) => Number(task.weights?.[row]));
  const positives = classes.length === 2 ? [1] : [...classes.keys()];
  const of = (
    groups: Int32Array,
    groupNames: readonly string[],
    positive: number,
    resamples: number,
    name: string,
    reference = 0,
  ) =>
    paced(
      groupMetricsSteps(
        { predicted, actual, groups, groupNames, positive, weights },
        { stream: stream.split(name).split(positive), level, replicates: resamples, reference },
      ),
      pace,
    );
  const overall: HeldOutMetrics["overall"][number][] = [];
  for (const positive of positives) {
    const metrics = await of(new Int32Array(rows.length), ["all rows"], positive, 0, "all rows");
    overall.push({ positive: classes[positive], rates: ratesOf(metrics.overall) });
  }
  const groups: HeldOutGroups[] = [];
  const intersection = intersectionOf(task);
  notes.push(...(intersection?.notes ?? []));
  const sized = [...task.leftOut, ...(intersection?.leftOut ?? [])];
  for (const label of [...task.sensitive, ...(intersection === undefined ? [] : [intersection.label])]) {
    const own = rows.map((row) => label.labels[row]);
    if (!own.some((group) => group >= 0)) {
      notes.push(heldOutTexts.noGroup(label.name));
      continue;
    }
    const names = namesToShow(label.classes, own, "group");
    const named = task.referenceGroup === undefined ? -1 : label.classes.indexOf(task.referenceGroup);
    for (const positive of positives)
      groups.push(
        groupsOf(
          label.name,
          classes[positive],
          await of(own, names, positive, replicates, label.name, Math.max(0, named)),
          named >= 0,
          sized.filter(({ attribute }) => attribute === label.name),
        ),
      );
  }
  return {
    ...(testFraction === undefined
      ? { method: "cross-validation" as const, folds: holdOut.parts }
      : { method: "test-fraction" as const, testFraction }),
    rows: rows.length,
    level,
    overall,
    groups,
  };
};

const shareOf = ({ value, interval, reason }: Rate | Gap): HeldOutRate => ({ value, interval, reason });

const ratesOf = (rates: Rates): HeldOutRates => ({
  baseRate: shareOf(rates.baseRate),
  selectionRate: shareOf(rates.selectionRate),
  truePositiveRate: shareOf(rates.truePositiveRate),
  falsePositiveRate: shareOf(rates.falsePositiveRate),
  precision: shareOf(rates.precision),
  accuracy: shareOf(rates.accuracy),
});

const gapsOf = ({ difference, ratio }: { readonly difference: Gap; readonly ratio: Gap }) => ({
  difference: shareOf(difference),
  ratio: shareOf(ratio),
});

/** What is held against the reference group. */
const COMPARED_RATES = ["selectionRate", "truePositiveRate", "falsePositiveRate"] as const;

const groupsOf = (
  sensitive: string,
  positive: string,
  metrics: MetricsByGroup,
  isHeldAgainst: boolean,
  sized: readonly LeftOutGroup[],
): HeldOutGroups => ({
  sensitive,
  positive,
  groups: metrics.groups
    .filter(({ size }) => size > 0)
    .map(({ name, size, rates }) => ({ name, rows: size, rates: ratesOf(rates) })),
  gaps: {
    demographicParity: gapsOf(metrics.demographicParity),
    equalisedOdds: gapsOf(metrics.equalisedOdds),
    equalOpportunity: gapsOf(metrics.equalOpportunity),
    predictiveParity: gapsOf(metrics.predictiveParity),
  },
  against: isHeldAgainst ? againstReference(metrics, COMPARED_RATES, positive) : undefined,
  leftOut: [
    ...sized,
    ...metrics.groups.flatMap(({ name, size, tooSmall, reason = "" }) =>
      tooSmall && size > 0 ? [{ attribute: sensitive, name, rows: size, reason }] : [],
    ),
  ],
});
