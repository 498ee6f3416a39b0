/**
 * Whether going through all outcomes is cheaper than sampling experiments. Both costs are estimated here, in
 * nanoseconds of one core as measured on the psychometric model: no clock is read, so that the same way is taken on
 * every machine. The number of sequences of outcomes grows as choices^horizon, and the cost of a sample only with the
 * horizon: yes-no outcomes are gone through up to four observations in training and about ten in an estimate.
 */
import { wholePower } from "../../core/math.js";
import type { Model } from "../model.js";
import type { SampleSizes } from "../objective.js";
import type { Policy } from "../policy.js";
import { held } from "../priors.js";
import type { Given } from "../quantity.js";
import { outcomeCombinations } from "./enumeration.js";
import { axisOf, isContinuous } from "./grid.js";

/** What one of these takes, in nanoseconds. */
const NANOSECONDS = {
  /** The probability of a sequence at a point of the grid, in an estimate. */
  sequence: 8,
  /** The probability of an outcome at a design and a point of the grid. */
  outcome: 15,
  /** An observation of a sequence at a point of the grid, in a step of training with its gradient. */
  sequenceStep: 20,
  /** The probability of an outcome and its slopes at a design and a point of the grid, in a step of training. */
  outcomeStep: 50,
  /** The likelihood of an observation at an inner sample, with or without gradient. */
  likelihood: 3,
};

/** An exact estimate is worth waiting this long for, even where a sampled one is had sooner. */
const A_MOMENT = 2e9;

/** Points along every continuous parameter of the grids that an estimate by enumeration is likely to go through. */
const ENUMERATION_SIZES = [25, 49, 97];
/** The same for the last grid of a quadrature, by the number of such parameters that are integrated over. */
const QUADRATURE_SIZES = [1, 513, 193, 65];

const gridPoints = (model: Model, names: readonly string[], size: number): number =>
  names.reduce((product, name) => product * axisOf(model, name, size).points.length, 1);

const choicesOf = (model: Model): number => outcomeCombinations(model)?.length ?? Infinity;

const namesOf = ({ parameters }: Model): readonly string[] => parameters.map(({ name }) => name);

/** How long an estimate by enumeration takes, in nanoseconds. */
export const enumerationCost = (model: Model, policy: Policy, given: readonly Given[]): number => {
  const choices = choicesOf(model);
  const { horizon, designs } = policy;
  const sequences = wholePower(choices, horizon);
  const points = ENUMERATION_SIZES.reduce((sum, size) => sum + gridPoints(model, namesOf(model), size), 0);
  // A policy that looks at outcomes has a design of its own after each of their sequences.
  const distinct = designs === undefined ? (sequences - 1) / (choices - 1) : horizon;
  const perPoint = NANOSECONDS.sequence * sequences + NANOSECONDS.outcome * distinct * choices;
  return given.length * points * perPoint;
};

/** How long a quadrature of `experiments` sampled experiments takes, in nanoseconds. */
export const quadratureCost = (
  model: Model,
  { horizon }: Policy,
  given: readonly Given[],
  experiments: number,
): number => {
  const points = given.map((each) => {
    const roles = held(each);
    const free = model.parameters.filter(({ role }) => !roles.includes(role)).map(({ name }) => name);
    const dimensions = free.filter((name) => isContinuous(model, name)).length;
    return gridPoints(model, free, QUADRATURE_SIZES[Math.min(dimensions, QUADRATURE_SIZES.length - 1)]);
  });
  return NANOSECONDS.likelihood * horizon * experiments * points.reduce((sum, each) => sum + each, 0);
};

/** Whether an estimate should go through all outcomes: where that is cheaper than sampling, or takes but a moment. */
export const worthEnumerating = (
  model: Model,
  policy: Policy,
  given: readonly Given[],
  experiments: number,
): boolean =>
  enumerationCost(model, policy, given) <=
  Math.max(A_MOMENT, quadratureCost(model, policy, given, experiments));

/** How long a step of training takes that goes through all outcomes on a grid of `size` points a parameter. */
export const enumeratedStepCost = (model: Model, horizon: number, size: number): number => {
  const choices = choicesOf(model);
  const grid = gridPoints(model, namesOf(model), size);
  const perPoint =
    NANOSECONDS.sequenceStep * wholePower(choices, horizon) + NANOSECONDS.outcomeStep * choices;
  return grid * horizon * perPoint;
};

/** How long a step of training by nested samples takes. */
export const sampledStepCost = (
  { outer, contrastive, marginal }: Pick<SampleSizes, "outer" | "contrastive" | "marginal">,
  horizon: number,
): number => NANOSECONDS.likelihood * outer * (contrastive + marginal) * horizon;
