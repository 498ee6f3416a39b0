/**
 * The path x(a) = P(x + a d) that a line search walks: a straight line, bent where P keeps it within bounds.
 *
 * Along it phi(a) = f(x(a)), and phi'(a) = g(x(a)) . d without the coordinates that are held at a bound.
 */

/** f(x); writes its gradient. Both arrays have x's length, and x must be left as it is. */
export type Objective = (x: Float64Array, gradient: Float64Array) => number;

/** lower[i] <= x[i] <= upper[i]; infinite where there is no bound. */
export interface Bounds {
  readonly lower: Float64Array;
  readonly upper: Float64Array;
}

/** A point of the path with what is known there. */
export interface PathPoint {
  /** a. */
  step: number;
  readonly x: Float64Array;
  readonly gradient: Float64Array;
  /** phi(a), or infinite where the objective has no finite value or gradient. */
  value: number;
  /** phi'(a). */
  slope: number;
  /** g(x(0)) . (x(a) - x(0)): the change that the gradient at the start promises; a phi'(0) on a straight line. */
  promised: number;
}

export const pathPoint = (size: number): PathPoint => ({
  step: 0,
  x: new Float64Array(size),
  gradient: new Float64Array(size),
  value: Number.POSITIVE_INFINITY,
  slope: 0,
  promised: 0,
});

/** A step that ends at a bound but for rounding ends at the bound: else the next one has no room left to go. */
const AT_BOUND = 4 * Number.EPSILON;

const within = (to: number, lower: number, upper: number): number => {
  const slack = AT_BOUND * Math.max(1, Math.abs(to));
  if (to >= upper - slack) return upper;
  return to <= lower + slack ? lower : to;
};

/** Puts `point` at x(step) and evaluates the objective there. */
export const walk = (
  objective: Objective,
  from: PathPoint,
  direction: Float64Array,
  step: number,
  bounds: Bounds | undefined,
  point: PathPoint,
): void => {
  const { x, gradient } = point;
  let promised = 0;
  for (let i = 0; i < x.length; i++) {
    let to = from.x[i] + step * direction[i];
    if (bounds !== undefined) to = within(to, bounds.lower[i], bounds.upper[i]);
    promised += from.gradient[i] * (to - from.x[i]);
    x[i] = to;
  }
  let value = objective(x, gradient);
  let slope = 0;
  for (let i = 0; i < x.length; i++) {
    if (!isHeld(x[i], direction[i], i, bounds)) slope += gradient[i] * direction[i];
  }
  if (!Number.isFinite(value) || !Number.isFinite(slope)) value = Number.POSITIVE_INFINITY;
  point.step = step;
  point.value = value;
  point.slope = slope;
  point.promised = promised;
};

/** Whether a bound stops coordinate i at x from moving in this direction. */
export const isHeld = (x: number, direction: number, i: number, bounds: Bounds | undefined): boolean =>
  bounds !== undefined &&
  ((direction < 0 && x <= bounds.lower[i]) || (direction > 0 && x >= bounds.upper[i]));
