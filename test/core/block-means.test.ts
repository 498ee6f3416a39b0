import { expect, test } from "vitest";
import { seededStream } from "../../src/core/random.js";
import { blockMeans, momentsOf, sampleVariance } from "../../src/core/stats.js";

test("few values stay as they are", () => {
  const values = Float64Array.of(3, 1, 2);
  expect(blockMeans(values)).toBe(values);
});

test("the mean of many is kept, and so is its error", () => {
  const stream = seededStream("blocks");
  const values = Float64Array.from({ length: 50_321 }, () => 0.3 + stream.normal());
  const blocks = blockMeans(values);
  expect(blocks).toHaveLength(2000);
  const [all, some] = [momentsOf(values), momentsOf(blocks)];
  expect(some.mean).toBeCloseTo(all.mean, 12);
  const ratio = sampleVariance(some) / 2000 / (sampleVariance(all) / values.length);
  // A variance of 2000 blocks has a relative error of sqrt(2 / 2000).
  expect(Math.abs(ratio - 1)).toBeLessThan(0.13);
});
