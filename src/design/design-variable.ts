/** Design variables: what an experimenter chooses, and which values are allowed. */
import { callerOfLibrary } from "../compute/graph/location.js";
import { TraceError } from "../core/errors.js";
import { nearestName } from "../core/nearest-name.js";
import { describeValue } from "./describe-value.js";

/** A design variable: a real number, between bounds where they are given, or one of finitely many values. */
export interface DesignVariable {
  readonly low: number;
  readonly high: number;
  readonly values?: readonly number[] | undefined;
}

export const designVariableTexts = {
  bounds: (low: unknown, high: unknown) =>
    `real({ low, high }) was given ${describeValue(low)} and ${describeValue(high)}: give numbers with low < high, or leave out the bound that there is not`,
  bare: (given: unknown) =>
    `real(...) was given ${describeValue(given)}: give { low, high }, either of them, or nothing`,
  unknown: (given: string, meant: string | undefined) =>
    `real(...) has no option "${given}": ${meant === undefined ? "" : `did you mean ${meant}? `}its options are low and high`,
  list: (given: unknown) =>
    `oneOf(...) was given ${describeValue(given)}: give a list of two or more numbers, such as oneOf([0, 1, 2])`,
  few: (given: number) =>
    `oneOf(...) was given ${given === 0 ? "no values" : "one value"}: give two or more, or write what is never chosen as a number in the outcome`,
  value: (given: unknown) =>
    `oneOf(...) was given ${describeValue(given)} among its values: give finite numbers`,
  twice: (given: number) => `oneOf(...) was given ${given} twice: give every value once`,
};

const mistake = (text: string): TraceError => new TraceError("model", text, callerOfLibrary());

/** Names that other libraries use for bounds. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  min: "low",
  minimum: "low",
  from: "low",
  max: "high",
  maximum: "high",
  to: "high",
};

/**
 * A real number from `low` to `high`, without end on a side whose bound is left out.
 *
 * @example
 * ```ts
 * import { real } from "fairbed/design";
 *
 * console.log(real({ low: 1, high: 365 }).high); // 365
 * ```
 */
export const real = (
  bounds: { readonly low?: number | undefined; readonly high?: number | undefined } = {},
): DesignVariable => {
  if (typeof bounds !== "object" || bounds === null || Array.isArray(bounds)) {
    throw mistake(designVariableTexts.bare(bounds));
  }
  const unknown = Object.keys(bounds).find((key) => key !== "low" && key !== "high");
  if (unknown !== undefined) {
    const meant = OTHER_NAMES[unknown.toLowerCase()] ?? nearestName(unknown, ["low", "high"]);
    throw mistake(designVariableTexts.unknown(unknown, meant));
  }
  const { low = -Infinity, high = Infinity } = bounds;
  if (typeof low !== "number" || typeof high !== "number" || !(low < high)) {
    throw mistake(designVariableTexts.bounds(low, high));
  }
  return { low, high };
};

/**
 * One of finitely many numbers.
 *
 * @example
 * ```ts
 * import { oneOf } from "fairbed/design";
 *
 * console.log(oneOf([0, 1, 2, 5]).values?.length); // 4
 * ```
 */
export const oneOf = (values: readonly number[]): DesignVariable => {
  if (!Array.isArray(values)) throw mistake(designVariableTexts.list(values));
  if (values.length < 2) throw mistake(designVariableTexts.few(values.length));
  const wrong = values.findIndex((value) => typeof value !== "number" || !Number.isFinite(value));
  if (wrong >= 0) throw mistake(designVariableTexts.value(values[wrong]));
  const twice = values.find((value, i) => values.indexOf(value) !== i);
  if (twice !== undefined) throw mistake(designVariableTexts.twice(twice));
  return { low: Math.min(...values), high: Math.max(...values), values };
};

/** Whether `real` or `oneOf` may have made this. */
export const isDesignVariable = (given: unknown): given is DesignVariable =>
  typeof given === "object" &&
  given !== null &&
  "low" in given &&
  "high" in given &&
  typeof given.low === "number" &&
  typeof given.high === "number";
