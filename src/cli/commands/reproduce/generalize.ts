/** `fairbed generalize`: other models on a frozen dataset. */

import { InputError } from "../../../core/errors.js";
import { fixed } from "../../../core/number-text.js";
import { LEARNER_NAMES, type LearnerName } from "../../../learners/learner-names.js";
import { withoutPassword } from "../../../sources/without-password.js";
import type { Task } from "../../../tables/task.js";
import type { AcquisitionFile } from "../../../workflows/acquisition-file.js";
import type { FrozenSeed } from "../../../workflows/generalization.js";
import { GENERALIZE_MODELS } from "../../../workflows/generalize-models.js";
import { type CommandContext, defineCommand } from "../../command.js";
import { argument, grouped, integer, text, texts } from "../../options.js";
import { withProgress } from "../../run-options.js";
import { rightAligned } from "../../text-table.js";
import { inWords } from "../active/comparison.js";
import { readBytes } from "../design/files.js";
import {
  type ReadOptionValues,
  type RoleOptionValues,
  readingOf,
  readOptions,
  roleOptions,
  rolesOf,
  tableOptions,
} from "../sources/table-options.js";

export const generalizeTexts = {
  noTest: (file: string) =>
    `${file} is a table of labelled rows: name the rows to judge on with --test, or give the JSON answer of fairbed acquire`,
  methods: (file: string, names: readonly string[]) =>
    `${file} has what several methods acquired: say whose labels to train on with --method, one of ${names.join(", ")}`,
  noMethod: (file: string, names: readonly string[]) =>
    `${file} has no such method: --method takes one of ${names.join(", ")}`,
  tableOfAnswer: (file: string) =>
    `${file} says which rows were acquired, not what is in them: name their table with --table, or --task`,
  otherTable: (file: string, differs: string, table: string) =>
    `${file} was acquired from a table with ${differs}, and ${table} is another: give the table and the labels that the rows were acquired with`,
  onlyAnswer: (file: string, option: string) =>
    `${file} is a table of labelled rows, and --${option} says where the rows of an answer of fairbed acquire are: leave it out`,
  onlyTable: (file: string) =>
    `${file} is an answer of fairbed acquire, which held rows out itself: leave out --test`,
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
    models: texts(
      "--models <names>",
      `which of ${LEARNER_NAMES.join(", ")} (${GENERALIZE_MODELS.join(",")})`,
    ),
    table: text("--table <table>", "the table that the answer's rows are of"),
    method: text("--method <name>", "which of the answer's methods, where it has several"),
    test: text("--test <table>", "the rows to judge on, where the first is a table"),
    task: tableOptions.task,
    seed: integer("--seed <number>", "random seed, where the first is a table", 0, {
      min: 0,
    }),
    ...grouped("Columns", roleOptions),
    ...grouped("Reading the table", readOptions),
  },
  reportsProgress: true,
  async run({ arguments: { acquired: path }, options, context }) {
    const started = performance.now();
    const { learnerName } = await import("../../../learners/by-name.js");
    const models = (options.models ?? GENERALIZE_MODELS).map(learnerName);
    const { results, seeds, task, notes } = path.endsWith(".json")
      ? await onAnswer(path, models, options, context)
      : await onTables(path, models, options, context);
    return {
      acquired: withoutPassword(path),
      seeds,
      leftOut: task.leftOut,
      notes: [...task.notes, ...notes],
      models: Object.fromEntries(results.map(({ model, metrics }) => [model, metrics])),
      seconds: (performance.now() - started) / 1000,
    };
  },
  print: ({ acquired, seeds, models, notes, seconds }) =>
    [
      `${acquired}: every model trained on the same labels${seeds > 1 ? `, means over ${seeds} seeds` : ""}`,
      ...notes.map((note) => `Note: ${note.replace(/\.$/, "")}.`),
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
      `In ${fixed(seconds, 1)} s.`,
    ].join("\n"),
});

const readAnswer = async (path: string): Promise<AcquisitionFile> => {
  const { acquisitionFileTexts, readAcquisitionFile } = await import(
    "../../../workflows/acquisition-file.js"
  );
  const text = new TextDecoder().decode(await readBytes(path));
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's words quote the file, which may be anything.
    throw new InputError("not-answer", acquisitionFileTexts.notAnswer(path));
  }
  return readAcquisitionFile(value, path);
};

/** The method whose labels are trained on: the only one of the answer, or the one that is named. */
const methodOf = (
  path: string,
  { methods }: AcquisitionFile,
  wanted: string | undefined,
): AcquisitionFile["methods"][number] => {
  const names = methods.map(({ method }) => method);
  if (wanted === undefined && methods.length > 1) {
    throw new InputError("method", generalizeTexts.methods(path, names));
  }
  const found = wanted === undefined ? methods[0] : methods.find(({ method }) => method === wanted);
  if (found === undefined) throw new InputError("method", generalizeTexts.noMethod(path, names));
  return found;
};

/** The labels and features of the answer, unless they are given; a paper's task has its own labels. */
const rolesOfAnswer = ({ target, sensitive, features }: AcquisitionFile, given: RoleOptionValues) => ({
  features: given.features ?? features,
  ...(given.task === undefined
    ? { target: given.target ?? target, sensitive: given.sensitive ?? sensitive }
    : {}),
});

/** Rows have a meaning only in the table that they were acquired from. */
const requireSame = async (
  path: string,
  answer: AcquisitionFile,
  task: Task,
  name: string,
): Promise<void> => {
  const { taskContent } = await import("../../../workflows/acquisition-file.js");
  const labels = task.sensitive.map((label) => label.name);
  const differences = [
    [answer.rows.table !== task.table.rows, `${answer.rows.table} rows`],
    [answer.target !== task.target.name, `the target ${answer.target}`],
    [answer.sensitive.join() !== labels.join(), `the sensitive attribute ${answer.sensitive.join(", ")}`],
    [answer.content !== taskContent(task), "other values, or the same in another order"],
  ] as const;
  const found = differences.find(([differs]) => differs);
  if (found !== undefined)
    throw new InputError("other-table", generalizeTexts.otherTable(path, found[1], name));
};

type GeneralizeValues = ReadOptionValues &
  RoleOptionValues & {
    readonly table: string | undefined;
    readonly method: string | undefined;
    readonly test: string | undefined;
    readonly seed: number;
  };

const onTables = async (
  path: string,
  models: readonly LearnerName[],
  options: GeneralizeValues,
  context: CommandContext,
) => {
  const { readTask } = await import("../../../sources/read-task.js");
  const { generalizeTables } = await import("../../../workflows/generalization.js");
  const { test, seed } = options;
  for (const option of ["table", "task"] as const)
    if (options[option] !== undefined)
      throw new InputError("only-answer", generalizeTexts.onlyAnswer(withoutPassword(path), option));
  if (test === undefined) throw new InputError("no-test", generalizeTexts.noTest(withoutPassword(path)));
  const { task, testFrom = 0 } = await readTask(path, rolesOf(options), { ...readingOf(options), test });
  const { results, notes } = await withProgress(context, "training", (run) =>
    generalizeTables(task, testFrom, models, { ...run, seed }),
  );
  return { results, seeds: 1, task, notes };
};

const onAnswer = async (
  path: string,
  models: readonly LearnerName[],
  options: GeneralizeValues,
  context: CommandContext,
) => {
  const { readTask } = await import("../../../sources/read-task.js");
  const { generalize: run } = await import("../../../workflows/generalization.js");
  const answer = await readAnswer(path);
  if (options.test !== undefined) throw new InputError("only-table", generalizeTexts.onlyTable(path));
  if (options.table === undefined && options.task === undefined)
    throw new InputError("no-table", generalizeTexts.tableOfAnswer(path));
  const roles = rolesOf({ ...options, ...rolesOfAnswer(answer, options) });
  const reading = { ...readingOf(options), seed: answer.seeds[0] };
  const { task, name } = await readTask(options.table, roles, reading);
  await requireSame(path, answer, task, name);
  const { acquired, settings } = methodOf(path, answer, options.method);
  const frozen: FrozenSeed[] = answer.seeds.map((seed, i) => ({
    seed,
    labelled: [...answer.initial[i], ...acquired[i]],
  }));
  const results = await withProgress(context, "training", (watch) =>
    run(task, settings, frozen, models, watch),
  );
  return { results, seeds: frozen.length, task, notes: [] };
};
