/** `fairbed mitigate roc`: predictions near the threshold decided by group, as reject option classification does. */
import { fixed } from "../../../core/number-text.js";
import { MITIGATION_DEFAULTS } from "../../../workflows/mitigation-defaults.js";
import { defineCommand } from "../../command.js";
import { choice, optionalArgument, real, text } from "../../options.js";
import { withProgress } from "../../run-options.js";
import { capital, MEASURES_LEGEND, measuresTable } from "./measures-table.js";
import { mitigationOptions, readMitigation } from "./mitigation-options.js";
import { rowsCsv } from "./rows-csv.js";

const D = MITIGATION_DEFAULTS;

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
      D.validationFraction,
      { above: 0, max: 0.95 },
    ),
    lower: real(
      "--lower <number>",
      "the lowest difference between the groups that is fair enough",
      D.rejectOption.band[0],
    ),
    upper: real("--upper <number>", "the highest one", D.rejectOption.band[1]),
    fallback: choice<"absolute" | "signed">(
      "--fallback <how>",
      "where no rule is fair enough: the smallest absolute or (AIF360) signed difference",
      ["absolute", "signed"],
      D.rejectOption.fallback,
    ),
  },
  async run({ arguments: { table: path }, options, context }) {
    const started = performance.now();
    const { rejectTable } = await import("../../../workflows/mitigate.js");
    const { table, name, settings } = await readMitigation(path, options);
    const { scores: column, validationFraction, lower, upper, fallback } = options;
    const { test, scores, before, after, ...shown } = await withProgress(context, "fitting", (run) =>
      rejectTable(table, {
        ...settings,
        ...run,
        scores: column,
        validationFraction,
        band: [lower, upper],
        fallback,
      }),
    );
    if (options.out !== undefined) {
      const lines = rowsCsv(table, settings.id, test, ["score", "before", "after"], (i) => [
        scores[i],
        before[i],
        after[i],
      ]);
      await context.writeFile(options.out, lines);
    }
    return { table: name, ...shown, seconds: (performance.now() - started) / 1000 };
  },
  print: ({ table, band, target, sensitive, privileged, rows, rule, metrics, notes, warnings, seconds }) =>
    [
      ...(band.outside === true ? [`NOT MET: ${band.sentence}.`] : []),
      `${table}: target ${target}, sensitive ${sensitive}, privileged ${privileged}; ${rows.train} rows to learn from, ${rows.validation} to fit the rule on, ${rows.test} to test on`,
      ...notes.map((note) => `Note: ${note}.`),
      `threshold ${fixed(rule.threshold, 4)}, margin ${fixed(rule.margin, 4)}: on the rows it was fitted on, balanced accuracy ${fixed(rule.balancedAccuracy, 3)} and a difference of ${fixed(rule.difference, 3)}; ${rule.relabelled} labels change`,
      "",
      ...measuresTable([
        ["threshold 0.5", metrics.before],
        ["reject option", metrics.after],
      ]),
      "",
      ...(band.outside === true ? [] : [`${capital(band.sentence)}.`]),
      ...MEASURES_LEGEND,
      "The rule uses the group of each row to decide; whether that is allowed depends on what it is used for.",
      ...warnings.filter((each) => each !== band.sentence).flatMap((warning) => ["", `Warning: ${warning}.`]),
      "",
      `In ${fixed(seconds, 1)} s.`,
    ].join("\n"),
});
