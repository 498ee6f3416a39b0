/** `fairbed fit`: a model of the labelled rows of a table, kept in one file. */
import { LEARNER_NAMES } from "../../../learners/learner-names.js";
import { FIT_DEFAULTS } from "../../../workflows/fit-defaults.js";
import type { HeldOutGroups, HeldOutMetrics, HeldOutRate } from "../../../workflows/fitted-model.js";
import { defineCommand } from "../../command.js";
import { choice, grouped, integer, optionalArgument, optionalReal, real, text } from "../../options.js";
import { requireFolder } from "../../out-folder.js";
import { withProgress } from "../../run-options.js";
import { rightAligned } from "../../text-table.js";
import { recipeFrom, recipeOption, withRecipe } from "../active/recipe-option.js";
import { readingOf, readOptions, roleOptions, rolesOf, tableOptions } from "../sources/table-options.js";

const { target, sensitive, weights, ...otherRoles } = roleOptions;
const D = FIT_DEFAULTS;

export const fit = defineCommand({
  name: "fit",
  group: "Models",
  summary: "fit a model to the labelled rows of a table",
  examples: [
    {
      line: "fit labelled.csv --target hired=yes --sensitive sex --out model.json",
      description: "a forest in one file, judged in every group",
    },
    {
      line: "fit labelled.csv --target grade --learner boosting --test-fraction 0.3 --out model.json",
      description: "several classes, judged on three rows of ten",
    },
  ],
  arguments: { table: optionalArgument("a CSV, Parquet or JSON-lines file; none with --task") },
  options: {
    target,
    sensitive: { ...sensitive, summary: "groups to judge the model by, in the same form; not learnt from" },
    out: text("--out <file>", "write the model there, for fairbed predict"),
    recipe: recipeOption,
    learner: choice("--learner <name>", "what learns", LEARNER_NAMES, D.learner),
    weights,
    testFraction: optionalReal(
      "--test-fraction <share>",
      "judge on this share of the rows, held out once, instead of by cross-validation",
      { above: 0, max: 0.95 },
    ),
    seed: integer("--seed <number>", "where the random streams start", D.seed, { min: 0 }),
    ...grouped("Columns", { ...otherRoles, task: tableOptions.task }),
    ...grouped("Reading the table", readOptions),
    ...grouped("Estimates", {
      folds: integer("--folds <number>", "parts that are held out in turn", D.folds, { min: 2, max: 100 }),
      level: real("--level <share>", "of the intervals", D.level, { min: 0.5, max: 0.999 }),
    }),
  },
  reportsProgress: true,
  async run({ arguments: { table: path }, options: own, given: named, context }) {
    const started = performance.now();
    const recipe = await recipeFrom(own.recipe);
    const options = withRecipe(own, named, recipe && { learner: recipe.fit.learner });
    const { fitModel } = await import("../../../workflows/fit-model.js");
    const { readWithRoles } = await import("../../../sources/read-task.js");
    if (options.out !== undefined) await requireFolder(options.out, [path]);
    const { learner, testFraction, folds, level, seed } = options;
    const given = {
      ...rolesOf(options),
      sensitive: options.sensitive ?? (options.task === undefined ? [] : undefined),
    };
    const { table, roles } = await readWithRoles(path, given, { ...readingOf(options), seed });
    const model = await withProgress(context, "fitting", (run) =>
      fitModel(table, { ...roles, ...run, learner, testFraction, folds, level, seed }),
    );
    if (options.out !== undefined) await context.writeFile(options.out, `${JSON.stringify(model)}\n`);
    const { learner: made, encoder: _, ...shown } = model;
    return {
      ...shown,
      table: table.name,
      learner: made.name,
      written: options.out === undefined ? [] : [options.out],
      seconds: (performance.now() - started) / 1000,
    };
  },
  print: ({ table, target: { name, classes }, columns, learner, rows, heldOut, notes, written, seconds }) =>
    [
      `${table}: ${learner} of ${name} (${classes.join(", ")}), fitted on ${rows} rows and ${columns.length} columns`,
      "",
      ...(heldOut === undefined ? [] : heldOutInWords(heldOut)),
      ...notes.map((note) => `Note: ${note.replace(/\.$/, "")}.`),
      ...written.map((file) => `Wrote ${file}; fairbed predict ${file} new.csv uses it.`),
      ...(written.length === 0 ? ["The model was not kept: add --out model.json to use it."] : []),
      `In ${seconds.toFixed(1)} s.`,
    ].join("\n"),
});

const RATES = [
  ["accuracy", "accuracy"],
  ["selectionRate", "predicted"],
  ["truePositiveRate", "TPR"],
  ["falsePositiveRate", "FPR"],
  ["precision", "precision"],
] as const;

const shareInWords = ({ value, interval }: HeldOutRate): string => {
  if (value === undefined) return "none";
  const ends = interval === undefined ? "" : ` (${interval.map((end) => end.toFixed(2)).join(" to ")})`;
  return `${value.toFixed(3)}${ends}`;
};

const heldOutInWords = (heldOut: HeldOutMetrics): string[] => {
  const { method, folds, testFraction, rows, level, overall, groups } = heldOut;
  const how =
    method === "cross-validation"
      ? `cross-validation with ${folds} folds: every row by a model that has not seen it`
      : `${rows} rows (a share of ${testFraction}) by a model that has not seen them`;
  return [
    `Held out: ${how}; ${100 * level} % intervals.`,
    ...overall.flatMap(({ positive, rates }) => {
      const own = groups.filter((each) => each.positive === positive);
      return [
        "",
        ...rightAligned([
          [positive, "rows", ...RATES.map(([, heading]) => heading)],
          ["all rows", String(rows), ...RATES.map(([key]) => shareInWords(rates[key]))],
          ...own.flatMap((each) => groupRows(each)),
        ]),
        ...own.map(
          ({ sensitive, gaps }) =>
            `${sensitive}: demographic parity difference ${shareInWords(gaps.demographicParity.difference)}, equalised odds difference ${shareInWords(gaps.equalisedOdds.difference)}`,
        ),
      ];
    }),
    "",
  ];
};

const groupRows = ({ groups }: HeldOutGroups): string[][] =>
  groups.map(({ name, rows, rates }) => [
    name,
    String(rows),
    ...RATES.map(([key]) => shareInWords(rates[key])),
  ]);
