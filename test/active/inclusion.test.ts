import { describe, expect, test } from "vitest";
import { inclusionTexts, inclusionWeights, poolMean } from "../../src/active/inclusion.js";
import { seededStream } from "../../src/core/random.js";

/** Values of a pool of five; the choice below is for the largest that is left: as biased as it can be. */
const VALUES = [3, 1, 4, 1, 5];
const TOTAL = 14;

interface Outcome {
  readonly chance: number;
  readonly acquired: { readonly row: number; readonly probability?: number }[];
}

/** Every way in which a plan of draws ("d") and choices ("c") can come out, with its probability. */
const outcomesOf = (plan: string): Outcome[] => {
  let all: Outcome[] = [{ chance: 1, acquired: [] }];
  for (const step of plan) {
    all = all.flatMap(({ chance, acquired }) => {
      const taken = new Set(acquired.map(({ row }) => row));
      const left = VALUES.map((_, row) => row).filter((row) => !taken.has(row));
      if (step === "c") {
        const row = left.reduce((best, each) => (VALUES[each] > VALUES[best] ? each : best));
        return [{ chance, acquired: [...acquired, { row }] }];
      }
      const probability = 1 / left.length;
      return left.map((row) => ({
        chance: chance * probability,
        acquired: [...acquired, { row, probability }],
      }));
    });
  }
  return all;
};

describe("estimates from a random part", () => {
  test.each(["d", "cd", "dc", "cdcd", "dccd", "ddd", "ccdd", "ddddd"])(
    "are unbiased for the plan %s, by all its outcomes",
    (plan) => {
      let [expected, chances] = [0, 0];
      for (const { chance, acquired } of outcomesOf(plan)) {
        const weights = inclusionWeights(acquired);
        expected += chance * acquired.reduce((sum, { row }, i) => sum + weights[i] * VALUES[row], 0);
        chances += chance;
      }
      expect(chances).toBeCloseTo(1, 12);
      expect(expected).toBeCloseTo(TOTAL, 12);
    },
  );

  test("weigh so that the weights estimate the size of the pool", () => {
    for (const { acquired } of outcomesOf("cdcd")) {
      expect(inclusionWeights(acquired).reduce((sum, each) => sum + each, 0)).toBeCloseTo(5, 12);
    }
  });

  test("poolMean is the same number, and its interval covers the truth about as often as it says", () => {
    const pool = 300;
    const values = Float64Array.from({ length: pool }, (_, row) => Number(row % 3 === 0 || row < 60));
    const truth = values.reduce((sum, each) => sum + each, 0) / pool;
    let covered = 0;
    const runs = 400;
    for (let seed = 0; seed < runs; seed++) {
      const stream = seededStream(seed);
      const left = Array.from({ length: pool }, (_, row) => row);
      const acquired: { row: number; probability?: number }[] = [];
      for (let k = 0; k < 80; k++) {
        const drawn = k % 2 === 1;
        // The chosen ones are the first rows, which have a mean of 1.
        const at = drawn ? stream.integer(left.length) : 0;
        const probability = drawn ? 1 / left.length : undefined;
        const [row] = left.splice(at, 1);
        acquired.push(probability === undefined ? { row } : { row, probability });
      }
      const own = acquired.map(({ row }) => values[row]);
      const { mean, interval } = poolMean(acquired, own);
      const weights = inclusionWeights(acquired);
      expect(mean).toBeCloseTo(own.reduce((sum, each, i) => sum + weights[i] * each, 0) / pool, 10);
      if (interval[0] <= truth && truth <= interval[1]) covered += 1;
    }
    expect(covered / runs).toBeGreaterThan(0.91);
    expect(covered / runs).toBeLessThan(0.985);
  });

  test("a mean of ones is one, whatever left the pool without an answer", () => {
    // Of 100 rows 40 are gone before the first draw.
    const acquired = [{}, { probability: 1 / 59 }, {}, { probability: 1 / 30 }];
    expect(poolMean(acquired, [1, 1, 1, 1]).mean).toBe(1);
  });

  test("need rows that were drawn, with probabilities", () => {
    expect(() => inclusionWeights([{}, {}])).toThrow(inclusionTexts.none);
    expect(() => poolMean([{}], [1])).toThrow(inclusionTexts.none);
    expect(() => inclusionWeights([{ probability: 0 }])).toThrow(inclusionTexts.probability(0));
    expect(() => poolMean([{ probability: 1 }], [])).toThrow(inclusionTexts.lengths(0, 1));
  });
});
