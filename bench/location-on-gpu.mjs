// node bench/location-on-gpu.mjs [--results FILE]: every policy of the paper's location part on a GPU, and beside each line of
// its tables what the processor found (results/). Needs dist/ (npm run build), and a GPU unless the results that such a run
// has written are given. Prints Markdown; bench/location-on-gpu.md is one run of it.
import { appendFileSync, readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { cellKey } from "../dist/reproduce/cell.js";
import { runDesignsOnGpu } from "../dist/reproduce/designs-on-gpu.js";
import { figInformation } from "../dist/reproduce/fig-information.js";
import { ResultStore } from "../dist/reproduce/store.js";
import { tableLocation } from "../dist/reproduce/table-location.js";

const { values: options } = parseArgs({ options: { results: { type: "string" } } });
const processor = ResultStore.read(fileURLToPath(new URL("../results", import.meta.url)));
const cells = new Map();
for (const part of [tableLocation, ...figInformation]) {
  for (const cell of part.cells({ quick: false, device: "gpu" })) {
    if (cell.kind === "design") cells.set(cellKey(cell), cell);
  }
}

async function run(path) {
  rmSync(path, { force: true });
  await runDesignsOnGpu([...cells.values()], {
    onResult: (cell, result, seconds) =>
      appendFileSync(path, `${JSON.stringify({ cell, result, seconds })}\n`),
  });
  return path;
}

const path = options.results ?? (await run("location-on-gpu.jsonl"));
const found = readFileSync(path, "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line))
  .filter(({ cell }) => cells.has(cellKey(cell)));
if (found.length !== cells.size) throw new Error(`${path} has ${found.length} of ${cells.size} policies`);

/** The objective that the policy was trained for, by the lower bounds that the paper prints. */
const objectiveOf = ({ objective, beta }, { target, sensitive, sensitiveGivenTarget }) =>
  target[0] - beta * (objective === "conditional" ? sensitiveGivenTarget : sensitive)[0];

const lines = new Map();
for (const { cell, result } of found) {
  const { device: _, ...same } = cell;
  const there = processor.get(same);
  if (there === undefined) throw new Error(`results/ has no ${JSON.stringify(same)}`);
  const name = `${cell.policy}, ${cell.objective}, beta ${cell.beta}, T = ${cell.horizon}`;
  const line = lines.get(name) ?? { gpu: [], cpu: [] };
  line.gpu.push(objectiveOf(cell, result));
  line.cpu.push(objectiveOf(cell, there));
  lines.set(name, line);
}

const meanOf = (values) => {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, error: Math.sqrt(squares / (values.length - 1) / values.length) };
};
const shown = ({ mean, error }) => `${mean.toFixed(3)} ± ${error.toFixed(3)}`;

const rows = [...lines].map(([name, { gpu, cpu }]) => {
  const [here, there] = [meanOf(gpu), meanOf(cpu)];
  return {
    name,
    here,
    there,
    errors: Math.abs(here.mean - there.mean) / Math.hypot(here.error, there.error),
  };
});
const farthest = rows.reduce((most, row) => (row.errors > most.errors ? row : most));
const within = (errors) => rows.filter((row) => row.errors <= errors).length;
const seconds = found.reduce((sum, each) => sum + each.seconds, 0);

console.log(`${found.length} policies, trained and judged in ${seconds.toFixed(1)} s.

Means over ${found.length / rows.length} seeds with their standard errors: information about the target less beta times the leakage, in nats. The
last column is the difference in combined standard errors: ${within(1)} of ${rows.length} lines are within one, ${within(2)} within two, ${within(3)} within
three. The farthest is ${farthest.name}, at ${farthest.errors.toFixed(1)}. The GPU's number is the larger one in
${rows.filter(({ here, there }) => here.mean > there.mean).length} lines; lines share their seeds, so they are not independent.

| policy | GPU | processor | apart |
| ------ | --- | --------- | ----- |
${rows.map(({ name, here, there, errors }) => `| ${name} | ${shown(here)} | ${shown(there)} | ${errors.toFixed(1)} |`).join("\n")}`);
