/** Numbers with the digits that a person can use: as many as the scale of what they measure asks for. */
import { fixed } from "../core/number-text.js";
import type { ParticleSummary } from "../workflows/particle-summary.js";

/** The decimals that tell apart `parts` parts of a scale; below 0 for tens and hundreds. */
export const decimalsFor = (scale: number, parts: number): number => Math.ceil(Math.log10(parts / scale));

export const toDecimals = (value: number, decimals: number): number => {
  const unit = 10 ** Math.abs(decimals);
  // By dividing or multiplying with a whole number: 1.23 and not 1.2300000000000002.
  return decimals >= 0 ? Math.round(value * unit) / unit : Math.round(value / unit) * unit;
};

/** A twentieth of its standard deviation is more than anybody knows of a parameter. */
const OF_A_POSTERIOR = 20;

/** Mean, standard deviation and interval of a parameter, all with the decimals that its standard deviation asks for. */
export const posteriorTexts = ({
  mean,
  sd,
  interval,
}: ParticleSummary): Readonly<Record<"mean" | "sd" | "interval", string>> => {
  const decimals = sd > 0 && sd < Infinity ? decimalsFor(sd, OF_A_POSTERIOR) : 0;
  const text = (value: number) => fixed(toDecimals(value, decimals), Math.max(0, decimals));
  return { mean: text(mean), sd: text(sd), interval: interval.map(text).join(" to ") };
};
