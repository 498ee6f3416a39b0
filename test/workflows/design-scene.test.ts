/** What a picture of designs is told of a model. */
import { describe, expect, test } from "vitest";
import { add, mul } from "../../src/compute/index.js";
import { bernoulli, normal } from "../../src/design/distribution.js";
import { defineModel, oneOf, real, sensitive, target } from "../../src/design/model.js";
import { locationFinding } from "../../src/design/models/location.js";
import { pharmacokinetics } from "../../src/design/models/pharmacokinetics.js";
import { psychometric } from "../../src/design/models/psychometric.js";
import { designScene, firstDesigns, placesOf } from "../../src/workflows/design-scene.js";

const items = defineModel({
  parameters: { theta: target(normal(0, 1)), phi: sensitive(normal(0, 2)) },
  design: { item: oneOf([0, 1, 5]), above: real({ low: 3 }) },
  outcome: ({ theta, phi }, { item, above }) => bernoulli({ logit: add(theta, mul(item, mul(above, phi))) }),
});

describe("a scene", () => {
  test("has the bounds of a variable, or else where the prior has the parameters", () => {
    const [x, y] = designScene(locationFinding({ priorMean: [3, -2] })).variables;
    // Four standard deviations around both means, which are 3 and -2.
    for (const { shown } of [x, y]) {
      expect(shown[0]).toBeCloseTo(-6, 0);
      expect(shown[1]).toBeCloseTo(7, 0);
    }
    expect(designScene(pharmacokinetics({ latest: 12 })).variables[0].shown).toEqual([0.1, 12]);
    const [item, above] = designScene(items).variables;
    expect(item).toMatchObject({ values: [0, 1, 5], shown: [0, 5] });
    expect(above.shown[0]).toBe(3);
    expect(above.shown[1]).toBeGreaterThan(above.shown[0]);
  });

  test("says what the prior knows, and what an observation can come to", () => {
    const { parameters, outcomes, possible } = designScene(locationFinding());
    expect(parameters.map(({ name, role }) => [name, role])).toEqual([
      ["theta", "target"],
      ["phi", "sensitive"],
    ]);
    for (const { mean, sd, interval } of parameters) {
      expect(mean).toBeCloseTo(3, 1);
      expect(sd).toBeCloseTo(1, 1);
      expect(interval[1] - interval[0]).toBeCloseTo(2 * 1.96, 0);
    }
    expect(outcomes).toEqual([{ name: "outcome", isLogarithm: true, isYesNo: false }]);
    expect(possible).toBeNull();
    expect(designScene(psychometric()).possible).toEqual([[0], [1]]);
  });

  test("has draws of every source among the designs, and none where parameters are no places", () => {
    const { prior } = designScene(
      locationFinding({ priorMean: [3, -2], sources: 2, targets: [0], sensitives: [2] }),
    );
    expect(prior).toHaveLength(600);
    const mean = (axis: 0 | 1) => prior.reduce((sum, place) => sum + place[axis], 0) / prior.length;
    // Six hundred draws with a standard deviation of 1: four standard errors.
    expect(Math.abs(mean(0) - 3)).toBeLessThan(0.17);
    expect(Math.abs(mean(1) + 2)).toBeLessThan(0.17);
    expect(designScene(psychometric()).prior).toEqual([]);
    expect(placesOf(locationFinding({ dimensions: 1, sources: 2 }), {})).toEqual([]);
  });
});

describe("designs to begin with", () => {
  test("are allowed, apart from each other, and the same again", () => {
    for (const model of [
      locationFinding(),
      locationFinding({ dimensions: 3 }),
      psychometric(),
      pharmacokinetics(),
    ]) {
      const designs = firstDesigns(model, 12);
      expect(designs).toEqual(firstDesigns(model, 12));
      expect(designs.slice(0, 4)).toEqual(firstDesigns(model, 4));
      expect(new Set(designs.map(String)).size).toBe(12);
      for (const design of designs) {
        model.design.forEach(({ low, high }, d) => {
          expect(design[d]).toBeGreaterThanOrEqual(low);
          expect(design[d]).toBeLessThanOrEqual(high);
        });
      }
    }
    for (const [item, above] of firstDesigns(items, 9)) {
      expect([0, 1, 5]).toContain(item);
      expect(above).toBeGreaterThanOrEqual(3);
    }
  });
});
