import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { seededStream } from "../../src/core/random.js";
import { groupTexts } from "../../src/fairness/group-metrics.js";
import { auditParity } from "../../src/fairness/leakage.js";
import { decomposeParity, decompositionTexts } from "../../src/fairness/parity-decomposition.js";
import { logistic } from "../../src/learners/logistic.js";

const options = (seed: number) => ({ stream: seededStream(seed), replicates: 100, leastRows: 1 });

describe("parity decomposition", () => {
  test("a table computed by hand", () => {
    // Group 0: rows 0, 1; group 1: rows 2, 3, 4. As if in group 0 and as if in group 1:
    const f0 = Float64Array.of(0.2, 0.4, 0.5, 0.6, 0.7);
    const f1 = Float64Array.of(0.3, 0.7, 0.9, 0.9, 0.9);
    // Means in group 0: f0 .3, f1 .5; in group 1: f0 .6, f1 .9.
    const [{ gap, reading, features, group, reference }] = decomposeParity(
      { asIf: [f0, f1], groups: Int32Array.of(0, 0, 1, 1, 1), groupNames: ["a", "b"] },
      options(1),
    );
    expect([group, reference]).toEqual(["b", "a"]);
    expect(gap?.value).toBeCloseTo(0.6, 12);
    expect(reading?.value).toBeCloseTo((0.3 + 0.2) / 2, 12);
    expect(features?.value).toBeCloseTo((0.3 + 0.4) / 2, 12);
  });

  test("parts add up, change sign with the reference, and reading is 0 for whoever does not read", () => {
    const score = fc.double({ min: 0, max: 1, noNaN: true });
    const row = fc.tuple(score, score, fc.integer({ min: 0, max: 1 }));
    fc.assert(
      fc.property(fc.array(row, { minLength: 4, maxLength: 30 }), (rows) => {
        const groups = Int32Array.from([0, 1, ...rows.map(([, , group]) => group)]);
        const column = (at: 0 | 1) => Float64Array.from([0.5, 0.5, ...rows.map((each) => each[at])]);
        const names = { groups, groupNames: ["a", "b"] };
        const [one] = decomposeParity({ asIf: [column(0), column(1)], ...names }, options(2));
        expect((one.reading?.value ?? 0) + (one.features?.value ?? 0)).toBeCloseTo(one.gap?.value ?? 1, 10);
        const [back] = decomposeParity(
          { asIf: [column(0), column(1)], ...names },
          { ...options(2), reference: 1 },
        );
        expect(back.gap?.value).toBeCloseTo(-(one.gap?.value ?? 1), 10);
        expect(back.reading?.value).toBeCloseTo(-(one.reading?.value ?? 1), 10);
        const [blind] = decomposeParity({ asIf: [column(0), column(0)], ...names }, options(2));
        expect(blind.reading).toEqual({ value: 0, interval: [0, 0] });
      }),
      { numRuns: 30 },
    );
  });

  test("intervals cover the truth as often as they say", () => {
    // f_g(x) = x + 0.2 g with x ~ U(0, .5) in group 0 and U(.1, .6) in group 1: reading .2, features .1.
    let covered = 0;
    const repetitions = 100;
    for (let r = 0; r < repetitions; r++) {
      const stream = seededStream(3).split(r);
      const groups = Int32Array.from({ length: 80 }, (_, i) => i % 2);
      const x = Float64Array.from(groups, (group) => stream.uniform(0.1 * group, 0.5 + 0.1 * group));
      const [{ features, reading }] = decomposeParity(
        { asIf: [x, x.map((value) => value + 0.2)], groups, groupNames: ["a", "b"] },
        { stream: stream.split("resamples"), replicates: 200 },
      );
      expect(reading?.value).toBeCloseTo(0.2, 10);
      const [low, high] = features?.interval ?? [0, 0];
      covered += Number(low <= 0.1 && high >= 0.1);
    }
    // Binomial(100, .95): below 88 in one case of 500.
    expect(covered).toBeGreaterThanOrEqual(88);
  });

  test("a group too small says so, and wrong input is refused", () => {
    const asIf = [Float64Array.of(0.1, 0.2, 0.3), Float64Array.of(0.1, 0.2, 0.3)];
    const input = { asIf, groups: Int32Array.of(0, 0, 1), groupNames: ["a", "b"] };
    const [small] = decomposeParity(input, { stream: seededStream(1), leastRows: 2, replicates: 100 });
    expect(small.gap).toBeUndefined();
    expect(small.reason).toBe(decompositionTexts.few(1, 2));
    const refused = (wrong: Partial<typeof input>, text: string) =>
      expect(() => decomposeParity({ ...input, ...wrong }, options(1))).toThrow(text);
    refused({ asIf: [asIf[0]] }, decompositionTexts.asIf(1, 2));
    refused({ asIf: [asIf[0], Float64Array.of(0, 1, 1.5)] }, groupTexts.score(2, 1.5));
    expect(() => decomposeParity(input, { stream: seededStream(1), replicates: 3 })).toThrow(
      decompositionTexts.replicates(3),
    );
  });
});

describe("predictors made from a table", () => {
  test("the target is the group: whoever sees it has a gap by reading, whoever does not has none", async () => {
    const stream = seededStream(4);
    const rows = 400;
    const sensitive = Int32Array.from({ length: rows }, (_, row) => row % 2);
    const values = Float32Array.from({ length: rows }, () => stream.normal());
    const target = sensitive.map((group) => (stream.uniform() < 0.1 ? 1 - group : group));
    const parity = await auditParity(
      {
        features: { values, rows, columns: 1 },
        sensitive,
        groupNames: ["a", "b"],
        target,
        targetNames: ["no", "yes"],
      },
      { stream: seededStream(5), predictor: logistic({ members: 10 }), replicates: 200 },
    );
    expect(parity.baseRates).toBe("differ");
    const [reads, doesNot] = parity.predictors;
    expect(reads.accuracy).toBeGreaterThan(0.85);
    expect(reads.decomposition[0].reading?.value).toBeGreaterThan(0.7);
    expect(Math.abs(reads.decomposition[0].features?.value ?? 1)).toBeLessThan(0.05);
    expect(doesNot.decomposition[0].reading?.value).toBe(0);
    expect(Math.abs(doesNot.decomposition[0].gap?.value ?? 1)).toBeLessThan(0.05);
  });
});
