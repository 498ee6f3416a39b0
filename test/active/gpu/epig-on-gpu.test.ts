/** EPIG on a GPU: the formula in float64, and that of the processor for every way of asking that it serves. */
import { expect, test } from "vitest";
import { conditionalFairbedEpig } from "../../../src/active/conditional.js";
import { epig } from "../../../src/active/epig.js";
import { fairbedEpig } from "../../../src/active/fairbed.js";
import { epigOnGpu, epigsOnGpu } from "../../../src/active/gpu/epig-on-gpu.js";
import { scoresElsewhere } from "../../../src/active/gpu/scores-elsewhere.js";
import { type Members, takeRows } from "../../../src/active/members.js";
import { minimaxEpig } from "../../../src/active/minimax.js";
import { seededStream } from "../../../src/core/random.js";
import { describeOnGpu, standingIn } from "../../setup/gpu.js";

/** Members that share features, some of them sure, and some rows on which all are. */
const membersOf = (seed: string, rows: number, members: number, classes: number): Members => {
  const stream = seededStream(seed);
  const shared = Array.from({ length: members }, (_, k) => seededStream("features").split(k).normal());
  const values = new Float32Array(rows * members * classes);
  for (let n = 0; n < rows; n++) {
    const slopes = Array.from({ length: classes }, () => stream.normal());
    for (let k = 0; k < members; k++) {
      const odds = slopes.map((slope) => Math.exp(3 * slope * shared[k] + stream.normal()));
      const sum = odds.reduce((total, each) => total + each, 0);
      const sure = n % 7 === 0 ? 0 : n % 5 === 0 ? k % classes : undefined;
      odds.forEach((each, c) => {
        values[(n * members + k) * classes + c] = sure === undefined ? each / sum : Number(c === sure);
      });
    }
  }
  return { kind: "dense", rows, members, classes, values };
};

/** The same in float64, for which the processor follows the formula. */
const exact = (given: Members): Members => {
  if (given.kind === "votes") return given;
  const { rows, members, classes } = given;
  return { kind: "dense", rows, members, classes, values: Float64Array.from(given.values) };
};

const largest = (a: Float64Array, b: Float64Array): number =>
  a.reduce((most, value, i) => Math.max(most, Math.abs(value - b[i])), 0);

describeOnGpu("EPIG on a GPU", (gpu) => {
  test.each([
    [2, 2, 130, 300, 33],
    [3, 3, 40, 50, 20],
    [2, 4, 25, 70, 16],
  ])("%s and %s classes: within 1e-6 of the formula", async (pools, others, rows, count, size) => {
    const pool = membersOf("pool", rows, size, pools);
    const targets = membersOf("targets", count, size, others);
    const weights = Float64Array.from({ length: count }, (_, t) => 1 + (t % 3));
    for (const options of [{}, { weights, correction: "analytic" as const }]) {
      const found = await epigOnGpu(gpu(), pool, targets, options);
      const formula = epig(exact(pool), exact(targets), options);
      expect(largest(found, formula)).toBeLessThan(1e-6);
      expect(largest(found, new Float64Array(rows))).toBeGreaterThan(0.01);
    }
    // A candidate has the same bits in any pool.
    const some = [3, rows - 1];
    const part = await epigOnGpu(gpu(), takeRows(pool, some), targets);
    const all = await epigOnGpu(gpu(), pool, targets);
    expect([...part]).toEqual(some.map((row) => all[row]));
  });

  test("serves every method that is made of it", async () => {
    const [pool, targets] = [membersOf("pool", 20, 12, 2), membersOf("targets", 15, 12, 2)];
    const [group, groups] = [membersOf("group", 20, 12, 3), membersOf("groups", 15, 12, 3)];
    const both = { pool: membersOf("both", 20, 12, 4), targets: membersOf("both targets", 15, 12, 4) };
    const stream = seededStream(1);
    const shares = [0, 1].map((g) => Array.from({ length: 15 }, (_, t) => Number(t % 2 === g)));
    const there = epigsOnGpu(gpu());
    const fair = await scoresElsewhere(
      (plain) =>
        fairbedEpig(
          { pool, targets, plain, correction: "permutation", permutations: 2, stream },
          [{ pool: group, targets: groups, plain, correction: "analytic" }],
          { beta: 10 },
        ),
      there,
    );
    const here = fairbedEpig(
      { pool, targets, correction: "permutation", permutations: 2, stream },
      [{ pool: group, targets: groups, correction: "analytic" }],
      { beta: 10 },
    );
    expect(largest(fair.score, here.score)).toBeLessThan(2e-5);
    expect(largest(fair.leakage, here.leakage)).toBeLessThan(2e-6);
    const least = await scoresElsewhere((plain) => minimaxEpig({ pool, targets, plain }, shares), there);
    expect(largest(least, minimaxEpig({ pool, targets }, shares))).toBeLessThan(2e-6);
    const options = { beta: 2, sensitiveClasses: 2 };
    const conditional = await scoresElsewhere(
      (plain) => conditionalFairbedEpig({ ...both, plain }, options),
      there,
    );
    expect(largest(conditional.score, conditionalFairbedEpig(both, options).score)).toBeLessThan(1e-5);
  });

  test.each([
    [2, 2, 700],
    [2, 3, 400],
  ])(
    "%s and %s classes: %s targets that do not fit together give the same bits in parts",
    async (pools, others, count) => {
      const size = 16;
      const pool = membersOf("pool", 90, size, pools);
      const targets = membersOf("targets", count, size, others);
      const weights = Float64Array.from({ length: count }, (_, t) => 1 + (t % 3));
      const room = 4 * 300 * size * others;
      const narrow = standingIn(gpu(), {
        limits: { ...gpu().limits, maxStorageBufferBindingSize: room },
        async allocate(words) {
          if (Math.max(...Object.values<number>(words)) > room / 4) throw new Error("no room");
          return gpu().allocate(words);
        },
      });
      const parts = await epigOnGpu(narrow, pool, targets, { weights });
      expect(parts).toEqual(await epigOnGpu(gpu(), pool, targets, { weights }));
    },
  );

  test("leaves votes and float64 members to the processor", async () => {
    const votes = (rows: number): Members => ({
      kind: "votes",
      rows,
      members: 20,
      classes: 2,
      words: Uint32Array.from({ length: rows }, (_, n) => (n * 2654435761) >>> 12),
    });
    expect(await epigOnGpu(gpu(), votes(9), votes(12))).toEqual(epig(votes(9), votes(12)));
    const [pool, targets] = [exact(membersOf("pool", 5, 8, 2)), exact(membersOf("targets", 6, 8, 2))];
    expect(await epigOnGpu(gpu(), pool, targets)).toEqual(epig(pool, targets));
  });
});
