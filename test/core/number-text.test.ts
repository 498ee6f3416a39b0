import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  between,
  fixed,
  percent,
  percentWithError,
  shortest,
  signed,
  significant,
  withError,
} from "../../src/core/number-text.js";

describe("numbers as text", () => {
  test("nothing has no sign", () => {
    expect(fixed(-0.00004, 4)).toBe("0.0000");
    expect(fixed(-0, 3)).toBe("0.000");
    expect(significant(-0, 2)).toBe("0.0");
    expect(shortest(-0, 4)).toBe("0");
    expect(signed(-0.0004, 3)).toBe("0.000");
    expect(between([-0.0001, 0.0001])).toBe("0.000 to 0.000");
    expect(withError(-0.0002, 0.0001)).toBe("0.000 ± 0.000");
    expect(percent(-0)).toBe("0 %");
    fc.assert(
      fc.property(fc.double({ noNaN: true, min: -10, max: 10 }), fc.nat(6), (value, decimals) => {
        expect(fixed(value, decimals)).not.toMatch(/^-0\.?0*$/);
        expect(Number(fixed(value, decimals))).toBeCloseTo(value, decimals === 0 ? 0 : decimals - 1);
      }),
    );
  });

  test("what is left keeps its sign", () => {
    expect(fixed(-0.06, 1)).toBe("-0.1");
    expect(significant(-1e-7, 1)).toBe("-1e-7");
    expect(signed(-0.012, 3)).toBe("-0.012");
    expect(signed(0.012, 3)).toBe("+0.012");
  });

  test("a rare group is not nobody, and nearly all are not everybody", () => {
    expect([0, 0.0001, 0.004, 0.0994, 0.1, 0.514, 0.994, 0.9999, 1].map(percent)).toEqual([
      "0 %",
      "below 0.1 %",
      "0.4 %",
      "9.9 %",
      "10 %",
      "51 %",
      "99.4 %",
      "above 99.9 %",
      "100 %",
    ]);
    expect(percentWithError(0.5, 0.03)).toBe("50 ± 3 %");
    expect(percentWithError(0.02, 0.004)).toBe("2.0 ± 0.4 %");
    expect(percentWithError(0.5, null)).toBe("50 %");
  });
});

/** Where digits are no text for a person: kernels, fingerprints of models, coordinates, and numbers that stay numbers. */
const NOT_TEXT = [
  "core/number-text.ts",
  "design/model-catalogue.ts",
  "report/reproduction-svg.ts",
  "reproduce/compact-results.ts",
  "tables/round-threshold.ts",
  "workflows/plan-trials.ts",
];

test("numbers become text in one place", () => {
  const src = fileURLToPath(new URL("../../src", import.meta.url));
  const offences = readdirSync(src, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.startsWith("compute/") && !NOT_TEXT.includes(file))
    .flatMap((file) =>
      readFileSync(join(src, file), "utf8")
        .split("\n")
        .flatMap((line, at) =>
          /\.to(Fixed|Precision)\(/.test(line) && !/^\s*(\*|\/\/)/.test(line) ? [`${file}:${at + 1}`] : [],
        ),
    );
  expect(offences).toEqual([]);
});
