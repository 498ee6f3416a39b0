import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InputError } from "../../src/core/errors.js";
import { unpaced } from "../../src/core/options.js";
import { lineSearch } from "../../src/mitigation/lbfgs/line-search.js";
import { pathPoint, walk } from "../../src/mitigation/lbfgs/path.js";
import { minimise, minimiseSteps, minimiseTexts, type Objective } from "../../src/mitigation/lbfgs.js";

const rosenbrock: Objective = ([x, y], gradient) => {
  gradient[0] = -2 * (1 - x) - 400 * x * (y - x * x);
  gradient[1] = 200 * (y - x * x);
  return (1 - x) ** 2 + 100 * (y - x * x) ** 2;
};

/** sum_i scale_i (x_i - at_i)^2 / 2, turned so that coordinates depend on each other: the last also sees the sum. */
const quadratic =
  (scales: readonly number[], at: readonly number[], coupling: number): Objective =>
  (x, gradient) => {
    const total = x.reduce((sum, each, i) => sum + each - at[i], 0);
    let value = (coupling * total * total) / 2;
    x.forEach((each, i) => {
      value += (scales[i] * (each - at[i]) ** 2) / 2;
      gradient[i] = scales[i] * (each - at[i]) + coupling * total;
    });
    return value;
  };

const box = (size: number, low: number, high: number) => ({
  lower: new Float64Array(size).fill(low),
  upper: new Float64Array(size).fill(high),
});

describe("minimise", () => {
  it("finds Rosenbrock's minimum from the usual start", () => {
    const found = minimise(rosenbrock, Float64Array.of(-1.2, 1), { tolerance: 1e-10 });
    expect(found.reason).toBe("gradient");
    expect(found.x[0]).toBeCloseTo(1, 9);
    expect(found.x[1]).toBeCloseTo(1, 9);
    expect(found.value).toBeLessThan(1e-18);
    // Published runs need 35 to 45 steps.
    expect(found.steps).toBeLessThan(60);
    expect(found.evaluations).toBeLessThan(90);
  });

  it("finds the minimum of ill-conditioned quadratics", () => {
    const scales = Array.from({ length: 40 }, (_, i) => 10 ** ((3 * i) / 39));
    const at = scales.map((_, i) => Math.sin(i));
    const found = minimise(quadratic(scales, at, 3), new Float64Array(40), {
      tolerance: 1e-9,
      leastDecrease: 0,
    });
    expect(found.reason).toBe("gradient");
    found.x.forEach((x, i) => {
      expect(x).toBeCloseTo(at[i], 8);
    });
  });

  it("stops at bounds, where Rosenbrock's minimum is known", () => {
    const bounds = { lower: Float64Array.of(-2, -2), upper: Float64Array.of(0.5, 2) };
    const found = minimise(rosenbrock, Float64Array.of(-1.2, 1), { bounds, tolerance: 1e-9 });
    expect(found.x[0]).toBe(0.5);
    expect(found.x[1]).toBeCloseTo(0.25, 9);
    expect(found.value).toBeCloseTo(0.25, 12);
    expect(found.reason).toBe("gradient");
  });

  it("meets the conditions of a bounded minimum for any quadratic in a box", () => {
    const entry = fc.double({ min: -3, max: 3, noNaN: true });
    const scale = fc.double({ min: 0.1, max: 50, noNaN: true });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(entry, scale, entry), { minLength: 1, maxLength: 6 }),
        fc.double({ min: 0, max: 5, noNaN: true }),
        (given, coupling) => {
          const size = given.length;
          const objective = quadratic(
            given.map(([, each]) => each),
            given.map(([at]) => at),
            coupling,
          );
          const start = Float64Array.from(given, ([, , from]) => Math.round(100 * from) / 100);
          const found = minimise(objective, start, { bounds: box(size, 0, 1), leastDecrease: 0 });
          found.x.forEach((x, i) => {
            expect(x).toBeGreaterThanOrEqual(0);
            expect(x).toBeLessThanOrEqual(1);
            const g = found.gradient[i];
            if (x > 0) expect(g).toBeLessThan(1e-5);
            if (x < 1) expect(g).toBeGreaterThan(-1e-5);
          });
        },
      ),
      // A step to a bound that rounding stops just short of it.
      { numRuns: 200, examples: [[[[2.874297312910927, 1.8109458038310593, 0]], 0]] },
    );
  });

  it("gets to the bottom of a kink", () => {
    const objective: Objective = ([x, y], gradient) => {
      gradient[0] = Math.sign(x - 0.3) + 0.2 * (x - 0.3);
      gradient[1] = y;
      return Math.abs(x - 0.3) + 0.1 * (x - 0.3) ** 2 + (y * y) / 2;
    };
    const found = minimise(objective, Float64Array.of(2, 1));
    expect(found.x[0]).toBeCloseTo(0.3, 6);
    expect(found.x[1]).toBeCloseTo(0, 3);
    expect(found.reason).not.toBe("steps");
  });

  it("says when the steps are used up, and gives every step on the way", () => {
    const walkthrough = minimiseSteps(rosenbrock, Float64Array.of(-1.2, 1), { maxSteps: 5 });
    const values: number[] = [];
    const steps: number[] = [];
    let next = walkthrough.next();
    for (; next.done !== true; next = walkthrough.next()) {
      values.push(next.value.value);
      steps.push(next.value.steps);
    }
    expect(next.value.reason).toBe("steps");
    expect(next.value.steps).toBe(5);
    expect([...new Set(steps)].filter((step) => step > 0)).toEqual([1, 2, 3, 4, 5]);
    // No piece of work is more than one evaluation, of which the first is at the start.
    expect(values).toHaveLength(next.value.evaluations - 1);
    expect(values).toEqual([...values].sort((a, b) => b - a));
  });

  it("leaves the start as it was, and projects it onto the bounds", () => {
    const start = Float64Array.of(9, -9);
    const found = minimise(quadratic([1, 1], [5, 0.5], 0), start, { bounds: box(2, 0, 1) });
    expect([...start]).toEqual([9, -9]);
    expect(found.x[0]).toBe(1);
    expect(found.x[1]).toBeCloseTo(0.5, 7);
  });

  it("keeps away from where the objective is not finite", () => {
    const objective: Objective = ([x], gradient) => {
      gradient[0] = 1 - 1 / x;
      return x > 0 ? x - Math.log(x) : Number.NaN;
    };
    expect(minimise(objective, Float64Array.of(40)).x[0]).toBeCloseTo(1, 6);
  });

  it("refuses what cannot work", () => {
    const run = (options: object, start = Float64Array.of(1, 1)) => minimise(rosenbrock, start, options);
    const says = (make: () => unknown, text: string) => {
      expect(make).toThrow(InputError);
      expect(make).toThrow(text);
    };
    says(() => run({ memory: 0 }), minimiseTexts.option("memory", 0, "a whole number of at least 1"));
    says(() => run({ maxSteps: 1.5 }), minimiseTexts.option("maxSteps", 1.5, "a whole number of at least 0"));
    says(
      () => run({ tolerance: Number.NaN }),
      minimiseTexts.option("tolerance", Number.NaN, "a number of at least 0"),
    );
    says(
      () => run({ leastDecrease: -1 }),
      minimiseTexts.option("leastDecrease", -1, "a number of at least 0"),
    );
    says(() => run({ bounds: box(3, 0, 1) }), minimiseTexts.bounds(3, 3, 2));
    says(() => run({ bounds: box(2, 1, 0) }), minimiseTexts.empty(0, 1, 0));
    says(() => run({}, Float64Array.of(Number.NaN, 0)), minimiseTexts.start(Number.POSITIVE_INFINITY));
  });
});

describe("lineSearch", () => {
  it("gives a step that meets the strong Wolfe conditions", () => {
    fc.assert(
      fc.property(
        fc.double({ min: -2, max: 2, noNaN: true }),
        fc.double({ min: -1, max: 3, noNaN: true }),
        fc.double({ min: -6, max: 3, noNaN: true }),
        (x, y, exponent) => {
          const from = pathPoint(2);
          walk(rosenbrock, { ...from, x: Float64Array.of(x, y) }, new Float64Array(2), 0, undefined, from);
          fc.pre(Math.hypot(...from.gradient) > 1e-3);
          const direction = from.gradient.map((g) => -g);
          from.slope = -(from.gradient[0] ** 2) - from.gradient[1] ** 2;
          const room = [pathPoint(2), pathPoint(2)] as const;
          const search = lineSearch(rosenbrock, from, direction, 10 ** exponent, undefined, room);
          const { point } = unpaced(search);
          if (point === undefined) throw new Error("no step was found");
          expect(point.value).toBeLessThanOrEqual(from.value + 1e-4 * point.step * from.slope * (1 - 1e-9));
          expect(Math.abs(point.slope)).toBeLessThanOrEqual(0.9 * Math.abs(from.slope));
        },
      ),
      { numRuns: 500 },
    );
  });
});
