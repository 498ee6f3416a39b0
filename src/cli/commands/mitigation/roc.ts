/** `fairbed mitigate roc`: predictions near the threshold decided by group, as reject option classification does. */
import { InputError } from "../../../core/errors.js";
import { stratify } from "../../../mitigation/stratify.js";
import type { Table } from "../../../tables/table.js";
import { defineCommand } from "../../command.js";
import { choice, optionalArgument, real, text } from "../../options.js";
import { requireFolder } from "../../out-folder.js";
import { MEASURES_SAY, measuresTable } from "./measures-table.js";
import { rowsCsv } from "./rows-csv.js";
import { mitigationOptions, requireBoth, splitTask } from "./split-task.js";

export const rocTexts = {
  scores: (column: string) =>
    `the column "${column}" cannot be the scores because it holds text: name a column of probabilities`,
};

const scoresIn = async (table: Table, name: string): Promise<Float64Array> => {
  const { columnNamed } = await import("../../../tables/table.js");
  const column = columnNamed(table, name);
  if (column.kind !== "numeric") throw new InputError("scores", rocTexts.scores(name));
  return column.values;
};

export const roc = defineCommand({
  name: "mitigate roc",
  group: "Mitigation",
  summary: "decide unsure cases for the less favoured group",
  examples: [
    {
      line: "mitigate roc people.csv --target income=high --sensitive sex",
      description: "a forest, and the threshold and margin that make it fair",
    },
    {
      line: "mitigate roc scored.csv --target income=high --sensitive sex --scores probability",
      description: "the same for the scores of a model of your own",
    },
  ],
  arguments: { table: optionalArgument("a CSV, Parquet or JSON-lines file; none with --task") },
  options: {
    ...mitigationOptions,
    scores: text(
      "--scores <column>",
      "probabilities of the favourable outcome; those of a forest unless given",
    ),
    validationFraction: real(
      "--validation-fraction <number>",
      "the share of the other rows that the rule is fitted on, and the forest is not",
      0.3,
      { above: 0, max: 0.95 },
    ),
    lower: real("--lower <number>", "the lowest difference between the groups that is fair enough", -0.05),
    upper: real("--upper <number>", "the highest one", 0.05),
    fallback: choice<"absolute" | "signed">(
      "--fallback <how>",
      "where no rule is fair enough: the smallest absolute or (AIF360) signed difference",
      ["absolute", "signed"],
      "absolute",
    ),
  },
  async run({ arguments: { table: path }, options, context }) {
    const started = performance.now();
    const { applyRejectOption, fitRejectOption } = await import("../../../mitigation/reject-option.js");
    const { measure } = await import("./measures.js");
    if (options.out !== undefined) await requireFolder(options.out);
    const split = await splitTask(path, options);
    const { task, features, labels, privileged, train, test, stream } = split;
    const { scores: column, validationFraction } = options;
    // Where scores are given nothing is trained, and all rows that are not tested on choose the rule.
    const { rest, part: validation } =
      column === undefined
        ? stratify(train, labels, privileged, validationFraction, stream.split("validation"))
        : { rest: new Int32Array(), part: train };
    requireBoth(validation, labels, privileged, "to fit the rule on");
    const scoresOf = await scorer();
    await context.checkpoint();
    const rule = fitRejectOption(
      scoresOf(validation),
      validation.map((row) => labels[row]),
      validation.map((row) => privileged[row]),
      { band: [options.lower, options.upper], fallback: options.fallback },
    );
    const scores = scoresOf(test);
    const before = Int32Array.from(scores, (score) => Number(score > 0.5));
    const after = applyRejectOption(
      rule,
      scores,
      test.map((row) => privileged[row]),
    );
    const of = (predicted: Int32Array) => measure(predicted, test, labels, privileged);
    if (options.out !== undefined)
      await context.writeFile(
        options.out,
        rowsCsv(task, test, ["score", "before", "after"], (i) => [scores[i], before[i], after[i]]),
      );
    return {
      table: split.name,
      target: task.target.name,
      sensitive: split.sensitive.name,
      privileged: split.privilegedGroup,
      rows: { train: rest.length, validation: validation.length, test: test.length },
      rule,
      metrics: { before: of(before), after: of(after) },
      notes: column === undefined ? task.notes : [],
      warnings: rule.warning === undefined ? [] : [rule.warning],
      seconds: (performance.now() - started) / 1000,
    };

    async function scorer(): Promise<(rows: Int32Array) => Float64Array> {
      if (column !== undefined) {
        const given = await scoresIn(task.table, column);
        return (rows) => Float64Array.from(rows, (row) => given[row]);
      }
      const { forest } = await import("../../../learners/forest.js");
      requireBoth(rest, labels, privileged, "to learn from");
      const classifier = forest({ trees: options.trees }).fit(
        { features, rows: rest, labels: rest.map((row) => labels[row]), classes: 2 },
        stream.split("forest"),
      );
      return (rows) => {
        const probabilities = classifier.predict(features, rows);
        return Float64Array.from(rows, (_, i) => Math.min(1, probabilities[2 * i + 1]));
      };
    }
  },
  print: ({ table, target, sensitive, privileged, rows, rule, metrics, notes, warnings, seconds }) =>
    [
      `${table}: target ${target}, sensitive ${sensitive}, privileged ${privileged}; ${rows.train} rows to learn from, ${rows.validation} to fit the rule on, ${rows.test} to test on`,
      ...notes.map((note) => `Note: ${note}.`),
      `threshold ${rule.threshold.toFixed(4)}, margin ${rule.margin.toFixed(4)}: on the rows it was fitted on, balanced accuracy ${rule.balancedAccuracy.toFixed(3)} and a difference of ${rule.difference.toFixed(3)}; ${rule.relabelled} labels change`,
      "",
      ...measuresTable([
        ["threshold 0.5", metrics.before],
        ["reject option", metrics.after],
      ]),
      "",
      ...MEASURES_SAY,
      "The rule uses the group of each row to decide; whether that is allowed depends on what it is used for.",
      ...warnings.flatMap((warning) => ["", `Warning: ${warning}.`]),
      "",
      `In ${seconds.toFixed(1)} s.`,
    ].join("\n"),
});
