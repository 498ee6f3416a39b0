import { describe, expect, test } from "vitest";
import { add, mul, square } from "../../src/compute/index.js";
import { normal } from "../../src/design/distribution.js";
import { defineModel, oneOf, real, sensitive, target } from "../../src/design/model.js";
import { allDesigns } from "../../src/design/static-moves.js";
import { type StaticCheckpoint, trainStatic } from "../../src/design/train-static.js";
import { bestOf, DECOY, decoy, decoyWeights, objectiveOf } from "./linear-designs.js";

const parameters = { theta: target(normal(0, 1)), phi: sensitive(normal(0, 1)) };
const SIZES = { outer: 100, contrastive: 200, marginal: 100 };

/** The sensitive part's weight is hidden at 0 and 1, and grows faster than the target's. */
const DOSES = [0, 1, 2, 5];
const dosed = defineModel({
  name: "dosed",
  parameters,
  design: { dose: oneOf(DOSES) },
  outcome: ({ theta, phi }, { dose }) => normal(add(mul(theta, dose), mul(phi, mul(0.2, square(dose)))), 1),
});
const doseWeights = (dose: number) => ({ a: dose, b: 0.2 * dose ** 2 });

/** Two variables with values, whose best combination no single change from afar leads to. */
const LEVELS = [-2, -1, 0, 1, 2];
const crossed = defineModel({
  name: "crossed",
  parameters,
  design: { x: oneOf(LEVELS), y: oneOf(LEVELS) },
  outcome: ({ theta, phi }, { x, y }) => normal(add(mul(theta, add(x, mul(0.5, y))), mul(phi, y)), 1),
});
const crossedWeights = ([x, y]: readonly number[]) => ({ a: x + 0.5 * y, b: y });
const CROSSED = LEVELS.flatMap((x) => LEVELS.map((y) => [x, y]));

const rowsOf = (designs: Float64Array, variables: number): number[][] =>
  Array.from({ length: designs.length / variables }, (_, t) => [
    ...designs.slice(t * variables, (t + 1) * variables),
  ]);

describe("designs with finitely many values", () => {
  test.each([
    [1, 0],
    [3, 0.8],
    [2, 3],
  ])("few: horizon %d, beta %d is the best of all", async (horizon, beta) => {
    const { designs, objective } = await trainStatic(dosed, { horizon, beta, seed: 1, sizes: SIZES });
    for (const dose of designs) expect(DOSES).toContain(dose);
    const best = bestOf(DOSES, doseWeights, horizon, beta);
    expect(objectiveOf([...designs].map(doseWeights), beta)).toBeGreaterThan(best - 0.02);
    expect(objective.mean).toBeLessThan(best + 4 * objective.standardError);
  });

  test.each([2, 12])("values are chosen, not rounded to: horizon %d", async (horizon) => {
    // For 12 observations there are too many sets to list.
    expect(allDesigns(decoy, horizon) === undefined).toBe(horizon === 12);
    const { designs } = await trainStatic(decoy, { horizon, starts: 1, seed: 3, sizes: SIZES });
    const best = bestOf(DECOY, decoyWeights, horizon, 0.8);
    expect(objectiveOf([...designs].map(decoyWeights), 0.8)).toBeGreaterThan(best - 0.05);
    for (const x of designs) expect(DECOY).toContain(x);
  });

  test.each([0, 1.5])("many: beta %d is as good as the best of all sets", async (beta) => {
    expect(allDesigns(crossed, 4)).toBeUndefined();
    const { designs } = await trainStatic(crossed, { horizon: 4, beta, starts: 1, seed: 2, sizes: SIZES });
    const rows = rowsOf(designs, 2);
    for (const row of rows) for (const value of row) expect(LEVELS).toContain(value);
    const best = bestOf(CROSSED, crossedWeights, 4, beta);
    expect(objectiveOf(rows.map(crossedWeights), beta)).toBeGreaterThan(best - 0.02);
  });

  test("all sets are listed once, whatever their order", () => {
    const sets = allDesigns(dosed, 3) ?? [];
    expect(new Set(sets.map((set) => [...set].sort().join())).size).toBe(20);
    expect(sets).toHaveLength(20);
  });

  test("beside a variable between bounds, both are the best", async () => {
    // Any set of modes tells the most at x = 1, and a larger mode leaks more.
    const modes = [0.5, 1, 2];
    const mixed = defineModel({
      name: "mixed",
      parameters,
      design: { x: real({ low: 0, high: 2 }), mode: oneOf(modes) },
      outcome: ({ theta, phi }, { x, mode }) =>
        normal(add(mul(theta, mul(mode, mul(x, add(2, mul(-1, x))))), mul(phi, mul(0.4, square(mode)))), 1),
    });
    const weights = ([x, mode]: readonly number[]) => ({ a: mode * x * (2 - x), b: 0.4 * mode ** 2 });
    for (const beta of [0, 2]) {
      const { designs } = await trainStatic(mixed, {
        horizon: 2,
        beta,
        steps: 300,
        starts: 1,
        seed: 4,
        sizes: SIZES,
      });
      const rows = rowsOf(designs, 2);
      for (const [x, mode] of rows) {
        expect(modes).toContain(mode);
        expect(x).toBeGreaterThanOrEqual(0);
        expect(x).toBeLessThanOrEqual(2);
      }
      const best = bestOf(
        modes.map((mode) => [1, mode]),
        weights,
        2,
        beta,
      );
      expect(objectiveOf(rows.map(weights), beta)).toBeGreaterThan(best - 0.03);
    }
  });

  test.each([
    ["few", dosed, 2],
    ["many", crossed, 4],
  ] as const)("%s: resumed it ends as if it had not been interrupted", async (_, model, horizon) => {
    const options = { horizon, starts: 2, seed: 5, sizes: { outer: 20, contrastive: 20, marginal: 20 } };
    let taken = 0;
    const whole = await trainStatic(model, {
      ...options,
      onProgress: ({ done }) => {
        taken = done;
      },
    });
    for (const stop of [1, Math.floor(taken / 2), taken]) {
      let saved: StaticCheckpoint | undefined;
      const interrupted = trainStatic(model, {
        ...options,
        onProgress({ done, checkpoint }) {
          if (done !== stop) return;
          saved = JSON.parse(JSON.stringify(checkpoint())) as StaticCheckpoint;
          throw new Error("stopped");
        },
      });
      await expect(interrupted).rejects.toThrow("stopped");
      expect(await trainStatic(model, { ...options, resume: saved })).toEqual(whole);
    }
  });

  test("starts that are given go to the nearest values", async () => {
    const { designs } = await trainStatic(crossed, {
      horizon: 4,
      steps: 1,
      starts: 1,
      from: Float64Array.of(0.4, 9, -1.6, 0, 1, 1, 1, 1),
      sizes: { outer: 10, contrastive: 10, marginal: 10 },
    });
    for (const value of designs) expect(LEVELS).toContain(value);
    expect([...designs.slice(2)]).toEqual([-2, 0, 1, 1, 1, 1]);
  });
});
