import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { wilsonInterval } from "../../src/core/stats.js";
import {
  binomialAtMost,
  compositionOf,
  compositionTexts,
  compositionWarnings,
  isBelowHalf,
} from "../../src/fairness/composition.js";

const sex = { name: "sex", classes: ["man", "woman"], labels: [0, 1, 0, 1, 0, 0, 1, -1, 0, 1] };
const hired = { name: "hired", classes: ["no", "yes"], labels: [0, 0, 1, 1, 1, 0, 0, 1, 1, -1] };

describe("the composition of an acquired set", () => {
  it("has the share of every group and every cell beside the population's, with Wilson's intervals", () => {
    const [composition, ...rest] = compositionOf({
      attributes: [sex],
      outcome: hired,
      acquired: [0, 2, 3, 4, 7],
      population: [...sex.labels.keys()],
    });
    expect(rest).toEqual([]);
    expect(composition).toMatchObject({ attribute: "sex", acquired: 4, unknown: 1 });
    expect(composition.groups).toEqual([
      { group: "man", count: 3, share: 0.75, interval: wilsonInterval(3, 4), population: 5 / 9 },
      { group: "woman", count: 1, share: 0.25, interval: wilsonInterval(1, 4), population: 4 / 9 },
    ]);
    // Eight rows have both labels known: two men not hired, three hired, two women not hired, one hired.
    expect(
      composition.cells.map(({ group, outcome, count, population }) => [group, outcome, count, population]),
    ).toEqual([
      ["man", "no", 1, 2 / 8],
      ["man", "yes", 2, 3 / 8],
      ["woman", "no", 0, 2 / 8],
      ["woman", "yes", 1, 1 / 8],
    ]);
  });

  it("takes several attributes, and no outcome", () => {
    const composition = compositionOf({
      attributes: [sex, { ...sex, name: "other" }],
      acquired: [1],
      population: [0, 1],
    });
    expect(composition.map(({ attribute, cells }) => [attribute, cells])).toEqual([
      ["sex", []],
      ["other", []],
    ]);
  });

  it("has no shares where nothing is known", () => {
    const [{ groups }] = compositionOf({ attributes: [sex], acquired: [], population: [7] });
    expect(groups[0]).toEqual({ group: "man", count: 0, share: null, interval: null, population: null });
    expect(() => compositionOf({ attributes: [sex], acquired: [11], population: [] })).toThrow(
      compositionTexts.row(11, 10),
    );
  });

  it("counts by group what adds up to all", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -1, max: 2 }), { minLength: 1 }), (labels) => {
        const [{ acquired, unknown, groups }] = compositionOf({
          attributes: [{ name: "a", classes: ["x", "y", "z"], labels }],
          acquired: [...labels.keys()],
          population: [...labels.keys()],
        });
        expect(groups.reduce((sum, { count }) => sum + count, 0)).toBe(acquired);
        expect(acquired + unknown).toBe(labels.length);
        for (const { share, population } of groups) expect(share).toBe(population);
      }),
    );
  });
});

describe("a group below half its share", () => {
  it("has the exact binomial's tail", () => {
    // 1/32 + 5/32 of five tosses; (3/4)^4.
    expect(binomialAtMost(1, 5, 0.5)).toBeCloseTo(6 / 32, 12);
    expect(binomialAtMost(0, 4, 0.25)).toBeCloseTo(81 / 256, 12);
    expect(binomialAtMost(4, 4, 0.25)).toBe(1);
    expect(binomialAtMost(0, 4, 0)).toBe(1);
    expect(binomialAtMost(1, 4, 1)).toBe(0);
  });

  it("is warned about only where chance does not explain it", () => {
    // .5^6 is above .01 and .5^7 below.
    expect(isBelowHalf(0, 6, 0.5)).toBe(false);
    expect(isBelowHalf(0, 7, 0.5)).toBe(true);
    // Half its share and more is never warned about, however many.
    expect(isBelowHalf(25_000, 100_000, 0.5)).toBe(false);
    expect(isBelowHalf(24_999, 100_000, 0.5)).toBe(true);
    expect(isBelowHalf(0, 0, 0.5)).toBe(false);
  });

  it("shares a sentence with others of its attribute", () => {
    const share = { count: 0, share: 0.004, interval: null, population: 0.25 };
    const groups = ["a", "b"].map((group) => ({ group, ...share }));
    expect(compositionWarnings([{ attribute: "race", acquired: 100, groups }])).toEqual([
      "a (race) makes up 0.4 % of what was acquired and 25 % of the candidates, b 0.4 % and 25 %: less than half their shares",
    ]);
  });

  it("is named with both shares", () => {
    const labels = Array.from({ length: 300 }, (_, row) => Number(row % 3 === 0));
    const rows = [...labels.keys()];
    const composition = compositionOf({
      attributes: [{ name: "sex", classes: ["man", "woman"], labels }],
      acquired: rows.filter((row) => labels[row] === 0 || row < 30).slice(0, 110),
      population: rows,
    });
    const text =
      "woman (sex) makes up 9.1 % of what was acquired and 33 % of the candidates: less than half its share";
    expect(compositionWarnings(composition)).toEqual([text]);
    expect(compositionWarnings(composition, { acquired: "the batch", of: "the pool" })[0]).toContain(
      "9.1 % of the batch and 33 % of the pool",
    );
  });
});
