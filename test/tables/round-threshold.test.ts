import { expect, test } from "vitest";
import { roundThreshold } from "../../src/tables/round-threshold.js";

test.each([
  [[18, 25, 31, 38, 39, 42, 47, 55, 70], 40],
  [[1.1, 2.4, 2.47, 2.52, 2.53, 2.6, 4.9], 2.5],
  [[-8, -6, -4.2, -3, -1], -4],
  [[0, 0, 0, 0, 0, 1], 0],
  [[1234, 1235, 1236, 1237, 1238, Number.NaN], 1236],
])("a round number near the median of %j is %d", (values, expected) => {
  expect(roundThreshold(Float64Array.from(values))).toBe(expected);
});
