/** Designs with the digits that a person can set. */
import { seededStream } from "../core/random.js";
import { momentsOf } from "../core/stats.js";
import type { Model } from "../design/model.js";
import { drawOuter } from "../design/policy.js";
import { decimalsFor, toDecimals } from "./digits.js";

/** A thousandth of the range of a design. */
const OF_A_RANGE = 1000;
const DRAWS = 256;

/**
 * Rounds designs [variables] of a model, each number at the scale of its range: of its bounds, or of where the prior has
 * the parameters. Rounding never leaves the bounds, and values among which a design is chosen stay as they are.
 */
export const designRounder = (model: Model): ((design: readonly number[]) => readonly number[]) => {
  const unbounded = model.design.some(({ low, high }) => !Number.isFinite(high - low));
  const prior = unbounded ? priorRange(model) : 1;
  const decimals = model.design.map(({ low, high }) =>
    decimalsFor(Number.isFinite(high - low) ? high - low : prior, OF_A_RANGE),
  );
  return (design) =>
    model.design.map(({ low, high, values }, d) =>
      values === undefined ? Math.min(high, Math.max(low, toDecimals(design[d], decimals[d]))) : design[d],
    );
};

/** Where the prior has 95 % of the parameter that it knows best. */
const priorRange = (model: Model): number => {
  const drawn = drawOuter(model, DRAWS, seededStream("digits"));
  const sds = Object.values(drawn).map((values) => {
    const { m2, n } = momentsOf(values);
    return Math.sqrt(m2 / n);
  });
  return 4 * Math.min(...sds.filter((sd) => sd > 0));
};
