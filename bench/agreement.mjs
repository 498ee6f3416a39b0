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
