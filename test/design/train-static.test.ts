import { describe, expect, test } from "vitest";
import { meanEstimate } from "../../src/core/stats.js";
import { locationFinding } from "../../src/design/models/location.js";
import { pharmacokinetics } from "../../src/design/models/pharmacokinetics.js";
import type { SettledRule } from "../../src/design/static-ascent.js";
import {
  type StaticCheckpoint,
  type TrainStaticOptions,
  trainStatic,
} from "../../src/design/train-static.js";
import { trainTexts } from "../../src/design/training.js";

const SMALL = {
  horizon: 3,
  steps: 24,
  starts: 3,
  sizes: { outer: 20, contrastive: 40, marginal: 40 },
} as const;

test("finds a better design than a single short climb, by more than chance", async () => {
  const model = locationFinding();
  const sizes = { outer: 60, contrastive: 200, marginal: 200 };
  const short = await trainStatic(model, { horizon: 4, steps: 1, starts: 1, seed: 4, sizes });
  const long = await trainStatic(model, { horizon: 4, steps: 300, starts: 3, seed: 4, sizes });
  const error = Math.hypot(short.objective.standardError, long.objective.standardError);
  expect(long.objective.mean - short.objective.mean).toBeGreaterThan(5 * error);
  expect(long.rounds[0]).toHaveLength(3);
});

test("gives the same design on any number of threads, and another for another seed", async () => {
  const model = locationFinding();
  const [one, two, other] = await Promise.all([
    trainStatic(model, { ...SMALL, seed: 5, threads: 1 }),
    trainStatic(model, { ...SMALL, seed: 5, threads: 2 }),
    trainStatic(model, { ...SMALL, seed: 6, threads: 1 }),
  ]);
  expect(two).toEqual(one);
  expect(other.designs).not.toEqual(one.designs);
});

/** Interrupts a run after a step and goes on from there. */
const interruptedAt = async (stop: number, options: TrainStaticOptions) => {
  const model = locationFinding();
  let saved: StaticCheckpoint | undefined;
  const interrupted = trainStatic(model, {
    ...options,
    onProgress({ done, checkpoint }) {
      if (done !== stop) return;
      saved = JSON.parse(JSON.stringify(checkpoint())) as StaticCheckpoint;
      throw new Error("stopped");
    },
  });
  await expect(interrupted).rejects.toThrow("stopped");
  if (saved === undefined) throw new Error("no checkpoint");
  return trainStatic(model, { ...options, resume: saved });
};

test.each([1, 7, 20, 33])("resumed after step %d it ends as if it had not been interrupted", async (stop) => {
  const whole = await trainStatic(locationFinding(), { ...SMALL, seed: 2 });
  const resumed = await interruptedAt(stop, { ...SMALL, seed: 2 });
  expect(resumed.designs).toEqual(whole.designs);
  expect(resumed.objective).toEqual(whole.objective);
});

describe("until designs have settled", () => {
  const SETTLING = {
    beta: 0,
    horizon: 2,
    steps: 2000,
    starts: 1,
    rate: 0.02,
    decay: false,
    seed: 3,
    sizes: { outer: 50, contrastive: 50, marginal: 50 },
    settled: { window: 50, speed: 0.05, times: 2 },
  } as const;

  test("a climb ends where it would stay", async () => {
    const model = locationFinding();
    const options = { ...SETTLING, start: { mean: 3, sd: 0.1 } };
    const { settled: _, ...never } = options;
    const [short, long] = [await trainStatic(model, options), await trainStatic(model, never)];
    expect(long.steps).toBe(2000);
    expect(short.steps).toBeLessThan(700);
    expect(short.steps % 50).toBe(0);
    const error = Math.hypot(short.objective.standardError, long.objective.standardError);
    expect(short.objective.mean).toBeGreaterThan(long.objective.mean - 2 * error);
  });

  test.each([3, 4, 5])("a climb goes on over a plateau, seed %d", async (seed) => {
    // So far from the source the first windows tell hardly anything, and hardly more from one to the next.
    const values: number[] = [];
    const { steps, objective } = await trainStatic(locationFinding(), {
      ...SETTLING,
      seed,
      start: { mean: -2, sd: 0.1 },
      onProgress: ({ value }) => {
        values.push(value);
      },
    });
    const windows = Array.from({ length: 4 }, (_, k) => meanEstimate(values.slice(50 * k, 50 * (k + 1))));
    expect(windows[1].mean - windows[0].mean).toBeLessThan(0.03);
    expect(steps).toBeGreaterThan(200);
    expect(objective.mean).toBeGreaterThan(10 * windows[1].mean);
  });

  test("resumed anywhere, also after the last step, it ends as if it had not been interrupted", async () => {
    const options = {
      ...SETTLING,
      starts: 3,
      start: { mean: 2, sd: 1 },
      settled: { window: 10, speed: 0.2, times: 3 },
    };
    let taken = 0;
    const whole = await trainStatic(locationFinding(), {
      ...options,
      onProgress({ done }) {
        taken = done;
      },
    });
    expect(whole.steps).toBeLessThan(2000);
    for (const stop of [33, taken - 11, taken - 1, taken]) {
      expect(await interruptedAt(stop, options)).toMatchObject({
        designs: whole.designs,
        objective: whole.objective,
        steps: whole.steps,
      });
    }
  });

  test("mistakes are named", async () => {
    const model = locationFinding();
    const tried = (rule: Partial<SettledRule>) =>
      trainStatic(model, { settled: { ...SETTLING.settled, ...rule }, decay: false });
    await expect(tried({ speed: 0 })).rejects.toThrow(trainTexts.speed(0));
    await expect(tried({ window: 0.5 })).rejects.toThrow(trainTexts.whole("window", 0.5));
    await expect(tried({ times: 0 })).rejects.toThrow(trainTexts.whole("times", 0));
    await expect(trainStatic(model, { settled: SETTLING.settled })).rejects.toThrow(trainTexts.decay);
  });
});

test("designs stay inside their bounds", async () => {
  const { designs } = await trainStatic(pharmacokinetics(), { ...SMALL, seed: 1 });
  for (const time of designs) {
    expect(time).toBeGreaterThanOrEqual(0.1);
    expect(time).toBeLessThanOrEqual(24);
  }
});

test("mistakes are named", async () => {
  const model = locationFinding();
  await expect(trainStatic(model, { horizon: 0 })).rejects.toThrow(trainTexts.whole("horizon", 0));
  await expect(trainStatic(model, { beta: -1 })).rejects.toThrow(trainTexts.beta(-1));
  await expect(trainStatic(model, { beta: Number.NaN })).rejects.toThrow(trainTexts.beta(Number.NaN));
});
