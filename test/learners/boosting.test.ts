/** Numbers are those of XGBoost 1.7.4 (XGBClassifier) on the same tables, unless said otherwise. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { unpaced } from "../../src/core/options.js";
import { seededStream } from "../../src/core/random.js";
import { cutSteps } from "../../src/learners/boosting/bins.js";
import {
  type BoostingOptions,
  boosting,
  boostingTexts,
  loadBoosting,
  saveBoosting,
} from "../../src/learners/boosting.js";
import { describeWithData } from "../setup/data.js";
import { column, formulaLabels, formulaTable, largestDifference } from "./formula-table.js";
import { describeOneMember } from "./one-member-contract.js";

describeOneMember((options) => boosting(options));

describe("boosting from the classes' shares", () => {
  const features = formulaTable(600, 97);
  const weights = Float64Array.from({ length: 600 }, (_, i) => 1 + (i % 3));
  const share = (labels: Int32Array, label: number): number => {
    const own = labels.reduce((sum, each, i) => sum + (each === label ? weights[i] : 0), 0);
    return own / weights.reduce((sum, weight) => sum + weight, 0);
  };

  it.each([2, 3])("says them of every row where nothing is split, %d classes", (classes) => {
    const labels = Int32Array.from({ length: 600 }, (_, i) => (i % 7) % classes);
    const options: BoostingOptions = { rounds: 2, minChildWeight: 1e9, fromShares: true };
    const fitted = boosting(options).fit({ features, labels, classes, weights });
    const said = fitted.predict(features, Int32Array.of(0, 599));
    for (let c = 0; c < classes; c++) {
      expect(said[c]).toBeCloseTo(share(labels, c), 6);
      expect(said[classes + c]).toBe(said[c]);
    }
    expect(loadBoosting(saveBoosting(fitted)).predict(features)).toEqual(fitted.predict(features));
  });

  it("learns what there is to learn beyond them, as without", () => {
    const labels = formulaLabels(features, 9);
    const errors = [false, true].map((fromShares) => {
      const said = boosting({ rounds: 30, fromShares })
        .fit({ features, labels, classes: 2 })
        .predict(features);
      return labels.filter((label, i) => said[2 * i + label] < 0.5).length;
    });
    expect(Math.abs(errors[0] - errors[1])).toBeLessThanOrEqual(12);
    expect(errors[1]).toBeLessThan(150);
  });
});

describe("boosting, against XGBoost's exact trees", () => {
  const features = formulaTable(60, 97);
  const questions = formulaTable(6, 97, 1 / 32);
  const labels = formulaLabels(features, 9);
  const training = { features, labels, classes: 2 };

  it("has its probabilities with the defaults", () => {
    const p = boosting().fit(training).predict(questions);
    const theirs = [0.01234536, 0.9696321, 0.1276893, 0.02530735, 0.9729592, 0.9893987];
    expect(largestDifference(column(p, 2, 1), theirs)).toBeLessThan(2e-6);
  });

  it("has its probabilities with weights", () => {
    const weights = Float64Array.from({ length: 60 }, (_, i) => 1 + (i % 3));
    const p = boosting()
      .fit({ ...training, weights })
      .predict(questions);
    const theirs = [0.008547337, 0.9860737, 0.04793204, 0.00949041, 0.9860803, 0.9936365];
    expect(largestDifference(column(p, 2, 1), theirs)).toBeLessThan(2e-6);
  });

  it("has its probabilities with every option changed", () => {
    const options = { rounds: 20, rate: 0.1, maxDepth: 3, l2: 2.5, minChildWeight: 0.25 };
    const p = boosting(options).fit(training).predict(questions);
    const theirs = [0.18752, 0.8754614, 0.2184696, 0.2235658, 0.7372988, 0.8673201];
    expect(largestDifference(column(p, 2, 1), theirs)).toBeLessThan(2e-6);
  });

  it("has its probabilities of three classes", () => {
    const three = formulaLabels(features, 6, 13);
    const p = boosting().fit({ features, labels: three, classes: 3 }).predict(questions);
    const theirs = [
      0.9922431, 0.007549019, 0.0002079005, 0.002476201, 0.001581847, 0.9959419, 0.05350126, 0.9112478,
      0.03525086, 0.9932694, 0.003514373, 0.00321628, 0.0184994, 0.8530825, 0.1284182, 0.003349918,
      0.004416258, 0.9922339,
    ];
    expect(largestDifference(p, theirs)).toBeLessThan(2e-6);
  });

  it("has its first tree", () => {
    const { trees } = boosting({ rounds: 1, maxDepth: 2 }).fit(training);
    // 0: x1 < 2.5625; 1: x0 < 5.625; 2: x2 < 0.3125; leaves of the left, then of the right.
    expect(Array.from(trees.feature)).toEqual([1, 0, 2, -1, -1, -1, -1]);
    const theirs = [2.5625, 5.625, 0.3125, -0.466666698, 0.0461538509, -0.400000036, 0.527272761];
    expect(largestDifference(trees.value, theirs)).toBeLessThan(1e-7);
    expect(Array.from(trees.left.subarray(0, 3))).toEqual([1, 3, 5]);
  });

  it("misses no split of 2000 rows where values are few: exact and histogram agree there", () => {
    const many = formulaTable(2000, 23);
    const fitted = boosting().fit({ features: many, labels: formulaLabels(many, 0.5), classes: 2 });
    const theirs = [0.0002889801, 0.7790596, 0.3202072, 0.0533527, 0.000178333, 0.002841865];
    expect(largestDifference(column(fitted.predict(formulaTable(6, 23)), 2, 1), theirs)).toBeLessThan(2e-6);
  });
});

describe("boosting", () => {
  it("parts neighbouring floats, between which there is no middle", () => {
    const next = Math.fround(1 + 2 ** -23);
    const features = {
      values: Float32Array.from({ length: 40 }, (_, i) => (i % 2 ? next : 1)),
      rows: 40,
      columns: 1,
    };
    const labels = Int32Array.from({ length: 40 }, (_, i) => i % 2);
    const p = boosting().fit({ features, labels, classes: 2 }).predict(features, Int32Array.of(0, 1));
    expect(p[1]).toBeLessThan(0.1);
    expect(p[3]).toBeGreaterThan(0.9);
  });

  it("treats a row of weight 2 as two rows", () => {
    const features = formulaTable(60, 97);
    const labels = formulaLabels(features, 9);
    const twice = Int32Array.from([...labels.keys(), ...[...labels.keys()].filter((i) => i % 3 === 0)]);
    const repeated = { features, rows: twice, labels: twice.map((i) => labels[i]), classes: 2 };
    const weights = Float64Array.from(labels.keys(), (i) => (i % 3 === 0 ? 2 : 1));
    const p = boosting({ rounds: 10 }).fit(repeated).predict(features);
    const q = boosting({ rounds: 10 }).fit({ features, labels, classes: 2, weights }).predict(features);
    expect(largestDifference(p, Array.from(q))).toBeLessThan(1e-6);
  });

  it("needs no stream", () => {
    const features = formulaTable(60, 97);
    const training = { features, labels: formulaLabels(features, 9), classes: 2 };
    const learner = boosting({ rounds: 3 });
    expect(learner.fit(training, seededStream(1)).predict(features)).toEqual(
      learner.fit(training).predict(features),
    );
  });

  it("says nothing where the root has too little curvature", () => {
    const features = { values: Float32Array.of(0, 1, 2), rows: 3, columns: 1 };
    // Three rows of curvature 1/4 are below the 1 that a leaf needs.
    const p = boosting()
      .fit({ features, labels: Int32Array.of(0, 1, 1), classes: 2 })
      .predict(features);
    expect(Array.from(p)).toEqual([0.5, 0.5, 0.5, 0.5, 0.5, 0.5]);
  });

  it("refuses options that cannot be", () => {
    const wrong: [BoostingOptions, string][] = [
      [{ rounds: 0 }, boostingTexts.option("rounds", 0, "a whole number of at least 1")],
      [{ rate: 0 }, boostingTexts.option("rate", 0, "a number above 0 and at most 1")],
      [{ maxDepth: 65 }, boostingTexts.option("maxDepth", 65, "a whole number from 1 to 64")],
      [{ l2: -1 }, boostingTexts.option("l2", -1, "a finite number of at least 0")],
      [
        { minChildWeight: Number.NaN },
        boostingTexts.option("minChildWeight", Number.NaN, "a finite number of at least 0"),
      ],
      [{ bins: 1 }, boostingTexts.option("bins", 1, "a whole number from 2 to 65536")],
    ];
    for (const [options, text] of wrong) expect(() => boosting(options)).toThrow(text);
  });
});

describe("bins", () => {
  it("are equal parts of the weight, in the order of the values", () => {
    const n = 5000;
    // Each of 0, ..., n - 1 once, in another order; the upper half counts three times as much.
    const values = Float32Array.from({ length: n }, (_, i) => (i * 1237) % n);
    const weights = Float64Array.from(values, (x) => (x < n / 2 ? 1 : 3));
    const rows = Int32Array.from({ length: n }, (_, i) => i);
    const { low, offsets } = unpaced(cutSteps({ values, rows: n, columns: 1 }, rows, weights, 100));
    expect(Array.from(offsets)).toEqual([0, 100]);
    // A hundredth of the weight 10000 is 100: 100 values below the middle, 33 or 34 above it.
    for (let b = 0; b < 25; b++) expect(Math.abs(low[b] - 100 * b)).toBeLessThanOrEqual(1);
    for (let b = 25; b < 100; b++)
      expect(Math.abs(low[b] - (2500 + (100 * (b - 25)) / 3))).toBeLessThanOrEqual(1);
  });

  it("place every row: entries and commonest bins together say where each value is", () => {
    const features = formulaTable(1500, 23);
    const rows = Int32Array.from({ length: 700 }, (_, i) => 2 * i + 3);
    const weights = new Float64Array(700).fill(1);
    const { offsets, low, commonest, starts, entries } = unpaced(cutSteps(features, rows, weights, 256));
    rows.forEach((row, i) => {
      const own = entries.subarray(starts[i], starts[i + 1]);
      const found = Array.from({ length: 4 }, (_, j) => {
        const bin = own.find((b) => b >= offsets[j] && b < offsets[j + 1]) ?? commonest[j];
        return low[bin];
      });
      expect(found).toEqual(Array.from(features.values.subarray(4 * row, 4 * row + 4)));
    });
  });
});

describeWithData("boosting on students", ["students-dropout/data.csv"], (data) => {
  it.each([
    { every: 11, trained: 403, theirs: 0.8085053 },
    { every: 2, trained: 2212, theirs: 0.8417722 },
  ])("is within 0.01 of XGBoost's accuracy from $trained rows", ({ every, trained, theirs }) => {
    const [header, ...lines] = readFileSync(join(data, "students-dropout/data.csv"), "utf8")
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map((line) => line.split(";"));
    const gender = header.indexOf("Gender");
    const values = Float32Array.from(
      lines.flatMap((cells) =>
        cells
          .slice(0, -1)
          .filter((_, j) => j !== gender)
          .map(Number),
      ),
    );
    const features = { values, rows: lines.length, columns: header.length - 2 };
    const labels = Int32Array.from(lines, (cells) => Number(cells[cells.length - 1].trim() === "Graduate"));
    const rows = Int32Array.from(labels.keys());
    const trainRows = rows.filter((row) => row % every === 0);
    const testRows = rows.filter((row) => row % every !== 0);
    expect(trainRows.length).toBe(trained);
    const fitted = boosting().fit({
      features,
      rows: trainRows,
      labels: trainRows.map((row) => labels[row]),
      classes: 2,
    });
    const p = column(fitted.predict(features, testRows), 2, 1);
    const right = p.filter((each, i) => Number(each > 0.5) === labels[testRows[i]]).length;
    expect(Math.abs(right / testRows.length - theirs)).toBeLessThan(0.01);
  });
});
