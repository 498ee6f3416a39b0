/** Forecasts of a campaign from its own labels, against what more labels bring. */
import { describe, expect, test } from "vitest";
import { fit } from "../../src/active/pool-models.js";
import { seededStream } from "../../src/core/random.js";
import { judgeGuesses } from "../../src/fairness/acquired-leakage.js";
import { parityRatios } from "../../src/fairness/group-metrics.js";
import { forest } from "../../src/learners/forest.js";
import { fitEncoder } from "../../src/tables/encoder.js";
import { syntheticPool } from "../../src/tables/synthetic.js";
import { tableOf } from "../../src/tables/table-of.js";
import { defineTask } from "../../src/tables/task.js";
import { acquisition } from "../../src/workflows/acquisition.js";
import { estimateAcquired } from "../../src/workflows/estimate-acquired.js";
import { type ForecastInput, forecastAcquired, forecastTexts } from "../../src/workflows/forecast.js";
import { adviceOf, requirementForecast } from "../../src/workflows/forecast-advice.js";
import { forecastSeries } from "../../src/workflows/forecast-series.js";
import { onSlowClock } from "../setup/slow-clock.js";

const learner = forest({ trees: 10, minLeaf: 2, threads: 1 });

interface Pool {
  readonly features: ForecastInput["features"];
  readonly target: Int32Array;
  readonly sensitive: Int32Array;
}

const synthetic = (rows: number, settings: Partial<Parameters<typeof syntheticPool>[0]>): Pool => {
  const { table, settings: roles } = syntheticPool({ rows, ...settings });
  const task = defineTask(table, roles);
  return {
    features: fitEncoder(task).encode(table),
    target: task.target.labels,
    sensitive: task.sensitive[0].labels,
  };
};

/** The first `labels` rows of the pool's first `pool` in an order that is drawn, each with its probability. */
const drawnAtRandom = ({ features, target, sensitive }: Pool, pool: number, labels: number, seed = 0) => {
  const order = seededStream("order").split(seed).permutation(pool).slice(0, labels);
  const has = new Set(order);
  const where = (values: Int32Array) => values.map((value, row) => (has.has(row) ? value : -1));
  const input: ForecastInput = {
    features,
    target: { labels: where(target), classes: 2 },
    sensitive: { labels: where(sensitive), classes: 2 },
    initial: new Int32Array(0),
    asked: Array.from(order, (row, i) => ({
      row,
      score: 0,
      target: 0,
      leakage: 0,
      cost: 0,
      rank: i + 1,
      drawn: true,
      probability: 1 / (pool - i),
    })),
    isRefused: () => false,
    pool,
    learner,
    stream: seededStream("forecast").split(seed),
  };
  return input;
};

/** What models of the labels are worth on the rows from `pool` on. */
const worthOf = ({ features, target, sensitive }: Pool, { asked }: ForecastInput, pool: number) => {
  const rows = Int32Array.from(asked, ({ row }) => row).sort();
  const test = Int32Array.from({ length: features.rows - pool }, (_, i) => pool + i);
  const stream = seededStream("worth");
  const predict = (labels: Int32Array, name: string) =>
    fit(learner, { features, labels, classes: 2, rows }, stream.split(name)).predict(features, test);
  const said = predict(target, "target");
  const [actual, groups] = [target, sensitive].map((values) => test.map((row) => values[row]));
  const predicted = Int32Array.from(actual, (_, i) => Number(said[2 * i + 1] > said[2 * i]));
  const { accuracy = 0, dpRatio = 0 } = parityRatios(predicted, actual, groups);
  const { nats, auc } = judgeGuesses(
    { probabilities: predict(sensitive, "sensitive"), groups, classes: 2 },
    { interval: false },
  );
  return { accuracy, dpRatio, leakage: nats, leakageAuc: auc };
};

describe("forecasts", () => {
  // Measured by this test (npx vitest run test/workflows/forecast.test.ts): 20 of 20 for each of the four. Fewer than 17 of
  // 20 would be seen with a probability of 0.016 at a true coverage of 0.95. Larger numbers: bench/forecast-coverage.md.
  test("for twice the labels cover what is reached with them", async () => {
    const names = ["accuracy", "dpRatio", "leakage", "leakageAuc"] as const;
    const covered = { accuracy: 0, dpRatio: 0, leakage: 0, leakageAuc: 0 };
    const seeds = 20;
    for (let seed = 0; seed < seeds; seed++) {
      const pool = synthetic(3000, { seed });
      const forecast = await forecastAcquired({ ...drawnAtRandom(pool, 1000, 60, seed), at: [60] });
      const truth = worthOf(pool, drawnAtRandom(pool, 1000, 120, seed), 1000);
      for (const name of names) {
        const point = forecast[name]?.at[0];
        const [low, high] = point?.interval ?? [1, 0];
        expect(low).toBeLessThanOrEqual(point?.value ?? Number.NaN);
        expect(high).toBeGreaterThanOrEqual(point?.value ?? Number.NaN);
        if (low <= truth[name] && truth[name] <= high) covered[name] += 1;
      }
    }
    for (const name of names) expect(covered[name]).toBeGreaterThanOrEqual(17);
  });

  test("widen with the distance", async () => {
    const pool = synthetic(600, { seed: 3 });
    const { accuracy, dpRatio } = await forecastAcquired({
      ...drawnAtRandom(pool, 600, 80),
      at: [20, 80, 400],
    });
    for (const measure of [accuracy, dpRatio]) {
      const widths = [measure?.today, ...(measure?.at ?? [])].map((each) =>
        each === undefined ? Number.NaN : each.interval[1] - each.interval[0],
      );
      expect(widths).toHaveLength(4);
      expect(widths[3]).toBeGreaterThan(widths[0]);
    }
  });

  test("follow a curve that is a power law, and stay level where there is none", async () => {
    const sizes = [16, 20, 26, 32, 41, 52, 65, 80];
    const stream = seededStream("series");
    const pace = { pause: async () => undefined };
    const of = async (law: (n: number) => number, mayFall = false) => {
      const values = sizes.map(law);
      // All resamples are as high or low as their rows, and no fit is unlike another.
      const resampled = Array.from({ length: 100 }, () => {
        const shift = 0.02 * stream.normal();
        return values.map((value) => value + shift + 1e-4 * stream.normal());
      });
      return forecastSeries(
        { values, resampled, leastVariance: 0 },
        { sizes, range: mayFall ? [-9, 9] : [0, 1], mayFall, drawn: 100, stream: seededStream("trend") },
        pace,
      );
    };
    const rising = await of((n) => 0.9 - 1.2 / Math.sqrt(n));
    expect(rising.direction).toBe("rising");
    expect(rising.valueAt(200)).toBeCloseTo(0.9 - 1.2 / Math.sqrt(200), 4);
    expect(rising.gain(100, 400).value).toBeCloseTo(0.06, 4);
    const level = await of(() => 0.7);
    expect(level.direction).toBe("level");
    expect(level.valueAt(200)).toBeCloseTo(0.7, 3);
    expect(level.intervalAt(200)[0]).toBeGreaterThan(0.7 - 0.05);
    expect((await of((n) => 1 / n, true)).direction).toBe("falling");
  });

  test("are the same with and without onProgress, and rest on the estimate of today", async () => {
    const input = { ...drawnAtRandom(synthetic(500, {}), 500, 60), budget: 100 };
    const plain = await forecastAcquired(input);
    const heard: number[] = [];
    const watched = await onSlowClock(() =>
      forecastAcquired({ ...input, onProgress: ({ done, total }) => heard.push(done / total) }),
    );
    expect(heard.length).toBeGreaterThan(30);
    expect(heard).toEqual(heard.toSorted((a, b) => a - b));
    expect(heard[heard.length - 1]).toBeLessThanOrEqual(1);
    expect(watched).toEqual(plain);
    expect(plain.estimate).toEqual(await estimateAcquired(input));
    expect(plain.accuracy?.at.map(({ further }) => further)).toEqual([15, 30, 40]);
    expect(plain.labels).toEqual({ known: 60, drawn: 60, left: 40 });
    expect(plain).not.toEqual(await forecastAcquired({ ...input, stream: seededStream("other") }));
    const stopped = new AbortController();
    stopped.abort(new Error("enough"));
    await expect(forecastAcquired({ ...input, signal: stopped.signal })).rejects.toThrow("enough");
  });

  test("without an attribute have an accuracy alone, and wrong options are refused", async () => {
    const input = drawnAtRandom(synthetic(300, {}), 300, 40);
    const plain = await forecastAcquired({ ...input, sensitive: undefined });
    expect([plain.dpRatio, plain.leakage, plain.leakageAuc, plain.requirement]).toEqual([
      null,
      null,
      null,
      null,
    ]);
    expect(plain.accuracy?.curve.length).toBeGreaterThan(5);
    const requirement = { metric: "dp", level: 0.8 } as const;
    for (const [wrong, text] of [
      [{ sensitive: undefined, requirement }, forecastTexts.noGroups],
      [{ requirement: { ...requirement, level: 2 } }, forecastTexts.level(2)],
      [{ worthwhile: -1 }, forecastTexts.worthwhile(-1)],
      [{ budget: 0.5 }, forecastTexts.count("the budget", 0.5)],
      [{ at: [0] }, forecastTexts.count("a number of further labels", 0)],
      [{ costPerLabel: Number.NaN }, forecastTexts.cost(Number.NaN)],
    ] as const) {
      await expect(forecastAcquired({ ...input, ...wrong })).rejects.toThrow(text);
    }
  });
});

describe("a requirement", () => {
  test("that no labels can meet is out of reach early", async () => {
    // The log-odds of the groups differ by 8, and the proxies give the group away.
    const pool = synthetic(4000, { bias: 2 });
    const { requirement, advice } = await forecastAcquired({
      ...drawnAtRandom(pool, 1000, 80),
      budget: 400,
      requirement: { metric: "dp", level: 0.8 },
    });
    expect(requirement?.verdict).toBe("out-of-reach");
    expect(requirement?.reason).toContain("--rule dp --parity 0.8");
    expect(advice.action).not.toBe("too-early");
    expect(worthOf(pool, drawnAtRandom(pool, 1000, 400), 1000).dpRatio).toBeLessThan(0.5);
  });

  test("that is easy is met", async () => {
    const pool = synthetic(4000, { bias: 0 });
    const { requirement, dpRatio } = await forecastAcquired({
      ...drawnAtRandom(pool, 1000, 200),
      requirement: { metric: "dp", level: 0.4 },
    });
    expect(requirement?.verdict).toBe("met");
    expect(dpRatio?.today.value).toBeGreaterThan(0.7);
  });

  test("is open where it may or may not be met, unlikely in between, and unknown where nobody is selected", () => {
    const wanted = { metric: "dp", level: 0.8 } as const;
    const at = (low: number, value: number, high: number) => ({ value, interval: [low, high] as const });
    const verdict = (today: ReturnType<typeof at>, end: ReturnType<typeof at>, upperOf80: number) =>
      requirementForecast(wanted, { today, end, upperOf80 }).verdict;
    expect(verdict(at(0.6, 0.7, 0.9), at(0.5, 0.7, 0.9), 0.85)).toBe("open");
    expect(verdict(at(0.6, 0.7, 0.9), at(0.5, 0.7, 0.9), 0.79)).toBe("unlikely");
    expect(verdict(at(0.6, 0.7, 0.9), at(0.5, 0.7, 0.79), 0.75)).toBe("out-of-reach");
    expect(verdict(at(0.8, 0.9, 1), at(0.7, 0.9, 1), 1)).toBe("met");
    // Today it is, but it falls.
    expect(verdict(at(0.8, 0.9, 1), at(0.5, 0.75, 1), 0.95)).toBe("open");
    expect(requirementForecast(wanted, undefined).reason).toBe(forecastTexts.noParity(0.8));
  });
});

describe("advice", () => {
  /** One feature decides and says it at once, or eight of them together, which takes many labels. */
  const made = (features: number): Pool => {
    const rows = 2000;
    const stream = seededStream("made");
    const values = Float32Array.from({ length: rows * 8 }, () => stream.integer(2));
    const target = Int32Array.from({ length: rows }, (_, row) => {
      const sum = values.subarray(row * 8, row * 8 + features).reduce((all, value) => all + value, 0);
      return Number(sum > features / 2);
    });
    const sensitive = Int32Array.from({ length: rows }, () => stream.integer(2));
    return { features: { values, rows, columns: 8 }, target, sensitive };
  };

  test("is to stop on a plateau, with what the rest would cost", async () => {
    const { advice } = await forecastAcquired({
      ...drawnAtRandom(made(1), 2000, 300),
      budget: 500,
      costPerLabel: 2,
    });
    expect(advice.action).toBe("stop");
    expect(advice.gain?.interval[1]).toBeLessThan(advice.worthwhile);
    expect([advice.gain?.further, advice.gain?.cost]).toEqual([200, 400]);
    expect(advice.reason).toBe(advice.gain && forecastTexts.plateau(advice.gain, 0.005));
  });

  test("is to go on where the curve rises, and what is expected comes", async () => {
    const pool = made(7);
    const { advice, accuracy } = await forecastAcquired({ ...drawnAtRandom(pool, 1000, 100), budget: 300 });
    expect(advice.action).toBe("go-on");
    expect(accuracy?.shape).toBe("rising");
    expect(advice.gain?.interval[0]).toBeGreaterThan(0);
    const gained =
      worthOf(pool, drawnAtRandom(pool, 1000, 300), 1000).accuracy -
      worthOf(pool, drawnAtRandom(pool, 1000, 100), 1000).accuracy;
    expect(gained).toBeGreaterThan(advice.worthwhile);
    expect(accuracy?.at.at(-1)?.interval[1]).toBeGreaterThan(accuracy?.today.interval[1] ?? Number.NaN);
  });

  test("is that it is too early before ten were drawn at random, and to stop at the end of the budget", async () => {
    const pool = made(7);
    const early = await forecastAcquired({
      ...drawnAtRandom(pool, 1000, 9),
      requirement: { metric: "dp", level: 0.8 },
    });
    expect(early.advice).toEqual({
      action: "too-early",
      reason: forecastTexts.tooEarly(9, 10),
      worthwhile: 0.005,
      gain: null,
    });
    expect([early.accuracy, early.estimate, early.requirement?.verdict]).toEqual([null, null, "open"]);
    const used = await forecastAcquired({ ...drawnAtRandom(pool, 1000, 40), budget: 40 });
    expect([used.advice.action, used.advice.reason]).toEqual(["stop", forecastTexts.used(40)]);
    expect(used.accuracy?.at).toEqual([]);
  });

  test("looks at the requirement before it says stop", () => {
    const gain = { further: 100, value: 0, interval: [0, 0.001], cost: null } as const;
    const action = (verdict: "met" | "open" | "unlikely" | "out-of-reach") =>
      adviceOf(gain, 0.005, 100, { metric: "dp", level: 0.8, verdict, reason: "" }).action;
    expect(action("met")).toBe("stop");
    expect(action("open")).toBe("go-on");
    expect(action("unlikely")).toBe("go-on");
    // More labels bring neither.
    expect(action("out-of-reach")).toBe("stop");
    const unsure = { ...gain, interval: [0, 0.01] } as const;
    expect(adviceOf(unsure, 0.005, 100, null)).toMatchObject({
      action: "go-on",
      reason: forecastTexts.uncertain(unsure, 0.005),
    });
    const rising = { ...unsure, value: 0.006 };
    expect(adviceOf(rising, 0.005, 100, null).reason).toBe(forecastTexts.rising(rising, 0.005));
  });
});

test("a session forecasts with its own budget, chosen labels among those drawn", async () => {
  const rows = Array.from({ length: 240 }, (_, i) => ({
    skill: (i * 7) % 11,
    city: (i * 5) % 3,
    sex: i % 2 === 0 ? "f" : "m",
    hired: (i * 7) % 11 > 5 ? "yes" : "no",
  }));
  const session = acquisition(tableOf(rows.map((row, i) => ({ ...row, hired: i < 10 ? row.hired : null }))), {
    target: "hired=yes",
    sensitive: ["sex"],
    method: "epig",
    forest: { trees: 10 },
    budget: 80,
    batch: 4,
  });
  expect((await session.forecast()).advice.action).toBe("too-early");
  await session.run({ budget: 48, oracle: ({ row }) => rows[row].hired });
  const forecast = await session.forecast({ requirement: { metric: "dp", level: 0.1 } });
  expect(forecast.labels).toEqual({ known: 58, drawn: 12, left: 32 });
  expect(forecast.estimate).toEqual(await session.estimate());
  expect(forecast.accuracy?.at.map(({ labels }) => labels)).toEqual([73, 87, 90]);
  expect(forecast.requirement).not.toBeNull();
  expect((await session.forecast({ budget: 48 })).advice.action).toBe("stop");
});
