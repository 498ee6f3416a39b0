/** The score at which a given weight of rows is above, without sorting them. */

export interface RateCut {
  /** Scores above it are selected. */
  readonly threshold: number;
  /** The part of the weight exactly at the threshold that is selected too, from 0 to 1. */
  readonly part: number;
}

/**
 * Where the highest scores weigh `wanted`: Hoare's quickselect by weight. `values` and `weights` are [rows] and are put in
 * another order, both alike. All weights are above 0 and `wanted` is above 0 and at most their sum.
 */
export const cutAtWeight = (values: Float64Array, weights: Float64Array, wanted: number): RateCut => {
  let low = 0;
  let high = values.length - 1;
  // What is above places low to high is selected already.
  let above = 0;
  for (;;) {
    if (high <= low) break;
    const middle = (low + high) >> 1;
    const [a, b, c] = [values[low], values[middle], values[high]];
    const pivot = Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
    // Three parts, in descending order: above, equal, below. Many forests give equal scores.
    let [top, at, bottom] = [low, low, high];
    let heavier = 0;
    let equal = 0;
    while (at <= bottom) {
      const value = values[at];
      const weight = weights[at];
      if (value > pivot) {
        heavier += weight;
        values[at] = values[top];
        weights[at] = weights[top];
        values[top] = value;
        weights[top] = weight;
        top++;
        at++;
      } else if (value < pivot) {
        values[at] = values[bottom];
        weights[at] = weights[bottom];
        values[bottom] = value;
        weights[bottom] = weight;
        bottom--;
      } else {
        equal += weight;
        at++;
      }
    }
    if (above + heavier >= wanted) high = top - 1;
    else if (above + heavier + equal >= wanted || bottom === high) {
      const part = Math.min(1, (wanted - above - heavier) / equal);
      return { threshold: pivot, part };
    } else {
      above += heavier + equal;
      low = bottom + 1;
    }
  }
  return { threshold: values[low], part: Math.min(1, (wanted - above) / weights[low]) };
};
