import { describe, expect, test } from "vitest";
import { add, mul } from "../../src/compute/index.js";
import { normalCdf } from "../../src/core/math.js";
import { bernoulli, normal } from "../../src/design/distribution.js";
import { greedyPolicy } from "../../src/design/greedy.js";
import { defineModel, nuisance, real, sensitive, target } from "../../src/design/model.js";
import { linearGaussian } from "../../src/design/models/linear-gaussian.js";
import { locationFinding } from "../../src/design/models/location.js";
import { psychometric } from "../../src/design/models/psychometric.js";
import { roleTexts } from "../../src/design/parity/by-role.js";
import { predictionTexts } from "../../src/design/parity/predictions.js";
import { checkParity, type Parity, type ParityOptions, parityTexts } from "../../src/design/parity.js";
import { type Policy, randomPolicy, staticPolicy } from "../../src/design/policy.js";

const designs = (...rows: readonly (readonly number[])[]): Policy =>
  staticPolicy(Float64Array.from(rows.flat()), rows[0].length);

/** Distance between the 10 % and 90 % quantiles of N(0, 1). */
const APART = 2 * 1.2815515655446004;
/** Total variation between N(a, sd^2) and N(a + shift, sd^2). */
const variation = (shift: number, sd: number) => 2 * normalCdf(Math.abs(shift) / (2 * sd)) - 1;

const linear = linearGaussian();
/** theta alone is seen, twice. */
const silent = designs([1, 0], [-1.5, 0]);
/** The sum of theta and phi is seen, three times. */
const leaky = designs([1, 1], [1, 1], [1, 1]);

/** phi | theta ~ N(0.8 theta, 0.6^2), so that phi ~ N(0, 1) and theta | phi ~ N(0.8 phi, 0.6^2). */
const dependent = defineModel({
  name: "dependent",
  parameters: { theta: target(normal(0, 1)), phi: sensitive(({ theta }) => normal(mul(0.8, theta), 0.6)) },
  design: { x: real(), y: real() },
  outcome: ({ theta, phi }, { x, y }) => normal(add(mul(theta, x), mul(phi, y)), 1),
});

const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));
const reading: Pick<ParityOptions, "predictor"> = { predictor: ({ theta }, { x }) => sigmoid(theta + x) };

const expectParity = (parity: Parity) => {
  expect(parity.verdict).toBe("holds");
  expect(parity.reasons).toEqual([]);
  expect(parity.fairness.lower).toBeGreaterThan(-1e-4);
  expect(parity.fairness.upper).toBeLessThan(1e-4);
  expect(parity.prior).toBeLessThan(1e-9);
  expect(parity.posterior.mean).toBeLessThan(1e-6);
  expect(parity.prediction.mean).toBeLessThan(1e-6);
  expect(parity.sentence).toBe(parityTexts.holds(parityTexts.differ(parity.prediction)));
};

describe("parity holds where F_c = 0 and the prior is factorised", () => {
  test("for the default event and any predictor p(z | theta)", async () => {
    expectParity(await checkParity(linear, silent));
    expectParity(await checkParity(linear, silent, { predictor: ({ theta }) => sigmoid(3 * theta - 1) }));
  });

  test("with a nuisance, which does not count as sensitive", async () => {
    expectParity(await checkParity(linearGaussian({ offset: true }), silent, { outer: 50 }));
    const tied = defineModel({
      name: "tied nuisance",
      parameters: {
        theta: target(normal(0, 1)),
        phi: sensitive(normal(0, 1)),
        shift: nuisance(({ theta }) => normal(mul(0.5, theta), 1)),
      },
      design: { x: real(), y: real() },
      outcome: ({ theta, phi, shift }, { x, y }) => normal(add(shift, add(mul(theta, x), mul(phi, y))), 1),
    });
    expectParity(await checkParity(tied, silent, { outer: 20, inner: 200, particles: 200 }));
  });

  test("with covariates independent of phi, also where theta tells them (conditions 1 and 2)", async () => {
    expectParity(
      await checkParity(linear, silent, { ...reading, covariates: (_, stream) => ({ x: stream.normal() }) }),
    );
    expectParity(
      await checkParity(linear, silent, {
        ...reading,
        covariates: ({ theta }, stream) => ({ x: stream.normal(theta) }),
      }),
    );
  });

  test("for an adaptive policy", async () => {
    // At context 0 the shift plays no part.
    const model = psychometric();
    const greedy = greedyPolicy(model, {
      horizon: 2,
      particles: 64,
      candidates: 16,
      search: [
        [-2, 2],
        [0, 1e-9],
      ],
    });
    expect((await checkParity(model, greedy, { outer: 10 })).verdict).toBe("holds");
  });
});

describe("parity fails, with the reason named,", () => {
  test("where the data say something about phi given theta", async () => {
    const parity = await checkParity(linear, leaky, { outer: 1000, inner: 4000 });
    expect(parity.verdict).toBe("fails");
    expect(parity.reasons).toEqual(["leakage"]);
    const { lower, upper, standardError } = parity.fairness;
    // EIG_{phi|theta} = log(1 + 3) / 2.
    const exact = -0.5 * Math.log(4);
    expect(lower).toBeLessThan(exact + 4 * standardError);
    expect(upper).toBeGreaterThan(exact - 4 * standardError);
    expect(upper - lower).toBeLessThan(0.05);
    expect(parity.sentence).toContain(parityTexts.reasons.leakage((lower + upper) / 2));
    expect(parity.sentence).toMatch(/\(leakage given the target is (0\.\d+) nats, F_c = -\1\): predictions/);
    // theta | D, phi ~ N(sum(y - phi) / 4, 1/4), whatever D.
    expect(parity.values.map(({ phi }) => phi)).toHaveLength(2);
    const apart = parity.values[1].phi - parity.values[0].phi;
    expect(apart).toBeCloseTo(APART, 0);
    expect(parity.posterior.mean).toBeCloseTo(variation((3 / 4) * apart, 1 / 2), 2);
    // P(theta > 0 | D, phi) = Phi(3 (ybar - phi) / 4 / (1/2)), ybar ~ N(0, 2 + 1/3).
    let difference = 0;
    let total = 0;
    for (let z = -6; z <= 6; z += 0.01) {
      const ybar = z * Math.sqrt(2 + 1 / 3);
      const [first, second] = parity.values.map(({ phi }) => normalCdf(1.5 * (ybar - phi)));
      difference += Math.exp(-0.5 * z * z) * Math.abs(first - second);
      total += Math.exp(-0.5 * z * z);
    }
    const { mean, standardError: error } = parity.prediction;
    expect(Math.abs(mean - difference / total)).toBeLessThan(4 * error + 0.005);
  });

  test("with bounds of F_c that are apart, and around it, where inner samples are few", async () => {
    const { lower, upper, standardError } = (
      await checkParity(linear, leaky, {
        outer: 4000,
        inner: 20,
        particles: 20,
      })
    ).fairness;
    const exact = -0.5 * Math.log(4);
    expect(lower).toBeLessThan(exact + 3 * standardError);
    expect(upper).toBeGreaterThan(exact - 3 * standardError);
    expect(upper - lower).toBeGreaterThan(0.02);
  });

  test("where the prior is not factorised, though F_c = 0", async () => {
    const parity = await checkParity(dependent, silent, { outer: 100 });
    expect(parity.verdict).toBe("fails");
    expect(parity.reasons).toEqual(["prior"]);
    expect(parity.fairness.lower).toBeGreaterThan(-1e-4);
    expect(parity.sentence).toContain(parityTexts.reasons.prior());
    const apart = parity.values[1].phi - parity.values[0].phi;
    expect(parity.prior).toBeCloseTo(variation(0.8 * apart, 0.6), 2);
    // Precision 1 / 0.36 of the prior and 1 + 2.25 of the data.
    const precision = 1 / 0.36 + 3.25;
    const shift = (0.8 * apart) / 0.36 / precision;
    expect(parity.posterior.mean).toBeCloseTo(variation(shift, Math.sqrt(1 / precision)), 2);
  });

  test("where the predictor reads covariates that depend on phi", async () => {
    const parity = await checkParity(linear, silent, {
      ...reading,
      covariates: ({ phi }, stream) => ({ x: stream.normal(phi) }),
    });
    expect(parity.verdict).toBe("fails");
    expect(parity.reasons).toEqual(["covariates"]);
    expect(parity.sentence).toContain(parityTexts.reasons.covariates());
    // The posterior itself is invariant: the fault is outside of model and data.
    expect(parity.posterior.mean).toBeLessThan(1e-6);
    // E over theta of (E sigmoid(theta + phi + noise) at the one value less the other)^2, by quadrature.
    const mean = (at: number) => {
      let [sum, total] = [0, 0];
      for (let z = -6; z <= 6; z += 0.05) {
        sum += Math.exp(-0.5 * z * z) * sigmoid(at + z);
        total += Math.exp(-0.5 * z * z);
      }
      return sum / total;
    };
    let [square, total] = [0, 0];
    for (let theta = -6; theta <= 6; theta += 0.05) {
      const weight = Math.exp(-0.5 * theta * theta);
      const [first, second] = parity.values.map(({ phi }) => mean(theta + phi));
      square += weight * (first - second) ** 2;
      total += weight;
    }
    const { mean: found, standardError } = parity.covariates;
    expect(Math.abs(found - Math.sqrt(square / total))).toBeLessThan(4 * standardError);
  });

  test("where all three are at fault", async () => {
    const parity = await checkParity(dependent, leaky, {
      ...reading,
      covariates: ({ phi }, stream) => ({ x: stream.normal(phi) }),
      outer: 100,
      inner: 500,
      particles: 500,
    });
    expect(parity.verdict).toBe("fails");
    expect(parity.reasons).toEqual(["leakage", "prior", "covariates"]);
    const { lower, upper } = parity.fairness;
    const texts = parityTexts.reasons;
    const why = [texts.leakage((lower + upper) / 2), texts.prior(), texts.covariates()];
    expect(parity.sentence).toBe(parityTexts.fails(why, parityTexts.differ(parity.prediction)));
  });

  test("for random designs of location finding", async () => {
    const model = locationFinding();
    const parity = await checkParity(model, randomPolicy(model, 4, { mean: 3 }), { outer: 100 });
    expect(parity.reasons).toEqual(["leakage"]);
    expect(parity.verdict).toBe("fails");
    expect(parity.effectiveSampleSize).toBeGreaterThan(100);
  });
});

describe("a parity check", () => {
  test("compares all values of a discrete sensitive parameter", async () => {
    const groups = defineModel({
      name: "groups",
      parameters: { theta: target(normal(0, 1)), group: sensitive(bernoulli({ logit: -1 })) },
      design: { x: real() },
      outcome: ({ theta, group }, { x }) => normal(add(theta, mul(group, x)), 1),
    });
    const parity = await checkParity(groups, designs([2]), { outer: 400 });
    expect(parity.values).toEqual([{ group: 0 }, { group: 1 }]);
    expect(parity.reasons).toEqual(["leakage"]);
    // theta | D, group ~ N((y - 2 group) / 2, 1/2).
    expect(parity.posterior.mean).toBeCloseTo(variation(1, Math.SQRT1_2), 2);
    expect((await checkParity(groups, designs([0]))).verdict).toBe("holds");
  });

  test("names what fails but was not seen to do harm", async () => {
    const parity = await checkParity(linear, leaky, { predictor: () => 0.5 });
    expect(parity.reasons).toEqual(["leakage"]);
    expect(parity.verdict).toBe("undecided");
    expect(parity.sentence).toMatch(/not guaranteed.*no violation was measured/);
  });

  test("does not blame covariates that read phi and are distributed the same whatever it is", async () => {
    for (let seed = 0; seed < 8; seed++) {
      const { reasons, verdict, sentence } = await checkParity(linear, silent, {
        ...reading,
        covariates: ({ phi }, stream) => ({ x: Math.sign(phi) * stream.normal() }),
        outer: 10,
        seed,
      });
      expect(reasons).toEqual([]);
      expect(verdict).toBe("undecided");
      expect(sentence).toMatch(/covariates could make predictions of z differ by up to 0\.0\d+ /);
    }
  });

  test("says when F_c cannot be told from 0", async () => {
    const faint = designs([1, 0.15]);
    const parity = await checkParity(linear, faint, { outer: 10, inner: 50 });
    expect(parity.verdict).toBe("undecided");
    const { lower, upper, standardError } = parity.fairness;
    expect(parity.sentence).toBe(parityTexts.untold(lower, upper, standardError));
    expect((await checkParity(linear, faint, { outer: 2000, particles: 100 })).reasons).toEqual(["leakage"]);
  });

  test("is the same for the same seed", async () => {
    const run = (seed: number) => checkParity(linear, leaky, { seed, outer: 20, inner: 50, particles: 50 });
    expect(await run(3)).toEqual(await run(3));
    expect((await run(4)).fairness).not.toEqual((await run(3)).fairness);
  });

  test("mistakes are named", async () => {
    const run = (options: ParityOptions) => checkParity(linear, silent, options);
    await expect(run({ outer: 1 })).rejects.toThrow(parityTexts.whole("outer", 1, 2));
    await expect(run({ inner: 0 })).rejects.toThrow(parityTexts.whole("inner", 0, 1));
    await expect(run({ particles: 1.5 })).rejects.toThrow(parityTexts.whole("particles", 1.5, 2));
    await expect(run({ tolerance: -1 })).rejects.toThrow(parityTexts.tolerance(-1));
    await expect(run({ predictor: () => 2 })).rejects.toThrow(predictionTexts.probability(2));
    await expect(run({ covariates: () => ({ x: 1 }) })).rejects.toThrow(parityTexts.predictor);
    const backwards = defineModel({
      name: "backwards",
      parameters: { phi: sensitive(normal(0, 1)), theta: target(({ phi }) => normal(phi, 1)) },
      design: { x: real() },
      outcome: ({ theta }, { x }) => normal(mul(theta, x), 1),
    });
    await expect(checkParity(backwards, designs([1]))).rejects.toThrow(roleTexts.order("theta", "phi"));
    const many = defineModel({
      name: "many",
      parameters: {
        theta: target(normal(0, 1)),
        ...Object.fromEntries(Array.from({ length: 7 }, (_, k) => [`phi${k}`, sensitive(normal(0, 1))])),
      },
      design: { x: real() },
      outcome: ({ theta }, { x }) => normal(mul(theta, x), 1),
    });
    await expect(checkParity(many, designs([1]))).rejects.toThrow(roleTexts.values(128));
  });
});
