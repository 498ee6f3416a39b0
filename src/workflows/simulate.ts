/** What several ways of asking for labels would reach on a table whose labels are all known. */

import type { Correction } from "../active/correction.js";
import { strategies } from "../active/strategies.js";
import { informationParts, type StrategyName, strategyNames } from "../active/strategy-names.js";
import { InputError } from "../core/errors.js";
import type { LeftOutGroup } from "../core/left-out.js";
import { nearestName } from "../core/nearest-name.js";
import type { Optional, RunOptions } from "../core/options.js";
import { DIFFERENCE_RANGE } from "../core/stats.js";
import { columnNamed, type Table } from "../tables/table.js";
import { defineTask, type Task, type TaskSettings } from "../tables/task.js";
import { taskContent } from "./acquisition-file.js";
import {
  type CompositionChoice,
  compositionOf,
  correctionOf,
  type GoalChoice,
  goalsOf,
  RECOMMENDED,
  recommendedFor,
  type SensitiveForestChoice,
  type SimulationSettings,
  sensitiveForestOf,
} from "./acquisition-settings.js";
import { type AgainstRandom, compareWithRandom } from "./against-random.js";
import { type ComputeDevice, DEFAULT_DEVICE, storedDevice, type UsedDevice } from "./device.js";
import type { Evaluation } from "./evaluation.js";
import { type GoalOutcome, goalOutcome, unmetGoals } from "./goal-outcome.js";
import { type ColumnQuotas, quotaGroups, requireRoom } from "./groups-by.js";
import { PARITY_NAMES, PARITY_RANGES, type ParityMetrics } from "./judge-parity.js";
import { openScores, type ScoreWork, USUAL_TARGETS, USUAL_TREES } from "./score-device.js";
import { compositionOfMethod, type SimulatedComposition } from "./simulated-composition.js";
import {
  type MetricSummaries,
  type MetricSummary,
  type SeedResult,
  type SimulationRun,
  type SuppliedMembers,
  simulateSeed,
  summarise,
  summariseNamed,
  summaryOf,
} from "./simulation.js";

/** What a simulation's methods share. */
export type SharedSettings = Pick<
  SimulationSettings,
  | "budget"
  | "batch"
  | "batchKind"
  | "temperature"
  | "combine"
  | "testFraction"
  | "initial"
  | "targets"
  | "pool"
  | "categories"
  | "checkpoints"
  | "reweigh"
  | "poolAttributes"
>;

/** Each has the default of {@link recommendedFor} its method unless it says otherwise. */
export interface SimulateOptions
  extends Optional<SharedSettings>,
    SensitiveForestChoice,
    CompositionChoice,
    GoalChoice,
    RunOptions {
  /** Ways of asking, compared on the same splits and initial labels (`["fairbed"]`). */
  readonly methods?: readonly StrategyName[] | undefined;
  /** Of the sensitive model for few trees (`"auto"`: analytic, or none with `paper` or fairbed-set). */
  readonly correction?: Correction | "auto" | undefined;
  /** By name, the worst of several, or supplied for every row (`"revealed"`). */
  readonly sensitiveModel?:
    | SimulationSettings["sensitiveModel"]
    | { readonly supplied: SuppliedMembers }
    | undefined;
  /** A column with what the label of each row costs. */
  readonly costs?: string | undefined;
  /** What a unit of cost is worth, in nats; costs are counted and do not decide unless it is given. */
  readonly costWeight?: number | undefined;
  /** At least and at most so many of all that is acquired, by the values of a column. */
  readonly quotas?: ColumnQuotas | undefined;
  /**
   * The parity that decisions are to reach: labels are also judged with the fair decision rule at this level, for the
   * first sensitive attribute, the rule chosen without the test rows. No rule unless given.
   */
  readonly parity?: number | undefined;
  /**
   * Where the scores are computed. Default `cpu`, the reference. On a GPU they are within 1e-6 nats of its; `auto` takes it
   * where there is so much to score that it pays.
   */
  readonly device?: ComputeDevice | undefined;
  /** The first seed (0), and how many there are from it (1). */
  readonly seed?: number | undefined;
  readonly seeds?: number | undefined;
}

/** What the fair decision rule comes to, over seeds. */
export interface SimulatedParity {
  readonly level: number;
  readonly metrics: Readonly<Record<keyof ParityMetrics, MetricSummary>>;
  /** With the rule less without it. */
  readonly difference: { readonly dpRatio: MetricSummary; readonly accuracy: MetricSummary };
}

/** One method over all seeds. Arrays over seeds are in the order of `seeds`. */
export interface SimulatedMethod {
  readonly method: StrategyName;
  readonly settings: SimulationSettings;
  /** After the last label, for the first sensitive attribute; and for every one by its name. */
  readonly final: MetricSummaries;
  readonly bySensitive: Readonly<Record<string, MetricSummaries>>;
  /** As labels come in, for the first sensitive attribute. */
  readonly checkpoints: readonly ({ readonly labels: number } & MetricSummaries)[];
  /** With the fair decision rule after the last label, and what it changes, seed by seed; where a parity is asked for. */
  readonly parity?: SimulatedParity | undefined;
  /** Who was asked, by sensitive attribute. */
  readonly composition: readonly SimulatedComposition[];
  /** Rows of the table in the order in which they were acquired, and why each was. */
  readonly acquired: readonly (readonly number[])[];
  readonly parts: readonly (readonly {
    readonly score: number;
    readonly target: number | null;
    readonly leakage: number | null;
    readonly cost: number;
    /** With which it was drawn among all that were left; null where it was chosen. */
    readonly probability: number | null;
  }[])[];
  /** The last beta, and whether a goal for it was met; null where there was none. */
  readonly beta: readonly number[];
  readonly goalMet: readonly boolean[] | null;
  /** What was reached of a goal for beta, on rows held out; null where there was none. */
  readonly goal: GoalOutcome | null;
}

export interface Simulation {
  readonly target: string;
  readonly sensitive: readonly string[];
  readonly features: readonly string[];
  /** Groups of the sensitive attributes that were left out, because they are smaller than was asked for. */
  readonly leftOut: readonly LeftOutGroup[];
  readonly notes: readonly string[];
  readonly seeds: readonly number[];
  /** Rows of the table, candidates and test rows of a seed. */
  /** The table by its content, so that rows are not looked for in another: see `taskContent`. */
  readonly content: string;
  readonly rows: { readonly table: number; readonly pool: number; readonly test: number };
  /** Rows whose labels were known at the start, by seed. */
  readonly initial: readonly (readonly number[])[];
  readonly methods: readonly SimulatedMethod[];
  /** Whether the goals that were set instead of beta were met; null where there was none. */
  readonly met: boolean | null;
  /** One sentence for each that was not. */
  readonly unmet: readonly string[];
  /** What each method gains over drawing at random, seed by seed; null with one seed, which tells nothing of it. */
  readonly againstRandom: AgainstRandom | null;
  /** What the scores were computed on, where a GPU was asked for. */
  readonly device?: UsedDevice | undefined;
  readonly warnings: readonly string[];
}

export const simulateTexts = {
  few: (attribute: string, rows: number) =>
    `a group of ${attribute} has only ${rows} test rows in some seed, too few to tell its rates: use a larger table or test fraction`,
  checkpoint: (given: number, budget: number) =>
    `a checkpoint is at ${given} labels and the budget is ${budget}: leave it out, or raise the budget`,
  budget: (given: number, rows: number) =>
    `the budget is ${given} labels and the table has ${rows} rows: ask for fewer labels, or give a larger table`,
  temperature:
    "softmax batches draw by exp(score / temperature): say how warm with a temperature, in nats, such as 0.02",
  costWeight: "a cost weight says what a unit of cost is worth: name the column of costs too",
  costs: (column: string) =>
    `the column "${column}" holds text and cannot be costs: name a column of numbers`,
  method: (given: string, near: string | undefined) =>
    `there is no method "${given}"${near === undefined ? `: choose from ${strategyNames.join(", ")}` : `; did you mean "${near}"?`}`,
  twice: (method: string) => `the method ${method} is named twice: name each once`,
};

/** Shares of the budget at which methods are evaluated where nothing else is said, the budget itself apart. */
const CHECKPOINT_SHARES = [0.1, 0.25, 0.5, 0.75];
/** Fewer test rows of a group than this leave its rates open. */
const FEW = 10;

const isTask = (given: Table | Task): given is Task => "features" in given;

/**
 * Simulates acquisitions on a table whose labels are known: for every seed the same split and initial labels for all
 * methods, each of which then asks for `budget` labels in batches; a model of what it has is judged on rows held out,
 * as labels come in (the paper's section 6.2). The oracle reads the table; `acquisition` is the same with people.
 *
 * `table` has one row for each person; with a `Task` the roles of its columns are known already. Weights count in every
 * fit and in every metric. Metrics are means over seeds with their standard errors and 95 % intervals.
 *
 * @example
 * ```ts
 * import { simulate, syntheticPool } from "fairbed";
 *
 * const { table, settings } = syntheticPool({ rows: 300, seed: 1 });
 * const { methods, seeds } = await simulate(table, {
 *   ...settings,
 *   methods: ["random", "fairbed"],
 *   budget: 6,
 *   batch: 3,
 *   trees: 10,
 *   seeds: 2,
 * });
 * console.log(methods.map(({ method }) => method).join(", "), seeds.length); // random, fairbed 2
 * console.log(methods[1].acquired[0].length, methods[1].final.accuracy.n); // 6 2
 * ```
 */
export const simulate: {
  (table: Table, options: SimulateOptions & TaskSettings): Promise<Simulation>;
  (task: Task, options?: SimulateOptions): Promise<Simulation>;
} = async (
  source: Table | Task,
  options: SimulateOptions & Optional<TaskSettings> = {},
): Promise<Simulation> => {
  const task = isTask(source) ? source : defineTask(source, options as TaskSettings);
  const settings = settingsByMethod(options);
  const { budget } = settings[0];
  if (budget >= task.table.rows) {
    throw new InputError("budget", simulateTexts.budget(budget, task.table.rows));
  }
  const { seed: first = 0, seeds: count = 1, onProgress, device = DEFAULT_DEVICE } = options;
  const scores = await openScores(device, workOf(task, settings, count), options);
  const run = { ...runOf(task, options, budget), elsewhere: scores.elsewhere };
  const seeds = Array.from({ length: count }, (_, i) => first + i);
  // Drawn at random costs no fits but those that judge it, and is what every other way is compared with.
  const beside = seeds.length > 1 && settings.every(({ method }) => method !== "random");
  const played = beside ? [...settings, ...settingsByMethod(withRandom(options)).slice(-1)] : settings;
  const total = played.length * seeds.length * budget;
  const results: SeedResult[][] = [];
  for (const [m, each] of played.entries()) {
    const own: SeedResult[] = [];
    for (const [i, seed] of seeds.entries()) {
      const before = (m * seeds.length + i) * budget;
      own.push(
        await simulateSeed(task, each, seed, {
          ...run,
          signal: options.signal,
          onProgress: ({ done }) => onProgress?.({ done: before + done, total, label: each.method }),
        }),
      );
    }
    results.push(own);
  }
  const asked = settings.map(({ method }, m) => compositionOfMethod(task, method, results[m]));
  const methods = settings.map((each, m) =>
    summariseMethod(task, each, results[m], asked[m].composition, options.parity),
  );
  const [{ split }] = results[0];
  return {
    target: task.target.name,
    sensitive: task.sensitive.map(({ name }) => name),
    features: task.features,
    leftOut: task.leftOut,
    notes: task.notes,
    seeds,
    content: taskContent(task),
    rows: { table: task.table.rows, pool: split.pool.length, test: split.test.length },
    initial: results[0].map(({ acquisition }) => [...acquisition.initial]),
    methods,
    met: methods.every(({ goal }) => goal === null)
      ? null
      : methods.every(({ goal }) => goal === null || goal.met),
    unmet: unmetGoals(methods, seeds.length),
    againstRandom:
      seeds.length < 2
        ? null
        : compareWithRandom(
            settings.map(({ method }, m) => ({ method, evaluations: lastOf(results[m]) })),
            lastOf(results[played.findIndex(({ method }) => method === "random")]),
            !beside,
          ),
    ...storedDevice(scores.used()),
    warnings: [
      ...new Set([
        ...results.flat().flatMap(({ acquisition }) => acquisition.warnings),
        ...results[0].flatMap((each) => fewIn(task, each)),
        ...asked.flatMap(({ warnings }) => warnings),
      ]),
    ],
  };
};

/** What the first method that computes EPIG has to score, over all steps and seeds. */
const workOf = (task: Task, settings: readonly SimulationSettings[], seeds: number): ScoreWork => {
  const scoring = settings.find(({ method }) => strategies[method].uses.targets) ?? settings[0];
  const { method, budget, batch, targetsPerStep = USUAL_TARGETS, forest } = scoring;
  const models = 1 + (strategies[method].uses.sensitive ? task.sensitive.length : 0);
  return {
    method,
    candidates: task.table.rows,
    targets: targetsPerStep,
    members: forest.trees ?? USUAL_TREES,
    times: Math.ceil(budget / batch) * models * seeds,
  };
};

const withRandom = (options: SimulateOptions): SimulateOptions => ({
  ...options,
  methods: [...(options.methods ?? [RECOMMENDED.method]), "random"],
});

/** After the last label, for the first sensitive attribute, [seeds]. */
const lastOf = (results: readonly SeedResult[]): readonly Evaluation[] =>
  results.map(({ bySensitive }) => bySensitive[0]);

const settingsByMethod = (options: SimulateOptions): readonly SimulationSettings[] => {
  const methods = options.methods ?? [RECOMMENDED.method];
  const unknown = methods.find((method) => !strategyNames.includes(method));
  if (unknown !== undefined) {
    throw new InputError("method", simulateTexts.method(unknown, nearestName(unknown, strategyNames)));
  }
  const twice = methods.find((method, i) => methods.indexOf(method) !== i);
  if (twice !== undefined) throw new InputError("method", simulateTexts.twice(twice));
  const { batchKind, temperature, budget = RECOMMENDED.budget } = options;
  if (batchKind === "softmax" && temperature === undefined) {
    throw new InputError("temperature", simulateTexts.temperature);
  }
  if (options.costWeight !== undefined && options.costs === undefined) {
    throw new InputError("costs", simulateTexts.costWeight);
  }
  const late = options.checkpoints?.find((labels) => labels > budget);
  if (late !== undefined) throw new InputError("checkpoint", simulateTexts.checkpoint(late, budget));
  const shares = CHECKPOINT_SHARES.map((share) => Math.round(share * budget)).filter((labels) => labels > 0);
  const checkpoints = (options.checkpoints ?? shares).filter((labels) => labels < budget);
  const goalFor = goalsOf(methods, options);
  return methods.map((method) => {
    const recommended = recommendedFor(method);
    return {
      ...recommended,
      goal: goalFor(method),
      combine: options.combine ?? recommended.combine,
      budget,
      batch: options.batch ?? recommended.batch,
      batchKind: batchKind ?? recommended.batchKind,
      temperature,
      initial: options.initial,
      testFraction: options.testFraction ?? recommended.testFraction,
      targets: options.targets,
      pool: options.pool,
      categories: options.categories ?? recommended.categories,
      forest: options.trees === undefined ? recommended.forest : { trees: options.trees },
      sensitiveForest: sensitiveForestOf(options, recommended.sensitiveForest),
      sensitiveCorrection: correctionOf(options, recommended.sensitiveCorrection),
      sensitiveModel: namedModels(options.sensitiveModel),
      ...(method === "random" ? { shares: "none", randomPart: 0 } : compositionOf(options, options)),
      reweigh: options.reweigh ?? recommended.reweigh,
      poolAttributes: options.poolAttributes ?? recommended.poolAttributes,
      checkpoints: [...new Set(checkpoints)],
    };
  });
};

const namedModels = (given: SimulateOptions["sensitiveModel"]): SimulationSettings["sensitiveModel"] =>
  given === undefined || (typeof given === "object" && "supplied" in given) ? "revealed" : given;

/** Costs, quotas and supplied members, by the rows of the task's table. */
const runOf = (
  { table }: Task,
  { costs, costWeight, quotas, sensitiveModel, parity }: SimulateOptions,
  budget: number,
): SimulationRun => {
  if (quotas !== undefined) requireRoom(quotas, budget);
  return {
    ...(quotas === undefined ? {} : quotaGroups(table, quotas)),
    supplied:
      typeof sensitiveModel === "object" && "supplied" in sensitiveModel
        ? sensitiveModel.supplied
        : undefined,
    parityLevel: parity,
    costs: costs === undefined ? undefined : costsOf(table, costs),
    costWeight: costs === undefined ? undefined : (costWeight ?? 0),
  };
};

const costsOf = (table: Table, name: string): Float64Array => {
  const column = columnNamed(table, name);
  if (column.kind !== "numeric") throw new InputError("costs", simulateTexts.costs(name));
  return column.values;
};

const summariseMethod = (
  task: Task,
  settings: SimulationSettings,
  results: readonly SeedResult[],
  composition: readonly SimulatedComposition[],
  level: number | undefined,
): SimulatedMethod => {
  const { method } = settings;
  const labels = results[0].checkpoints.map((each) => each.labels);
  const at = (index: number) => summarise(results.map(({ checkpoints }) => checkpoints[index].metrics));
  return {
    method,
    settings,
    final: at(labels.length - 1),
    bySensitive: Object.fromEntries(
      task.sensitive.map(({ name }, i) => [
        name,
        summarise(results.map(({ bySensitive }) => bySensitive[i])),
      ]),
    ),
    checkpoints: labels.map((count, index) => ({ labels: count, ...at(index) })),
    composition,
    ...(level === undefined ? {} : { parity: parityOf(level, results) }),
    acquired: results.map(({ acquisition }) => acquisition.acquired.map(({ row }) => row)),
    parts: results.map(({ acquisition }) =>
      acquisition.acquired.map(({ score, cost, drawn, probability, ...parts }) => ({
        score,
        ...informationParts(drawn ? "random" : method, parts),
        cost,
        probability: probability ?? null,
      })),
    ),
    beta: results.map(({ acquisition }) => acquisition.beta),
    goal: goalOutcome(settings, results),
    goalMet: "beta" in settings.goal ? null : results.map(({ acquisition }) => acquisition.met),
  };
};

const parityOf = (level: number, results: readonly SeedResult[]): SimulatedParity => {
  const metrics = results.flatMap(({ parity }) => parity ?? []);
  const difference = (of: (each: ParityMetrics) => readonly [number | undefined, number | undefined]) =>
    summaryOf(
      metrics.flatMap((each) => {
        const [after, before] = of(each);
        return after === undefined || before === undefined ? [] : [after - before];
      }),
      DIFFERENCE_RANGE,
    );
  return {
    level,
    metrics: summariseNamed(PARITY_NAMES, metrics, PARITY_RANGES),
    difference: {
      dpRatio: difference(({ ruleDpRatio, dpRatio }) => [ruleDpRatio, dpRatio]),
      accuracy: difference(({ ruleAccuracy, accuracy }) => [ruleAccuracy, accuracy]),
    },
  };
};

const fewIn = ({ sensitive }: Task, { split }: SeedResult): string[] =>
  sensitive.flatMap(({ name, classes, labels }) => {
    const counts = classes.map((_, c) => split.test.filter((row) => labels[row] === c).length);
    const least = Math.min(...counts);
    return least < FEW ? [simulateTexts.few(name, least)] : [];
  });
