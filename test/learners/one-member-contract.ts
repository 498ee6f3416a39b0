/** What every learner of a single member must do, whatever it learns. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seededStream } from "../../src/core/random.js";
import type { Learner } from "../../src/learners/classifier.js";
import { featureTexts } from "../../src/learners/features.js";
import { classWeightTexts, trainingTexts } from "../../src/learners/training.js";
import { column, formulaLabels, formulaTable } from "./formula-table.js";

export const describeOneMember = (make: (options?: { classWeights?: number[] }) => Learner): void => {
  const features = formulaTable(60, 97);
  const labels = formulaLabels(features, 9);
  const training = { features, labels, classes: 2 };
  const learner = make();

  describe(`${learner.name} as a classifier of one member`, () => {
    it("gives the same answers for the same stream", () => {
      const predictions = [0, 1].map(() => learner.fit(training, seededStream(3)).predict(features));
      expect(predictions[0]).toEqual(predictions[1]);
    });

    it("answers as its only member", () => {
      const fitted = learner.fit(training, seededStream(0));
      const { values, ...shape } = fitted.predictMembers(features) as { values: Float32Array };
      expect(shape).toEqual({ kind: "dense", rows: 60, members: 1, classes: 2 });
      expect(values).toEqual(Float32Array.from(fitted.predict(features)));
      expect([fitted.classes, fitted.members]).toEqual([2, 1]);
    });

    it("answers for the rows that are asked for, in their order", () => {
      const fitted = learner.fit(training, seededStream(0));
      const all = fitted.predict(features);
      const some = fitted.predict(features, Int32Array.of(7, 0, 7));
      expect(Array.from(some)).toEqual(
        [7, 0, 7].flatMap((row) => Array.from(all.subarray(2 * row, 2 * row + 2))),
      );
      expect(fitted.predict(features, Int32Array.of())).toEqual(new Float64Array(0));
    });

    it("learns from the rows that are named, as from a table of just these", () => {
      const rows = Int32Array.from({ length: 30 }, (_, i) => 59 - 2 * i);
      const named = { ...training, rows, labels: rows.map((row) => labels[row]) };
      const values = Float32Array.from(
        Array.from(rows).flatMap((row) => [...features.values.subarray(4 * row, 4 * row + 4)]),
      );
      const alone = {
        ...named,
        rows: Int32Array.from(rows.keys()),
        features: { values, rows: 30, columns: 4 },
      };
      const both = [named, alone].map((each) => learner.fit(each, seededStream(1)).predict(features));
      expect(both[0]).toEqual(both[1]);
    });

    it("does not look at rows without weight", () => {
      const weights = Float64Array.from({ length: 60 }, (_, i) => Number(i % 2 === 1));
      const odd = Int32Array.from({ length: 30 }, (_, i) => 2 * i + 1);
      const weighted = learner.fit({ ...training, weights }, seededStream(1)).predict(features);
      const chosen = { ...training, rows: odd, labels: odd.map((row) => labels[row]) };
      expect(weighted).toEqual(learner.fit(chosen, seededStream(1)).predict(features));
    });

    it("multiplies class weights into the rows'", () => {
      const weights = Float64Array.from(labels, (label) => [1, 3][label]);
      const byRow = learner.fit({ ...training, weights }, seededStream(1)).predict(features);
      const byClass = make({ classWeights: [1, 3] })
        .fit(training, seededStream(1))
        .predict(features);
      expect(byClass).toEqual(byRow);
      const plain = learner.fit(training, seededStream(1)).predict(features);
      const sum = (p: Float64Array) => column(p, 2, 1).reduce((total, each) => total + each, 0);
      expect(sum(byClass)).toBeGreaterThan(sum(plain));
    });

    it("gives classes that did not occur probability 0, and the others what they have without them", () => {
      const spread = labels.map((label) => [1, 3][label]);
      const fitted = learner.fit({ features, labels: spread, classes: 5 }, seededStream(0));
      const p = fitted.predict(features);
      const two = learner.fit(training, seededStream(0)).predict(features);
      for (const c of [0, 2, 4]) expect(column(p, 5, c).every((each) => each === 0)).toBe(true);
      expect(column(p, 5, 1)).toEqual(column(two, 2, 0));
      expect(column(p, 5, 3)).toEqual(column(two, 2, 1));
    });

    it("gives finite probabilities that sum to 1, on any small table", () => {
      const cell = fc.oneof(
        fc.integer({ min: -2, max: 2 }),
        fc.float({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 }),
      );
      const tables = fc.integer({ min: 2, max: 12 }).chain((rows) =>
        fc.record({
          values: fc.array(cell, { minLength: 3 * rows, maxLength: 3 * rows }),
          labels: fc.array(fc.integer({ min: 0, max: 2 }), { minLength: rows, maxLength: rows }),
        }),
      );
      fc.assert(
        fc.property(tables, ({ values, labels: drawn }) => {
          fc.pre(new Set(drawn).size > 1);
          const small = { values: Float32Array.from(values), rows: drawn.length, columns: 3 };
          const p = learner
            .fit({ features: small, labels: Int32Array.from(drawn), classes: 3 }, seededStream(0))
            .predict(small);
          for (let i = 0; i < drawn.length; i++) {
            const own = p.subarray(3 * i, 3 * i + 3);
            expect(own.every((each) => each >= 0 && each <= 1)).toBe(true);
            expect(own.reduce((sum, each) => sum + each, 0)).toBeCloseTo(1, 9);
          }
        }),
        { numRuns: 25, seed: 1 },
      );
    });

    it("refuses what it cannot learn from or answer", () => {
      const stream = seededStream(0);
      const constant = { ...training, labels: new Int32Array(60) };
      expect(() => learner.fit(constant, stream)).toThrow(trainingTexts.oneClass(60));
      expect(() => make({ classWeights: [1] }).fit(training, stream)).toThrow(classWeightTexts.given([1], 2));
      const fitted = learner.fit(training, stream);
      const narrow = { values: new Float32Array(3), rows: 1, columns: 3 };
      expect(() => fitted.predict(narrow)).toThrow(featureTexts.columns(3, 4));
      expect(() => fitted.predictMembers(features, Int32Array.of(60))).toThrow(featureTexts.row(60, 60));
      const broken = { values: Float32Array.of(0, 1, Number.NaN, 2), rows: 1, columns: 4 };
      expect(() => fitted.predict(broken)).toThrow(featureTexts.notFinite(0, 2, Number.NaN));
    });
  });
};
