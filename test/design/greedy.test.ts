import { describe, expect, test } from "vitest";
import { add, mul, Workspace } from "../../src/compute/index.js";
import { seededStream } from "../../src/core/random.js";
import { meanEstimate } from "../../src/core/stats.js";
import { searchRanges, searchTexts } from "../../src/design/design-search.js";
import { bernoulli, normal } from "../../src/design/distribution.js";
import { type GreedyOptions, greedyPolicy, greedyTexts } from "../../src/design/greedy.js";
import { defineModel, type Model, oneOf, real, sensitive, target } from "../../src/design/model.js";
import { linearGaussian } from "../../src/design/models/linear-gaussian.js";
import { locationFinding } from "../../src/design/models/location.js";
import { pharmacokinetics } from "../../src/design/models/pharmacokinetics.js";
import { psychometric } from "../../src/design/models/psychometric.js";
import { OneStep } from "../../src/design/one-step.js";
import { type History, type Policy, randomPolicy, simulate } from "../../src/design/policy.js";
import { particlesGiven } from "../../src/design/posterior.js";
import { GIVEN, INFORMATION, type InformationName, type ObjectiveKind } from "../../src/design/quantity.js";

const history = (designs: readonly (readonly number[])[], outcomes: readonly number[]): History => ({
  outer: 1,
  steps: outcomes.length,
  designs: Float64Array.from(designs.flat()),
  outcomes: Float64Array.from(outcomes),
});
const NOTHING = history([], []);

type Matrix = readonly (readonly number[])[];

const invert = ([[a, b], [c, d]]: Matrix): number[][] => {
  const determinant = a * d - b * c;
  return [
    [d / determinant, -b / determinant],
    [-c / determinant, a / determinant],
  ];
};

/** The posterior covariance of (theta, phi) when y = x theta + y phi + noise. */
const posteriorCovariance = (prior: Matrix, rows: Matrix, noise: number): number[][] =>
  invert(
    invert(prior).map((row, p) =>
      row.map((value, q) => rows.reduce((sum, each) => sum + (each[p] * each[q]) / noise ** 2, value)),
    ),
  );

/** The informations of one further observation at (x, y), in closed form. */
const closedForm = (
  [[tt, tp], [, pp]]: Matrix,
  noise: number,
  [x, y]: readonly number[],
): Record<InformationName, number> => {
  const all = x * x * tt + 2 * x * y * tp + y * y * pp + noise ** 2;
  const givenTarget = y * y * (pp - tp ** 2 / tt) + noise ** 2;
  const givenSensitive = x * x * (tt - tp ** 2 / pp) + noise ** 2;
  return {
    target: 0.5 * Math.log(all / givenTarget),
    sensitive: 0.5 * Math.log(all / givenSensitive),
    sensitiveGivenTarget: 0.5 * Math.log(givenTarget / noise ** 2),
    joint: 0.5 * Math.log(all / noise ** 2),
  };
};

const NOISE = 0.5;
// Along one direction only: the posterior correlation of theta and phi is -0.89.
const ROWS = [
  [1, 0.8],
  [0.7, 1],
  [-1, -1.2],
];
const INDEPENDENT = [
  [1, 0],
  [0, 1],
];
const linear = linearGaussian({ noise: NOISE });
const seen = history(ROWS, [0.5, 0.3, -0.6]);

/** phi | theta ~ N(0.8 theta, 0.6^2). */
const dependent = defineModel({
  name: "dependent",
  parameters: { theta: target(normal(0, 1)), phi: sensitive(({ theta }) => normal(mul(0.8, theta), 0.6)) },
  design: { x: real(), y: real() },
  outcome: ({ theta, phi }, { x, y }) => normal(add(mul(theta, x), mul(phi, y)), NOISE),
});
const DEPENDENT = [
  [1, 0.8],
  [0.8, 1],
];

describe("the information of one further observation", () => {
  test.each([
    ["without a history", linear, NOTHING, INDEPENDENT],
    ["after a history that ties theta to phi", linear, seen, posteriorCovariance(INDEPENDENT, ROWS, NOISE)],
    ["with a prior that ties them", dependent, NOTHING, DEPENDENT],
    ["with both", dependent, seen, posteriorCovariance(DEPENDENT, ROWS, NOISE)],
  ] as const)("is the closed form, %s", async (_, model, given, covariance) => {
    const particles = 1024;
    const step = new OneStep({ model, particles, given: GIVEN });
    const designs = [
      [1, 0],
      [0, 1],
      [1, 1],
      [1.5, -1.5],
    ];
    const found = designs.map(() => INFORMATION_ENTRIES.map((): number[] => []));
    for (let seed = 0; seed < 10; seed++) {
      const stream = seededStream("one step").split(seed);
      await step.condition(
        await particlesGiven(model, given, { particles, stream }),
        given,
        stream.split("step"),
      );
      for (const [d, design] of designs.entries()) {
        for (const [k, [, quantity]] of INFORMATION_ENTRIES.entries()) {
          found[d][k].push(step.value(design, quantity));
        }
      }
    }
    for (const [d, design] of designs.entries()) {
      const exact = closedForm(covariance, NOISE, design);
      for (const [k, [name]] of INFORMATION_ENTRIES.entries()) {
        const { mean, standardError } = meanEstimate(found[d][k]);
        // The bias of finite inner samples beside the error of ten runs.
        expect(Math.abs(mean - exact[name]), `${name} at ${design}`).toBeLessThan(4 * standardError + 0.03);
      }
    }
  });

  test("integrates a nuisance out", async () => {
    const model = linearGaussian({ noise: NOISE, offset: true });
    const particles = 1024;
    const step = new OneStep({ model, particles, given: GIVEN });
    const values: number[][] = [];
    for (let seed = 0; seed < 10; seed++) {
      const stream = seededStream("nuisance").split(seed);
      await step.condition(
        await particlesGiven(model, NOTHING, { particles, stream }),
        NOTHING,
        stream.split("step"),
      );
      values.push([
        step.value([1, 2], INFORMATION.target),
        step.value([1, 2], INFORMATION.sensitiveGivenTarget),
      ]);
    }
    // Var y = 1 + 4 + 1 + 0.25, given theta 5.25, given both 1.25.
    for (const [k, exact] of [0.5 * Math.log(6.25 / 5.25), 0.5 * Math.log(5.25 / 1.25)].entries()) {
      const { mean, standardError } = meanEstimate(values.map((row) => row[k]));
      expect(Math.abs(mean - exact)).toBeLessThan(4 * standardError + 0.03);
    }
  });

  test("sums over discrete outcomes", async () => {
    const model = psychometric();
    const particles = 2048;
    const step = new OneStep({ model, particles, given: GIVEN });
    const values: number[] = [];
    for (let seed = 0; seed < 6; seed++) {
      const stream = seededStream("enumerated").split(seed);
      await step.condition(
        await particlesGiven(model, NOTHING, { particles, stream }),
        NOTHING,
        stream.split("step"),
      );
      values.push(step.value([0.5, 0], INFORMATION.target));
    }
    // Quadrature over the threshold: H(mean probability) - mean H(probability).
    const entropy = (p: number) => -p * Math.log(p) - (1 - p) * Math.log(1 - p);
    let mean = 0;
    let conditional = 0;
    let total = 0;
    for (let threshold = -7; threshold <= 7; threshold += 0.01) {
      const weight = Math.exp(-0.5 * threshold ** 2);
      const p = 1 / (1 + Math.exp(-2 * (0.5 - threshold)));
      total += weight;
      mean += weight * p;
      conditional += weight * entropy(p);
    }
    const exact = entropy(mean / total) - conditional / total;
    const estimate = meanEstimate(values);
    expect(Math.abs(estimate.mean - exact)).toBeLessThan(4 * estimate.standardError + 0.003);
  });
});

const INFORMATION_ENTRIES = Object.entries(INFORMATION) as [
  InformationName,
  (typeof INFORMATION)[InformationName],
][];

describe("the greedy design of a linear-Gaussian model", () => {
  const search = [
    [-2, 2],
    [-2, 2],
  ] as const;
  test.each([
    ["conditional", 0, NOTHING],
    ["conditional", 0.5, NOTHING],
    ["conditional", 1, seen],
    ["unconditional", 0.5, seen],
    ["unconditional", 2, seen],
  ] as const)("is the closed form's best, %s, beta = %d", async (objective, beta, given) => {
    const rows = given === seen ? ROWS : [];
    const covariance = posteriorCovariance(INDEPENDENT, rows, NOISE);
    const worth = (design: readonly number[]) => {
      const { target: gain, sensitive: phi, sensitiveGivenTarget } = closedForm(covariance, NOISE, design);
      return gain - beta * (objective === "conditional" ? sensitiveGivenTarget : phi);
    };
    let most = -Infinity;
    for (let x = -2; x <= 2; x += 0.02) {
      for (let y = -2; y <= 2; y += 0.02) most = Math.max(most, worth([x, y]));
    }
    const policy = greedyPolicy(linear, { horizon: 4, objective, beta, search, particles: 1024 });
    const chosen = await policy.next(given, seededStream(2));
    expect(worth([...chosen])).toBeGreaterThan(most - 0.03);
  });
});

/** log p(D | theta) - log p(D) of every simulated experiment, by quadrature over theta and phi. */
const targetInformation = async (
  policy: Policy,
  model: Model,
  outer: number,
  seed: string,
): Promise<number[]> => {
  const workspace = new Workspace({ threads: 1 });
  const stream = seededStream(seed);
  const { parameters, designs, outcomes } = await simulate(model, policy, { outer, stream, workspace });
  workspace.dispose();
  const { horizon } = policy;
  const N = 160;
  const place = (i: number) => -1.5 + (9 * (i + 0.5)) / N;
  const prior = Array.from({ length: N }, (_, i) => Math.exp(-0.5 * (place(i) - 3) ** 2));
  const norm = prior.reduce((sum, value) => sum + value, 0);
  return Array.from({ length: outer }, (_, b) => {
    const likelihood = (theta: number, phi: number) => {
      let log = 0;
      for (let t = b * horizon; t < (b + 1) * horizon; t++) {
        const mu = 0.1 + 1 / (1e-4 + (theta - designs.x[t]) ** 2 + (phi - designs.y[t]) ** 2);
        log -= 0.5 * ((outcomes.outcome[t] - Math.log(mu)) / 0.5) ** 2;
      }
      return Math.exp(log);
    };
    const given = (theta: number) =>
      prior.reduce((sum, weight, j) => sum + (weight / norm) * likelihood(theta, place(j)), 0);
    const all = prior.reduce((sum, weight, i) => sum + (weight / norm) * given(place(i)), 0);
    return Math.log(given(parameters.theta[b]) / all);
  });
};

describe("the greedy policy in location finding", () => {
  const model = locationFinding();
  test("learns more than random designs, by more than chance", async () => {
    const policy = greedyPolicy(model, { horizon: 3, particles: 256, candidates: 64 });
    const greedy = meanEstimate(await targetInformation(policy, model, 150, "greedy"));
    const random = meanEstimate(await targetInformation(randomPolicy(model, 3), model, 200, "random"));
    const around = meanEstimate(
      await targetInformation(randomPolicy(model, 3, { mean: 3, sd: 1 }), model, 200, "around"),
    );
    for (const other of [random, around]) {
      const error = Math.hypot(greedy.standardError, other.standardError);
      expect(greedy.mean - other.mean).toBeGreaterThan(3 * error);
    }
  });

  test("depends on the history and the stream alone", async () => {
    const options: GreedyOptions = { horizon: 3, particles: 64, candidates: 16, beta: 0.8 };
    const rows: History = {
      outer: 2,
      steps: 1,
      designs: Float64Array.of(3, 3, 2, 2),
      outcomes: Float64Array.of(0.4, -1),
    };
    const policy = greedyPolicy(model, options);
    const first = await policy.next(rows, seededStream(1));
    expect(await policy.next(rows, seededStream(1))).toEqual(first);
    expect(await greedyPolicy(model, policy.settings).next(rows, seededStream(1))).toEqual(first);
    expect(await policy.next(rows, seededStream(2))).not.toEqual(first);
    // An experiment's design does not depend on what stands beside it.
    const alone = await policy.next(history([[3, 3]], [0.4]), seededStream(1));
    expect(first.subarray(0, 2)).toEqual(alone);
    expect(first.subarray(2)).not.toEqual(alone);
    // Before any outcome, all experiments are the same.
    const start = await policy.next({ ...NOTHING, outer: 3 }, seededStream(1));
    expect(start.subarray(2, 4)).toEqual(start.subarray(0, 2));
    expect(start.subarray(4)).toEqual(start.subarray(0, 2));
  });
});

describe("designs", () => {
  const small = { horizon: 2, particles: 64, candidates: 24 };

  test.each(["conditional", "unconditional"] as const)(
    "stay inside their bounds, %s",
    async (objective: ObjectiveKind) => {
      for (const model of [psychometric({ low: -1, high: 1.5 }), pharmacokinetics()]) {
        const policy = greedyPolicy(model, { ...small, objective, beta: 1 });
        const outcome = model.name === "psychometric" ? 1 : 2;
        for (const given of [NOTHING, history([model.design.map(({ low }) => low)], [outcome])]) {
          (await policy.next(given, seededStream(1))).forEach((value, d) => {
            expect(value).toBeGreaterThanOrEqual(model.design[d].low);
            expect(value).toBeLessThanOrEqual(model.design[d].high);
          });
        }
      }
    },
  );

  test("are the best of a finite set, alone and beside a continuous variable", async () => {
    const build = (design: Parameters<typeof defineModel>[0]["design"]) =>
      defineModel({
        name: "finite",
        parameters: { theta: target(normal(0, 1)), phi: sensitive(normal(0, 1)) },
        design,
        outcome: ({ theta, phi }, { x, y }) => normal(add(mul(theta, x), mul(phi, y)), NOISE),
      });
    const finite = build({ x: oneOf([-0.5, 0.1, 1]), y: oneOf([0, 1, 2]) });
    const policy = greedyPolicy(finite, { ...small, beta: 1, particles: 256 });
    expect([...(await policy.next(NOTHING, seededStream(1)))]).toEqual([1, 0]);
    const mixed = build({ x: real({ low: -1, high: 0.5 }), y: oneOf([0, 1, 2]) });
    const [x, y] = await greedyPolicy(mixed, { ...small, beta: 1, particles: 256 }).next(
      NOTHING,
      seededStream(1),
    );
    expect(x).toBeCloseTo(-1, 6);
    expect(y).toBe(0);
  });

  test("leave the sensitive part alone when leakage is dear", async () => {
    const policy = greedyPolicy(psychometric(), { horizon: 2, particles: 512, beta: 5 });
    const [, context] = await policy.next(history([[0, 0]], [1]), seededStream(1));
    expect(context).toBeLessThan(0.1);
  });

  test("are looked for on the scale of the prior where there are no bounds", () => {
    for (const [low, high] of searchRanges(locationFinding({ priorMean: [10, -2], priorSd: 0.5 }))) {
      expect(low).toBeCloseTo(-4, 0);
      expect(high).toBeCloseTo(12, 0);
    }
    const half = defineModel({
      name: "half",
      parameters: { theta: target(normal(0, 1)), phi: sensitive(normal(0, 1)) },
      design: { x: real({ low: 50 }) },
      outcome: ({ theta, phi }, { x }) => bernoulli({ logit: add(mul(theta, x), phi) }),
    });
    const [[low, high]] = searchRanges(half);
    expect(low).toBe(50);
    expect(high).toBeGreaterThan(55);
  });
});

test("decisions that are asked for at the same time do not disturb each other", async () => {
  const policy = greedyPolicy(linear, { horizon: 3, particles: 64, candidates: 8, beta: 0.5 });
  const seen = (x: number): History => ({
    outer: 1,
    steps: 1,
    designs: Float64Array.of(x, 1),
    outcomes: Float64Array.of(0.3),
  });
  const alone = [await policy.next(seen(1), seededStream(1)), await policy.next(seen(-2), seededStream(2))];
  const together = await Promise.all([
    policy.next(seen(1), seededStream(1)),
    policy.next(seen(-2), seededStream(2)),
  ]);
  expect(together).toEqual(alone);
});

test("mistakes are named", async () => {
  const make = (options: Partial<GreedyOptions>) => () => greedyPolicy(linear, { horizon: 2, ...options });
  expect(make({ horizon: 0 })).toThrow(greedyTexts.horizon(0));
  expect(make({ beta: -1 })).toThrow(greedyTexts.beta(-1));
  expect(make({ beta: Number.NaN })).toThrow(greedyTexts.beta(Number.NaN));
  expect(make({ particles: 8 })).toThrow(await greedyTexts.particles(8));
  expect(make({ candidates: 0.5 })).toThrow(greedyTexts.candidates(0.5));
  expect(make({ search: [[0, 1]] })).toThrow(searchTexts.ranges(1, 2));
  expect(
    make({
      search: [
        [0, 1],
        [1, 1],
      ],
    }),
  ).toThrow(searchTexts.range("y"));
  expect(() =>
    greedyPolicy(psychometric(), {
      horizon: 1,
      search: [
        [-9, 1],
        [0, 1],
      ],
    }),
  ).toThrow(searchTexts.range("intensity"));
  await expect(make({})().next(seen, seededStream(0))).rejects.toThrow(greedyTexts.over(3, 2));
});
