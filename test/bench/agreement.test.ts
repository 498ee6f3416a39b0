import { expect, test } from "vitest";
import { agreesInMean, agreesWithin, spread } from "../../bench/agreement.mjs";

test("the spread over seeds is the mean and the sample standard deviation", () => {
  // 2, 4, 4, 4, 5, 5, 7, 9: mean 5, squared deviations sum to 32.
  expect(spread([2, 4, 4, 4, 5, 5, 7, 9])).toEqual({ seeds: 8, mean: 5, sd: Math.sqrt(32 / 7) });
});

const reference = { seeds: 16, mean: 0.76, sd: 0.04 };
const check = agreesInMean("accuracy");
const accuracies = (mean: number, seeds: number) => ({
  accuracy: Array.from({ length: seeds }, (_, k) => mean + (k % 2 === 0 ? 0.01 : -0.01)),
});

test("one run that is off by as much as runs differ is not wrong", () => {
  // One seed: the standard error is .04 sqrt(1 + 1/16) = .0412.
  expect(check({ accuracy: [0.82] }, reference).ok).toBe(true);
});

test("the same difference over many seeds is wrong, on either side", () => {
  // 48 seeds: .04 sqrt(1/48 + 1/16) = .01155, so .06 is 5.2 standard errors and .045 is 3.9.
  expect(check(accuracies(0.82, 48), reference).ok).toBe(false);
  expect(check(accuracies(0.7, 48), reference).ok).toBe(false);
  expect(check(accuracies(0.805, 48), reference).ok).toBe(true);
  expect(check(accuracies(0.82, 48), reference).text).toBe(
    "accuracy 0.820 over 48 seeds, 0.060 from the reference with a standard error of 0.012",
  );
});

test("no accuracy, or one that is no number, is wrong", () => {
  expect(check({}, reference).ok).toBe(false);
  expect(check({ accuracy: [] }, reference).ok).toBe(false);
  expect(check({ accuracy: [0.76, Number.NaN] }, reference).ok).toBe(false);
});

test("outputs agree within a share of the largest value", () => {
  const within = agreesWithin(1e-3);
  expect(within({ y: [10, 1.009] }, { y: [10, 1] }).ok).toBe(true);
  expect(within({ y: [10, 1.011] }, { y: [10, 1] }).ok).toBe(false);
  expect(within({}, { y: [10, 1] }).ok).toBe(false);
});
