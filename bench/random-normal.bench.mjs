// A million standard normals, float32. Our side's values() is { moments: rawMoments(sample) }.
export default {
  peer: "torch",
  threads: 1,
  settings: { count: 1e6 },
  inputs: () => ({}),
  reference: () => ({ moments: [0, 1, 0, 3] }),
  agreement({ moments }, reference) {
    // Var x^k = E x^2k - (E x^k)^2: 1, 2, 15 and 96.
    const errors = [1, 2, 15, 96].map((variance) => Math.sqrt(variance / 1e6));
    const worst = Math.max(...errors.map((error, k) => Math.abs(moments[k] - reference.moments[k]) / error));
    return { ok: worst < 5, text: `${worst.toFixed(1)} standard errors from the first four moments` };
  },
};
