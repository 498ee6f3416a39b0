/** `fairbed acquire`: simulates an acquisition on a labelled table, and says what it would have reached. */
import type { BatchKind } from "../../../active/step.js";
import { InputError } from "../../../core/errors.js";
import type { CategoryEncoding } from "../../../tables/encoder.js";
import type { Task } from "../../../tables/task.js";
import type {
  MetricSummaries,
  MetricSummary,
  SeedResult,
  SimulationSettings,
} from "../../../workflows/simulation.js";
import { type CommandContext, defineCommand } from "../../command.js";
import {
  choice,
  integer,
  integers,
  optionalArgument,
  optionalInteger,
  optionalReal,
  real,
  text,
} from "../../options.js";
import { rightAligned } from "../../text-table.js";
import { readTask, tableOptions } from "../sources/table-options.js";
import { goalOptions, methodOptions, partsOf } from "./method-options.js";
import { quotaOption } from "./quota-option.js";

export const acquireTexts = {
  few: (attribute: string, rows: number) =>
    `a group of ${attribute} has only ${rows} test rows in some seed, too few to tell its rates: use a larger table or test fraction`,
  checkpoint: (given: number, budget: number) =>
    `--checkpoints has ${given} and the budget is ${budget} labels: leave it out, or raise --budget`,
  budget: (given: number, rows: number) =>
    `the budget is ${given} labels and the table has ${rows} rows: ask for fewer labels, or give a larger table`,
};

const BATCH_KINDS = ["top", "softmax", "rank", "joint"] as const satisfies readonly BatchKind[];

/** Every tenth of a second: often enough for Ctrl-C and the bar. */
const YIELD_MS = 100;

export const simulationOptions = {
  budget: integer("--budget <number>", "how many labels to acquire", 400, { min: 1 }),
  batch: integer("--batch <number>", "labels acquired between two fits", 1, { min: 1 }),
  batchKind: choice("--batch-kind <how>", "how a batch is chosen", BATCH_KINDS, "top"),
  temperature: optionalReal("--temperature <number>", "of softmax and rank batches", { above: 0 }),
  initial: optionalInteger("--initial <number>", "labels at the start (2 of every class)", { min: 2 }),
  testFraction: real("--test-fraction <number>", "the share of rows that is tested on", 0.3, {
    above: 0,
    max: 0.95,
  }),
  targets: optionalInteger("--targets <number>", "rows set aside that predictions are wanted for", {
    min: 1,
  }),
  pool: optionalInteger("--pool <number>", "at most so many candidates, drawn at random", { min: 1 }),
  sensitiveModel: text(
    "--sensitive-model <which>",
    "revealed, pretrained, or a file of its members' probabilities",
    "revealed",
  ),
  costs: text("--costs <column>", "what the label of each row costs"),
  costWeight: optionalReal("--cost-weight <number>", "what a unit of cost is worth, in nats", { min: 0 }),
  quota: quotaOption,
  categories: choice<CategoryEncoding>(
    "--categories <how>",
    "how categories become numbers",
    ["one-hot", "ordinal"],
    "one-hot",
  ),
  checkpoints: integers("--checkpoints <numbers>", "labels after which it is evaluated", [], { min: 0 }),
};

export const acquireCommand = defineCommand({
  name: "acquire",
  group: "Active learning",
  summary: "simulate a fair acquisition on a labelled table",
  examples: [
    {
      line: "acquire people.csv --target hired=yes --sensitive sex",
      description: "what 400 labels would give",
    },
    {
      line: "acquire --task students --method random --budget 100 --json",
      description: "one of the paper's tasks, for another program",
    },
  ],
  arguments: { table: optionalArgument("a CSV, Parquet or JSON-lines file; none with --task") },
  options: {
    ...tableOptions,
    ...methodOptions,
    ...goalOptions,
    ...simulationOptions,
    seed: integer("--seed <number>", "the first seed", 0, { min: 0 }),
    seeds: integer("--seeds <number>", "how many seeds, one after the other from the first", 1, { min: 1 }),
  },
  reportsProgress: true,
  async run({ arguments: { table: path }, options, context }) {
    const started = performance.now();
    const { simulateSeed, summarise } = await import("../../../workflows/simulation.js");
    const { runOf, settingsOf } = await import("./settings.js");
    const { task, name } = await readTask(path, options, options.seed);
    const settings = settingsOf(options);
    requireBudget(settings.budget, task);
    const late = options.checkpoints.find((labels) => labels > settings.budget);
    if (late !== undefined) {
      throw new InputError("checkpoint", acquireTexts.checkpoint(late, settings.budget));
    }
    const run = await runOf(task, options);
    const seeds = Array.from({ length: options.seeds }, (_, i) => options.seed + i);
    const progress = context.progress("acquiring", seeds.length * settings.budget);
    const results: SeedResult[] = [];
    for (const [i, seed] of seeds.entries()) {
      const onStep = yielding(context, (acquired) => progress.update(i * settings.budget + acquired));
      results.push(
        await simulateSeed(task, settings, seed, { ...run, onStep: (step) => onStep(step.acquired) }),
      );
      await context.checkpoint();
    }
    progress.end();
    const labels = results[0].checkpoints.map((each) => each.labels);
    const at = (index: number) => summarise(results.map(({ checkpoints }) => checkpoints[index].metrics));
    return {
      table: name,
      tableRows: task.table.rows,
      features: task.features,
      target: task.target.name,
      sensitive: task.sensitive.map((label) => label.name),
      notes: task.notes,
      settings,
      seeds,
      acquired: results.map(({ acquisition }) => acquisition.acquired.map(({ row }) => row)),
      parts: results.map(({ acquisition }) =>
        acquisition.acquired.map(({ score, cost, ...parts }) => ({
          score,
          ...partsOf(settings.method, parts),
          cost,
        })),
      ),
      initial: results.map(({ acquisition }) => [...acquisition.initial]),
      beta: results.map(({ acquisition }) => acquisition.beta),
      goalMet: "beta" in settings.goal ? null : results.map(({ acquisition }) => acquisition.met),
      warnings: [
        ...new Set(results.flatMap((result) => [...result.acquisition.warnings, ...fewIn(task, result)])),
      ],
      rows: { pool: results[0].split.pool.length, test: results[0].split.test.length },
      metrics: {
        // Of the first sensitive attribute; the others, if any, stand beside it.
        final: at(labels.length - 1),
        bySensitive: Object.fromEntries(
          task.sensitive.map(({ name: attribute }, i) => [
            attribute,
            summarise(results.map(({ bySensitive }) => bySensitive[i])),
          ]),
        ),
        checkpoints: labels.map((count, index) => ({ labels: count, ...at(index) })),
      },
      seconds: (performance.now() - started) / 1000,
    };
  },
  print: ({ table, target, sensitive, notes, settings, seeds, metrics, warnings, rows, seconds, beta }) =>
    [
      `${table}: target ${target}, sensitive ${sensitive.join(", ")}; ${rows.pool} candidates, ${rows.test} test rows`,
      `${settings.method}, ${goalInWords(settings, beta)}, ${settings.budget} labels, ${seeds.length} seed${seeds.length === 1 ? "" : "s"}`,
      ...notes.map((note) => `Note: ${note}.`),
      "",
      ...Object.entries(metrics.bySensitive).flatMap(([attribute, summaries], i) => [
        ...(i === 0 ? [] : [""]),
        ...(sensitive.length > 1 ? [`For ${attribute}:`] : []),
        ...metricsTable(summaries),
      ]),
      "",
      "Ratios are the smallest group's rate over the largest's: 1 is parity. Beside them stands what the selection",
      "rate is, since a ratio rises with it; the matched rows select as many as are truly positive.",
      ...warnings.flatMap((warning) => ["", `Warning: ${warning}.`]),
      "",
      `In ${seconds.toFixed(1)} s.`,
    ].join("\n"),
});

/** Fewer test rows of a group than this leave its rates open. */
const FEW = 10;

const fewIn = ({ sensitive }: Task, { split }: SeedResult): string[] =>
  sensitive.flatMap(({ name, classes, labels }) => {
    const counts = classes.map((_, c) => split.test.filter((row) => labels[row] === c).length);
    const least = Math.min(...counts);
    return least < FEW ? [acquireTexts.few(name, least)] : [];
  });

const goalInWords = ({ goal, method }: SimulationSettings, betas: readonly number[]): string => {
  if (!method.startsWith("fairbed") && method !== "hfe") return "no regard to leakage";
  if ("beta" in goal) return `beta = ${goal.beta}`;
  const found = `beta from ${Math.min(...betas).toPrecision(3)} to ${Math.max(...betas).toPrecision(3)} at the end`;
  return "leakageBudget" in goal
    ? `at most ${goal.leakageBudget} nats of leakage (${found})`
    : `demographic-parity ratio of at least ${goal.parityAtLeast} (${found})`;
};

const LABELS: Readonly<Record<keyof MetricSummaries, string>> = {
  accuracy: "accuracy",
  sensitiveAccuracy: "accuracy on the sensitive label",
  dpRatio: "demographic parity, ratio",
  tprRatio: "true positive rates, ratio",
  fprRatio: "false positive rates, ratio",
  dpSigned: "demographic parity, signed ratio",
  dpDifference: "demographic parity, difference",
  selectionRate: "selection rate",
  gapArea: "gap between score distributions, area",
  gapLargest: "gap between score distributions, largest",
  matchedAccuracy: "matched rate: accuracy",
  matchedDpRatio: "matched rate: demographic parity, ratio",
  matchedDpDifference: "matched rate: demographic parity, difference",
};

export const inWords = ({ mean, standardError, interval }: MetricSummary): string[] => {
  if (mean === null) return ["none", "", ""];
  return [
    mean.toFixed(3),
    standardError === null ? "" : `± ${standardError.toFixed(3)}`,
    interval === null ? "" : `${interval[0].toFixed(3)} to ${interval[1].toFixed(3)}`,
  ];
};

export const metricsTable = (metrics: MetricSummaries): string[] =>
  rightAligned([
    ["after the last label", "mean", "error", "95 % interval"],
    ...(Object.entries(metrics) as [keyof MetricSummaries, MetricSummary][]).map(([name, summary]) => [
      LABELS[name],
      ...inWords(summary),
    ]),
  ]);

const requireBudget = (budget: number, task: Task): void => {
  if (budget >= task.table.rows) {
    throw new InputError("budget", acquireTexts.budget(budget, task.table.rows));
  }
};

/** Reports and lets Ctrl-C through, ten times a second. */
export const yielding = (context: CommandContext, update: (acquired: number) => void) => {
  let last = performance.now();
  return async (acquired: number): Promise<void> => {
    if (performance.now() - last < YIELD_MS) return;
    update(acquired);
    await context.checkpoint();
    last = performance.now();
  };
};
