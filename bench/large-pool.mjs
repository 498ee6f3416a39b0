// How one acquisition step grows with the pool, and what it needs at CelebA's shape; and a million rows from Parquet.
//
//     npm run -s build && node bench/large-pool.mjs [--parquet]
//
// A step is two forests of 100 trees fitted on 300 labels, what all their trees say of every candidate, and
// FairBED-EPIG with 100 targets. Each size runs in a process of its own, so that its peak memory is its own.

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { acquire } from "./acquire.mjs";

const SIZES = [
  [10_000, 40],
  [100_000, 40],
  [1_000_000, 40],
  [200_000, 512],
];
const LABELS = 300;
const TARGETS = 100;

const peak = () => process.resourceUsage().maxRSS / 1024;

async function step(rows, columns) {
  const library = await import("./library.mjs");
  const { forest, seededStream } = library;
  const features = { values: new Float32Array(rows * columns), rows, columns };
  // Cheap numbers that look random: what is timed is not how they were made.
  for (let i = 0, state = 1; i < features.values.length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    features.values[i] = state / 2 ** 31;
  }
  const labels = (column) => ({
    labels: Int32Array.from({ length: rows }, (_, row) =>
      Number(features.values[row * columns + column] > 0),
    ),
    classes: 2,
  });
  const all = Int32Array.from({ length: rows }, (_, row) => row);
  const learner = forest();
  const options = {
    features,
    target: labels(0),
    sensitive: [labels(1)],
    split: {
      initial: all.slice(0, LABELS),
      targets: all.slice(LABELS, LABELS + TARGETS),
      test: all.slice(0, 0),
      pool: all.slice(LABELS + TARGETS),
    },
    method: "fairbed",
    goal: { beta: 10 },
    budget: 3,
    learner,
    sensitiveModels: [{ kind: "revealed", learner }],
    stream: seededStream(0),
  };
  const times = [];
  let from = performance.now();
  await acquire(library, {
    ...options,
    onStep() {
      times.push(performance.now() - from);
      from = performance.now();
    },
  });
  return { rows, columns, first: times[0], step: Math.min(...times.slice(1)), peak: peak() };
}

/** `fairbed rank` over a Parquet file that DuckDB makes. */
async function parquet(rows) {
  const { DuckDBInstance } = await import("@duckdb/node-api");
  const folder = mkdtempSync(join(tmpdir(), "fairbed-large-"));
  try {
    const connection = await (await DuckDBInstance.create(":memory:")).connect();
    const numbers = Array.from({ length: 40 }, (_, c) => `random() as x${c}`).join(", ");
    await connection.run(`copy (select ${numbers} from range(${rows})) to '${join(folder, "pool.parquet")}'`);
    const columns = Array.from({ length: 40 }, (_, c) => `x${c}`);
    const line = () => columns.map(() => Math.random().toFixed(4));
    const labelled = Array.from({ length: LABELS }, () => {
      const values = line();
      return [...values, values[0] > 0.5 ? 1 : 0, values[1] > 0.5 ? 1 : 0].join(",");
    });
    writeFileSync(
      join(folder, "labelled.csv"),
      [[...columns, "y", "s"].join(","), ...labelled, ""].join("\n"),
    );
    const started = performance.now();
    const run = spawnSync(
      "/usr/bin/time",
      [
        "-f",
        "%M",
        process.execPath,
        fileURLToPath(new URL("../bin/fairbed", import.meta.url)),
        ..."rank".split(" "),
        join(folder, "pool.parquet"),
        "--labelled",
        join(folder, "labelled.csv"),
        ..."--target y=1 --sensitive s=1 --quiet --json".split(" "),
      ],
      { encoding: "utf8", maxBuffer: 2 ** 26 },
    );
    if (run.status !== 0) throw new Error(run.stderr);
    const kilobytes = Number(run.stderr.trim().split("\n").at(-1));
    return { rows, columns: 40, step: performance.now() - started, peak: kilobytes / 1024 };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const [word, rows, columns] = process.argv.slice(2);
if (word === "--step") {
  process.stdout.write(JSON.stringify(await step(Number(rows), Number(columns))));
} else if (word === "--parquet") {
  for (const size of [100_000, 1_000_000]) {
    const { step: ms, peak: most } = await parquet(size);
    process.stdout.write(
      `rank, ${size} x 40 from Parquet: ${(ms / 1000).toFixed(1)} s, ${most.toFixed(0)} MB\n`,
    );
  }
} else {
  if (!existsSync(new URL("../dist/index.js", import.meta.url))) throw new Error("npm run build first");
  process.stdout.write("| rows | columns | step (s) | us a row | first step (s) | peak memory (MB) |\n");
  process.stdout.write("| --- | --- | --- | --- | --- | --- |\n");
  for (const [n, c] of SIZES) {
    const own = fileURLToPath(import.meta.url);
    const run = spawnSync(process.execPath, [own, "--step", String(n), String(c)], { encoding: "utf8" });
    if (run.status !== 0) throw new Error(run.stderr);
    const result = JSON.parse(run.stdout);
    const cells = [n, c, (result.step / 1000).toFixed(3), ((1000 * result.step) / n).toFixed(2)];
    cells.push((result.first / 1000).toFixed(3), result.peak.toFixed(0));
    process.stdout.write(`| ${cells.join(" | ")} |\n`);
  }
}
