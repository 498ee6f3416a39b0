/** What a distribution may be given, and one sentence for each mistake, with its line where the platform tells it. */

import { callerOfLibrary } from "../compute/graph/location.js";
import { Traced, type Value } from "../compute/index.js";
import { TraceError } from "../core/errors.js";
import { nearestName } from "../core/nearest-name.js";
import { describeValue } from "./describe-value.js";

/** A choice of argument names of which exactly one is given: `{ logit } or { probability }`. */
export type Choice = readonly string[];

/** `{ trials, logit } or { trials, probability }`. */
const shapes = (choices: readonly Choice[]): string =>
  choices
    .reduce<string[][]>((all, choice) => all.flatMap((names) => choice.map((name) => [...names, name])), [[]])
    .map((names) => `{ ${names.join(", ")} }`)
    .join(" or ");

export const argumentTexts = {
  bare: (name: string, given: unknown, choices: readonly Choice[]) =>
    `${name}(...) was given ${describeValue(given)} without a name: give ${shapes(choices)}`,
  unknown: (name: string, given: string, choices: readonly Choice[], meant: string | undefined) =>
    `${name}(...) has no argument "${given}": ${meant === undefined ? "" : `did you mean ${meant}? `}Give ${shapes(choices)}`
      .replace("? Give", "? give")
      .replace(": Give", ": give"),
  choose: (name: string, given: readonly string[], choices: readonly Choice[]) =>
    `${name}(...) was given ${given.length === 0 ? "nothing" : `both ${given.join(" and ")}`}: give ${shapes(choices)}`,
  missing: (name: string, missing: string, choices: readonly Choice[]) =>
    `${name}(...) was given no ${missing}: give ${shapes(choices)}`,
  value: (name: string, what: string, given: unknown) =>
    `${name}(...) was given ${describeValue(given)} as ${what}: give a number, or a value made of parameters and design`,
  list: (name: string, what: string, given: unknown) =>
    `${name}(...) was given ${describeValue(given)} as its ${what}: give a list, one for each value`,
  few: (name: string, given: number) =>
    `${name}(...) was given ${given} ${given === 1 ? "value" : "values"} to choose among: give two or more`,
  positive: (name: string, what: string, given: number) =>
    `${name}(...) was given ${what} ${given}: it must be a number above 0`,
  finite: (name: string, what: string, given: number) =>
    `${name}(...) was given ${what} ${given}: it must be a finite number`,
  probability: (name: string, given: number) =>
    `${name}(...) was given the probability ${given}: it must be from 0 to 1; any number is allowed as a logit`,
  sum: (name: string, given: number) =>
    `${name}(...) was given probabilities with the sum ${given}: it must be 1; any numbers are allowed as logits`,
  trials: (given: unknown) =>
    `binomial(...) was given ${describeValue(given)} as trials: give a whole number of at least 1`,
  bounds: (low: unknown, high: unknown) =>
    `uniform(...) was given the bounds ${describeValue(low)} and ${describeValue(high)}: give two finite numbers with low < high`,
};

/** Names that other libraries use for the same thing. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  p: "probability",
  prob: "probability",
  mean: "rate",
  lambda: "rate",
  n: "trials",
  count: "trials",
  p_values: "probabilities",
  probs: "probabilities",
  df: "freedom",
  nu: "freedom",
  loc: "location",
  mu: "location",
  sd: "scale",
  sigma: "scale",
  eta: "logit",
  log_rate: "logRate",
};

export const argumentError = (text: string): TraceError =>
  new TraceError("distribution", text, callerOfLibrary());

export const isValue = (given: unknown): given is Value =>
  typeof given === "number" || given instanceof Traced;

/** Throws unless this is a number or a traced value. */
export const requireValue = (name: string, what: string, given: unknown): void => {
  if (!isValue(given)) throw argumentError(argumentTexts.value(name, what, given));
};

/** Throws unless exactly one name of every choice is given, and nothing else. */
export const requireArguments = (name: string, given: unknown, ...choices: readonly Choice[]): void => {
  if (typeof given !== "object" || given === null || given instanceof Traced || Array.isArray(given)) {
    throw argumentError(argumentTexts.bare(name, given, choices));
  }
  const known = choices.flat();
  const arguments_ = given as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(arguments_).find((key) => !known.includes(key));
  if (unknown !== undefined) {
    const other = OTHER_NAMES[unknown.toLowerCase()];
    const meant = other !== undefined && known.includes(other) ? other : nearestName(unknown, known);
    throw argumentError(argumentTexts.unknown(name, unknown, choices, meant));
  }
  for (const choice of choices) {
    const there = choice.filter((key) => arguments_[key] !== undefined);
    if (choice.length === 1 && there.length === 0) {
      throw argumentError(argumentTexts.missing(name, choice[0], choices));
    }
    if (there.length !== 1) throw argumentError(argumentTexts.choose(name, there, choices));
  }
};

/** Throws unless this is a list of two or more numbers or traced values. */
export const requireValues = (name: string, what: string, given: unknown): void => {
  if (!Array.isArray(given)) throw argumentError(argumentTexts.list(name, what, given));
  if (given.length < 2) throw argumentError(argumentTexts.few(name, given.length));
  for (const each of given) requireValue(name, `one of its ${what}`, each);
};

/* What is wrong with a number, if anything is; a traced value is not known yet. */

export const notPositive = (name: string, what: string, given: Value): string | undefined =>
  typeof given === "number" && !(given > 0 && given < Infinity)
    ? argumentTexts.positive(name, what, given)
    : undefined;

export const notFinite = (name: string, what: string, given: Value): string | undefined =>
  typeof given === "number" && !Number.isFinite(given) ? argumentTexts.finite(name, what, given) : undefined;

export const notProbability = (name: string, given: Value): string | undefined =>
  typeof given === "number" && !(given >= 0 && given <= 1)
    ? argumentTexts.probability(name, given)
    : undefined;

/** Rounding of a sum of probabilities. */
const ROUNDING = 1e-9;

export const notProbabilities = (name: string, given: readonly Value[]): string | undefined => {
  const wrong = given.map((each) => notProbability(name, each)).find((text) => text !== undefined);
  if (wrong !== undefined) return wrong;
  let total = 0;
  for (const each of given) {
    if (typeof each !== "number") return undefined;
    total += each;
  }
  return Math.abs(total - 1) <= ROUNDING ? undefined : argumentTexts.sum(name, total);
};
