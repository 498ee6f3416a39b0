/** Where workflows run: what they say of it, and what a GPU is refused. */
import { describe, expect, test } from "vitest";
import { openGpu } from "../../src/compute/webgpu/device.js";
import { EnvironmentError, InputError } from "../../src/core/errors.js";
import { gpuModelTexts } from "../../src/design/gpu/describe.js";
import { linearGaussian } from "../../src/design/models/linear-gaussian.js";
import { psychometric } from "../../src/design/models/psychometric.js";
import { TrainingError } from "../../src/design/training.js";
import {
  type DesignFrontierProgress,
  designFrontier,
  frontierPolicy,
} from "../../src/workflows/design-frontier.js";
import {
  type ComputeDevice,
  deviceTexts,
  onDevice,
  shareGpu,
  trainedOn,
} from "../../src/workflows/device.js";
import { evaluatePolicy, evaluatePolicyTexts } from "../../src/workflows/evaluate-policy.js";
import { type PolicyCheckpoint, policyCheckpointTexts } from "../../src/workflows/policy-checkpoint.js";
import { policySettings } from "../../src/workflows/policy-settings.js";
import { trainPoliciesOnGpu } from "../../src/workflows/train-policies.js";
import {
  evaluateFound,
  findPolicy,
  type TrainPolicyOptions,
  trainPolicy,
  trainPolicyTexts,
} from "../../src/workflows/train-policy.js";
import { trainWithinBudget } from "../../src/workflows/train-within-budget.js";
import { describeOnGpu, lostAfter, openAsHardware } from "../setup/gpu.js";

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

  test("goes through few outcomes on the processor, which is exact", async () => {
    const settings = { horizon: 1, steps: 3, starts: 1, evaluation: false } as const;
    const auto = await trainPolicy(psychometric(), { ...settings, device: "auto" });
    expect(auto.settings?.device).toEqual({
      asked: "auto",
      used: "cpu",
      note: trainPolicyTexts.gpuEnumerated,
    });
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

  test("goes on from a checkpoint where it was made", async () => {
    // So many steps that some of them are told of on any machine.
    const settings = {
      ...SMALL,
      steps: 5000,
      sizes: { ...SMALL.sizes, outer: 5 },
      evaluation: false,
    } as const;
    const taken: PolicyCheckpoint[] = [];
    const whole = await trainPolicy(linearGaussian(), {
      ...settings,
      onProgress: ({ checkpoint }) => {
        if (checkpoint !== undefined) taken.push(checkpoint());
      },
    });
    const resume = taken[0];
    const auto = await trainPolicy(linearGaussian(), { ...settings, resume, device: "auto" });
    expect(auto.settings?.device).toEqual({
      asked: "auto",
      used: "cpu",
      note: trainPolicyTexts.gpuCheckpoint,
    });
    expect({ ...auto, settings: whole.settings }).toEqual(whole);
    const elsewhere = { ...resume, settings: { ...resume.settings, device: "gpu" } };
    await expect(trainPolicy(linearGaussian(), { ...settings, resume: elsewhere })).rejects.toThrow(
      policyCheckpointTexts.otherSettings("device", "gpu", "cpu"),
    );
  });

  test("says what was used", () => {
    expect(deviceTexts.used({ asked: "gpu", used: "gpu", name: "Some GPU" })).toBe("On the GPU: Some GPU.");
    expect(deviceTexts.used({ asked: "auto", used: "cpu", note: "there is none" })).toBe(
      "On the CPU, because there is none.",
    );
  });
});

describeOnGpu("a GPU that is lost after training", (gpu) => {
  const settings = { ...SMALL, device: "gpu" } as const;
  const failureOf = (running: Promise<unknown>): Promise<TrainingError<PolicyCheckpoint>> =>
    running.then(
      () => Promise.reject(new Error("it did not fail")),
      (error) => {
        expect(error).toBeInstanceOf(TrainingError);
        return error;
      },
    );

  test.each<TrainPolicyOptions>([
    settings,
    { ...settings, kind: "dad", steps: 3, widths: { encoder: [8], encoding: 3, emitter: [5] } },
  ])("leaves the policy that was found, to be evaluated", async (options) => {
    shareGpu(await openAsHardware());
    const { evaluation, ...training } = options;
    const found = await findPolicy(linearGaussian(), training);
    shareGpu(await openAsHardware({ as: lostAfter(1) }));
    const { code, message, checkpoint } = await failureOf(
      evaluateFound(linearGaussian(), found, { ...SMALL.evaluation, device: "gpu" }),
    );
    expect(code).toBe("gpu-lost");
    expect(message).not.toContain("error's checkpoint");
    shareGpu(await openAsHardware());
    const steps: number[] = [];
    const resumed = await trainPolicy(linearGaussian(), {
      ...{ ...training, evaluation: false },
      resume: JSON.parse(JSON.stringify(checkpoint)) as PolicyCheckpoint,
      onProgress: ({ done }) => steps.push(done),
    });
    expect(resumed).toEqual(found.policy);
    expect(steps).toEqual([]);
  });

  test("in one call too, and whatever the GPU lacks", async () => {
    const { code, checkpoint: resume } = await failureOf(
      trainPolicy(linearGaussian(), { ...settings, evaluation: { outer: 70_000, inner: 4, batches: 1 } }),
    );
    expect(code).toBe("gpu-outer");
    const found = await trainPolicy(linearGaussian(), { ...settings, resume });
    expect(found.bounds?.objective.lower).toBeTypeOf("number");
  });

  test("leaves all rounds of the search within a leakage budget", async () => {
    shareGpu(await openAsHardware({ as: lostAfter(1) }));
    const full = policySettings(SMALL);
    const run = { threads: 1, against: {}, signal: undefined };
    // What is trained has a GPU of its own here.
    const { checkpoint: state } = await failureOf(
      trainWithinBudget(linearGaussian(), full, 0.1, { ...run, gpu: gpu(), onStep: async () => {} }),
    );
    expect(state).toMatchObject({ done: [{ policy: { kind: "static" } }] });
    const enough = new Error("the next round has begun");
    const rounds: number[] = [];
    const onStep = async ({ done }: { readonly done: number }) => {
      rounds.push(done / 1000);
      throw enough;
    };
    await expect(trainWithinBudget(linearGaussian(), full, 0.1, { ...run, state, onStep })).rejects.toBe(
      enough,
    );
    expect(rounds[0]).toBeGreaterThan(1);
  });
});

describeOnGpu("auto, where there is a GPU", () => {
  test("evaluates on the processor what it has trained there", async () => {
    shareGpu(await openAsHardware());
    const settings = policySettings({ horizon: 1, steps: 3, starts: 1 });
    const { evaluation } = SMALL;
    const auto = await frontierPolicy(psychometric(), settings, { evaluation, device: "auto" });
    const cpu = await frontierPolicy(psychometric(), settings, { evaluation });
    expect(auto.policy.settings?.device).toMatchObject({ used: "cpu" });
    expect(auto.report).toEqual(cpu.report);
  });

  test("says why it is the processor, and not what to do", async () => {
    shareGpu(await openAsHardware({ as: lostAfter(1) }));
    const { settings } = await trainPolicy(linearGaussian(), { ...SMALL, evaluation: false, device: "auto" });
    const { note = "" } = trainedOn({ settings }) ?? {};
    expect(note).toMatch(/^the GPU was lost \(.*\)$/);
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

  test("a frontier is trained all at once, and each point is that of its beta alone but for rounding", async () => {
    const options = { ...SMALL, betas: [0, 0.8], device: "gpu" } as const;
    const points = await designFrontier(linearGaussian(), options);
    const alone = await trainPolicy(linearGaussian(), { ...SMALL, beta: 0.8, device: "gpu" });
    expect(points.map(({ beta }) => beta)).toEqual([0, 0.8]);
    const { policy } = points[1];
    if (policy.kind !== "static" || alone.kind !== "static") throw new Error("both are static");
    expect(policy.settings).toEqual(alone.settings);
    policy.designs.flat().forEach((value, i) => {
      expect(Math.abs(value - alone.designs.flat()[i])).toBeLessThan(1e-4);
    });
    expect(policy.bounds?.objective.lower).toBeCloseTo(alone.bounds?.objective.lower ?? Number.NaN, 3);
  });

  test("a frontier tells how far it is while all are trained, and afterwards", async () => {
    const seen: DesignFrontierProgress[] = [];
    await designFrontier(linearGaussian(), {
      ...{ ...SMALL, steps: 2000, betas: [0, 0.8], device: "gpu" },
      // Enough to be told of.
      evaluation: { outer: 60, inner: 500, batches: 40 },
      onProgress: (progress) => seen.push(progress),
    });
    const training = seen.filter(({ label }) => label === "training");
    expect(training.length).toBeGreaterThan(0);
    for (const { done, total, beta } of training) {
      expect(done).toBeLessThanOrEqual(0.8 * total);
      expect(beta).toBeUndefined();
    }
    for (const { done, total, label } of seen) {
      if (label === "evaluating") expect(done).toBeGreaterThanOrEqual(0.8 * total);
    }
    const shares = seen.map(({ done }) => done);
    expect(shares).toEqual([...shares].sort((a, b) => a - b));
  }, 120_000);

  test("what has been trained is told before the rest, and is not lost with the GPU", async () => {
    const own = await openGpu();
    const told: number[] = [];
    const all = [1, 2].map((horizon) => policySettings({ ...SMALL, horizon }));
    const failed = trainPoliciesOnGpu(linearGaussian(), all, {
      gpu: own,
      device: { asked: "gpu", used: "gpu", name: own.info.name },
      onTrained(policies) {
        for (const [place, { horizon }] of policies) told.push(place, horizon);
        own.dispose();
      },
    });
    await expect(failed).rejects.toMatchObject({ code: "gpu-lost" });
    expect(told).toEqual([0, 1]);
  });

  test("a network that starts from static designs, by itself and beside others but for rounding, and what it reaches", async () => {
    const settings: TrainPolicyOptions = {
      ...{ ...SMALL, kind: "dad", start: "static", steps: 3, rate: 0.01, device: "gpu", beta: 0.5 },
      widths: { encoder: [8], encoding: 3, emitter: [5] },
    };
    const alone = await trainPolicy(linearGaussian(), settings);
    if (alone.kind !== "dad") throw new Error("it is a network");
    expect(alone.network.widths).toEqual(settings.widths);
    const reached = await evaluatePolicy(linearGaussian(), alone, SMALL.evaluation);
    expect(alone.bounds?.objective.lower).toBeCloseTo(reached.objectives.conditional.lower, 4);
    const all = [0.5, 0].map((beta) => policySettings({ ...settings, beta }));
    const together = await trainPoliciesOnGpu(linearGaussian(), all, {
      gpu: gpu(),
      device: { asked: "gpu", used: "gpu", name: gpu().info.name },
    });
    const [first] = together;
    if (first.kind !== "dad") throw new Error("it is a network");
    expect(first.settings).toEqual(alone.settings);
    expect(first.network.parameters).toHaveLength(alone.network.parameters.length);
    first.network.parameters.forEach((value, i) => {
      expect(Math.abs(value - alone.network.parameters[i])).toBeLessThan(1e-4);
    });
  }, 180_000);
});
