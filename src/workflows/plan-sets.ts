/** What the labels that a recipe acquired look like: who they are of, and what they give away. */

import type { RunOptions } from "../core/options.js";
import { pacer } from "../core/options.js";
import { seededStream } from "../core/random.js";
import { type Interval, UNIT_RANGE } from "../core/stats.js";
import { acquiredLeakage } from "../fairness/acquired-leakage.js";
import { forest } from "../learners/forest.js";
import { curveLabels } from "./plan-curves.js";
import { type PlanEstimate, withErrors } from "./plan-estimates.js";
import type { Trial } from "./plan-rounds.js";
import { acquiredSet, type PlanTable, preparePlanSeed } from "./plan-trials.js";
import { type AskedInSeed, compositionOfMethod, type SimulatedComposition } from "./simulated-composition.js";

/** On the outer rows, at the population's shares: see `acquiredLeakage`. */
export interface PlannedLeakage {
  readonly nats: PlanEstimate;
  readonly auc: PlanEstimate;
}

export interface PlannedSet {
  readonly composition: SimulatedComposition;
  readonly leakage: PlannedLeakage;
  readonly warnings: readonly string[];
}

const Z95 = 1.959963984540054;

/** The spread over seeds, and the error that the outer rows, which are the same for all, leave in each. */
const overSeeds = (
  values: readonly number[],
  intervals: readonly (Interval | undefined)[],
  range: Interval,
): PlanEstimate => {
  const errors = intervals.flatMap((each) => (each === undefined ? [] : [(each[1] - each[0]) / (2 * Z95)]));
  const ofRows = errors.length === 0 ? 0 : errors.reduce((sum, each) => sum + each, 0) / errors.length;
  const estimate = withErrors(values, ofRows, range);
  // What guesses that are worse than none give away is nothing.
  return { ...estimate, mean: Math.min(range[1], Math.max(range[0], estimate.mean)) };
};

/** Of a recipe's labels, all of them, over its seeds. */
export const plannedSet = async (table: PlanTable, trial: Trial, run: RunOptions): Promise<PlannedSet> => {
  const { task, rows, settings } = table;
  const [attribute] = task.sensitive;
  const pace = pacer(run);
  const asked: AskedInSeed[] = [];
  const guesses: ReturnType<typeof acquiredLeakage>[] = [];
  const checkpoints = curveLabels(trial.labels).map((labels) => ({ labels }));
  for (const [s, number] of trial.seeds.entries()) {
    const seed = preparePlanSeed(table, number);
    const { features, split } = seed.prepared;
    const acquisition = trial.acquisitions[s];
    asked.push({ split, acquisition, checkpoints });
    guesses.push(
      acquiredLeakage(
        {
          features,
          sensitive: attribute.labels,
          classes: attribute.classes.length,
          acquired: acquiredSet(table, seed, acquisition, trial.labels).labelled,
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
  const { composition, warnings } = compositionOfMethod(task, trial.parts.acquisition.method, asked);
  return {
    composition: composition[0],
    leakage: {
      nats: overSeeds(
        guesses.map(({ rawNats }) => rawNats),
        guesses.map(({ natsInterval }) => natsInterval),
        [0, Math.max(...guesses.map(({ entropy }) => entropy))],
      ),
      auc: overSeeds(
        guesses.map(({ auc }) => auc),
        guesses.map(({ aucInterval }) => aucInterval),
        UNIT_RANGE,
      ),
    },
    warnings,
  };
};
