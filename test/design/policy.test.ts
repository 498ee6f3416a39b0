import { afterAll, expect, test } from "vitest";
import { add, Workspace } from "../../src/compute/index.js";
import { seededStream } from "../../src/core/random.js";
import { meanEstimate } from "../../src/core/stats.js";
import { dadPolicy } from "../../src/design/dad-network.js";
import { normal } from "../../src/design/distribution.js";
import { greedyPolicy } from "../../src/design/greedy.js";
import { defineModel, oneOf, real, sensitive, target } from "../../src/design/model.js";
import { linearGaussian } from "../../src/design/models/linear-gaussian.js";
import {
  type History,
  type Policy,
  policyTexts,
  randomPolicy,
  sharedDesigns,
  simulate,
  staticPolicy,
} from "../../src/design/policy.js";

const workspace = new Workspace({ threads: 1 });
afterAll(() => workspace.dispose());
const model = linearGaussian();

test("a static policy gives its designs, whatever happened", async () => {
  const policy = staticPolicy(Float64Array.of(1, 2, 3, 4), 2);
  expect(policy.horizon).toBe(2);
  const history: History = {
    outer: 3,
    steps: 1,
    designs: new Float64Array(6),
    outcomes: new Float64Array(3),
  };
  expect(await policy.next(history, seededStream(0))).toEqual(Float64Array.of(3, 4, 3, 4, 3, 4));
  expect(sharedDesigns(model, policy)).toEqual({ x: Float64Array.of(1, 3), y: Float64Array.of(2, 4) });
  const { designs } = await simulate(model, policy, { outer: 2, stream: seededStream(0), workspace });
  expect(designs.x).toEqual(Float64Array.of(1, 3, 1, 3));
});

test("a random policy draws within the bounds and among the values", async () => {
  const bounded = defineModel({
    name: "bounded",
    parameters: { theta: target(normal(0, 1)), phi: sensitive(normal(0, 1)) },
    design: { x: real({ low: -0.5, high: 0.5 }), dose: oneOf([1, 2, 5]), free: real() },
    outcome: ({ theta }, { x }) => normal(add(theta, x), 1),
  });
  const policy = randomPolicy(bounded, 3, { mean: 2, sd: 3 });
  expect(sharedDesigns(bounded, policy)).toBeUndefined();
  const { designs } = await simulate(bounded, policy, { outer: 2000, stream: seededStream(0), workspace });
  expect(designs.x.every((x) => Math.abs(x) <= 0.5)).toBe(true);
  expect([...new Set(designs.dose)].sort()).toEqual([1, 2, 5]);
  const mean = designs.free.reduce((sum, value) => sum + value, 0) / 6000;
  expect(Math.abs(mean - 2)).toBeLessThan((4 * 3) / Math.sqrt(6000));
});

test("a random policy is uniform between bounds and standard normal without, unless it is told otherwise", async () => {
  const model = defineModel({
    name: "bounded",
    parameters: { theta: target(normal(0, 1)), phi: sensitive(normal(0, 1)) },
    design: {
      day: real({ low: 1, high: 365 }),
      dose: oneOf([10, 20]),
      free: real(),
      late: real({ low: 100 }),
      early: real({ high: -100 }),
    },
    outcome: ({ theta }, { free }) => normal(add(theta, free), 1),
  });
  const outer = 4000;
  const nothing = { outer, steps: 0, designs: new Float64Array(0), outcomes: new Float64Array(0) };
  const all = await randomPolicy(model, 1).next(nothing, seededStream(2));
  const columns = model.design.map((_, d) => Array.from({ length: outer }, (_, b) => all[b * 5 + d]));
  const [day, dose, free, late, early] = columns.map((values) => meanEstimate(values));
  // Means and variances of U(1, 365), a fair coin, N(0, 1) and |N(0, 1)|.
  const expected = [
    [day, 183, 364 ** 2 / 12],
    [dose, 15, 25],
    [free, 0, 1],
    [late, 100 + Math.sqrt(2 / Math.PI), 1 - 2 / Math.PI],
    [early, -100 - Math.sqrt(2 / Math.PI), 1 - 2 / Math.PI],
  ] as const;
  for (const [estimate, mean, variance] of expected) {
    expect(Math.abs(estimate.mean - mean)).toBeLessThan(4 * Math.sqrt(variance / outer));
    expect(estimate.standardError ** 2 * outer).toBeGreaterThan(0.9 * variance);
    expect(estimate.standardError ** 2 * outer).toBeLessThan(1.1 * variance);
  }
  expect(Math.min(...columns[0])).toBeGreaterThanOrEqual(1);
  expect(Math.max(...columns[0])).toBeLessThanOrEqual(365);
  const told = await randomPolicy(model, 1, { mean: 30 }).next({ ...nothing, outer: 1 }, seededStream(2));
  expect(Math.abs(told[0] - 30)).toBeLessThan(6);
});

test("no policy answers past its horizon", async () => {
  const shape = {
    widths: { encoder: [2], encoding: 2, emitter: [2] },
    designs: [0, 1].map(() => ({ kind: "free", centre: 0, unit: 1 }) as const),
    outcomes: [{ centre: 0, unit: 1 }],
  };
  const network = { ...shape, parameters: new Float32Array(4 * 2 + 3 * 2 + 3 * 2 + 3 * 2) };
  const policies = [
    staticPolicy(Float64Array.of(1, 2, 3, 4), 2),
    randomPolicy(model, 2),
    dadPolicy(model, 2, network),
    greedyPolicy(model, { horizon: 2, particles: 16 }),
  ];
  expect(policies.map(({ kind }) => kind).sort()).toEqual(["dad", "greedy", "random", "static"]);
  const history = (steps: number) => ({
    outer: 1,
    steps,
    designs: new Float64Array(2 * steps),
    outcomes: new Float64Array(steps),
  });
  for (const policy of policies) {
    const next = async (steps: number) => policy.next(history(steps), seededStream(0));
    expect(await next(1), policy.kind).toHaveLength(2);
    for (const steps of [2, 3]) {
      await expect(next(steps), policy.kind).rejects.toThrow(
        /^the history has [23] observations and the policy a horizon of 2: there is no next design/,
      );
    }
  }
  expect(() => policies[0].next(history(2), seededStream(0))).toThrow(policyTexts.over(2, 2));
});

test("a policy that looks at outcomes is shown those of its own experiment, in order", async () => {
  const seen: History[] = [];
  const policy: Policy = {
    kind: "greedy",
    horizon: 3,
    next: (history) => {
      seen.push(history);
      // x of experiment b at step t is 10 b + t; y is the last outcome.
      return Float64Array.from({ length: history.outer * 2 }, (_, i) => {
        const b = Math.floor(i / 2);
        if (i % 2 === 0) return 10 * b + history.steps;
        return history.steps === 0 ? 0 : history.outcomes[(b + 1) * history.steps - 1];
      });
    },
  };
  const { designs, outcomes } = await simulate(model, policy, {
    outer: 2,
    stream: seededStream(5),
    workspace,
  });
  expect(designs.x).toEqual(Float64Array.of(0, 1, 2, 10, 11, 12));
  for (const b of [0, 1]) {
    for (const t of [1, 2]) expect(designs.y[3 * b + t]).toBe(outcomes.outcome[3 * b + t - 1]);
  }
  expect(seen.map(({ steps }) => steps)).toEqual([0, 1, 2]);
  expect(Array.from(seen[2].outcomes)).toEqual([0, 1, 3, 4].map((i) => outcomes.outcome[i]));
});

test("the same stream gives the same experiments, and given parameters are used", async () => {
  const policy = randomPolicy(model, 2);
  const run = (seed: number) => simulate(model, policy, { outer: 3, stream: seededStream(seed), workspace });
  expect(await run(1)).toEqual(await run(1));
  expect((await run(1)).outcomes).not.toEqual((await run(2)).outcomes);
  const parameters = { theta: Float64Array.of(1, 2), phi: Float64Array.of(3, 4) };
  const fixed = await simulate(model, policy, { outer: 2, stream: seededStream(1), workspace, parameters });
  expect(fixed.parameters).toBe(parameters);
});
