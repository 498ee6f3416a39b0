import { describe, expect, test } from "vitest";
import { seededStream } from "../../src/core/random.js";
import { advantageOver, bestAtAccuracy, type SeedPoint } from "../../src/reproduce/dominance.js";

describe("the best of a line at an accuracy", () => {
  const line = [
    { accuracy: 0.9, value: 0.1 },
    { accuracy: 0.8, value: 0.5 },
    { accuracy: 0.7, value: 0.6 },
    { accuracy: 0.75, value: 0.2 },
  ];

  test("is a point of it or a mixture of two, whichever is more", () => {
    expect(bestAtAccuracy(line, 0.8)).toBeCloseTo(0.5, 12);
    expect(bestAtAccuracy(line, 0.85)).toBeCloseTo(0.3, 12);
    // Halfway between the second and the third, and not the point that is there.
    expect(bestAtAccuracy(line, 0.75)).toBeCloseTo(0.55, 12);
  });

  test("counts points that are more accurate than asked for", () => {
    expect(bestAtAccuracy(line, 0.5)).toBe(0.6);
  });

  test("is that of the most accurate point where none is as accurate", () => {
    expect(bestAtAccuracy(line, 0.95)).toBe(0.1);
  });
});

describe("the advantage over a line", () => {
  const drawn = (name: string, accuracy: number, value: number, n = 8): SeedPoint[] => {
    const stream = seededStream(name);
    return Array.from({ length: n }, () => ({
      accuracy: accuracy + 0.01 * stream.normal(),
      value: value + 0.02 * stream.normal(),
    }));
  };

  test("is the difference at the same accuracy, with an interval", () => {
    const line = [drawn("a", 0.9, 0.2), drawn("b", 0.8, 0.4)];
    const found = advantageOver(line, drawn("c", 0.85, 0.5));
    expect(found?.mean).toBeGreaterThan(0.15);
    expect(found?.mean).toBeLessThan(0.25);
    expect(found?.interval?.[0]).toBeGreaterThan(0);
    expect(found?.n).toBe(8);
  });

  test("of a line over itself is nothing to speak of", () => {
    const points = drawn("a", 0.85, 0.5);
    const found = advantageOver([points, drawn("b", 0.7, 0.3)], points);
    expect(Math.abs(found?.mean ?? 1)).toBeLessThan(1e-12);
  });

  test("covers the truth about as often as it says, where line and setting are equal", () => {
    let covered = 0;
    for (let run = 0; run < 200; run++) {
      const found = advantageOver([drawn(`l${run}`, 0.8, 0.5)], drawn(`o${run}`, 0.8, 0.5));
      if (found?.interval && found.interval[0] <= 0 && found.interval[1] >= 0) covered += 1;
    }
    expect(covered).toBeGreaterThan(184);
    expect(covered).toBeLessThan(200);
  });

  test("needs three seeds and a line with as many", () => {
    expect(advantageOver([drawn("a", 0.8, 0.5, 2)], drawn("b", 0.8, 0.5, 2))).toBeUndefined();
    expect(advantageOver([drawn("a", 0.8, 0.5, 7)], drawn("b", 0.8, 0.5))).toBeUndefined();
  });
});
