import { describe, expect, test } from "vitest";
import { lgamma, normalCdf } from "../../src/core/math.js";
import { seededStream } from "../../src/core/random.js";
import {
  bernoulli,
  binomial,
  categorical,
  type Distribution,
  draw,
  logNormal,
  normal,
  poisson,
  studentT,
  uniform,
} from "../../src/design/distribution.js";
import { argumentTexts } from "../../src/design/distribution-arguments.js";
import { CHI_SQUARE_LIMIT, chiSquare, KOLMOGOROV_LIMIT, kolmogorov } from "../core/goodness.js";

const at = (distribution: Distribution, value: number) => distribution.logDensity(value) as number;
const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));
const choose = (n: number, k: number) => Math.exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1));

describe("log densities", () => {
  test("of the normal distribution", () => {
    // N(1, 2^2) at 4: -log 2 - log sqrt(2 pi) - 9/8.
    expect(at(normal(1, 2), 4)).toBeCloseTo(-Math.log(2) - 0.9189385332046727 - 1.125, 12);
  });

  test("of the log-normal distribution are of the logarithm", () => {
    expect(at(logNormal(1, 2), 4)).toBe(at(normal(1, 2), 4));
    expect(logNormal(0, 1).logged).toBe(true);
  });

  test("of Student's t", () => {
    // One degree of freedom is Cauchy's: 1 / (pi s (1 + z^2)).
    expect(at(studentT({ freedom: 1, location: 2, scale: 3 }), 5)).toBeCloseTo(
      -Math.log(Math.PI * 3 * 2),
      12,
    );
    // Many are nearly normal.
    expect(at(studentT({ freedom: 1e7, location: 0, scale: 1 }), 1.5)).toBeCloseTo(at(normal(0, 1), 1.5), 6);
  });

  test("of the Bernoulli and the binomial distribution", () => {
    expect(at(bernoulli({ logit: 0.7 }), 1)).toBeCloseTo(Math.log(sigmoid(0.7)), 12);
    expect(at(bernoulli({ logit: 0.7 }), 0)).toBeCloseTo(Math.log(1 - sigmoid(0.7)), 12);
    const p = sigmoid(-0.4);
    expect(at(binomial({ trials: 5, logit: -0.4 }), 2)).toBeCloseTo(
      Math.log(choose(5, 2) * p ** 2 * (1 - p) ** 3),
      10,
    );
  });

  test("of the categorical distribution", () => {
    const total = Math.exp(0.2) + Math.exp(-1) + Math.exp(0.9);
    for (const [k, logit] of [0.2, -1, 0.9].entries()) {
      expect(at(categorical({ logits: [0.2, -1, 0.9] }), k)).toBeCloseTo(logit - Math.log(total), 12);
    }
  });

  test("of the Poisson and the uniform distribution", () => {
    expect(at(poisson({ logRate: Math.log(2.5) }), 3)).toBeCloseTo(3 * Math.log(2.5) - 2.5 - Math.log(6), 10);
    expect(at(uniform(-1, 3), 0)).toBeCloseTo(-Math.log(4), 12);
  });

  test.each([
    ["Bernoulli", bernoulli({ logit: 1.3 })],
    ["binomial", binomial({ trials: 7, logit: 0.4 })],
    ["categorical", categorical({ logits: [1, 2, -1, 0] })],
  ])("of the %s distribution sum to 1", (_, distribution) => {
    const total = (distribution.support ?? []).reduce(
      (sum, value) => sum + Math.exp(at(distribution, value)),
      0,
    );
    expect(total).toBeCloseTo(1, 10);
  });

  test("of the Poisson distribution sum to 1", () => {
    let total = 0;
    for (let k = 0; k < 60; k++) total += Math.exp(at(poisson({ logRate: 2 }), k));
    expect(total).toBeCloseTo(1, 10);
  });

  test.each([
    ["normal", normal(0.5, 0.8), 10],
    ["Student t", studentT({ freedom: 6, location: -0.3, scale: 0.7 }), 400],
  ])("of the %s distribution integrate to 1", (_, distribution, reach) => {
    const n = 200_000;
    const h = (2 * reach) / n;
    let total = 0;
    for (let i = 0; i < n; i++) total += Math.exp(at(distribution, -reach + (i + 0.5) * h)) * h;
    expect(total).toBeCloseTo(1, 6);
  });
});

describe("draws", () => {
  const DRAWS = 20_000;
  const sample = (distribution: Distribution, name: string) => {
    const stream = seededStream("draws").split(name);
    return Float64Array.from({ length: DRAWS }, () => draw(distribution, stream));
  };

  test.each<[string, Distribution, (x: number) => number]>([
    ["normal", normal(1, 2), (x) => normalCdf((x - 1) / 2)],
    ["log-normal, by the logarithm", logNormal(1, 2), (x) => normalCdf((x - 1) / 2)],
    ["uniform", uniform(-1, 3), (x) => (x + 1) / 4],
    [
      "Cauchy",
      studentT({ freedom: 1, location: 2, scale: 3 }),
      (x) => 0.5 + Math.atan((x - 2) / 3) / Math.PI,
    ],
    // The distribution function of t with 2 degrees of freedom is 1/2 + t / (2 sqrt(2 + t^2)).
    [
      "Student t",
      studentT({ freedom: 2, location: 0, scale: 0.5 }),
      (x) => 0.5 + (2 * x) / (2 * Math.sqrt(2 + 4 * x * x)),
    ],
  ])("of the %s distribution follow its distribution function", (name, distribution, cdf) => {
    expect(kolmogorov(sample(distribution, name), cdf)).toBeLessThan(KOLMOGOROV_LIMIT);
  });

  test.each<[string, Distribution, number]>([
    ["Bernoulli", bernoulli({ logit: 0.8 }), 2],
    ["binomial", binomial({ trials: 4, logit: -0.3 }), 5],
    ["categorical", categorical({ logits: [0, 1, -1] }), 3],
    ["Poisson", poisson({ logRate: Math.log(1.2) }), 6],
  ])("of the %s distribution have its probabilities", (name, distribution, cells) => {
    const probabilities = Array.from({ length: cells }, (_, k) => Math.exp(at(distribution, k)));
    const rest = 1 - probabilities.reduce((sum, p) => sum + p, 0);
    const counts = new Float64Array(cells + 1);
    for (const value of sample(distribution, name)) counts[Math.min(value, cells)]++;
    const all = rest > 1e-9 ? [...probabilities, rest] : probabilities;
    expect(chiSquare(counts, all, DRAWS)).toBeLessThan(CHI_SQUARE_LIMIT);
  });
});

describe("what cannot be a distribution", () => {
  test("is refused at once where the number is fixed", () => {
    expect(() => studentT({ freedom: -1, location: 0, scale: 1 })).toThrow(
      argumentTexts.positive("studentT", "the degrees of freedom", -1),
    );
    expect(() => uniform(2, 1)).toThrow(argumentTexts.bounds(2, 1));
    expect(() => binomial({ trials: 1.5, logit: 0 })).toThrow(argumentTexts.trials(1.5));
    expect(() => categorical({ logits: [0] })).toThrow(argumentTexts.few("categorical", 1));
  });

  test("is refused when it is drawn from where the number may be computed", () => {
    const stream = seededStream(0);
    for (const sd of [0, -1, Number.NaN, Infinity]) {
      const text = argumentTexts.positive("normal", "the standard deviation", sd);
      expect(normal(0, sd).problem).toBe(text);
      expect(() => draw(normal(0, sd), stream)).toThrow(text);
    }
    expect(() => draw(studentT({ freedom: 3, location: 0, scale: -2 }), stream)).toThrow(
      argumentTexts.positive("studentT", "the scale", -2),
    );
  });
});
