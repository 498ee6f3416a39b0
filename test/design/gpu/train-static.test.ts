/** Static designs on a GPU: those of the CPU, the same bits every time, and what it does not take. */
import { describe, expect, test } from "vitest";
import { add, div, log, mul } from "../../../src/compute/index.js";
import { bernoulli, normal, studentT } from "../../../src/design/distribution.js";
import { gpuModelTexts, requireGpuModel } from "../../../src/design/gpu/describe.js";
import { type GpuStaticCheckpoint, trainStaticOnGpu } from "../../../src/design/gpu/train-static.js";
import { defineModel, type Model, oneOf, real, sensitive, target } from "../../../src/design/model.js";
import { linearGaussian } from "../../../src/design/models/linear-gaussian.js";
import { locationFinding } from "../../../src/design/models/location.js";
import { trainStatic } from "../../../src/design/train-static.js";
import { TrainingError } from "../../../src/design/training.js";
import { describeOnGpu } from "../../setup/gpu.js";

const OPTIONS = {
  horizon: 2,
  steps: 30,
  starts: 3,
  sizes: { outer: 8, contrastive: 30, marginal: 30 },
} as const;

const modelWith = (
  given: Partial<{ theta: ReturnType<typeof target>; outcome: "binary"; design: ReturnType<typeof real> }>,
): Model =>
  defineModel({
    parameters: { theta: given.theta ?? target(normal(0, 1)), phi: sensitive(normal(0, 1)) },
    design: { x: given.design ?? real() },
    outcome: ({ theta, phi }, { x }) =>
      given.outcome === "binary"
        ? bernoulli({ logit: add(mul(x, theta), phi) })
        : normal(add(mul(x, theta), phi), 1),
  });

describe("models that training on a GPU does not take are refused", () => {
  test.each<[string, Model, string]>([
    [
      "a prior that depends on another parameter",
      defineModel({
        parameters: { theta: target(normal(0, 1)), phi: sensitive(({ theta }) => normal(theta, 1)) },
        design: { x: real() },
        outcome: ({ theta, phi }, { x }) => normal(add(mul(x, theta), phi), 1),
      }),
      gpuModelTexts.dependent("phi"),
    ],
    [
      "a prior with heavier tails",
      modelWith({ theta: target(studentT({ freedom: 3, location: 0, scale: 1 })) }),
      gpuModelTexts.prior("theta", "Student t"),
    ],
    [
      "an outcome that is a yes or no",
      modelWith({ outcome: "binary" }),
      gpuModelTexts.outcome("outcome", "Bernoulli"),
    ],
    ["a design with values", modelWith({ design: oneOf([1, 2]) }), gpuModelTexts.values("x")],
  ])("%s", (_, model, text) => {
    expect(() => requireGpuModel(model)).toThrow(text);
  });
});

describeOnGpu("static designs on a GPU", (gpu) => {
  test("are those of the CPU, for several betas and seeds at once", async () => {
    const runs = [
      { beta: 0.8, seed: 1 },
      { beta: 0, seed: 2 },
    ];
    const found = await trainStaticOnGpu(gpu(), locationFinding(), { ...OPTIONS, runs });
    for (const [r, { beta, seed }] of runs.entries()) {
      const cpu = await trainStatic(locationFinding(), { ...OPTIONS, beta, seed, threads: 1 });
      expect(found[r].steps).toBe(cpu.steps);
      expect(Math.abs(found[r].objective.mean - cpu.objective.mean)).toBeLessThan(1e-3);
      found[r].designs.forEach((value, i) => {
        expect(Math.abs(value - cpu.designs[i])).toBeLessThan(1e-3);
      });
      expect(found[r].rounds.map((scores) => scores.length)).toEqual([3, 1]);
    }
  });

  test("are the same to the bit twice, in pieces of any length, and from a checkpoint", async () => {
    const options = { ...OPTIONS, horizon: 1, starts: 2, runs: [{ beta: 0.5, seed: 4 }] };
    const [first] = await trainStaticOnGpu(gpu(), linearGaussian(), options);
    const checkpoints: GpuStaticCheckpoint[] = [];
    const [again] = await trainStaticOnGpu(gpu(), linearGaussian(), {
      ...options,
      onProgress: ({ checkpoint }) => checkpoints.push(JSON.parse(JSON.stringify(checkpoint()))),
    });
    expect(again).toEqual(first);
    expect(checkpoints.length).toBeGreaterThan(1);
    const [resumed] = await trainStaticOnGpu(gpu(), linearGaussian(), { ...options, resume: checkpoints[0] });
    expect(resumed).toEqual(first);
    await expect(
      trainStaticOnGpu(gpu(), linearGaussian(), { ...options, steps: 31, resume: checkpoints[0] }),
    ).rejects.toThrow("steps");
  });

  test("end when they have settled, at the CPU's step", async () => {
    const rule = {
      decay: false,
      rate: 0.1,
      starts: 1,
      steps: 60,
      settled: { window: 5, speed: 0.6, times: 2 },
    };
    const options = { ...OPTIONS, ...rule };
    const [{ steps }] = await trainStaticOnGpu(gpu(), linearGaussian(), {
      ...options,
      runs: [{ beta: 0, seed: 3 }],
    });
    const cpu = await trainStatic(linearGaussian(), { ...options, beta: 0, seed: 3, threads: 1 });
    expect(steps).toBe(cpu.steps);
    expect(steps).toBeLessThan(60);
  });

  test("stay inside their bounds, and stop where a number is none", async () => {
    const bounded = modelWith({ design: real({ low: -1, high: 2 }) });
    const [{ designs }] = await trainStaticOnGpu(gpu(), bounded, {
      ...OPTIONS,
      starts: 1,
      rate: 1,
      runs: [{ beta: 0, seed: 0 }],
    });
    expect(designs.every((value) => value >= -1 && value <= 2)).toBe(true);
    // The standard deviation falls to 0 where the designs are led to.
    const broken = defineModel({
      parameters: { theta: target(normal(0, 1)), phi: sensitive(normal(0, 1)) },
      design: { x: real({ low: -10, high: 1 }) },
      outcome: ({ theta, phi }, { x }) => normal(add(theta, mul(0.1, phi)), div(log(add(2, mul(-1, x))), 3)),
    });
    const failed = trainStaticOnGpu(gpu(), broken, {
      ...OPTIONS,
      starts: 1,
      rate: 0.5,
      from: Float64Array.of(0.5, 0.5),
      runs: [{ beta: 0, seed: 0 }],
    });
    await expect(failed).rejects.toThrow(TrainingError);
    await failed.catch(({ checkpoint }: TrainingError<GpuStaticCheckpoint>) => {
      expect(checkpoint.climbs.flat().every((climb) => climb.designs.every(Number.isFinite))).toBe(true);
    });
  });

  test("are refused for several models", async () => {
    await expect(
      trainStaticOnGpu(gpu(), linearGaussian(), {
        ...OPTIONS,
        against: [linearGaussian()],
        runs: [{ beta: 0, seed: 0 }],
      }),
    ).rejects.toThrow(gpuModelTexts.against);
  });
});
