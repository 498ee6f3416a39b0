import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seededStream } from "../../src/core/random.js";
import { learnerNamed } from "../../src/learners/by-name.js";
import { LEARNER_NAMES } from "../../src/learners/learner-names.js";
import { mitigationTexts } from "../../src/mitigation/groups.js";
import { reweigh, reweighingTexts } from "../../src/mitigation/reweighing.js";

/** The sum of the weights of rows that satisfy something. */
const sumWhere = (weights: ArrayLike<number>, keep: (i: number) => boolean): number =>
  Array.from(weights).reduce((sum, weight, i) => (keep(i) ? sum + weight : sum), 0);

describe("reweigh", () => {
  it("gives the weights of Kamiran and Calders' example", () => {
    // Their table 1: of five men four have a job, of five women two. Weights .75, 2, 1.5 and 2/3.
    const labels = [1, 1, 1, 1, 0, 1, 1, 0, 0, 0];
    const groups = [1, 1, 1, 1, 1, 0, 0, 0, 0, 0];
    const { weights, cells, warnings, unknown } = reweigh({ labels, groups });
    const expected = [0.75, 0.75, 0.75, 0.75, 2, 1.5, 1.5, 2 / 3, 2 / 3, 2 / 3];
    for (const [row, weight] of expected.entries()) expect(weights[row]).toBeCloseTo(weight, 14);
    expect(cells.map(({ label, group, rows }) => [label, group, rows])).toEqual([
      [0, 0, 3],
      [0, 1, 1],
      [1, 0, 2],
      [1, 1, 4],
    ]);
    expect([warnings, unknown]).toEqual([[], 0]);
  });

  it("makes outcome and group independent, and keeps what each sums to", () => {
    const row = fc.record({
      y: fc.integer({ min: -1, max: 2 }),
      g: fc.integer({ min: -1, max: 3 }),
      weight: fc.integer({ min: 1, max: 5 }),
    });
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 60 }), (rows) => {
        // Every outcome in every group at least once.
        const full = [...rows, ...Array.from({ length: 12 }, (_, i) => ({ y: i % 3, g: i % 4, weight: 1 }))];
        const [y, g] = [full.map((each) => each.y), full.map((each) => each.g)];
        const before = full.map(({ weight }) => weight);
        const { weights, warnings, unknown } = reweigh({ labels: y, groups: g, weights: before });
        expect(warnings).toEqual([]);
        expect(unknown).toBe(full.filter((each) => each.y < 0 || each.g < 0).length);
        const known = (i: number) => y[i] >= 0 && g[i] >= 0;
        const all = sumWhere(weights, known);
        for (let label = 0; label < 3; label++) {
          const ofLabel = sumWhere(weights, (i) => known(i) && y[i] === label);
          expect(ofLabel).toBeCloseTo(
            sumWhere(before, (i) => known(i) && y[i] === label),
            9,
          );
          for (let group = 0; group < 4; group++) {
            const ofGroup = sumWhere(weights, (i) => known(i) && g[i] === group);
            const cell = sumWhere(weights, (i) => y[i] === label && g[i] === group);
            expect(cell * all).toBeCloseTo(ofLabel * ofGroup, 7);
          }
        }
        full.forEach((each, i) => {
          if (!known(i)) expect(weights[i]).toBe(each.weight);
        });
      }),
    );
  });

  it("says which cells are empty, and counts no outcome or group that does not occur", () => {
    const { cells, warnings, weights } = reweigh({ labels: [0, 0, 2, 0], groups: [0, 1, 1, 3] });
    expect(warnings).toEqual([reweighingTexts.empty(2, 0), reweighingTexts.empty(2, 3)]);
    expect(cells).toHaveLength(6);
    expect(weights.every((weight) => weight > 0)).toBe(true);
  });

  it("leaves one group, and independent rows, as they are", () => {
    expect([...reweigh({ labels: [0, 1, 1], groups: [0, 0, 0] }).weights]).toEqual([1, 1, 1]);
    expect([...reweigh({ labels: [0, 1, 0, 1], groups: [0, 0, 1, 1] }).weights]).toEqual([1, 1, 1, 1]);
  });

  it.each(LEARNER_NAMES)("weighs the rows of %s", (name) => {
    // Nobody but group 1 has outcome 1 for the most part, and a learner that sees only the group follows.
    const groups = Int32Array.from({ length: 80 }, (_, i) => Number(i >= 40));
    const labels = groups.map((group, i) => Number(i % 10 < (group === 1 ? 8 : 3)));
    const features = { values: Float32Array.from(groups), rows: 80, columns: 1 };
    const gapOf = (weights: Float64Array | undefined) => {
      const fitted = learnerNamed(name).fit({ features, labels, classes: 2, weights }, seededStream(1));
      const probabilities = fitted.predict(features, Int32Array.of(0, 79));
      return Math.abs(probabilities[3] - probabilities[1]);
    };
    expect(gapOf(reweigh({ labels, groups }).weights)).toBeLessThan(gapOf(undefined) / 2);
  });

  it.each([
    [{ labels: [0, 1], groups: [0] }, mitigationTexts.lengths("groups", 1, 2)],
    [{ labels: [0, 1], groups: [0, 1], weights: [1] }, mitigationTexts.lengths("weights", 1, 2)],
    [{ labels: [0, 0.5], groups: [0, 1] }, reweighingTexts.number("label", 1)],
    [{ labels: [0, 1], groups: [0, -2] }, reweighingTexts.number("group", 1)],
    [{ labels: [0, 1], groups: [0, 1], weights: [1, Number.NaN] }, reweighingTexts.weight(1)],
    [{ labels: [-1, 1], groups: [0, -1] }, reweighingTexts.nobody],
  ])("%# refuses what is wrong", (rows, text) => {
    expect(() => reweigh(rows)).toThrow(text);
  });
});
