/** Entropies in nats. */
import { log } from "../core/math.js";

/** x log x, with 0 log 0 = 0. */
export const xlogx = (x: number): number => (x === 0 ? 0 : x * log(x));

/** H of each row of probabilities [rows, classes]. */
export const rowEntropies = (probabilities: Float64Array, classes: number): Float64Array => {
  const entropies = new Float64Array(probabilities.length / classes);
  for (let row = 0, at = 0; row < entropies.length; row++) {
    let sum = 0;
    for (let c = 0; c < classes; c++) sum += xlogx(probabilities[at++]);
    // Not -sum: the entropy of a certain row is 0 and not -0.
    entropies[row] = 0 - sum;
  }
  return entropies;
};
