import { expect, test } from "vitest";
import { bitCount } from "../../src/core/bit-count.js";
import { factorise, solveLower, solveUpper } from "../../src/core/math/cholesky.js";

test("the factor of a positive definite matrix, and what it solves", () => {
  expect(factorise(Float64Array.of(1, 2, 2, 1), 2)).toBe(false);
  // [4 2 5; 2 10 7; 5 7 21] = L L' with L = [2 0 0; 1 3 0; 2.5 1.5 sqrt(12.5)].
  const factor = Float64Array.of(4, 2, 5, 2, 10, 7, 5, 7, 21);
  expect(factorise(factor, 3)).toBe(true);
  const lower = [0, 3, 4, 6, 7, 8].map((at) => factor[at]);
  expect(lower).toEqual([2, 1, 3, 2.5, 1.5, Math.sqrt(12.5)]);
  const x = Float64Array.of(4 + 4 + 15, 2 + 20 + 21, 5 + 14 + 63);
  solveLower(factor, 3, x);
  solveUpper(factor, 3, x);
  [1, 2, 3].forEach((value, i) => {
    expect(x[i]).toBeCloseTo(value, 13);
  });
});

test("a direction without spread gets what is asked for it, and others keep their bits", () => {
  const singular = Float64Array.of(4, 2, 2, 1);
  expect(factorise(singular.slice(), 2)).toBe(false);
  const least = (diagonal: number) => Math.max(1e-6 * diagonal, 1e-12);
  expect(factorise(singular, 2, least)).toBe(true);
  expect([singular[0], singular[2], singular[3]]).toEqual([2, 1, Math.sqrt(1e-6)]);
  const [plain, floored] = [Float64Array.of(2, 0.3, 0.3, 1), Float64Array.of(2, 0.3, 0.3, 1)];
  factorise(plain, 2);
  factorise(floored, 2, least);
  expect(floored).toEqual(plain);
});

test("bits are counted", () => {
  for (const word of [0, 1, -1, 0x80000000, 0x7fffffff, 0x12345678, -559038737]) {
    const ones = [...(word >>> 0).toString(2)].filter((digit) => digit === "1").length;
    expect(bitCount(word)).toBe(ones);
  }
});
