/** How much each target input counts. */
import { InputError } from "../core/errors.js";

export const targetWeightTexts = {
  length: (given: number, expected: number) =>
    `there are ${given} target weights for ${expected} targets: give one for each`,
  value: (index: number) =>
    `target weight ${index} is not a finite number of at least 0: give weights that are`,
  sum: "all target weights are 0, so that no target counts: give at least one that is above 0",
};

/** Weights with the sum 1, [targets]; equal ones unless given. */
export const normalisedWeights = (targets: number, given: ArrayLike<number> | undefined): Float64Array => {
  const weights = new Float64Array(targets).fill(1 / targets);
  if (given === undefined) return weights;
  if (given.length !== targets)
    throw new InputError("weights", targetWeightTexts.length(given.length, targets));
  let sum = 0;
  for (let t = 0; t < targets; t++) {
    if (!(given[t] >= 0 && given[t] < Number.POSITIVE_INFINITY)) {
      throw new InputError("weights", targetWeightTexts.value(t));
    }
    sum += given[t];
  }
  if (!(sum > 0)) throw new InputError("weights", targetWeightTexts.sum);
  for (let t = 0; t < targets; t++) weights[t] = given[t] / sum;
  return weights;
};
