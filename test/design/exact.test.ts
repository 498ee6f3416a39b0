import { afterAll, describe, expect, test } from "vitest";
import { add, mul, sub, type Value, Workspace } from "../../src/compute/index.js";
import { seededStream } from "../../src/core/random.js";
import {
  bernoulli,
  binomial,
  categorical,
  normal,
  studentT,
  uniform,
} from "../../src/design/distribution.js";
import { exactInformation, type InformationEstimate } from "../../src/design/estimate.js";
import { enumerate } from "../../src/design/exact/enumeration.js";
import { exactTexts } from "../../src/design/exact/exact.js";
import { axisOf, tensor } from "../../src/design/exact/grid.js";
import { quadrature } from "../../src/design/exact/quadrature.js";
import { defineModel, type Model, nuisance, real, sensitive, target } from "../../src/design/model.js";
import { linearGaussian } from "../../src/design/models/linear-gaussian.js";
import { locationFinding } from "../../src/design/models/location.js";
import { pharmacokinetics } from "../../src/design/models/pharmacokinetics.js";
import { psychometric } from "../../src/design/models/psychometric.js";
import { type Policy, randomPolicy, simulate, staticPolicy } from "../../src/design/policy.js";
import { GIVEN, INFORMATION_NAMES } from "../../src/design/quantity.js";

const workspace = new Workspace({ threads: 2 });
afterAll(() => workspace.dispose());
const options = { stream: seededStream("exact"), workspace };
const halfLog = (x: number) => 0.5 * Math.log(x);

/** The mean that an interval is around. */
const middleOf = ({ lower, upper }: InformationEstimate): number => (lower + upper) / 2;

describe("the closed form", () => {
  test("of one observation of the linear-Gaussian model", async () => {
    const [x, y] = [1.3, -0.7];
    const exact = await exactInformation(linearGaussian(), [[x, y]], options);
    expect(exact.method).toBe("closed form");
    expect(exact.target.lower).toBeCloseTo(halfLog((x * x + y * y + 1) / (y * y + 1)), 12);
    expect(exact.sensitive.lower).toBeCloseTo(halfLog((x * x + y * y + 1) / (x * x + 1)), 12);
    expect(exact.sensitiveGivenTarget.lower).toBeCloseTo(halfLog(y * y + 1), 12);
    expect(exact.joint.lower).toBeCloseTo(halfLog(x * x + y * y + 1), 12);
    for (const name of INFORMATION_NAMES) {
      expect(exact[name].upper).toBe(exact[name].lower);
      expect(exact[name].standardError).toBe(0);
    }
    const leakage = halfLog(y * y + 1);
    expect(exact.objective("conditional", 0.8).lower).toBeCloseTo(exact.target.lower - 0.8 * leakage, 12);
    expect(exact.ratios.sensitiveGivenTarget.paper).toBeCloseTo(leakage / exact.target.lower, 12);
    expect(exact.warnings).toEqual([]);
  });

  test("with noise, prior and an offset that is a nuisance", async () => {
    const [x, y, noise, sd] = [0.8, 1.1, 0.5, 1.5];
    const exact = await exactInformation(
      linearGaussian({ noise, priorSd: sd, offset: true }),
      [[x, y]],
      options,
    );
    const [v, s] = [noise * noise, sd * sd];
    expect(exact.target.lower).toBeCloseTo(
      halfLog((s * (x * x + y * y + 1) + v) / (s * (y * y + 1) + v)),
      12,
    );
    expect(exact.sensitiveGivenTarget.lower).toBeCloseTo(halfLog((s * (y * y + 1) + v) / (s + v)), 12);
  });

  test("of two observations, by a determinant of two rows", async () => {
    const designs = [
      [1, 0.5],
      [-0.3, 2],
    ] as const;
    const [[a, b], [c, d]] = designs;
    const full = (1 + a * a + b * b) * (1 + c * c + d * d) - (a * c + b * d) ** 2;
    const givenTarget = (1 + b * b) * (1 + d * d) - (b * d) ** 2;
    const exact = await exactInformation(linearGaussian(), designs, options);
    expect(exact.target.lower).toBeCloseTo(halfLog(full / givenTarget), 12);
    expect(exact.joint.lower).toBeCloseTo(halfLog(full), 12);
  });

  test.each(["phi after theta", "theta after phi"])("with correlated priors, %s", async (order) => {
    const rho = 0.6;
    const rest = Math.sqrt(1 - rho * rho);
    const theta = {
      first: target(normal(1, 1)),
      given: target(({ phi }) => normal(add(1, mul(rho, phi)), rest)),
    };
    const phi = {
      first: sensitive(normal(0, 1)),
      given: sensitive(({ theta }) => normal(mul(rho, sub(theta, 1)), rest)),
    };
    const model = defineModel({
      name: "correlated",
      parameters:
        order === "phi after theta"
          ? { theta: theta.first, phi: phi.given }
          : { phi: phi.first, theta: theta.given },
      design: { x: real(), y: real() },
      outcome: ({ theta, phi }, { x, y }) => normal(add(mul(theta, x), mul(phi, y)), 1),
    });
    const [x, y] = [1.2, 0.9];
    const exact = await exactInformation(model, [[x, y]], options);
    const all = 1 + x * x + y * y + 2 * rho * x * y;
    expect(exact.method).toBe("closed form");
    expect(exact.target.lower).toBeCloseTo(halfLog(all / (1 + y * y * rest * rest)), 12);
    expect(exact.sensitive.lower).toBeCloseTo(halfLog(all / (1 + x * x * rest * rest)), 12);
    expect(exact.sensitiveGivenTarget.lower).toBeCloseTo(halfLog(1 + y * y * rest * rest), 12);
  });

  test("does not take a model for linear that is not", async () => {
    expect((await exactInformation(locationFinding(), [[1, 1]], { ...options, batches: 1 })).method).toBe(
      "quadrature of sampled experiments",
    );
  });
});

describe("quadrature", () => {
  test("has weights that sum to 1 and the moments of a normal distribution", () => {
    const { points, logWeights } = axisOf(linearGaussian(), "theta", 97);
    const moment = (k: number) => points.reduce((sum, z, i) => sum + z ** k * Math.exp(logWeights[i]), 0);
    [1, 0, 1, 0, 3, 0, 15].forEach((expected, k) => {
      expect(moment(k)).toBeCloseTo(expected, 3);
    });
    const axes = [axisOf(linearGaussian(), "theta", 5), axisOf(linearGaussian(), "phi", 7)];
    const grid = tensor(axes);
    expect(grid.logWeights).toHaveLength(35);
    expect(grid.logWeights.reduce((sum, value) => sum + Math.exp(value), 0)).toBeCloseTo(1, 12);
    expect([grid.points.theta[8], grid.points.phi[8]]).toEqual([axes[0].points[1], axes[1].points[1]]);
  });

  test("gives the evidences of location finding that a plain double loop gives", async () => {
    const model = locationFinding();
    const designs = Float64Array.of(2, 2.5, 4, 3, 3, 1);
    const policy = staticPolicy(designs, 2);
    const outer = 3;
    const data = await simulate(model, policy, { outer, stream: seededStream(3), workspace });
    const logLikelihood = (b: number, theta: number, phi: number) => {
      let total = 0;
      for (let t = 0; t < 3; t++) {
        total += model.logLikelihood(
          { theta, phi },
          { x: designs[2 * t], y: designs[2 * t + 1] },
          { outcome: data.outcomes.outcome[b * 3 + t] },
        ) as number;
      }
      return total;
    };
    // The midpoint rule on 240 points over 6 standard deviations either way, in float64.
    const n = 240;
    const z = Array.from({ length: n }, (_, i) => -6 + (12 * (i + 0.5)) / n);
    const weight = (x: number) => (Math.exp(-0.5 * x * x) / Math.sqrt(2 * Math.PI)) * (12 / n);
    for (const given of ["none", "target", "both"] as const) {
      const grid = quadrature({ model, workspace, given, outer, horizon: 3, designs: "perOuter" });
      const pause = async () => undefined;
      await grid.refine(data, pause);
      const values = await grid.evaluate(data, pause);
      expect(grid.discretisation).toBeLessThan(1e-3);
      for (let b = 0; b < outer; b++) {
        let sum = 0;
        const [theta, phi] = [data.parameters.theta[b], data.parameters.phi[b]];
        if (given === "both") sum = Math.exp(logLikelihood(b, theta, phi));
        else
          for (const v of z) {
            if (given === "target") sum += weight(v) * Math.exp(logLikelihood(b, theta, 3 + v));
            else for (const w of z) sum += weight(v) * weight(w) * Math.exp(logLikelihood(b, 3 + v, 3 + w));
          }
        expect(values[b]).toBeCloseTo(Math.log(sum), 3);
      }
      grid.dispose();
    }
  });

  const designs = [
    [1, 0.5],
    [0.3, 1],
    [2, -1],
  ];
  const dependent = (order: "theta first" | "phi first"): Model => {
    const outcome = {
      design: { x: real(), y: real() },
      outcome: (
        { theta, phi }: Readonly<Record<"theta" | "phi", Value>>,
        { x, y }: Readonly<Record<"x" | "y", Value>>,
      ) => normal(add(mul(theta, x), mul(phi, y)), 1),
    };
    return order === "theta first"
      ? defineModel({
          name: "theta first",
          parameters: {
            theta: target(normal(0, 1)),
            phi: sensitive(({ theta }) => normal(mul(0.8, theta), 0.6)),
          },
          ...outcome,
        })
      : defineModel({
          name: "phi first",
          parameters: {
            phi: sensitive(normal(0, 1)),
            theta: target(({ phi }) => normal(mul(0.8, phi), 0.6)),
          },
          ...outcome,
        });
  };

  test.each<[string, Model]>([
    ["two parameters", linearGaussian()],
    ["a nuisance", linearGaussian({ offset: true })],
    ["a prior of phi given theta", dependent("theta first")],
    ["a prior of theta given phi", dependent("phi first")],
  ])("agrees with the closed form within its error: %s", async (_, model) => {
    const closed = await exactInformation(model, designs, options);
    const grid = await exactInformation(model, designs, { ...options, exact: "quadrature", batches: 10 });
    expect([closed.method, grid.method]).toEqual(["closed form", "quadrature of sampled experiments"]);
    expect(grid.diagnostics.discretisation).toBeLessThan(1e-3);
    for (const name of INFORMATION_NAMES) {
      expect(Math.abs(middleOf(grid[name]) - closed[name].lower)).toBeLessThan(
        3.5 * grid[name].standardError,
      );
    }
  });

  test("takes uniform priors and parameters with finitely many values", async () => {
    // y = group + noise: the information about the group is that of a mixture of two normals.
    const model = defineModel({
      name: "group",
      parameters: { theta: target(uniform(-1, 1)), group: sensitive(bernoulli({ logit: 0.4 })) },
      design: { x: real() },
      outcome: ({ group }, { x }) => normal(mul(group, x), 0.5),
    });
    const exact = await exactInformation(model, [[1]], { ...options, batches: 40 });
    const p = 1 / (1 + Math.exp(-0.4));
    const density = (y: number, mean: number) =>
      Math.exp(-2 * (y - mean) ** 2) / (0.5 * Math.sqrt(2 * Math.PI));
    let information = 0;
    for (let y = -5; y < 6; y += 1e-3) {
      const mixed = (1 - p) * density(y, 0) + p * density(y, 1);
      information += 1e-3 * (1 - p) * density(y, 0) * Math.log(density(y, 0) / mixed);
      information += 1e-3 * p * density(y, 1) * Math.log(density(y, 1) / mixed);
    }
    expect(Math.abs(middleOf(exact.sensitive) - information)).toBeLessThan(
      3.5 * exact.sensitive.standardError,
    );
    expect(Math.abs(exact.target.lower)).toBeLessThan(1e-5);
  });

  test("says so where the grid is too coarse", async () => {
    const model = defineModel({
      name: "sharp",
      parameters: {
        theta: target(normal(0, 1)),
        phi: sensitive(normal(0, 1)),
        u: nuisance(normal(0, 1)),
      },
      design: { x: real() },
      outcome: ({ theta, phi, u }, { x }) => normal(mul(x, add(theta, add(phi, u))), 1e-3),
    });
    const { diagnostics, warnings } = await exactInformation(model, [[1]], {
      ...options,
      batches: 1,
      exact: "quadrature",
    });
    expect(diagnostics.discretisation).toBeGreaterThan(0.01);
    expect(warnings.join()).toMatch(/the grid of the quadrature is coarse/);
  });
});

describe("enumeration", () => {
  /** Integrals against N(0, 1), by the trapezoidal rule. */
  const expectation = (of: (z: number) => number) => {
    let total = 0;
    for (let z = -9; z <= 9; z += 0.01)
      total += (0.01 * of(z) * Math.exp(-0.5 * z * z)) / Math.sqrt(2 * Math.PI);
    return total;
  };
  const entropy = (p: number) => (p <= 0 || p >= 1 ? 0 : -p * Math.log(p) - (1 - p) * Math.log(1 - p));
  const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));

  test("of one answer of the psychometric model is a difference of entropies", async () => {
    const exact = await exactInformation(psychometric(), [[0, 0]], options);
    expect(exact.method).toBe("enumeration");
    // Noticed with probability 1/2 by symmetry, and with sigmoid(-2 theta) given theta; the shift plays no part.
    expect(exact.target.lower).toBeCloseTo(Math.LN2 - expectation((z) => entropy(sigmoid(2 * z))), 6);
    expect(exact.sensitive.lower).toBeCloseTo(0, 8);
    expect(exact.sensitiveGivenTarget.lower).toBeCloseTo(0, 8);
    expect(exact.target.standardError).toBe(0);
  });

  test("with threshold and shift mixed in full", async () => {
    const exact = await exactInformation(psychometric(), [[0.7, 1]], options);
    const given = (z: number) => expectation((w) => sigmoid(2 * (0.7 - z - w)));
    const marginal = expectation(given);
    const jointEntropy = expectation((z) => expectation((w) => entropy(sigmoid(2 * (0.7 - z - w)))));
    const givenEntropy = expectation((z) => entropy(given(z)));
    expect(exact.target.lower).toBeCloseTo(entropy(marginal) - givenEntropy, 5);
    expect(exact.sensitiveGivenTarget.lower).toBeCloseTo(givenEntropy - jointEntropy, 5);
    expect(exact.joint.lower).toBeCloseTo(entropy(marginal) - jointEntropy, 5);
  });

  test("agrees with quadrature over simulated answers, for several outcomes of several values", async () => {
    const model = defineModel({
      name: "answers",
      parameters: { theta: target(normal(0, 1)), phi: sensitive(normal(0.3, 0.8)) },
      design: { x: real() },
      outcome: ({ theta, phi }, { x }) => ({
        score: binomial({ trials: 2, logit: mul(x, theta) }),
        colour: categorical({ logits: [theta, mul(x, phi), 0] }),
      }),
    });
    const designs = [[1], [-0.5]];
    const exact = await exactInformation(model, designs, options);
    expect(exact.method).toBe("enumeration");
    const sampled = await exactInformation(model, designs, { ...options, exact: "quadrature", batches: 20 });
    for (const name of INFORMATION_NAMES) {
      expect(Math.abs(middleOf(sampled[name]) - exact[name].lower)).toBeLessThan(
        3.5 * sampled[name].standardError,
      );
    }
  });

  test("follows a policy that looks at the answers", async () => {
    // The intensity goes down after a 1 and up after a 0, which binary search does; nothing is drawn.
    const model = psychometric();
    const adaptive: Policy = {
      kind: "dad",
      horizon: 3,
      next: ({ outer, steps, outcomes }) =>
        Float64Array.from({ length: outer * 2 }, (_, i) => {
          const b = Math.floor(i / 2);
          if (i % 2 === 1) return 0;
          let intensity = 0;
          for (let t = 0; t < steps; t++) intensity += (outcomes[b * steps + t] === 1 ? -1 : 1) / 2 ** t;
          return intensity;
        }),
    };
    const exact = await exactInformation(model, adaptive, options);
    expect(exact.method).toBe("enumeration");
    const sampled = await exactInformation(model, adaptive, { ...options, exact: "quadrature", batches: 20 });
    expect(Math.abs(middleOf(sampled.target) - exact.target.lower)).toBeLessThan(
      3.5 * sampled.target.standardError,
    );
    // Looking helps.
    const fixed = await exactInformation(model, staticPolicy(new Float64Array(6), 2), options);
    expect(exact.target.lower).toBeGreaterThan(fixed.target.lower);
  });

  test("has probabilities that sum to 1: the evidence of everything held is minus the entropy", async () => {
    // Ten tosses of a fair coin, whatever the parameters.
    const model = defineModel({
      name: "coin",
      parameters: { theta: target(normal(0, 1)), phi: sensitive(normal(0, 1)) },
      design: { x: real() },
      outcome: (_, { x }) => bernoulli({ logit: mul(0, x) }),
    });
    const { expected, sequences } = await enumerate({
      model,
      policy: staticPolicy(new Float64Array(10), 1),
      given: GIVEN,
    });
    expect(sequences).toBe(1024);
    for (const given of GIVEN) expect(expected[given]).toBeCloseTo(-10 * Math.LN2, 8);
  });
});

test("what applies is chosen, and where nothing does that is said", async () => {
  const pk = await exactInformation(pharmacokinetics(), [[1], [6]], { ...options, batches: 1, outer: 20 });
  expect(pk.method).toBe("quadrature of sampled experiments");
  const many = locationFinding({ sources: 2 });
  await expect(exactInformation(many, [[1, 1]], options)).rejects.toThrow(exactTexts.none("location"));
  const heavy = defineModel({
    name: "heavy",
    parameters: {
      theta: target(studentT({ freedom: 3, location: 0, scale: 1 })),
      phi: sensitive(normal(0, 1)),
    },
    design: { x: real() },
    outcome: ({ theta, phi }, { x }) => normal(add(theta, mul(phi, x)), 1),
  });
  await expect(exactInformation(heavy, [[1]], options)).rejects.toThrow(exactTexts.none("heavy"));
  // Random designs: no closed form, but a grid for every experiment.
  const random = await exactInformation(linearGaussian(), randomPolicy(linearGaussian(), 2), {
    ...options,
    batches: 1,
  });
  expect(random.method).toBe("quadrature of sampled experiments");
});
