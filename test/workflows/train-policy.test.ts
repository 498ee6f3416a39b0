import { describe, expect, test } from "vitest";
import { add, log, mul, sub } from "../../src/compute/index.js";
import { normal } from "../../src/design/distribution.js";
import { defineModel, type Model, oneOf, real, sensitive, target } from "../../src/design/model.js";
import { linearGaussian } from "../../src/design/models/linear-gaussian.js";
import { pharmacokinetics } from "../../src/design/models/pharmacokinetics.js";
import { psychometric } from "../../src/design/models/psychometric.js";
import { decodePolicy, encodePolicy } from "../../src/design/policy-file.js";
import { trainStatic } from "../../src/design/train-static.js";
import { TrainingError } from "../../src/design/training.js";
import { evaluatePolicy } from "../../src/workflows/evaluate-policy.js";
import { type PolicyCheckpoint, policyCheckpointTexts } from "../../src/workflows/policy-checkpoint.js";
import { POLICY_KINDS } from "../../src/workflows/policy-defaults.js";
import { policySettingsTexts } from "../../src/workflows/policy-settings.js";
import { runPolicy } from "../../src/workflows/run-policy.js";
import { type TrainPolicyOptions, trainPolicy, trainPolicyTexts } from "../../src/workflows/train-policy.js";
import { onSlowClock } from "../setup/slow-clock.js";

const SIZES = { outer: 20, contrastive: 40, marginal: 40 };
const QUICK = { horizon: 2, steps: 12, starts: 2, sizes: SIZES, seed: 3, evaluation: false } as const;

/** y = x (theta + phi) + noise: information and leakage about phi given theta are known for every x. */
const sum = (high = 5) =>
  defineModel({
    name: "sum",
    parameters: { theta: target(normal(0, 1)), phi: sensitive(normal(0, 1)) },
    design: { x: real({ low: 0, high }) },
    outcome: ({ theta, phi }, { x }) => normal(mul(x, add(theta, phi)), 1),
  });
const leakageAt = (x: number) => 0.5 * Math.log1p(x * x);
const informationAt = (x: number) => 0.5 * Math.log((1 + 2 * x * x) / (1 + x * x));

/** Doses that can be given, and a time between bounds. */
const doses = () =>
  defineModel({
    name: "doses",
    parameters: { effect: target(normal(1, 1)), group: sensitive(normal(0, 1)) },
    design: { dose: oneOf([0, 1, 2, 5]), time: real({ low: 1, high: 365 }) },
    outcome: ({ effect, group }, { dose, time }) =>
      normal(add(mul(effect, dose), mul(group, mul(time, 0.01))), 1),
  });

const MODELS: Readonly<Record<string, () => Model>> = { pharmacokinetics, psychometric, doses };

describe.each(POLICY_KINDS)("a %s policy", (kind) => {
  test.each(Object.keys(MODELS))("for %s is one plain value that a file holds", async (name) => {
    const model = MODELS[name]();
    const policy = await trainPolicy(model, {
      ...QUICK,
      kind,
      source: { options: { a: 1 }, file: "model.ts" },
      evaluation: { outer: 2, inner: 20, batches: 1 },
    });
    expect(policy).toMatchObject({
      kind,
      horizon: 2,
      seed: 3,
      model: { name: model.name, options: { a: 1 }, file: "model.ts" },
      settings: { kind, beta: 0.8, objective: "conditional", horizon: 2, seed: 3 },
    });
    expect(Object.keys(policy.bounds ?? {}).sort()).toEqual(
      ["joint", "objective", "sensitive", "sensitiveGivenTarget", "target"].sort(),
    );
    const read = decodePolicy(encodePolicy(policy));
    expect(read).toEqual(policy);
    const [first, again] = [runPolicy(model, policy), runPolicy(model, read)];
    const design = await first.next();
    expect(await again.next()).toEqual(design);
    for (const { name: variable, low, high, values } of model.design) {
      if (values !== undefined) expect(values).toContain(design[variable]);
      expect(design[variable]).toBeGreaterThanOrEqual(low);
      expect(design[variable]).toBeLessThanOrEqual(high);
    }
    // Its settings make it again.
    expect(await trainPolicy(model, { ...policy.settings, source: policy.model, evaluation: false })).toEqual(
      {
        ...policy,
        bounds: undefined,
      },
    );
  });
});

test("static training is trainStatic, bit for bit", async () => {
  const { evaluation: _, ...options } = QUICK;
  const policy = await trainPolicy(pharmacokinetics(), QUICK);
  const { designs } = await trainStatic(pharmacokinetics(), { ...options, rate: 0.05 });
  expect(policy.kind === "static" && policy.designs.flat()).toEqual([...designs]);
});

describe("a leakage budget", () => {
  const budget = 0.4;
  // The best x has a leakage of the whole budget: x^2 = exp(2 budget) - 1.
  const best = informationAt(Math.sqrt(Math.expm1(2 * budget)));

  test("is kept, and used", async () => {
    const model = sum();
    const policy = await trainPolicy(model, {
      ...{ horizon: 1, steps: 150, starts: 1, seed: 1, leakageBudget: budget, evaluation: false },
      sizes: { outer: 50, contrastive: 200, marginal: 200 },
    });
    const { target: reached, sensitiveGivenTarget } = await evaluatePolicy(model, policy, { exact: true });
    expect(sensitiveGivenTarget.upper).toBeLessThan(budget);
    expect(reached.lower).toBeGreaterThan(0.9 * best);
    const frontier = policy.settings?.frontier as { beta: number; leakage: number; within: boolean }[];
    expect(frontier.map(({ beta }) => beta)).toContain(policy.settings?.beta);
    for (const { leakage, within } of frontier) expect(within).toBe(leakage <= budget);
    const x = policy.kind === "static" ? policy.designs[0][0] : Number.NaN;
    expect(sensitiveGivenTarget.upper).toBeCloseTo(leakageAt(x), 6);
  }, 120_000);

  test("is looked for again from JSON in the middle, networks and all", async () => {
    const options = { ...QUICK, kind: "dad", horizon: 1, steps: 25, rate: 1e-3, leakageBudget: 5 } as const;
    const taken: PolicyCheckpoint[] = [];
    const whole = await onSlowClock(() =>
      trainPolicy(sum(), {
        ...options,
        onProgress: ({ checkpoint, done, total }) => {
          // In the third round or later: two networks are in the checkpoint.
          if (checkpoint !== undefined && done > (2 / 8) * total) taken.push(checkpoint());
        },
      }),
    );
    const resume = JSON.parse(JSON.stringify(taken[0]));
    expect(resume.state.done.length).toBeGreaterThanOrEqual(2);
    expect(await trainPolicy(sum(), { ...options, resume })).toEqual(whole);
  }, 120_000);

  test("is nothing for a random policy", async () => {
    await expect(trainPolicy(sum(), { kind: "random", leakageBudget: 1 })).rejects.toThrow(
      policySettingsTexts.randomBudget,
    );
  });
});

describe("an interrupted run", () => {
  const train = async (options: TrainPolicyOptions) => {
    const taken: PolicyCheckpoint[] = [];
    const whole = await onSlowClock(() =>
      trainPolicy(pharmacokinetics(), {
        ...options,
        onProgress: ({ checkpoint }) => {
          if (checkpoint !== undefined) taken.push(JSON.parse(JSON.stringify(checkpoint())));
        },
      }),
    );
    return { whole, taken };
  };

  test.each([
    ["static", { ...QUICK, steps: 300, kind: "static" }],
    ["dad", { ...QUICK, steps: 60, kind: "dad" }],
  ] as const)(
    "%s: goes on from JSON, and ends as one that was not",
    async (_, options) => {
      const { whole, taken } = await train(options);
      expect(taken.length).toBeGreaterThan(0);
      const resume = taken[Math.floor(taken.length / 2)];
      expect(await trainPolicy(pharmacokinetics(), { ...options, resume })).toEqual(whole);
    },
    60_000,
  );

  test("goes on only with the same settings and model", async () => {
    const options = { ...QUICK, steps: 300 };
    const { taken } = await train(options);
    const [resume] = taken;
    const wrong: readonly (readonly [TrainPolicyOptions, string, unknown, unknown])[] = [
      [{ beta: 0.3 }, "beta", 0.8, 0.3],
      [{ horizon: 3 }, "horizon", 2, 3],
      [{ seed: 4 }, "seed", 3, 4],
    ];
    for (const [other, name, made, given] of wrong) {
      await expect(trainPolicy(pharmacokinetics(), { ...options, ...other, resume })).rejects.toThrow(
        policyCheckpointTexts.otherSettings(name, made, given),
      );
    }
    await expect(trainPolicy(pharmacokinetics({ latest: 12 }), { ...options, resume })).rejects.toThrow(
      policyCheckpointTexts.changedModel("pharmacokinetics"),
    );
    const nonsense = {} as PolicyCheckpoint;
    await expect(trainPolicy(pharmacokinetics(), { ...options, resume: nonsense })).rejects.toThrow(
      policyCheckpointTexts.notCheckpoint,
    );
  }, 60_000);

  test("is stopped by a signal, with its reason", async () => {
    const controller = new AbortController();
    const reason = new Error("enough");
    const running = trainPolicy(pharmacokinetics(), {
      kind: "dad",
      signal: controller.signal,
      onProgress: () => controller.abort(reason),
    });
    await expect(running).rejects.toBe(reason);
  });
});

test("a model whose outcome is no number stops training with the last good state", async () => {
  // Tells more the larger x is, until log(1.5 - x) is none: training walks there.
  const model = defineModel({
    name: "cliff",
    parameters: { theta: target(normal(0, 1)), phi: sensitive(normal(0, 1)) },
    design: { x: real() },
    outcome: ({ theta, phi }, { x }) => normal(add(mul(theta, sub(3, log(sub(1.5, x)))), mul(0.1, phi)), 1),
  });
  const failed = await trainPolicy(model, {
    ...QUICK,
    ...{ steps: 400, starts: 1, start: { mean: 0, sd: 0.1 }, rate: 0.05, decay: false, beta: 0 },
  }).catch((error) => error);
  expect(failed).toBeInstanceOf(TrainingError);
  expect(failed.checkpoint).toMatchObject({ format: "fairbed checkpoint", settings: { kind: "static" } });
});

test("what cannot work is one sentence", async () => {
  const model = linearGaussian();
  const train = (options: TrainPolicyOptions) => trainPolicy(model, options);
  await expect(train({ kind: "clever" as "dad" })).rejects.toThrow(policySettingsTexts.kind("clever"));
  await expect(train({ kind: "greedy", against: { other: model } })).rejects.toThrow(
    trainPolicyTexts.against("greedy"),
  );
  await expect(train({ kind: "random", horizon: 0 })).rejects.toThrow(/horizon was 0/);
  await expect(train({ kind: "greedy", beta: -1 })).rejects.toThrow(/beta was -1/);
});

test("a policy is guarded against further models", async () => {
  // With less noise the same designs leak more: the objective is worth less, and the designs are smaller.
  const model = linearGaussian({ noise: 1 });
  const options = { ...QUICK, horizon: 1, steps: 200, starts: 1, beta: 2 };
  const policy = await trainPolicy(model, { ...options, against: { quiet: linearGaussian({ noise: 0.2 }) } });
  expect(policy.settings?.against).toEqual(["quiet"]);
  const alone = await trainPolicy(model, options);
  expect(policy).not.toEqual(alone);
});

test("progress tells where the leading designs are, and watching them changes nothing", async () => {
  const seen: number[][][] = [];
  const settings = { ...QUICK, steps: 200, starts: 3 } as const;
  const watched = await trainStatic(sum(), {
    ...settings,
    onProgress: ({ designs }) => {
      if (designs !== undefined) seen.push(designs());
    },
  });
  const alone = await trainStatic(sum(), settings);
  expect(watched).toEqual(alone);
  expect(seen.every((rows) => rows.length === 2 && rows.every((row) => row.length === 1))).toBe(true);
  expect(new Set(seen.map(String)).size).toBeGreaterThan(20);
  // A single start travels to where the policy is.
  seen.length = 0;
  const single = await trainStatic(sum(), {
    ...settings,
    starts: 1,
    onProgress: ({ designs }) => seen.push(designs?.() ?? []),
  });
  expect(seen[seen.length - 1].flat()).toEqual([...single.designs]);
});
