import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { batchTexts, selectBatch } from "../../src/active/batch.js";
import { combineParts, type ScoreParts } from "../../src/active/fairbed.js";
import { type Quota, quotaTexts } from "../../src/active/quotas.js";
import { descending } from "../../src/active/ranking.js";
import { seededStream } from "../../src/core/random.js";

const parts = (score: readonly number[]): ScoreParts =>
  combineParts(Float64Array.from(score), new Float64Array(score.length), 0);
const rowsOf = (given: readonly { row: number }[]): number[] => given.map(({ row }) => row);

describe("descending", () => {
  test("is a sort, stable where all keys of rows are the same", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -3, max: 3 })), (keys) => {
        const expected = keys.map((_, i) => i).sort((a, b) => keys[b] - keys[a] || a - b);
        expect([...descending(Float64Array.from(keys), () => 0)]).toEqual(expected);
      }),
    );
  });
});

describe("top", () => {
  test("takes the best with their parts, ties by the keys of their rows", () => {
    const given = combineParts(Float64Array.of(1, 3, 3, 2), Float64Array.of(0, 1, 1, 0.25), 2);
    expect(selectBatch(given, { size: 3, ties: (row) => row })).toEqual([
      { row: 3, score: 1.5, target: 2, leakage: 0.25, cost: 0, rank: 1 },
      { row: 0, score: 1, target: 1, leakage: 0, cost: 0, rank: 2 },
      { row: 1, score: 1, target: 3, leakage: 1, cost: 0, rank: 3 },
    ]);
  });

  test("weighs costs, and leaves the score as it is", () => {
    const options = { size: 2, costs: [4, 1, 1], costWeight: 0.1 };
    const chosen = selectBatch(parts([0.3, 0.2, -0.1]), options);
    expect(rowsOf(chosen)).toEqual([1, 0]);
    expect(chosen[1]).toEqual({ row: 0, score: 0.3, target: 0.3, leakage: 0, cost: 4, rank: 2 });
    // A dear candidate with a negative score does not win by being dear.
    expect(rowsOf(selectBatch(parts([-1, -1]), { size: 1, costs: [9, 1], costWeight: 1 }))).toEqual([1]);
  });

  test("within exclusions and quotas is the best batch there is", () => {
    const whole = fc.integer({ min: 0, max: 3 });
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            score: fc.integer({ min: -9, max: 9 }),
            group: fc.integer({ min: 0, max: 2 }),
            out: fc.boolean(),
          }),
          {
            minLength: 1,
            maxLength: 8,
          },
        ),
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.record({ atLeast: whole, extra: whole }), { maxLength: 2 }),
        (candidates, size, bounds) => {
          const quotas: Quota[] = bounds.map(({ atLeast, extra }, group) => ({
            group,
            atLeast,
            atMost: atLeast + extra,
          }));
          const groups = candidates.map(({ group }) => group);
          const exclude = candidates.flatMap(({ out }, row) => (out ? [row] : []));
          const fits = (rows: readonly number[]) =>
            rows.length === size &&
            rows.every((row) => !candidates[row].out) &&
            quotas.every(({ group, atLeast = 0, atMost = size }) => {
              const count = rows.filter((row) => groups[row] === group).length;
              return count >= atLeast && count <= atMost;
            });
          const total = (rows: readonly number[]) =>
            rows.reduce((sum, row) => sum + candidates[row].score, 0);
          let best = Number.NEGATIVE_INFINITY;
          for (let set = 0; set < 2 ** candidates.length; set++) {
            const rows = candidates.flatMap((_, row) => ((set >> row) & 1 ? [row] : []));
            if (fits(rows)) best = Math.max(best, total(rows));
          }
          const choose = () =>
            rowsOf(
              selectBatch(parts(candidates.map(({ score }) => score)), { size, exclude, groups, quotas }),
            );
          if (best === Number.NEGATIVE_INFINITY) expect(choose).toThrow();
          else {
            const chosen = choose();
            expect(fits(chosen)).toBe(true);
            expect(total(chosen)).toBe(best);
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe("softmax and rank", () => {
  /** How often each ordered pair of rows is drawn. */
  const frequencies = (
    method: "softmax" | "rank",
    temperature: number,
    score: readonly number[],
    draws: number,
  ) => {
    const counts = new Map<string, number>();
    for (let i = 0; i < draws; i++) {
      const stream = seededStream(`${method} ${i}`);
      const key = rowsOf(selectBatch(parts(score), { size: 2, method, temperature, stream })).join();
      counts.set(key, (counts.get(key) ?? 0) + 1 / draws);
    }
    return counts;
  };
  /** P(first a, then b) of drawing without replacement with these weights. */
  const expectedPairs = (weights: readonly number[]) => {
    const all = weights.reduce((a, b) => a + b, 0);
    return weights.flatMap((first, a) =>
      weights.flatMap((second, b) =>
        a === b ? [] : [[`${a},${b}`, (first / all) * (second / (all - first))] as const],
      ),
    );
  };

  test.each([
    ["softmax", 0.5, [-1, 0.2, 0], [-1, 0.2, 0].map((score) => Math.exp(score / 0.5))],
    ["rank", 1, [-100, 0.2, 0], [1 / 3, 1, 1 / 2]],
    ["rank", 0.5, [-100, 0.2, 0], [1 / 9, 1, 1 / 4]],
  ] as const)(
    "%s at temperature %d draws in proportion, without replacement",
    (method, temperature, score, weights) => {
      const draws = 4000;
      const counts = frequencies(method, temperature, score, draws);
      for (const [pair, p] of expectedPairs(weights)) {
        expect(Math.abs((counts.get(pair) ?? 0) - p)).toBeLessThan(4.5 * Math.sqrt((p * (1 - p)) / draws));
      }
    },
  );

  test("an exclusion does not change the order of the others", () => {
    const score = Array.from({ length: 20 }, (_, i) => Math.sin(i));
    const draw = (exclude: number[]) =>
      rowsOf(
        selectBatch(parts(score), {
          size: 10,
          method: "softmax",
          temperature: 1,
          stream: seededStream(5),
          exclude,
        }),
      );
    const all = draw([]);
    expect(draw([all[3]]).slice(0, 9)).toEqual(all.filter((row) => row !== all[3]));
  });
});

describe("what cannot be", () => {
  const given = parts([1, 2, 3]);
  test.each([
    [{ size: 4 }, quotaTexts.tooLarge(4, 3, 3)],
    [{ size: 3, exclude: [0, 0] }, quotaTexts.tooLarge(3, 2, 3)],
    [{ size: 0 }, quotaTexts.size(0)],
    [{ size: 1.5 }, quotaTexts.size(1.5)],
    [{ size: 1, exclude: [3] }, quotaTexts.excluded(3, 3)],
    [{ size: 1, quotas: [{ group: 0 }] }, quotaTexts.groups(undefined, 3)],
    [{ size: 1, groups: [0] }, quotaTexts.groups(1, 3)],
    [{ size: 1, groups: [0, 0, 1], quotas: [{ group: 0, atLeast: 2, atMost: 1 }] }, quotaTexts.bounds(0)],
    [{ size: 1, groups: [0, 0, 1], quotas: [{ group: 0 }, { group: 0 }] }, quotaTexts.twice(1)],
    [{ size: 1, groups: [0, 0, 1], quotas: [{ group: 0, atLeast: 2, atMost: 2 }] }, quotaTexts.tooMany(2, 1)],
    [{ size: 3, groups: [0, 0, 1], quotas: [{ group: 1, atLeast: 2 }] }, quotaTexts.tooFew(0, 2, 1)],
    [{ size: 3, groups: [0, 0, 1], quotas: [{ group: 0, atMost: 1 }] }, quotaTexts.capped(3, 2)],
    [{ size: 1, method: "best" as "top" }, batchTexts.method("best")],
    [{ size: 1, method: "softmax", stream: seededStream(1) }, batchTexts.temperature(undefined)],
    [{ size: 1, method: "rank", temperature: 0, stream: seededStream(1) }, batchTexts.temperature(0)],
    [{ size: 1, method: "rank" }, batchTexts.stream("rank")],
    [{ size: 1, costs: [1, 2] }, batchTexts.scores("cost", 2, 3)],
    [{ size: 1, costs: [1, -2, 1], costWeight: 1 }, batchTexts.costs(1)],
    [{ size: 1, costs: [1, 2, 1] }, batchTexts.costWeight(undefined)],
    [{ size: 1, costs: [1, 2, 1], costWeight: Number.NaN }, batchTexts.costWeight(Number.NaN)],
  ] as const)("%j is refused in one sentence", (options, text) => {
    expect(() => selectBatch(given, options)).toThrow(text);
  });

  test("scores that are none", () => {
    expect(() => selectBatch(parts([]), { size: 1 })).toThrow(batchTexts.empty);
    expect(() => selectBatch(parts([1, Number.NaN]), { size: 1 })).toThrow(batchTexts.value(1));
    const short = { ...given, leakage: new Float64Array(2) };
    expect(() => selectBatch(short, { size: 1 })).toThrow(batchTexts.scores("leakage", 2, 3));
  });
});
