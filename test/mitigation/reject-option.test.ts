import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InputError } from "../../src/core/errors.js";
import { seededStream } from "../../src/core/random.js";
import { mitigationTexts } from "../../src/mitigation/groups.js";
import { applyRejectOption, fitRejectOption, rejectOptionTexts } from "../../src/mitigation/reject-option.js";

// Unprivileged rows first. The expected numbers are AIF360's, from its definitions in NumPy.
const SCORES = [0.15, 0.25, 0.35, 0.42, 0.55, 0.62, 0.3, 0.45, 0.58, 0.66, 0.78, 0.91];
const LABELS = [0, 0, 1, 0, 1, 1, 0, 0, 1, 1, 1, 0];
const PRIVILEGED = [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1];

/** By definition: the threshold decides, except in the critical region, where the group does. */
const labelsOf = (scores: readonly number[], privileged: readonly number[], t: number, m: number) =>
  scores.map((score, i) => {
    const critical = score > t - m && score <= t + m;
    if (critical) return privileged[i] === 1 ? 0 : 1;
    return score > t ? 1 : 0;
  });

const linspace = (from: number, to: number, count: number) =>
  Array.from({ length: count }, (_, i) => (i === count - 1 ? to : i * ((to - from) / (count - 1)) + from));

/** The whole grid by definition, in order. */
const searchGrid = (scores: readonly number[], labels: readonly number[], privileged: readonly number[]) => {
  const rate = (predicted: readonly number[], wanted: (i: number) => boolean) => {
    const of = predicted.filter((_, i) => wanted(i));
    return of.reduce((sum, each) => sum + each, 0) / of.length;
  };
  return linspace(0.01, 0.99, 100).flatMap((t) =>
    linspace(0, Math.min(t, 1 - t), 50).map((m) => {
      const predicted = labelsOf(scores, privileged, t, m);
      const tpr = rate(predicted, (i) => labels[i] === 1);
      const fpr = rate(predicted, (i) => labels[i] === 0);
      const difference =
        rate(predicted, (i) => privileged[i] === 0) - rate(predicted, (i) => privileged[i] === 1);
      return { t, m, accuracy: (tpr + 1 - fpr) / 2, difference };
    }),
  );
};

describe("fitRejectOption", () => {
  it("finds AIF360's threshold and margin", () => {
    const fitted = fitRejectOption(SCORES, LABELS, PRIVILEGED);
    expect(fitted.threshold).toBeCloseTo(0.3564646465, 10);
    expect(fitted.margin).toBeCloseTo(0.0945722531, 10);
    expect(fitted.balancedAccuracy).toBeCloseTo(0.8333333333, 10);
    expect(fitted.difference).toBe(0);
    expect(fitted.withinBand).toBe(true);
    expect(fitted.warning).toBeUndefined();
    expect(fitted.band).toEqual([-0.05, 0.05]);
    const plain = labelsOf(SCORES, PRIVILEGED, fitted.threshold, 0);
    const labels = labelsOf(SCORES, PRIVILEGED, fitted.threshold, fitted.margin);
    expect(fitted.relabelled).toBe(labels.filter((label, i) => label !== plain[i]).length);
    expect(fitted.unprivilegedRate - fitted.privilegedRate).toBe(fitted.difference);
  });

  it("takes the smallest absolute difference where the band cannot be met, and says so", () => {
    const fitted = fitRejectOption(SCORES, LABELS, PRIVILEGED, { band: [2, 3] });
    expect(fitted.difference).toBe(0);
    expect(fitted.withinBand).toBe(false);
    expect(fitted.warning).toBe(rejectOptionTexts.outside(2, 3, 0));
    // The most accurate of the equally fair ones, not the first, which favours everybody.
    expect(fitted.balancedAccuracy).toBeCloseTo(5 / 6, 12);
  });

  it("takes AIF360's smallest signed difference where that is asked for", () => {
    const fitted = fitRejectOption(SCORES, LABELS, PRIVILEGED, { band: [2, 3], fallback: "signed" });
    expect(fitted.threshold).toBeCloseTo(0.4257575758, 10);
    expect(fitted.margin).toBe(0);
    expect(fitted.difference).toBe(-0.5);
    expect(fitted.withinBand).toBe(false);
  });

  it("agrees with a search of the grid by definition", () => {
    // Few different scores, so that ties and equal scores are common; some lie on the grid itself.
    const score = fc.oneof(
      fc.integer({ min: 0, max: 20 }).map((i) => i / 20),
      fc.constantFrom(0.01, 0.99, 0.1 + 0.2, 0.2575757575757576),
    );
    const row = fc.tuple(score, fc.integer({ min: 0, max: 1 }), fc.integer({ min: 0, max: 1 }));
    fc.assert(
      fc.property(
        fc.array(row, { minLength: 4, maxLength: 14 }),
        fc.constantFrom([-0.05, 0.05] as const, [-0.4, -0.2] as const, [0.9, 0.95] as const),
        fc.constantFrom("absolute" as const, "signed" as const),
        (rows, band, fallback) => {
          const scores = rows.map(([each]) => each);
          const labels = rows.map(([, each]) => each);
          const privileged = rows.map(([, , each]) => each);
          fc.pre(new Set(labels).size === 2 && new Set(privileged).size === 2);
          const cells = searchGrid(scores, labels, privileged);
          const inside = cells.filter(({ difference: d }) => d >= band[0] && d <= band[1]);
          const key = (d: number) => (fallback === "signed" ? d : Math.abs(d));
          const least = Math.min(...cells.map(({ difference }) => key(difference)));
          const candidates =
            inside.length > 0 ? inside : cells.filter((cell) => key(cell.difference) === least);
          const most = Math.max(...candidates.map(({ accuracy }) => accuracy));
          // Rounding parts accuracies that are equal.
          const expected =
            inside.length === 0 && fallback === "signed"
              ? candidates[0]
              : candidates.find(({ accuracy }) => accuracy > most - 1e-9);
          const fitted = fitRejectOption(scores, labels, privileged, { band, fallback });
          expect(fitted.threshold).toBe(expected?.t);
          expect(fitted.margin).toBe(expected?.m);
          expect(fitted.balancedAccuracy).toBeCloseTo(expected?.accuracy ?? Number.NaN, 12);
          expect(fitted.difference).toBeCloseTo(expected?.difference ?? Number.NaN, 12);
          expect(fitted.withinBand).toBe(inside.length > 0);
        },
      ),
      { numRuns: 40 },
    );
  });

  it("says on many rows what applying it gives", () => {
    const stream = seededStream("reject option");
    const rows = 10_000;
    const privileged = Int32Array.from({ length: rows }, () => stream.integer(2));
    const scores = Float64Array.from(privileged, (group) => stream.beta(2 + group, 2));
    const labels = Int32Array.from(scores, (score) => (stream.uniform() < score ? 1 : 0));
    const fitted = fitRejectOption(scores, labels, privileged);
    const predicted = applyRejectOption(fitted, scores, privileged);
    const share = (from: (i: number) => boolean) => {
      const of = predicted.filter((_, i) => from(i));
      return of.reduce((sum, each) => sum + each, 0) / of.length;
    };
    expect(fitted.withinBand).toBe(true);
    expect(share((i) => privileged[i] === 0)).toBe(fitted.unprivilegedRate);
    expect(share((i) => privileged[i] === 1)).toBe(fitted.privilegedRate);
    expect((share((i) => labels[i] === 1) + 1 - share((i) => labels[i] === 0)) / 2).toBeCloseTo(
      fitted.balancedAccuracy,
      12,
    );
    expect(fitted.margin).toBeGreaterThan(0);
  });

  it("refuses what it cannot use, in one sentence", () => {
    const says = (make: () => unknown, text: string) => {
      expect(make).toThrow(InputError);
      expect(make).toThrow(text);
    };
    const wrong = (at: number, value: number, of: readonly number[]) => of.with(at, value);
    says(() => fitRejectOption(wrong(2, 1.2, SCORES), LABELS, PRIVILEGED), rejectOptionTexts.score(2, 1.2));
    says(
      () => fitRejectOption(wrong(0, Number.NaN, SCORES), LABELS, PRIVILEGED),
      rejectOptionTexts.score(0, Number.NaN),
    );
    says(
      () => fitRejectOption(SCORES, LABELS.slice(1), PRIVILEGED),
      mitigationTexts.lengths("labels", 11, 12),
    );
    says(
      () => fitRejectOption(SCORES, LABELS, PRIVILEGED.slice(2)),
      mitigationTexts.lengths("groups", 10, 12),
    );
    says(() => fitRejectOption(SCORES, wrong(3, 2, LABELS), PRIVILEGED), mitigationTexts.label(3));
    says(() => fitRejectOption(SCORES, LABELS, wrong(4, -1, PRIVILEGED)), mitigationTexts.group(4));
    const ones = SCORES.map(() => 1);
    const zeros = SCORES.map(() => 0);
    says(() => fitRejectOption(SCORES, ones, PRIVILEGED), mitigationTexts.oneLabel(12));
    says(() => fitRejectOption(SCORES, LABELS, ones), mitigationTexts.absent("unprivileged", 12));
    says(() => fitRejectOption(SCORES, LABELS, zeros), mitigationTexts.absent("privileged", 12));
    says(() => fitRejectOption([], [], []), mitigationTexts.noRows());
    says(
      () => fitRejectOption(SCORES, LABELS, PRIVILEGED, { band: [0.1, -0.1] }),
      rejectOptionTexts.band(0.1, -0.1),
    );
    says(
      () => fitRejectOption(SCORES, LABELS, PRIVILEGED, { fallback: "nearest" as "signed" }),
      rejectOptionTexts.fallback("nearest"),
    );
  });
});

describe("applyRejectOption", () => {
  it("gives the critical region by group", () => {
    const rule = { threshold: 0.5, margin: 0.1 };
    expect([...applyRejectOption(rule, SCORES, PRIVILEGED)]).toEqual([0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1]);
  });

  it("needs neither both groups nor any row", () => {
    const rule = { threshold: 0.5, margin: 0.1 };
    expect([...applyRejectOption(rule, [0.45, 0.3], [0, 0])]).toEqual([1, 0]);
    expect([...applyRejectOption(rule, [], [])]).toEqual([]);
  });

  it("refuses a rule that no fit gives", () => {
    const apply = () => applyRejectOption({ threshold: 2, margin: 0 }, SCORES, PRIVILEGED);
    expect(apply).toThrow(rejectOptionTexts.rule(2, 0));
  });
});
