/** `fairbed acquire`: what ways of asking for labels would reach, simulated on a labelled table. */

import { resolve } from "node:path";
import type { BatchKind } from "../../../active/step.js";
import { type StrategyName, strategyNames } from "../../../active/strategy-names.js";
import { InputError } from "../../../core/errors.js";
import { unitOf } from "../../../core/information-unit.js";
import { nearestName } from "../../../core/nearest-name.js";
import { fixed } from "../../../core/number-text.js";
import type { Task } from "../../../tables/task.js";
import { RECOMMENDED, SENSITIVE_MODEL_NAMES } from "../../../workflows/acquisition-settings.js";
import { deviceTexts } from "../../../workflows/device.js";
import type { Recipe } from "../../../workflows/recipe.js";
import type { SimulateOptions } from "../../../workflows/simulate.js";
import { bitsOption } from "../../bits-option.js";
import { defineCommand, type OptionValues } from "../../command.js";
import { deviceOption } from "../../device-option.js";
import {
  choice,
  choices,
  grouped,
  integer,
  integers,
  optionalArgument,
  optionalInteger,
  optionalReal,
  outFile,
  real,
  text,
} from "../../options.js";
import { withProgress } from "../../run-options.js";
import { readingOf, readOptions, roleOptions, rolesOf, tableOptions } from "../sources/table-options.js";
import { comparisonInWords } from "./comparison.js";
import {
  betaOption,
  compositionOptions,
  costWeightOption,
  goalOptions,
  modelOptions,
  parseShares,
} from "./method-options.js";
import { parseQuotas, quotaOption } from "./quota-option.js";
import { askingOf, recipeFrom, recipeOption, withRecipe } from "./recipe-option.js";

export const acquireTexts = {
  recipe:
    "of the recipe only the way of asking and reweighing are simulated, by forests: its learner and rule are what fit --recipe makes of the labels",
  sensitiveModel: (given: string, near: string | undefined) =>
    `--sensitive-model takes ${SENSITIVE_MODEL_NAMES.join(", ")} or a file such as members.csv or model.onnx, not "${given}"${near === undefined ? "" : `: did you mean ${near}?`}`,
};

const BATCH_KINDS = ["top", "softmax", "rank", "joint"] as const satisfies readonly BatchKind[];
const POOL_ATTRIBUTES = ["known", "revealed"] as const;
const CATEGORIES = ["one-hot", "ordinal"] as const;

const { target, sensitive, ...otherRoles } = roleOptions;

const simulationOptions = {
  target,
  sensitive,
  task: tableOptions.task,
  method: choices<StrategyName>(
    "--method <names>",
    "ways of asking, compared where there are several",
    strategyNames,
    [RECOMMENDED.method],
  ),
  budget: integer("--budget <number>", "how many labels to acquire", RECOMMENDED.budget, { min: 1 }),
  beta: betaOption,
  parity: optionalReal(
    "--parity <ratio>",
    "also decide by the fair decision rule, which aims at this ratio of selection rates",
    { above: 0, max: 1 },
  ),
  batch: integer("--batch <number>", "labels acquired between two fits", RECOMMENDED.batch, { min: 1 }),
  seed: integer("--seed <number>", "the first seed", 0, { min: 0 }),
  seeds: integer("--seeds <number>", "how many seeds, one after the other from the first", 1, { min: 1 }),
  out: outFile("--out <file>", "write a report with figures to this HTML file"),
  bits: bitsOption,
  recipe: recipeOption,
  ...grouped("The table", otherRoles),
  ...grouped("Scores and their models", {
    ...modelOptions,
    sensitiveModel: text(
      "--sensitive-model <which>",
      `${SENSITIVE_MODEL_NAMES.join(", ")}, several of these (the worst counts), or a file of its members' probabilities`,
      "revealed",
    ),
    categories: choice(
      "--categories <how>",
      "how categories become numbers",
      CATEGORIES,
      RECOMMENDED.categories,
    ),
  }),
  ...grouped("A goal instead of beta", goalOptions),
  ...grouped("Who may be asked", {
    batchKind: choice("--batch-kind <how>", "how a batch is chosen", BATCH_KINDS, RECOMMENDED.batchKind),
    temperature: optionalReal("--temperature <number>", "of softmax and rank batches", { above: 0 }),
    ...compositionOptions,
    poolAttributes: choice(
      "--pool-attributes <which>",
      "whether the candidates' groups are known before they are asked",
      POOL_ATTRIBUTES,
      "revealed",
    ),
    quota: quotaOption,
    costs: text("--costs <column>", "what the label of each row costs; then no feature"),
    costWeight: costWeightOption,
  }),
  ...grouped("The simulation", {
    initial: optionalInteger("--initial <number>", "labels at the start (2 of every class)", { min: 2 }),
    testFraction: real(
      "--test-fraction <number>",
      "the share of rows that is tested on",
      RECOMMENDED.testFraction,
      {
        above: 0,
        max: 0.95,
      },
    ),
    aside: optionalInteger("--aside <number>", "rows set aside that predictions are wanted for (a tenth)", {
      min: 1,
    }),
    pool: optionalInteger("--pool <number>", "at most so many candidates, drawn at random (all)", { min: 1 }),
    device: deviceOption,
    checkpoints: integers(
      "--checkpoints <numbers>",
      "labels after which it is evaluated (10, 25, 50 and 75 % of the budget)",
      undefined,
      { min: 0 },
    ),
  }),
  ...grouped("Reading files", readOptions),
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
      line: "acquire people.csv --target hired=yes --sensitive sex --method random,epig,fairbed --seeds 8 --out report.html",
      description: "three ways of asking compared, with figures",
    },
    {
      line: "acquire --task students --method random --budget 100 --json",
      description: "one of the paper's tasks, for another program",
    },
  ],
  arguments: { table: optionalArgument("a CSV, Parquet or JSON-lines file; none with --task") },
  options: simulationOptions,
  reportsProgress: true,
  async run({ arguments: { table: path }, options: own, given, context }) {
    const started = performance.now();
    const recipe = await recipeFrom(own.recipe);
    const options = withRecipe(
      own,
      given,
      recipe && {
        ...askingOf(recipe, given),
        method: [recipe.acquisition.method],
        batch: recipe.acquisition.batch,
        budget: recipe.requirement.labels,
        reweigh: recipe.fit.reweigh,
        // Judged here are forests and selection rates; `fit` makes what the recipe says.
        ...(isJudged(recipe) ? { parity: recipe.fit.rule.level } : {}),
      },
    );
    const { readTask } = await import("../../../sources/read-task.js");
    const { simulate } = await import("../../../workflows/simulate.js");
    const { seed, costs, exclude } = options;
    const roles = rolesOf({
      ...options,
      exclude: costs === undefined ? exclude : [...(exclude ?? []), costs],
    });
    const { task, name } = await readTask(path, roles, { ...readingOf(options), seed });
    if (options.out !== undefined) await (await import("../../../report/render.js")).requireCharts();
    const settings = await settingsOf(task, options);
    const simulation = await withProgress(context, "acquiring", (run) =>
      simulate(task, { ...settings, ...run }),
    );
    const notes = recipe === undefined || isJudged(recipe) ? [] : [acquireTexts.recipe];
    const answer = { table: name, ...simulation, notes: [...simulation.notes, ...notes] };
    if (options.out !== undefined) {
      const { acquisitionReport } = await import("../../../report/acquisition-report.js");
      await context.writeFile(
        options.out,
        await acquisitionReport({
          title: "Whom to ask next?",
          lead: `${name}: ${simulation.rows.table} rows, a budget of ${options.budget} labels to learn ${simulation.target}. Which labels should be paid for, if they are to say little about ${simulation.sensitive.join(" and ")}?`,
          about: [
            `Simulated: ${simulation.rows.pool} candidates whose labels are known to the table are asked for a batch of ${options.batch} at a time, and what was learnt is tested on ${simulation.rows.test} others, for ${simulation.seeds.length} seed${simulation.seeds.length === 1 ? "" : "s"}.`,
          ],
          simulation,
          unit: unitOf(options.bits),
          footer: `fairbed acquire --method ${options.method.join(",")} --budget ${options.budget} --batch ${options.batch} --seed ${seed} --seeds ${options.seeds}`,
        }),
      );
    }
    return {
      unit: "nats",
      ...answer,
      report: options.out === undefined ? undefined : resolve(options.out),
      seconds: (performance.now() - started) / 1000,
    };
  },
  print: ({ table, report, seconds, device, ...simulation }, { bits }) =>
    [
      ...simulation.unmet.map((text) => `${text}.`),
      `${table}: target ${simulation.target}, sensitive ${simulation.sensitive.join(", ")}; ${simulation.rows.pool} candidates, ${simulation.rows.test} test rows`,
      ...simulation.notes.map((note) => `Note: ${note}.`),
      "",
      ...comparisonInWords(simulation, unitOf(bits)),
      "",
      ...(device === undefined ? [] : [deviceTexts.used(device)]),
      ...(report === undefined ? [] : [`The report with figures: ${report}`]),
      `In ${fixed(seconds, 1)} s.`,
    ].join("\n"),
});

/** Whether the recipe decides by a rule for equal selection rates on a forest. */
const isJudged = (recipe: Recipe): recipe is Recipe & { fit: { rule: { level: number } } } =>
  recipe.fit.rule?.metric === "dp" && recipe.fit.learner === "forest";

/** From the options to what is simulated. */
const settingsOf = async (
  task: Task,
  options: OptionValues<typeof simulationOptions>,
): Promise<SimulateOptions> => ({
  ...options,
  methods: options.method,
  parityAtLeast: options.dpAtLeast,
  targets: options.aside,
  quotas: parseQuotas(options.quota),
  shares: parseShares(options.shares),
  sensitiveModel: await sensitiveModelOf(options.sensitiveModel, task),
});

const sensitiveModelOf = async (given: string, task: Task): Promise<SimulateOptions["sensitiveModel"]> => {
  if (!/[./\\]/.test(given)) {
    return given.split(",").map((name) => {
      const kind = SENSITIVE_MODEL_NAMES.find((each) => each === name.trim());
      if (kind !== undefined) return kind;
      const near = nearestName(name, SENSITIVE_MODEL_NAMES);
      throw new InputError("sensitive-model", acquireTexts.sensitiveModel(name, near));
    });
  }
  const { suppliedMembers } = await import("../../../sources/supplied-members.js");
  const classesOf = (i: number): number => task.sensitive[i]?.classes.length ?? 2;
  return {
    supplied: await Promise.all(given.split(",").map((file, i) => suppliedMembers(file, task, classesOf(i)))),
  };
};
