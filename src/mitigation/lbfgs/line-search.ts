/**
 * A step that meets the strong Wolfe conditions, by bracketing and then zooming with cubic interpolation (Nocedal and
 * Wright, Numerical Optimization, algorithms 3.5 and 3.6):
 *
 *     phi(a) <= phi(0) + C1 a phi'(0)   and   |phi'(a)| <= C2 |phi'(0)|.
 */
import { type Bounds, type Objective, type PathPoint, walk } from "./path.js";

const C1 = 1e-4;
const C2 = 0.9;
/** Evaluations after which the lowest point so far is taken. */
const MOST_EVALUATIONS = 25;
const LONGEST_STEP = 1e10;

/** One end of a bracket. */
interface End {
  readonly step: number;
  readonly value: number;
  readonly slope: number;
}

export interface Found {
  /** The accepted point, or undefined where no step lowered the objective. */
  readonly point: PathPoint | undefined;
  readonly evaluations: number;
}

/** The minimum of the cubic through both ends, kept a tenth of the bracket away from them; else its middle. */
const interpolate = (a: End, b: End): number => {
  const middle = (a.step + b.step) / 2;
  if (!Number.isFinite(a.value) || !Number.isFinite(b.value)) return middle;
  const d1 = a.slope + b.slope - (3 * (a.value - b.value)) / (a.step - b.step);
  const square = d1 * d1 - a.slope * b.slope;
  if (!(square >= 0)) return middle;
  const d2 = Math.sign(b.step - a.step) * Math.sqrt(square);
  const step = b.step - ((b.step - a.step) * (b.slope + d2 - d1)) / (b.slope - a.slope + 2 * d2);
  const margin = 0.1 * Math.abs(b.step - a.step);
  const [low, high] = a.step < b.step ? [a.step, b.step] : [b.step, a.step];
  return step >= low + margin && step <= high - margin ? step : middle;
};

/**
 * Searches along `direction`, a direction of descent, from `from` (whose slope is that of the direction). Where the
 * objective has a kink along the path, no step need meet the second condition: the lowest point found that meets the
 * first is then taken. The point it gives is one of the two in `room`. A piece of work is one evaluation.
 */
export function* lineSearch(
  objective: Objective,
  from: PathPoint,
  direction: Float64Array,
  firstStep: number,
  bounds: Bounds | undefined,
  room: readonly [PathPoint, PathPoint],
): Generator<unknown, Found> {
  let [trial, lowest] = room;
  let evaluations = 0;
  let low: End = { step: 0, value: from.value, slope: from.slope };
  let high: End | undefined;
  let step = firstStep;
  while (evaluations < MOST_EVALUATIONS) {
    if (evaluations > 0) yield;
    walk(objective, from, direction, step, bounds, trial);
    evaluations++;
    const falls = trial.value <= from.value + C1 * Math.min(0, trial.promised) && trial.promised < 0;
    if (!falls || trial.value >= low.value) {
      high = { step, value: trial.value, slope: trial.slope };
    } else {
      if (Math.abs(trial.slope) <= -C2 * from.slope) return { point: trial, evaluations };
      const forward = high === undefined || high.step > low.step;
      // The minimum lies between this point and `low` where the slope here leads back to it.
      if (forward ? trial.slope >= 0 : trial.slope <= 0) high = low;
      low = { step, value: trial.value, slope: trial.slope };
      [lowest, trial] = [trial, lowest];
      if (high === undefined) {
        if (step >= LONGEST_STEP) break;
        step = Math.min(LONGEST_STEP, 2 * step);
        continue;
      }
    }
    step = interpolate(low, high);
    // Nothing lies between the ends any more.
    if (step === low.step || step === high.step) break;
  }
  return { point: low.step > 0 ? lowest : undefined, evaluations };
}
