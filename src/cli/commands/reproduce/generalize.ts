/** `fairbed generalize`: other models on a frozen dataset. */
import { readFile } from "node:fs/promises";
import { InputError } from "../../../core/errors.js";
import { nearestName } from "../../../core/nearest-name.js";
import type { Learner } from "../../../learners/classifier.js";
import { withoutPassword } from "../../../sources/without-password.js";
import type { Task } from "../../../tables/task.js";
import type { FrozenSeed, ModelGeneralization, SplitSettings } from "../../../workflows/generalization.js";
import { defineCommand } from "../../command.js";
import { argument, integer, text } from "../../options.js";
import { rightAligned } from "../../text-table.js";
import { inWords } from "../active/acquire.js";
import { readingOf, rolesOf, tableOptions } from "../sources/table-options.js";

export const MODELS = ["forest", "logistic", "boosting", "mlp", "svm"] as const;
type ModelName = (typeof MODELS)[number];

export const generalizeTexts = {
  model: (given: string, near: string | undefined) =>
    `there is no model "${given}"${near === undefined ? "" : ` (did you mean "${near}"?)`}: choose from ${MODELS.join(", ")}`,
  noTest: (file: string) =>
    `${file} is a table of labelled rows: name the rows to judge on with --test, or give the JSON answer of fairbed acquire`,
  notAnswer: (file: string) =>
    `${file} is not an answer of fairbed acquire --json: it has no "acquired" rows with their settings`,
  tableOfAnswer: (file: string) =>
    `${file} says which rows were acquired, not what is in them: name their table with --table, or --task`,
  otherTable: (file: string, differs: string, table: string) =>
    `${file} was acquired from a table with ${differs}, and ${table} is another: give the table and the labels that the rows were acquired with`,
  noRow: (row: number, rows: number) =>
    `row ${row} was acquired and the table has ${rows} rows: give the table that the rows were acquired from`,
};

export const generalize = defineCommand({
  name: "generalize",
  group: "Fairness",
  summary: "train other models on acquired data",
  examples: [
    {
      line: "generalize acquired.json --task students",
      description: "on what acquire --json chose",
    },
    {
      line: "generalize labelled.csv --test test.csv --target y=1 --sensitive sex --models boosting,mlp",
      description: "two models on a table of your own",
    },
  ],
  arguments: { acquired: argument("an answer of fairbed acquire --json, or a table of labelled rows") },
  options: {
    models: text("--models <names>", `which of ${MODELS.join(", ")}`, "forest,boosting,mlp,svm"),
    table: text("--table <table>", "the table that the answer's rows are of"),
    test: text("--test <table>", "the rows to judge on, where the first is a table"),
    ...tableOptions,
    seed: integer("--seed <number>", "where the random streams start", 0, { min: 0 }),
  },
  reportsProgress: true,
  async run({ arguments: { acquired: path }, options, context }) {
    const started = performance.now();
    const models = await learnersOf(options.models);
    const answer = path.endsWith(".json") ? await readAnswer(path) : undefined;
    const { readTask } = await import("../../../sources/read-task.js");
    let results: readonly ModelGeneralization[];
    let seeds = 1;
    if (answer === undefined) {
      if (options.test === undefined)
        throw new InputError("no-test", generalizeTexts.noTest(withoutPassword(path)));
      const { fitEncoder } = await import("../../../tables/encoder.js");
      const { generalizeTables } = await import("../../../workflows/generalization.js");
      const reading = { ...readingOf(options), test: options.test };
      const { task, testFrom = 0 } = await readTask(path, rolesOf({ ...options, task: undefined }), reading);
      const all = Int32Array.from({ length: task.table.rows }, (_, row) => row);
      const rows = { labelled: all.subarray(0, testFrom), test: all.subarray(testFrom) };
      const features = fitEncoder(task, rows.labelled).encode(task.table);
      results = generalizeTables(task, rows, features, models, options.seed);
    } else {
      if (options.table === undefined && options.task === undefined) {
        throw new InputError("no-table", generalizeTexts.tableOfAnswer(path));
      }
      const { generalize: run } = await import("../../../workflows/generalization.js");
      const roles = rolesOf({ ...options, ...rolesOfAnswer(answer, options) });
      const reading = { ...readingOf(options), seed: answer.seeds[0] };
      const { task, name } = await readTask(options.table, roles, reading);
      requireSame(path, answer, task, name);
      const frozen: FrozenSeed[] = answer.seeds.map((seed, i) => ({
        seed,
        labelled: [...answer.initial[i], ...answer.acquired[i]],
      }));
      for (const { labelled } of frozen) {
        const outside = labelled.find((row) => row >= task.table.rows);
        if (outside !== undefined) {
          throw new InputError("no-row", generalizeTexts.noRow(outside, task.table.rows));
        }
      }
      seeds = frozen.length;
      const progress = context.progress("training", frozen.length * Object.keys(models).length);
      results = await run(task, answer.settings, frozen, models, async (done) => {
        progress.update(done);
        await context.checkpoint();
      });
      progress.end();
    }
    return {
      acquired: withoutPassword(path),
      seeds,
      models: Object.fromEntries(results.map(({ model, metrics }) => [model, metrics])),
      seconds: (performance.now() - started) / 1000,
    };
  },
  print: ({ acquired, seeds, models, seconds }) =>
    [
      `${acquired}: every model trained on the same labels${seeds > 1 ? `, means over ${seeds} seeds` : ""}`,
      "",
      ...rightAligned([
        ["", "accuracy", "group guessed", "parity", "TPR ratio", "FPR ratio", "parity, matched"],
        ...Object.entries(models).map(([model, metrics]) => [
          model,
          ...(
            ["accuracy", "sensitiveAccuracy", "dpRatio", "tprRatio", "fprRatio", "matchedDpRatio"] as const
          ).map((name) => inWords(metrics[name]).slice(0, 2).join(" ").trim()),
        ]),
      ]),
      "",
      `In ${seconds.toFixed(1)} s.`,
    ].join("\n"),
});

interface Answer {
  readonly table: string;
  readonly tableRows: number;
  readonly features: readonly string[];
  readonly target: string;
  readonly sensitive: readonly string[];
  readonly seeds: readonly number[];
  readonly acquired: readonly (readonly number[])[];
  readonly initial: readonly (readonly number[])[];
  readonly settings: SplitSettings;
}

const readAnswer = async (path: string): Promise<Answer> => {
  const wrong = (cause?: unknown) => new InputError("not-answer", generalizeTexts.notAnswer(path), { cause });
  let value: Partial<Answer>;
  try {
    value = JSON.parse(await readFile(path, "utf8"));
  } catch (cause) {
    throw wrong(cause);
  }
  const lists = [value.seeds, value.acquired, value.initial, value.sensitive, value.features];
  if (!lists.every(Array.isArray) || typeof value.settings !== "object") throw wrong();
  return value as Answer;
};

/** The labels and features of the answer, unless they are given; a paper's task has its own labels. */
const rolesOfAnswer = (
  { target, sensitive, features }: Answer,
  given: {
    readonly target: string | undefined;
    readonly sensitive: readonly string[] | undefined;
    readonly features: readonly string[] | undefined;
    readonly task: string | undefined;
  },
) => ({
  features: given.features ?? features,
  ...(given.task === undefined
    ? { target: given.target ?? target, sensitive: given.sensitive ?? sensitive }
    : {}),
});

/** Rows have a meaning only in the table that they were acquired from. */
const requireSame = (path: string, answer: Answer, task: Task, name: string): void => {
  const labels = task.sensitive.map((label) => label.name);
  const differences = [
    [answer.tableRows !== task.table.rows, `${answer.tableRows} rows`],
    [answer.target !== task.target.name, `the target ${answer.target}`],
    [answer.sensitive.join() !== labels.join(), `the sensitive attribute ${answer.sensitive.join(", ")}`],
  ] as const;
  const found = differences.find(([differs]) => differs);
  if (found !== undefined)
    throw new InputError("other-table", generalizeTexts.otherTable(path, found[1], name));
};

const learnersOf = async (words: string): Promise<Record<string, Learner>> => {
  const names = words
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
  const chosen: Record<string, Learner> = {};
  for (const given of names) {
    const name = MODELS.find((each) => each === given);
    if (name === undefined) {
      throw new InputError("model", generalizeTexts.model(given, nearestName(given, MODELS)));
    }
    chosen[name] = await learner(name);
  }
  return chosen;
};

const learner = async (name: ModelName): Promise<Learner> => {
  if (name === "forest") return (await import("../../../learners/forest.js")).forest();
  if (name === "logistic") return (await import("../../../learners/logistic.js")).logistic({ members: 2 });
  if (name === "boosting") return (await import("../../../learners/boosting.js")).boosting();
  if (name === "mlp") return (await import("../../../learners/mlp.js")).mlp();
  return (await import("../../../learners/svm.js")).svm();
};
