import { afterAll, describe, expect, test } from "vitest";
import { add, mul, Workspace } from "../../src/compute/index.js";
import { seededStream } from "../../src/core/random.js";
import { logMeanExp } from "../../src/core/stats.js";
import { binomial, categorical, normal, poisson } from "../../src/design/distribution.js";
import { defineModel, type Model, nuisance, real, sensitive, target } from "../../src/design/model.js";
import { linearGaussian } from "../../src/design/models/linear-gaussian.js";
import { locationFinding } from "../../src/design/models/location.js";
import { type Arrays, Nested, nestedTexts } from "../../src/design/nested.js";
import { randomPolicy, simulate } from "../../src/design/policy.js";
import { fromUniform } from "../../src/design/priors.js";
import {
  type Bound,
  GIVEN,
  type Given,
  objectiveQuantity,
  type Quantity,
} from "../../src/design/quantity.js";

const workspace = new Workspace({ threads: 2 });
afterAll(() => workspace.dispose());

const SIZES = { outer: 5, horizon: 3, contrastive: 37, marginal: 23 };
const dependent = defineModel({
  name: "dependent",
  parameters: {
    theta: target(normal(0.5, 1)),
    phi: sensitive(({ theta }) => normal(mul(0.8, theta), 0.6)),
    u: nuisance(({ phi }) => normal(phi, 0.3)),
  },
  design: { x: real(), y: real() },
  outcome: ({ theta, phi, u }, { x, y }) => normal(add(u, add(mul(theta, x), mul(phi, y))), 0.7),
});

/** A batch of experiments with designs that all share, or each its own. */
const batch = async (
  model: Model,
  designs: "shared" | "perOuter",
  given: readonly Given[],
  gradients = false,
) => {
  const stream = seededStream("nested").split(model.name);
  const policy = randomPolicy(model, SIZES.horizon, { mean: 1 });
  const simulation = await simulate(model, policy, { outer: SIZES.outer, stream, workspace });
  const at = Object.fromEntries(
    Object.entries(simulation.designs).map(([name, values]) => [
      name,
      designs === "shared" ? values.slice(0, SIZES.horizon) : values.slice(),
    ]),
  );
  const nested = new Nested({ model, workspace, ...SIZES, designs, given, gradients });
  const { parameters, outcomes } = simulation;
  nested.drawInner(stream.split("inner"), parameters);
  nested.setData(parameters, at, outcomes);
  return { nested, stream, parameters, designs: at, outcomes };
};

const place = (designs: Arrays, outcomes: Arrays, model: Model, b: number, t: number) => {
  const i = b * SIZES.horizon + t;
  const value = (array: ArrayLike<number>) => array[array.length === SIZES.horizon ? t : i];
  return {
    design: Object.fromEntries(model.design.map(({ name }) => [name, value(designs[name])])),
    outcome: Object.fromEntries(model.outcomes.map((name) => [name, outcomes[name][i]])),
  };
};

describe.each(["shared", "perOuter"] as const)("evidences with designs %s", (designs) => {
  test("are log means of likelihoods over fresh samples, and over them with the generating one", async () => {
    const model = linearGaussian({ offset: true });
    const data = await batch(model, designs, GIVEN);
    const { nested, parameters } = data;
    const estimate = nested.evaluate();
    const names = model.parameters.map(({ name }) => name);
    const logLikelihood = (b: number, at: Readonly<Record<string, number>>) => {
      let total = 0;
      for (let t = 0; t < SIZES.horizon; t++) {
        const { design, outcome } = place(data.designs, data.outcomes, model, b, t);
        total += model.logLikelihood(at, design, outcome) as number;
      }
      return total;
    };
    const holds: Record<Given, readonly string[]> = {
      none: [],
      target: ["theta"],
      sensitive: ["phi"],
      both: ["theta", "phi"],
    };
    for (const given of GIVEN) {
      const n = given === "none" ? SIZES.contrastive : SIZES.marginal;
      // The inner samples are drawn as `drawInner` says: normals of the stream named after evidence and parameter.
      const fresh = Object.fromEntries(
        names.map((name) => {
          const own = data.stream.split("inner").split(given).split(name);
          return [name, Float64Array.from({ length: n }, () => own.normal())];
        }),
      );
      for (let b = 0; b < SIZES.outer; b++) {
        const logs = Array.from({ length: n }, (_, s) =>
          logLikelihood(
            b,
            Object.fromEntries(
              names.map((name) => [name, holds[given].includes(name) ? parameters[name][b] : fresh[name][s]]),
            ),
          ),
        );
        const own = logLikelihood(b, Object.fromEntries(names.map((name) => [name, parameters[name][b]])));
        expect(nested.combine(estimate, { [given]: 1 }, "lower")[b]).toBeCloseTo(logMeanExp(logs), 3);
        expect(nested.combine(estimate, { [given]: 1 }, "upper")[b]).toBeCloseTo(
          logMeanExp([own, ...logs]),
          3,
        );
        expect(nested.combine(estimate, { [given]: -2 }, "lower")[b]).toBeCloseTo(
          -2 * logMeanExp([own, ...logs]),
          3,
        );
      }
    }
    nested.dispose();
  });

  test.each<[string, Model, Quantity, Bound]>([
    ["R_c of location finding", locationFinding(), objectiveQuantity("conditional", 0.8), "lower"],
    ["R_u of location finding", locationFinding(), objectiveQuantity("unconditional", 1.5), "lower"],
    ["R_c with a nuisance", linearGaussian({ offset: true }), objectiveQuantity("conditional", 0.8), "lower"],
    ["an upper bound", linearGaussian({ offset: true }), objectiveQuantity("unconditional", 0.5), "upper"],
    ["R_u with dependent priors", dependent, objectiveQuantity("unconditional", 0.5), "lower"],
    ["R_c with dependent priors", dependent, objectiveQuantity("conditional", 0.5), "lower"],
  ])("have the gradient of %s in designs and outcomes", async (_, model, quantity, bound) => {
    const given = Object.keys(quantity) as Given[];
    const data = await batch(model, designs, given, true);
    const { nested } = data;
    const arrays = { ...data.designs, ...data.outcomes };
    const value = nested.bound(quantity, bound);
    const estimate = nested.evaluate();
    const combined = nested.combine(estimate, quantity, bound);
    expect(value).toBeCloseTo(combined.reduce((sum, each) => sum + each, 0) / SIZES.outer, 10);
    nested.bound(quantity, bound);
    for (const [name, array] of Object.entries(arrays)) {
      const gradient = new Float64Array(array.length);
      nested.addGradient(name, gradient);
      // The same samples at moved designs or outcomes: a difference of the very estimate, not of its expectation.
      const h = 5e-3;
      for (const i of [0, array.length - 1]) {
        const at = (step: number) => {
          const moved = array.slice();
          moved[i] += step;
          nested.setData(
            data.parameters,
            { ...data.designs, [name]: moved },
            { ...data.outcomes, [name]: moved },
          );
          return nested.combine(nested.evaluate(), quantity, bound).reduce((sum, each) => sum + each, 0);
        };
        const numeric = (at(h) - at(-h)) / (2 * h) / SIZES.outer;
        expect(Math.abs(gradient[i] - numeric)).toBeLessThan(2e-3 * (1 + Math.abs(numeric)));
      }
      nested.setData(data.parameters, data.designs, data.outcomes);
      nested.bound(quantity, bound);
    }
    nested.dispose();
  });
});

test("a categorical outcome is compared at its own observation", async () => {
  const model = defineModel({
    name: "colours",
    parameters: { theta: target(normal(0, 1)), phi: sensitive(normal(0, 1)) },
    design: { x: real() },
    outcome: ({ theta, phi }, { x }) => categorical({ logits: [theta, mul(x, phi), 0] }),
  });
  const data = await batch(model, "shared", ["target"]);
  const { fresh } = data.nested.evaluate();
  const own = data.stream.split("inner").split("target").split("phi");
  const phis = Array.from({ length: SIZES.marginal }, () => own.normal());
  for (let b = 0; b < SIZES.outer; b++) {
    const logs = phis.map((phi) => {
      let total = 0;
      for (let t = 0; t < SIZES.horizon; t++) {
        const { design, outcome } = place(data.designs, data.outcomes, model, b, t);
        total += model.logLikelihood({ theta: data.parameters.theta[b], phi }, design, outcome) as number;
      }
      return total;
    });
    expect(fresh.target?.[b]).toBeCloseTo(logMeanExp(logs), 4);
  }
  data.nested.dispose();
});

test("the effective number of inner samples is that of their likelihoods", async () => {
  const model = linearGaussian();
  const data = await batch(model, "shared", ["none"]);
  const { none } = await data.nested.effectiveSamples(async () => undefined);
  const theta = data.stream.split("inner").split("none").split("theta");
  const phi = data.stream.split("inner").split("none").split("phi");
  const samples = Array.from({ length: SIZES.contrastive }, () => ({
    theta: theta.normal(),
    phi: phi.normal(),
  }));
  const each = Array.from({ length: SIZES.outer }, (_, b) => {
    const weights = samples.map((sample) => {
      let total = 0;
      for (let t = 0; t < SIZES.horizon; t++) {
        const { design, outcome } = place(data.designs, data.outcomes, model, b, t);
        total += model.logLikelihood(sample, design, outcome) as number;
      }
      return Math.exp(total);
    });
    const sum = weights.reduce((total, w) => total + w, 0);
    return sum ** 2 / weights.reduce((total, w) => total + w * w, 0);
  });
  expect(none).toBeCloseTo(each.sort((a, b) => a - b)[2], 2);
  data.nested.dispose();
});

test("an evidence that was not asked for is not made up", async () => {
  const { nested } = await batch(linearGaussian({ offset: true }), "shared", ["none", "target"]);
  const estimate = nested.evaluate();
  expect(() => nested.combine(estimate, { both: 1, target: -1 }, "lower")).toThrow(
    nestedTexts.notAsked("both"),
  );
  nested.dispose();
});

test("a discrete parameter follows from a uniform number, and a count cannot be among dependent priors", async () => {
  const { support = [], logDensity } = binomial({ trials: 3, logit: 0.4 });
  const n = 10_000;
  const counts = support.map(() => 0);
  for (let i = 0; i < n; i++)
    counts[fromUniform(binomial({ trials: 3, logit: 0.4 }), (i + 0.5) / n) as number]++;
  for (const k of support) expect(counts[k] / n).toBeCloseTo(Math.exp(logDensity(k) as number), 3);
  const model = defineModel({
    name: "count",
    parameters: { theta: target(poisson({ logRate: 1 })), phi: sensitive(({ theta }) => normal(theta, 1)) },
    design: { x: real() },
    outcome: ({ phi }, { x }) => normal(mul(phi, x), 1),
  });
  await expect(batch(model, "shared", ["none"])).rejects.toThrow(nestedTexts.count("theta"));
});
