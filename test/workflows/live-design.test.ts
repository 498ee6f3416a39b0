/** Live designs: against the closed form, enumeration and quadrature, with discrete designs and bounds, and how they end. */
import { describe, expect, test } from "vitest";
import { add, mul } from "../../src/compute/index.js";
import { InputError } from "../../src/core/errors.js";
import { seededStream } from "../../src/core/random.js";
import { bernoulli, normal } from "../../src/design/distribution.js";
import { exactInformation } from "../../src/design/estimate.js";
import { defineModel, type Model, oneOf, sensitive, target } from "../../src/design/model.js";
import { linearGaussian } from "../../src/design/models/linear-gaussian.js";
import { locationFinding } from "../../src/design/models/location.js";
import { pharmacokinetics } from "../../src/design/models/pharmacokinetics.js";
import { psychometric } from "../../src/design/models/psychometric.js";
import { liveDesign, liveDesignTexts } from "../../src/workflows/live-design.js";

const NAMES = ["target", "sensitive", "sensitiveGivenTarget"] as const;
const oracle = (model: Model, designs: number[][], outer = 1500) =>
  exactInformation(model, designs, { stream: seededStream("oracle"), outer, batches: 1, threads: 1 });

describe("liveDesign", () => {
  test("linear-Gaussian: the closed form at once, with the objective at any price", () => {
    const live = liveDesign(linearGaussian(), { horizon: 2, beta: 0.5 });
    const { target, sensitive, objective, exact } = live.information([
      [2, 0],
      [0, 1],
    ]);
    // theta is seen with weight 2 and phi with weight 1, in noise of 1.
    expect(target.lower).toBeCloseTo(0.5 * Math.log(5), 10);
    expect(sensitive.upper).toBeCloseTo(0.5 * Math.log(2), 10);
    expect(objective.lower).toBeCloseTo(0.5 * Math.log(5) - 0.25 * Math.log(2), 10);
    expect(exact).toBe(true);
    live.price(2, "unconditional");
    expect(
      live.information([
        [2, 0],
        [0, 1],
      ]).objective.upper,
    ).toBeCloseTo(0.5 * Math.log(5) - Math.log(2), 10);
    live.dispose();
  });

  test("a psychometric curve is enumerated, with and without many observations", async () => {
    for (const horizon of [1, 3, 10]) {
      const designs = Array.from({ length: horizon }, (_, t) => [-1 + 0.3 * t, (t % 3) / 2]);
      const live = liveDesign(psychometric(), { horizon });
      const found = live.information(designs);
      expect(found.method).toBe("enumeration");
      const known = await oracle(psychometric(), designs);
      expect(known.method).toBe("enumeration");
      for (const name of NAMES) expect(found[name].lower).toBeCloseTo(known[name].lower, 5);
      live.dispose();
    }
  });

  test("location: bounds that agree with the quadrature, tighter once refined", async () => {
    const model = locationFinding();
    for (const designs of [
      [[3.4, 2.6]],
      [
        [2, 3],
        [3.5, 4],
        [4, 2],
      ],
    ]) {
      const live = liveDesign(model, { horizon: designs.length, seed: 1 });
      const found = live.information(designs);
      const known = await oracle(model, designs);
      const finer = await live.refine(designs);
      for (const name of NAMES) {
        const [low, high] = [known[name].lower, known[name].upper];
        // Both are intervals: they are apart in one of a hundred thousand cases.
        for (const { interval } of [found[name], finer[name]]) {
          expect(interval[0]).toBeLessThan(high);
          expect(interval[1]).toBeGreaterThan(low);
        }
        const width = ({ interval }: typeof found.target) => interval[1] - interval[0];
        expect(width(finer[name])).toBeLessThan(0.75 * width(found[name]));
      }
      live.dispose();
    }
  });

  test("pharmacokinetics: bounds that agree with the quadrature", async () => {
    const model = pharmacokinetics();
    const designs = [[1], [12]];
    const live = liveDesign(model, { horizon: 2 });
    const found = live.information(designs);
    const known = await oracle(model, designs, 500);
    for (const name of NAMES) {
      expect(found[name].interval[0]).toBeLessThan(known[name].upper);
      expect(found[name].interval[1]).toBeGreaterThan(known[name].lower);
    }
    live.dispose();
  });

  test("the same samples for every move: the same numbers when a design comes back, and small changes for small moves", () => {
    const live = liveDesign(locationFinding(), { horizon: 2 });
    const first = live.information([
      [3, 3.5],
      [2.5, 3],
    ]);
    const moved = live.information([
      [3, 3.501],
      [2.5, 3],
    ]);
    const again = live.information([
      [3, 3.5],
      [2.5, 3],
    ]);
    expect(again).toEqual(first);
    for (const name of NAMES) expect(Math.abs(moved[name].lower - first[name].lower)).toBeLessThan(0.005);
    live.dispose();
  });

  test("designs with finitely many values and bounds are taken to the nearest that is allowed", async () => {
    const model = defineModel({
      parameters: { theta: target(normal(0, 1)), phi: sensitive(normal(0, 1)) },
      design: { item: oneOf([0, 1, 2]) },
      outcome: ({ theta, phi }, { item }) => bernoulli({ logit: add(theta, mul(item, phi)) }),
    });
    const live = liveDesign(model, { horizon: 2 });
    expect(live.information([[1.2], [7]])).toEqual(live.information([[1], [2]]));
    const known = await oracle(model, [[1], [2]]);
    expect(live.information([[1], [2]]).target.lower).toBeCloseTo(known.target.lower, 5);
    const bounded = liveDesign(pharmacokinetics(), { horizon: 1 });
    expect(bounded.information([[-5]])).toEqual(bounded.information([[0.1]]));
    live.dispose();
    bounded.dispose();
  });

  test("a curve too steep for the grid is sampled, and not called exact", () => {
    const live = liveDesign(psychometric({ slope: 200 }), { horizon: 1 });
    expect(live.information([[0, 0]]).method).toBe("nested sampling");
    live.dispose();
  });

  test("refining stops when told to, and everything refuses what it cannot use", async () => {
    const live = liveDesign(locationFinding(), { horizon: 1 });
    const controller = new AbortController();
    const refined = live.refine([[3, 3]], { signal: controller.signal });
    controller.abort();
    await expect(refined).rejects.toThrow();
    expect(() => live.information([[1, 2, 3]])).toThrow(liveDesignTexts.numbers(0, 2));
    expect(() =>
      live.information([
        [1, 2],
        [1, 2],
      ]),
    ).toThrow(liveDesignTexts.rows(2, 1));
    live.dispose();
    expect(() => live.information([[1, 2]])).toThrow(InputError);
  });
});
