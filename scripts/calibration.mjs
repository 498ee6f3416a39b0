// Which sensitive model makes FairBED work: the same acquisition with different calibrations of it, on four tables.
// One line of JSON for every cell, appended to a file; what the file has already is not run again.
//
//     npm run -s build && node scripts/calibration.mjs docs/results/calibration.jsonl --seeds 0,1,2,3,4,5 [--threads 1]
//
// Without --seeds it only prints the table. The data are those of `fairbed data get`.
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seeds: { type: "string", default: "" },
    tasks: { type: "string", default: "students,census,adult,german" },
    threads: { type: "string", default: "1" },
    library: { type: "string", default: new URL("../dist/", import.meta.url).href },
  },
});
const [file] = positionals;
if (file === undefined) {
  process.stderr.write("usage: node scripts/calibration.mjs RESULTS.jsonl --seeds 0,1,...\n");
  process.exit(2);
}

/** Written down before it was run: 400 labels in batches of 8, beta 10, a pool of at most 2000 rows. */
const PROTOCOL = { budget: 400, batch: 8, pool: 2000, goal: { beta: 10 } };
const threads = Number(options.threads);
const VARIANTS = {
  random: { method: "random" },
  epig: { method: "epig" },
  "leaf 1 (the paper's)": {},
  "leaf 1, corrected": { sensitiveCorrection: "analytic" },
  "leaf 5": { sensitiveForest: { minLeaf: 5 } },
  "leaf 10": { sensitiveForest: { minLeaf: 10 } },
  "leaf 10, corrected": { sensitiveForest: { minLeaf: 10 }, sensitiveCorrection: "analytic" },
  "leaf 20": { sensitiveForest: { minLeaf: 20 } },
};
const METRICS = [
  "accuracy",
  "sensitiveAccuracy",
  "selectionRate",
  "dpRatio",
  "fprRatio",
  "gapArea",
  "matchedAccuracy",
  "matchedDpRatio",
  "matchedDpDifference",
];

const rows = () =>
  existsSync(file)
    ? readFileSync(file, "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line))
    : [];

const seeds = options.seeds
  .split(",")
  .filter((text) => text !== "")
  .map(Number);
if (seeds.length > 0) {
  const { loadPaperTask } = await import(new URL("sources/paper-tasks.js", options.library).href);
  const { PAPER, simulateSeed } = await import(new URL("workflows/simulation.js", options.library).href);
  for (const seed of seeds) {
    for (const name of options.tasks.split(",")) {
      const { task } = await loadPaperTask(name, { seed });
      for (const [variant, changes] of Object.entries(VARIANTS)) {
        if (rows().some((row) => row.task === name && row.variant === variant && row.seed === seed)) continue;
        const settings = { ...PAPER, ...PROTOCOL, ...changes };
        const { checkpoints, seconds } = await simulateSeed(
          task,
          {
            ...settings,
            forest: { ...settings.forest, threads },
            sensitiveForest: { ...settings.sensitiveForest, threads },
          },
          seed,
        );
        const metrics = checkpoints.at(-1).metrics;
        const kept = Object.fromEntries(METRICS.map((metric) => [metric, round(metrics[metric])]));
        appendFileSync(
          file,
          `${JSON.stringify({ task: name, variant, seed, seconds: round(seconds), ...kept })}\n`,
        );
        process.stderr.write(`${name}, ${variant}, seed ${seed}: ${seconds.toFixed(0)} s\n`);
      }
    }
  }
}

function round(value) {
  return value === undefined ? undefined : Math.round(value * 1e4) / 1e4;
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const withError = (values, digits = 3) => {
  if (values.length < 2) return values.length === 1 ? values[0].toFixed(digits) : "";
  const m = mean(values);
  const error = Math.sqrt(mean(values.map((value) => (value - m) ** 2)) / (values.length - 1));
  return `${m.toFixed(digits)} ± ${error.toFixed(digits)}`;
};
const known = (values) => values.filter((value) => value !== undefined);
const all = rows();
const tasks = [...new Set(all.map(({ task }) => task))];
const table = (title, head, body) => {
  process.stdout.write(`\n${title}\n\n| ${head.join(" | ")} |\n| ${head.map(() => "---").join(" | ")} |\n`);
  for (const line of body) process.stdout.write(`| ${line.join(" | ")} |\n`);
};

// Against random acquisition on the same split, over all tables and seeds: what the default is chosen by.
const SUMMARY = ["matchedDpRatio", "matchedDpDifference", "gapArea", "accuracy", "sensitiveAccuracy"];
const paired = (task, variant, metric) =>
  known(
    all
      .filter((row) => row.task === task && row.variant === variant)
      .map((row) => {
        const base = all.find(
          (other) => other.task === task && other.variant === "random" && other.seed === row.seed,
        );
        return row[metric] === undefined || base?.[metric] === undefined
          ? undefined
          : row[metric] - base[metric];
      }),
  );
table(
  "All tables, less random acquisition on the same split:",
  ["sensitive model", ...SUMMARY],
  Object.keys(VARIANTS)
    .filter((variant) => variant !== "random")
    .map((variant) => [
      variant,
      ...SUMMARY.map((metric) => withError(tasks.flatMap((task) => paired(task, variant, metric)))),
    ]),
);
for (const task of tasks) {
  table(
    `${task}:`,
    ["sensitive model", "seeds", ...METRICS],
    Object.keys(VARIANTS).map((variant) => {
      const mine = all.filter((row) => row.task === task && row.variant === variant);
      return [
        variant,
        mine.length,
        ...METRICS.map((metric) => withError(known(mine.map((row) => row[metric])))),
      ];
    }),
  );
}
