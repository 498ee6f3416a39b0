/** What the labels that a recipe acquired look like: who they are of, and what they give away. */
import type { RunOptions } from "../core/options.js";
import { pacer } from "../core/options.js";
import { seededStream } from "../core/random.js";
import { acquiredLeakage } from "../fairness/acquired-leakage.js";
import { compositionOf, compositionWarnings } from "../fairness/composition.js";
import { forest } from "../learners/forest.js";
import { type PlanEstimate, withErrors } from "./plan-estimates.js";
import type { Trial } from "./plan-rounds.js";
import { acquiredSet, type PlanTable, preparePlanSeed } from "./plan-trials.js";
import { type MetricSummary, summaryOf } from "./simulation.js";

/** A group, or a group with an outcome. */
export interface PlannedShare {
  readonly group: string;
  /** Null for the group as a whole. */
  readonly outcome: string | null;
  /** Of what was acquired, over seeds; and of the candidates. */
  readonly acquired: MetricSummary;
  readonly population: number;
}

/** On the outer rows, at the population's shares: see `acquiredLeakage`. */
export interface PlannedLeakage {
  readonly nats: PlanEstimate;
  readonly auc: PlanEstimate;
}

export interface PlannedSet {
  readonly composition: readonly PlannedShare[];
  readonly leakage: PlannedLeakage;
  readonly warnings: readonly string[];
}

type Interval = readonly [number, number];
const Z95 = 1.959963984540054;

/** The spread over seeds, and the error that the outer rows, which are the same for all, leave in each. */
const overSeeds = (values: readonly number[], intervals: readonly (Interval | undefined)[]): PlanEstimate => {
  const errors = intervals.flatMap((each) => (each === undefined ? [] : [(each[1] - each[0]) / (2 * Z95)]));
  const ofRows = errors.length === 0 ? 0 : errors.reduce((sum, each) => sum + each, 0) / errors.length;
  return withErrors(values, ofRows);
};

/** Of a recipe's labels, all of them, over its seeds. */
export const plannedSet = async (table: PlanTable, trial: Trial, run: RunOptions): Promise<PlannedSet> => {
  const { task, rows, settings } = table;
  const [attribute] = task.sensitive;
  const pace = pacer(run);
  const named = { attributes: [attribute], outcome: task.target };
  const acquired: number[] = [];
  const population: number[] = [];
  const bySeed: ReturnType<typeof compositionOf>[] = [];
  const guesses: ReturnType<typeof acquiredLeakage>[] = [];
  for (const [s, number] of trial.seeds.entries()) {
    const seed = preparePlanSeed(table, number);
    const { features, split } = seed.prepared;
    const { labelled } = acquiredSet(table, seed, trial.acquisitions[s], trial.labels);
    const asked = trial.acquisitions[s].acquired.map(({ row }) => row);
    acquired.push(...asked);
    population.push(...split.pool);
    bySeed.push(compositionOf({ ...named, acquired: asked, population: split.pool }));
    guesses.push(
      acquiredLeakage(
        {
          features,
          sensitive: attribute.labels,
          classes: attribute.classes.length,
          acquired: labelled,
          test: rows.outer,
          weights: task.weights,
        },
        {
          learner: forest({ trees: settings.trees }),
          stream: seededStream(number).split("plan").split("leakage").split(trial.id),
        },
      ),
    );
    await pace.step({ done: s + 1, total: trial.seeds.length });
  }
  const whole = compositionOf({ ...named, acquired, population });
  const [{ groups, cells }] = whole;
  const summary = (shareOf: (composition: (typeof bySeed)[number]) => number | null): MetricSummary =>
    summaryOf(bySeed.map((each) => shareOf(each) ?? 0));
  return {
    composition: [
      ...groups.map(({ group, population: share }, g) => ({
        group,
        outcome: null,
        acquired: summary(([each]) => each.groups[g].share),
        population: share ?? 0,
      })),
      ...cells.map(({ group, outcome, population: share }, c) => ({
        group,
        outcome,
        acquired: summary(([each]) => each.cells[c].share),
        population: share ?? 0,
      })),
    ],
    leakage: {
      nats: overSeeds(
        guesses.map(({ rawNats }) => rawNats),
        guesses.map(({ natsInterval }) => natsInterval),
      ),
      auc: overSeeds(
        guesses.map(({ auc }) => auc),
        guesses.map(({ aucInterval }) => aucInterval),
      ),
    },
    warnings: compositionWarnings(whole),
  };
};
