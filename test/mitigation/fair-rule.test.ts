import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InputError } from "../../src/core/errors.js";
import { seededStream } from "../../src/core/random.js";
import {
  applyFairRule,
  type FairMetric,
  fairMargins,
  fairRuleTexts,
  fitFairRule,
  judgeFairRule,
  ruleRowTexts,
} from "../../src/mitigation/fair-rule.js";
import { mitigationTexts } from "../../src/mitigation/groups.js";
import { bestRandomised, deterministic, isFair, judge, rowsOf } from "./small-population.js";

const kinds = fc.array(
  fc.record({
    mass: fc.integer({ min: 1, max: 9 }),
    eta: fc.integer({ min: 1, max: 9972 }).map((n) => n / 9973),
    second: fc.integer({ min: 1, max: 9966 }).map((n) => n / 9967),
  }),
  { minLength: 2, maxLength: 6 },
);

describe.each(["dp", "eopp"] as const)("the exact optimum of a small population, %s", (metric) => {
  it("is reached up to the one kind that the best randomised classifier decides by a coin", async () => {
    await fc.assert(
      fc.asyncProperty(kinds, fc.integer({ min: 30, max: 100 }), async (given, percent) => {
        const level = percent / 100;
        const rule = await fitFairRule(rowsOf(given), { metric, level, replicates: 2 });
        const decided = [...applyFairRule(rule, rowsOf(given))];
        const own = judge(given, decided, metric);
        expect(isFair(own.rates, level)).toBe(true);
        expect(rule.reached).toBe(true);
        expect(rule.accuracy).toBeCloseTo(own.accuracy, 10);
        expect(rule.ratio).toBeCloseTo(Math.min(...own.rates) / Math.max(...own.rates), 10);
        expect(rule.rates[0]).toBeCloseTo(own.rates[0], 10);

        const { f, accuracy: bound } = bestRandomised(given, level, metric);
        const fair = deterministic(given.length)
          .map((each) => judge(given, each, metric))
          .filter(({ rates }) => isFair(rates, level));
        const best = Math.max(...fair.map(({ accuracy }) => accuracy));
        expect(best).toBeLessThanOrEqual(bound + 1e-9);
        expect(own.accuracy).toBeLessThanOrEqual(best + 1e-9);
        // One of the two ways to decide the kind of the coin is fair as well, the constraint being linear.
        const coin = f.findIndex((each) => each > 0 && each < 1);
        const rounded = (coin < 0 ? [f] : [f.with(coin, 0), f.with(coin, 1)])
          .map((each) => judge(given, each, metric))
          .filter(({ rates }) => isFair(rates, level));
        for (const { accuracy } of rounded) expect(own.accuracy).toBeGreaterThanOrEqual(accuracy - 1e-9);
        if (coin < 0 && rounded.length > 0) expect(own.accuracy).toBeCloseTo(best, 9);
      }),
      { numRuns: 80, seed: 14 },
    );
  });

  it("of a matched selection rate has the smallest multipliers", async () => {
    await fc.assert(
      fc.asyncProperty(kinds, fc.integer({ min: 10, max: 90 }), async (given, percent) => {
        const selectionRate = percent / 100;
        const rows = rowsOf(given);
        const goal = { metric, level: 0.8, selectionRate, replicates: 2 };
        const { multipliers, reached, shares } = await fitFairRule(rows, goal);
        const lambda = multipliers[1];
        expect(multipliers[0] + lambda).toBe(0);
        const mass = given.reduce((sum, kind) => sum + kind.mass, 0);
        // Who is selected at a multiplier, cut at the share closest to the one asked for; nobody where that is not fair.
        const fairAt = (s: number): readonly number[] => {
          const scores = given.map(({ eta, second }) => {
            const m = metric === "dp" ? 1 : eta;
            return eta - s * m * (second / shares[1] - (1 - second) / shares[0]);
          });
          const cuts = [...new Set(scores)]
            .sort((a, b) => b - a)
            .map((lowest) => {
              const f = scores.map((score) => Number(score >= lowest));
              const share = f.reduce((sum, each, i) => sum + each * given[i].mass, 0) / mass;
              return { f, off: Math.abs(share - selectionRate) };
            });
          const { f } = cuts.reduce((best, each) => (each.off < best.off - 1e-12 ? each : best));
          return isFair(judge(given, f, metric).rates, 0.8) ? f : [];
        };
        if (reached) {
          const chosen = fairAt(lambda);
          expect(chosen.length).toBeGreaterThan(0);
          // A multiplier nearer to 0 is not fair, or is so by the same decisions.
          for (let k = 0; k < 60; k++) {
            const nearer = fairAt((lambda * k) / 60);
            if (nearer.length > 0) expect(nearer).toEqual(chosen);
          }
        } else for (let s = -3; s <= 3; s += 0.02) expect(fairAt(s)).toEqual([]);
      }),
      { numRuns: 50, seed: 15 },
    );
  });
});

/** Rows of a model in which group 1 has more of what is rewarded, and two features that tell the groups apart. */
const drawn = (count: number, seed: string) => {
  const stream = seededStream(seed);
  const rows = Array.from({ length: count }, () => {
    const group = stream.integer(2);
    const skill = stream.normal() + 0.9 * group;
    const hint = stream.normal() + 1.5 * group;
    const eta = 1 / (1 + Math.exp(-1.5 * (skill - 0.6)));
    // By Bayes, with normal features of equal variance.
    const second = 1 / (1 + Math.exp(-(0.9 * (skill - 0.45) + 1.5 * (hint - 0.75))));
    return { eta, second, group, label: Number(stream.uniform() < eta) };
  });
  return {
    scores: rows.map(({ eta }) => eta),
    groupProbabilities: rows.flatMap(({ second }) => [1 - second, second]),
    groups: rows.map(({ group }) => group),
    labels: rows.map(({ label }) => label),
    seconds: rows.map(({ second }) => second),
  };
};
type Drawn = ReturnType<typeof drawn>;

const measured = ({ groups, labels }: Drawn, decided: ArrayLike<number>, metric: FairMetric) => {
  const rate = (group: number) => {
    const own = groups.flatMap((g, i) => (g === group && (metric === "dp" || labels[i] === 1) ? [i] : []));
    return own.reduce((sum, i) => sum + decided[i], 0) / own.length;
  };
  const rates = [rate(0), rate(1)] as const;
  return {
    accuracy: labels.filter((label, i) => label === decided[i]).length / labels.length,
    ratio: Math.min(...rates) / Math.max(...rates),
  };
};

describe("a hundred rows", () => {
  it.each(["dp", "eopp"] as const)("have no better rule, %s", async (metric) => {
    const sample = drawn(100, `hundred ${metric}`);
    const { scores, groupProbabilities, groups, labels, seconds } = sample;
    const rule = await fitFairRule({ scores, groupProbabilities, groups, labels }, { metric, replicates: 2 });
    const w = seconds.map(
      (second, i) =>
        (metric === "dp" ? 1 : scores[i]) * (second / rule.shares[1] - (1 - second) / rule.shares[0]),
    );
    // On either side of every multiplier at which two rows change places, every cut.
    let best = 0;
    const relevant = (i: number) => metric === "dp" || labels[i] === 1;
    const totals = [0, 1].map((g) => groups.filter((group, i) => group === g && relevant(i)).length);
    const tryAt = (s: number) => {
      const order = [...scores.keys()].sort((i, j) => scores[j] - s * w[j] - scores[i] + s * w[i]);
      const selected = [0, 0];
      let right = labels.filter((label) => label === 0).length;
      for (const row of order) {
        if (relevant(row)) selected[groups[row]]++;
        right += labels[row] === 1 ? 1 : -1;
        const rates = [selected[0] / totals[0], selected[1] / totals[1]] as const;
        if (isFair(rates, 0.8)) best = Math.max(best, right);
      }
    };
    tryAt(0);
    for (let i = 0; i < 100; i++)
      for (let j = 0; j < i; j++) {
        const crossing = (scores[i] - scores[j]) / (w[i] - w[j]);
        for (const aside of [1 - 1e-7, 1 + 1e-7]) tryAt(crossing * aside);
      }
    expect(Math.round(100 * rule.accuracy)).toBe(best);
  });
});

describe("many rows", () => {
  const sample = drawn(600, "fit");

  it.each(["dp", "eopp"] as const)("has no better rule on a dense grid, %s", async (metric) => {
    const { scores, seconds, groupProbabilities, groups, labels } = sample;
    const rule = await fitFairRule(
      { scores, groupProbabilities, groups, labels },
      { metric, replicates: 100 },
    );
    const own = measured(sample, applyFairRule(rule, sample), metric);
    expect(own.ratio).toBeCloseTo(rule.ratio, 12);
    expect(own.accuracy).toBeCloseTo(rule.accuracy, 12);
    expect(own.ratio).toBeGreaterThanOrEqual(0.8);
    expect(rule.plain.ratio).toBeLessThan(0.7);
    let best = 0;
    for (let lambda = 0; lambda <= 0.6; lambda += 0.01)
      for (let t = 0.2; t < 0.8; t += 0.01) {
        const decided = scores.map((eta, i) => {
          const m = metric === "dp" ? 1 : eta;
          const w = m * (seconds[i] / rule.shares[1] - (1 - seconds[i]) / rule.shares[0]);
          return Number(eta - lambda * w > t);
        });
        const { accuracy, ratio } = measured(sample, decided, metric);
        if (ratio >= 0.8) best = Math.max(best, accuracy);
      }
    expect(rule.accuracy).toBeGreaterThanOrEqual(best - 0.002);
  });

  it("holds its level on other rows, by true groups and by probabilities alone", async () => {
    const { scores, groupProbabilities, groups, labels } = drawn(3000, "large");
    const others = drawn(6000, "others");
    for (const rows of [
      { scores, groupProbabilities, groups, labels },
      { scores, groupProbabilities },
    ]) {
      const rule = await fitFairRule(rows, { replicates: 200 });
      expect(rule.countedBy).toBe("groups" in rows ? "groups" : "probabilities");
      const { ratio } = measured(others, applyFairRule(rule, others), "dp");
      expect(Math.abs(ratio - 0.8)).toBeLessThan(0.08);
    }
  });

  it("has the interval that the delta method gives", async () => {
    const rule = await fitFairRule(sample, { selectionRate: 0.5 });
    const sizes = [0, 1].map((g) => sample.groups.filter((each) => each === g).length);
    const variance = rule.rates.reduce<number>((sum, rate = 0, g) => sum + (1 - rate) / (rate * sizes[g]), 0);
    const [low, high] = rule.interval;
    const width = rule.ratio * 2 * 1.96 * Math.sqrt(variance);
    expect(high - low).toBeGreaterThan(0.75 * width);
    expect(high - low).toBeLessThan(1.2 * width);
    expect(low).toBeLessThan(rule.ratio);
    expect(rule.warnings).toEqual([fairRuleTexts.uncertain(0.8, low)]);
  });
});

describe("rates that known groups correct", () => {
  const many = drawn(900, "many");
  const few = drawn(150, "few");
  // A model that takes every second person for one of the other group.
  const wrong = ({ seconds }: Drawn) => seconds.flatMap((p, i) => (i % 2 === 0 ? [p, 1 - p] : [1 - p, p]));
  const blind = (rows: Drawn) => ({ scores: rows.scores, groupProbabilities: wrong(rows) });
  const known = { ...blind(few), groups: few.groups, labels: few.labels };
  const rule = { metric: "dp", multipliers: [-0.1, 0.1], shares: [0.5, 0.5], threshold: 0.5 } as const;

  it.each(["dp", "eopp"] as const)("are those of the formula, %s", (metric) => {
    for (const strength of [1, 0.5]) {
      const given = { ...blind(many), correction: known, correctionStrength: strength };
      const { rates, ratio, accuracy } = judgeFairRule({ ...rule, metric }, given);
      const decided = (rows: Drawn) => applyFairRule({ ...rule, metric }, blind(rows));
      const mean = (rows: Drawn, value: (i: number) => number) =>
        rows.scores.reduce((sum, _, i) => sum + value(i), 0) / rows.scores.length;
      const of = (g: number, only: (f: number) => number) => {
        const [f, e] = [decided(many), decided(few)];
        const [q, r] = [wrong(many), wrong(few)];
        const m = (chance: number) => (metric === "dp" ? 1 : chance);
        return (
          mean(many, (i) => only(f[i]) * m(many.scores[i]) * q[2 * i + g]) +
          strength *
            mean(
              few,
              (i) =>
                only(e[i]) *
                (m(few.labels[i]) * Number(few.groups[i] === g) - m(few.scores[i]) * r[2 * i + g]),
            )
        );
      };
      const expected = [0, 1].map((g) => of(g, (f) => f) / of(g, () => 1));
      expected.forEach((each, g) => {
        expect(rates[g]).toBeCloseTo(each, 12);
      });
      expect(ratio).toBeCloseTo(Math.min(...expected) / Math.max(...expected), 12);
      const right = (f: number, chance: number) => (f === 1 ? chance : 1 - chance);
      const [f, e] = [decided(many), decided(few)];
      expect(accuracy).toBeCloseTo(
        mean(many, (i) => right(f[i], many.scores[i])) +
          strength * mean(few, (i) => right(e[i], few.labels[i]) - right(e[i], few.scores[i])),
        12,
      );
    }
  });

  it("come out right though the probabilities are wrong, and the rule with them", async () => {
    const [large, others] = [drawn(3000, "large"), drawn(6000, "others")];
    const drawnAtRandom = drawn(3000, "random");
    const correction = {
      ...blind(drawnAtRandom),
      groups: drawnAtRandom.groups,
      labels: drawnAtRandom.labels,
    };
    const soft = await fitFairRule(blind(large), { replicates: 0 });
    const both = await fitFairRule({ ...blind(large), correction }, { replicates: 0 });
    expect([soft.countedBy, both.countedBy]).toEqual(["probabilities", "both"]);
    const reached = ({ ...given }: typeof soft) =>
      measured(others, applyFairRule(given, blind(others)), "dp").ratio;
    expect(reached(soft)).toBeLessThan(0.6);
    expect(Math.abs(reached(both) - 0.8)).toBeLessThan(0.08);
  });

  it("have intervals that hold what other samples show", () => {
    const truth = measured(drawn(60_000, "truth"), applyFairRule(rule, blind(drawn(60_000, "truth"))), "dp");
    let held = 0;
    for (let k = 0; k < 200; k++) {
      const correction = drawn(200, `few ${k}`);
      const { interval } = judgeFairRule(rule, {
        ...blind(drawn(800, `many ${k}`)),
        correction: { ...blind(correction), groups: correction.groups, labels: correction.labels },
      });
      held += Number(interval[0] <= truth.ratio && truth.ratio <= interval[1]);
    }
    expect(held).toBeGreaterThan(180);
    expect(held).toBeLessThan(200);
  });

  it("need groups on one side only, of the same number, and a strength within 0 and 1", () => {
    const fails = (given: Parameters<typeof judgeFairRule>[1], text: string) =>
      expect(() => judgeFairRule(rule, given)).toThrow(text);
    fails({ ...blind(many), groups: many.groups, correction: known }, ruleRowTexts.knownTwice);
    fails({ ...blind(many), correction: blind(few) }, ruleRowTexts.correctionUnknown);
    fails(
      { ...blind(many), correction: { scores: [0.5], groupProbabilities: [0.2, 0.3, 0.5], groups: [0] } },
      ruleRowTexts.correctionGroups(3, 2),
    );
    fails({ ...blind(many), correction: known, correctionStrength: 2 }, ruleRowTexts.correctionStrength(2));
  });
});

describe("an interval without resamples", () => {
  it("is that of the delta method for known groups, and about that of resamples for predicted ones", () => {
    const sample = drawn(2000, "delta");
    const rule = { metric: "dp", multipliers: [-0.1, 0.1], shares: [0.5, 0.5], threshold: 0.5 } as const;
    const { interval, rates, ratio } = judgeFairRule(rule, sample, { replicates: 0 });
    const sizes = [0, 1].map((g) => sample.groups.filter((each) => each === g).length);
    const variance = rates.reduce<number>((sum, rate = 0, g) => sum + (1 - rate) / (rate * sizes[g]), 0);
    const half = 1.959964 * Math.sqrt(variance);
    expect(interval[0]).toBeCloseTo(ratio * Math.exp(-half), 3);
    expect(interval[1]).toBeCloseTo(Math.min(1, ratio * Math.exp(half)), 3);
    const { scores, groupProbabilities } = sample;
    const soft = judgeFairRule(rule, { scores, groupProbabilities }, { replicates: 0 });
    const resampled = judgeFairRule(rule, { scores, groupProbabilities }, { replicates: 1000 });
    const width = ([low, high]: readonly [number, number]) => high - low;
    expect(width(soft.interval) / width(resampled.interval)).toBeGreaterThan(0.85);
    expect(width(soft.interval) / width(resampled.interval)).toBeLessThan(1.15);
    expect(soft.interval[0]).toBeCloseTo(resampled.interval[0], 1);
  });

  it("is all or nothing where there is nothing to divide by", () => {
    const rows = { scores: [0.9, 0.1], groupProbabilities: [1, 0, 0, 1], groups: [0, 1] };
    const rule = { metric: "dp", multipliers: [0, 0], shares: [0.5, 0.5], threshold: 0.5 } as const;
    expect(judgeFairRule(rule, rows, { replicates: 0 }).interval).toEqual([0, 1]);
    expect(judgeFairRule(rule, { ...rows, groups: [0, 0] }, { replicates: 0 }).interval).toEqual([1, 1]);
  });
});

describe("several groups", () => {
  it("come near the best thresholds of their own where the probabilities are certain", async () => {
    const steps = [0.1, 0.25, 0.4, 0.55, 0.7, 0.85];
    // How many people of each group score so much: the groups differ, and so does what is expected of them.
    const people = [
      [6, 5, 4, 3, 2, 1],
      [3, 4, 5, 5, 4, 3],
      [1, 2, 3, 4, 6, 8],
    ];
    const rows = people.flatMap((counts, group) =>
      counts.map((mass, i) => ({ mass, group, eta: steps[i] + 0.003 * group })),
    );
    const level = 0.8;
    const judgeCuts = (cuts: readonly number[]) => {
      const rates = people.map((counts, g) => {
        const all = counts.reduce((sum, each) => sum + each, 0);
        return counts.slice(cuts[g]).reduce((sum, each) => sum + each, 0) / all;
      });
      const right = rows.reduce(
        (sum, { mass, group, eta }, i) => sum + mass * (i % 6 >= cuts[group] ? eta : 1 - eta),
        0,
      );
      return { rates, accuracy: right / rows.reduce((sum, { mass }) => sum + mass, 0) };
    };
    let best = 0;
    for (let code = 0; code < 343; code++) {
      const { rates, accuracy } = judgeCuts([code % 7, Math.floor(code / 7) % 7, Math.floor(code / 49)]);
      const most = Math.max(...rates);
      if (most > 0 && Math.min(...rates) >= level * most) best = Math.max(best, accuracy);
    }
    const given = {
      scores: rows.map(({ eta }) => eta),
      groupProbabilities: rows.flatMap(({ group }) => [0, 1, 2].map((g) => Number(g === group))),
      weights: rows.map(({ mass }) => mass),
    };
    const rule = await fitFairRule(given, { level, replicates: 2 });
    expect(rule.reached).toBe(true);
    expect(rule.accuracy).toBeLessThanOrEqual(best + 1e-12);
    expect(rule.accuracy).toBeGreaterThan(best - 0.01);
    expect(rule.shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 12);
    // A matched selection rate is kept to, and the level reached, as far as kinds can be parted.
    const matched = await fitFairRule(given, { level: 0.7, selectionRate: 0.5, replicates: 2 });
    expect(matched.ratio).toBeGreaterThan(matched.plain.ratio + 0.2);
    expect(Math.abs(matched.selectionRate - 0.5)).toBeLessThan(0.08);
  });
});

describe("the plain rule", () => {
  const sample = drawn(40, "plain");

  it("is the one without multipliers", () => {
    const rule = { metric: "dp", multipliers: [0, 0], shares: [0.4, 0.6], threshold: 0.5 } as const;
    expect([...applyFairRule(rule, sample)]).toEqual(sample.scores.map((eta) => Number(eta > 0.5)));
    // Strictly above the threshold.
    expect([...applyFairRule(rule, { scores: [0.5], groupProbabilities: [1, 0] })]).toEqual([0]);
  });

  it("is what is fitted where it is fair enough", async () => {
    const { multipliers, ratio, plain, accuracy } = await fitFairRule(
      { scores: sample.scores, groupProbabilities: sample.groupProbabilities },
      { level: 0.05, replicates: 2 },
    );
    expect(multipliers.map(Math.abs)).toEqual([0, 0]);
    expect(ratio).toBeCloseTo(plain.ratio, 12);
    expect(accuracy).toBeCloseTo(plain.accuracy, 12);
  });

  it("is what is fitted where there is one group, or one is left, which is said", async () => {
    const { scores, labels, groupProbabilities } = sample;
    const one = await fitFairRule({ scores, labels, groupProbabilities: scores.map(() => 1) });
    expect(one).toMatchObject({ multipliers: [0], ratio: 1, interval: [1, 1], reached: true });
    expect(one.warnings).toContain(fairRuleTexts.oneGroup);
    const left = await fitFairRule({ scores, labels, groupProbabilities, groups: scores.map(() => 1) });
    expect(left.multipliers).toEqual([0, 0]);
    expect(left.rates[0]).toBeUndefined();
    expect(left.warnings).toEqual(
      expect.arrayContaining([fairRuleTexts.oneGroup, fairRuleTexts.absent([0])]),
    );
  });
});

describe("what is fitted", () => {
  const sample = drawn(120, "fitted");

  it("never parts equal rows, and is the same in any order of them", async () => {
    const tied = { ...sample, scores: sample.scores.map((eta) => Math.round(4 * eta) / 4) };
    const sharp = tied.seconds.map((second) => Math.round(second));
    const groupProbabilities = sharp.flatMap((second) => [1 - second, second]);
    const rule = await fitFairRule({ ...tied, groupProbabilities }, { replicates: 2 });
    const decided = applyFairRule(rule, { scores: tied.scores, groupProbabilities });
    const byKind = new Map<string, number>();
    decided.forEach((one, i) => {
      const kind = `${tied.scores[i]} ${sharp[i]}`;
      expect(byKind.get(kind) ?? one).toBe(one);
      byKind.set(kind, one);
    });
    const back = <T>(values: readonly T[]) => values.toReversed();
    const turned = await fitFairRule(
      {
        scores: back(tied.scores),
        groupProbabilities: back(sharp).flatMap((second) => [1 - second, second]),
        groups: back(tied.groups),
        labels: back(tied.labels),
      },
      { replicates: 2 },
    );
    expect(turned.accuracy).toBe(rule.accuracy);
    expect(turned.threshold).toBeCloseTo(rule.threshold, 12);
  });

  it("leaves rows without a group out of the rates", async () => {
    const groups = sample.groups.map((group, i) => (i % 3 === 0 ? -1 : group));
    const rule = await fitFairRule({ ...sample, groups }, { replicates: 2 });
    const known = groups.flatMap((group, i) => (group < 0 ? [] : [i]));
    expect(rule.shares[1]).toBeCloseTo(known.filter((i) => groups[i] === 1).length / known.length, 12);
    const decided = applyFairRule(rule, sample);
    const own = known.filter((i) => groups[i] === 1);
    expect(rule.rates[1]).toBeCloseTo(own.reduce((sum, i) => sum + decided[i], 0) / own.length, 12);
  });

  it("goes through JSON", async () => {
    const rule = await fitFairRule(sample, { metric: "eopp", replicates: 2 });
    const again = JSON.parse(JSON.stringify(rule));
    expect([...applyFairRule(again, sample)]).toEqual([...applyFairRule(rule, sample)]);
    expect([...fairMargins(again, sample)]).toEqual([...fairMargins(rule, sample)]);
  });

  it("says where the level cannot be reached, and comes as near as it can", async () => {
    // A model that knows nothing about the groups.
    const groupProbabilities = sample.scores.flatMap(() => [0.5, 0.5]);
    const rule = await fitFairRule({ ...sample, groupProbabilities }, { selectionRate: 0.3 });
    expect(rule.reached).toBe(false);
    expect(rule.ratio).toBeCloseTo(rule.plain.ratio, 12);
    expect(rule.warnings[0]).toBe(fairRuleTexts.notReached(0.8, rule.ratio, 0.3));
    // With a free threshold everybody can be selected, which is fair and not much use.
    const free = await fitFairRule({ ...sample, groupProbabilities }, { level: 1 });
    expect(free.reached).toBe(true);
    expect(free.warnings).toContain(fairRuleTexts.constant(free.accuracy));
  });

  it("can be stopped", async () => {
    const stop = new AbortController();
    stop.abort(new Error("enough"));
    await expect(fitFairRule(sample, { signal: stop.signal })).rejects.toThrow("enough");
  });
});

describe("wrong use", () => {
  const right = { scores: [0.2, 0.8], groupProbabilities: [0.5, 0.5, 0.5, 0.5], labels: [0, 1] };
  it.each([
    [{ ...right, scores: [0.2, 2] }, {}, ruleRowTexts.score(1)],
    [{ ...right, scores: [] }, {}, mitigationTexts.noRows()],
    [{ ...right, groupProbabilities: [0.5, 0.5, 1] }, {}, ruleRowTexts.probabilities(3, 2)],
    [{ ...right, groupProbabilities: [0.5, 0.5, 0.5, 0.6] }, {}, ruleRowTexts.probability(1)],
    [{ ...right, groups: [0, 2] }, {}, ruleRowTexts.group(1, 2)],
    [{ ...right, groups: [-1, -1] }, {}, ruleRowTexts.noGroup],
    [{ ...right, groups: [0] }, {}, mitigationTexts.lengths("groups", 1, 2)],
    [{ ...right, weights: [1, -1] }, {}, ruleRowTexts.weight(1)],
    [{ ...right, weights: [0, 0] }, {}, ruleRowTexts.noWeight],
    [{ ...right, labels: [0, 2] }, {}, mitigationTexts.label(1)],
    [{ ...right, labels: undefined, groups: [0, 1] }, { metric: "eopp" }, ruleRowTexts.labelsNeeded],
    [right, { metric: "odds" as "dp" }, fairRuleTexts.metric("odds")],
    [right, { level: 0 }, fairRuleTexts.level(0)],
    [right, { selectionRate: 1.1 }, fairRuleTexts.selectionRate(1.1)],
  ] as const)("%# is said in one sentence", async (rows, options, text) => {
    const attempt = fitFairRule(rows, options);
    await expect(attempt).rejects.toThrow(InputError);
    await expect(attempt).rejects.toThrow(text);
  });

  it("of a rule", () => {
    const rule = { metric: "dp", multipliers: [0, 0], shares: [0.5, 0.5], threshold: 0.5 } as const;
    expect(() => applyFairRule({ ...rule, threshold: Number.NaN }, right)).toThrow(fairRuleTexts.rule);
    expect(() => applyFairRule({ ...rule, multipliers: [0] }, right)).toThrow(fairRuleTexts.rule);
    const three = { scores: [0.2], groupProbabilities: [0.5, 0.25, 0.25] };
    expect(() => applyFairRule(rule, three)).toThrow(fairRuleTexts.groups(3, 2));
  });
});
