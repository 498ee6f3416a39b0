/** Static designs on a GPU: those of the CPU, the same bits every time, and what it does not take. */
import { expect, test } from "vitest";
import { add, div, log, mul, sub } from "../../../src/compute/index.js";
import type { Gpu } from "../../../src/compute/webgpu/device.js";
import { EnvironmentError } from "../../../src/core/errors.js";
import { bernoulli, normal } from "../../../src/design/distribution.js";
import { gpuModelTexts } from "../../../src/design/gpu/describe.js";
import {
  type GpuStaticCheckpoint,
  type TrainStaticOnGpuOptions,
  trainStaticOnGpu,
} from "../../../src/design/gpu/train-static.js";
import { BrokenRunsError } from "../../../src/design/gpu/training-run.js";
import {
  type DesignVariable,
  defineModel,
  type Model,
  oneOf,
  real,
  sensitive,
  target,
} from "../../../src/design/model.js";
import { linearGaussian } from "../../../src/design/models/linear-gaussian.js";
import { locationFinding } from "../../../src/design/models/location.js";
import { trainStatic } from "../../../src/design/train-static.js";
import { TrainingError, trainTexts } from "../../../src/design/training.js";
import { describeOnGpu, standingIn } from "../../setup/gpu.js";

const OPTIONS = {
  horizon: 2,
  steps: 30,
  starts: 3,
  sizes: { outer: 8, contrastive: 30, marginal: 30 },
} as const;

const modelWith = (x: DesignVariable): Model =>
  defineModel({
    parameters: { theta: target(normal(0, 1)), phi: sensitive(normal(0, 1)) },
    design: { x },
    outcome: ({ theta, phi }, { x }) => normal(add(mul(x, theta), phi), 1),
  });

/** A yes or no, and a condition beside the intensity. */
const conditions = defineModel({
  parameters: { theta: target(normal(0, 1)), phi: sensitive(normal(0, 1)) },
  design: { x: real({ low: -3, high: 3 }), context: oneOf([0, 0.3, 1]) },
  outcome: ({ theta, phi }, { x, context }) =>
    bernoulli({ logit: mul(2, sub(x, add(theta, mul(context, phi)))) }),
});

/** The standard deviation falls to 0 where the designs are led to. */
const narrowing = defineModel({
  parameters: { theta: target(normal(0, 1)), phi: sensitive(normal(0, 1)) },
  design: { x: real({ low: -10, high: 1 }) },
  outcome: ({ theta, phi }, { x }) => normal(add(theta, mul(0.1, phi)), div(log(add(2, mul(-1, x))), 3)),
});
const LED = { ...OPTIONS, starts: 1, rate: 0.5, from: Float64Array.of(0.5, 0.5) };

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

  test.each<[string, Model, Partial<TrainStaticOnGpuOptions>]>([
    ["that climb and are moved", locationFinding(), { horizon: 4, steps: 24, starts: 4 }],
    ["that climb between exchanges", conditions, { steps: 20, starts: 2 }],
    [
      "that are exchanged alone",
      modelWith(oneOf(Array.from({ length: 12 }, (_each, i) => 0.2 * i))),
      { horizon: 3, steps: 8, starts: 2 },
    ],
    ["of few values, all of them", modelWith(oneOf([-0.3, 1, 2.1])), {}],
  ])(
    "are the same to the bit wherever a GPU fails on the way: %s",
    { timeout: 300_000 },
    async (_, model, given) => {
      const sizes = { outer: 5, contrastive: 10, marginal: 10 };
      const options = { ...OPTIONS, ...given, sizes, runs: [{ beta: 0.5, seed: 4 }] };
      /** Fails at one submission. */
      const failingAt = (at: number): Gpu => {
        let submitted = 0;
        return standingIn(gpu(), {
          async submit(dispatches) {
            if (++submitted === at) throw new EnvironmentError("gpu-lost", "lost");
            await gpu().submit(dispatches);
          },
        });
      };
      const whole = await trainStaticOnGpu(gpu(), model, options);
      // How many submissions there are depends on how long they take.
      let at = 1;
      for (; ; at++) {
        const error: unknown = await trainStaticOnGpu(failingAt(at), model, options).then(
          () => undefined,
          (reason: unknown) => reason,
        );
        if (error === undefined) break;
        expect(error).toBeInstanceOf(TrainingError);
        const { checkpoint } = error as TrainingError<GpuStaticCheckpoint>;
        const resume = JSON.parse(JSON.stringify(checkpoint)) as GpuStaticCheckpoint;
        const resumed = await trainStaticOnGpu(gpu(), model, { ...options, resume });
        expect(resumed, `after a failure at submission ${at}`).toEqual(whole);
      }
      expect(at).toBeGreaterThan(3);
    },
  );

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

  test("stay inside their bounds", async () => {
    const bounded = modelWith(real({ low: -1, high: 1.9 }));
    const [{ designs }] = await trainStaticOnGpu(gpu(), bounded, {
      ...OPTIONS,
      starts: 1,
      rate: 1,
      runs: [{ beta: 0, seed: 0 }],
    });
    expect(designs.every((value) => value >= -1 && value <= 1.9)).toBe(true);
  });

  test("that are led to a number that is none leave the state before it, from which a smaller rate goes on", async () => {
    const sure = { beta: 0, seed: 1 };
    const found: unknown = await trainStaticOnGpu(gpu(), narrowing, { ...LED, runs: [sure] }).catch(
      (reason: unknown) => reason,
    );
    if (!(found instanceof BrokenRunsError)) throw found;
    expect(found.message).toMatch(/^with beta 0 and seed 1, training stopped at step \d+, where the /);
    const checkpoint = found.checkpoint as GpuStaticCheckpoint;
    const climbs = checkpoint.climbs.flat();
    expect(climbs.map(({ stopped }) => stopped)).toEqual([0]);
    expect(climbs.flatMap(({ designs, moments }) => [...designs, ...moments]).every(Number.isFinite)).toBe(
      true,
    );
    const resume = JSON.parse(JSON.stringify(checkpoint)) as GpuStaticCheckpoint;
    const [{ steps, designs }] = await trainStaticOnGpu(gpu(), narrowing, {
      ...LED,
      rate: 1e-3,
      runs: [sure],
      resume,
    });
    expect(steps).toBe(LED.steps);
    expect(designs.every(Number.isFinite)).toBe(true);
    // What an earlier version may have left, in which nothing moves.
    const stuck = climbs.map((climb) => ({ ...climb, stopped: 2 }));
    await expect(
      trainStaticOnGpu(gpu(), narrowing, { ...LED, runs: [sure], resume: { ...resume, climbs: [stuck] } }),
    ).rejects.toThrow(trainTexts.damaged("stopped"));
  });

  test("name the run that broke, and no other", async () => {
    const runs = [
      { beta: 0, seed: 0 },
      // Leakage costs so much that its designs are led the other way, where the deviation grows.
      { beta: 40, seed: 1 },
      { beta: 0, seed: 2 },
    ];
    const found: unknown = await trainStaticOnGpu(gpu(), narrowing, { ...LED, runs }).catch(
      (reason: unknown) => reason,
    );
    if (!(found instanceof BrokenRunsError)) throw found;
    expect(found.broken).toEqual([0, 2]);
    expect(found.message).toContain("with beta 0 and seed 0, ");
  });

  test.each(["exchanges, moves and scores", "the last scores"])(
    "stop when they are told to, in %s",
    async (where) => {
      const controller = new AbortController();
      const values = modelWith(oneOf(Array.from({ length: 12 }, (_each, i) => 0.2 * i)));
      const options = { ...OPTIONS, horizon: 2, steps: 4, starts: 2, runs: [{ beta: 0.5, seed: 4 }] };
      const stoppingAt = (at: number) => {
        let submitted = 0;
        const own = standingIn(gpu(), {
          async submit(dispatches) {
            if (++submitted === at) controller.abort(new Error("stop"));
            await gpu().submit(dispatches);
          },
        });
        return { own, submitted: () => submitted };
      };
      const whole = stoppingAt(Infinity);
      await trainStaticOnGpu(whole.own, values, options);
      const at = where === "the last scores" ? whole.submitted() : 2;
      const stopped = stoppingAt(at);
      await expect(
        trainStaticOnGpu(stopped.own, values, { ...options, signal: controller.signal }),
      ).rejects.toThrow("stop");
      // Nothing else is begun.
      expect(stopped.submitted()).toBe(at);
    },
  );

  test.each<[string, Model, { readonly steps?: number; readonly starts?: number }]>([
    ["the better of two conditions beside what climbs, with yes or no", conditions, { steps: 20, starts: 2 }],
    [
      "of many values, exchanged",
      modelWith(oneOf(Array.from({ length: 23 }, (_, i) => 0.1 * i))),
      { starts: 1 },
    ],
    ["all sets of few values", modelWith(oneOf([-0.3, 1, 2.1])), {}],
  ])("with lists of values: %s", async (_, model, options) => {
    const given = { ...OPTIONS, ...options };
    const [found] = await trainStaticOnGpu(gpu(), model, { ...given, runs: [{ beta: 0.3, seed: 5 }] });
    const cpu = await trainStatic(model, { ...given, beta: 0.3, seed: 5, threads: 1 });
    found.designs.forEach((value, i) => {
      const { values } = model.design[i % model.design.length];
      expect(Math.abs(value - cpu.designs[i])).toBeLessThan(values === undefined ? 1e-3 : 1e-12);
    });
    expect(found.steps).toBe(cpu.steps);
    expect(found.rounds.map(({ length }) => length)).toEqual(cpu.rounds.map(({ length }) => length));
    expect(Math.abs(found.objective.mean - cpu.objective.mean)).toBeLessThan(1e-3);
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
