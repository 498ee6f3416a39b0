/**
 * Fairness as a property of the data (paper, section 6.3): a dataset that was acquired with one model is frozen, other
 * models are trained on it, and each is judged on the same held-out rows.
 */
import { randomStream } from "../core/random.js";
import type { Learner } from "../learners/classifier.js";
import type { Task } from "../tables/task.js";
import { type Evaluation, evaluate } from "./evaluation.js";
import { type MetricSummaries, prepareSeed, type SimulationSettings, summarise } from "./simulation.js";

/** What one seed acquired, by rows of the task's table: initial labels included. */
export interface FrozenSeed {
  readonly seed: number;
  readonly labelled: readonly number[];
}

export type SplitSettings = Pick<
  SimulationSettings,
  "testFraction" | "initial" | "targets" | "pool" | "categories"
>;

export interface ModelGeneralization {
  readonly model: string;
  readonly metrics: MetricSummaries;
}

/** Every model on every seed's data, judged on the rows that the seed held out. */
export const generalize = async (
  task: Task,
  settings: SplitSettings,
  frozen: readonly FrozenSeed[],
  models: Readonly<Record<string, Learner>>,
  onDone: (done: number) => void | Promise<void> = () => {},
): Promise<ModelGeneralization[]> => {
  const evaluations = new Map<string, Evaluation[]>(Object.keys(models).map((name) => [name, []]));
  let done = 0;
  for (const { seed, labelled } of frozen) {
    const { split, features, target, sensitive } = prepareSeed(task, settings, seed);
    for (const [name, learner] of Object.entries(models)) {
      evaluations.get(name)?.push(
        evaluate({
          features,
          target,
          sensitive: sensitive[0],
          labelled: Int32Array.from(labelled),
          test: split.test,
          weights: task.weights,
          learner,
          sensitiveLearner: learner,
          stream: randomStream(seed).split("generalization").split(name),
        }),
      );
      await onDone(++done);
    }
  }
  return [...evaluations].map(([model, all]) => ({ model, metrics: summarise(all) }));
};

/** The same for a table of labelled rows and one of test rows, below each other in the task's table. */
export const generalizeTables = (
  task: Task,
  rows: { readonly labelled: Int32Array; readonly test: Int32Array },
  features: Parameters<typeof evaluate>[0]["features"],
  models: Readonly<Record<string, Learner>>,
  seed: number,
): ModelGeneralization[] =>
  Object.entries(models).map(([model, learner]) => ({
    model,
    metrics: summarise([
      evaluate({
        features,
        target: { labels: task.target.labels, classes: task.target.classes.length },
        sensitive: { labels: task.sensitive[0].labels, classes: task.sensitive[0].classes.length },
        ...rows,
        weights: task.weights,
        learner,
        sensitiveLearner: learner,
        stream: randomStream(seed).split("generalization").split(model),
      }),
    ]),
  }));
