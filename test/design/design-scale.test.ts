import { describe, expect, test } from "vitest";
import { add, exp, mul } from "../../src/compute/index.js";
import { seededStream } from "../../src/core/random.js";
import {
  chosenBy,
  type DesignScale,
  designFrom,
  designScales,
  likeliest,
  outcomeScales,
  readingOf,
  slopeAt,
  softmax,
} from "../../src/design/design-scale.js";
import { bernoulli, normal } from "../../src/design/distribution.js";
import { defineModel, oneOf, real, sensitive, target } from "../../src/design/model.js";
import { linearGaussian } from "../../src/design/models/linear-gaussian.js";
import { locationFinding } from "../../src/design/models/location.js";
import { pharmacokinetics } from "../../src/design/models/pharmacokinetics.js";

const parameters = { theta: target(normal(0, 1)), phi: sensitive(normal(0, 1)) };

test("what is of the order of one and has no bounds is left as it is, to the last bit", () => {
  for (const model of [locationFinding(), linearGaussian(), locationFinding({ priorMean: [-4, 10] })]) {
    for (const scale of designScales(model)) expect(scale).toEqual({ kind: "free", centre: 0, unit: 1 });
    for (const scale of outcomeScales(model)) expect(scale).toEqual({ centre: 0, unit: 1 });
  }
  const plain = { kind: "free", centre: 0, unit: 1 } as const;
  for (const output of [1e-30, -3.25, 1 / 3, 7e20]) expect(designFrom(plain, output)).toBe(output);
});

test("bounds and values are taken over, in the order of the variables", () => {
  const model = defineModel({
    name: "all kinds",
    parameters,
    design: {
      a: real({ low: 1, high: 365 }),
      b: real({ low: 2 }),
      c: real({ high: -3 }),
      d: oneOf([0, 1, 5]),
      e: real(),
    },
    outcome: ({ theta, phi }, { a, b, c, d, e }) =>
      normal(mul(theta, add(add(a, b), add(c, add(d, e)))), exp(phi)),
  });
  expect(designScales(model)).toEqual([
    { kind: "between", low: 1, high: 365 },
    { kind: "above", low: 2, unit: 1 },
    { kind: "below", high: -3, unit: 1 },
    { kind: "values", values: [0, 1, 5] },
    { kind: "free", centre: 0, unit: 1 },
  ]);
  expect(designScales(pharmacokinetics({ latest: 48 }))).toEqual([{ kind: "between", low: 0.1, high: 48 }]);
});

test("an unbounded design is taken in units of a prior that is far from one", () => {
  const model = defineModel({
    name: "far",
    parameters: { theta: target(normal(5000, 100)), phi: sensitive(normal(5000, 100)) },
    design: { x: real() },
    outcome: ({ theta }, { x }) => normal(add(theta, mul(3, x)), 40),
  });
  const [scale] = designScales(model);
  if (scale.kind !== "free") throw new Error("has bounds");
  // 512 draws with a standard deviation of 100.
  expect(Math.abs(scale.centre - 5000)).toBeLessThan((4 * 100) / Math.sqrt(512));
  expect(scale.unit).toBe(128);
  // theta + 3 x with x about N(5000, 128^2): sqrt(100^2 + 384^2 + 40^2) = 399, nearest power of two 512.
  const [outcome] = outcomeScales(model);
  expect(outcome.unit).toBe(512);
  expect(Math.abs(outcome.centre - 20_000)).toBeLessThan(150);
});

describe("a design follows smoothly from an output", () => {
  const scales: readonly Exclude<DesignScale, { kind: "values" }>[] = [
    { kind: "free", centre: 3, unit: 8 },
    { kind: "between", low: 1, high: 365 },
    { kind: "above", low: -2, unit: 4 },
    { kind: "below", high: 10, unit: 0.5 },
  ];
  test.each(scales)("$kind", (scale) => {
    for (const output of [-6, -1, 0, 0.3, 2, 9]) {
      const h = 1e-5;
      const slope = (designFrom(scale, output + h) - designFrom(scale, output - h)) / (2 * h);
      expect(slopeAt(scale, output)).toBeCloseTo(slope, 4);
    }
    for (const output of [-1e3, -40, 40, 1e3]) {
      const design = designFrom(scale, output);
      expect(Number.isFinite(design)).toBe(true);
      if (scale.kind === "between" || scale.kind === "above") {
        expect(design).toBeGreaterThanOrEqual(scale.low);
      }
      if (scale.kind === "between" || scale.kind === "below") expect(design).toBeLessThanOrEqual(scale.high);
    }
  });

  test("and is read in units of the order of one", () => {
    expect(readingOf({ kind: "between", low: 1, high: 365 })).toEqual({ centre: 183, unit: 182 });
    expect(readingOf({ kind: "values", values: [5, 0, 1] })).toEqual({ centre: 2.5, unit: 2.5 });
    expect(readingOf({ kind: "above", low: -2, unit: 4 })).toEqual({ centre: -2, unit: 4 });
  });
});

test("values are drawn by their probabilities, and the likeliest is the first of the largest", () => {
  const probabilities = new Float64Array(3);
  softmax([9, Math.log(1), Math.log(2), Math.log(5)], 1, probabilities);
  for (const [k, expected] of [1 / 8, 2 / 8, 5 / 8].entries()) {
    expect(probabilities[k]).toBeCloseTo(expected, 14);
  }
  expect([0, 0.124, 0.126, 0.374, 0.376, 0.9999].map((u) => chosenBy(u, probabilities))).toEqual([
    0, 0, 1, 1, 2, 2,
  ]);
  expect(likeliest([9, 1, 4, 4], 1, 3)).toBe(1);
  // Far apart without overflow.
  softmax([1e4, -1e4], 0, probabilities.subarray(0, 2));
  expect([...probabilities.subarray(0, 2)]).toEqual([1, 0]);
});

test("scales depend on the model alone", () => {
  const yesNo = defineModel({
    name: "yes or no",
    parameters,
    design: { x: real({ low: 0, high: 1 }) },
    outcome: ({ theta }, { x }) => bernoulli({ logit: mul(theta, x) }),
  });
  const stream = seededStream(0);
  const before = JSON.stringify([designScales(yesNo), outcomeScales(yesNo)]);
  stream.normal();
  expect(JSON.stringify([designScales(yesNo), outcomeScales(yesNo)])).toBe(before);
  expect(outcomeScales(yesNo)).toEqual([{ centre: 0, unit: 1 }]);
});
