import { describe, expect, test } from "vitest";
import type { Value } from "../../../src/compute/graph/expression.js";
import {
  add,
  div,
  exp,
  lgamma,
  log,
  log1p,
  mul,
  neg,
  sigmoid,
  softplus,
  square,
  sub,
} from "../../../src/compute/graph/operations.js";
import { planTexts } from "../../../src/compute/logmeanexp/plan.js";
import { compileLogMeanExp, programTexts } from "../../../src/compute/logmeanexp/program.js";
import { randomStream } from "../../../src/core/random.js";

type Axes = readonly string[];
type Inputs = Readonly<Record<string, Axes>>;
type Values = Readonly<Record<string, Value>>;

/** log N(y | g, 0.5^2) of a log-intensity, up to nothing: the location-finding likelihood. */
const location = ({ y, theta, phi, x1, x2 }: Values): Value => {
  const distance2 = add(square(sub(theta, x1)), square(sub(phi, x2)));
  const g = log(add(0.1, div(1, add(1e-4, distance2))));
  return sub(mul(-0.5, square(div(sub(y, g), 0.5))), Math.log(0.5) + 0.5 * Math.log(2 * Math.PI));
};

const BATCH: Axes = ["outer", "observation"];

interface Case {
  readonly name: string;
  readonly likelihood: (values: Values) => Value;
  readonly inputs: Inputs;
  readonly gradients: readonly string[];
  /** How an outcome is drawn; a standard normal unless given. */
  readonly outcome?: (u: number) => number;
}

const cases: Case[] = [
  {
    name: "location, one parameter per outer sample (one pass)",
    likelihood: location,
    inputs: { y: BATCH, theta: ["outer"], phi: ["inner"], x1: ["observation"], x2: ["observation"] },
    gradients: ["y", "theta", "x1", "x2"],
  },
  {
    name: "location, parameters and designs shared (matrix product)",
    likelihood: location,
    inputs: { y: BATCH, theta: ["inner"], phi: ["inner"], x1: ["observation"], x2: ["observation"] },
    gradients: ["y", "x1", "x2"],
  },
  {
    name: "location, gradients in shared parameters",
    likelihood: location,
    inputs: { y: BATCH, theta: ["inner"], phi: ["inner"], x1: ["observation"], x2: BATCH },
    gradients: ["y", "theta", "phi", "x1", "x2"],
  },
  {
    name: "location, designs per outer sample (adaptive)",
    likelihood: location,
    inputs: { y: BATCH, theta: ["inner"], phi: ["inner"], x1: BATCH, x2: BATCH },
    gradients: ["y", "x1", "x2"],
  },
  {
    name: "location, parameters per pair",
    likelihood: location,
    inputs: { y: BATCH, theta: ["outer", "inner"], phi: ["outer", "inner"], x1: BATCH, x2: ["observation"] },
    gradients: ["theta", "phi", "x1", "x2"],
  },
  {
    name: "Student t, shared designs (tables without a product)",
    likelihood: ({ y, theta, x }: Values) =>
      mul(-2.5, log1p(div(square(sub(y, exp(mul(0.3, mul(theta, x))))), 4))),
    inputs: { y: BATCH, theta: ["inner"], x: ["observation"] },
    gradients: ["y", "x", "theta"],
  },
  {
    name: "Bernoulli with a logistic link",
    likelihood: ({ y, threshold, slope, x }: Values) => {
      const logit = mul(exp(slope), sub(x, threshold));
      return sub(mul(y, logit), softplus(logit));
    },
    inputs: { y: BATCH, threshold: ["inner"], slope: ["outer"], x: ["observation"] },
    gradients: ["x", "slope"],
    outcome: (u) => Number(u > 0),
  },
  {
    name: "Poisson, with a term of the outcome alone",
    likelihood: ({ y, rate, x }: Values) =>
      sub(sub(mul(y, add(rate, mul(0.2, x))), exp(add(rate, mul(0.2, x)))), lgamma(add(y, 1))),
    inputs: { y: BATCH, rate: ["inner"], x: ["observation"] },
    gradients: ["rate", "x"],
    outcome: (u) => Math.floor(Math.abs(2 * u)),
  },
  {
    name: "noise level without axes",
    likelihood: ({ y, mean, x, sd }: Values) =>
      sub(mul(-0.5, square(div(sub(y, sigmoid(add(mean, x))), sd))), log(sd)),
    inputs: { y: BATCH, mean: ["inner"], x: BATCH, sd: [] },
    gradients: ["sd", "x", "y"],
  },
];

const fill = (array: Float32Array | Float64Array, name: string, seed: string, outcome?: Case["outcome"]) => {
  const stream = randomStream(seed).split(name);
  for (let i = 0; i < array.length; i++) {
    const u = stream.normal();
    // Rounded to float32 so that both backends read the same numbers.
    array[i] = Math.fround(name === "y" && outcome ? outcome(u) : name === "sd" ? 0.7 : u);
  }
};

const sizes = [
  { outer: 7, inner: 1000, observation: 10 },
  { outer: 3, inner: 1, observation: 1 },
  { outer: 5, inner: 3, observation: 4 },
  { outer: 2, inner: 70, observation: 1 },
  { outer: 2, inner: 16385, observation: 2 },
];

const largest = (values: ArrayLike<number>): number =>
  Array.from(values).reduce((most, value) => Math.max(most, Math.abs(value)), 0);

describe.each(cases)("$name", ({ likelihood, inputs, gradients, outcome }) => {
  const names = Object.keys(inputs);
  const build = (options: object) => compileLogMeanExp(likelihood, { inputs, gradients, ...options });

  test.each(sizes)("agrees with float64 for $outer x $inner x $observation", (size) => {
    const oracle = build({ backend: "js" });
    for (const relaxed of [true, false]) {
      const program = build({ threads: 2, relaxed });
      for (const each of [oracle, program]) {
        each.resize(size);
        for (const name of names) fill(each.input(name), name, `${size.inner}`, outcome);
      }
      const adjoint = Float64Array.from({ length: size.outer }, (_, b) => 1 - 0.3 * b);
      oracle.run(adjoint);
      program.run(adjoint);
      for (let b = 0; b < size.outer; b++) {
        expect(Math.abs(program.value[b] - oracle.value[b])).toBeLessThan(
          2e-5 * (1 + Math.abs(oracle.value[b])),
        );
      }
      for (const name of gradients) {
        const expected = oracle.gradient(name);
        const actual = program.gradient(name);
        expect(actual.length).toBe(expected.length);
        const scale = largest(expected);
        const difference = largest(Array.from(actual, (value, i) => value - expected[i]));
        expect(difference, `gradient in ${name}`).toBeLessThan(1e-4 * scale + 1e-12);
      }
      program.dispose();
    }
    oracle.dispose();
  });

  test("gives the same bits on any number of threads", () => {
    const results = [1, 2, 3].map((threads) => {
      const program = build({ threads });
      program.resize({ outer: 9, inner: 301, observation: 4 });
      for (const name of names) fill(program.input(name), name, "threads", outcome);
      for (let repeat = 0; repeat < 20; repeat++) program.run();
      const all = [[...program.value], ...gradients.map((name) => [...program.gradient(name)])];
      program.dispose();
      return all;
    });
    expect(results[1]).toEqual(results[0]);
    expect(results[2]).toEqual(results[0]);
  });

  test("the float64 gradient is the derivative of the value", () => {
    const program = build({ backend: "js" });
    program.resize({ outer: 2, inner: 5, observation: 3 });
    for (const name of names) fill(program.input(name), name, "difference", outcome);
    program.run();
    const total = () => {
      program.run();
      return program.value.reduce((sum, value) => sum + value, 0);
    };
    for (const name of gradients) {
      const analytic = [...program.gradient(name)];
      analytic.forEach((derivative, i) => {
        const array = program.input(name);
        const x = array[i];
        const h = 1e-5;
        array[i] = x + h;
        const above = total();
        array[i] = x - h;
        const below = total();
        array[i] = x;
        const difference = (above - below) / (2 * h);
        expect(Math.abs(difference - derivative)).toBeLessThan(1e-4 * (1 + Math.abs(derivative)));
      });
    }
  });
});

describe("numerical edges", () => {
  const gaussian = ({ y, mean, x }: Values) => mul(-0.5, square(div(sub(y, exp(add(mean, x))), 1e-3)));
  const inputs = { y: BATCH, mean: ["inner"], x: ["observation"] } as const;

  test("a sharp likelihood leaves the matrix-product form and keeps its digits", () => {
    const run = (backend: "js" | "wasm") => {
      const program = compileLogMeanExp(gaussian, { inputs, gradients: ["x"], backend });
      program.resize({ outer: 3, inner: 64, observation: 2 });
      program.input("mean").forEach((_, s, mean) => {
        mean[s] = Math.fround(s / 32);
      });
      program.input("y").forEach((_, i, y) => {
        y[i] = Math.fround(Math.exp(0.5 + i / 16) + 1e-3);
      });
      program.run();
      const result = [...program.value, ...program.gradient("x")];
      program.dispose();
      return result;
    };
    const [expected, actual] = [run("js"), run("wasm")];
    expected.forEach((value, i) => {
      expect(Math.abs(actual[i] - value)).toBeLessThan(2e-3 * Math.abs(value) + 1e-2);
    });
  });

  test("log-likelihoods far below the range of exp do not underflow", () => {
    const program = compileLogMeanExp(({ y, mean }: Values) => neg(mul(1e4, square(sub(y, mean)))), {
      inputs: { y: BATCH, mean: ["inner"] },
    });
    program.resize({ outer: 1, inner: 6, observation: 1 });
    program.input("mean").set([5, 4, 3, 2, 1.5, 1]);
    program.run();
    expect(program.value[0]).toBeCloseTo(-1e4 - Math.log(6), 1);
    program.dispose();
  });

  test("NaN in an input comes out as NaN and not as a number", () => {
    for (const backend of ["js", "wasm"] as const) {
      const program = compileLogMeanExp(location, { ...cases[0], gradients: ["x1"], backend });
      program.resize({ outer: 2, inner: 8, observation: 2 });
      program.input("x1")[1] = Number.NaN;
      program.run();
      expect(program.value[0]).toBeNaN();
      program.dispose();
    }
  });
});

describe("mistakes", () => {
  const inputs = { y: BATCH, mean: ["inner"] } as const;
  const likelihood = ({ y, mean }: Values) => neg(square(sub(y, mean)));

  test("are named in one sentence", () => {
    expect(() => compileLogMeanExp(likelihood, { inputs: { ...inputs, mean: ["sample"] } })).toThrow(
      planTexts.axis("mean", "sample"),
    );
    expect(() =>
      compileLogMeanExp(likelihood, { inputs: { ...inputs, mean: ["inner", "observation"] } }),
    ).toThrow(planTexts.both("mean"));
    const program = compileLogMeanExp(likelihood, { inputs });
    expect(() => program.run()).toThrow(programTexts.unsized);
    expect(() => program.input("y")).toThrow(programTexts.unsized);
    expect(() => program.resize({ outer: 0, inner: 1, observation: 1 })).toThrow(
      programTexts.size("outer", 0),
    );
    program.resize({ outer: 2, inner: 1, observation: 1 });
    expect(() => program.gradient("mean")).toThrow(programTexts.noGradient("mean", []));
    expect(() => program.run([1])).toThrow(programTexts.adjoint(1, 2));
    program.dispose();
    program.dispose();
    expect(() => program.value).toThrow(programTexts.disposed);
    expect(() => program.resize({ outer: 1, inner: 1, observation: 1 })).toThrow(programTexts.disposed);
  });
});
