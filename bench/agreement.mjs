// How close one side's numbers are to the reference: a fast wrong kernel is no result.

/** max_i |value - expected| / max_i |expected| of one output; infinite where lengths differ or a value is not finite. */
export function relativeDifference(value, expected) {
  if (value?.length !== expected.length) return Infinity;
  let [difference, scale] = [0, 0];
  for (let i = 0; i < expected.length; i++) {
    if (!Number.isFinite(value[i])) return Infinity;
    difference = Math.max(difference, Math.abs(value[i] - expected[i]));
    scale = Math.max(scale, Math.abs(expected[i]));
  }
  return difference / scale;
}

/** Compares every output of the reference by its relative difference. Returns { ok, text }. */
export function agreesWithin(tolerance) {
  return (values, reference) => {
    const worst = Object.keys(reference)
      .map((output) => ({ output, difference: relativeDifference(values[output], reference[output]) }))
      .reduce((a, b) => (b.difference > a.difference ? b : a));
    const text = `${worst.difference.toExponential(0)} from float64`;
    const ok = worst.difference <= tolerance;
    return { ok, text: ok ? text : `${text} in ${worst.output}` };
  };
}

/** How one number came out over several seeds: { seeds, mean, sd }; one seed says nothing of the spread. */
export function spread(values) {
  const seeds = values.length;
  const mean = values.reduce((sum, value) => sum + value, 0) / seeds;
  const sd = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (seeds - 1));
  return { seeds, mean, sd };
}

/** Standard errors that chance alone exceeds once in 16,000 comparisons. */
const ERRORS_ALLOWED = 4;

/**
 * Compares the mean of one output over seeds with that of a reference { seeds, mean, sd }, both means being uncertain:
 * their difference has the standard error sd sqrt(1/n + 1/seeds) where both sides draw from one distribution. The
 * reference's sd serves both, since few seeds do not give one. Returns a function of (values, reference) to { ok, text }.
 */
export function agreesInMean(output) {
  return (values, reference) => {
    const given = values[output] ?? [];
    const { mean } = spread(given);
    const error = reference.sd * Math.sqrt(1 / given.length + 1 / reference.seeds);
    const difference = mean - reference.mean;
    const times = `${output} ${mean.toFixed(3)} over ${given.length} seeds`;
    return {
      // A mean that is no number is not within anything.
      ok: Math.abs(difference) <= ERRORS_ALLOWED * error,
      text: `${times}, ${difference.toFixed(3)} from the reference with a standard error of ${error.toFixed(3)}`,
    };
  };
}
