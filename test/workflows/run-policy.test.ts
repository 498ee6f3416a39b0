import { describe, expect, test } from "vitest";
import { add, mul } from "../../src/compute/index.js";
import { bernoulli, normal } from "../../src/design/distribution.js";
import { historyTexts } from "../../src/design/history-file.js";
import { defineModel, oneOf, real, sensitive, target } from "../../src/design/model.js";
import { linearGaussian } from "../../src/design/models/linear-gaussian.js";
import { pharmacokinetics } from "../../src/design/models/pharmacokinetics.js";
import { psychometric } from "../../src/design/models/psychometric.js";
import type { Policy } from "../../src/design/policy.js";
import { type PolicyFile, policyFileTexts } from "../../src/design/policy-file.js";
import { POLICY_KINDS } from "../../src/workflows/policy-defaults.js";
import { runPolicy, runPolicyTexts } from "../../src/workflows/run-policy.js";
import { trainPolicy } from "../../src/workflows/train-policy.js";

const staticFile = (...designs: number[][]): PolicyFile => ({
  kind: "static",
  horizon: designs.length,
  designs,
});

describe("the posterior", () => {
  test("is the conjugate one of a linear-Gaussian model, from the designs that were really used", async () => {
    const session = runPolicy(linearGaussian({ noise: 0.5 }), staticFile([9, 9], [0, 2], [1, 1]));
    await session.next();
    session.tell(1.2, { design: { x: 1, y: 0.5 } });
    session.tell({ outcome: -0.4 }, { design: [0, 2] });
    await session.next();
    session.tell([0.7]);
    expect(session.done).toBe(true);
    expect(session.history).toEqual([
      { design: { x: 1, y: 0.5 }, outcome: { outcome: 1.2 } },
      { design: { x: 0, y: 2 }, outcome: { outcome: -0.4 } },
      { design: { x: 1, y: 1 }, outcome: { outcome: 0.7 } },
    ]);
    // Precision I + sum a a' / noise^2, and its inverse times sum a y / noise^2.
    const rows = [
      [1, 0.5, 1.2],
      [0, 2, -0.4],
      [1, 1, 0.7],
    ];
    const of = (term: (row: number[]) => number) => rows.reduce((total, row) => total + term(row) / 0.25, 0);
    const [a, b, d] = [1 + of(([x]) => x * x), of(([x, y]) => x * y), 1 + of(([, y]) => y * y)];
    const [u, v] = [of(([x, , z]) => x * z), of(([, y, z]) => y * z)];
    const det = a * d - b * b;
    const { parameters } = await session.posterior();
    const expected = {
      theta: { mean: (d * u - b * v) / det, sd: Math.sqrt(d / det), role: "target" },
      phi: { mean: (a * v - b * u) / det, sd: Math.sqrt(a / det), role: "sensitive" },
    };
    for (const name of ["theta", "phi"] as const) {
      const { mean, sd, interval, role } = parameters[name];
      expect(role).toBe(expected[name].role);
      expect(Math.abs(mean - expected[name].mean)).toBeLessThan(0.1 * expected[name].sd);
      expect(Math.abs(sd / expected[name].sd - 1)).toBeLessThan(0.1);
      expect(Math.abs(interval[0] - (expected[name].mean - 1.96 * expected[name].sd))).toBeLessThan(0.2 * sd);
      expect(Math.abs(interval[1] - (expected[name].mean + 1.96 * expected[name].sd))).toBeLessThan(0.2 * sd);
    }
  });

  test("of yes-no answers agrees with quadrature", async () => {
    const designs = [
      [0.5, 0],
      [1.5, 0],
      [-0.5, 0],
    ];
    const answers = [0, 1, 0];
    const session = runPolicy(psychometric(), staticFile(...designs));
    for (const answer of answers) {
      await session.next();
      session.tell(answer);
    }
    // Without context the shift plays no part: the threshold alone, on a grid.
    let [mass, first, second] = [0, 0, 0];
    for (let t = -6; t <= 6; t += 0.001) {
      let weight = Math.exp(-0.5 * t * t);
      for (const [i, [x]] of designs.entries()) {
        const p = 1 / (1 + Math.exp(-2 * (x - t)));
        weight *= answers[i] === 1 ? p : 1 - p;
      }
      mass += weight;
      first += weight * t;
      second += weight * t * t;
    }
    const mean = first / mass;
    const sd = Math.sqrt(second / mass - mean * mean);
    const { threshold, shift } = (await session.posterior()).parameters;
    expect(Math.abs(threshold.mean - mean)).toBeLessThan(0.1 * sd);
    expect(Math.abs(threshold.sd / sd - 1)).toBeLessThan(0.1);
    expect(Math.abs(shift.mean)).toBeLessThan(0.1);
  });

  test("before any observation is the prior", async () => {
    const { parameters } = await runPolicy(linearGaussian({ priorSd: 2 }), staticFile([1, 1])).posterior();
    expect(Math.abs(parameters.theta.mean)).toBeLessThan(0.15);
    expect(Math.abs(parameters.theta.sd / 2 - 1)).toBeLessThan(0.05);
  });
});

describe.each(POLICY_KINDS)("a %s policy", (kind) => {
  const options = { kind, horizon: 3, steps: 5, starts: 1, evaluation: false } as const;
  const answer = (t: number) => [0.4, -0.2, 0.1][t];

  test("goes on from JSON with the same designs, before and after a proposal", async () => {
    const model = pharmacokinetics();
    const policy = await trainPolicy(model, {
      ...options,
      sizes: { outer: 10, contrastive: 10, marginal: 10 },
    });
    const whole = runPolicy(model, policy, { seed: 5 });
    let pieces = runPolicy(model, policy, { seed: 5 });
    for (let t = 0; t < 3; t++) {
      const design = await whole.next();
      expect(await whole.next()).toEqual(design);
      pieces = runPolicy(model, policy, JSON.parse(JSON.stringify(pieces)));
      expect(await pieces.next()).toEqual(design);
      pieces = runPolicy(model, policy, JSON.parse(JSON.stringify(pieces)));
      expect(Object.keys(design)).toEqual(model.design.map(({ name }) => name));
      whole.tell(answer(t));
      // What was proposed before it was stored is what the outcome belongs to.
      pieces.tell(answer(t));
    }
    expect(pieces.toJSON()).toEqual(whole.toJSON());
    expect([whole.done, pieces.done]).toEqual([true, true]);
    expect(await pieces.posterior({ particles: 64 })).toEqual(await whole.posterior({ particles: 64 }));
    await expect(whole.next()).rejects.toThrow(runPolicyTexts.done(3));
    expect(() => whole.tell(0)).toThrow(runPolicyTexts.done(3));
  }, 60_000);
});

test("a policy is never asked past its horizon, nor twice for one observation", async () => {
  const asked: number[] = [];
  const policy: Policy = {
    kind: "random",
    horizon: 2,
    next: ({ steps }) => {
      asked.push(steps);
      return Float64Array.of(1, 0);
    },
  };
  const session = runPolicy(linearGaussian(), policy);
  while (!session.done) {
    await session.next();
    await session.next();
    session.tell(0.1);
  }
  await expect(session.next()).rejects.toThrow(runPolicyTexts.done(2));
  expect(asked).toEqual([0, 1]);
});

describe("what is told", () => {
  const several = defineModel({
    name: "several",
    parameters: { skill: target(normal(0, 1)), group: sensitive(normal(0, 1)) },
    design: { items: oneOf([5, 10, 20]), time: real({ low: 0, high: 60 }) },
    outcome: ({ skill, group }, { time }) => ({
      score: normal(add(skill, mul(0.01, time)), 1),
      passed: bernoulli({ logit: add(skill, group) }),
    }),
  });
  const session = () => runPolicy(several, staticFile([5, 30], [20, 10]));

  test("several outcomes, by name or in order", () => {
    const told = session();
    told.tell({ passed: 1, score: 0.3 }, { design: { time: 12, items: 10 } });
    told.tell([0.5, 0], { design: [5, 1] });
    expect(told.history).toEqual([
      { design: { items: 10, time: 12 }, outcome: { score: 0.3, passed: 1 } },
      { design: { items: 5, time: 1 }, outcome: { score: 0.5, passed: 0 } },
    ]);
  });

  test("nothing changes when it is refused", async () => {
    const told = session();
    expect(() => told.tell(1)).toThrow(runPolicyTexts.notAsked);
    await told.next();
    expect(() => told.tell({ score: 1 })).toThrow(
      historyTexts.missing("the history", 1, "outcome", ["passed"]),
    );
    expect(() => told.tell([1, Number.NaN])).toThrow(/finite/);
    expect(() => told.tell([1, 0], { design: [7, 30] })).toThrow(
      policyFileTexts.outside("the history", 1, "items", 7, "5, 10, 20"),
    );
    expect(told.history).toEqual([]);
    told.tell([1, 0]);
    expect(told.history).toEqual([{ design: { items: 5, time: 30 }, outcome: { score: 1, passed: 0 } }]);
  });

  test("a history that is longer than the policy", () => {
    const history = Array.from({ length: 3 }, () => ({ design: [5, 1], outcome: [0, 1] }));
    expect(() => runPolicy(several, staticFile([5, 30], [20, 10]), { history })).toThrow(
      runPolicyTexts.tooMany(3, 2),
    );
  });

  test("how an outcome is recorded is said", () => {
    expect(runPolicy(pharmacokinetics(), staticFile([1])).outcomes).toEqual([
      { name: "outcome", isLogarithm: true, isYesNo: false },
    ]);
    expect(session().outcomes).toEqual([
      { name: "score", isLogarithm: false, isYesNo: false },
      { name: "passed", isLogarithm: false, isYesNo: true },
    ]);
  });
});
