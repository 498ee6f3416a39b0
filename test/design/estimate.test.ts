import { afterAll, describe, expect, test } from "vitest";
import { add, mul, Workspace } from "../../src/compute/index.js";
import { seededStream } from "../../src/core/random.js";
import { meanEstimate } from "../../src/core/stats.js";
import { bernoulli, normal } from "../../src/design/distribution.js";
import {
  estimatePolicy,
  estimateTexts,
  exactInformation,
  type InformationEstimate,
  type PolicyEstimate,
} from "../../src/design/estimate.js";
import { type EvidenceSamples, estimateQuantity, evidenceTexts } from "../../src/design/evidence-samples.js";
import { fairness, fairnessTexts } from "../../src/design/fairness-measures.js";
import { defineModel, type Model, real, sensitive, target } from "../../src/design/model.js";
import { linearGaussian } from "../../src/design/models/linear-gaussian.js";
import { locationFinding } from "../../src/design/models/location.js";
import { psychometric } from "../../src/design/models/psychometric.js";
import { Nested } from "../../src/design/nested.js";
import { type Policy, randomPolicy, sharedDesigns, simulate, staticPolicy } from "../../src/design/policy.js";
import { GIVEN, INFORMATION, INFORMATION_NAMES, type Quantity } from "../../src/design/quantity.js";

const workspace = new Workspace({ threads: 2 });
afterAll(() => workspace.dispose());
const stream = seededStream("estimate");

/** The mean that an interval is around. */
const middleOf = ({ lower, upper }: InformationEstimate): number => (lower + upper) / 2;

const policyOf = (model: Model, rows: readonly (readonly number[])[]): Policy =>
  staticPolicy(Float64Array.from(rows.flat()), model.design.length);
const DESIGNS = [
  [1, 0.5],
  [0.3, 1],
  [2, -1],
];

const dependent = (order: "theta first" | "phi first"): Model => {
  const theta = normal(0.2, 1);
  return defineModel({
    name: order,
    parameters:
      order === "theta first"
        ? { theta: target(theta), phi: sensitive(({ theta }) => normal(mul(0.8, theta), 0.6)) }
        : { phi: sensitive(theta), theta: target(({ phi }) => normal(mul(0.8, phi), 0.6)) },
    design: { x: real(), y: real() },
    outcome: ({ theta, phi }, { x, y }) => normal(add(mul(theta, x), mul(phi, y)), 1),
  });
};

/** A member of a group has a higher target on average; how the design weighs the group is y. */
const grouped = (order: "theta first" | "group first"): Model =>
  defineModel({
    name: order,
    parameters:
      order === "theta first"
        ? {
            theta: target(normal(0, 1)),
            group: sensitive(({ theta }) => bernoulli({ logit: mul(1.5, theta) })),
          }
        : { group: sensitive(bernoulli({ logit: 0 })), theta: target(({ group }) => normal(group, 1)) },
    design: { x: real(), y: real() },
    outcome: ({ theta, group }, { x, y }) => normal(add(mul(theta, x), mul(group, y)), 0.7),
  });

interface Oracle {
  readonly model: Model;
  readonly policy: Policy;
  /** With errors of its own where the outer expectation is sampled. */
  readonly exact: PolicyEstimate;
}

const oracle = async (model: Model, rows: readonly (readonly number[])[], batches = 60): Promise<Oracle> => {
  const policy = policyOf(model, rows);
  return {
    model,
    policy,
    exact: await exactInformation(model, policy, { stream: stream.split("oracle"), workspace, batches }),
  };
};

const CASES: Record<string, () => Promise<Oracle>> = {
  "linear-Gaussian": () => oracle(linearGaussian(), DESIGNS),
  "linear-Gaussian with a nuisance": () => oracle(linearGaussian({ offset: true }), DESIGNS),
  "linear-Gaussian, phi given theta": () => oracle(dependent("theta first"), DESIGNS),
  "linear-Gaussian, theta given phi": () => oracle(dependent("phi first"), DESIGNS),
  "a group given theta": () => oracle(grouped("theta first"), DESIGNS.slice(0, 2)),
  "theta given a group": () => oracle(grouped("group first"), DESIGNS.slice(0, 2)),
  psychometric: () =>
    oracle(psychometric(), [
      [0, 0],
      [1, 1],
      [-1, 1],
      [0.5, 0],
    ]),
  "location finding": () =>
    oracle(
      locationFinding(),
      [
        [2, 2.5],
        [4, 3],
        [3, 1],
      ],
      10,
    ),
};

describe.each(Object.keys(CASES))("bounds of %s", async (name) => {
  const { model, policy, exact } = await CASES[name]();

  test.each([
    { inner: 30, batches: 40, seed: 1 },
    { inner: 300, batches: 40, seed: 2 },
    { inner: 5000, batches: 40, seed: 3 },
  ])("are on both sides of the exact values with $inner inner samples", async ({ inner, batches, seed }) => {
    const estimate = await estimatePolicy(model, policy, {
      stream: stream.split(seed),
      workspace,
      batches,
      contrastive: inner,
      marginal: inner,
    });
    const check = (
      { lower, upper, lowerError, upperError }: PolicyEstimate["target"],
      truth: PolicyEstimate["target"],
    ) => {
      const error = (own: number) => 3.5 * Math.hypot(own, truth.standardError);
      expect(lower).toBeLessThan(middleOf(truth) + error(lowerError) + 1e-6);
      expect(upper).toBeGreaterThan(middleOf(truth) - error(upperError) - 1e-6);
      expect(lower).toBeLessThanOrEqual(upper + 1e-6);
    };
    for (const each of INFORMATION_NAMES) check(estimate[each], exact[each]);
    for (const kind of ["conditional", "unconditional"] as const) {
      for (const beta of [0.5, 2]) check(estimate.objective(kind, beta), exact.objective(kind, beta));
    }
  });

  test("close in as inner samples are added", async () => {
    const gaps: number[][] = [];
    for (const inner of [20, 200, 2000]) {
      const { diagnostics } = await estimatePolicy(model, policy, {
        stream: stream.split("gap"),
        workspace,
        batches: 20,
        contrastive: inner,
        marginal: inner,
      });
      gaps.push(INFORMATION_NAMES.map((each) => diagnostics.gap[each] ?? Number.NaN));
    }
    for (const k of INFORMATION_NAMES.keys()) {
      // Where there is nothing to learn the bounds agree at once.
      if (gaps[0][k] < 1e-3) continue;
      expect(gaps[1][k]).toBeLessThan(gaps[0][k] / 2);
      expect(gaps[2][k]).toBeLessThan(gaps[1][k] / 2);
    }
  });
});

describe("recipes that are not bounds", async () => {
  // Few inner samples where a recipe goes wrong, many where it does not.
  const model = linearGaussian({ offset: true });
  const policy = policyOf(model, DESIGNS);
  const exact = await exactInformation(model, policy, { stream, workspace });
  const sample = async (contrastive: number, marginal: number) => {
    const outer = 100;
    const batches = 30;
    const nested = new Nested({
      model,
      workspace,
      outer,
      horizon: 3,
      contrastive,
      marginal,
      designs: "shared",
      given: GIVEN,
      gradients: false,
    });
    /** Means over batches of the evidences with and without the generating sample. */
    const means: Record<string, { readonly fresh: number; readonly own: number }>[] = [];
    for (let i = 0; i < batches; i++) {
      const own = stream.split("recipes").split(i);
      const { parameters, outcomes } = await simulate(model, policy, { outer, stream: own, workspace });
      nested.drawInner(own.split("inner"), parameters);
      nested.setData(parameters, sharedDesigns(model, policy) ?? {}, outcomes);
      const estimate = nested.evaluate();
      const mean = (quantity: Quantity, bound: "lower" | "upper") =>
        nested.combine(estimate, quantity, bound).reduce((sum, value) => sum + value, 0) / outer;
      means.push(
        Object.fromEntries(
          GIVEN.map((given) => [
            given,
            { fresh: mean({ [given]: 1 }, "lower"), own: mean({ [given]: 1 }, "upper") },
          ]),
        ),
      );
    }
    nested.dispose();
    return (of: (evidences: (typeof means)[number]) => number) => meanEstimate(means.map(of));
  };

  test("the generating phi in p(D | theta) and psi in p(D): above EIG_theta", async () => {
    const over = await sample(5000, 5);
    const truth = exact.target.lower;
    const wrong = over(({ target, none }) => target.own - none.own);
    expect(wrong.mean - 3.5 * wrong.standardError).toBeGreaterThan(truth);
    const right = over(({ target, none }) => target.fresh - none.own);
    expect(right.mean - 3.5 * right.standardError).toBeLessThan(truth);
  });

  test("fresh samples in both: not an upper bound", async () => {
    const over = await sample(5000, 5);
    const wrong = over(({ target, none }) => target.fresh - none.fresh);
    expect(wrong.mean + 3.5 * wrong.standardError).toBeLessThan(exact.target.lower);
  });

  test("fresh samples in p(D), as in an upper bound: above EIG_theta", async () => {
    const over = await sample(5, 5000);
    const wrong = over(({ target, none }) => target.fresh - none.fresh);
    expect(wrong.mean - 3.5 * wrong.standardError).toBeGreaterThan(exact.target.lower);
  });

  test("the leakage given the target from fresh samples: above it", async () => {
    const over = await sample(5, 5);
    const wrong = over(({ both, target }) => both.fresh - target.fresh);
    expect(wrong.mean - 3.5 * wrong.standardError).toBeGreaterThan(exact.sensitiveGivenTarget.lower);
  });

  test("lower minus beta times lower: not below R_c", async () => {
    const over = await sample(5000, 5);
    const beta = 3;
    const wrong = over(
      ({ target, none, both }) => target.fresh - none.own - beta * (both.fresh - target.own),
    );
    expect(wrong.mean - 3.5 * wrong.standardError).toBeGreaterThan(
      exact.objective("conditional", beta).lower,
    );
  });
});

describe("errors", () => {
  const exact: Quantity = { both: 1, none: -1 };
  const made = (values: readonly number[], batches: number): EvidenceSamples => {
    const both = Float64Array.from(values);
    const none = new Float64Array(values.length);
    return {
      under: { both, none },
      over: { both, none },
      batches,
      outer: values.length / batches,
      experiments: "bounded",
    };
  };

  test("are those of batch means where there are enough batches", () => {
    // Batches of two equal values: 8 independent numbers, not 16.
    const means = [1, 3, 2, 5, 4, 0, 6, 3];
    const { lower, standardError, interval } = estimateQuantity(
      made(
        means.flatMap((m) => [m, m]),
        8,
      ),
      exact,
    );
    const expected = meanEstimate(means);
    expect(lower).toBeCloseTo(expected.mean, 12);
    expect(standardError).toBeCloseTo(expected.standardError, 12);
    expect(interval[0]).toBeCloseTo(expected.interval[0], 12);
    expect(interval[1]).toBeCloseTo(expected.interval[1], 12);
  });

  test("are the larger of two with few batches, and over experiments with one", () => {
    const values = [1, 2, 3, 11, 12, 13];
    expect(estimateQuantity(made(values, 2), exact).standardError).toBeCloseTo(5, 12);
    expect(estimateQuantity(made(values, 1), exact).standardError).toBeCloseTo(
      meanEstimate(values).standardError,
      12,
    );
    const alike = [1, 5, 3, 3, 1, 5];
    expect(estimateQuantity(made(alike, 2), exact).standardError).toBeCloseTo(
      meanEstimate(alike).standardError,
      12,
    );
    expect(estimateQuantity(made([2], 1), exact).standardError).toBe(0);
  });

  test("are of the size of what happens with other seeds", async () => {
    const model = linearGaussian();
    const estimates: InformationEstimate[] = [];
    for (let seed = 0; seed < 30; seed++) {
      const { target } = await estimatePolicy(model, policyOf(model, DESIGNS), {
        stream: stream.split("seeds").split(seed),
        workspace,
        batches: 20,
        outer: 50,
        contrastive: 60,
        marginal: 60,
      });
      estimates.push(target);
    }
    const spread = meanEstimate(estimates.map(({ lower }) => lower)).standardError * Math.sqrt(30);
    const claimed = meanEstimate(estimates.map(({ lowerError }) => lowerError)).mean;
    expect(claimed / spread).toBeGreaterThan(0.7);
    expect(claimed / spread).toBeLessThan(1.5);
  });
});

describe("an estimate", () => {
  const model = linearGaussian();
  const policy = policyOf(model, DESIGNS);
  const small = { workspace, batches: 3, outer: 20, contrastive: 200, marginal: 100 };

  test("is the same on any number of threads", async () => {
    const run = async (threads: number) => {
      const own = new Workspace({ threads });
      const { target, joint } = await estimatePolicy(model, policy, { ...small, stream, workspace: own });
      own.dispose();
      return { target, joint };
    };
    expect(await run(2)).toEqual(await run(1));
  });

  test("has the same experiments and inner samples, whether designs are shared or not", async () => {
    const adaptive: Policy = { kind: "greedy", horizon: 3, next: policy.next };
    const shared = await estimatePolicy(model, policy, { ...small, stream });
    const perOuter = await estimatePolicy(model, adaptive, { ...small, stream });
    for (const name of INFORMATION_NAMES) expect(perOuter[name].lower).toBeCloseTo(shared[name].lower, 4);
  });

  test("of some names has those alone", async () => {
    const estimate = await estimatePolicy(model, policy, {
      ...small,
      stream,
      names: ["sensitiveGivenTarget"],
    });
    expect("target" in estimate).toBe(false);
    const all = await estimatePolicy(model, policy, { ...small, stream });
    expect(estimate.sensitiveGivenTarget).toEqual(all.sensitiveGivenTarget);
    expect(() => estimate.objective("conditional", 1)).toThrow(evidenceTexts.missing("none"));
  });

  test("has ratios as intervals and in the paper's form", async () => {
    const {
      target,
      sensitive: phi,
      sensitiveGivenTarget,
      ratios,
    } = await estimatePolicy(model, policy, {
      ...small,
      stream,
    });
    expect(ratios.sensitive.interval).toEqual([phi.lower / target.upper, phi.upper / target.lower]);
    expect(ratios.sensitive.paper).toBe(phi.lower / target.lower);
    expect(ratios.sensitiveGivenTarget.paper).toBe(sensitiveGivenTarget.lower / target.lower);
    const exact = await exactInformation(model, policy, { stream, workspace });
    expect(exact.ratios.sensitive.interval[0]).toBe(exact.ratios.sensitive.paper);
    expect(exact.ratios.sensitive.paperError).toBe(0);
  });

  test("says when the number of inner samples is what limits it", async () => {
    const precise = linearGaussian({ noise: 0.001 });
    const estimate = await estimatePolicy(precise, policyOf(precise, DESIGNS), { ...small, stream });
    // log det with variances 1e-6: about 13 nats, and log 201 is 5.3.
    expect(estimate.joint.lower).toBeLessThan(Math.log(201) + 1e-9);
    expect(estimate.diagnostics.ceiling).toContain("joint");
    expect(estimate.warnings).toContain(
      estimateTexts.ceiling("joint", estimate.joint.lower, Math.log(201), 200),
    );
    expect(estimate.diagnostics.effectiveSamples.none).toBeLessThan(3);
    const plenty = await estimatePolicy(model, policy, {
      ...small,
      batches: 8,
      contrastive: 20_000,
      marginal: 20_000,
      stream,
    });
    expect(plenty.diagnostics.ceiling).toEqual([]);
    expect(plenty.warnings).toEqual([]);
    expect(plenty.diagnostics.effectiveSamples.none).toBeGreaterThan(1000);
  });

  test("of one batch says what its errors leave out", async () => {
    expect((await estimatePolicy(model, policy, { ...small, batches: 1, stream })).warnings).toContain(
      estimateTexts.oneBatch,
    );
  });

  test("refuses sizes, designs and betas that cannot be", async () => {
    const run = (change: object) => estimatePolicy(model, policy, { ...small, stream, ...change });
    await expect(run({ outer: 1 })).rejects.toThrow(estimateTexts.whole("outer", 1, 2));
    await expect(run({ batches: 0 })).rejects.toThrow(estimateTexts.whole("batches", 0, 1));
    await expect(run({ contrastive: 1.5 })).rejects.toThrow(estimateTexts.whole("contrastive", 1.5, 1));
    await expect(run({ marginal: Number.NaN })).rejects.toThrow(
      estimateTexts.whole("marginal", Number.NaN, 1),
    );
    const wide = staticPolicy(new Float64Array(9), 3);
    await expect(estimatePolicy(model, wide, { ...small, stream })).rejects.toThrow(
      estimateTexts.width(3, 2),
    );
    await expect(exactInformation(model, [[1, 2], [3]], { stream, workspace })).rejects.toThrow(
      estimateTexts.width(1, 2),
    );
    const estimate = await estimatePolicy(model, policy, { ...small, stream });
    expect(() => estimate.objective("conditional", -1)).toThrow(evidenceTexts.beta(-1));
  });

  test("has its own workspace where none is given", async () => {
    const { workspace: _, ...rest } = small;
    const estimate = await estimatePolicy(model, policy, { ...rest, threads: 1, stream });
    expect(estimate.method).toBe("nested sampling");
  });
});

describe("fairness", () => {
  // The sensitive part weighs twice as much in the second model: the same design gives away more.
  const twice = defineModel({
    name: "twice",
    parameters: { theta: target(normal(0, 1)), phi: sensitive(normal(0, 2)) },
    design: { x: real(), y: real() },
    outcome: ({ theta, phi }, { x, y }) => normal(add(mul(theta, x), mul(phi, y)), 1),
  });
  const models = { once: linearGaussian(), twice };
  const policy = policyOf(twice, [[1, 1]]);

  test.each([
    ["conditional", 0.5 * Math.log(5)],
    ["unconditional", 0.5 * Math.log(6 / 2)],
  ] as const)("%s is minus the most that any of the models gives away", async (kind, leakage) => {
    const exact = await fairness({ models, policy, kind, stream, workspace, exact: true });
    expect(exact.worst).toBe("twice");
    expect(exact.fairness.lower).toBeCloseTo(-leakage, 12);
    expect(exact.fairness.upper).toBeCloseTo(-leakage, 12);
    expect(exact.contenders).toEqual([]);
    const bounds = await fairness({
      models,
      policy,
      kind,
      stream,
      workspace,
      batches: 20,
      contrastive: 500,
      marginal: 500,
    });
    expect(bounds.worst).toBe("twice");
    const slack = 3.5 * bounds.fairness.standardError;
    expect(bounds.fairness.lower).toBeLessThan(-leakage + slack);
    expect(bounds.fairness.upper).toBeGreaterThan(-leakage - slack);
    expect(bounds.leakage.lower).toBeGreaterThanOrEqual(bounds.models.once.lower);
  });

  test("names those that may as well be the worst", async () => {
    const same = { one: linearGaussian(), other: linearGaussian() };
    const { worst, contenders } = await fairness({
      models: same,
      policy,
      kind: "conditional",
      stream,
      workspace,
      exact: true,
    });
    expect([worst, ...contenders].sort()).toEqual(["one", "other"]);
  });

  test("needs models that the policy fits", async () => {
    const run = (given: Readonly<Record<string, Model>>) =>
      fairness({ models: given, policy, kind: "conditional", stream, workspace });
    await expect(run({})).rejects.toThrow(fairnessTexts.noModels);
    await expect(run({ once: linearGaussian(), psychometric: psychometric() })).rejects.toThrow(
      fairnessTexts.variables("psychometric", ["intensity", "context", "outcome"], "once", [
        "x",
        "y",
        "outcome",
      ]),
    );
  });
});

test("ten readings of location finding: the same experiments by sampling and by quadrature", async () => {
  const model = locationFinding();
  const policy = policyOf(
    model,
    Array.from({ length: 10 }, (_, t) => [1 + 0.4 * t, 1.2 + 0.4 * t]),
  );
  const same = { stream: stream.split("ten"), workspace, batches: 2 };
  const exact = await exactInformation(model, policy, same);
  const nested = await estimatePolicy(model, policy, { ...same, contrastive: 50_000, marginal: 20_000 });
  expect(exact.method).toBe("quadrature of sampled experiments");
  expect(exact.diagnostics.discretisation).toBeLessThan(0.005);
  // What is left is the error of the inner estimate: far below the standard error over experiments.
  for (const name of INFORMATION_NAMES) {
    expect(Math.abs(nested[name].lower - middleOf(exact[name]))).toBeLessThan(0.01);
    expect(Math.abs(nested[name].upper - middleOf(exact[name]))).toBeLessThan(0.01);
    expect(exact[name].standardError).toBeGreaterThan(0.03);
  }
});

test("random designs for location finding have the ratios of the paper's Table 1", async () => {
  const model = locationFinding();
  const {
    ratios,
    target,
    sensitive: phi,
  } = await estimatePolicy(model, randomPolicy(model, 10), {
    stream: stream.split("table 1"),
    workspace,
    batches: 100,
    contrastive: 4000,
    marginal: 2000,
  });
  // The prior and the designs are symmetric in the two coordinates, so the first ratio is 1; the paper has 1.009.
  expect(Math.abs(ratios.sensitive.paper - 1)).toBeLessThan(3 * ratios.sensitive.paperError);
  expect(Math.abs(ratios.sensitiveGivenTarget.paper - 1.402)).toBeLessThan(
    3 * ratios.sensitiveGivenTarget.paperError + 0.05,
  );
  expect(ratios.sensitive.paperError).toBeLessThan(0.06);
  expect(target.upper - target.lower).toBeLessThan(0.02);
  expect(phi.upper - phi.lower).toBeLessThan(0.02);
});

test("every quantity is a sum of evidences whose coefficients add up to 0", () => {
  for (const quantity of Object.values(INFORMATION)) {
    expect(Object.values(quantity).reduce((sum: number, value) => sum + value, 0)).toBe(0);
  }
});
