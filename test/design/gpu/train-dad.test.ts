/** Networks trained on a GPU: those of the CPU, the same bits every time, whatever designs and outcomes are like. */
import { expect, test } from "vitest";
import { add, mul } from "../../../src/compute/index.js";
import { policyTexts } from "../../../src/compute/webgpu/policy/climb.js";
import { type DadCheckpoint, type TrainDadOptions, trainDad } from "../../../src/design/dad.js";
import { bernoulli, normal } from "../../../src/design/distribution.js";
import {
  type GpuDadCheckpoint,
  type TrainDadOnGpuOptions,
  trainDadOnGpu,
} from "../../../src/design/gpu/train-dad.js";
import { defineModel, type Model, oneOf, real, sensitive, target } from "../../../src/design/model.js";
import { linearGaussian } from "../../../src/design/models/linear-gaussian.js";
import { locationFinding } from "../../../src/design/models/location.js";
import { pharmacokinetics } from "../../../src/design/models/pharmacokinetics.js";
import { TrainingError, trainTexts } from "../../../src/design/training.js";
import { describeOnGpu } from "../../setup/gpu.js";

/** Layers that two and four do not divide, one of them wider than a workgroup; experiments that fill no tile but 1. */
const OPTIONS = {
  horizon: 3,
  steps: 4,
  rate: 1e-2,
  sizes: { outer: 5, contrastive: 12, marginal: 9 },
  widths: { encoder: [5, 33], encoding: 3, emitter: [17] },
} as const satisfies TrainDadOptions;

/** Every test but the first two has these runs of location finding, so that its kernels are compiled once. */
const RUNS = [
  { beta: 0.8, seed: 1 },
  { beta: 0, seed: 2 },
] as const;

/** Bounds on one side, on both, and a list; two outcomes. */
const mixed = (): Model =>
  defineModel({
    parameters: { theta: target(normal(0, 1)), phi: sensitive(normal(1, 2)) },
    design: {
      above: real({ low: 1 }),
      below: real({ high: 3 }),
      between: real({ low: -1, high: 2 }),
      listed: oneOf([0, 1, 4]),
    },
    outcome: ({ theta, phi }, { above, below, between, listed }) => ({
      first: normal(add(mul(above, theta), mul(below, phi)), 1),
      second: normal(add(mul(between, theta), mul(listed, phi)), 0.5),
    }),
  });

const yesOrNo = (): Model =>
  defineModel({
    parameters: { theta: target(normal(0, 1)), phi: sensitive(({ theta }) => normal(theta, 1)) },
    design: { x: real({ low: -2, high: 2 }) },
    outcome: ({ theta, phi }, { x }) => bernoulli({ logit: add(mul(x, theta), phi) }),
  });

/** The largest difference, over the largest number. */
const difference = (found: ArrayLike<number>, wanted: ArrayLike<number>): number => {
  let most = 0;
  let size = 0;
  for (let i = 0; i < wanted.length; i++) {
    most = Math.max(most, Math.abs(found[i] - wanted[i]));
    size = Math.max(size, Math.abs(wanted[i]));
  }
  return most / size;
};

const gpuCheckpoint = async (...args: Parameters<typeof trainDadOnGpu>): Promise<GpuDadCheckpoint> => {
  let last: GpuDadCheckpoint | undefined;
  await trainDadOnGpu(args[0], args[1], {
    ...args[2],
    onProgress: ({ checkpoint }) => {
      last = checkpoint();
    },
  });
  if (last === undefined) throw new Error("training told nothing");
  return last;
};

const cpuCheckpoint = async (model: Model, options: TrainDadOptions): Promise<DadCheckpoint> => {
  let last: DadCheckpoint | undefined;
  await trainDad(model, {
    ...options,
    threads: 1,
    onProgress: ({ checkpoint }) => {
      last = checkpoint();
    },
  });
  if (last === undefined) throw new Error("training told nothing");
  return last;
};

describeOnGpu("networks on a GPU", (gpu) => {
  test.each<
    [
      string,
      Model,
      Pick<TrainDadOptions, "objective" | "horizon" | "sizes" | "widths">,
      TrainDadOnGpuOptions["shape"],
    ]
  >([
    [
      "bounds, and outcomes of another size",
      pharmacokinetics(),
      { objective: "unconditional" },
      { tile: 2, splits: 3 },
    ],
    ["every kind of bounds, a list of values, two outcomes", mixed(), {}, { tile: 4, together: 2 }],
    [
      "yes or no, a prior that depends on another parameter, inputs read ahead",
      yesOrNo(),
      { widths: { encoder: [12, 40], encoding: 8, emitter: [16] }, sizes: { ...OPTIONS.sizes, outer: 9 } },
      { tile: 8, together: 4, ahead: 4 },
    ],
    [
      "one observation, one experiment, no hidden layers",
      linearGaussian(),
      {
        horizon: 1,
        sizes: { outer: 1, contrastive: 8, marginal: 8 },
        widths: { encoder: [], encoding: 2, emitter: [] },
      },
      undefined,
    ],
  ])("have the CPU's gradient: %s", async (_, model, options, shape) => {
    const all = { ...OPTIONS, ...options, steps: 1 };
    const cpu = await cpuCheckpoint(model, { ...all, beta: 0.7, seed: 3 });
    const found = await gpuCheckpoint(gpu(), model, { ...all, shape, runs: [{ beta: 0.7, seed: 3 }] });
    // Few samples: larger bounds, and larger roundings of them, than those of a training.
    expect(Math.abs(found.runs[0].values[0] - cpu.values[0])).toBeLessThan(3e-5);
    expect(difference(found.runs[0].mean, cpu.mean)).toBeLessThan(1e-4);
  });

  test("are those of the CPU, for several betas and seeds at once", async () => {
    const found = await gpuCheckpoint(gpu(), locationFinding(), { ...OPTIONS, runs: RUNS });
    for (const [r, { beta, seed }] of RUNS.entries()) {
      const cpu = await cpuCheckpoint(locationFinding(), { ...OPTIONS, beta, seed });
      expect(difference(found.runs[r].parameters, cpu.parameters)).toBeLessThan(1e-3);
      expect(difference(found.runs[r].values, cpu.values)).toBeLessThan(1e-4);
    }
  });

  test("start from static designs, with clipped gradients and a rate that decays, as on the CPU", async () => {
    const startDesigns = [1, 2, 3, 4, 5, 6];
    const all = { ...OPTIONS, clip: 0.01, decay: true };
    const [found, other] = await trainDadOnGpu(gpu(), locationFinding(), {
      ...all,
      runs: RUNS.map((run) => ({ ...run, startDesigns })),
    });
    const cpu = await trainDad(locationFinding(), { ...all, ...RUNS[0], startDesigns, threads: 1 });
    expect(found.network.base).toEqual(cpu.network.base);
    expect(found.warnings.length).toBe(cpu.warnings.length);
    expect(difference(found.network.parameters, cpu.network.parameters)).toBeLessThan(1e-3);
    const again = await trainDadOnGpu(gpu(), locationFinding(), {
      ...{ ...all, steps: 1 },
      runs: [found, other].map(({ network: from }, r) => ({ ...RUNS[r], from })),
    });
    expect(again[0].network.base).toEqual(found.network.base);
  });

  test("are the same to the bit from a checkpoint, which no other training takes", async () => {
    const options = { ...OPTIONS, steps: 5, runs: RUNS };
    const whole = await gpuCheckpoint(gpu(), locationFinding(), options);
    const half = await gpuCheckpoint(gpu(), locationFinding(), { ...options, steps: 2 });
    const resume = JSON.parse(JSON.stringify(half)) as GpuDadCheckpoint;
    expect(await gpuCheckpoint(gpu(), locationFinding(), { ...options, resume })).toEqual(whole);
    const [first, ...others] = resume.runs;
    const cpu = await cpuCheckpoint(locationFinding(), { ...OPTIONS, steps: 1 });
    for (const [wrong, text] of [
      [{ ...resume, runs: [{ ...first, mean: [1] }, ...others] }, trainTexts.damaged("mean")],
      [{ ...resume, runs: others }, trainTexts.damaged("runs")],
      [{ ...resume, step: 3 }, trainTexts.damaged("values")],
      [cpu as unknown as GpuDadCheckpoint, trainTexts.otherDevice("gpu")],
    ] as const) {
      const going = trainDadOnGpu(gpu(), locationFinding(), { ...options, resume: wrong });
      await expect(going).rejects.toThrow(text);
    }
    await expect(
      trainDad(locationFinding(), { ...OPTIONS, resume: resume as unknown as DadCheckpoint }),
    ).rejects.toThrow(trainTexts.otherDevice("cpu"));
  });

  test("stop where they are told to, between steps and while they are compared with their start", async () => {
    const stopped = new Error("stopped");
    const ending = (at: number): Promise<unknown> => {
      let looks = 0;
      // Whether it is to stop is asked more often than there are chunks.
      const throwIfAborted = () => {
        if (++looks > at) throw stopped;
      };
      return trainDadOnGpu(gpu(), locationFinding(), {
        ...OPTIONS,
        runs: RUNS.map((run) => ({ ...run, startDesigns: [1, 2, 3, 4, 5, 6] })),
        signal: { aborted: false, throwIfAborted },
      });
    };
    await expect(ending(1)).rejects.toBe(stopped);
    await expect(ending(8)).rejects.toBe(stopped);
  });

  test("stop at a number that is none, with the last good state", async () => {
    const error: unknown = await trainDadOnGpu(gpu(), locationFinding(), {
      ...{ ...OPTIONS, rate: 1e30 },
      runs: RUNS,
    }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(TrainingError);
    const { runs } = (error as TrainingError<GpuDadCheckpoint>).checkpoint;
    expect(runs.every(({ parameters }) => parameters.every(Number.isFinite))).toBe(true);
  });

  test("say what to do where layers do not fit", async () => {
    const wide = { ...OPTIONS.widths, emitter: [20_000] };
    const runs = [{ beta: 0.5, seed: 4 }];
    await expect(trainDadOnGpu(gpu(), linearGaussian(), { ...OPTIONS, widths: wide, runs })).rejects.toThrow(
      policyTexts.wide,
    );
  });
});
