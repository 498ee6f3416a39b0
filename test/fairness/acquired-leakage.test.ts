import { describe, expect, it } from "vitest";
import { seededStream } from "../../src/core/random.js";
import { acquiredLeakage, acquiredLeakageTexts, judgeGuesses } from "../../src/fairness/acquired-leakage.js";
import type { Classifier, FeatureMatrix, Learner, TrainingSet } from "../../src/learners/classifier.js";
import { forest } from "../../src/learners/forest.js";

/**
 * Four kinds of people, equally many of each: P(group 1 | kind). Mutual information and AUC follow from the definitions.
 */
const SECOND = [0.1, 0.3, 0.6, 0.9];
const share = SECOND.reduce((sum, p) => sum + p, 0) / 4;
const entropy = (p: number): number => -p * Math.log(p) - (1 - p) * Math.log(1 - p);
const INFORMATION = entropy(share) - SECOND.reduce((sum, p) => sum + entropy(p), 0) / 4;
const AUC =
  SECOND.reduce(
    (sum, p, i) => sum + SECOND.reduce((own, q, j) => own + p * (1 - q) * (i > j ? 1 : i === j ? 0.5 : 0), 0),
    0,
  ) /
  (16 * share * (1 - share));

const draw = (rows: number, seed: number) => {
  const stream = seededStream(seed);
  const kinds = Int32Array.from({ length: rows }, () => stream.integer(4));
  const groups = kinds.map((kind) => Number(stream.uniform() < SECOND[kind]));
  return {
    kinds,
    groups,
    probabilities: Array.from(kinds).flatMap((kind) => [1 - SECOND[kind], SECOND[kind]]),
  };
};
const range = (from: number, to: number) => Int32Array.from({ length: to - from }, (_, i) => from + i);

/** Counts by the value of the only feature: P(group | kind) by the weights it is given. */
const counting = (seen: TrainingSet[] = []): Learner => ({
  name: "counting",
  fit(training): Classifier {
    seen.push(training);
    const { features, rows = new Int32Array(), labels, classes, weights } = training;
    const counts = new Float64Array(8 * classes);
    rows.forEach((row, i) => {
      counts[features.values[row] * classes + labels[i]] += weights?.[i] ?? 1;
    });
    return {
      classes,
      members: 1,
      predict(matrix: FeatureMatrix, wanted = new Int32Array()) {
        const out = new Float64Array(wanted.length * classes);
        wanted.forEach((row, i) => {
          const own = counts.subarray(matrix.values[row] * classes, (matrix.values[row] + 1) * classes);
          const sum = own.reduce((whole, each) => whole + each, 0);
          own.forEach((each, c) => {
            out[i * classes + c] = sum === 0 ? 1 / classes : each / sum;
          });
        });
        return out;
      },
      predictMembers: () => {
        throw new Error("not asked for");
      },
    };
  },
});

describe("guesses of a sensitive attribute", () => {
  it("are worth the mutual information and the AUC of the population where they are right", () => {
    const { groups, probabilities } = draw(40_000, 1);
    const { nats, auc, entropy: most } = judgeGuesses({ probabilities, groups, classes: 2 });
    expect(nats).toBeCloseTo(INFORMATION, 2);
    expect(auc).toBeCloseTo(AUC, 2);
    expect(most).toBeCloseTo(entropy(share), 3);
  });

  it("have intervals that cover those about as often as they say", () => {
    const repeats = 400;
    let [nats, auc] = [0, 0];
    for (let repeat = 0; repeat < repeats; repeat++) {
      const judged = judgeGuesses(
        { ...draw(400, 100 + repeat), classes: 2 },
        { stream: seededStream(repeat) },
      );
      const covers = ([low, high]: readonly [number, number] = [1, 0], truth: number) =>
        low <= truth && truth <= high;
      if (covers(judged.natsInterval, INFORMATION)) nats++;
      if (covers(judged.aucInterval, AUC)) auc++;
    }
    // 95 % within three standard errors of 400 draws, and a little less below for the nats' two-sided skew.
    for (const covered of [nats, auc]) {
      expect(covered / repeats).toBeGreaterThan(0.917);
      expect(covered / repeats).toBeLessThanOrEqual(0.99);
    }
  });

  it("that know nothing are worth about nothing, and overconfident ones are not believed", () => {
    const { groups } = draw(4000, 3);
    const stream = seededStream(4);
    const noise = Array.from(groups).flatMap(() => {
      const p = stream.uniform() < 0.5 ? 0.02 : 0.98;
      return [1 - p, p];
    });
    const { nats, rawNats, natsInterval, auc } = judgeGuesses({ probabilities: noise, groups, classes: 2 });
    expect(nats).toBeLessThan(0.002);
    expect(rawNats).toBeGreaterThan(-0.002);
    expect(natsInterval?.[0]).toBe(0);
    expect(auc).toBeCloseTo(0.5, 1);
  });

  it("are never scored by rows that they were calibrated on: what is only chance comes out below 0 on average", () => {
    // Scored on its own rows, the best strength never loses to the base rates.
    const raw = Array.from({ length: 200 }, (_, seed) => {
      const stream = seededStream(seed).split("noise");
      const groups = Int32Array.from({ length: 40 }, (_, row) => row % 2);
      const probabilities = Array.from(groups).flatMap(() => {
        const p = stream.uniform();
        return [1 - p, p];
      });
      return judgeGuesses({ probabilities, groups, classes: 2 }, { stream: stream.split("halves") }).rawNats;
    });
    expect(raw.filter((nats) => nats < 0).length).toBeGreaterThan(60);
    expect(raw.reduce((sum, nats) => sum + nats, 0)).toBeLessThan(0);
  });

  it("are judged at given shares as rows of those shares would be", () => {
    const { kinds, groups, probabilities } = draw(60_000, 5);
    // Every third of group 1 only: shares of the rows are off, and those of the population are given.
    const kept = range(0, groups.length).filter((row) => groups[row] === 0 || row % 3 === 0);
    const judged = judgeGuesses({
      probabilities: Array.from(kept).flatMap((row) => [probabilities[2 * row], probabilities[2 * row + 1]]),
      groups: kept.map((row) => groups[row]),
      classes: 2,
      shares: [1 - share, share],
    });
    expect(kinds.length).toBe(groups.length);
    expect(judged.nats).toBeCloseTo(INFORMATION, 2);
    expect(judged.auc).toBeCloseTo(AUC, 2);
  });

  it("leave out unknown groups and those that nobody belongs to", () => {
    const { groups, probabilities } = draw(2000, 6);
    const three = Array.from(groups).flatMap((_, row) => [
      probabilities[2 * row],
      0,
      probabilities[2 * row + 1],
    ]);
    const some = groups.map((g, row) => (row % 10 === 0 ? -1 : g));
    const two = judgeGuesses({ probabilities, groups: some, classes: 2 });
    const wide = judgeGuesses({
      probabilities: three,
      groups: some.map((g) => (g === 1 ? 2 : g)),
      classes: 3,
    });
    expect(wide).toEqual(two);
    expect(Number.isFinite(wide.nats)).toBe(true);
    expect(() => judgeGuesses({ probabilities, groups: groups.map(() => -1), classes: 2 })).toThrow(
      acquiredLeakageTexts.noRows,
    );
  });
});

describe("the leakage of acquired rows", () => {
  const rows = 30_000;
  const { kinds, groups } = draw(rows, 8);
  const given = {
    features: { values: Float32Array.from(kinds), rows, columns: 1 },
    sensitive: groups,
    classes: 2,
    test: range(10_000, rows),
  };
  const take = (few: (row: number) => boolean) => range(0, 10_000).filter(few);

  it("does not move with the groups' shares alone", () => {
    const learner = counting();
    const all = acquiredLeakage({ ...given, acquired: take(() => true) }, { learner });
    const tenth = acquiredLeakage(
      { ...given, acquired: take((row) => groups[row] === 0 || row % 10 === 0) },
      { learner },
    );
    expect(tenth.acquiredShares[1]).toBeLessThan(0.1);
    expect(tenth.shares).toEqual(all.shares);
    expect(all.nats).toBeCloseTo(INFORMATION, 2);
    expect(tenth.nats).toBeCloseTo(INFORMATION, 2);
    expect(tenth.auc).toBeCloseTo(all.auc, 2);
    // The probabilities are the population's, not those of the acquired rows.
    const first = given.test.findIndex((row) => kinds[row] === 3);
    expect(tenth.probabilities[2 * first + 1]).toBeCloseTo(SECOND[3], 1);
  });

  it("weighs each acquired row by its group's share of the population over that of the acquired", () => {
    const seen: TrainingSet[] = [];
    const acquired = take((row) => row < 40);
    acquiredLeakage({ ...given, acquired, shares: [0.75, 0.25] }, { learner: counting(seen) });
    const ones = acquired.filter((row) => groups[row] === 1).length / 40;
    acquired.forEach((row, i) => {
      const expected = groups[row] === 1 ? 0.25 / ones : 0.75 / (1 - ones);
      expect(seen[0].weights?.[i]).toBeCloseTo(expected, 12);
    });
  });

  it("is 0 and says so where one group only was acquired", () => {
    const one = acquiredLeakage({ ...given, acquired: take((row) => groups[row] === 1) });
    expect(one).toMatchObject({ nats: 0, auc: 0.5, note: acquiredLeakageTexts.oneGroup });
    expect(one.probabilities[1]).toBeCloseTo(share, 2);
  });

  it("gives the same with or without intervals, and the same from the same stream", () => {
    const acquired = take((row) => row < 200);
    const at = (interval: boolean) =>
      acquiredLeakage(
        { ...given, acquired },
        { learner: forest({ trees: 20 }), interval, stream: seededStream(2) },
      );
    const { natsInterval, aucInterval, ...rest } = at(true);
    const without = at(false);
    expect(without).toEqual({ ...rest, natsInterval: undefined, aucInterval: undefined });
    expect(natsInterval?.[1]).toBeGreaterThan(rest.nats);
    expect(aucInterval?.[1]).toBeGreaterThan(rest.auc);
  });

  it("needs shares of every group", () => {
    const acquired = take((row) => row < 20);
    for (const shares of [[1], [0, 0], [-1, 2]])
      expect(() => acquiredLeakage({ ...given, acquired, shares })).toThrow(acquiredLeakageTexts.shares(2));
  });
});
