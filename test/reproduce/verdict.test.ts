import { describe, expect, test } from "vitest";
import { compare, MARGINS, meanOverSeeds, type PaperValue } from "../../src/reproduce/verdict.js";

const verdictOf = (
  paper: PaperValue,
  mean: number,
  standardError: number,
  options?: Parameters<typeof compare>[4],
) => compare("row", "column", paper, { mean, standardError, interval: null, n: 8 }, options);

describe("a number of the paper", () => {
  test("is reproduced within three combined errors and the margin, and differs beyond three errors", () => {
    // Combined error sqrt(0.003^2 + 0.004^2) = 0.005: the margin of 0.05 is ten of them.
    const paper = { mean: 1, standardError: 0.004 };
    expect(verdictOf(paper, 1.0149, 0.003).apart).toBeCloseTo(2.98, 9);
    expect(verdictOf(paper, 1.0149, 0.003).verdict).toBe("reproduced");
    expect(verdictOf(paper, 0.9851, 0.003).verdict).toBe("reproduced");
    expect(verdictOf(paper, 1.0151, 0.003).verdict).toBe("differs");
    expect(verdictOf(paper, 0.9849, 0.003).verdict).toBe("differs");
  });

  test("is undecided within three errors and outside the margin", () => {
    // Combined error 0.03: three are 0.09.
    const paper = { mean: 0.5, standardError: 0.024 };
    expect(verdictOf(paper, 0.549, 0.018).verdict).toBe("reproduced");
    expect(verdictOf(paper, 0.551, 0.018).verdict).toBe("undecided");
    expect(verdictOf(paper, 0.449, 0.018).verdict).toBe("undecided");
    expect(verdictOf(paper, 0.589, 0.018).verdict).toBe("undecided");
    expect(verdictOf(paper, 0.591, 0.018).verdict).toBe("differs");
  });

  test("is undecided when the combined error exceeds the margin, however near it is", () => {
    // Combined error 0.06, and 0.04.
    expect(verdictOf({ mean: 0.5, standardError: 0.048 }, 0.5, 0.036).verdict).toBe("undecided");
    expect(verdictOf({ mean: 0.5, standardError: 0.032 }, 0.5, 0.024).verdict).toBe("reproduced");
    // Farther than three of them is different still.
    expect(verdictOf({ mean: 0.5, standardError: 0.048 }, 0.7, 0.036).verdict).toBe("differs");
  });

  test("has an error of 0.005 where 0.00 is printed", () => {
    // sqrt(0.005^2 + 0.002^2) = 0.0053852.
    const paper = { mean: 0.82, standardError: 0 };
    expect(verdictOf(paper, 0.829, 0.002)).toMatchObject({ paperError: 0, verdict: "reproduced" });
    expect(verdictOf(paper, 0.829, 0.002).apart).toBeCloseTo(1.67126, 4);
    expect(verdictOf(paper, 0.8363, 0.002).verdict).toBe("differs");
  });

  test("may have another margin, and other features than the paper's", () => {
    const paper = { mean: 2, standardError: 0.08 };
    expect(verdictOf(paper, 2.05, 0.06, { margin: MARGINS.nats }).verdict).toBe("undecided");
    expect(verdictOf(paper, 2.05, 0.06, { margin: 0.1, otherFeatures: true })).toMatchObject({
      verdict: "reproduced",
      otherFeatures: true,
    });
    expect(verdictOf(paper, 2.05, 0.06).otherFeatures).toBe(false);
  });

  test("has no verdict with fewer than two seeds", () => {
    const paper = { mean: 1, standardError: 0.4 };
    expect(compare("row", "column", paper, undefined)).toMatchObject({
      ours: null,
      standardError: null,
      apart: null,
      verdict: "not run",
    });
    expect(compare("row", "column", paper, meanOverSeeds([1]))).toMatchObject({
      ours: 1,
      verdict: "not run",
    });
  });
});

test("over seeds: mean 2, standard deviation 1, so an error of 1 / sqrt(3)", () => {
  expect(meanOverSeeds([1, undefined, 2, 3])).toMatchObject({ mean: 2, n: 3 });
  expect(meanOverSeeds([1, 2, 3])?.standardError).toBeCloseTo(0.5773502692, 9);
  expect(meanOverSeeds([undefined])).toBeUndefined();
});
