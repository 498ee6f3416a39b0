import { describe, expect, test } from "vitest";
import { studentTQuantile } from "../../src/core/stats.js";
import { syntheticPool } from "../../src/tables/synthetic.js";
import { defineTask } from "../../src/tables/task.js";
import { compareWithRandom } from "../../src/workflows/against-random.js";
import { EVALUATION_NAMES, type Evaluation } from "../../src/workflows/evaluation.js";
import { simulate } from "../../src/workflows/simulate.js";

const none = Object.fromEntries(EVALUATION_NAMES.map((name) => [name, undefined])) as unknown as Evaluation;
const seeds = (accuracy: readonly number[], more: Partial<Evaluation> = {}): Evaluation[] =>
  accuracy.map((value) => ({ ...none, dpRatio: 0.8, leakage: 0.1, ...more, accuracy: value }));

/** The same noise of the splits for both, as seeds have it: 0.04 between seeds, 0.002 between the methods. */
const splits = [0.71, 0.66, 0.74, 0.69, 0.72, 0.65, 0.7, 0.75];
const wobble = [0.001, -0.002, 0.002, 0, -0.001, 0.002, -0.002, 0.001];
const shifted = (by: number) => splits.map((value, i) => value + by + wobble[i]);

describe("what is gained over random acquisition", () => {
  test("is the mean difference of the same seeds, with intervals that hold together", () => {
    const { methods, comparisons, level } = compareWithRandom(
      [
        { method: "random", evaluations: seeds(splits) },
        { method: "fairbed", evaluations: seeds(shifted(-0.035)) },
        { method: "epig", evaluations: seeds(shifted(0.01)) },
        {
          method: "entropy",
          evaluations: seeds(splits.map((value, i) => value + (i % 2 === 0 ? 0.03 : -0.03))),
        },
      ],
      seeds(splits),
      true,
    );
    expect({ comparisons, level }).toEqual({ comparisons: 12, level: 0.95 });
    const [fairbed, epig, entropy] = methods;
    // The paired difference: Student's interval at 1 - 0.05 / 12, by hand.
    const differences = wobble.map((value) => value - 0.035);
    const mean = differences.reduce((a, b) => a + b) / 8;
    const error = Math.sqrt(differences.reduce((sum, d) => sum + (d - mean) ** 2, 0) / 7 / 8);
    const half = -studentTQuantile(0.05 / 12 / 2, 7) * error;
    const [accuracy, atParity] = fairbed.measures;
    expect(accuracy.mean).toBeCloseTo(mean, 12);
    expect(accuracy.interval?.[0]).toBeCloseTo(mean - half, 12);
    expect(accuracy.interval?.[1]).toBeCloseTo(mean + half, 12);
    expect(atParity).toMatchObject({ mean: null, interval: null, n: 0, verdict: "open" });
    expect([fairbed, epig, entropy].map(({ verdict }) => verdict)).toEqual(["worse", "better", "open"]);
    expect(fairbed.sentence).toMatch(
      /^fairbed is worse than random acquisition on this table: accuracy -0\.035 /,
    );
    expect(epig.sentence).toMatch(
      /^epig is better than random acquisition on this table: accuracy \+0\.010 /,
    );
    expect(entropy.sentence).toMatch(/^entropy shows no gain over random acquisition on these seeds/);
  });

  test("counts less leakage as better, and says where one thing is better and another worse", () => {
    const evaluations = seeds(shifted(-0.03)).map((each, i) => ({ ...each, leakage: 0.05 + wobble[i] }));
    const [method] = compareWithRandom([{ method: "fairbed", evaluations }], seeds(splits), false).methods;
    expect(method.verdict).toBe("mixed");
    expect(method.measures.find(({ measure }) => measure === "leakage")?.verdict).toBe("better");
  });

  test("many comparisons of nothing rarely find something", () => {
    // 200 tables of 4 measures of noise: 5 % of the tables at most find one, where 18.5 % would by themselves.
    let state = 12345;
    const noise = () => {
      let sum = 0;
      for (let i = 0; i < 12; i++) {
        state = (Math.imul(state, 1103515245) + 12345) >>> 0;
        sum += state / 2 ** 32;
      }
      return (sum - 6) / 50;
    };
    const drawn = (): Evaluation[] =>
      Array.from({ length: 8 }, () => ({
        ...none,
        accuracy: noise(),
        accuracyAtParity: noise(),
        dpRatio: noise(),
        leakage: noise(),
      }));
    const found = Array.from({ length: 400 }, () =>
      compareWithRandom([{ method: "epig", evaluations: drawn() }], drawn(), true),
    ).filter(({ methods }) => methods[0].verdict !== "open").length;
    expect(found / 400).toBeLessThan(0.08);
  });

  test("is looked at where random was not asked for too, and not with one seed", async () => {
    const { table, settings } = syntheticPool({ rows: 300, seed: 2 });
    const task = defineTask(table, settings);
    const quick = { budget: 8, batch: 4, trees: 8 };
    const alone = await simulate(task, { ...quick, seeds: 2, methods: ["epig"] });
    expect(alone.methods.map(({ method }) => method)).toEqual(["epig"]);
    expect(alone.againstRandom).toMatchObject({ asked: false, comparisons: 4 });
    const both = await simulate(task, { ...quick, seeds: 2, methods: ["epig", "random"] });
    expect(both.againstRandom).toEqual({ ...alone.againstRandom, asked: true });
    expect(both.methods[0]).toEqual(alone.methods[0]);
    expect((await simulate(task, { ...quick, seeds: 1, methods: ["epig"] })).againstRandom).toBeNull();
  });
});

describe("a goal that is not met", () => {
  const { table, settings } = syntheticPool({ rows: 400, seed: 2, bias: 1.5 });
  const task = defineTask(table, settings);
  const quick = { budget: 12, batch: 4, trees: 10, seeds: 2, methods: ["fairbed"] as const };

  test("is said, with what was reached: a leakage budget", async () => {
    const { methods, met, unmet } = await simulate(task, { ...quick, leakageBudget: 1e-6 });
    expect(met).toBe(false);
    const [{ goal }] = methods;
    expect(goal).toMatchObject({ goal: "leakage-budget", wanted: 1e-6, met: false, seedsMet: 0 });
    expect(goal?.reached.mean).toBeGreaterThan(1e-6);
    expect(goal?.reached.interval).toHaveLength(2);
    expect(unmet).toHaveLength(1);
    expect(unmet[0]).toMatch(/^NOT MET: fairbed was to keep within a leakage budget of 0\.000001 nats/);
    expect(await simulate(task, { ...quick, leakageBudget: 100 })).toMatchObject({ met: true, unmet: [] });
  });

  test("is said, with what was reached: a parity, on the test rows", async () => {
    const { methods, met, unmet } = await simulate(task, { ...quick, parityAtLeast: 1 });
    const [{ goal, final }] = methods;
    expect(met).toBe(false);
    expect(goal).toMatchObject({ goal: "parity", wanted: 1, met: false, reached: final.dpRatio });
    expect(unmet[0]).toMatch(
      /^NOT MET: fairbed was to reach a ratio of selection rates of at least 1; on the test rows/,
    );
    expect(await simulate(task, { ...quick, parityAtLeast: 0.001 })).toMatchObject({ met: true, unmet: [] });
  });

  test("is nothing where beta was given", async () => {
    expect(await simulate(task, quick)).toMatchObject({ met: null, unmet: [] });
  });
});
