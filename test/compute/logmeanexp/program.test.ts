import { describe, expect, test } from "vitest";
import { backendTexts } from "../../../src/compute/backend.js";
import type { Value } from "../../../src/compute/graph/expression.js";
import {
  add,
  div,
  equal,
  exp,
  lgamma,
  log,
  log1p,
  max,
  mul,
  neg,
  select,
  sigmoid,
  softplus,
  square,
  sub,
  sum,
} from "../../../src/compute/graph/operations.js";
import { planTexts } from "../../../src/compute/logmeanexp/plan.js";
import { compileLogMeanExp, programTexts } from "../../../src/compute/logmeanexp/program.js";
import { seededStream } from "../../../src/core/random.js";

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
    name: "a choice by the outcome, which does not vary with the inner sample",
    likelihood: ({ y, theta, x }: Values) =>
      sub(select(equal(y, 1), mul(theta, x), select(equal(y, 2), neg(theta), 0)), softplus(mul(theta, x))),
    inputs: { y: BATCH, theta: ["inner"], x: BATCH },
    gradients: ["theta", "x"],
    outcome: (u) => (u > 0.5 ? 2 : u > -0.5 ? 1 : 0),
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
  const stream = seededStream(seed).split(name);
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

  test.each(["js", "wasm"] as const)("an input whose list is reversed is read transposed (%s)", (backend) => {
    const size = { outer: 3, inner: 5, observation: 4 };
    const other = Object.fromEntries(names.toReversed().map((name) => [name, inputs[name].toReversed()]));
    const [one, two] = [inputs, other].map((own) => {
      const program = compileLogMeanExp(likelihood, { inputs: own, gradients, backend, threads: 1 });
      program.resize(size);
      return program;
    });
    /** The place of every element of an input in the array of the reversed list. */
    const places = (name: string) => {
      const [outside, inside] = inputs[name].map((axis) => size[axis as keyof typeof size]);
      if (inside === undefined) return Array.from({ length: outside ?? 1 }, (_, i) => i);
      return Array.from(
        { length: outside * inside },
        (_, i) => (i % inside) * outside + Math.floor(i / inside),
      );
    };
    for (const name of names) {
      const given = one.input(name);
      fill(given, name, "reversed", outcome);
      const turned = two.input(name);
      places(name).forEach((place, i) => {
        turned[place] = given[i];
      });
    }
    const adjoint = [1, -0.5, 2];
    for (const program of [one, two]) program.run(adjoint);
    const bound = backend === "js" ? 1e-12 : 1e-4;
    for (let b = 0; b < size.outer; b++) {
      expect(Math.abs(two.value[b] - one.value[b])).toBeLessThanOrEqual(bound * (1 + Math.abs(one.value[b])));
    }
    for (const name of gradients) {
      const expected = one.gradient(name);
      const turned = two.gradient(name);
      const difference = places(name).map((place, i) => turned[place] - expected[i]);
      expect(largest(difference), `gradient in ${name}`).toBeLessThan(bound * largest(expected) + 1e-12);
    }
    for (const program of [one, two]) program.dispose();
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

describe("both forms and both backends say the same", () => {
  const run = (
    likelihood: (values: Values) => Value,
    inputs: Inputs,
    sizes: { outer: number; inner: number; observation: number },
    data: Readonly<Record<string, (i: number) => number>>,
    gradients: readonly string[] = [],
  ) =>
    (["js", "wasm"] as const).map((backend) => {
      const program = compileLogMeanExp(likelihood, { inputs, gradients, backend });
      program.resize(sizes);
      for (const [name, value] of Object.entries(data)) {
        program.input(name).forEach((_, i, array) => {
          array[i] = Math.fround(value(i));
        });
      }
      program.run();
      const result = [...program.value, ...gradients.flatMap((name) => [...program.gradient(name)])];
      program.dispose();
      return result;
    });
  const close = ([expected, actual]: number[][], tolerance = 1e-4) => {
    expected.forEach((value, i) => {
      if (Number.isFinite(value))
        expect(Math.abs(actual[i] - value)).toBeLessThan(tolerance * (1 + Math.abs(value)));
      else expect(actual[i]).toBe(value);
    });
  };

  test.each([1, 30, 300])("a product of two differences, outcomes of size %d", (size) => {
    const likelihood = ({ y, w, theta, x }: Values) => mul(sub(y, exp(theta)), sub(w, mul(x, exp(theta))));
    const inputs = { y: BATCH, w: BATCH, theta: ["inner"], x: ["observation"] };
    const sign = (i: number) => (i % 2 === 0 ? 1 : -1);
    const data = {
      theta: (i: number) => i / 10,
      x: (i: number) => sign(i) * (i + 1),
      y: () => size,
      w: (i: number) => sign(i) * size,
    };
    const [[expected], [actual]] = run(likelihood, inputs, { outer: 1, inner: 4, observation: 4 }, data);
    // What float32 has of terms of this size.
    expect(Math.abs(actual - expected)).toBeLessThan(1e-5 * Math.abs(expected) + 1e-6 * size ** 2);
  });

  test("a run depends on its inputs alone, and not on the form that an earlier one took", () => {
    const program = compileLogMeanExp(location, { ...cases[1], gradients: ["y", "x1"] });
    program.resize({ outer: 3, inner: 40, observation: 4 });
    const runWith = (scale: number) => {
      for (const name of Object.keys(cases[1].inputs)) fill(program.input(name), name, "history");
      program.input("y").forEach((value, i, array) => {
        array[i] = scale * value;
      });
      program.run();
      return [...program.value, ...program.gradient("y"), ...program.gradient("x1")];
    };
    const before = runWith(1);
    expect(Math.abs(runWith(30)[0])).toBeGreaterThan(1024); // far beyond what the matrix product is for
    expect(runWith(1)).toEqual(before);
    program.dispose();
  });

  test("inputs may have any names", () => {
    const likelihood = (at: Values) =>
      mul(-0.5, square(sub(at["slot 0"], exp(mul(at["#0"], at["stand-in 5"])))));
    const inputs = { "slot 0": BATCH, "#0": ["inner"], "stand-in 5": ["observation"] };
    const data = {
      "slot 0": (i: number) => 1 + i / 7,
      "#0": (i: number) => i / 9,
      "stand-in 5": (i: number) => 1 - i,
    };
    close(run(likelihood, inputs, { outer: 2, inner: 5, observation: 3 }, data, ["stand-in 5"]));
  });

  test("a hundred parameters with rows that do not fill a vector", () => {
    const names = Array.from({ length: 100 }, (_, k) => `p${k}`);
    const likelihood = (at: Values) =>
      names
        .map((name) => square(sub(at.y, at[name])))
        .reduce((sum, term) => sub(sum, mul(0.01, term)), 0 as Value);
    for (const axes of [["inner"], ["outer", "inner"]]) {
      const inputs = { y: BATCH, ...Object.fromEntries(names.map((name) => [name, axes])) };
      const data = Object.fromEntries(names.map((name, k) => [name, (i: number) => Math.sin(k + i)]));
      close(
        run(likelihood, inputs, { outer: 2, inner: 7, observation: 2 }, { ...data, y: () => 0.5 }, ["p99"]),
      );
    }
  });

  test("an infinite derivative at a sample that weighs nothing counts as nothing", () => {
    const likelihood = ({ y, theta }: Values) => log(max(0, sub(y, theta)));
    for (const axes of [["inner"], ["outer", "inner"]]) {
      const data = { y: () => 1, theta: (i: number) => i % 2 };
      const results = run(
        likelihood,
        { y: BATCH, theta: axes },
        { outer: 1, inner: 2, observation: 1 },
        data,
        ["y", "theta"],
      );
      expect(results[0]).toEqual([Math.log(0.5), 1, -1, 0]);
      close(results);
    }
  });

  test("a gradient that is asked for twice is given once", () => {
    const likelihood = ({ y, theta }: Values) => neg(square(sub(y, theta)));
    for (const backend of ["js", "wasm"] as const) {
      const program = compileLogMeanExp(likelihood, {
        inputs: { y: BATCH, theta: ["inner"] },
        gradients: ["y", "y"],
        backend,
      });
      program.resize({ outer: 1, inner: 1, observation: 1 });
      program.input("y")[0] = 1;
      program.run();
      expect(program.gradient("y")[0]).toBeCloseTo(-2, 6);
      program.dispose();
    }
  });

  test("infinite and missing densities", () => {
    const likelihood = ({ y, theta }: Values) => add(y, theta);
    const inputs = { y: BATCH, theta: ["inner"] };
    const at = (values: readonly number[]) =>
      run(
        likelihood,
        inputs,
        { outer: 1, inner: values.length, observation: 1 },
        { theta: (i) => values[i] },
      );
    for (const [expected, actual] of [
      at([Infinity, 0]),
      at([-Infinity, -Infinity]),
      at([Number.NaN, -Infinity]),
    ]) {
      expect(actual).toEqual(expected);
    }
    expect(at([Infinity, 0])[0]).toEqual([Infinity]);
  });

  test("expanding products ends soon", () => {
    let nested: Value = 0;
    const likelihood = ({ y, theta, x }: Values) => {
      nested = sub(y, exp(mul(theta, x)));
      for (let k = 0; k < 8; k++) nested = square(nested);
      return neg(nested);
    };
    const started = performance.now();
    compileLogMeanExp(likelihood, { inputs: { y: BATCH, theta: ["inner"], x: ["observation"] } }).dispose();
    // Seconds without the limit on the way; this is no measurement of speed.
    expect(performance.now() - started).toBeLessThan(5000);
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
    expect(() => compileLogMeanExp(() => ({ a: 1 }), { inputs })).toThrow(planTexts.single);
    expect(() => compileLogMeanExp(({ y }: Values) => sum("inner", y), { inputs })).toThrow(
      planTexts.reduction,
    );
    expect(() => compileLogMeanExp(likelihood, { inputs, backend: "gpu" as "js" })).toThrow(
      backendTexts.unknown("gpu"),
    );
    expect(() => compileLogMeanExp(likelihood, { inputs, gradients: ["toString" as "y"] })).toThrow(
      planTexts.unknownGradient("toString", ["y", "mean"]),
    );
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
