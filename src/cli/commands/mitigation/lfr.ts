/** `fairbed mitigate lfr`: features replaced by a learned fair representation, and what that costs and gives. */

import { fixed } from "../../../core/number-text.js";
import { MITIGATION_DEFAULTS } from "../../../workflows/mitigation-defaults.js";
import { defineCommand } from "../../command.js";
import { choice, flag, integer, optionalArgument, real } from "../../options.js";
import { withProgress } from "../../run-options.js";
import { capital, MEASURES_LEGEND, measuresTable } from "./measures-table.js";
import { mitigationOptions, readMitigation } from "./mitigation-options.js";
import { rowsCsv } from "./rows-csv.js";

const D = MITIGATION_DEFAULTS.representation;

export const lfr = defineCommand({
  name: "mitigate lfr",
  group: "Mitigation",
  summary: "replace features by a learned fair representation",
  examples: [
    {
      line: "mitigate lfr people.csv --target income=high --sensitive sex --out fair.csv",
      description: "five numbers for each row, to train any model on",
    },
    {
      line: "mitigate lfr --task students --parity 10 --json",
      description: "one of the paper's tasks, for another program",
    },
  ],
  arguments: { table: optionalArgument("a CSV, Parquet or JSON-lines file; none with --task") },
  options: {
    ...mitigationOptions,
    prototypes: integer("--prototypes <number>", "how many numbers each row becomes", D.prototypes, {
      min: 2,
    }),
    reconstruction: real(
      "--reconstruction <weight>",
      "Ax: how much they say about the features",
      D.reconstruction,
      {
        min: 0,
      },
    ),
    prediction: real("--prediction <weight>", "Ay: how much they say about the target", D.prediction, {
      min: 0,
    }),
    parity: real("--parity <weight>", "Az: how equal they are between the groups", D.parity, { min: 0 }),
    parityForm: choice<"sum" | "mean">(
      "--parity-form <how>",
      "gaps over prototypes: sum, or mean (AIF360)",
      ["sum", "mean"],
      D.parityForm,
    ),
    smoothing: real(
      "--smoothing <number>",
      "how smooth the gaps are at first; 0 for exact steps only",
      D.smoothing,
      {
        min: 0,
      },
    ),
    unbounded: flag("--unbounded", "let what a prototype says of the target leave 0 to 1"),
    steps: integer("--steps <number>", "the most steps from a start", D.maxSteps, { min: 1 }),
    restarts: integer("--restarts <number>", "random starts", D.restarts, { min: 1 }),
  },
  reportsProgress: true,
  async run({ arguments: { table: path }, options, context }) {
    const started = performance.now();
    const { representTable } = await import("../../../workflows/mitigate.js");
    const { table, name, settings: common } = await readMitigation(path, options);
    const { prototypes, reconstruction, prediction, parity, parityForm, smoothing } = options;
    const bounded = !options.unbounded;
    const settings = { prototypes, reconstruction, prediction, parity, parityForm, smoothing, bounded };
    const { steps: maxSteps, restarts } = options;
    const { represented, ...shown } = await withProgress(context, "learning", (run) =>
      representTable(table, { ...common, ...settings, ...run, maxSteps, restarts }),
    );
    if (options.out !== undefined) {
      const { columns, rows, values } = represented;
      const every = Array.from({ length: rows }, (_, row) => row);
      const headings = Array.from({ length: columns }, (_, k) => `prototype ${k + 1}`);
      const lines = rowsCsv(table, common.id, every, headings, (i) => [
        ...values.subarray(i * columns, (i + 1) * columns),
      ]);
      await context.writeFile(options.out, lines);
    }
    return { table: name, settings, ...shown, seconds: (performance.now() - started) / 1000 };
  },
  print: ({
    table,
    band,
    target,
    sensitive,
    privileged,
    rows,
    representation,
    metrics,
    notes,
    warnings,
    seconds,
  }) => {
    const { losses, start, starts } = representation;
    return [
      ...(band.outside === true ? [`NOT MET: ${band.sentence}.`] : []),
      `${table}: target ${target}, sensitive ${sensitive}, privileged ${privileged}; ${rows.train} rows to learn from, ${rows.test} to test on`,
      ...notes.map((note) => `Note: ${note}.`),
      `loss ${fixed(losses.loss, 4)}: reconstruction ${fixed(losses.reconstruction, 4)}, prediction ${fixed(losses.prediction, 4)}, parity ${fixed(losses.parity, 4)}; ${starts[start].steps} steps`,
      "",
      ...measuresTable([
        ["forest on the features", metrics.forest],
        ["forest on the representation", metrics.representationForest],
        ["the representation itself", metrics.representation],
      ]),
      "",
      ...(band.outside === true ? [] : [`${capital(band.sentence)}.`]),
      ...MEASURES_LEGEND,
      ...warnings.filter((each) => each !== band.sentence).flatMap((warning) => ["", `Warning: ${warning}.`]),
      "",
      `In ${fixed(seconds, 1)} s.`,
    ].join("\n");
  },
});
