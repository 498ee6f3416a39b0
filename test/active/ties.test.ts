import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { selectBatch } from "../../src/active/batch.js";
import { combineParts } from "../../src/active/fairbed.js";
import { selectJointBatch } from "../../src/active/joint-batch.js";
import { createBest } from "../../src/active/ranker.js";
import { descending } from "../../src/active/ranking.js";
import { splitRows } from "../../src/active/split.js";
import { goesFirst, tieKeys } from "../../src/active/ties.js";
import { seededStream } from "../../src/core/random.js";
import { forest } from "../../src/learners/forest.js";
import { acquire } from "../workflows/acquire-rows.js";
import { votes } from "./vectors.js";

const ties = tieKeys(seededStream("ties"));
const equal = (rows: number) => combineParts(new Float64Array(rows), new Float64Array(rows), 0);
const rowsOf = (given: readonly { row: number }[]): number[] => given.map(({ row }) => row);

describe("keys of rows", () => {
  test("are the uniforms of the stream in their order, read anywhere", () => {
    const stream = seededStream("ties");
    const expected = Array.from({ length: 9 }, () => stream.uniform());
    expect([8, 0, 5, 1].map(ties)).toEqual([8, 0, 5, 1].map((row) => expected[row]));
    const far = seededStream("ties");
    far.skip(2 * 5e9);
    expect(ties(5e9)).toBe(far.uniform());
  });

  test("decide where others are equal", () => {
    expect(goesFirst(ties, 3, 4)).toBe(ties(3) < ties(4));
    expect(goesFirst(() => 0.5, 3, 4)).toBe(true);
  });
});

describe("candidates with equal scores", () => {
  test("of a sorted pool are chosen from all of it, by another draw with another stream", () => {
    const choose = (seed: number) =>
      rowsOf(selectBatch(equal(1000), { size: 50, stream: seededStream(seed) }));
    // The mean of 50 rows drawn from 0 to 999 has the standard error 40; of the lowest 50 it is 24.5.
    const mean = choose(1).reduce((sum, row) => sum + row, 0) / 50;
    expect(Math.abs(mean - 499.5)).toBeLessThan(160);
    expect(choose(1)).toEqual(choose(1));
    expect(choose(1)).not.toEqual(choose(2));
    // Without a stream as well.
    expect(Math.max(...rowsOf(selectBatch(equal(1000), { size: 50 })))).toBeGreaterThan(500);
  });

  test("do not change who is chosen without ties", () => {
    const score = Float64Array.from({ length: 300 }, (_, row) => Math.sin(row));
    const parts = combineParts(score, new Float64Array(300), 0);
    const best = [...score.keys()].sort((a, b) => score[b] - score[a]).slice(0, 20);
    expect(rowsOf(selectBatch(parts, { size: 20, ties }))).toEqual(best);
    expect(rowsOf(selectBatch(parts, { size: 20 }))).toEqual(best);
  });

  test("are the same whichever parts of the pool are merged, in any order", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 1, max: 8 }),
        fc.nat({ max: 60 }),
        (scores, size, cut) => {
          const wanted = Math.min(size, scores.length);
          const all = scores.map((score, row) => ({ row, score, target: score, leakage: 0, cost: 0 }));
          const bestOf = (given: typeof all) => {
            const best = createBest({ size: wanted, ties });
            for (const each of given) best.offer(each);
            return best.ranked();
          };
          const parts = [all.slice(cut).reverse(), all.slice(0, cut)].flatMap(bestOf);
          const whole = selectBatch(
            combineParts(Float64Array.from(scores), new Float64Array(scores.length), 0),
            {
              size: wanted,
              ties,
            },
          );
          expect(rowsOf(bestOf(parts))).toEqual(rowsOf(whole));
          expect([...descending(Float64Array.from(scores), ties)].slice(0, wanted)).toEqual(rowsOf(whole));
        },
      ),
    );
  });

  test("in a joint batch go to the same draw", () => {
    const row = [1, 1, 0, 0];
    const pool = votes(Array.from({ length: 40 }, () => row));
    const [first] = selectJointBatch({ pool, targets: votes([row]) }, [], { size: 2, ties });
    const expected = Array.from({ length: 40 }, (_, at) => at).sort((a, b) => ties(a) - ties(b))[0];
    expect(first.row).toBe(expected);
  });

  test("predictive entropy does not take the first rows of a sorted pool", async () => {
    // A step of a feature in the order of the rows: most trees agree on most rows, so few values of entropy occur.
    const rows = 1200;
    const values = Float32Array.from({ length: rows }, (_, row) => Math.floor(row / 20));
    const labels = Int32Array.from({ length: rows }, (_, row) => (row % 20 < 10 ? 1 : 0));
    const target = { labels, classes: 2 };
    const split = splitRows({ ...target, stream: seededStream("rows"), targets: 50 });
    const { acquired } = await acquire({
      features: { values, rows, columns: 1 },
      target,
      sensitive: [],
      sensitiveModels: [],
      split,
      method: "entropy",
      goal: { beta: 0 },
      budget: 60,
      batch: 60,
      learner: forest({ trees: 10, threads: 1 }),
      stream: seededStream(1),
    });
    // The best entropy is that of a whole stretch of rows: a draw from it is not its beginning.
    const best = acquired.filter(({ score }) => score === acquired[0].score).map(({ row }) => row);
    expect(best).not.toEqual(best.toSorted((a, b) => a - b));
    expect(best.length).toBeGreaterThan(3);
  });
});
