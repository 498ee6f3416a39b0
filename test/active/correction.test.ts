import { describe, expect, test } from "vitest";
import { expectedUnderIndependence } from "../../src/active/correction.js";
import { epig, epigTexts } from "../../src/active/epig.js";
import { type Members, reorderMembers } from "../../src/active/members.js";
import { seededStream } from "../../src/core/random.js";
import { drawMembers, drawVotes } from "./drawn-members.js";
import { votes } from "./vectors.js";

const permutations = (items: readonly number[]): number[][] =>
  items.length === 0
    ? [[]]
    : items.flatMap((item) =>
        permutations(items.filter((other) => other !== item)).map((rest) => [item, ...rest]),
      );

/** The mean score over every pairing of the members. */
const meanOverPairings = (pool: Members, targets: Members): number[] => {
  const all = permutations(Array.from({ length: pool.members }, (_, k) => k)).map((order) =>
    epig(pool, reorderMembers(targets, order)),
  );
  return Array.from(
    { length: pool.rows },
    (_, n) => all.reduce((sum, score) => sum + score[n], 0) / all.length,
  );
};

const mean = (values: ArrayLike<number>): number =>
  Array.from(values).reduce((a, b) => a + b, 0) / values.length;

describe("the analytic correction", () => {
  test("of votes is the mean over all pairings, exactly", () => {
    const rows = [
      [0, 0, 0, 0, 0],
      [1, 0, 0, 0, 0],
      [1, 1, 0, 0, 1],
      [1, 1, 1, 1, 0],
      [1, 1, 1, 1, 1],
    ];
    const pool = votes(rows);
    const targets = votes([rows[1], rows[2], rows[2], rows[4]]);
    const expected = meanOverPairings(pool, targets);
    const given = expectedUnderIndependence(pool, targets, new Float64Array(4).fill(1 / 4));
    expected.forEach((value, n) => {
      expect(given[n]).toBeCloseTo(value, 13);
    });
  });

  test("is about (C - 1)^2 / (2 K): .0051 at K = 100", () => {
    const half = votes([Array.from({ length: 100 }, (_, k) => k % 2)]);
    const [expected] = expectedUnderIndependence(half, half, Float64Array.of(1));
    expect(expected).toBeCloseTo(0.0051, 4);
  });

  test("of soft members is near the mean over all pairings", () => {
    const stream = seededStream("soft");
    const pool = drawMembers(stream, 6, 6, 2, 2);
    const targets = drawMembers(stream, 3, 6, 3, 2);
    const expected = meanOverPairings(pool, targets);
    const given = expectedUnderIndependence(pool, targets, new Float64Array(3).fill(1 / 3));
    // The next order is (1 / K)^2; with six members that is no more than a fifth.
    expected.forEach((value, n) => {
      expect(Math.abs(given[n] / value - 1)).toBeLessThan(0.2);
    });
  });

  test.each([
    ["votes", (n: number) => drawVotes(seededStream("votes").split(n), 200, 50)],
    ["soft members of two classes", (n: number) => drawMembers(seededStream("two").split(n), 200, 50, 2)],
    ["soft members of four classes", (n: number) => drawMembers(seededStream("four").split(n), 200, 50, 4)],
    ["nearly sure members", (n: number) => drawMembers(seededStream("sure").split(n), 200, 50, 2, 0.1)],
  ])("leaves independent %s with a mean near 0", (_, draw) => {
    const [pool, targets] = [draw(0), draw(1)];
    const raw = mean(epig(pool, targets));
    const corrected = mean(epig(pool, targets, { correction: "analytic" }));
    expect(raw).toBeGreaterThan(1e-4);
    expect(Math.abs(corrected)).toBeLessThan(0.05 * raw);
  });

  test("leaves information that is there", () => {
    const row = votes([Array.from({ length: 100 }, (_, k) => k % 2)]);
    const [corrected] = epig(row, row, { correction: "analytic" });
    expect(corrected).toBeCloseTo(Math.LN2 - 0.0051, 4);
  });
});

describe("the correction by permutations", () => {
  const pool = drawMembers(seededStream("pool"), 100, 30, 2);
  const targets = drawMembers(seededStream("targets"), 100, 30, 2);

  test("leaves independent members with a mean near 0, and agrees with the analytic one", () => {
    const raw = mean(epig(pool, targets));
    const drawn = epig(pool, targets, {
      correction: "permutation",
      stream: seededStream(1),
      permutations: 40,
    });
    expect(Math.abs(mean(drawn))).toBeLessThan(0.05 * raw);
    const analytic = epig(pool, targets, { correction: "analytic" });
    expect(Math.max(...drawn.map((value, n) => Math.abs(value - analytic[n])))).toBeLessThan(0.5 * raw);
  });

  test("is the same for the same stream", () => {
    const run = (seed: number) =>
      epig(pool, targets, { correction: "permutation", stream: seededStream(seed), permutations: 2 });
    expect(run(1)).toEqual(run(1));
    expect(run(1)).not.toEqual(run(2));
  });

  test("needs a stream and a number of permutations, and corrections have names", () => {
    expect(() => epig(pool, targets, { correction: "permutation" })).toThrow(epigTexts.stream);
    expect(() =>
      epig(pool, targets, { correction: "permutation", stream: seededStream(1), permutations: 0 }),
    ).toThrow(epigTexts.permutations(0));
    expect(() => epig(pool, targets, { correction: "jackknife" as "none" })).toThrow(
      epigTexts.correction("jackknife"),
    );
  });
});
