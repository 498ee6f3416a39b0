import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { add, mul } from "../../src/compute/index.js";
import { seededStream } from "../../src/core/random.js";
import { bernoulli, normal, poisson, studentT, uniform } from "../../src/design/distribution.js";
import { defineModel, real, sensitive, target } from "../../src/design/model.js";
import { linearGaussian } from "../../src/design/models/linear-gaussian.js";
import { locationFinding } from "../../src/design/models/location.js";
import { experimentOf, experimentTexts } from "../../src/design/one-experiment.js";
import { cloudTexts } from "../../src/design/particle-cloud.js";
import type { History } from "../../src/design/policy.js";
import { type Posterior, particlesGiven, posteriorGiven } from "../../src/design/posterior.js";
import { posteriorTexts } from "../../src/design/posterior-options.js";

const history = (
  designs: readonly (readonly number[])[],
  outcomes: readonly (readonly number[])[],
): History => ({
  outer: 1,
  steps: designs.length,
  designs: Float64Array.from(designs.flat()),
  outcomes: Float64Array.from(outcomes.flat()),
});

/** [[a, b], [c, d]]^-1, and larger ones, by Gauss-Jordan. */
const inverse = (matrix: readonly (readonly number[])[]): { inverse: number[][]; determinant: number } => {
  const n = matrix.length;
  const rows = matrix.map((row, i) => [...row, ...row.map((_, j) => Number(i === j))]);
  let determinant = 1;
  for (let i = 0; i < n; i++) {
    const pivot = rows[i][i];
    determinant *= pivot;
    rows[i] = rows[i].map((value) => value / pivot);
    for (let k = 0; k < n; k++) {
      if (k === i) continue;
      const factor = rows[k][i];
      rows[k] = rows[k].map((value, j) => value - factor * rows[i][j]);
    }
  }
  return { inverse: rows.map((row) => row.slice(n)), determinant };
};

/** Weighted mean and covariance of the named parameters. */
const momentsOf = ({ parameters, weights }: Pick<Posterior, "parameters" | "weights">, names: string[]) => {
  const mean = names.map((name) => parameters[name].reduce((sum, value, i) => sum + weights[i] * value, 0));
  const covariance = names.map((a, p) =>
    names.map((b, q) =>
      weights.reduce((sum, w, i) => sum + w * (parameters[a][i] - mean[p]) * (parameters[b][i] - mean[q]), 0),
    ),
  );
  return { mean, covariance };
};

const equal = (parameters: Readonly<Record<string, Float64Array>>) => {
  const [first] = Object.values(parameters);
  return { parameters, weights: new Float64Array(first.length).fill(1 / first.length) };
};

describe.each([
  { noise: 1, offset: false, steps: 4 },
  { noise: 0.05, offset: false, steps: 6 },
  { noise: 0.3, offset: true, steps: 8 },
])("the posterior of a linear-Gaussian history, noise $noise, offset $offset", ({ noise, offset, steps }) => {
  const model = linearGaussian({ noise, offset });
  const names = model.parameters.map(({ name }) => name);
  const stream = seededStream("linear").split(steps);
  const rows = Array.from({ length: steps }, () => [stream.normal(), stream.normal()]);
  const psi = names.map(() => stream.normal());
  // The last column is the offset's.
  const features = rows.map((row) => (offset ? [...row, 1] : row));
  const seen = features.map((row) => [
    row.reduce((sum, a, k) => sum + a * psi[k], 0) + noise * stream.normal(),
  ]);
  const given = history(rows, seen);
  const { inverse: exactCovariance } = inverse(
    names.map((_, p) =>
      names.map((_, q) =>
        features.reduce((sum, row) => sum + (row[p] * row[q]) / noise ** 2, Number(p === q)),
      ),
    ),
  );
  const exactMean = exactCovariance.map((row) =>
    row.reduce(
      (sum, value, q) =>
        sum + value * features.reduce((total, each, t) => total + (each[q] * seen[t][0]) / noise ** 2, 0),
      0,
    ),
  );
  const PARTICLES = 4096;
  const RUNS = 4;
  const check = async (of: (seed: number) => Promise<Pick<Posterior, "parameters" | "weights">>) => {
    const runs: ReturnType<typeof momentsOf>[] = [];
    for (let seed = 0; seed < RUNS; seed++) runs.push(momentsOf(await of(seed), names));
    const average = (pick: (run: (typeof runs)[number]) => number) =>
      runs.reduce((sum, run) => sum + pick(run) / RUNS, 0);
    // Weights and moves leave particles worth about a quarter of independent ones at the worst.
    const effective = (PARTICLES * RUNS) / 4;
    for (const p of names.keys()) {
      const sd = Math.sqrt(exactCovariance[p][p]);
      const meanError = (average(({ mean }) => mean[p]) - exactMean[p]) / (sd / Math.sqrt(effective));
      expect(Math.abs(meanError)).toBeLessThan(4);
      for (const q of names.keys()) {
        const scale = sd * Math.sqrt(exactCovariance[q][q]);
        const difference = average(({ covariance }) => covariance[p][q]) - exactCovariance[p][q];
        expect(Math.abs(difference / scale)).toBeLessThan(4 * Math.sqrt(2 / effective));
      }
    }
  };
  const options = (seed: number) => ({ particles: PARTICLES, stream: seededStream(seed) });

  test("has the closed-form mean and covariance, weighted", async () => {
    await check((seed) => posteriorGiven(model, given, options(seed)));
  });

  test("has them with equal weights", async () => {
    await check(async (seed) => equal(await particlesGiven(model, given, options(seed))));
  });

  test("gives the closed-form evidence", async () => {
    const { inverse: precision, determinant } = inverse(
      features.map((a, i) =>
        features.map(
          (b, j) => a.reduce((sum, value, k) => sum + value * b[k], 0) + (i === j ? noise ** 2 : 0),
        ),
      ),
    );
    const form = seen.reduce(
      (sum, [y], i) => sum + seen.reduce((inner, [z], j) => inner + y * precision[i][j] * z, 0),
      0,
    );
    const exact = -0.5 * (form + Math.log(determinant) + steps * Math.log(2 * Math.PI));
    const { logEvidence } = await posteriorGiven(model, given, options(7));
    expect(Math.abs(logEvidence - exact)).toBeLessThan(0.25);
  });
});

describe("the posterior of location finding", () => {
  const model = locationFinding();
  // A ring, then a crescent, then one place: the readings of a source near (3.4, 2.2).
  const designs = [
    [3, 3],
    [2, 1],
    [4.2, 2.5],
    [3.5, 1.9],
  ];
  const readings = [[0.2], [-0.9], [0.5], [2.1]];
  /** Weighted by the density on a fine grid. */
  const grid = (steps: number) => {
    const N = 500;
    const place = (i: number) => -1.5 + (9 * (i + 0.5)) / N;
    const theta = new Float64Array(N * N);
    const phi = new Float64Array(N * N);
    const weights = new Float64Array(N * N);
    let total = 0;
    for (let i = 0; i < N; i++) {
      for (let j = 0; j < N; j++) {
        const at = i * N + j;
        theta[at] = place(i);
        phi[at] = place(j);
        let log = -0.5 * ((theta[at] - 3) ** 2 + (phi[at] - 3) ** 2);
        for (let t = 0; t < steps; t++) {
          const [x, y] = designs[t];
          const mu = 0.1 + 1 / (1e-4 + (theta[at] - x) ** 2 + (phi[at] - y) ** 2);
          log -= 0.5 * ((readings[t][0] - Math.log(mu)) / 0.5) ** 2;
        }
        weights[at] = Math.exp(log);
        total += weights[at];
      }
    }
    return { parameters: { theta, phi }, weights: weights.map((weight) => weight / total) };
  };
  test.each([1, 2, 3, 4])("agrees with a grid after %d observations", async (steps) => {
    const exact = grid(steps);
    const given = history(designs.slice(0, steps), readings.slice(0, steps));
    const particles = 4096;
    const found = equal(await particlesGiven(model, given, { particles, stream: seededStream("ring") }));
    const a = momentsOf(exact, ["theta", "phi"]);
    const b = momentsOf(found, ["theta", "phi"]);
    const effective = particles / 4;
    for (const p of [0, 1]) {
      const sd = Math.sqrt(a.covariance[p][p]);
      expect(Math.abs(a.mean[p] - b.mean[p]) / sd).toBeLessThan(4 / Math.sqrt(effective));
      for (const q of [0, 1]) {
        const scale = sd * Math.sqrt(a.covariance[q][q]);
        expect(Math.abs(a.covariance[p][q] - b.covariance[p][q]) / scale).toBeLessThan(
          4 * Math.sqrt(2 / effective),
        );
      }
    }
    // The shape too: the share in each of sixteen cells around the mean.
    const shares = ({ parameters, weights }: Pick<Posterior, "parameters" | "weights">) => {
      const cells = new Float64Array(16);
      const cell = (value: number, p: number) =>
        Math.max(0, Math.min(3, Math.floor(2 + (value - a.mean[p]) / Math.sqrt(a.covariance[p][p]))));
      for (let i = 0; i < weights.length; i++) {
        cells[4 * cell(parameters.theta[i], 0) + cell(parameters.phi[i], 1)] += weights[i];
      }
      return cells;
    };
    const exactShares = shares(exact);
    shares(found).forEach((share, c) => {
      const error = Math.sqrt(Math.max(exactShares[c], 1e-3) / effective);
      expect(Math.abs(share - exactShares[c])).toBeLessThan(4 * error);
    });
  });

  test("survives a reading that only a tiny region explains", async () => {
    // log mu = 6 is a source 0.05 away from the design: one in a thousand draws of the prior is near enough.
    const found = await particlesGiven(model, history([[4.5, 1.5]], [[6]]), {
      particles: 1024,
      stream: seededStream(1),
    });
    const distances = found.theta.map((theta, i) => Math.hypot(theta - 4.5, found.phi[i] - 1.5));
    // p(distance) is proportional to distance exp(-2 (6 - log(0.1 + 1 / (m + distance^2)))^2): mean by quadrature.
    let total = 0;
    let first = 0;
    for (let i = 1; i < 20000; i++) {
      const r = i * 1e-5;
      const density = r * Math.exp(-2 * (6 - Math.log(0.1 + 1 / (1e-4 + r * r))) ** 2);
      total += density;
      first += density * r;
    }
    expect(distances.reduce((sum, r) => sum + r, 0) / 1024).toBeCloseTo(first / total, 2.5);
    expect(new Set(found.theta).size).toBeGreaterThan(700);
  });
});

describe("priors of every kind", () => {
  test("bounds, dependence, heavy tails and discrete parameters are sampled exactly", async () => {
    const model = defineModel({
      name: "mixed",
      parameters: {
        theta: target(uniform(0, 2)),
        group: sensitive(bernoulli({ logit: -0.5 })),
        count: sensitive(poisson({ logRate: 0.3 })),
        phi: sensitive(({ theta }) => studentT({ freedom: 4, location: theta, scale: 0.5 })),
      },
      design: { x: real() },
      outcome: ({ theta, group, count, phi }, { x }) =>
        normal(add(add(mul(theta, x), group), add(mul(0.5, count), phi)), 0.4),
    });
    const given = history([[1], [-0.5]], [[4.1], [2.2]]);
    // Importance sampling from the prior, with many draws, is the oracle.
    const stream = seededStream("oracle");
    const names = ["theta", "group", "count", "phi"];
    const N = 400_000;
    const oracle = {
      parameters: Object.fromEntries(names.map((name) => [name, new Float64Array(N)])),
      weights: new Float64Array(N),
    };
    let total = 0;
    for (let i = 0; i < N; i++) {
      const theta = 2 * stream.uniform();
      const group = Number(stream.uniform() < 1 / (1 + Math.exp(0.5)));
      const count = stream.poisson(Math.exp(0.3));
      const phi = theta + (0.5 * stream.normal()) / Math.sqrt(stream.gamma(2, 2) / 4);
      const mean = (x: number) => theta * x + group + 0.5 * count + phi;
      const weight = Math.exp(-0.5 * (((4.1 - mean(1)) / 0.4) ** 2 + ((2.2 - mean(-0.5)) / 0.4) ** 2));
      for (const [k, value] of [theta, group, count, phi].entries()) oracle.parameters[names[k]][i] = value;
      oracle.weights[i] = weight;
      total += weight;
    }
    oracle.weights = oracle.weights.map((weight) => weight / total);
    const found = equal(await particlesGiven(model, given, { particles: 8192, stream: seededStream(3) }));
    const [exact, estimate] = [momentsOf(oracle, names), momentsOf(found, names)];
    for (const [p, name] of names.entries()) {
      const sd = Math.sqrt(exact.covariance[p][p]);
      expect(Math.abs(exact.mean[p] - estimate.mean[p]) / sd, name).toBeLessThan(4 / Math.sqrt(8192 / 6));
      expect(Math.sqrt(estimate.covariance[p][p]) / sd, name).toBeCloseTo(1, 1);
    }
    expect(found.parameters.theta.every((value) => value >= 0 && value <= 2)).toBe(true);
  });
});

describe("a particle posterior", () => {
  const model = linearGaussian();
  const given = history([[1, 0.5]], [[0.3]]);

  test("is the prior without a history", async () => {
    const { weights, effectiveSampleSize, logEvidence } = await posteriorGiven(model, history([], []), {
      particles: 64,
      stream: seededStream(0),
    });
    expect(effectiveSampleSize).toBeCloseTo(64, 9);
    expect(weights.every((weight) => Math.abs(weight - 1 / 64) < 1e-12)).toBe(true);
    expect(logEvidence).toBe(0);
  });

  test("is the same for the same stream, and another for another", async () => {
    const run = async (seed: number) =>
      (await particlesGiven(model, given, { particles: 128, stream: seededStream(seed) })).theta;
    expect(await run(5)).toEqual(await run(5));
    expect(await run(6)).not.toEqual(await run(5));
  });

  test("weights sum to 1 and the effective sample size is theirs", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.tuple(fc.double({ min: -2, max: 2, noNaN: true }), fc.double({ min: -3, max: 3, noNaN: true })),
          {
            maxLength: 5,
          },
        ),
        fc.integer({ min: 2, max: 200 }),
        async (rows, particles) => {
          const { weights, effectiveSampleSize } = await posteriorGiven(
            model,
            history(
              rows.map(([x]) => [x, 1]),
              rows.map(([, y]) => [y]),
            ),
            { particles, stream: seededStream(1) },
          );
          expect(weights.reduce((sum, w) => sum + w, 0)).toBeCloseTo(1, 9);
          expect(effectiveSampleSize).toBeCloseTo(1 / weights.reduce((sum, w) => sum + w * w, 0), 6);
          expect(effectiveSampleSize).toBeGreaterThanOrEqual(0.5 * particles - 1e-6);
        },
      ),
      { numRuns: 30 },
    );
  });

  test("takes one experiment out of a batch", () => {
    const batch: History = {
      outer: 2,
      steps: 1,
      designs: Float64Array.of(1, 2, 3, 4),
      outcomes: Float64Array.of(5, 6),
    };
    expect(experimentOf(batch, 1)).toEqual({
      outer: 1,
      steps: 1,
      designs: Float64Array.of(3, 4),
      outcomes: Float64Array.of(6),
    });
  });

  test("mistakes are named", async () => {
    const stream = seededStream(0);
    const run = (of: History, options = {}) => particlesGiven(model, of, { stream, ...options });
    await expect(run(given, { particles: 1 })).rejects.toThrow(posteriorTexts.particles(1));
    await expect(run(given, { resampleBelow: 1 })).rejects.toThrow(posteriorTexts.resampleBelow(1));
    await expect(run(given, { sweeps: 0 })).rejects.toThrow(posteriorTexts.sweeps(0));
    await expect(run({ ...given, outer: 2 })).rejects.toThrow(experimentTexts.outer(2));
    await expect(run({ ...given, steps: 2 })).rejects.toThrow(experimentTexts.length("designs", 2, 4));
    await expect(run(history([[1, 1]], [[Number.NaN]]))).rejects.toThrow(
      experimentTexts.value("outcomes", Number.NaN),
    );
    await expect(run(history([[1, 1]], [[1e200]]))).rejects.toThrow(cloudTexts.impossible(0));
  });
});
