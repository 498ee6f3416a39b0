// node bench/gpu.mjs [--out FOLDER]: the kernels on this machine's GPU, with PyTorch on the same GPU in the same run.
// Build first; needs the package webgpu. Writes gpu.json and gpu.md into the folder where one is given. See docs/gpu.md.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { availableParallelism, cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { dadText, measureDad } from "./gpu-dad.mjs";
import { epigText, measureEpig } from "./gpu-epig.mjs";
import { spawnPython } from "./gpu-peer.mjs";

const { out } = parseArgs({ options: { out: { type: "string" } } }).values;
const dist = (path) => import(new URL(`../dist/${path}`, import.meta.url).href);
const seconds = async (run) => {
  const began = performance.now();
  const result = await run();
  return { result, seconds: (performance.now() - began) / 1000 };
};
const progress = (text) => process.stderr.write(`${text}\n`);

// What a user waits for at first: everything up to the first value and gradient.
const began = performance.now();
const { openGpu, mapOnGpu, Workspace } = await dist("compute/index.js");
const operations = await dist("compute/operations.js");
const { scalar } = await dist("compute/graph/scalar.js");
const { NestedClimb } = await dist("compute/webgpu/nested/climb.js");
const { describeNested } = await dist("design/gpu/describe.js");
const { trainStaticOnGpu } = await dist("design/gpu/train-static.js");
const { estimatePolicy, locationFinding, staticPolicy, seededStream } = await dist("design/index.js");
const { SampledObjective, PAPER_SIZES } = await dist("design/objective.js");
const { objectiveQuantity, evidencesOf } = await dist("design/quantity.js");
const loaded = performance.now();
const gpu = await openGpu();
const opened = performance.now();

const model = locationFinding();
const HORIZON = 10;
const quantity = objectiveQuantity("conditional", 0.8);
const description = describeNested(model, evidencesOf(quantity), HORIZON, PAPER_SIZES);
const coefficients = [...description.evidences.map(({ name }) => quantity[name]), quantity.both];
const climbOf = (rows, steps) =>
  NestedClimb.create(gpu, description, {
    rows,
    steps,
    variables: model.design,
    settings: { rate: 0.01, decaySteps: 0, window: 0, speed: 0, times: 0 },
  });
const key = seededStream(0).key;
const rowsFor = (climb, count) =>
  Array.from({ length: count }, (_, r) => {
    const stream = seededStream(r);
    const designs = Float32Array.from({ length: 2 * HORIZON }, () => stream.normal(3, 1));
    return { ...climb.fresh(designs), key, number: 0, coefficients, spreads: [1, 1] };
  });

const traced = performance.now();
const first = await climbOf(1, 1);
const { values, states } = await first.run(rowsFor(first, 1), 1);
const start = {
  loading: loaded - began,
  opening: opened - loaded,
  tracingToFirstResult: performance.now() - traced,
};
progress(`first result after ${Math.round(start.tracingToFirstResult)} ms`);

// The same bound and gradient in float64's company: the CPU on the same streams.
const workspace = new Workspace({});
const objective = new SampledObjective(model, quantity, HORIZON, PAPER_SIZES, workspace);
const [{ designs: firstDesigns }] = rowsFor(first, 1);
const cpuValue = objective.evaluate(Float64Array.from(firstDesigns), seededStream(0).split(0));
const largest = objective.gradient.reduce((most, slope) => Math.max(most, Math.abs(slope)), 0);
const agreement = {
  value: Math.abs(values[0] - cpuValue),
  gradient:
    objective.gradient.reduce(
      (most, slope, i) => Math.max(most, Math.abs(-10 * states[0].moments[i] - slope)),
      0,
    ) / largest,
};
first.dispose();
let cpuStep = Infinity;
for (let i = 0; i < 12; i++) {
  const at = performance.now();
  objective.evaluate(Float64Array.from(firstDesigns), seededStream(0).split(i));
  if (i > 3) cpuStep = Math.min(cpuStep, 1000 * (performance.now() - at));
}
objective.dispose();
workspace.dispose();

const STEPS = 400;
const steps = {};
for (const count of [1, 8, 32, 128]) {
  const climb = await climbOf(count, STEPS);
  let rows = rowsFor(climb, count);
  let best = Infinity;
  for (let round = 0; round < 5; round++) {
    const { result, seconds: took } = await seconds(() => climb.run(rows, STEPS));
    if (round > 0) best = Math.min(best, took);
    rows = rows.map((row, r) => ({ ...row, ...result.states[r], number: row.number + STEPS }));
  }
  steps[count] = {
    each: (1e6 * best) / STEPS / count,
    tile: climb.shape.tile,
    workgroup: climb.shape.workgroup,
  };
  progress(`${count} at once: ${steps[count].each.toFixed(2)} us each`);
  climb.dispose();
}

// The largest error of every operation, in ulp of its result.
const ulp = (value) =>
  2 ** (Math.max(-126, Math.floor(Math.log2(Math.max(2 ** -126, Math.abs(value))))) - 23);
const spread = (low, high) =>
  Float32Array.from({ length: 40_000 }, (_, i) => low + ((high - low) * i) / 40_000);
const powers = (low, high) =>
  Float32Array.from({ length: 40_000 }, (_, i) => 2 ** (low + ((high - low) * i) / 40_000));
const RANGES = {
  exp: spread(-87, 88),
  log: powers(-126, 127),
  log1p: spread(-0.999, 1e4),
  expm1: spread(-30, 88),
  tanh: spread(-12, 12),
  sigmoid: spread(-80, 80),
  softplus: spread(-80, 80),
  erf: spread(-5, 5),
  sqrt: powers(-120, 120),
  trigamma: spread(0.01, 60),
};
const accuracy = {};
for (const [op, x] of Object.entries(RANGES)) {
  const { value } = await mapOnGpu(gpu, (at) => operations[op](at.x), { x });
  accuracy[op] = x.reduce((most, at, i) => {
    const exact = scalar[op](at);
    return Math.max(most, Math.abs(value[i] - exact) / ulp(exact));
  }, 0);
}
{
  const [a, b] = [spread(-3, 3), spread(-7, 5)];
  const { value } = await mapOnGpu(gpu, (at) => operations.div(at.a, at.b), { a, b });
  accuracy.div = a.reduce(
    (most, at, i) => (b[i] === 0 ? most : Math.max(most, Math.abs(value[i] - at / b[i]) / ulp(at / b[i]))),
    0,
  );
}

// Whole trainings, as `fairbed design optimize --device gpu` runs them.
const one = await seconds(() => trainStaticOnGpu(gpu, model, { runs: [{ beta: 0.8, seed: 0 }] }));
const again = await trainStaticOnGpu(gpu, model, { runs: [{ beta: 0.8, seed: 0 }] });
const sameBits = one.result[0].designs.every((value, i) => value === again[0].designs[i]);
const betas = [0, 0.2, 0.4, 0.6, 0.8, 1];
const runs = betas.flatMap((beta) => Array.from({ length: 8 }, (_, seed) => ({ beta, seed })));
const many = await seconds(() => trainStaticOnGpu(gpu, model, { runs }));
progress(`one training ${one.seconds.toFixed(1)} s, ${runs.length} together ${many.seconds.toFixed(1)} s`);

const dad = await measureDad(gpu, model, { seconds, progress });

const policy = staticPolicy(one.result[0].designs, 2);
const evaluating = {
  stream: seededStream(1),
  outer: 100,
  batches: 8,
  contrastive: 100_000,
  marginal: 100_000,
};
await estimatePolicy(model, policy, { ...evaluating, batches: 1, gpu });
const onGpu = await seconds(() => estimatePolicy(model, policy, { ...evaluating, gpu }));
const onCpu = await seconds(() => estimatePolicy(model, policy, evaluating));
const difference = Math.abs(onGpu.result.target.lower - onCpu.result.target.lower);

const { epig, epigOnGpu, bestCandidates } = await dist("active/index.js");
const epigs = await measureEpig(gpu, { epig, epigOnGpu, bestCandidates, Workspace }, progress);

const smi = spawnSync("nvidia-smi", ["--query-gpu=name,driver_version", "--format=csv,noheader"], {
  encoding: "utf8",
});
progress("PyTorch ...");
const peer = spawnPython("torch_gpu.py");

const results = {
  machine: {
    gpu: gpu.info,
    driver: smi.status === 0 ? smi.stdout.trim() : null,
    node: process.versions.node,
    processor: `${cpus()[0]?.model ?? "unknown"}, ${availableParallelism()} threads`,
  },
  sizes: { ...PAPER_SIZES, horizon: HORIZON, model: "location", objective: "conditional, beta 0.8" },
  start,
  staticStep: { microsecondsEach: steps, cpuMicroseconds: cpuStep },
  agreementWithCpu: agreement,
  largestErrorInUlp: accuracy,
  training: {
    one: { seconds: one.seconds, objective: one.result[0].objective.mean, sameBitsTwice: sameBits },
    many: { runs: runs.length, seconds: many.seconds },
  },
  epig: epigs,
  dad,
  evaluation: { gpuSeconds: onGpu.seconds, cpuSeconds: onCpu.seconds, difference },
  peer,
};
gpu.dispose();

const number = (value, digits) => value.toFixed(digits);
const best = (count) => {
  const ways = peer?.static[count];
  return ways === undefined ? undefined : Math.min(...Object.values(ways));
};
const row = (cells) => `| ${cells.join(" | ")} |`;
const text = `# The GPU, measured

By \`node bench/gpu.mjs --out bench\`. ${results.machine.driver ?? gpu.info.name}; Node ${results.machine.node}; ${results.machine.processor}.

## A step of static designs

Location finding, R_c at beta 0.8, B = 100, L = M = 1000, T = 10: fresh samples, value, gradient and Adam. Microseconds for
each configuration, the best of four runs of ${STEPS} steps.

${[
  row(["configurations at once", "here", "PyTorch, its best way", "times faster"]),
  row(["---", "---", "---", "---"]),
  ...Object.entries(steps).map(([count, { each }]) => {
    const theirs = best(count);
    return row([
      count,
      number(each, 2),
      theirs === undefined ? "" : number(theirs / Number(count), 1),
      theirs === undefined ? "" : number(theirs / Number(count) / each, 1),
    ]);
  }),
].join("\n")}

The processor of the same machine takes ${number(cpuStep, 0)} us. ${
  peer === null
    ? "PyTorch was not there."
    : `PyTorch ${peer.torch}: ${Object.entries(peer.static)
        .map(
          ([count, ways]) =>
            `${count}: ${Object.entries(ways)
              .map(([way, us]) => `${way} ${number(us / Number(count), 1)} us`)
              .join(", ")}`,
        )
        .join("; ")}.`
}

${dadText(dad, peer)}
## The rest

- From tracing to the first value and gradient: ${number(start.tracingToFirstResult, 0)} ms, after ${number(start.opening, 0)} ms to open the GPU.
- \`design optimize\` (24 starts, 6000 steps): ${number(one.seconds, 1)} s; ${runs.length} of them at once (6 betas, 8 seeds): ${number(many.seconds, 1)} s. The same bits twice: ${sameBits ? "yes" : "no"}.
- Evaluation with 8 batches of 100 experiments and 100,000 inner samples: ${number(onGpu.seconds, 2)} s, on the processor ${number(onCpu.seconds, 2)} s; the lower bounds differ by ${difference.toExponential(1)} nats.
- The bound differs from the processor's on the same samples by ${agreement.value.toExponential(1)} nats, the gradient by ${agreement.gradient.toExponential(1)} of its largest entry.

${epigText(epigs)}
## Accuracy

The largest error in units of the last place, against float64:

${row(["operation", ...Object.keys(accuracy)])}
${row(["---", ...Object.keys(accuracy).map(() => "---")])}
${row(["ulp", ...Object.values(accuracy).map((value) => number(value, 2))])}
`;
if (out === undefined) process.stdout.write(text);
else {
  writeFileSync(join(out, "gpu.json"), `${JSON.stringify(results, null, 2)}\n`);
  writeFileSync(join(out, "gpu.md"), text);
}
