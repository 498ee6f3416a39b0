/** Krippendorff's alpha against published vectors, closed forms and what must hold of it. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { seededStream } from "../../src/core/random.js";
import { agreementTexts, krippendorffAlpha, type Rating } from "../../src/core/stats.js";

const stream = () => seededStream("agreement");
/** Lines of annotators, "." or "*" where nothing was said, to [units][annotators]. */
const unitsOf = (...annotators: readonly string[]): readonly (readonly Rating[])[] => {
  const said = annotators.map((line) =>
    line.split(" ").map((each) => (each === "." || each === "*" ? null : Number(each))),
  );
  return said[0].map((_, unit) => said.map((values) => values[unit]));
};
const alphaOf = (units: readonly (readonly Rating[])[], scale?: "nominal" | "ordinal" | "interval") =>
  krippendorffAlpha(units, { scale, stream: stream(), replicates: 50 }).alpha ?? Number.NaN;

describe("published values", () => {
  /** Krippendorff, Computing Krippendorff's Alpha-Reliability (2011), section C: four observers, twelve units. */
  const krippendorff = unitsOf(
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
  );
  test.each([
    ["nominal", 0.743],
    ["ordinal", 0.815],
    ["interval", 0.849],
  ] as const)("four observers, %s: %f", (scale, expected) => {
    expect(alphaOf(krippendorff, scale)).toBeCloseTo(expected, 3);
  });

  test("what it rests on: the unit with one value is left out", () => {
    const { units, values, reason } = krippendorffAlpha(krippendorff, { stream: stream() });
    expect({ units, values, reason }).toEqual({ units: 11, values: 40, reason: null });
  });

  /** Wikipedia, "Krippendorff's alpha": three coders, fifteen units. */
  const wikipedia = unitsOf(
    "* * * * * 3 4 1 2 1 1 3 3 * 3",
    "1 * 2 1 3 3 4 3 * * * * * * *",
    "* * 2 1 3 4 4 * 2 1 1 3 3 * 4",
  );
  test("three coders", () => {
    expect(alphaOf(wikipedia, "nominal")).toBeCloseTo(0.691, 3);
    expect(alphaOf(wikipedia, "interval")).toBeCloseTo(0.811, 3);
  });
});

describe("two annotators, two values", () => {
  /** With N units, a disagreements and n(1) ones among 2 N values: alpha = 1 - (2 N - 1) 2 a / (2 n(0) n(1)). */
  const closed = (pairs: readonly (readonly [number, number])[]) => {
    const all = pairs.flat();
    const ones = all.filter((value) => value === 1).length;
    const apart = pairs.filter(([a, b]) => a !== b).length;
    return 1 - ((all.length - 1) * apart) / (ones * (all.length - ones));
  };

  test("is the closed form, on every scale", () => {
    const bit = fc.constantFrom(0, 1);
    fc.assert(
      fc.property(fc.array(fc.tuple(bit, bit), { minLength: 2, maxLength: 20 }), (pairs) => {
        fc.pre(new Set(pairs.flat()).size === 2);
        for (const scale of ["nominal", "ordinal", "interval"] as const) {
          expect(alphaOf(pairs, scale)).toBeCloseTo(closed(pairs), 12);
        }
      }),
    );
  });

  test("the interval covers the alpha of the population about as often as it says", () => {
    // P(1) = 0.5, and the second annotator repeats the first with probability 0.8: 1 - 0.2 / 0.5 = 0.6.
    const drawn = seededStream("coverage");
    let covered = 0;
    for (let run = 0; run < 200; run++) {
      const pairs = Array.from({ length: 100 }, () => {
        const first = drawn.integer(2);
        return [first, drawn.uniform() < 0.8 ? first : 1 - first];
      });
      const { interval } = krippendorffAlpha(pairs, { stream: drawn.split(run), replicates: 200 });
      if (interval !== null && interval[0] <= 0.6 && interval[1] >= 0.6) covered += 1;
    }
    // 0.95 with three standard errors of 200 runs.
    expect(covered / 200).toBeGreaterThan(0.9);
  });
});

describe("properties", () => {
  const rating = fc.option(fc.integer({ min: 0, max: 3 }));
  const table = fc.array(fc.array(rating, { minLength: 3, maxLength: 3 }), { minLength: 2, maxLength: 12 });
  const scales = fc.constantFrom("nominal", "ordinal", "interval" as const);

  test("neither the order of units nor that of annotators matters", () => {
    fc.assert(
      fc.property(table, scales, fc.nat(), (units, scale, seed) => {
        const moved = seededStream(seed);
        const again = Array.from(moved.permutation(units.length), (unit) => {
          const own = units[unit];
          return Array.from(moved.permutation(own.length), (at) => own[at]);
        });
        const [a, b] = [units, again].map((each) =>
          krippendorffAlpha(each, { scale, stream: stream(), replicates: 2 }),
        );
        expect(b.reason).toBe(a.reason);
        if (a.alpha !== null) expect(b.alpha).toBeCloseTo(a.alpha, 12);
      }),
    );
  });

  test("perfect agreement is 1, and the interval lies about alpha", () => {
    const perfect = krippendorffAlpha(
      [
        ["a", "a"],
        ["b", "b", "b"],
        ["a", null, "a"],
      ],
      { stream: stream() },
    );
    expect([perfect.alpha, perfect.interval]).toEqual([1, [1, 1]]);
    const mixed = krippendorffAlpha(
      Array.from({ length: 40 }, (_, i) => [i % 2, i % 5 === 0 ? 1 - (i % 2) : i % 2]),
      { stream: stream() },
    );
    expect(mixed.interval?.[0]).toBeLessThan(mixed.alpha ?? Number.NaN);
    expect(mixed.interval?.[1]).toBeGreaterThan(mixed.alpha ?? Number.NaN);
  });

  test("is the same for the same stream", () => {
    const units = [
      [1, 2],
      [1, 1],
      [2, 2],
      [2, 1],
      [1, 1],
    ];
    const once = () => krippendorffAlpha(units, { stream: stream() });
    expect(once()).toEqual(once());
  });
});

describe("where it is undefined", () => {
  test("fewer than two units with two values, and values that are all the same", () => {
    const none = { alpha: null, interval: null };
    expect(krippendorffAlpha([], { stream: stream() })).toEqual({
      ...none,
      reason: "few-units",
      units: 0,
      values: 0,
    });
    expect(
      krippendorffAlpha(
        [
          [1, 2],
          [1, null],
          [Number.NaN, 2],
        ],
        { stream: stream() },
      ),
    ).toEqual({
      ...none,
      reason: "few-units",
      units: 1,
      values: 2,
    });
    expect(
      krippendorffAlpha(
        [
          [1, 1],
          [1, 1],
        ],
        { stream: stream() },
      ),
    ).toEqual({
      ...none,
      reason: "no-variation",
      units: 2,
      values: 4,
    });
  });

  test("wrong values are refused", () => {
    expect(() => krippendorffAlpha([["a", "b"]], { scale: "interval", stream: stream() })).toThrow(
      agreementTexts.number("a", 0),
    );
    expect(() => krippendorffAlpha([[Infinity, 1]], { stream: stream() })).toThrow(
      agreementTexts.infinite(Infinity, 0),
    );
    expect(() => krippendorffAlpha([], { stream: stream(), replicates: 1 })).toThrow(
      agreementTexts.replicates(1),
    );
  });
});
