import { describe, expect, test } from "vitest";
import { chiSquareTail } from "../../src/core/math.js";
import { testBaseRates } from "../../src/fairness/base-rates.js";

/** Rows by group and target value: [groups][values] counts. */
const rowsOf = (counts: readonly (readonly number[])[]) => {
  const groups: number[] = [];
  const target: number[] = [];
  counts.forEach((own, group) => {
    own.forEach((count, value) => {
      for (let i = 0; i < count; i++) {
        groups.push(group);
        target.push(value);
      }
    });
  });
  return {
    groups: Int32Array.from(groups),
    target: Int32Array.from(target),
    groupNames: counts.map((_, group) => `group ${group}`),
    targetNames: counts[0].map((_, value) => `value ${value}`),
  };
};

describe("chi-square tail", () => {
  // scipy.stats.chi2.sf
  test.each([
    [3.841458820694124, 1, 0.05],
    [0.5, 3, 0.9188914116546758],
    [10, 5, 0.07523524614651217],
    [113.2, 1, 1.9507153482611504e-26],
    [200, 100, 1.1784500720979781e-8],
    [80, 100, 0.9296649333406051],
  ])("%f with %i degrees of freedom", (statistic, freedom, p) => {
    expect(Math.abs(chiSquareTail(statistic, freedom) / p - 1)).toBeLessThan(1e-10);
  });
});

describe("base rates", () => {
  test("COMPAS by race: the large groups differ although the two extreme ones are tiny", () => {
    // Two-year recidivism: African-American, Caucasian, Hispanic, Other, Asian, Native American.
    const compas = [
      [1795, 1901],
      [1488, 966],
      [405, 232],
      [244, 133],
      [23, 9],
      [8, 10],
    ];
    const found = testBaseRates(rowsOf(compas));
    // scipy.stats.chi2_contingency(compas, correction=False)
    expect(found?.method).toBe("chi-square");
    expect(found?.freedom).toBe(5);
    expect(found?.statistic).toBeCloseTo(131.0946966441, 9);
    expect((found?.pValue ?? 1) / 1.3939424599658275e-26).toBeCloseTo(1, 6);
    expect(found?.differing.map(({ group }) => group)).toEqual(["group 0", "group 1", "group 2", "group 3"]);
    expect(found?.differing[0].rate).toBeCloseTo(0.514, 3);
  });

  test("every value of the target is tested, not one of them", () => {
    // The same share of value 1 in both groups; values 0 and 2 differ.
    const found = testBaseRates(
      rowsOf([
        [300, 400, 300],
        [100, 400, 500],
      ]),
    );
    expect(found?.statistic).toBeCloseTo(150, 9);
    expect((found?.pValue ?? 1) / 2.678636961808087e-33).toBeCloseTo(1, 6);
    expect(found?.differing.map(({ target }) => target).sort()).toEqual(["value 0", "value 2"]);
  });

  test("small counts go by Fisher's exact test", () => {
    // The lady tasting tea: scipy.stats.fisher_exact([[3, 1], [1, 3]]) is 0.4857; [[8, 2], [1, 5]] is 0.03497.
    const tea = testBaseRates(
      rowsOf([
        [1, 3],
        [3, 1],
      ]),
    );
    expect(tea?.method).toBe("fisher");
    expect(tea?.pValue).toBeCloseTo(0.4857142857, 9);
    const other = testBaseRates(
      rowsOf([
        [2, 8],
        [5, 1],
      ]),
    );
    expect(other?.pValue).toBeCloseTo(0.034965034965, 9);
    expect(other?.differing).toHaveLength(1);
  });

  test("groups that do not differ are not said to, and nothing is said of one group or one value", () => {
    const same = testBaseRates(
      rowsOf([
        [100, 50],
        [200, 100],
        [40, 20],
      ]),
    );
    expect(same?.pValue).toBeCloseTo(1, 12);
    expect(same?.differing).toEqual([]);
    expect(testBaseRates(rowsOf([[10, 20]]))).toBeUndefined();
    expect(testBaseRates(rowsOf([[10], [20]]))).toBeUndefined();
  });
});
