/** `fairbed plan`: which recipe meets a requirement on parity, tried out on a labelled table. */

import { resolve } from "node:path";
import { type StrategyName, strategyNames } from "../../../active/strategy-names.js";
import { InputError } from "../../../core/errors.js";
import { unitOf } from "../../../core/information-unit.js";
import { fixed } from "../../../core/number-text.js";
import { LEARNER_NAMES } from "../../../learners/learner-names.js";
import type { FairMetric } from "../../../mitigation/fair-rule.js";
import { PLAN_DEFAULTS } from "../../../workflows/plan-defaults.js";
import { PLANNED_METHODS } from "../../../workflows/plan-recipes.js";
import { bitsOption } from "../../bits-option.js";
import { defineCommand } from "../../command.js";
import {
  choice,
  choices,
  grouped,
  integer,
  optionalArgument,
  optionalInteger,
  optionalReal,
  outFile,
} from "../../options.js";
import { withProgress } from "../../run-options.js";
import { readingOf, readOptions, roleOptions, rolesOf, tableOptions } from "../sources/table-options.js";
import { planInWords } from "./plan-words.js";

const { target, sensitive, ...otherRoles } = roleOptions;
const D = PLAN_DEFAULTS;

export const planCommand = defineCommand({
  name: "plan",
  group: "Active learning",
  summary: "recommend how to reach parity at the least cost",
  examples: [
    {
      line: "plan pilot.csv --target hired=yes --sensitive sex --parity 0.8 --recipe recipe.json",
      description: "selection rates of at least 0.8 of the highest",
    },
    {
      line: "plan pilot.csv --target hired=yes --sensitive sex --parity 0.9 --metric eopp --labels 250 --minutes 5 --out plan.html",
      description: "equal opportunity with 250 labels, in five minutes at most, with figures",
    },
    {
      line: "plan --task students --parity 0.8 --json",
      description: "one of the paper's tasks, for another program",
    },
  ],
  arguments: { table: optionalArgument("a CSV, Parquet or JSON-lines file; none with --task") },
  options: {
    target,
    sensitive,
    task: tableOptions.task,
    parity: optionalReal(
      "--parity <ratio>",
      "the least ratio between the groups' rates that is wanted, such as 0.8",
    ),
    metric: choice<FairMetric>(
      "--metric <which>",
      "of selection rates (dp) or of true positive rates (eopp)",
      ["dp", "eopp"],
      D.metric,
    ),
    labels: optionalInteger("--labels <number>", `how many labels can be paid for (${D.labels})`, { min: 1 }),
    minutes: optionalReal("--minutes <number>", "stop trying out after so long, and say so (no limit)", {
      above: 0,
    }),
    out: outFile("--out <file>", "write a report with figures to this HTML file"),
    recipe: outFile("--recipe <file>", "write the recipe to this file, for rank, acquire and fit"),
    seed: integer("--seed <number>", "random seed", D.seed, { min: 0 }),
    bits: bitsOption,
    ...grouped("What is tried out", {
      method: choices<StrategyName>(
        "--method <names>",
        "ways of asking; random always is one",
        strategyNames,
        PLANNED_METHODS,
      ),
      learner: choices(
        "--learner <names>",
        "learners to try for the final model; a forest chooses whom to ask",
        LEARNER_NAMES,
        D.learners,
      ),
      batch: optionalInteger("--batch <number>", "labels asked for between two fits (a hundredth of them)", {
        min: 1,
      }),
      pool: integer("--pool <number>", "at most so many candidates, drawn at random", D.pool, { min: 1 }),
      trees: integer("--trees <number>", "trees of every forest", D.trees, { min: 2 }),
    }),
    ...grouped("The table", otherRoles),
    ...grouped("Reading files", readOptions),
  },
  reportsProgress: true,
  async run({ arguments: { table: path }, options, context }) {
    const started = performance.now();
    const { parity, metric, labels, minutes, out, recipe, seed, batch, pool, trees } = options;
    const { planSettings, planningTexts } = await import("../../../workflows/plan-settings.js");
    if (parity === undefined) throw new InputError("no-parity", planningTexts.noLevel);
    const { readTask } = await import("../../../sources/read-task.js");
    const { plan } = await import("../../../workflows/plan.js");
    const wanted = { parity, metric, labels, minutes, seed, batch, pool, trees };
    const tried = { ...wanted, methods: options.method, learners: options.learner };
    planSettings(tried); // said before the table is read
    const { task, name } = await readTask(path, rolesOf(options), { ...readingOf(options), seed });
    if (out !== undefined) await (await import("../../../report/render.js")).requireCharts();
    const found = await withProgress(context, "planning", (run) => plan(task, { ...tried, ...run }));
    const seconds = (performance.now() - started) / 1000;
    const sources = { table: path ?? name, target: options.target, sensitive: options.sensitive, recipe };
    if (recipe !== undefined)
      await context.writeFile(recipe, `${JSON.stringify(found.recipe, undefined, 2)}\n`);
    if (out !== undefined) {
      const { planReport } = await import("../../../report/plan-report.js");
      await context.writeFile(
        out,
        await planReport({ plan: found, name, sources, seconds, unit: unitOf(options.bits) }),
      );
    }
    return {
      unit: "nats",
      table: name,
      ...found,
      report: out === undefined ? undefined : resolve(out),
      recipeFile: recipe === undefined ? undefined : resolve(recipe),
      seconds,
    };
  },
  print: ({ table, report, recipeFile, seconds, ...found }, { bits }) =>
    [
      ...planInWords(found, table, unitOf(bits)),
      "",
      ...(report === undefined ? [] : [`The report with figures: ${report}`]),
      ...(recipeFile === undefined
        ? ["The recipe was not kept: add --recipe recipe.json, and give it to rank, acquire and fit."]
        : [
            `The recipe: ${recipeFile}; fairbed rank, acquire, fit and campaign create take it with --recipe.`,
          ]),
      `In ${fixed(seconds, 1)} s.`,
    ].join("\n"),
});
