/** A round number that parts a quantity into two about equal halves, to show how a threshold is given. */

/** The fewest digits that stay in the middle half of the values, with rows on both sides; the median where none does. */
export const roundThreshold = (values: Float64Array): number => {
  const known = values.filter((value) => !Number.isNaN(value)).sort();
  const at = (share: number): number => known[Math.floor(share * (known.length - 1))];
  const median = at(0.5);
  for (let digits = 1; digits <= 3; digits++) {
    const round = Number(median.toPrecision(digits));
    if (round > known[0] && round >= at(0.25) && round <= at(0.75)) return round;
  }
  return median;
};
