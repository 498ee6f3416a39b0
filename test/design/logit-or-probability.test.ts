/** A yes or no by its logit and by its probability: the same distribution, stable at the ends, with the right slopes. */
import { describe, expect, test } from "vitest";
import { add, compile, div, log, mul, sub, type Value } from "../../src/compute/index.js";
import { seededStream } from "../../src/core/random.js";
import {
  bernoulli,
  binomial,
  categorical,
  type Distribution,
  poisson,
} from "../../src/design/distribution.js";
import { estimatePolicy, exactInformation } from "../../src/design/estimate.js";
import { defineModel, real, sensitive, target } from "../../src/design/model.js";
import { staticPolicy } from "../../src/design/policy.js";

const at = ({ logDensity }: Distribution, value: number): number => logDensity(value) as number;
const logit = (p: number): number => Math.log(p / (1 - p));
const entropy = (p: number): number => -p * Math.log(p) - (1 - p) * Math.log1p(-p);

describe("densities", () => {
  test.each([1e-9, 0.01, 0.2, 0.5, 0.9, 0.999])("agree at probability %d", (p) => {
    for (const y of [0, 1]) {
      const exact = y === 1 ? Math.log(p) : Math.log1p(-p);
      expect(at(bernoulli({ probability: p }), y)).toBeCloseTo(exact, 12);
      expect(at(bernoulli({ logit: logit(p) }), y)).toBeCloseTo(exact, 9);
    }
    for (let k = 0; k <= 4; k++) {
      const ways = [1, 4, 6, 4, 1][k];
      const exact = Math.log(ways) + k * Math.log(p) + (4 - k) * Math.log1p(-p);
      expect(at(binomial({ trials: 4, probability: p }), k)).toBeCloseTo(exact, 9);
      expect(at(binomial({ trials: 4, logit: logit(p) }), k)).toBeCloseTo(exact, 7);
    }
    const probabilities = [p / 2, p / 2, 1 - p];
    for (const k of [0, 1, 2]) {
      expect(at(categorical({ probabilities }), k)).toBeCloseTo(Math.log(probabilities[k]), 12);
      expect(at(categorical({ logits: probabilities.map(Math.log) }), k)).toBeCloseTo(
        Math.log(probabilities[k]),
        9,
      );
    }
  });

  test.each([1e-6, 0.3, 4, 700])("of counts agree at rate %d", (rate) => {
    for (const k of [0, 1, 5]) {
      const factorial = [1, 1, 2, 6, 24, 120][k];
      const exact = k * Math.log(rate) - rate - Math.log(factorial);
      expect(at(poisson({ rate }), k)).toBeCloseTo(exact, 9);
      expect(at(poisson({ logRate: Math.log(rate) }), k)).toBeCloseTo(exact, 8);
    }
  });

  test.each([-1e6, -800, -40, -20, 20, 40, 800, 1e6])("are right at logit %d", (value) => {
    // log sigmoid(x) = -log(1 + e^-x), which is x below and -e^-x above.
    const logSigmoid = (x: number) => (x < 0 ? x - Math.log1p(Math.exp(x)) : -Math.log1p(Math.exp(-x)));
    expect(at(bernoulli({ logit: value }), 1)).toBeCloseTo(logSigmoid(value), 9);
    expect(at(bernoulli({ logit: value }), 0)).toBeCloseTo(logSigmoid(-value), 9);
    expect(at(categorical({ logits: [0, value] }), 1)).toBeCloseTo(logSigmoid(value), 9);
  });

  test("at probabilities 0 and 1 have no 0 times infinity", () => {
    for (const [p, sure] of [
      [0, 0],
      [1, 1],
    ]) {
      expect(at(bernoulli({ probability: p }), sure)).toBeCloseTo(0, 15);
      expect(at(bernoulli({ probability: p }), 1 - sure)).toBe(-Infinity);
      expect(at(binomial({ trials: 3, probability: p }), 3 * sure)).toBeCloseTo(0, 12);
      expect(at(binomial({ trials: 3, probability: p }), 1)).toBe(-Infinity);
      expect(at(categorical({ probabilities: [p, 1 - p] }), 1 - sure)).toBeCloseTo(0, 15);
    }
  });
});

describe.each(["js", "wasm"] as const)("slopes on the backend %s", (backend) => {
  const slope = (
    of: (parameter: Value) => Distribution,
    parameter: number,
    y: number,
  ): readonly [value: number, slope: number] => {
    const program = compile(({ x, observed }: Record<string, Value>) => of(x).logDensity(observed), {
      inputs: { x: [], observed: [] },
      gradients: ["x"],
      backend,
    });
    program.resize({});
    program.input("x")[0] = parameter;
    program.input("observed")[0] = y;
    program.run();
    const found = [program.output()[0], program.gradient("x")[0]] as const;
    program.dispose();
    return found;
  };

  test.each([-80, -5, 0, 0.7, 30, 80])("in the logit are y - sigmoid(logit) at %d", (value) => {
    for (const y of [0, 1]) {
      const [density, found] = slope((x) => bernoulli({ logit: x }), value, y);
      expect(Number.isFinite(density)).toBe(true);
      expect(found).toBeCloseTo(y - 1 / (1 + Math.exp(-value)), 5);
    }
  });

  test.each([0.02, 0.5, 0.9])("in the probability are y / p - (1 - y) / (1 - p) at %d", (p) => {
    for (const y of [0, 1]) {
      const exact = y / p - (1 - y) / (1 - p);
      expect(slope((x) => bernoulli({ probability: x }), p, y)[1] / exact).toBeCloseTo(1, 5);
    }
    for (const k of [0, 1, 3]) {
      const exact = k / p - (3 - k) / (1 - p);
      const [, found] = slope((x) => binomial({ trials: 3, probability: x }), p, k);
      expect(found / exact).toBeCloseTo(1, 4);
    }
    const [, first] = slope((x) => categorical({ probabilities: [x, sub(1, x)] }), p, 0);
    expect(first * p).toBeCloseTo(1, 5);
  });

  test("in a rate are k / rate - 1, also where nothing was counted", () => {
    for (const k of [0, 2]) expect(slope((x) => poisson({ rate: x }), 0.5, k)[1]).toBeCloseTo(k / 0.5 - 1, 5);
  });

  test("where what was seen is sure are finite", () => {
    expect(slope((x) => bernoulli({ probability: x }), 1, 1)).toEqual([
      expect.closeTo(0, 6),
      expect.closeTo(1, 6),
    ]);
    expect(slope((x) => bernoulli({ probability: x }), 0, 0)).toEqual([
      expect.closeTo(0, 6),
      expect.closeTo(-1, 6),
    ]);
    expect(slope((x) => binomial({ trials: 2, probability: x }), 0, 0)[1]).toBeCloseTo(-2, 5);
  });
});

describe("the information in a yes or no", () => {
  // theta is 0 or 1 with equal odds, and so is phi. Yes has probability 0.2 or 0.8 by theta, whatever phi.
  const coin = () => bernoulli({ probability: 0.5 });
  const model = (outcome: (theta: Value) => Distribution) =>
    defineModel({
      parameters: { theta: target(coin()), phi: sensitive(coin()) },
      design: { x: real({ low: 0, high: 2 }) },
      outcome: ({ theta }, { x }) => outcome(mul(theta, x)),
    });
  const forms = {
    probability: model((theta) => bernoulli({ probability: add(0.2, mul(0.6, theta)) })),
    logit: model((theta) => bernoulli({ logit: mul(Math.log(4), sub(mul(2, theta), 1)) })),
    "a logit of a computed probability": model((theta) => {
      const p = add(0.2, mul(0.6, theta));
      return bernoulli({ logit: log(div(p, sub(1, p))) });
    }),
    "one of one trial": model((theta) => binomial({ trials: 1, probability: add(0.2, mul(0.6, theta)) })),
    "one of two values": model((theta) => {
      const p = add(0.2, mul(0.6, theta));
      return categorical({ probabilities: [sub(1, p), p] });
    }),
  };
  // I(theta; y) = H(1/2) - H(0.2).
  const exact = entropy(0.5) - entropy(0.2);

  test.each(Object.entries(forms))("by its %s is the closed form", async (_, each) => {
    const {
      target: information,
      sensitive: leakage,
      exact: isExact,
    } = await exactInformation(each, [[1]], {
      stream: seededStream(0),
      threads: 1,
    });
    expect(isExact).toBe(true);
    expect(information.lower).toBeCloseTo(exact, 9);
    expect(leakage.upper).toBeCloseTo(0, 9);
    const sampled = await estimatePolicy(each, staticPolicy(Float64Array.of(1), 1), {
      stream: seededStream(1),
      threads: 1,
      outer: 200,
      contrastive: 400,
      marginal: 400,
    });
    expect(sampled.target.interval[0]).toBeLessThan(exact + sampled.target.standardError);
    expect(sampled.target.interval[1]).toBeGreaterThan(exact - sampled.target.standardError);
  });

  test("three times asked is that of the number of yeses, by either form", async () => {
    // log p(D | theta) = k log p + (3 - k) log(1 - p): sum over k of the binomial weights.
    const weights = [1, 3, 3, 1];
    const probability = (p: number, k: number) => weights[k] * p ** k * (1 - p) ** (3 - k);
    let three = 0;
    for (const p of [0.2, 0.8]) {
      for (let k = 0; k <= 3; k++) {
        const mean = (probability(0.2, k) + probability(0.8, k)) / 2;
        three += 0.5 * probability(p, k) * Math.log(probability(p, k) / mean);
      }
    }
    for (const each of [forms.probability, forms.logit]) {
      const { target: information } = await exactInformation(each, [[1], [1], [1]], {
        stream: seededStream(0),
        threads: 1,
      });
      expect(information.lower).toBeCloseTo(three, 9);
    }
  });
});
