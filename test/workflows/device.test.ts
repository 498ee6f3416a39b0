/** Where workflows run: what they say of it, and what a GPU is refused. */
import { describe, expect, test } from "vitest";
import { EnvironmentError, InputError } from "../../src/core/errors.js";
import { gpuModelTexts } from "../../src/design/gpu/describe.js";
import { linearGaussian } from "../../src/design/models/linear-gaussian.js";
import { psychometric } from "../../src/design/models/psychometric.js";
import { TrainingError } from "../../src/design/training.js";
import { designFrontier } from "../../src/workflows/design-frontier.js";
import { type ComputeDevice, deviceTexts, onDevice } from "../../src/workflows/device.js";
import { evaluatePolicy, evaluatePolicyTexts } from "../../src/workflows/evaluate-policy.js";
import { trainPolicy, trainPolicyTexts } from "../../src/workflows/train-policy.js";
import { describeOnGpu } from "../setup/gpu.js";

const SMALL = {
  horizon: 1,
  steps: 12,
  starts: 1,
  sizes: { outer: 6, contrastive: 20, marginal: 20 },
  evaluation: { outer: 20, inner: 60, batches: 2 },
} as const;

const DESIGNS = { kind: "static", horizon: 1, designs: [[1, 0.5]] } as const;

describe("a GPU is refused in one sentence, before anything is done", () => {
  test.each<[string, () => Promise<unknown>, string]>([
    [
      "a dad policy",
      () => trainPolicy(linearGaussian(), { ...SMALL, kind: "dad", device: "gpu" }),
      trainPolicyTexts.gpuKind("dad"),
    ],
    [
      "a greedy policy",
      () => trainPolicy(linearGaussian(), { ...SMALL, kind: "greedy", device: "gpu" }),
      trainPolicyTexts.gpuKind("greedy"),
    ],
    [
      "several models",
      () => trainPolicy(linearGaussian(), { ...SMALL, against: { other: linearGaussian() }, device: "gpu" }),
      gpuModelTexts.against,
    ],
    [
      "a model with a yes or no",
      () => trainPolicy(psychometric(), { ...SMALL, device: "gpu" }),
      gpuModelTexts.outcome("outcome", "Bernoulli"),
    ],
    [
      "an exact evaluation after training",
      () => trainPolicy(linearGaussian(), { ...SMALL, evaluation: { exact: true }, device: "gpu" }),
      evaluatePolicyTexts.gpuExact,
    ],
    [
      "an exact evaluation",
      () => evaluatePolicy(linearGaussian(), DESIGNS, { exact: true, device: "gpu" }),
      evaluatePolicyTexts.gpuExact,
    ],
    [
      "parity",
      () => evaluatePolicy(linearGaussian(), DESIGNS, { parity: true, device: "gpu" }),
      evaluatePolicyTexts.gpuParity,
    ],
    [
      "random designs",
      () => evaluatePolicy(linearGaussian(), { kind: "random", horizon: 1 }, { device: "gpu" }),
      gpuModelTexts.policy("random"),
    ],
    [
      "an exact frontier",
      () =>
        designFrontier(linearGaussian(), {
          betas: [0],
          horizon: 1,
          evaluation: { exact: true },
          device: "gpu",
        }),
      evaluatePolicyTexts.gpuExact,
    ],
    [
      "no such device",
      () => trainPolicy(linearGaussian(), { ...SMALL, device: "tpu" as ComputeDevice }),
      deviceTexts.unknown("tpu"),
    ],
  ])("%s", async (_, run, text) => {
    await expect(run()).rejects.toThrow(text);
  });
});

describe("auto", () => {
  test("goes on on the processor, with the reason", async () => {
    const settings = { kind: "greedy", horizon: 1, evaluation: false } as const;
    const auto = await trainPolicy(linearGaussian(), { ...settings, device: "auto" });
    const plain = await trainPolicy(linearGaussian(), settings);
    const { device, ...rest } = auto.settings ?? {};
    expect(device).toEqual({ asked: "auto", used: "cpu", note: trainPolicyTexts.gpuKind("greedy") });
    expect({ ...auto, settings: rest }).toEqual(plain);
    expect(plain.settings).not.toHaveProperty("device");
  });

  test("goes on when the GPU is lost on the way, and passes other errors on", async () => {
    const lost = new TrainingError("lost", {}, { cause: new EnvironmentError("gpu-lost", "lost") });
    const refuse = () => {
      throw lost;
    };
    const tried: unknown[] = [];
    const on = async (gpu: unknown) => tried.push(gpu);
    expect((await onDevice("auto", refuse, on)).device).toEqual({ asked: "auto", used: "cpu", note: "lost" });
    expect(tried).toEqual([undefined]);
    await expect(onDevice("gpu", refuse, on)).rejects.toBe(lost);
    const other = new InputError("beta", "wrong");
    await expect(
      onDevice(
        "auto",
        () => {
          throw other;
        },
        on,
      ),
    ).rejects.toBe(other);
  });

  test("says what was used", () => {
    expect(deviceTexts.used({ asked: "gpu", used: "gpu", name: "Some GPU" })).toBe("On the GPU: Some GPU.");
    expect(deviceTexts.used({ asked: "auto", used: "cpu", note: "there is none" })).toBe(
      "On the CPU, because there is none.",
    );
  });
});

describeOnGpu("workflows on a GPU", (gpu) => {
  test("a policy and what it reaches are the processor's, and say where they come from", async () => {
    const { name } = gpu().info;
    const found = await trainPolicy(linearGaussian(), { ...SMALL, device: "gpu" });
    const cpu = await trainPolicy(linearGaussian(), SMALL);
    expect(found.settings?.device).toEqual({ asked: "gpu", used: "gpu", name });
    if (found.kind !== "static" || cpu.kind !== "static") throw new Error("both are static");
    found.designs.flat().forEach((value, i) => {
      expect(Math.abs(value - cpu.designs.flat()[i])).toBeLessThan(1e-4);
    });
    expect(found.bounds?.objective.lower).toBeCloseTo(cpu.bounds?.objective.lower ?? Number.NaN, 3);
    const options = { ...SMALL.evaluation, seed: 3 };
    const here = await evaluatePolicy(linearGaussian(), DESIGNS, options);
    const there = await evaluatePolicy(linearGaussian(), DESIGNS, { ...options, device: "gpu" });
    expect(there.device).toEqual({ asked: "gpu", used: "gpu", name });
    for (const part of ["target", "sensitive", "sensitiveGivenTarget", "joint"] as const) {
      expect(Math.abs(there[part].lower - here[part].lower), part).toBeLessThan(1e-5);
      expect(Math.abs(there[part].upper - here[part].upper), part).toBeLessThan(1e-5);
    }
    for (const given of ["none", "target", "sensitive"] as const) {
      const [one, other] = [there, here].map(({ diagnostics }) => diagnostics.effectiveSamples[given] ?? 0);
      expect(Math.abs(one / other - 1)).toBeLessThan(1e-3);
    }
  });

  test("a frontier is trained all at once, and each point is that of its beta alone", async () => {
    const options = { ...SMALL, betas: [0, 0.8], device: "gpu" } as const;
    const points = await designFrontier(linearGaussian(), options);
    const alone = await trainPolicy(linearGaussian(), { ...SMALL, beta: 0.8, device: "gpu" });
    expect(points.map(({ beta }) => beta)).toEqual([0, 0.8]);
    expect(points[1].policy).toEqual(alone);
  });
});
