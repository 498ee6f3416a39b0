import { describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.js";
import {
  bernoulli,
  binomial,
  categorical,
  logNormal,
  normal,
  poisson,
} from "../../src/design/distribution.js";
import { historyTexts, readHistory } from "../../src/design/history-file.js";
import { defineModel, real, sensitive, target } from "../../src/design/model.js";
import { locationFinding } from "../../src/design/models/location.js";
import { policyFileTexts } from "../../src/design/policy-file.js";

const location = locationFinding();
const two = defineModel({
  name: "two",
  parameters: { theta: target(normal(0, 1)), phi: sensitive(normal(0, 1)) },
  design: { x: real({ low: 0, high: 5 }) },
  outcome: ({ theta, phi }) => ({ left: normal(theta, 1), right: normal(phi, 1) }),
});

const kinds = defineModel({
  name: "all kinds of outcomes",
  parameters: { theta: target(normal(0, 1)), phi: sensitive(normal(0, 1)) },
  design: { x: real({ low: 0, high: 5 }) },
  outcome: ({ theta, phi }) => ({
    seen: bernoulli({ logit: theta }),
    right: binomial({ trials: 3, logit: phi }),
    colour: categorical({ logits: [theta, phi, 0] }),
    errors: poisson({ logRate: theta }),
    seconds: logNormal(phi, 1),
  }),
});

describe("a history", () => {
  test("in lists or by name", () => {
    const read = readHistory(
      [
        { design: [1, 2], outcome: 0.5 },
        { design: { y: 4, x: 3 }, outcome: { outcome: -1 } },
        { design: [5, 6], outcome: [0] },
      ],
      location,
    );
    expect(read).toEqual({
      outer: 1,
      steps: 3,
      designs: Float64Array.of(1, 2, 3, 4, 5, 6),
      outcomes: Float64Array.of(0.5, -1, 0),
    });
  });

  test("with one variable and two outcomes, and empty", () => {
    const read = readHistory([{ design: 3, outcome: { right: 2, left: 1 } }], two);
    expect([...read.designs, ...read.outcomes]).toEqual([3, 1, 2]);
    expect(readHistory([], two)).toMatchObject({ outer: 1, steps: 0 });
  });

  test.each([
    [{}, historyTexts.notList("h")],
    [[3], historyTexts.notEntry("h", 1)],
    [[{ design: [1, 2] }], historyTexts.notEntry("h", 1)],
    [[{ design: [1], outcome: 1 }], historyTexts.width("h", 1, "design", 1, ["x", "y"])],
    [[{ design: { x: 1 }, outcome: 1 }], historyTexts.missing("h", 1, "design", ["y"])],
    [[{ design: { x: 1, y: 2, z: 3 }, outcome: 1 }], historyTexts.unknown("h", 1, "design", "z", ["x", "y"])],
    [[{ design: [1, 2], outcome: null }], historyTexts.notFinite("h", 1, "outcome", null)],
    [[{ design: [1, "2"], outcome: 1 }], historyTexts.notFinite("h", 1, "design", "2")],
    [[{ design: [1, 2], outcome: [1, 2] }], historyTexts.width("h", 1, "outcome", 2, ["outcome"])],
  ])("%j is none", (given, message) => {
    expect(() => readHistory(given, location, "h")).toThrow(new InputError("history", message));
  });

  test.each([
    ["seen", 7, "1 or 0"],
    ["seen", 0.5, "1 or 0"],
    ["right", 4, "a whole number from 0 to 3"],
    ["right", -1, "a whole number from 0 to 3"],
    ["colour", 3, "a whole number from 0 to 2"],
    ["errors", 2.5, "a whole number from 0"],
    ["errors", -3, "a whole number from 0"],
  ])("with an outcome %s of %d is refused", (name, given, expected) => {
    const possible = { seen: 1, right: 3, colour: 2, errors: 12, seconds: -4.5 };
    const read = (outcome: object) => readHistory([{ design: 1, outcome }], kinds, "h");
    expect([...read(possible).outcomes]).toEqual([1, 3, 2, 12, -4.5]);
    const text = historyTexts.impossible("h", 1, name, given, expected);
    expect(() => read({ ...possible, [name]: given })).toThrow(new InputError("history", text));
  });

  test("stays inside the model's bounds", () => {
    expect(() => readHistory([{ design: 9, outcome: [1, 2] }], two, "h")).toThrow(
      policyFileTexts.outside("h", 1, "x", 9, "0 to 5"),
    );
  });
});
