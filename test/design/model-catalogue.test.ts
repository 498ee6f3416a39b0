import { describe, expect, test } from "vitest";
import { mul } from "../../src/compute/index.js";
import { InputError } from "../../src/core/errors.js";
import { normal } from "../../src/design/distribution.js";
import { defineModel, real, sensitive, target } from "../../src/design/model.js";
import {
  catalogueTexts,
  describeModels,
  identityOf,
  MODEL_NAMES,
  shippedModel,
} from "../../src/design/model-catalogue.js";

describe("the catalogue", () => {
  test.each(MODEL_NAMES)("%s is under its own name", (name) => {
    expect(shippedModel(name).name).toBe(name);
    expect(describeModels().find((each) => each.name === name)?.summary).toMatch(/^[a-z].{20,}[^.]$/);
  });

  test.each([
    ["lcation", "location"],
    ["Location", "location"],
    ["pharma", "pharmacokinetics"],
    ["psycometric", "psychometric"],
    ["lineargaussian", "linear-gaussian"],
    ["xyzzy", undefined],
    ["constructor", undefined],
  ])("%s is unknown, and the nearest is suggested", (given, nearest) => {
    expect(() => shippedModel(given)).toThrow(
      new InputError("unknown-model", catalogueTexts.unknownModel(given, nearest)),
    );
  });

  test("options are checked", () => {
    expect(() => shippedModel("location", { nois: 1 })).toThrow(/^the model location has no option "nois"/);
    expect(() => shippedModel("linear-gaussian", { priorMean: [1, 1] })).toThrow(
      catalogueTexts.unknownOption("linear-gaussian", "priorMean", ["noise", "priorSd", "offset"]),
    );
    expect(() => shippedModel("location", { noise: -1 })).toThrow(
      catalogueTexts.optionValue("location", "noise", -1, "a number above 0"),
    );
    expect(() => shippedModel("location", { signal: "loud" })).toThrow(/give one of squared, printed$/);
    expect(() => shippedModel("location", { priorMean: [] })).toThrow(/give a number or a list of numbers$/);
    expect(
      shippedModel("location", { sources: 2, targets: [0, 1], sensitives: [2] }).parameters,
    ).toHaveLength(4);
  });
});

describe("an identity", () => {
  const fingerprint = (options: Record<string, unknown>) =>
    identityOf(shippedModel("location", options)).fingerprint;

  test("is the same for the same model, however it is written", () => {
    expect(fingerprint({})).toBe(fingerprint({ priorMean: [3, 3], noise: 0.5 }));
    const make = (twice: boolean) =>
      defineModel({
        name: "mine",
        parameters: { theta: target(normal(0, 1)), phi: sensitive(normal(0, 1)) },
        design: { x: real({ low: 0 }) },
        outcome: ({ theta }, { x }) => normal(twice ? mul(mul(x, theta), 1) : mul(theta, x), 1),
      });
    expect(identityOf(make(true))).toEqual(identityOf(make(false)));
  });

  test("differs with a prior, the noise, a formula and the roles", () => {
    const all = [
      {},
      { priorMean: [3, 3.01] },
      { priorSd: 1.01 },
      { noise: 0.51 },
      { signal: "printed" },
      { targets: [1], sensitives: [0] },
    ];
    expect(new Set(all.map(fingerprint)).size).toBe(all.length);
  });
});
