/** Networks for designs with bounds, units and values, against what is known in closed form. */
import { describe, expect, test } from "vitest";
import { add, div, exp, mul, square, sub } from "../../src/compute/index.js";
import { seededStream } from "../../src/core/random.js";
import { dadTexts, type TrainDadOptions, trainDad } from "../../src/design/dad.js";
import type { NetworkPolicy } from "../../src/design/dad-network.js";
import { normal } from "../../src/design/distribution.js";
import { defineModel, type Model, oneOf, real, sensitive, target } from "../../src/design/model.js";
import { locationFinding } from "../../src/design/models/location.js";
import { pharmacokinetics } from "../../src/design/models/pharmacokinetics.js";
import { bestOf, DECOY, decoy, decoyWeights, objectiveOf } from "./linear-designs.js";

const parameters = { theta: target(normal(0, 1)), phi: sensitive(normal(0, 1)) };
const widths = { encoder: [16], encoding: 8, emitter: [16] };
const sizes = { outer: 60, contrastive: 120, marginal: 60 };
const NOTHING = { outer: 1, steps: 0, designs: new Float64Array(0), outcomes: new Float64Array(0) };

/** The designs [horizon][variables] of an experiment in which every outcome is the same. */
const designsOf = (policy: NetworkPolicy, outcome = 0.3): number[][] => {
  const rows: number[][] = [];
  for (let t = 0; t < policy.horizon; t++) {
    const history = {
      outer: 1,
      steps: t,
      designs: Float64Array.from(rows.flat()),
      outcomes: new Float64Array(t).fill(outcome),
    };
    rows.push([...policy.next(history, seededStream(0))]);
  }
  return rows;
};

/** Mean bound of the last steps, with the policy. */
const trained = async (model: Model, options: TrainDadOptions) => {
  const values: number[] = [];
  const policy = await trainDad(model, {
    widths,
    sizes,
    ...options,
    onProgress: ({ value }) => values.push(value),
  });
  const last = values.slice(-30);
  return { policy, value: last.reduce((sum, value) => sum + value, 0) / last.length, values };
};

describe("a design between bounds", () => {
  test("a delay of 1 to 365 days is found on the scale of days", async () => {
    // The answer is loudest after 40 days, and after one day hardly there: .005 nats.
    const delayed = defineModel({
      name: "delayed",
      parameters,
      design: { delay: real({ low: 1, high: 365 }) },
      outcome: ({ theta, phi }, { delay }) => {
        const u = div(delay, 40);
        return normal(add(mul(theta, mul(u, exp(sub(1, u)))), mul(0.01, phi)), 1);
      },
    });
    const weights = ([delay]: readonly number[]) => ({
      a: (delay / 40) * Math.exp(1 - delay / 40),
      b: 0.01,
    });
    const { policy } = await trained(delayed, { horizon: 2, beta: 0, steps: 200, rate: 5e-3, seed: 1 });
    const found = designsOf(policy);
    const best = objectiveOf([weights([40]), weights([40])], 0);
    expect(objectiveOf(found.map(weights), 0)).toBeGreaterThan(0.95 * best);
    expect(policy.warnings).toEqual([]);
  });

  test("what is trained is what is used, at a bound too", async () => {
    const dosed = defineModel({
      name: "dosed",
      parameters,
      design: { dose: real({ low: 0.5, high: 1 }) },
      outcome: ({ theta, phi }, { dose }) => normal(add(mul(theta, mul(3, dose)), mul(0.1, phi)), 1),
    });
    const weights = ([dose]: readonly number[]) => ({ a: 3 * dose, b: 0.1 });
    const { policy, value } = await trained(dosed, {
      horizon: 2,
      beta: 0,
      steps: 250,
      rate: 1e-2,
      seed: 2,
      sizes: { outer: 100, contrastive: 400, marginal: 100 },
    });
    const found = designsOf(policy);
    for (const [dose] of found) {
      expect(dose).toBeGreaterThanOrEqual(0.5);
      expect(dose).toBeLessThanOrEqual(1);
    }
    const best = objectiveOf([weights([1]), weights([1])], 0);
    expect(objectiveOf(found.map(weights), 0)).toBeGreaterThan(0.95 * best);
    // 30 batches of 100: an error of about .02.
    expect(Math.abs(value - objectiveOf(found.map(weights), 0))).toBeLessThan(0.1);
  });

  test("a model that is no number outside its bounds trains", async () => {
    const values: number[] = [];
    const policy = await trainDad(pharmacokinetics(), {
      horizon: 2,
      steps: 20,
      seed: 2,
      widths,
      sizes,
      onProgress: ({ value }) => values.push(value),
    });
    expect(values).toHaveLength(20);
    expect(values.every(Number.isFinite)).toBe(true);
    for (const [time] of designsOf(policy)) {
      expect(time).toBeGreaterThan(0.1);
      expect(time).toBeLessThan(24);
    }
  });
});

test("outcomes in large units are read on their own scale", async () => {
  // The second design should follow the sign of the first answer, which is in thousands.
  const units = defineModel({
    name: "units",
    parameters,
    design: { x: real({ low: -3, high: 3 }) },
    outcome: ({ theta, phi }, { x }) => {
      const near = exp(mul(-2, square(sub(x, theta))));
      return normal(mul(1000, add(mul(3, near), mul(0.01, phi))), 300);
    },
  });
  const { policy } = await trained(units, { horizon: 2, beta: 0, steps: 30, seed: 3 });
  expect(policy.network.outcomes[0].unit).toBeGreaterThanOrEqual(128);
  const second = (outcome: number) =>
    policy.next(
      { outer: 1, steps: 1, designs: Float64Array.of(0), outcomes: Float64Array.of(outcome) },
      seededStream(0),
    )[0];
  // Not driven to a bound by thousands: a random network reads inputs of the order of one.
  expect(Math.abs(second(3000))).toBeLessThan(1.5);
  expect(Math.abs(second(0))).toBeLessThan(1.5);
});

/** The gradient is that of the value, for every kind of bound: Adam's first running mean is a tenth of the descent. */
test("the gradient goes through bounds and units", async () => {
  const model = defineModel({
    name: "bounded",
    parameters: { theta: target(normal(100, 40)), phi: sensitive(normal(100, 40)) },
    design: { x: real({ low: -1, high: 3 }), y: real({ low: 20 }), z: real() },
    outcome: ({ theta, phi }, { x, y, z }) =>
      normal(add(mul(x, theta), add(mul(mul(0.02, y), phi), mul(0.1, z))), 20),
  });
  const small = { encoder: [4], encoding: 3, emitter: [4] };
  const shape = await trainDad(model, { horizon: 3, steps: 1, widths: small, sizes });
  expect(shape.network.designs.map(({ kind }) => kind)).toEqual(["between", "above", "free"]);
  const stream = seededStream("weights");
  const parameters = Float32Array.from(shape.network.parameters, () => stream.normal(0.1, 0.5));
  const step = async (at: Float32Array) => {
    let value = 0;
    let gradient: number[] = [];
    await trainDad(model, {
      horizon: 3,
      steps: 1,
      sizes: { outer: 16, contrastive: 40, marginal: 30 },
      from: { ...shape.network, parameters: at },
      onProgress(progress) {
        value = progress.value;
        gradient = progress.checkpoint().mean.map((mean) => -10 * mean);
      },
    });
    return { value, gradient };
  };
  const { gradient } = await step(parameters);
  const scale = Math.max(...gradient.map(Math.abs));
  for (let i = 0; i < parameters.length; i += 4) {
    const h = 2e-3;
    const moved = async (by: number) => {
      const there = parameters.slice();
      there[i] += by;
      return (await step(there)).value;
    };
    const difference = ((await moved(h)) - (await moved(-h))) / (2 * h);
    expect(Math.abs(difference - gradient[i]), `parameter ${i}`).toBeLessThan(0.03 * scale + 3e-3);
  }
});

describe("designs with finitely many values", () => {
  const DOSES = [0, 1, 2, 5];
  const dosed = defineModel({
    name: "dosed",
    parameters,
    design: { dose: oneOf(DOSES) },
    outcome: ({ theta, phi }, { dose }) => normal(add(mul(theta, dose), mul(phi, mul(0.2, square(dose)))), 1),
  });
  const weights = ([dose]: readonly number[]) => ({ a: dose, b: 0.2 * dose ** 2 });

  // Information does not depend on outcomes here, so that no adaptive policy is better than the best fixed designs.
  test.each([
    [1, 0.8],
    [2, 0],
    [2, 3],
  ])("horizon %d, beta %d is as good as the best of all", async (horizon, beta) => {
    const { policy } = await trained(dosed, { horizon, beta, steps: 400, rate: 1e-2, seed: 4 });
    for (const outcome of [-2, 0.3, 2]) {
      const found = designsOf(policy, outcome);
      for (const [dose] of found) expect(DOSES).toContain(dose);
      const best = bestOf(
        DOSES.map((dose) => [dose]),
        weights,
        horizon,
        beta,
      );
      expect(objectiveOf(found.map(weights), beta)).toBeGreaterThan(best - 0.03);
    }
  });

  test("values are chosen, not rounded to", async () => {
    const { policy } = await trained(decoy, { horizon: 2, steps: 200, rate: 1e-2, seed: 7 });
    const best = bestOf(DECOY, decoyWeights, 2, 0.8);
    const found = designsOf(policy).map(([x]) => x);
    for (const x of found) expect(DECOY).toContain(x);
    expect(objectiveOf(found.map(decoyWeights), 0.8)).toBeGreaterThan(best - 0.05);
  });

  test("beside a variable between bounds", async () => {
    const modes = [0.5, 1, 2];
    const mixed = defineModel({
      name: "mixed",
      parameters,
      design: { x: real({ low: 0, high: 1.6 }), mode: oneOf(modes) },
      outcome: ({ theta, phi }, { x, mode }) =>
        normal(add(mul(theta, mul(mode, mul(x, sub(2, x)))), mul(phi, mul(0.4, square(mode)))), 1),
    });
    const of = ([x, mode]: readonly number[]) => ({ a: mode * x * (2 - x), b: 0.4 * mode ** 2 });
    const { policy } = await trained(mixed, { horizon: 1, beta: 0.2, steps: 500, rate: 1e-2, seed: 5 });
    const found = designsOf(policy);
    expect(modes).toContain(found[0][1]);
    // x (2 - x) is largest at 1.
    const best = bestOf(
      modes.map((mode) => [1, mode]),
      of,
      1,
      0.2,
    );
    expect(objectiveOf(found.map(of), 0.2)).toBeGreaterThan(best - 0.03);
  });

  test("the draws are the same on any number of threads", async () => {
    const options = { horizon: 2, steps: 10, widths, sizes, seed: 6 };
    const one = await trainDad(dosed, { ...options, threads: 1 });
    const two = await trainDad(dosed, { ...options, threads: 2 });
    expect(two.network).toEqual(one.network);
  });
});

test("a network to go on from must be one for these designs and widths", async () => {
  const options = { horizon: 2, steps: 1, widths, sizes };
  const { network } = await trainDad(pharmacokinetics(), options);
  const on = { horizon: 2, steps: 1, sizes, from: network };
  await expect(trainDad(pharmacokinetics({ latest: 48 }), on)).rejects.toThrow(
    dadTexts.otherNetwork("designs"),
  );
  await expect(trainDad(locationFinding(), on)).rejects.toThrow(dadTexts.otherNetwork("designs"));
  await expect(trainDad(pharmacokinetics(), { ...on, widths: { ...widths, encoding: 7 } })).rejects.toThrow(
    dadTexts.otherNetwork("widths"),
  );
  const more = await trainDad(pharmacokinetics(), on);
  expect(more.network.widths).toEqual(widths);
  expect(more.next(NOTHING, seededStream(0))[0]).toBeGreaterThan(0.1);
});
