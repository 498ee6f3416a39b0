/** `fairbed mitigate reweigh`: weights for any learner, under which outcome and group are independent. */
import { fixed } from "../../../core/number-text.js";
import { LEARNER_NAMES } from "../../../learners/learner-names.js";
import { MITIGATION_DEFAULTS } from "../../../workflows/mitigation-defaults.js";
import { defineCommand } from "../../command.js";
import { choice, optionalArgument } from "../../options.js";
import { withProgress } from "../../run-options.js";
import { rightAligned } from "../../text-table.js";
import { capital, MEASURES_LEGEND, measuresTable } from "./measures-table.js";
import { mitigationOptions, readMitigation } from "./mitigation-options.js";
import { rowsCsv } from "./rows-csv.js";

export const reweigh = defineCommand({
  name: "mitigate reweigh",
  group: "Mitigation",
  summary: "weigh rows until outcome and group are independent",
  examples: [
    {
      line: "mitigate reweigh people.csv --target income=high --sensitive sex --out weights.csv",
      description: "a weight for each row, for any learner",
    },
    {
      line: "mitigate reweigh people.csv --target income=high --sensitive sex --learner logistic --json",
      description: "what that changes for another learner, for another program",
    },
  ],
  arguments: { table: optionalArgument("a CSV, Parquet or JSON-lines file; none with --task") },
  options: {
    ...mitigationOptions,
    learner: choice("--learner <name>", "what learns", LEARNER_NAMES, MITIGATION_DEFAULTS.learner),
  },
  reportsProgress: true,
  async run({ arguments: { table: path }, options, context }) {
    const started = performance.now();
    const { reweighTable } = await import("../../../workflows/mitigate-reweigh.js");
    const { table, name, settings } = await readMitigation(path, options);
    const { weights, ...shown } = await withProgress(context, "learning", (run) =>
      reweighTable(table, { ...settings, ...run, learner: options.learner }),
    );
    if (options.out !== undefined) {
      const every = Array.from(weights.keys());
      await context.writeFile(
        options.out,
        rowsCsv(table, settings.id, every, ["weight"], (i) => [weights[i]]),
      );
    }
    return { table: name, ...shown, seconds: (performance.now() - started) / 1000 };
  },
  print: ({ table, band, target, sensitive, rows, learner, cells, metrics, notes, warnings, seconds }) =>
    [
      ...(band.outside === true ? [`NOT MET: ${band.sentence}.`] : []),
      `${table}: target ${target}, sensitive ${sensitive}; ${rows.train} rows to learn from, ${rows.test} to test on`,
      ...notes.map((note) => `Note: ${note}.`),
      "",
      ...rightAligned([
        ["rows to learn from", "group", "rows", "weight"],
        ...cells.map(({ outcome, group, rows: count, weight }) => [
          outcome,
          group,
          String(count),
          weight === undefined ? "none" : fixed(weight, 3),
        ]),
      ]),
      "",
      ...measuresTable([
        [learner, metrics.before],
        [`${learner}, reweighed`, metrics.after],
      ]),
      "",
      ...(band.outside === true ? [] : [`${capital(band.sentence)}.`]),
      ...MEASURES_LEGEND,
      ...warnings.filter((each) => each !== band.sentence).flatMap((warning) => ["", `Warning: ${warning}.`]),
      "",
      `In ${fixed(seconds, 1)} s.`,
    ].join("\n"),
});
