import { expect, test } from "vitest";
import { seededStream } from "../../src/core/random.js";
import { groupMetrics } from "../../src/fairness/group-metrics.js";
import { scoreDistances } from "../../src/fairness/score-distances.js";

test("by hand: {0.2, 0.6} against {0.4, 0.8}", () => {
  // Distribution functions differ by 1/2 from 0.2 to 0.4 and from 0.6 to 0.8, and not between.
  const distances = scoreDistances(Float64Array.of(0.2, 0.4, 0.6, 0.8), Int32Array.of(0, 1, 0, 1), 2);
  expect(distances?.area).toBeCloseTo(0.2, 12);
  expect(distances?.largest).toBeCloseTo(0.5, 12);
});

test("the same as the group metrics', ties and three groups included", () => {
  const stream = seededStream("scores");
  const scores = Float64Array.from({ length: 300 }, () => stream.integer(20) / 19);
  const groups = Int32Array.from({ length: 300 }, () => stream.integer(3));
  const metrics = groupMetrics(
    { predicted: new Int32Array(300), scores, groups, groupNames: ["a", "b", "c"] },
    { stream, replicates: 100 },
  );
  const distances = scoreDistances(scores, groups, 3);
  expect(distances?.area).toBeCloseTo(metrics.scores?.area.value ?? Number.NaN, 12);
  expect(distances?.largest).toBeCloseTo(metrics.scores?.largest.value ?? Number.NaN, 12);
});

test("one group has nothing to be compared with", () => {
  expect(scoreDistances(Float64Array.of(0.1, 0.9), Int32Array.of(0, -1), 2)).toBeUndefined();
});
