import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { selectBatch } from "../../src/active/batch.js";
import { epig } from "../../src/active/epig.js";
import { combineParts, fairbedEpig, fairbedTexts, type Prediction } from "../../src/active/fairbed.js";
import { bestCandidates, prunedTexts } from "../../src/active/pruned.js";
import { quotaTexts } from "../../src/active/quotas.js";
import { type RandomStream, seededStream } from "../../src/core/random.js";
import { drawMembers, drawRelated, drawVotes } from "./drawn-members.js";
import { single } from "./vectors.js";

/** Members of one of several kinds. */
const draw = (
  stream: RandomStream,
  kind: number,
  rows: number,
  members: number,
  targets: number,
): Prediction => {
  if (kind === 0) {
    const [pool, ofTargets] = drawRelated(stream, members, [rows, targets]);
    return { pool, targets: ofTargets };
  }
  if (kind === 1)
    return { pool: drawVotes(stream, rows, members), targets: drawVotes(stream, targets, members) };
  return {
    pool: single(drawMembers(stream, rows, members, kind, 0.3)),
    targets: single(drawMembers(stream, targets, members, 2, 0.3)),
  };
};

describe("the best candidates", () => {
  test("are those of scoring all, with the same numbers", () => {
    fc.assert(
      fc.property(
        fc.record({
          seed: fc.nat(),
          rows: fc.integer({ min: 1, max: 700 }),
          members: fc.integer({ min: 1, max: 24 }),
          targets: fc.integer({ min: 1, max: 60 }),
          kinds: fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 3 })),
          attributes: fc.integer({ min: 0, max: 2 }),
          beta: fc.constantFrom(0, 0.5, 10),
          combine: fc.constantFrom("sum" as const, "worst" as const),
          correction: fc.constantFrom("none" as const, "analytic" as const),
          size: fc.integer({ min: 1, max: 12 }),
        }),
        ({ seed, rows, members, targets, kinds, attributes, beta, combine, correction, size }) => {
          const stream = seededStream(seed);
          const target = { ...draw(stream, kinds[0], rows, members, targets), correction };
          const sensitive = Array.from({ length: attributes }, (_, i) => ({
            ...draw(stream.split(i), kinds[1], rows, members + i, targets),
            correction,
          }));
          const wanted = Math.min(size, rows);
          const parts =
            attributes === 0
              ? combineParts(epig(target.pool, target.targets, target), new Float64Array(rows), 0)
              : fairbedEpig(target, sensitive, { beta, combine });
          const all = selectBatch(parts, { size: wanted });
          const best = bestCandidates(target, sensitive, { beta, combine, size: wanted });
          expect(best.rows).toEqual(all.map(({ row }) => row));
          for (const part of ["score", "target", "leakage"] as const) {
            expect([...best[part]]).toEqual(all.map((each) => each[part]));
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  test("of many are found with the scores of a few", () => {
    const stream = seededStream("many");
    const [pool, targets] = drawRelated(stream, 50, [6000, 200]);
    const alone = bestCandidates({ pool, targets }, [], { size: 10 });
    expect(alone.evaluated).toBeLessThan(0.5 * 6000);
    const [sensitivePool, sensitiveTargets] = drawRelated(stream, 50, [6000, 200]);
    const sensitive = { pool: sensitivePool, targets: sensitiveTargets };
    const fair = bestCandidates({ pool, targets }, [sensitive], { size: 10, beta: 10 });
    const all = selectBatch(fairbedEpig({ pool, targets }, [sensitive], { beta: 10 }), { size: 10 });
    expect(fair.rows).toEqual(all.map(({ row }) => row));
    expect(fair.evaluated).toBeLessThan(0.5 * 6000);
  });

  test("leave out what is excluded", () => {
    const prediction = draw(seededStream("excluded"), 0, 300, 10, 20);
    const [first, second] = bestCandidates(prediction, [], { size: 2 }).rows;
    expect(bestCandidates(prediction, [], { size: 1, exclude: [first] }).rows).toEqual([second]);
  });

  test("refuse what they cannot do", () => {
    const prediction = draw(seededStream("refused"), 0, 5, 3, 2);
    expect(() => bestCandidates(prediction, [], { size: 6 })).toThrow(quotaTexts.tooLarge(6, 5, 5));
    expect(() => bestCandidates(prediction, [], { size: 1, beta: -1 })).toThrow(fairbedTexts.beta(-1));
    expect(() => bestCandidates({ ...prediction, correction: "permutation" }, [], { size: 1 })).toThrow(
      prunedTexts.correction,
    );
  });
});
