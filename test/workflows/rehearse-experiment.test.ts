/** Experiments on somebody made up: outcomes as the model has them, and posteriors that are right as often as they say. */
import { describe, expect, test } from "vitest";
import { div } from "../../src/compute/index.js";
import { normal } from "../../src/design/distribution.js";
import { defineModel, type Model, real, sensitive, target } from "../../src/design/model.js";
import { linearGaussian } from "../../src/design/models/linear-gaussian.js";
import { locationFinding } from "../../src/design/models/location.js";
import { psychometric } from "../../src/design/models/psychometric.js";
import { rehearsal } from "../../src/workflows/rehearse-experiment.js";
import { runPolicy } from "../../src/workflows/run-policy.js";

describe("somebody made up", () => {
  test("is the same for the same seed, another for another", () => {
    const [one, again, other] = [4, 4, 5].map((seed) => rehearsal(psychometric(), { seed }));
    expect(again.truth).toEqual(one.truth);
    expect(other.truth).not.toEqual(one.truth);
    const design = { intensity: 0.3, context: 1 };
    const answers = (from: typeof one) =>
      Array.from({ length: 20 }, (_, t) => from.outcome(design, t).outcome);
    expect(answers(again)).toEqual(answers(one));
    expect(new Set(answers(one)).size).toBe(2);
  });

  test("answers as the model says: mean theta x + phi y, with its noise", () => {
    const { truth, outcome } = rehearsal(linearGaussian({ noise: 0.5 }), { seed: 1 });
    const count = 2000;
    const drawn = Array.from({ length: count }, (_, t) => outcome({ x: 2, y: -1 }, t).outcome);
    const mean = drawn.reduce((sum, value) => sum + value, 0) / count;
    const sd = Math.sqrt(drawn.reduce((sum, value) => sum + (value - mean) ** 2, 0) / count);
    expect(Math.abs(mean - (2 * truth.theta - truth.phi))).toBeLessThan((4 * 0.5) / Math.sqrt(count));
    expect(Math.abs(sd - 0.5)).toBeLessThan((4 * 0.5) / Math.sqrt(2 * count));
  });

  test("is said to have no answer where the model has none", () => {
    const model = defineModel({
      parameters: { theta: target(normal(0, 1)), phi: sensitive(normal(0, 1)) },
      design: { x: real() },
      outcome: ({ theta }, { x }) => normal(theta, div(1, x)),
    });
    expect(() => rehearsal(model).outcome({ x: -1 }, 0)).toThrow(/the model has no outcome at this design/);
  });
});

test("posteriors of 95 % hold the truth about as often", { timeout: 120_000 }, async () => {
  const cases: readonly (readonly [Model, number[][]])[] = [
    [
      linearGaussian(),
      [
        [1, 0.5],
        [0.3, 1],
      ],
    ],
    [
      locationFinding(),
      [
        [2, 3],
        [4, 3],
        [3, 1.5],
      ],
    ],
    [
      psychometric(),
      [
        [0, 0],
        [0.5, 1],
        [-0.5, 0],
        [0, 1],
      ],
    ],
  ];
  const runs = 60;
  for (const [model, designs] of cases) {
    let held = 0;
    for (let seed = 0; seed < runs; seed++) {
      const { truth, outcome } = rehearsal(model, { seed });
      const session = runPolicy(model, { kind: "static", horizon: designs.length, designs }, { seed });
      while (!session.done) session.tell(outcome(await session.next(), session.history.length));
      const { parameters } = await session.posterior({ particles: 512 });
      for (const [name, { interval }] of Object.entries(parameters)) {
        if (truth[name] >= interval[0] && truth[name] <= interval[1]) held += 1;
      }
    }
    // Of 120, binomial at .95: below 102 or so only once in a million times; 512 particles cost a little.
    expect(held).toBeGreaterThanOrEqual(102);
  }
});

test("draws of a posterior are as spread as it is", async () => {
  const session = runPolicy(linearGaussian(), { kind: "static", horizon: 1, designs: [[1, 0]] });
  await session.next();
  session.tell(2);
  const { draws = {}, parameters } = await session.posterior({ draws: 1000 });
  // Prior N(0, 1), one reading of 2 in noise N(0, 1): N(1, 1/2).
  const mean = draws.theta.reduce((sum, value) => sum + value, 0) / 1000;
  const variance = draws.theta.reduce((sum, value) => sum + (value - mean) ** 2, 0) / 1000;
  expect(draws.theta).toHaveLength(1000);
  expect(mean).toBeCloseTo(1, 1);
  expect(variance).toBeCloseTo(0.5, 1);
  expect(parameters.phi.sd).toBeCloseTo(1, 1);
  expect((await session.posterior()).draws).toBeUndefined();
});
