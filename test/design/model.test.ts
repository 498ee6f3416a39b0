import { describe, expect, test } from "vitest";
import { abs, add, less, log, mul, select, sub } from "../../src/compute/index.js";
import { InputError } from "../../src/core/errors.js";
import { seededStream } from "../../src/core/random.js";
import { bernoulli, normal, poisson } from "../../src/design/distribution.js";
import { argumentTexts } from "../../src/design/distribution-arguments.js";
import {
  defineModel,
  drawParameters,
  type ModelDefinition,
  modelTexts,
  nuisance,
  priorPredictive,
  real,
  sensitive,
  target,
} from "../../src/design/model.js";

const definition: ModelDefinition<string, string> = {
  name: "line",
  parameters: { theta: target(normal(0, 1)), phi: sensitive(normal(1, 2)) },
  design: { x: real() },
  outcome: ({ theta, phi }, { x }) => normal(add(theta, mul(phi, x)), 0.5),
};
const refused = (change: Partial<ModelDefinition<string, string>>) => () =>
  defineModel({ ...definition, ...change });

describe("a definition", () => {
  test("becomes a model", () => {
    const model = defineModel(definition);
    expect(model.parameters.map(({ name, role }) => [name, role])).toEqual([
      ["theta", "target"],
      ["phi", "sensitive"],
    ]);
    expect(model.outcomes).toEqual(["outcome"]);
    expect(model.reparameterised).toBe(true);
    expect(model.dependentPriors).toBe(false);
    // N(1 + 2 * 3, 0.5^2) at 8.
    expect(model.logLikelihood({ theta: 1, phi: 2 }, { x: 3 }, { outcome: 8 })).toBeCloseTo(
      -2 - Math.log(0.5) - 0.9189385332046727,
      12,
    );
  });

  test("with several outcomes adds up their log densities", () => {
    const model = defineModel({
      ...definition,
      outcome: ({ theta, phi }, { x }) => ({
        reading: normal(theta, x),
        count: poisson({ logRate: phi }),
        alarm: bernoulli({ logit: mul(theta, x) }),
      }),
    });
    expect(model.outcomes).toEqual(["reading", "count", "alarm"]);
    expect(model.reparameterised).toBe(false);
    const sum =
      (normal(0.3, 1).logDensity(0.1) as number) +
      (poisson({ logRate: 0.5 }).logDensity(2) as number) +
      (bernoulli({ logit: 0.3 }).logDensity(1) as number);
    const value = model.logLikelihood(
      { theta: 0.3, phi: 0.5 },
      { x: 1 },
      { reading: 0.1, count: 2, alarm: 1 },
    );
    expect(value).toBeCloseTo(sum, 12);
  });

  test("may have a prior that depends on the parameters before", () => {
    const model = defineModel({
      ...definition,
      parameters: {
        theta: target(normal(5, 1)),
        phi: sensitive(({ theta }) => normal(mul(10, theta), 0.001)),
      },
    });
    expect(model.dependentPriors).toBe(true);
    const { theta, phi } = drawParameters(model.parameters, seededStream(1));
    expect(phi / theta).toBeCloseTo(10, 1);
    expect(drawParameters(model.parameters, seededStream(1), { theta: 2 }).phi).toBeCloseTo(20, 1);
  });

  test("without a role that is needed, or a design, is refused", () => {
    expect(refused({ parameters: { phi: sensitive(normal(0, 1)) } })).toThrow(modelTexts.noTarget("line"));
    expect(refused({ parameters: { theta: target(normal(0, 1)), u: nuisance(normal(0, 1)) } })).toThrow(
      modelTexts.noSensitive("line"),
    );
    expect(refused({ design: {} })).toThrow(modelTexts.noDesign("line"));
    expect(refused({ design: {} })).toThrow(InputError);
  });

  test("needs no name", () => {
    const { name: _, ...unnamed } = definition;
    expect(defineModel(unnamed).name).toBe("unnamed");
  });

  test("may read names that are not there where it does not use them", () => {
    const model = defineModel({
      ...definition,
      outcome: ({ theta, shift }, { x }) => normal(shift === undefined ? mul(theta, x) : shift, 1),
    });
    expect(model.outcomes).toEqual(["outcome"]);
  });

  test("with a standard deviation that is not above 0 is refused, but only where the model can be", () => {
    const text = (sd: number) => argumentTexts.positive("normal", "the standard deviation", sd);
    expect(refused({ outcome: ({ theta }) => normal(theta, -1) })).toThrow(text(-1));
    expect(refused({ parameters: { theta: target(normal(0, 0)), phi: sensitive(normal(0, 1)) } })).toThrow(
      text(0),
    );
    const proportional = defineModel({
      ...definition,
      design: { dose: real({ low: 1, high: 10 }) },
      outcome: ({ theta }, { dose }) => normal(mul(theta, dose), mul(0.1, dose)),
    });
    expect(proportional.reparameterised).toBe(true);
  });

  test("that is not smooth in its design is refused", () => {
    // The mean jumps at the design that is tried, x = 1, and has no value there in the second.
    expect(refused({ outcome: ({ theta }, { x }) => normal(select(less(x, 1), 0, theta), 1) })).toThrow(
      /the gradient in "x"/,
    );
    expect(refused({ outcome: ({ theta }, { x }) => normal(add(theta, log(abs(sub(x, 1)))), 1) })).toThrow(
      argumentTexts.finite("normal", "the mean", -Infinity),
    );
  });
});

test("the prior predictive has the quantiles of the outcome", () => {
  const model = defineModel(definition);
  // theta + 2 phi + noise ~ N(2, 1 + 16 + 0.25).
  const { outcome } = priorPredictive(model, { x: 2 }, { draws: 20_000 });
  const sd = Math.sqrt(17.25);
  [2 - 1.6448536 * sd, 2, 2 + 1.6448536 * sd].forEach((expected, i) => {
    expect(Math.abs(outcome[i] - expected)).toBeLessThan(0.2);
  });
});
