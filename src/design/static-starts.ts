/** Where static designs begin: spread over where the prior has the parameters, or over the bounds. */
import type { RandomStream } from "../core/random.js";
import { powerOfTwo, priorReach } from "./design-scale.js";
import type { Model } from "./model.js";
import { nearestAllowed } from "./policy.js";

/** The middle and spread of where a design variable may matter: its bounds, or where the target's prior is. */
export interface Reach {
  readonly middle: number;
  /** A power of two, so that scaling by it rounds nothing and a checkpoint holds a run exactly. */
  readonly spread: number;
}

/** One for each design variable. */
export const reachOf = (model: Model, stream: RandomStream): readonly Reach[] => {
  const { mean, spread } = priorReach(model, stream);
  return model.design.map(({ low, high }) =>
    Number.isFinite(low) && Number.isFinite(high)
      ? { middle: (low + high) / 2, spread: powerOfTwo((high - low) / 4) }
      : { middle: mean, spread: powerOfTwo(spread) },
  );
};

/** A design [variables] near a centre, `width` spreads wide; a variable with values takes any of them. */
export const drawPlace = (
  model: Model,
  reach: readonly Reach[],
  stream: RandomStream,
  centre: readonly number[],
  width: number,
): number[] =>
  model.design.map((variable, d) =>
    variable.values !== undefined
      ? variable.values[stream.integer(variable.values.length)]
      : nearestAllowed(variable, centre[d] + width * reach[d].spread * stream.normal()),
  );

/** Designs are drawn around the middle this many spreads wide. */
export const ANYWHERE = 2;
/** Together around some place or all over. */
const WIDTHS = [0.3, 0.8, 1.5, 2.5];

/** Designs [horizon, variables] to begin at: from all over the reach, or from N(mean, sd^2) in every variable. */
export const drawStart = (
  model: Model,
  reach: readonly Reach[],
  horizon: number,
  stream: RandomStream,
  start: { readonly mean: number; readonly sd: number } | undefined,
): number[] => {
  if (start !== undefined) {
    const { mean, sd } = start;
    return Array.from({ length: horizon }, () =>
      model.design.map((variable) => nearestAllowed(variable, stream.normal(mean, sd))),
    ).flat();
  }
  const middle = reach.map((each) => each.middle);
  const centre = drawPlace(model, reach, stream, middle, ANYWHERE);
  const width = WIDTHS[stream.integer(WIDTHS.length)];
  return Array.from({ length: horizon }, () => drawPlace(model, reach, stream, centre, width)).flat();
};
