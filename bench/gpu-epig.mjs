// EPIG of large pools on a GPU, beside the processor's and PyTorch's: a part of gpu.mjs.
import { epigInputs, MEMBERS, TARGETS } from "./epig.mjs";
import { spawnPython } from "./gpu-peer.mjs";

const POOLS = [20_000, 200_000];

const membersOf = ({ shape: [rows, members], data }) => {
  const values = new Float32Array(2 * data.length);
  for (let i = 0; i < data.length; i++) {
    values[2 * i] = 1 - data[i];
    values[2 * i + 1] = data[i];
  }
  return { kind: "dense", rows, members, classes: 2, values };
};

const inFloat64 = (members, rows) => ({
  ...members,
  rows,
  values: Float64Array.from(members.values.subarray(0, rows * members.members * 2)),
});

/** The best of some runs, in milliseconds, and what the last one gave. */
const timed = async (run, times) => {
  let [best, result] = [Infinity, undefined];
  for (let i = 0; i < times; i++) {
    const began = performance.now();
    result = await run();
    if (i > 0) best = Math.min(best, performance.now() - began);
  }
  return { milliseconds: best, result };
};

/** From members in this program's memory to scores there, by both; and how far from float64. */
export const measureEpig = async (gpu, { epig, epigOnGpu, bestCandidates, Workspace }, progress) => {
  const workspace = new Workspace({});
  const pools = {};
  for (const rows of POOLS) {
    const inputs = epigInputs(12, (odds) => 1 / (1 + Math.exp(-2 * odds)), rows);
    const [pool, targets] = [membersOf(inputs.pool), membersOf(inputs.targets)];
    const there = await timed(() => epigOnGpu(gpu, pool, targets), 6);
    const here = await timed(() => epig(pool, targets, { workspace }), 4);
    const few = await timed(() => bestCandidates({ pool, targets, workspace }, [], { size: 20 }), 4);
    const exact = epig(inFloat64(pool, 200), inFloat64(targets, targets.rows));
    const farthest = (found) =>
      exact.reduce((most, value, n) => Math.max(most, Math.abs(found[n] - value)), 0);
    pools[rows] = {
      gpuMilliseconds: there.milliseconds,
      cpuMilliseconds: here.milliseconds,
      cpuBest20Milliseconds: few.milliseconds,
      gpuError: farthest(there.result),
      cpuError: farthest(here.result),
    };
    progress(`EPIG of ${rows}: ${there.milliseconds.toFixed(1)} ms, here ${here.milliseconds.toFixed(1)} ms`);
  }
  workspace.dispose();
  const peer = spawnPython("torch_epig.py", [String(TARGETS), String(MEMBERS), ...POOLS.map(String)]);
  return { targets: TARGETS, members: MEMBERS, pools, peer };
};

export const epigText = ({ targets, members, pools, peer }) => {
  const row = (cells) => `| ${cells.join(" | ")} |`;
  const theirs = (rows) => peer?.pools[rows];
  return `## EPIG of large pools

${targets} targets, ${members} members with probabilities of two classes: from members in the program's memory to scores there,
milliseconds, the best of five runs. PyTorch computes in float32, with torch.compile.

${[
  row([
    "candidates",
    "here",
    "the processor",
    "its best 20 alone",
    "PyTorch",
    "PyTorch, members on the GPU already",
  ]),
  row(["---", "---", "---", "---", "---", "---"]),
  ...Object.entries(pools).map(([rows, each]) =>
    row([
      rows,
      each.gpuMilliseconds.toFixed(1),
      each.cpuMilliseconds.toFixed(1),
      each.cpuBest20Milliseconds.toFixed(1),
      theirs(rows)?.fromHost.toFixed(1) ?? "",
      theirs(rows)?.onDevice.toFixed(1) ?? "",
    ]),
  ),
].join("\n")}

Farthest from float64 on 200 candidates: ${Object.values(pools)
    .map(
      ({ gpuError, cpuError }) =>
        `${gpuError.toExponential(1)} nats (the processor ${cpuError.toExponential(1)})`,
    )
    .join(", ")}.
`;
};
