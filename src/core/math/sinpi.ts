import { polynomial } from "./polynomial.js";

/** (-1)^k pi^(2k+1) / (2k+1)! and (-1)^k pi^(2k) / (2k)!: Taylor series in the square, for |x| <= 1/4. */
const SINE = [
  Math.PI,
  -5.16771278004997,
  2.5501640398773455,
  -0.5992645293207921,
  0.08214588661112823,
  -0.0073704309457143504,
  0.00046630280576761255,
  -2.1915353447830217e-5,
  7.952054001475513e-7,
] as const;
const COSINE = [
  1, -4.934802200544679, 4.0587121264167685, -1.3352627688545895, 0.2353306303588932, -0.02580689139001406,
  0.0019295743094039231, -0.0001046381049248457, 4.303069587032947e-6,
] as const;

const sineSeries = (x: number): number => x * polynomial(SINE, x * x);
const cosineSeries = (x: number): number => polynomial(COSINE, x * x);

/** sin(pi x), relative error below 4e-16; exactly 0 at integers, NaN at ±Infinity. */
export const sinPi = (x: number): number => {
  if (x < 0) return -sinPi(-x);
  // The remainder modulo 2 is exact, and so are the differences below.
  const r = x - 2 * Math.floor(x / 2);
  if (r > 1) return -sinPi(r - 1);
  if (r <= 0.25) return sineSeries(r);
  if (r < 0.75) return cosineSeries(r - 0.5);
  return sineSeries(1 - r);
};

/** cos(pi x), relative error below 4e-16; exactly 0 at half-integers, NaN at ±Infinity. */
export const cosPi = (x: number): number => {
  const r = Math.abs(x) - 2 * Math.floor(Math.abs(x) / 2);
  if (r > 1) return -cosPi(r - 1);
  if (r <= 0.25) return cosineSeries(r);
  if (r < 0.75) return sineSeries(0.5 - r);
  return -cosineSeries(1 - r);
};
