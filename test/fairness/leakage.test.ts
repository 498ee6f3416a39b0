import { describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.js";
import { type RandomStream, seededStream } from "../../src/core/random.js";
import { calibrate, logProbabilities, logScores } from "../../src/fairness/leakage/calibration.js";
import { defaultFolds } from "../../src/fairness/leakage/defaults.js";
import { stratifiedFolds } from "../../src/fairness/leakage/folds.js";
import {
  type Adversaries,
  auditLeakage,
  auditParity,
  binByCuts,
  type LeakageAuditInput,
  type LeakageAuditOptions,
  leakageDifference,
  leakageNotes,
  leakageTexts,
  lookup,
  quantileBins,
} from "../../src/fairness/leakage.js";
import type { Learner } from "../../src/learners/classifier.js";
import { logistic } from "../../src/learners/logistic.js";

const entropy = (p: number): number => (p <= 0 || p >= 1 ? 0 : -p * Math.log(p) - (1 - p) * Math.log(1 - p));
const flip = (bit: number, chance: number, stream: RandomStream): number =>
  stream.uniform() < chance ? 1 - bit : bit;

const ADVERSARIES: Adversaries = { logistic: logistic({ members: 10 }), lookup: lookup() };
const quick = (seed: number | string, more: Partial<LeakageAuditOptions> = {}): LeakageAuditOptions => ({
  stream: seededStream(seed),
  adversaries: ADVERSARIES,
  plants: 0,
  permutations: 99,
  replicates: 200,
  attribution: false,
  ...more,
});

/** Groups, one copy of them with errors, noise, and a target. */
const copied = (rows: number, error: number, seed: number | string): LeakageAuditInput => {
  const stream = seededStream(seed).split("copied");
  const sensitive = Int32Array.from({ length: rows }, () => stream.integer(2));
  const values = new Float32Array(rows * 3);
  sensitive.forEach((group, row) => {
    values[3 * row] = stream.integer(2);
    values[3 * row + 1] = flip(group, error, stream);
    values[3 * row + 2] = stream.integer(3);
  });
  return {
    features: { values, rows, columns: 3 },
    sourceColumns: ["noise", "copy", "other"],
    sensitive,
    groupNames: ["a", "b"],
    target: Int32Array.from({ length: rows }, (_, row) => flip(values[3 * row], 0.2, stream)),
    targetNames: ["no", "yes"],
  };
};

const finite = (value: unknown, path = "result"): void => {
  if (typeof value === "number") expect(Number.isFinite(value), path).toBe(true);
  else if (ArrayBuffer.isView(value))
    for (const x of value as Float64Array) expect(Number.isFinite(x)).toBe(true);
  else if (typeof value === "object" && value !== null) {
    for (const [key, each] of Object.entries(value)) finite(each, `${path}.${key}`);
  }
};

describe("leakage whose truth is known", () => {
  test("a copy with errors gives away log 2 - H(error)", async () => {
    const truth = Math.LN2 - entropy(0.2);
    const { leakage } = await auditLeakage(copied(1500, 0.2, 1), quick(1));
    for (const each of [leakage.unconditional, leakage.conditional]) {
      expect(each?.interval[0]).toBeLessThan(truth);
      expect(each?.interval[1]).toBeGreaterThan(truth);
      expect(Math.abs((each?.nats ?? 0) - truth)).toBeLessThan(0.04);
      expect(each?.pValue).toBeLessThan(1e-4);
      expect(each?.entropy).toBeCloseTo(Math.LN2, 2);
    }
    expect(leakage.unconditional.adversaries.map(({ name }) => name)).toEqual(["logistic", "lookup"]);
    const best = Math.max(...leakage.unconditional.adversaries.map(({ nats }) => nats));
    expect(leakage.unconditional.nats).toBe(best);
  });

  test("what only the target uncovers is in the conditional leakage", async () => {
    // The target is group xor feature, with errors: given it, the feature says log 2 - H(0.15), alone nothing.
    const stream = seededStream(2).split("xor");
    const rows = 1200;
    const sensitive = Int32Array.from({ length: rows }, () => stream.integer(2));
    const values = Float32Array.from({ length: rows }, () => stream.integer(2));
    const target = sensitive.map((group, row) => flip(group ^ values[row], 0.15, stream));
    const { leakage } = await auditLeakage(
      {
        features: { values, rows, columns: 1 },
        sensitive,
        groupNames: ["a", "b"],
        target,
        targetNames: ["no", "yes"],
      },
      quick(2),
    );
    const truth = Math.LN2 - entropy(0.15);
    expect(leakage.unconditional.interval[0]).toBe(0);
    expect(leakage.unconditional.pValue).toBeGreaterThan(0.05);
    expect(leakage.conditional?.interval[0]).toBeLessThan(truth);
    expect(leakage.conditional?.interval[1]).toBeGreaterThan(truth);
    expect(leakage.conditional?.interval[0]).toBeGreaterThan(0.15);
  });

  test("three groups: log 3 where a column names them", async () => {
    const rows = 300;
    const sensitive = Int32Array.from({ length: rows }, (_, row) => row % 3);
    const { leakage } = await auditLeakage(
      {
        features: { values: Float32Array.from(sensitive), rows, columns: 1 },
        sensitive,
        groupNames: ["a", "b", "c"],
      },
      quick(3),
    );
    expect(leakage.conditional).toBeUndefined();
    expect(leakage.unconditional.entropy).toBeCloseTo(Math.log(3), 10);
    expect(leakage.unconditional.nats).toBeGreaterThan(0.97 * Math.log(3));
    expect(leakage.unconditional.nats).toBeLessThanOrEqual(Math.log(3) + 1e-12);
  });

  test("where there is nothing, p is uniform and few intervals leave 0 out", async () => {
    const repetitions = 60;
    const p: number[] = [];
    let above = 0;
    for (let r = 0; r < repetitions; r++) {
      const { leakage } = await auditLeakage(
        { ...copied(120, 0.5, `null ${r}`), target: undefined },
        quick(`null ${r}`, { folds: 4 }),
      );
      p.push(leakage.unconditional.pValue);
      above += Number(leakage.unconditional.interval[0] > 0);
    }
    // Of 60 uniform numbers: more than 8 below .05 in one case of 400, and the mean within .5 ± 3 / sqrt(720).
    expect(p.filter((each) => each < 0.05).length).toBeLessThanOrEqual(8);
    expect(Math.abs(p.reduce((sum, each) => sum + each, 0) / repetitions - 0.5)).toBeLessThan(0.112);
    expect(above).toBeLessThanOrEqual(6);
  });
});

describe("adversaries", () => {
  test("one that only makes things up, and loudly, is not believed", async () => {
    const loud: Learner = {
      name: "loud",
      fit: (_, stream) => {
        const predict = (_features: unknown, rows?: Int32Array) => {
          const out = new Float64Array(2 * (rows?.length ?? 0));
          for (let i = 0; i < out.length; i += 2) {
            out[i] = stream.uniform() < 0.5 ? 0.999 : 0.001;
            out[i + 1] = 1 - out[i];
          }
          return out;
        };
        return {
          classes: 2,
          members: 1,
          predict,
          predictMembers: () => {
            throw new Error("not asked for");
          },
        };
      },
    };
    const { leakage } = await auditLeakage(
      { ...copied(400, 0.2, 4), target: undefined },
      quick(4, { adversaries: { loud } }),
    );
    const [each] = leakage.unconditional.adversaries;
    // Believed as it is, it would be at about log 2 - 3.5.
    expect(each.heldOut).toBeGreaterThan(-0.02);
    expect(each.strength).toBeLessThan(0.1);
    expect(leakage.unconditional.nats).toBeLessThan(0.02);
  });

  test("calibration finds the strength: 1 for true probabilities, 1/2 where log odds are doubled", () => {
    const stream = seededStream(5);
    const rows = 20000;
    const base = Float64Array.of(0.5, 0.5);
    const odds = Float64Array.from({ length: rows }, () => stream.normal(0, 1));
    const labels = Int32Array.from(odds, (z) => Number(stream.uniform() < 1 / (1 + Math.exp(-z))));
    const predicted = (factor: number) =>
      Float64Array.from({ length: 2 * rows }, (_, at) => {
        const p = 1 / (1 + Math.exp(-factor * odds[at >> 1]));
        return at % 2 === 1 ? p : 1 - p;
      });
    const one = calibrate(logScores(predicted(1), base), labels, base);
    expect(Math.abs(one.strength - 1)).toBeLessThan(0.08);
    const two = calibrate(logScores(predicted(2), base), labels, base);
    expect(Math.abs(two.strength - 0.53)).toBeLessThan(0.05);
    const none = { ...one, strength: 0 };
    for (const value of logProbabilities(logScores(predicted(1), base), labels.subarray(0, 5), none)) {
      expect(value).toBeCloseTo(Math.log(0.5), 12);
    }
  });

  test("folds hold the same share of every class", () => {
    const classes = Int32Array.from({ length: 103 }, (_, row) => (row < 23 ? 1 : 0));
    const rows = Int32Array.from(classes.keys());
    const folds = stratifiedFolds(rows, (row) => classes[row], 5, seededStream(6));
    expect(folds.flatMap((fold) => [...fold]).sort((a, b) => a - b)).toEqual([...rows]);
    for (const fold of folds) {
      const ones = fold.filter((row) => classes[row] === 1).length;
      expect(ones === 4 || ones === 5).toBe(true);
      expect(fold.length === 20 || fold.length === 21).toBe(true);
    }
  });
});

/** One that gives P(group 1) by a function of the row and of how many rows it learnt from. */
const scripted = (says: (row: number, learnt: number) => number): Learner => ({
  name: "scripted",
  fit: ({ rows = new Int32Array() }) => ({
    classes: 2,
    members: 1,
    predict: (_features, asked = new Int32Array()) =>
      Float64Array.from({ length: 2 * asked.length }, (_, at) => {
        const p = says(asked[at >> 1], rows.length);
        return at % 2 === 1 ? p : 1 - p;
      }),
    predictMembers: () => {
      throw new Error("not asked for");
    },
  }),
});

describe("who decides", () => {
  const input = { ...copied(1500, 0.2, "decides"), target: undefined };
  const truth = Math.LN2 - entropy(0.2);
  const copy = (row: number) => (input.features.values[3 * row + 1] === 1 ? 0.8 : 0.2);

  test("one that is clearly behind on rows held out does not, however much it seems to be learning", async () => {
    // With half the rows it knows nothing, with all of them a little: carried on, that would be anything.
    const learning = scripted((row, learnt) => (learnt < 1000 ? 0.5 : row % 3 > 0 ? copy(row) : 0.5));
    const { leakage } = await auditLeakage(
      input,
      quick("decides", { adversaries: { ...ADVERSARIES, learning } }),
    );
    const alone = await auditLeakage(input, quick("decides"));
    const { unconditional } = leakage;
    const of = (name: string) => unconditional.adversaries.find((each) => each.name === name);
    expect(of("learning")?.heldOut).toBeLessThan(0.8 * truth);
    expect(of("learning")?.interval[1]).toBeGreaterThan(unconditional.interval[1]);
    expect(unconditional.interval).toEqual(alone.leakage.unconditional.interval);
  });

  test("one that is as good but far less certain does not, and is named", async () => {
    const late = scripted((row, learnt) => (learnt < 1000 && row % 2 === 0 ? 1 - copy(row) : copy(row)));
    const { leakage } = await auditLeakage(
      input,
      quick("late", { adversaries: { sure: scripted(copy), late } }),
    );
    expect(leakage.unconditional.winner).toBe("sure");
    expect(leakage.unconditional.notes).toContain(leakageNotes.unstable("late"));
    expect(leakage.unconditional.interval[1]).toBeLessThan(truth + 0.08);
  });

  test("what was found on rows held out stands beside what endless rows would show", async () => {
    const { leakage } = await auditLeakage(input, quick("beside"));
    const { heldOut, nats, winner, adversaries } = leakage.unconditional;
    expect(heldOut.nats).toBe(adversaries.find(({ name }) => name === winner)?.heldOut);
    expect(heldOut.nats).toBe(Math.max(...adversaries.map((each) => each.heldOut)));
    expect(nats).toBeGreaterThanOrEqual(heldOut.nats);
    expect(heldOut.interval[0]).toBeLessThan(heldOut.nats);
  });
});

describe("rows to learn from", () => {
  test("are all of them, unless a limit is given", async () => {
    const counted: number[] = [];
    const counting = scripted((_row, learnt) => {
      counted.push(learnt);
      return 0.5;
    });
    const input = { ...copied(9000, 0.2, "rows"), target: undefined };
    const { notes } = await auditLeakage(input, quick("rows", { adversaries: { counting } }));
    expect(Math.max(...new Set(counted))).toBe(7200);
    expect(notes).toEqual([]);
    counted.length = 0;
    const capped = await auditLeakage(input, quick("rows", { adversaries: { counting }, mostRows: 500 }));
    expect(Math.max(...new Set(counted))).toBe(500);
    expect(capped.notes).toContain(leakageNotes.cap(7200, 500));
  });
});

test("a fifth of the rows is held out in turn, and of 50,000 or more a third", () => {
  expect([200, 49_999, 50_000].map(defaultFolds)).toEqual([5, 5, 3]);
});

describe("what could have been found", () => {
  test("follows from planted tables of fewer rows", async () => {
    const at = async (plantRows: number) => {
      const { leakage } = await auditLeakage(
        { ...copied(1600, 0.5, "planted"), target: undefined },
        quick("planted", { adversaries: { logistic: logistic({ members: 5 }) }, plants: 12, plantRows }),
      );
      return leakage.unconditional.detectable ?? Number.NaN;
    };
    const [all, some] = [await at(1600), await at(400)];
    expect(some / all).toBeGreaterThan(0.6);
    expect(some / all).toBeLessThan(1.7);
  });

  test("less with more rows, and about 4 times in 5 at what it says", async () => {
    const adversaries = { logistic: logistic({ members: 5 }) };
    const at = async (rows: number) => {
      const { leakage } = await auditLeakage(
        { ...copied(rows, 0.5, 7), target: undefined },
        quick(7, { adversaries, plants: 12 }),
      );
      return leakage.unconditional.detectable ?? Number.NaN;
    };
    const [few, many] = [await at(200), await at(800)];
    expect(many).toBeLessThan(few);
    expect(few / many).toBeGreaterThan(2);
    // The error at which a copy gives away as much.
    let [low, high] = [0, 0.5];
    for (let step = 0; step < 50; step++) {
      const middle = (low + high) / 2;
      if (Math.LN2 - entropy(middle) > few) low = middle;
      else high = middle;
    }
    let found = 0;
    for (let r = 0; r < 40; r++) {
      const { leakage } = await auditLeakage(
        { ...copied(200, low, `power ${r}`), target: undefined },
        quick(`power ${r}`, { adversaries }),
      );
      found += Number(leakage.unconditional.pValue < 0.05);
    }
    // 32 ± 3 standard deviations of Binomial(40, .8), and some for the estimate itself.
    expect(found).toBeGreaterThanOrEqual(22);
    expect(found).toBeLessThanOrEqual(39);
  });
});

describe("where it comes from", () => {
  test("columns and rows", async () => {
    const input = copied(600, 0.2, 8);
    const { columns, rows } = await auditLeakage(
      { ...input, target: undefined },
      quick(8, { attribution: true }),
    );
    expect(columns.map(({ name }) => name)[0]).toBe("copy");
    expect(columns.filter(({ proxy }) => proxy).map(({ name }) => name)).toEqual(["copy"]);
    const truth = Math.LN2 - entropy(0.2);
    expect(Math.abs(columns[0].alone.nats - truth)).toBeLessThan(0.06);
    expect(columns[0].shuffled.interval[0]).toBeGreaterThan(0.1);
    expect(columns[1].shuffled.nats).toBeLessThan(0.01);
    // Nothing else says what the copy says: without it all of it is lost.
    expect(Math.abs((columns[0].without?.nats ?? 0) - truth)).toBeLessThan(0.06);
    expect(columns[1].without?.nats).toBeLessThan(0.01);
    expect(rows.topTenth).toBeGreaterThan(0.09);
    expect(rows.topTenth).toBeLessThan(0.3);
    expect(rows.largest).toHaveLength(20);
  });

  test("a column that another repeats is missed when shuffled, and not when it is left out", async () => {
    const { features, ...input } = copied(800, 0.2, "twice");
    const values = features.values.slice();
    for (let row = 0; row < 800; row++) values[3 * row] = values[3 * row + 1];
    const { columns } = await auditLeakage(
      { ...input, features: { ...features, values }, target: undefined },
      quick("twice", { attribution: true, adversaries: { logistic: logistic({ members: 5 }) } }),
    );
    const copy = columns.find(({ name }) => name === "copy");
    expect(copy?.shuffled.interval[0]).toBeGreaterThan(0.05);
    expect(copy?.without?.nats).toBeLessThan(0.01);
  });

  test("groups come with their sizes and base rates", async () => {
    const { groups } = await auditLeakage(copied(200, 0.2, 9), quick(9));
    const input = copied(200, 0.2, 9);
    const size = input.sensitive.filter((group) => group === 0).length;
    expect(groups[0].rows).toBe(size);
    expect(groups[0].share).toBeCloseTo(size / 200, 12);
    const yes = input.sensitive.filter((group, row) => group === 0 && input.target?.[row] === 1).length;
    expect(groups[0].baseRates?.[1].rate).toBeCloseTo(yes / size, 12);
  });
});

describe("test rows and comparisons", () => {
  test("test rows are judged, and only they", async () => {
    const table = copied(600, 0.2, 10);
    const tested = copied(500, 0.2, 11);
    const { leakage, groups } = await auditLeakage(
      {
        ...table,
        test: { features: tested.features, sensitive: tested.sensitive, target: tested.target },
      },
      quick(10),
    );
    const truth = Math.LN2 - entropy(0.2);
    expect(leakage.unconditional.records.rows).toEqual(Int32Array.from({ length: 500 }, (_, row) => row));
    expect(leakage.unconditional.interval[0]).toBeLessThan(truth);
    expect(leakage.unconditional.interval[1]).toBeGreaterThan(truth);
    expect(groups.map(({ testRows }) => testRows)).toEqual(
      [0, 1].map((group) => tested.sensitive.filter((each) => each === group).length),
    );
  });

  test("a table without its proxy gives away less, with a narrower interval in pairs", async () => {
    const input = copied(600, 0.2, 12);
    const values = input.features.values.map((value, at) => (at % 3 === 1 ? 0 : value));
    const without = { ...input, features: { ...input.features, values } };
    const [one, two] = [await auditLeakage(input, quick(12)), await auditLeakage(without, quick(12))];
    const apart = leakageDifference(one.leakage.unconditional, two.leakage.unconditional);
    const paired = leakageDifference(one.leakage.unconditional, two.leakage.unconditional, { paired: true });
    expect(paired.nats).toBeCloseTo(apart.nats, 12);
    expect(paired.interval[1]).toBeLessThan(-0.1);
    expect(paired.paired).toBe(true);
    expect(apart.paired).toBe(false);
    expect(paired.basis).toBe("held out");
    const { heldOut } = one.leakage.unconditional;
    expect(paired.nats).toBeCloseTo(two.leakage.unconditional.heldOut.nats - heldOut.nats, 12);
    const fewer = await auditLeakage(copied(300, 0.2, 12), quick(12));
    const unequal = leakageDifference(one.leakage.unconditional, fewer.leakage.unconditional);
    expect(unequal.basis).toBe("endless rows");
    expect(unequal.nats).toBeCloseTo(fewer.leakage.unconditional.nats - one.leakage.unconditional.nats, 9);
    const same = leakageDifference(one.leakage.unconditional, one.leakage.unconditional, { paired: true });
    expect(same.nats).toBe(0);
    expect(same.interval[1] - same.interval[0]).toBeLessThan(0.5 * (apart.interval[1] - apart.interval[0]));
  });

  test("the same seed gives the same numbers, another seed others", async () => {
    const input = copied(200, 0.3, 13);
    const run = (seed: number) => auditLeakage(input, quick(seed, { plants: 2, attribution: true }));
    const [one, again, other] = [await run(1), await run(1), await run(2)];
    expect(again).toEqual(one);
    expect(other.leakage.unconditional.nats).not.toBe(one.leakage.unconditional.nats);
  });
});

describe("a continuous attribute", () => {
  test("is cut at its quantiles", () => {
    const { labels, names, cuts } = quantileBins([1, 2, 3, 4, 5, 6, 7, 8, Number.NaN], 4);
    expect([...labels]).toEqual([0, 0, 1, 1, 2, 2, 3, 3, -1]);
    expect(names).toEqual(["below 2.75", "2.75 to below 4.5", "4.5 to below 6.25", "6.25 or more"]);
    expect([...binByCuts([0, 100], cuts)]).toEqual([0, 3]);
    expect(quantileBins([0, 0, 0, 0, 7], 4).names).toEqual(["below 7", "7 or more"]);
  });

  test("with one value has no groups", () => {
    expect(() => quantileBins([3, 3, 3])).toThrow(leakageTexts.oneValue);
    expect(() => quantileBins([1, 2], 1)).toThrow(leakageTexts.bins(1));
  });
});

describe("what cannot be estimated", () => {
  test("more classes than rows, and an attribute with a thousand values", async () => {
    for (const rows of [12, 1000]) {
      const sensitive = Int32Array.from({ length: rows }, (_, row) => row);
      const names = Array.from({ length: 1000 }, (_, group) => `group ${group}`);
      const input = {
        features: { values: new Float32Array(rows), rows, columns: 1 },
        sensitive,
        groupNames: names,
      };
      await expect(auditLeakage(input, quick(1))).rejects.toThrow(
        leakageTexts.fewRows("The attribute", rows, 1000, 10),
      );
    }
  });

  test("a group too small is left out and named", async () => {
    const input = copied(200, 0.2, 14);
    const sensitive = input.sensitive.map((group, row) => (row < 6 ? 2 : row < 9 ? -1 : group));
    const result = await auditLeakage({ ...input, sensitive, groupNames: ["a", "b", "c"] }, quick(14));
    expect(result.leakage.unconditional.notes).toContain(leakageNotes.smallGroup("c", 6, 10, ""));
    expect(result.notes).toContain(leakageNotes.unknown(3));
    expect(result.leakage.unconditional.records.rows).toHaveLength(191);
    finite(result);
  });

  test("a group that the test data lacks, and a target that is constant in a group", async () => {
    const input = copied(300, 0.2, 15);
    const target = input.sensitive.map((group, row) => (group === 1 ? 0 : row % 2));
    const result = await auditLeakage(
      {
        ...input,
        target,
        test: {
          features: input.features,
          sensitive: input.sensitive.map(() => 0),
          target: target.map(() => 0),
        },
      },
      quick(15, { plants: 2, attribution: true }),
    );
    expect(result.notes).toContain(leakageNotes.absentInTest("b"));
    expect(result.leakage.conditional?.notes).toContain(leakageNotes.oneGroup(' where the target is "yes"'));
    finite(result);
    const parity = await auditParity(
      {
        features: input.features,
        sensitive: input.sensitive,
        groupNames: input.groupNames,
        target: input.sensitive.map(() => 0),
        targetNames: ["no", "yes"],
      },
      { stream: seededStream(1), predictor: logistic({ members: 5 }), replicates: 100 },
    );
    expect(parity.predictors).toEqual([]);
    finite(parity);
  });

  test("a target that names the group leaves nothing to say given it", async () => {
    const input = copied(200, 0.2, 16);
    const result = await auditLeakage({ ...input, target: input.sensitive }, quick(16));
    expect(result.leakage.conditional).toBeUndefined();
    expect(result.notes).toContain(leakageNotes.noConditional);
  });

  test("constant features say nothing", async () => {
    const input = copied(200, 0.2, 17);
    const features = { values: new Float32Array(200), rows: 200, columns: 1 };
    const result = await auditLeakage(
      { features, sensitive: input.sensitive, groupNames: ["a", "b"] },
      quick(17, { plants: 2, attribution: true }),
    );
    expect(result.leakage.unconditional.nats).toBeLessThan(0.01);
    expect(result.leakage.unconditional.detectable).toBeUndefined();
    finite(result);
  });

  test("wrong input is refused in one sentence", async () => {
    const input = copied(60, 0.2, 18);
    const { features } = input;
    const refused = (
      wrong: Partial<LeakageAuditInput>,
      text: string,
      more: Partial<LeakageAuditOptions> = {},
    ) => expect(auditLeakage({ ...input, ...wrong }, quick(1, more))).rejects.toThrow(text);
    await refused({ sensitive: new Int32Array(5) }, leakageTexts.length("The attribute", 5, 60));
    await refused({ sensitive: new Int32Array(60).fill(2) }, leakageTexts.label("The attribute", 0, 2, 2));
    await refused({ groupNames: ["a"] }, leakageTexts.classes("The attribute", 1));
    await refused({ targetNames: ["a"] }, leakageTexts.classes("The target", 1));
    await refused({ sourceColumns: ["a"] }, leakageTexts.columnNames(1, 3));
    const wide = {
      features: { values: new Float32Array(4), rows: 1, columns: 4 },
      sensitive: new Int32Array(1),
    };
    await refused({ test: wide }, leakageTexts.columns(4, 3));
    const unknown = { features: { ...features }, sensitive: new Int32Array(60).fill(-1) };
    await refused({ test: unknown }, leakageTexts.noTestRows);
    await refused({}, leakageTexts.noAdversaries, { adversaries: {} });
    await refused({}, leakageTexts.folds(2), { folds: 2 });
    await refused({}, leakageTexts.count("permutations", 5, 99), { permutations: 5 });
  });
});

describe("what only a few people have", () => {
  /** The table with the first rows in a group of their own, and one of its target values. */
  const withSecrets = (): LeakageAuditInput => {
    const input = copied(300, 0.2, "secrets");
    const sensitive = input.sensitive.map((group, row) => (row < 3 ? 2 : row === 3 ? 3 : group));
    const target = input.target?.map((value, row) => (row === 9 ? 2 : value));
    return {
      ...input,
      sensitive,
      target,
      groupNames: ["a", "b", "SECRET 1", "SECRET 2"],
      targetNames: ["no", "yes", "SECRET 3"],
    };
  };

  test("is not named, and has no base rates", async () => {
    const input = withSecrets();
    const audit = await auditLeakage(input, quick("secrets", { attribution: true }));
    const { target, targetNames } = input;
    if (target === undefined || targetNames === undefined) throw new Error("no target");
    const parity = await auditParity(
      { ...input, target, targetNames },
      { stream: seededStream(1), predictor: logistic({ members: 5 }), replicates: 100 },
    );
    expect(JSON.stringify({ audit, parity })).not.toContain("SECRET");
    expect(audit.groups.map(({ name, rows }) => [name, rows]).at(-1)).toEqual([
      "2 groups of fewer than 5 rows each",
      4,
    ]);
    expect(audit.groups.at(-1)?.baseRates).toBeUndefined();
    for (const { baseRates } of audit.groups.slice(0, 2)) {
      expect(baseRates?.map((rate) => rate.target)).toEqual(["no", "yes"]);
      expect(baseRates?.reduce((sum, { rate }) => sum + rate, 0)).toBeCloseTo(1, 12);
    }
    expect(audit.notes).toContain(leakageNotes.rareGroups(2));
    expect(audit.notes).toContain(leakageNotes.rareTargets(1));
    expect(
      parity.predictors[0].decomposition.map(({ group, reference }) => [group, reference].sort()),
    ).toEqual([["a", "b"]]);
  });

  test("changes no estimate: such groups are too small to be held out", async () => {
    const { sensitive, ...input } = withSecrets();
    const unknown = { ...input, sensitive: sensitive.map((group) => (group > 1 ? -1 : group)) };
    const audits = [{ ...input, sensitive }, unknown].map((each) => auditLeakage(each, quick(2)));
    const [named, left] = await Promise.all(audits);
    expect(named.leakage.unconditional.nats).toBe(left.leakage.unconditional.nats);
    expect(named.leakage.conditional?.nats).toBe(left.leakage.conditional?.nats);
  });
});

describe("an adversary that cannot learn from the table", () => {
  const refusal = "it does not like this table";
  const unwilling: Learner = {
    name: "unwilling",
    fit() {
      throw new InputError("unwilling", refusal);
    },
  };

  test("is left out and named, and the others go on", async () => {
    const adversaries = { unwilling, lookup: lookup() };
    const { leakage, notes } = await auditLeakage(copied(60, 0.1, "wide"), quick("wide", { adversaries }));
    expect(leakage.unconditional.adversaries.map(({ name }) => name)).toEqual(["lookup"]);
    expect(notes).toEqual([leakageNotes.leftOut("unwilling", refusal)]);
  });

  test("is the reason where there is no other", async () => {
    const alone = quick("wide", { adversaries: { unwilling } });
    await expect(auditLeakage(copied(60, 0.1, "wide"), alone)).rejects.toThrow(refusal);
  });
});
