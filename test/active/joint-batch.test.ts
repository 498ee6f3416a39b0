import { describe, expect, test } from "vitest";
import { selectBatch } from "../../src/active/batch.js";
import { epig } from "../../src/active/epig.js";
import { combineParts, fairbedEpig, fairbedTexts } from "../../src/active/fairbed.js";
import { jointBatchTexts, selectJointBatch } from "../../src/active/joint-batch.js";
import { type ExactMembers, takeRows } from "../../src/active/members.js";
import { seededStream } from "../../src/core/random.js";
import { drawMembers, drawRelated } from "./drawn-members.js";
import { single, votes } from "./vectors.js";

const rowsOf = (given: readonly { row: number }[]): number[] => given.map(({ row }) => row);
const alone = (score: Float64Array) => combineParts(score, new Float64Array(score.length), 0);

/** mean_t I(y_1, ..., y_b; z_t) from the whole table of probabilities. */
const jointInformation = (pool: ExactMembers, rows: readonly number[], targets: ExactMembers): number => {
  const { members: K, classes: C } = pool;
  const configurations = Array.from({ length: C ** rows.length }, (_, s) =>
    rows.map((_, i) => Math.floor(s / C ** i) % C),
  );
  const D = targets.classes;
  let total = 0;
  for (let t = 0; t < targets.rows; t++) {
    const table = configurations.map((labels) =>
      Array.from({ length: D }, (_, d) => {
        let sum = 0;
        for (let k = 0; k < K; k++) {
          let product = targets.values[(t * K + k) * D + d] / K;
          labels.forEach((y, i) => {
            product *= pool.values[(rows[i] * K + k) * C + y];
          });
          sum += product;
        }
        return sum;
      }),
    );
    const columns = Array.from({ length: D }, (_, d) => table.reduce((sum, row) => sum + row[d], 0));
    for (const row of table) {
      const mass = row.reduce((a, b) => a + b, 0);
      row.forEach((p, d) => {
        if (p > 0) total += p * Math.log(p / (mass * columns[d]));
      });
    }
  }
  return total / targets.rows;
};

describe("a joint batch", () => {
  test("does not take the same candidate twice where a top-k would", () => {
    const pool = votes([
      [1, 1, 0, 0, 1, 1, 0, 0],
      [1, 1, 0, 0, 1, 1, 0, 0],
      [1, 0, 1, 0, 1, 0, 1, 0],
      [0, 0, 0, 0, 0, 0, 0, 0],
    ]);
    const targets = votes([
      [1, 1, 0, 0, 1, 1, 0, 0],
      [1, 1, 0, 0, 1, 1, 0, 1],
      [1, 0, 1, 0, 1, 0, 1, 1],
    ]);
    expect(rowsOf(selectBatch(alone(epig(pool, targets)), { size: 2 }))).toEqual([0, 1]);
    const chosen = selectJointBatch({ pool, targets }, [], { size: 3 });
    expect(rowsOf(chosen).slice(0, 2)).toEqual([0, 2]);
    // Sure members: what the twin says is known once the first has said it.
    expect(chosen[2].target).toBeCloseTo(0, 12);
  });

  test("has parts that add up to the information of the whole batch", () => {
    const stream = seededStream("sum");
    const pool = drawMembers(stream, 6, 5, 3, 0.3);
    const targets = drawMembers(stream, 4, 5, 2, 0.3);
    const chosen = selectJointBatch({ pool, targets }, [], { size: 4, configurations: 27 });
    for (const size of [1, 2, 3, 4]) {
      const sum = chosen.slice(0, size).reduce((total, { target }) => total + target, 0);
      expect(sum).toBeCloseTo(jointInformation(pool, rowsOf(chosen).slice(0, size), targets), 12);
    }
    // Each step took the best one there was.
    const left = [0, 1, 2, 3, 4, 5].filter((row) => row !== chosen[0].row);
    const gains = left.map((row) => jointInformation(pool, [chosen[0].row, row], targets));
    expect(left[gains.indexOf(Math.max(...gains))]).toBe(chosen[1].row);
  });

  test("with drawn configurations is near the one with all, and the same for the same stream", () => {
    const stream = seededStream("drawn");
    // Three candidates and all wanted: the order is all that the configurations can change.
    const pool = single(drawMembers(stream, 3, 40, 2, 0.3));
    const targets = single(drawMembers(stream, 10, 40, 2, 0.3));
    const drawn = (configurations: number, seed: number) =>
      selectJointBatch({ pool, targets }, [], { size: 3, configurations, stream: seededStream(seed) });
    const all = drawn(4, 1);
    expect(selectJointBatch({ pool, targets }, [], { size: 3, configurations: 4 })).toEqual(all);
    const some = drawn(3, 1);
    expect(drawn(3, 1)).toEqual(some);
    expect(some[0]).toEqual(all[0]);
    const mean =
      Array.from({ length: 100 }, (_, seed) => drawn(3, seed)[1].target).reduce((a, b) => a + b) / 100;
    expect(Math.abs(mean / all[1].target - 1)).toBeLessThan(0.1);
  });

  test("of FairBED takes the leakage given what was chosen from it", () => {
    const stream = seededStream("fair");
    const [pool, targets] = drawRelated(stream, 20, [30, 10]);
    const [sensitivePool, sensitiveTargets] = drawRelated(stream, 20, [30, 10]);
    const sensitive = { pool: sensitivePool, targets: sensitiveTargets };
    const chosen = selectJointBatch({ pool, targets }, [sensitive], { size: 3, beta: 2 });
    const scores = fairbedEpig({ pool, targets }, [sensitive], { beta: 2 });
    const [first] = selectBatch(scores, { size: 1 });
    expect(chosen[0]).toEqual(first);
    for (const { score, target, leakage } of chosen) expect(score).toBeCloseTo(target - 2 * leakage, 12);
    const double = (given: typeof pool): ExactMembers => ({
      ...given,
      values: Float64Array.from(given.values),
    });
    const whole = (p: typeof pool, t: typeof pool) => jointInformation(double(p), rowsOf(chosen), double(t));
    const sum = (part: "target" | "leakage") => chosen.reduce((total, each) => total + each[part], 0);
    expect(Math.abs(sum("target") - whole(pool, targets))).toBeLessThan(1e-5);
    expect(Math.abs(sum("leakage") - whole(sensitivePool, sensitiveTargets))).toBeLessThan(1e-5);
  });

  test("goes on in rounds once the members are told apart, and takes no repetition while there are others", () => {
    const stream = seededStream("rounds");
    const drawn = drawMembers(stream, 30, 6, 2, 0.3);
    // Everything is there twice: row 30 + i repeats row i.
    const pool = takeRows(drawn, [...Array(30).keys(), ...Array(30).keys()]);
    const targets = drawMembers(stream, 8, 6, 2, 0.3);
    const options = { size: 40, round: 5, configurations: 16, stream: seededStream("labels") };
    const batch = selectJointBatch({ pool, targets }, [], { ...options, repeats: false });
    const said = rowsOf(batch).map((row) => row % 30);
    expect(new Set(said.slice(0, 30)).size).toBe(30);
    expect(new Set(rowsOf(batch)).size).toBe(40);
    // A round begins with the best that is left by its score alone.
    const scores = epig(pool, targets);
    for (const first of [0, 5, 10, 15, 20, 25]) {
      const left = [...scores.keys()].filter((row) => !said.slice(0, first).includes(row % 30));
      expect(scores[batch[first].row]).toBe(Math.max(...left.map((row) => scores[row])));
    }
    expect(selectJointBatch({ pool, targets }, [], { ...options, repeats: false })).toEqual(batch);
  });

  test("with quotas has a short list in proportion to them, and fills every quota", () => {
    const stream = seededStream("proportional");
    const [pool, targets] = drawRelated(stream, 10, [200, 10]);
    const groups = Int32Array.from({ length: 200 }, (_, row) => (row < 190 ? 0 : 1));
    const quotas = [
      { group: 0, atLeast: 4, atMost: 4 },
      { group: 1, atLeast: 8, atMost: 8 },
    ];
    const batch = selectJointBatch({ pool, targets }, [], {
      size: 12,
      groups,
      quotas,
      shortlist: 20,
      round: 5,
      stream: seededStream("labels"),
    });
    expect(batch.filter(({ row }) => groups[row] === 1)).toHaveLength(8);
    expect(batch).toHaveLength(12);
  });

  test("keeps to quotas, exclusions and costs, with a short list", () => {
    const stream = seededStream("quotas");
    const [pool, targets] = drawRelated(stream, 15, [60, 10]);
    const groups = Array.from({ length: 60 }, (_, row) => row % 3);
    const [best] = selectBatch(alone(epig(pool, targets)), { size: 1 });
    const options = {
      size: 4,
      groups,
      shortlist: 5,
      exclude: [best.row],
      quotas: [{ group: 1, atLeast: 2, atMost: 3 }],
    };
    const chosen = selectJointBatch({ pool, targets }, [], options);
    expect(rowsOf(chosen)).not.toContain(best.row);
    expect(chosen.filter(({ row }) => groups[row] === 1).length).toBeGreaterThanOrEqual(2);
    expect(chosen.map(({ rank }) => rank)).toEqual([1, 2, 3, 4]);
    const costs = Array.from({ length: 60 }, (_, row) => (row === chosen[0].row ? 10 : 1));
    const dear = selectJointBatch({ pool, targets }, [], { ...options, costs, costWeight: 1 });
    expect(rowsOf(dear)).not.toContain(chosen[0].row);
    const part = takeRows(pool, [0, 1]);
    expect(rowsOf(selectJointBatch({ pool: part, targets }, [], { size: 2 })).sort()).toEqual([0, 1]);
  });

  test("with a correction subtracts what independent members would add", () => {
    const stream = seededStream("corrected");
    const pool = drawMembers(stream, 20, 30, 2);
    const targets = drawMembers(stream, 20, 30, 2);
    const raw = selectJointBatch({ pool, targets }, [], { size: 3 });
    const corrected = selectJointBatch({ pool, targets, correction: "analytic" }, [], { size: 3 });
    for (const [i, { target }] of corrected.entries()) expect(target).toBeLessThan(0.8 * raw[i].target);
  });

  test("refuses what cannot be", () => {
    const [pool, targets] = drawRelated(seededStream("refused"), 4, [5, 2]);
    const run = (options: object) => () => selectJointBatch({ pool, targets }, [], { size: 2, ...options });
    expect(run({ configurations: 0 })).toThrow(jointBatchTexts.count("configurations", 0));
    expect(run({ shortlist: 0.5 })).toThrow(jointBatchTexts.count("shortlist", 0.5));
    expect(run({ configurations: 1 })).toThrow(jointBatchTexts.stream(1));
    expect(run({ beta: Number.NaN })).toThrow(fairbedTexts.beta(Number.NaN));
  });
});

test("whoever was asked and has not answered counts as chosen where repeats are not wanted", () => {
  const members = (rows: number[][]) => ({
    kind: "dense" as const,
    rows: rows.length,
    members: rows[0].length,
    classes: 2,
    values: Float64Array.from(rows.flat().flatMap((p) => [1 - p, p])),
  });
  // The first two say the same; the third says less.
  const pool = members([
    [1, 1, 0, 0],
    [1, 1, 0, 0],
    [1, 0.9, 1, 0],
  ]);
  const targets = members([
    [1, 1, 0, 0],
    [1, 1, 0, 0],
  ]);
  const first = (pending?: ReturnType<typeof members>[]) =>
    selectJointBatch({ pool, targets }, [], { size: 1, repeats: false, pending }).map(({ row }) => row)[0];
  expect(first()).toBeLessThan(2);
  expect(first([members([[1, 1, 0, 0]])])).toBe(2);
});
