/**
 * Minimisation with limited memory: L-BFGS (Nocedal and Wright, algorithm 7.5) with a strong-Wolfe line search.
 *
 * With bounds, coordinates that a bound holds are left out of the quasi-Newton direction and the line search walks the
 * projected path (Bertsekas' two-metric projection).
 */
import { InputError } from "../core/errors.js";
import { type Found, lineSearch } from "./lbfgs/line-search.js";
import { type Bounds, isHeld, type Objective, type PathPoint, pathPoint, walk } from "./lbfgs/path.js";

export type { Bounds, Objective } from "./lbfgs/path.js";

export interface MinimiseOptions {
  /** How many past steps shape the direction (10). */
  readonly memory?: number | undefined;
  /** Stops after this many steps (1000). */
  readonly maxSteps?: number | undefined;
  /** Stops once no entry of the (projected) gradient is larger than this (1e-7). */
  readonly tolerance?: number | undefined;
  /** Stops once ten steps together lowered f by less than this times max(1, |f|) (1e-12). */
  readonly leastDecrease?: number | undefined;
  readonly bounds?: Bounds | undefined;
}

/**
 * Why it stopped. "gradient": at a stationary point; "decrease": hardly any progress; "line-search": no step along the
 * gradient lowers f, at a kink or at the limit of float64; "steps": there were no steps left.
 */
export type StopReason = "gradient" | "decrease" | "line-search" | "steps";

export interface Minimum {
  readonly x: Float64Array;
  readonly value: number;
  readonly gradient: Float64Array;
  readonly steps: number;
  readonly evaluations: number;
  readonly reason: StopReason;
}

/** Where a minimisation stands after a piece of work: `steps` grow by 1 with every step, which may be several pieces. */
export interface MinimiseProgress {
  readonly steps: number;
  readonly value: number;
  /** Only until the next step. */
  readonly x: Float64Array;
}

export const minimiseTexts = {
  option: (name: string, given: unknown, expected: string) =>
    `the minimisation's ${name} was ${String(given)}: give ${expected}`,
  bounds: (lower: number, upper: number, parameters: number) =>
    `there are ${lower} lower and ${upper} upper bounds for ${parameters} parameters: give one of each for every parameter, infinite where there is none`,
  empty: (i: number, lower: number, upper: number) =>
    `parameter ${i} is bounded by ${lower} and ${upper}: give a lower bound that is not above the upper one`,
  start: (value: number) =>
    `the objective is ${value} at the start, or its gradient is not finite there: start where both are finite`,
};

/** Steps over which progress is judged: a single short step says little. */
const WINDOW = 10;

/** x(i + 1) - x(i) and the same of the gradients. */
interface Pair {
  readonly s: Float64Array;
  readonly y: Float64Array;
}

/** a . b over the free coordinates. */
const dot = (a: Float64Array, b: Float64Array, free: Uint8Array): number => {
  let sum = 0;
  for (let i = 0; i < a.length; i++) if (free[i] === 1) sum += a[i] * b[i];
  return sum;
};

const addScaled = (to: Float64Array, factor: number, from: Float64Array, free: Uint8Array): void => {
  for (let i = 0; i < to.length; i++) if (free[i] === 1) to[i] += factor * from[i];
};

/** -H g over the free coordinates and 0 elsewhere, by the two-loop recursion; false where no pair was of use. */
const quasiNewton = (
  gradient: Float64Array,
  pairs: readonly Pair[],
  free: Uint8Array,
  out: Float64Array,
): boolean => {
  for (let i = 0; i < out.length; i++) out[i] = free[i] === 1 ? -gradient[i] : 0;
  const alphas: number[] = [];
  const curvatures = pairs.map(({ s, y }) => dot(s, y, free));
  let scale: number | undefined;
  for (let j = pairs.length - 1; j >= 0; j--) {
    const { s, y } = pairs[j];
    const square = dot(y, y, free);
    // Positive over all coordinates is not always positive over the free ones.
    if (!(curvatures[j] > Number.EPSILON * square)) {
      alphas[j] = Number.NaN;
      continue;
    }
    scale ??= curvatures[j] / square;
    alphas[j] = dot(s, out, free) / curvatures[j];
    addScaled(out, -alphas[j], y, free);
  }
  if (scale === undefined) return false;
  for (let i = 0; i < out.length; i++) out[i] *= scale;
  pairs.forEach(({ s, y }, j) => {
    if (Number.isNaN(alphas[j])) return;
    addScaled(out, alphas[j] - dot(y, out, free) / curvatures[j], s, free);
  });
  return true;
};

const requireOption = (right: boolean, name: string, given: unknown, expected: string): void => {
  if (!right) throw new InputError("minimise-option", minimiseTexts.option(name, given, expected));
};

const requireBounds = ({ lower, upper }: Bounds, size: number): void => {
  if (lower.length !== size || upper.length !== size)
    throw new InputError("shape", minimiseTexts.bounds(lower.length, upper.length, size));
  lower.forEach((low, i) => {
    if (!(low <= upper[i])) throw new InputError("bounds", minimiseTexts.empty(i, low, upper[i]));
  });
};

/** Marks what may move, and returns the largest entry of the gradient there. */
const findFree = ({ x, gradient }: PathPoint, bounds: Bounds | undefined, free: Uint8Array): number => {
  let largest = 0;
  for (let i = 0; i < x.length; i++) {
    free[i] = isHeld(x[i], -gradient[i], i, bounds) ? 0 : 1;
    if (free[i] === 1) largest = Math.max(largest, Math.abs(gradient[i]));
  }
  return largest;
};

const slopeOf = ({ x, gradient }: PathPoint, direction: Float64Array, bounds: Bounds | undefined): number => {
  let slope = 0;
  for (let i = 0; i < x.length; i++)
    if (!isHeld(x[i], direction[i], i, bounds)) slope += gradient[i] * direction[i];
  return slope;
};

const sizeOf = (vector: Float64Array): number => Math.sqrt(vector.reduce((sum, v) => sum + v * v, 0));

/** {@link minimise}, step by step: a caller that must let go of the thread now and then walks it itself. */
export function* minimiseSteps(
  objective: Objective,
  start: Float64Array,
  options: MinimiseOptions = {},
): Generator<MinimiseProgress, Minimum> {
  const { memory = 10, maxSteps = 1000, tolerance = 1e-7, leastDecrease = 1e-12, bounds } = options;
  requireOption(Number.isInteger(memory) && memory >= 1, "memory", memory, "a whole number of at least 1");
  requireOption(
    Number.isInteger(maxSteps) && maxSteps >= 0,
    "maxSteps",
    maxSteps,
    "a whole number of at least 0",
  );
  requireOption(tolerance >= 0, "tolerance", tolerance, "a number of at least 0");
  requireOption(leastDecrease >= 0, "leastDecrease", leastDecrease, "a number of at least 0");
  if (bounds !== undefined) requireBounds(bounds, start.length);

  const size = start.length;
  const free = new Uint8Array(size);
  const direction = new Float64Array(size);
  let pairs: Pair[] = [];
  let point = pathPoint(size);
  let room: readonly [PathPoint, PathPoint] = [pathPoint(size), pathPoint(size)];
  point.x.set(start);
  walk(objective, { ...point, x: start }, direction, 0, bounds, point);
  if (!Number.isFinite(point.value) || !point.gradient.every(Number.isFinite))
    throw new InputError("start", minimiseTexts.start(point.value));
  let evaluations = 1;
  const values = [point.value];
  let steps = 0;
  let reason: StopReason | undefined;
  while (reason === undefined) {
    if (findFree(point, bounds, free) <= tolerance) reason = "gradient";
    else if (steps >= WINDOW && isStalled(values, leastDecrease)) reason = "decrease";
    else if (steps === maxSteps) reason = "steps";
    if (reason !== undefined) break;

    const shaped = quasiNewton(point.gradient, pairs, free, direction);
    point.slope = slopeOf(point, direction, bounds);
    const descends = point.slope < 0;
    const found = descends ? yield* searchFrom(shaped) : { point: undefined, evaluations: 0 };
    evaluations += found.evaluations;
    if (found.point === undefined) {
      // What was remembered misleads, or there is no way down: the gradient alone tells which.
      if (pairs.length === 0) reason = "line-search";
      pairs = [];
      continue;
    }
    const forgotten = pairs.length === memory ? pairs.shift() : undefined;
    pairs.push(pairOf(point, found.point, forgotten ?? emptyPair(size)));
    room = [point, found.point === room[0] ? room[1] : room[0]];
    point = found.point;
    steps++;
    values.push(point.value);
    if (values.length > WINDOW + 1) values.shift();
    yield { steps, value: point.value, x: point.x };
  }
  return { x: point.x, value: point.value, gradient: point.gradient, steps, evaluations, reason };

  /** The line search, of which every evaluation is a piece of work: each may take long. */
  function* searchFrom(shaped: boolean): Generator<MinimiseProgress, Found> {
    const first = shaped ? 1 : Math.min(1, 1 / sizeOf(direction));
    const search = lineSearch(objective, point, direction, first, bounds, room);
    for (;;) {
      const { done, value } = search.next();
      if (done === true) return value;
      yield { steps, value: point.value, x: point.x };
    }
  }
}

const isStalled = (values: readonly number[], leastDecrease: number): boolean => {
  const last = values[values.length - 1];
  return values[0] - last < leastDecrease * Math.max(1, Math.abs(last));
};

const emptyPair = (size: number): Pair => ({ s: new Float64Array(size), y: new Float64Array(size) });

/** Written into `pair`, which is no longer needed: new arrays at every step would cost more than the arithmetic. */
const pairOf = (from: PathPoint, to: PathPoint, pair: Pair): Pair => {
  for (let i = 0; i < pair.s.length; i++) {
    pair.s[i] = to.x[i] - from.x[i];
    pair.y[i] = to.gradient[i] - from.gradient[i];
  }
  return pair;
};

/** The x that (locally) minimises the objective, from `start`, projected onto the bounds. */
export const minimise = (
  objective: Objective,
  start: Float64Array,
  options: MinimiseOptions = {},
): Minimum => {
  const walkthrough = minimiseSteps(objective, start, options);
  for (;;) {
    const { done, value } = walkthrough.next();
    if (done === true) return value;
  }
};
