/** Numbers with the digits that a person can use: as many as the scale of what they measure asks for. */
import { randomStream } from "../../../core/random.js";
import { momentsOf } from "../../../core/stats.js";
import type { Model } from "../../../design/model.js";
import { drawOuter } from "../../../design/policy.js";
import type { ParticleSummary } from "../../../workflows/particle-summary.js";

/** The decimals that tell apart `parts` parts of a scale; below 0 for tens and hundreds. */
const decimalsFor = (scale: number, parts: number): number => Math.ceil(Math.log10(parts / scale));

const rounded = (value: number, decimals: number): number => {
  const unit = 10 ** Math.abs(decimals);
  // By dividing or multiplying with a whole number: 1.23 and not 1.2300000000000002.
  return decimals >= 0 ? Math.round(value * unit) / unit : Math.round(value / unit) * unit;
};

/** A twentieth of its standard deviation is more than anybody knows of a parameter. */
const OF_A_POSTERIOR = 20;
/** A thousandth of the range of a design. */
const OF_A_RANGE = 1000;
const DRAWS = 256;

/** Mean, standard deviation and interval of a parameter, all with the decimals that its standard deviation asks for. */
export const posteriorTexts = ({
  mean,
  sd,
  interval,
}: ParticleSummary): Readonly<Record<"mean" | "sd" | "interval", string>> => {
  const decimals = sd > 0 && sd < Infinity ? decimalsFor(sd, OF_A_POSTERIOR) : 0;
  const text = (value: number) => rounded(value, decimals).toFixed(Math.max(0, decimals));
  return { mean: text(mean), sd: text(sd), interval: interval.map(text).join(" to ") };
};

/** A design by name, each number at the scale of its range: of its bounds, or of where the prior has the parameters. */
export const roundedDesign = (
  model: Model,
  design: Readonly<Record<string, number>>,
): Readonly<Record<string, number>> =>
  Object.fromEntries(
    model.design.map(({ name, low, high, values }) => {
      if (values !== undefined) return [name, design[name]];
      const range = Number.isFinite(high - low) ? high - low : priorRange(model);
      // Rounding never leaves the bounds.
      return [name, Math.min(high, Math.max(low, rounded(design[name], decimalsFor(range, OF_A_RANGE))))];
    }),
  );

/** Where the prior has 95 % of the parameter that it knows best. */
const priorRange = (model: Model): number => {
  const drawn = drawOuter(model, DRAWS, randomStream("digits"));
  const sds = Object.values(drawn).map((values) => {
    const { m2, n } = momentsOf(values);
    return Math.sqrt(m2 / n);
  });
  return 4 * Math.min(...sds.filter((sd) => sd > 0));
};
