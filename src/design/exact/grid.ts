/**
 * Grids over parameters: the trapezoidal rule in base noise z ~ N(0, 1), from which a parameter follows by its prior's
 * formula, or the values of a parameter that has finitely many. For integrands that are smooth on the scale of the
 * spacing, the error of the rule falls off exponentially as the spacing shrinks.
 */

import type { Value } from "../../compute/index.js";
import { exp, log } from "../../core/math.js";
import type { Distribution } from "../distribution.js";
import type { Model } from "../model.js";
import { trialOf } from "../priors.js";

/** A grid over one parameter: base noise or values, and their log weights. */
export interface Axis {
  readonly name: string;
  readonly points: Float64Array;
  readonly logWeights: Float64Array;
  /** Whether the points are base noise. */
  readonly noise: boolean;
}

/** Of the prior, 2e-9 is beyond. */
const REACH = 6;

/** On a grid a discrete parameter has its values, not numbers that they follow from. */
export const asIs = (_: Distribution, value: Value): Value => value;

/** Whether a prior can be put on a grid. */
export const onGrid = ({ noise, support }: Distribution): boolean =>
  noise?.kind === "normal" || support !== undefined;

/** Whether a parameter takes values in a continuum, so that its grid has a spacing. */
export const isContinuous = (model: Model, name: string): boolean =>
  trialOf(model, name).support === undefined;

/** A grid of `size` points over a parameter. Weights of a dependent discrete prior are left to the caller: 0 here. */
export const axisOf = (model: Model, name: string, size: number): Axis => {
  const prior = model.parameters.find((each) => each.name === name)?.prior;
  const distribution = trialOf(model, name);
  const { support } = distribution;
  if (support !== undefined) {
    const independent = typeof prior !== "function";
    return {
      name,
      noise: false,
      points: Float64Array.from(support),
      logWeights: Float64Array.from(support, (value) =>
        independent ? (distribution.logDensity(value) as number) : 0,
      ),
    };
  }
  const points = Float64Array.from({ length: size }, (_, i) => -REACH + (2 * REACH * i) / (size - 1));
  const unnormalised = points.map((z) => -0.5 * z * z);
  const total = log(unnormalised.reduce((sum, value) => sum + exp(value), 0));
  return { name, noise: true, points, logWeights: unnormalised.map((value) => value - total) };
};

/** All combinations of the points of the axes: by name [points], and the log weight of each. */
export const tensor = (
  axes: readonly Axis[],
): { readonly points: Readonly<Record<string, Float64Array>>; readonly logWeights: Float64Array } => {
  const count = axes.reduce((product, { points }) => product * points.length, 1);
  const logWeights = new Float64Array(count);
  const points: Record<string, Float64Array> = {};
  let stride = count;
  for (const axis of axes) {
    const { length } = axis.points;
    stride /= length;
    const values = new Float64Array(count);
    for (let i = 0; i < count; i++) {
      const at = Math.floor(i / stride) % length;
      values[i] = axis.points[at];
      logWeights[i] += axis.logWeights[at];
    }
    points[axis.name] = values;
  }
  return { points, logWeights };
};
