// Fixed inputs for the benchmarks: the same numbers for our side, for the peers and for the reference.
// All are float32, so that each side starts from exactly the same values.

/** A small seeded generator of standard normals (mulberry32 and Box-Muller), independent of the library. */
export function normals(seed) {
  let state = seed >>> 0;
  const uniform = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let z = Math.imul(state ^ (state >>> 15), state | 1);
    z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
    return ((z ^ (z >>> 14)) >>> 0) / 2 ** 32;
  };
  return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
}

/** An array of the given shape, row-major: { shape, data: Float32Array }. */
export function array(shape, fill) {
  const data = new Float32Array(shape.reduce((size, n) => size * n, 1));
  for (let i = 0; i < data.length; i++) data[i] = fill(i);
  return { shape, data };
}
