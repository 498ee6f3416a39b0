/** The choice of a recipe, against what its rule says when it is worked out by hand or by brute force. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  choose,
  exchangeRate,
  type InnerTrial,
  isReference,
  keepBest,
  ranked,
  screened,
  settle,
} from "../../src/workflows/plan-choice.js";
import { complexityOf, type PlannedParts } from "../../src/workflows/plan-recipes.js";

const parts = (method: "random" | "epig" | "fairbed", rule = true, reweigh = false): PlannedParts => ({
  acquisition: {
    method,
    shares: method === "random" ? "none" : "population",
    randomPart: method === "random" ? 0 : 0.25,
    reweigh: false,
    batch: 4,
  },
  learner: "forest",
  reweigh,
  rule,
});

const trial = (
  of: PlannedParts,
  ...aims: readonly { aim?: number; accuracy: readonly number[]; parity: readonly number[] }[]
): InnerTrial => ({ parts: of, aims: aims.map((each) => ({ aim: undefined, ...each })) });

/** Least squares through the origin of lost accuracy on gained parity, step by step, within 0 and 1. */
const slope = (trials: readonly InnerTrial[]): number => {
  const mean = (values: readonly number[]) => values.reduce((sum, each) => sum + each, 0) / values.length;
  const steps = trials.flatMap(({ aims }) =>
    aims.slice(1).map((to, i) => ({
      parity: mean(to.parity) - mean(aims[i].parity),
      accuracy: mean(to.accuracy) - mean(aims[i].accuracy),
    })),
  );
  const square = steps.reduce((sum, { parity }) => sum + parity ** 2, 0);
  const slopeOf = -steps.reduce((sum, { parity, accuracy }) => sum + parity * accuracy, 0) / square;
  return square === 0 ? 0 : Math.min(1, Math.max(0, slopeOf));
};

test("what parity costs is read off the steps of the rules", () => {
  const tried = trial(
    parts("epig"),
    { aim: 0.7, accuracy: [0.8, 0.8], parity: [0.6, 0.6] },
    { aim: 0.8, accuracy: [0.76, 0.76], parity: [0.7, 0.7] },
    { aim: 0.9, accuracy: [0.72, 0.72], parity: [0.8, 0.8] },
  );
  expect(exchangeRate([tried])).toBeCloseTo(0.4, 12);
  expect(exchangeRate([trial(parts("random", false), { accuracy: [0.8], parity: [0.6] })])).toBe(0);
});

describe("the setting of the rule", () => {
  test("is the most accurate one that reaches the level by more than a standard error", () => {
    const tried = trial(
      parts("epig"),
      // Mean 0.81 and a standard error of 0.03 / sqrt(2) = 0.021: reached on average only.
      { aim: 0.8, accuracy: [0.9, 0.9], parity: [0.78, 0.84] },
      { aim: 0.9, accuracy: [0.85, 0.87], parity: [0.85, 0.87] },
      { aim: 0.95, accuracy: [0.8, 0.8], parity: [0.95, 0.95] },
    );
    expect(settle(tried, 0.8)).toMatchObject({ at: 1, reaches: 2, accuracy: 0.86, parity: 0.86 });
  });

  test("is one that reaches it on average where none does by more, and the closest where none does", () => {
    const close = { aim: 0.9, accuracy: [0.7, 0.7], parity: [0.7, 0.92] };
    expect(
      settle(trial(parts("epig"), { aim: 0.8, accuracy: [0.9, 0.9], parity: [0.5, 0.6] }, close), 0.8),
    ).toMatchObject({
      at: 1,
      reaches: 1,
    });
    expect(
      settle(
        trial(
          parts("epig"),
          { aim: 0.8, accuracy: [0.9, 0.9], parity: [0.5, 0.6] },
          { aim: 0.9, accuracy: [0.7, 0.7], parity: [0.6, 0.7] },
        ),
        0.8,
      ),
    ).toMatchObject({ at: 1, reaches: 0 });
  });
});

describe("the recommendation", () => {
  test("is the simplest within a standard error of the best, by paired differences", () => {
    const reached = [0.9, 0.9, 0.9];
    // fairbed is 0.01 ahead of random on average; differences 0, 0, 0.03 have a standard error of 0.01.
    const best = trial(parts("fairbed"), { accuracy: [0.8, 0.8, 0.83], parity: reached });
    const simple = trial(parts("random"), { accuracy: [0.8, 0.8, 0.8], parity: reached });
    const settled = [best, simple].map((each) => settle(each, 0.8));
    expect(choose(settled).trial).toBe(simple);
    // The same mean without spread is a difference.
    const steady = trial(parts("fairbed"), { accuracy: [0.81, 0.81, 0.81], parity: reached });
    expect(choose([steady, simple].map((each) => settle(each, 0.8))).trial).toBe(steady);
  });

  test("never falls on one that does not reach the level while another does", () => {
    const fails = trial(parts("random"), { accuracy: [0.99, 0.99], parity: [0.7, 0.7] });
    const reaches = trial(parts("fairbed", true, true), { accuracy: [0.6, 0.6], parity: [0.9, 0.9] });
    expect(choose([fails, reaches].map((each) => settle(each, 0.8))).trial).toBe(reaches);
  });

  const share = fc.double({ min: 0, max: 1, noNaN: true });
  const anyTrial = fc
    .tuple(
      fc.constantFrom("random" as const, "epig" as const, "fairbed" as const),
      fc.boolean(),
      fc.boolean(),
      fc.array(
        fc.tuple(
          fc.array(share, { minLength: 3, maxLength: 3 }),
          fc.array(share, { minLength: 3, maxLength: 3 }),
        ),
        {
          minLength: 1,
          maxLength: 3,
        },
      ),
    )
    .map(([method, rule, reweigh, aims]) =>
      trial(parts(method, rule, reweigh), ...aims.map(([accuracy, parity]) => ({ accuracy, parity }))),
    );

  test("is among the best of its kind, and no simpler one is as good", () => {
    const mean = (values: readonly number[]) => values.reduce((sum, each) => sum + each, 0) / values.length;
    const se = (values: readonly number[]) => {
      const m = mean(values);
      return Math.sqrt(
        values.reduce((sum, each) => sum + (each - m) ** 2, 0) / (values.length - 1) / values.length,
      );
    };
    fc.assert(
      fc.property(fc.array(anyTrial, { minLength: 1, maxLength: 6 }), (trials) => {
        const settled = trials.map((each) => settle(each, 0.5));
        const chosen = choose(settled);
        const most = Math.max(...settled.map(({ reaches }) => reaches));
        expect(chosen.reaches).toBe(most);
        if (most === 0) {
          expect(chosen.parity).toBe(Math.max(...settled.map(({ parity }) => parity)));
          return;
        }
        const same = settled.filter(({ reaches }) => reaches === most);
        const rate = slope(trials);
        const values = ({ trial: { aims }, at }: (typeof settled)[number]) =>
          aims[at].accuracy.map((each, s) => each + rate * aims[at].parity[s]);
        const best = same.reduce((a, b) => (mean(values(b)) > mean(values(a)) ? b : a));
        const lost = (one: (typeof settled)[number]) => values(one).map((each, s) => values(best)[s] - each);
        const near = same.filter((one) => mean(lost(one)) <= se(lost(one)) + 1e-12);
        expect(complexityOf(chosen.trial.parts)).toBe(
          Math.min(...[best, ...near].map((one) => complexityOf(one.trial.parts))),
        );
      }),
    );
  });

  test("the reference is always kept, and the order of screening is by accuracy less missing parity", () => {
    fc.assert(
      fc.property(
        fc.array(anyTrial, { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 4 }),
        (trials, count) => {
          const rate = slope(trials);
          const order = screened(trials, 0.5);
          const merit = ({ aims }: InnerTrial) =>
            Math.max(
              ...aims.map(({ accuracy, parity }) => {
                const [a, p] = [accuracy, parity].map(
                  (values) => values.reduce((sum, each) => sum + each, 0) / 3,
                );
                return p >= 0.5 ? a + rate * (p - 0.5) : a - (0.5 - p);
              }),
            );
          const merits = order.map((each) => merit(each.trial));
          for (let i = 1; i < merits.length; i++)
            expect(merits[i]).toBeLessThanOrEqual(merits[i - 1] + 1e-12);
          const kept = keepBest(order, count);
          expect(kept.length).toBeLessThanOrEqual(count + 1);
          expect(kept.slice(0, count)).toEqual(order.slice(0, count));
          expect(kept.some(({ trial: one }) => isReference(one.parts))).toBe(
            trials.some((one) => isReference(one.parts)),
          );
          expect(ranked(kept)).toHaveLength(kept.length);
        },
      ),
    );
  });
});
