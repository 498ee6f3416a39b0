import { describe, expect, test } from "vitest";
import { seededStream } from "../../src/core/random.js";
import { tableOf } from "../../src/tables/table-of.js";
import {
  countFavoured,
  differenceOfShares,
  fittedBand,
  ratioOfShares,
} from "../../src/workflows/fitted-band.js";
import { rejectTable, representTable } from "../../src/workflows/mitigate.js";
import { reweighTable } from "../../src/workflows/mitigate-reweigh.js";
import { fairRuleTable } from "../../src/workflows/mitigate-rule.js";

const count = (favoured: number, rows: number) => ({ favoured, rows });

describe("shares of two groups", () => {
  test("differ with the interval of Newcombe's paper (56 of 70 and 48 of 80)", () => {
    const found = differenceOfShares(count(56, 70), count(48, 80));
    expect(found?.value).toBeCloseTo(0.2, 12);
    expect(found?.interval[0]).toBeCloseTo(0.0524, 4);
    expect(found?.interval[1]).toBeCloseTo(0.3339, 4);
    expect(differenceOfShares(count(0, 0), count(1, 2))).toBeNull();
  });

  test("have a ratio whose interval is near the logarithmic one for many rows, and within 0 and 1", () => {
    const found = ratioOfShares([count(6000, 10000), count(3000, 10000), count(4500, 10000)]);
    const error = Math.sqrt(0.7 / 3000 + 0.4 / 6000);
    expect(found?.value).toBeCloseTo(0.5, 12);
    expect(found?.interval[0]).toBeCloseTo(0.5 * Math.exp(-1.96 * error), 3);
    expect(found?.interval[1]).toBeCloseTo(0.5 * Math.exp(1.96 * error), 3);
    expect(ratioOfShares([count(0, 20), count(10, 20)])).toMatchObject({ value: 0 });
    expect(ratioOfShares([count(10, 20), count(10, 20)])?.interval[1]).toBe(1);
    expect(ratioOfShares([count(0, 20), count(0, 20)])).toBeNull();
    expect(ratioOfShares([count(5, 9), count(0, 0)])).toBeNull();
  });

  test("the interval of a ratio holds for about 95 % of samples", () => {
    const stream = seededStream("coverage");
    const draw = (share: number) =>
      countFavoured(
        Array.from({ length: 200 }, () => Number(stream.uniform() < share)),
        () => true,
      );
    let held = 0;
    for (let i = 0; i < 1000; i++) {
      const found = ratioOfShares([draw(0.3), draw(0.5)]);
      if (found !== null && found.interval[0] <= 0.6 && found.interval[1] >= 0.6) held += 1;
    }
    expect(held / 1000).toBeGreaterThan(0.93);
    expect(held / 1000).toBeLessThan(0.975);
  });
});

test("a band is left by the value, and chance is named where the interval reaches into it", () => {
  const about = { measure: "ratio", of: "selection rates", band: [0.8, 1], fitted: 0.85 } as const;
  const at = (value: number, interval: readonly [number, number]) =>
    fittedBand({ ...about, test: { value, interval } });
  expect(at(0.71, [0.66, 0.76])).toMatchObject({
    outside: true,
    sentence:
      "fitted to a ratio of selection rates of 0.80 to 1.00, 0.850 on the rows it was fitted on; on the test rows 0.710 (0.660 to 0.760): outside",
  });
  expect(at(0.78, [0.7, 0.86]).sentence).toMatch(/: outside, though its interval reaches inside$/);
  expect(at(0.81, [0.7, 0.9])).toMatchObject({ outside: false });
  expect(fittedBand({ ...about, test: null })).toMatchObject({ outside: null });
});

describe("a mitigation says whether what it was fitted to holds on the test rows", () => {
  /** In the test rows one group lacks the skill that decides; in the others both have it alike. */
  const people = (shifted: boolean) => {
    const stream = seededStream("shift");
    return tableOf(
      Array.from({ length: 900 }, (_, i) => {
        const sex = i % 2 === 0 ? "f" : "m";
        const tested = i >= 600;
        const skill = shifted && tested && sex === "f" ? stream.uniform() * 0.4 : stream.uniform();
        return {
          skill,
          taste: stream.uniform(),
          sex,
          hired: skill + 0.1 * stream.normal() > 0.5 ? "yes" : "no",
        };
      }),
    );
  };
  const options = { target: "hired=yes", sensitive: ["sex"], testFrom: 600, trees: 20, seed: 1 };

  test.each([
    ["roc", (shifted: boolean) => rejectTable(people(shifted), options)],
    ["rule", (shifted: boolean) => fairRuleTable(people(shifted), { ...options, replicates: 200 })],
    ["reweigh", (shifted: boolean) => reweighTable(people(shifted), options)],
    [
      "lfr",
      (shifted: boolean) =>
        representTable(people(shifted), { ...options, prototypes: 4, maxSteps: 60, restarts: 1 }),
    ],
  ] as const)("%s", async (_, mitigate) => {
    const kept = await mitigate(false);
    expect(kept.band.outside).toBe(false);
    expect(kept.warnings).not.toContain(kept.band.sentence);
    const left = await mitigate(true);
    expect(left.band.outside).toBe(true);
    expect(left.warnings).toContain(left.band.sentence);
    expect(left.band.sentence).toMatch(/: outside$/);
  });
});
