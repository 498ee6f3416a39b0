/** How many labels a level needs, read off curves. */
import { type RandomStream, seededStream } from "../core/random.js";
import { momentsOf, standardError } from "../core/stats.js";

/** What was reached with so many labels, [seeds] each. */
export interface CurveValues {
  readonly labels: number;
  readonly accuracy: readonly number[];
  readonly parity: readonly number[];
}

export interface LabelsNeeded {
  /** Null: more than were tried. */
  readonly labels: number | null;
  /** 90 % over seeds; an end that is null is beyond what was tried. */
  readonly interval: readonly [number | null, number | null];
}

const RESAMPLES = 400;
const mean = (values: readonly number[]): number =>
  values.reduce((sum, each) => sum + each, 0) / values.length;

const errorOf = (values: readonly number[]): number =>
  values.length < 2 ? 0 : standardError(momentsOf(values));

/**
 * The fewest labels from which on parity is at least the level and accuracy that of the last ones, each within a standard
 * error over seeds.
 */
const fewest = (
  curve: readonly CurveValues[],
  level: number,
  seeds: readonly number[],
): number | undefined => {
  const of = (at: CurveValues, name: "accuracy" | "parity") => seeds.map((seed) => at[name][seed]);
  const last = of(curve[curve.length - 1], "accuracy");
  const least = mean(last) - errorOf(last);
  let found: number | undefined;
  for (const at of curve.toReversed()) {
    const parity = of(at, "parity");
    if (!(mean(parity) >= level - errorOf(parity) && mean(of(at, "accuracy")) >= least)) break;
    found = at.labels;
  }
  return found;
};

/** A plan's own, by its seed: the same for every level, so that the answer moves with the level alone. */
export const labelsNeededStream = (seed: number): RandomStream =>
  seededStream(seed).split("plan").split("labels needed");

/** `curve` in the order of its labels. */
export const labelsNeeded = (
  curve: readonly CurveValues[],
  level: number,
  stream: RandomStream,
): LabelsNeeded => {
  const seeds = curve[0].parity.map((_, seed) => seed);
  const orNull = (labels: number | undefined): number | null =>
    labels === undefined || labels === Number.POSITIVE_INFINITY ? null : labels;
  const drawn = Array.from({ length: RESAMPLES }, (_, k) => {
    const own = stream.split(k);
    const again = seeds.map(() => own.integer(seeds.length));
    return fewest(curve, level, again) ?? Number.POSITIVE_INFINITY;
  }).sort((a, b) => a - b);
  return {
    labels: orNull(fewest(curve, level, seeds)),
    interval: [
      orNull(drawn[Math.floor(0.05 * (RESAMPLES - 1))]),
      orNull(drawn[Math.ceil(0.95 * (RESAMPLES - 1))]),
    ],
  };
};
