import { expect, test } from "vitest";
import { locationFinding } from "../../src/design/models/location.js";
import { pharmacokinetics } from "../../src/design/models/pharmacokinetics.js";
import { type StaticCheckpoint, trainStatic, trainTexts } from "../../src/design/train-static.js";

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

test.each([1, 7, 20, 33])("resumed after step %d it ends as if it had not been interrupted", async (stop) => {
  const model = locationFinding();
  const whole = await trainStatic(model, { ...SMALL, seed: 2 });
  let saved: StaticCheckpoint | undefined;
  const interrupted = trainStatic(model, {
    ...SMALL,
    seed: 2,
    onProgress({ step, checkpoint }) {
      if (step !== stop) return;
      saved = JSON.parse(JSON.stringify(checkpoint())) as StaticCheckpoint;
      throw new Error("stopped");
    },
  });
  await expect(interrupted).rejects.toThrow("stopped");
  expect(saved).toBeDefined();
  if (saved === undefined) return;
  const resumed = await trainStatic(model, { ...SMALL, seed: 2, resume: saved });
  expect(resumed.designs).toEqual(whole.designs);
  expect(resumed.objective).toEqual(whole.objective);
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
