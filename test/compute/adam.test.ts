import { describe, expect, test } from "vitest";
import { type AdamOptions, adam, adamTexts } from "../../src/compute/adam.js";
import { InputError } from "../../src/core/errors.js";

/** sum (w - c)^4 + sin(w_0 w_1), c = (0, 1, 2, 3.5). */
const quarticGradient = (w: ArrayLike<number>): number[] => {
  const gradient = [0, 1, 2, 3.5].map((c, i) => 4 * (w[i] - c) ** 3);
  gradient[0] += Math.cos(w[0] * w[1]) * w[1];
  gradient[1] += Math.cos(w[0] * w[1]) * w[0];
  return gradient;
};

/** The parameters after the given steps, by torch.optim.Adam (PyTorch 1.13, float64) from (1, -2, 0.5, 3). */
const torch = {
  /** lr 0.05 and the defaults, on the quartic above. */
  quartic: {
    1: [0.95000000010347052, -1.9500000000046118, 0.549999999962963, 3.0499999990000002],
    2: [0.90049090518466424, -1.9000840307942968, 0.59980331509361828, 3.0989931733712832],
    3: [0.85188818834725433, -1.8503096780718151, 0.6492708791278089, 3.1462435893678462],
    10: [0.57596229114581876, -1.510703311991147, 0.97445732016598641, 3.3950689945648813],
    100: [0.16639343683895796, 0.10948729950697443, 1.778458295138919, 3.5440651390027682],
  },
  /** lr 0.01, betas (0.5, 0.9), eps 1e-3, gradients (k / 10, -1 / k, 0, (-1)^k) at step k. */
  given: {
    1: [0.99009900990099009, -1.9900099900099899, 0.5, 3.0099900099900099],
    2: [0.9797849049986963, -1.9814518625376665, 0.5, 3.0066600066600064],
    20: [0.75215907911698787, -1.9099101564434908, 0.5, 3.0078960827878691],
  },
} as const;

const settings: Record<keyof typeof torch, AdamOptions> = {
  quartic: { rate: 0.05 },
  given: { rate: 0.01, beta1: 0.5, beta2: 0.9, epsilon: 1e-3 },
};
const gradients = {
  quartic: quarticGradient,
  given: (_: ArrayLike<number>, k: number) => [k / 10, -1 / k, 0, (-1) ** k],
};

describe.each(["quartic", "given"] as const)("PyTorch's Adam: %s", (name) => {
  test.each([
    { type: Float64Array, digits: 13 },
    { type: Float32Array, digits: 5 },
  ])("$type.name", ({ type, digits }) => {
    const optimiser = adam(settings[name]);
    const parameters = new type([1, -2, 0.5, 3]);
    const state = optimiser.init(parameters);
    const wanted: Readonly<Record<number, readonly number[]>> = torch[name];
    const last = Math.max(...Object.keys(wanted).map(Number));
    let compared = 0;
    for (let k = 1; k <= last; k++) {
      optimiser.update(parameters, gradients[name](parameters, k), state);
      expect(state.step).toBe(k);
      wanted[k]?.forEach((value, i) => {
        expect(parameters[i], `step ${k}, parameter ${i}`).toBeCloseTo(value, digits);
        compared++;
      });
    }
    expect(compared).toBe(4 * Object.keys(wanted).length);
  });
});

test("two steps by hand", () => {
  // beta1 = 1/2, beta2 = 3/4, rate = 1: g = 2, then 0.
  const optimiser = adam({ rate: 1, beta1: 0.5, beta2: 0.75, epsilon: 1 });
  const parameters = new Float64Array([0]);
  const state = optimiser.init(parameters);
  optimiser.update(parameters, [2], state);
  // m = 1, v = 1; corrected 2 and 4: the step is 2 / (2 + 1).
  expect([state.mean[0], state.meanSquare[0]]).toEqual([1, 1]);
  expect(parameters[0]).toBeCloseTo(-2 / 3, 15);
  optimiser.update(parameters, [0], state);
  // m = 1/2, v = 3/4; corrected by 3/4 and 7/16: the step is (2/3) / (sqrt(12/7) + 1).
  expect(parameters[0]).toBeCloseTo(-2 / 3 - 2 / 3 / (Math.sqrt(12 / 7) + 1), 15);
});

test("the rate may be a function of the step", () => {
  const seen: number[] = [];
  const falling = adam({
    rate: (step) => {
      seen.push(step);
      return 1 / step;
    },
  });
  const parameters = new Float64Array([0]);
  const state = falling.init(parameters);
  for (let k = 0; k < 3; k++) falling.update(parameters, [1], state);
  expect(seen).toEqual([1, 2, 3]);
  // A constant gradient moves by the rate each time, up to epsilon.
  expect(parameters[0]).toBeCloseTo(-(1 + 1 / 2 + 1 / 3), 7);
});

test("a state is plain data: a copy of it goes on in the same way", () => {
  const optimiser = adam({ rate: 0.1 });
  const parameters = new Float32Array([1, -2, 0.5, 3]);
  const state = optimiser.init(parameters);
  for (let k = 0; k < 5; k++) optimiser.update(parameters, quarticGradient(parameters), state);
  const [copy, copiedState] = [parameters.slice(), structuredClone(state)];
  for (let k = 0; k < 5; k++) {
    optimiser.update(parameters, quarticGradient(parameters), state);
    adam({ rate: 0.1 }).update(copy, quarticGradient(copy), copiedState);
  }
  expect(copy).toEqual(parameters);
  expect(copiedState).toEqual(state);
});

describe("wrong use", () => {
  test.each([-1, Number.NaN, Number.POSITIVE_INFINITY])("rate %d", (rate) => {
    const error = new InputError("rate", adamTexts.rate(rate));
    expect(() => adam({ rate })).toThrow(error);
    const late = adam({ rate: () => rate });
    const parameters = new Float32Array([1]);
    const state = late.init(parameters);
    expect(() => late.update(parameters, [1], state)).toThrow(error);
    expect({ parameters, state }).toEqual({
      parameters: new Float32Array([1]),
      state: late.init(parameters),
    });
  });

  test.each([-0.1, 1, Number.NaN])("betas of %d", (beta) => {
    expect(() => adam({ beta1: beta })).toThrow(new InputError("beta", adamTexts.beta("beta1", beta)));
    expect(() => adam({ beta2: beta })).toThrow(new InputError("beta", adamTexts.beta("beta2", beta)));
  });

  test.each([0, -1, Number.NaN])("epsilon %d", (epsilon) => {
    expect(() => adam({ epsilon })).toThrow(new InputError("epsilon", adamTexts.epsilon(epsilon)));
  });

  test("arrays of other lengths", () => {
    const optimiser = adam();
    const state = optimiser.init(new Float32Array(3));
    expect(() => optimiser.update(new Float32Array(3), [1, 2], state)).toThrow(
      new InputError("length", adamTexts.length("gradient", 2, 3)),
    );
    expect(() => optimiser.update(new Float32Array(2), [1, 2], state)).toThrow(
      new InputError("length", adamTexts.length("optimiser's state", 3, 2)),
    );
  });
});
