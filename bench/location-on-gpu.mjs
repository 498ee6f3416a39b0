// node bench/location-on-gpu.mjs [--results FILE]: every policy of the paper's location part on a GPU, and beside each line of
// its tables what the processor found (results/). Needs dist/ (npm run build), and a GPU unless the results that such a run
// has written are given. Prints Markdown; bench/location-on-gpu.md is one run of it.
//
// node bench/location-on-gpu.mjs --samples: judges some of the processor's own designs again, on the processor, with the
// random samples that a GPU judges with, which are others than those of results/. Takes two minutes, and no GPU.
import { appendFileSync, readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { locationFinding } from "../dist/design/index.js";
import { evaluatePolicy } from "../dist/index.js";
import { cellKey } from "../dist/reproduce/cell.js";
import { runDesignsOnGpu } from "../dist/reproduce/designs-on-gpu.js";
import { figInformation } from "../dist/reproduce/fig-information.js";
import { ResultStore } from "../dist/reproduce/store.js";
import { tableLocation } from "../dist/reproduce/table-location.js";

const { values: options } = parseArgs({
  options: { results: { type: "string" }, samples: { type: "boolean" } },
});
const processor = ResultStore.read(fileURLToPath(new URL("../results", import.meta.url)));
const cells = new Map();
for (const part of [tableLocation, ...figInformation]) {
  for (const cell of part.cells({ quick: false, device: "gpu" })) {
    if (cell.kind === "design") cells.set(cellKey(cell), cell);
  }
}

const nameOf = ({ policy, objective, beta, horizon }) =>
  `${policy}, ${objective}, beta ${beta}, T = ${horizon}`;
/** The objective that the policy was trained for, by the lower bounds that the paper prints. */
const objectiveOf = ({ objective, beta }, { target, sensitive, sensitiveGivenTarget }) =>
  target[0] - beta * (objective === "conditional" ? sensitiveGivenTarget : sensitive)[0];
const meanOf = (values) => {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, error: Math.sqrt(squares / (values.length - 1) / values.length) };
};
const shown = ({ mean, error }) => `${mean.toFixed(3)} ± ${error.toFixed(3)}`;
const onProcessor = (cell) => {
  const { device: _, ...same } = cell;
  const stored = processor.get(same);
  if (stored === undefined) throw new Error(`results/ has no ${JSON.stringify(same)}`);
  return stored;
};

if (options.samples) {
  for (const line of ["static, conditional, beta 0.5, T = 1", "static, conditional, beta 0.8, T = 10"]) {
    const [stored, again] = [[], []];
    for (const cell of [...cells.values()].filter((each) => nameOf(each) === line)) {
      const result = onProcessor(cell);
      const { horizon, beta, seed, evaluation } = cell;
      const { outer, batches, inner } = evaluation;
      const policy = { kind: "static", horizon, designs: result.designs };
      const report = await evaluatePolicy(locationFinding(), policy, { outer, batches, inner, seed, beta });
      stored.push(objectiveOf(cell, result));
      again.push(report.objectives.conditional.lower);
    }
    console.log(
      `${line}: ${shown(meanOf(stored))} as stored, ${shown(meanOf(again))} with the GPU's samples`,
    );
  }
  process.exit();
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

const lines = new Map();
for (const { cell, result } of found) {
  const there = onProcessor(cell);
  const name = nameOf(cell);
  const line = lines.get(name) ?? { gpu: [], cpu: [] };
  line.gpu.push(objectiveOf(cell, result));
  line.cpu.push(objectiveOf(cell, there));
  lines.set(name, line);
}

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
