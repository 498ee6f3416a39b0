/** `fairbed mitigate lfr`: features replaced by a learned fair representation, and what that costs and gives. */
import { defineCommand } from "../../command.js";
import { choice, flag, integer, optionalArgument, real } from "../../options.js";
import { requireFolder } from "../../out-folder.js";
import { MEASURES_SAY, measuresTable } from "./measures-table.js";
import { rowsCsv } from "./rows-csv.js";
import { mitigationOptions, splitTask } from "./split-task.js";

/** Every tenth of a second: often enough for Ctrl-C and the bar. */
const YIELD_MS = 100;

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
    prototypes: integer("--prototypes <number>", "how many numbers each row becomes", 5, { min: 2 }),
    reconstruction: real("--reconstruction <weight>", "Ax: how much they say about the features", 0.01, {
      min: 0,
    }),
    prediction: real("--prediction <weight>", "Ay: how much they say about the target", 1, { min: 0 }),
    parity: real("--parity <weight>", "Az: how equal they are between the groups", 1, { min: 0 }),
    parityForm: choice<"sum" | "mean">(
      "--parity-form <how>",
      "gaps over prototypes: sum, or mean (AIF360)",
      ["sum", "mean"],
      "sum",
    ),
    smoothing: real(
      "--smoothing <number>",
      "how smooth the gaps are at first; 0 for exact steps only",
      0.01,
      {
        min: 0,
      },
    ),
    unbounded: flag("--unbounded", "let what a prototype says of the target leave 0 to 1"),
    steps: integer("--steps <number>", "the most steps from a start", 5000, { min: 1 }),
    restarts: integer("--restarts <number>", "random starts", 5, { min: 1 }),
  },
  reportsProgress: true,
  async run({ arguments: { table: path }, options, context }) {
    const started = performance.now();
    const { applyRepresentation, fairRepresentationSteps, predictFromRepresentation } = await import(
      "../../../mitigation/learned-fair-representation.js"
    );
    const { forest } = await import("../../../learners/forest.js");
    const { measure } = await import("./measures.js");
    if (options.out !== undefined) await requireFolder(options.out);
    const { shownFeatureNames } = await import("./feature-names.js");
    const split = await splitTask(path, options);
    const { task, features, labels, privileged, train, test, stream } = split;
    const { prototypes, reconstruction, prediction, parity, parityForm, smoothing } = options;
    const bounded = !options.unbounded;
    const settings = { prototypes, reconstruction, prediction, parity, parityForm, smoothing, bounded };
    const own = train.map((row) => labels[row]);
    const walk = fairRepresentationSteps(
      { features, rows: train, labels: own, privileged: train.map((row) => privileged[row]) },
      stream.split("lfr"),
      { ...settings, maxSteps: options.steps, restarts: options.restarts },
    );
    let next = walk.next();
    let progress: ReturnType<typeof context.progress> | undefined;
    for (let last = performance.now(); next.done !== true; next = walk.next()) {
      progress ??= context.progress("learning", next.value.mostSteps);
      if (performance.now() - last < YIELD_MS) continue;
      progress.update(next.value.steps);
      await context.checkpoint();
      last = performance.now();
    }
    progress?.end();
    const representation = next.value;
    const represented = applyRepresentation(representation, features);
    const favoured = (probabilities: Float64Array): Int32Array =>
      Int32Array.from(test, (_, i) => Number(probabilities[2 * i + 1] > 0.5));
    const learner = forest({ trees: options.trees });
    const [plain, fair] = [features, represented].map((matrix) =>
      favoured(
        learner
          .fit({ features: matrix, rows: train, labels: own, classes: 2 }, stream.split("forest"))
          .predict(matrix, test),
      ),
    );
    const direct = Int32Array.from(predictFromRepresentation(representation, features, test), (p) =>
      Number(p > 0.5),
    );
    const of = (predicted: Int32Array) => measure(predicted, test, labels, privileged);
    if (options.out !== undefined) {
      const { columns, rows, values } = represented;
      const every = Array.from({ length: rows }, (_, row) => row);
      const headings = Array.from({ length: columns }, (_, k) => `prototype ${k + 1}`);
      const lines = rowsCsv(task, every, headings, (i) => [
        ...values.subarray(i * columns, (i + 1) * columns),
      ]);
      await context.writeFile(options.out, lines);
    }
    return {
      table: split.name,
      target: task.target.name,
      sensitive: split.sensitive.name,
      privileged: split.privilegedGroup,
      settings,
      rows: { train: train.length, test: test.length },
      featureNames: shownFeatureNames(task.table, features),
      representation,
      metrics: { forest: of(plain), representationForest: of(fair), representation: of(direct) },
      notes: task.notes,
      warnings: representation.collapse === undefined ? [] : [representation.collapse],
      seconds: (performance.now() - started) / 1000,
    };
  },
  print: ({
    table,
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
      `${table}: target ${target}, sensitive ${sensitive}, privileged ${privileged}; ${rows.train} rows to learn from, ${rows.test} to test on`,
      ...notes.map((note) => `Note: ${note}.`),
      `loss ${losses.loss.toFixed(4)}: reconstruction ${losses.reconstruction.toFixed(4)}, prediction ${losses.prediction.toFixed(4)}, parity ${losses.parity.toFixed(4)}; ${starts[start].steps} steps`,
      "",
      ...measuresTable([
        ["forest on the features", metrics.forest],
        ["forest on the representation", metrics.representationForest],
        ["the representation itself", metrics.representation],
      ]),
      "",
      ...MEASURES_SAY,
      ...warnings.flatMap((warning) => ["", `Warning: ${warning}.`]),
      "",
      `In ${seconds.toFixed(1)} s.`,
    ].join("\n");
  },
});
