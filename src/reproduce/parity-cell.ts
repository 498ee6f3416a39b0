/** What an acquired set is worth where parity is required. */
import { inclusionWeights } from "../active/inclusion.js";
import { seededStream } from "../core/random.js";
import { acquiredLeakage } from "../fairness/acquired-leakage.js";
import { atSelectionRate, parityRatios } from "../fairness/group-metrics.js";
import { forest } from "../learners/forest.js";
import { accuracyAtParity } from "../mitigation/parity-frontier.js";
import { prepareSeed } from "../workflows/simulation.js";
import { tuneRule } from "../workflows/tune-rule.js";
import type { AcquireResult, ParityCell, ParityMetrics, ParityResult } from "./cell.js";
import { loadTask } from "./load-task.js";
import type { CellRun } from "./run-cell.js";

/** The model of the group, for the rule: leaves that tell how sure it is. */
const GROUP_LEAF = 5;

export const runParity = async (
  { acquisition, level }: ParityCell,
  { labelled: rows, drawn }: AcquireResult,
  { threads, root }: CellRun,
): Promise<ParityResult> => {
  const { task: name, dataSeed, features: choice, settings, seed } = acquisition;
  const task = await loadTask({ name, dataSeed, features: choice, root });
  const { features, target, sensitive, split } = prepareSeed(task, settings, seed);
  const own = threads === undefined ? {} : { threads };
  const [attribute] = sensitive;
  const labelled = Int32Array.from(rows);
  const acquired = labelled.subarray(split.initial.length);
  const has = new Set(labelled);
  const stream = seededStream(seed).split("parity");
  const tuned = await tuneRule({
    features,
    target,
    sensitive: attribute,
    labelled,
    representative: representativeOf(acquired, drawn, split.pool.length),
    unlabelled: split.pool.filter((row) => !has.has(row)),
    weights: task.weights,
    reweighed: settings.reweigh,
    learner: forest({ ...settings.forest, ...own }),
    sensitiveLearner: forest({ ...settings.forest, minLeaf: GROUP_LEAF, ...own }),
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
    { learner: forest({ ...settings.forest, ...own }), interval: false, stream: stream.split("leakage") },
  );
  const metrics: Readonly<Record<keyof ParityMetrics, number | undefined>> = {
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
  return {
    metrics: Object.fromEntries(Object.entries(metrics).filter(([, value]) => value !== undefined)),
  };
};

/** Those drawn at random and for how many each stands; all where the acquisition itself was random. */
const representativeOf = (acquired: Int32Array, drawn: readonly number[] | undefined, pool: number) => {
  if (drawn === undefined) return { rows: acquired };
  const places = new Set(drawn);
  const weights = inclusionWeights(
    Array.from(acquired, (_, i) => (places.has(i) ? { probability: 1 / (pool - i) } : {})),
  );
  return {
    rows: Int32Array.from(drawn, (i) => acquired[i]),
    weights: Float64Array.from(drawn, (i) => weights[i]),
  };
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
