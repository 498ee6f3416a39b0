#!/usr/bin/env node
/**
 * Where the polynomial coefficients of src/compute/wasm/math and src/compute/webgpu/wgsl/math.ts come from.
 *
 *   node scripts/minimax.mjs [name ...]
 *
 * prints, for every function approximated there, the float32 coefficients (constant term first) and the largest
 * weighted error that they leave before any rounding of the evaluation. Each polynomial is the best one in the
 * weighted maximum norm (Remez exchange on a fine grid, in float64); then, from the constant term up, one
 * coefficient at a time is rounded to float32 and the best polynomial is looked for again in the rest, so that
 * the later coefficients make up for the rounding of the earlier ones.
 */

/** Solves the square system `rows` (each with its right-hand side last) by elimination with pivoting. */
const solve = (rows) => {
  const n = rows.length;
  for (let column = 0; column < n; column++) {
    let pivot = column;
    for (let r = column + 1; r < n; r++)
      if (Math.abs(rows[r][column]) > Math.abs(rows[pivot][column])) pivot = r;
    [rows[column], rows[pivot]] = [rows[pivot], rows[column]];
    for (let r = column + 1; r < n; r++) {
      const factor = rows[r][column] / rows[column][column];
      for (let c = column; c <= n; c++) rows[r][c] -= factor * rows[column][c];
    }
  }
  const x = new Array(n).fill(0);
  for (let r = n - 1; r >= 0; r--) {
    let sum = rows[r][n];
    for (let c = r + 1; c < n; c++) sum -= rows[r][c] * x[c];
    x[r] = sum / rows[r][r];
  }
  return x;
};

const horner = (coefficients, x) => coefficients.reduceRight((sum, c) => sum * x + c, 0);

/** One point of largest |error| for each run of errors of the same sign. */
const alternation = (errors) => {
  const peaks = [];
  for (let i = 0; i < errors.length; i++) {
    const last = peaks.at(-1);
    if (last === undefined || Math.sign(errors[last]) !== Math.sign(errors[i])) peaks.push(i);
    else if (Math.abs(errors[i]) > Math.abs(errors[last])) peaks[peaks.length - 1] = i;
  }
  return peaks;
};

/**
 * The coefficients of x^first ... x^degree that minimise max |weight (value - polynomial)|. Where x^first changes
 * its sign inside the interval the error has to alternate after division by that sign.
 */
const remez = ({ x, value, weight }, first, degree) => {
  const size = degree - first + 2;
  const sign = x.map((at) => Math.sign(at) ** first);
  let reference = Array.from({ length: size }, (_, i) =>
    Math.round(((1 - Math.cos((Math.PI * (i + 0.5)) / size)) / 2) * (x.length - 1)),
  );
  let best;
  for (let round = 0; round < 100; round++) {
    const rows = reference.map((i, row) => {
      const powers = Array.from({ length: degree - first + 1 }, (_, j) => x[i] ** (first + j));
      return [...powers, ((row % 2 === 0 ? 1 : -1) * sign[i]) / weight[i], value[i]];
    });
    const coefficients = solve(rows).slice(0, -1);
    const errors = x.map(
      (at, i) => weight[i] * sign[i] * (value[i] - at ** first * horner(coefficients, at)),
    );
    const error = errors.reduce((most, e) => Math.max(most, Math.abs(e)), 0);
    if (best === undefined || error < best.error) best = { coefficients, error };
    const peaks = alternation(errors);
    while (peaks.length > size) {
      const [left, right] = [Math.abs(errors[peaks[0]]), Math.abs(errors[peaks.at(-1)])];
      if (left < right) peaks.shift();
      else peaks.pop();
    }
    if (peaks.length < size || peaks.every((p, i) => p === reference[i])) break;
    reference = peaks;
  }
  return best;
};

/** Coefficients of `value` on [low, high], float32 if not said otherwise: the first ones are `fixed`, the others fitted. */
export const fit = ({
  value,
  weight = (_, v) => 1 / v,
  low,
  high,
  degree,
  fixed = [],
  round = Math.fround,
}) => {
  const x = Array.from(
    { length: 6000 },
    (_, i) => (low + high) / 2 - ((high - low) / 2) * Math.cos((Math.PI * i) / 5999),
  );
  const values = x.map(value);
  const weights = x.map((at, i) => Math.abs(weight(at, values[i])));
  const settled = [...fixed];
  // Next to 0 nothing but the coefficients settled already has a say.
  const near = Math.max(Math.abs(low), Math.abs(high)) / 50;
  while (settled.length <= degree) {
    const kept = x.flatMap((at, i) => (settled.length > 0 && Math.abs(at) < near ? [] : [i]));
    const points = {
      x: kept.map((i) => x[i]),
      value: kept.map((i) => values[i] - horner(settled, x[i])),
      weight: kept.map((i) => weights[i]),
    };
    settled.push(round(remez(points, settled.length, degree).coefficients[0]));
  }
  const error = x.reduce(
    (most, at, i) => Math.max(most, Math.abs(weights[i] * (values[i] - horner(settled, at)))),
    0,
  );
  return { coefficients: settled, error };
};

/** sum_{k >= 0} x^k * term(k), for functions whose closed form cancels near 0. */
const series = (x, term, terms = 60) => {
  let sum = 0;
  for (let k = terms; k >= 0; k--) sum = sum * x + term(k);
  return sum;
};
const factorial = (n) => (n <= 1 ? 1 : n * factorial(n - 1));

/** erf x by its series of positive terms, 2 / sqrt(pi) exp(-x^2) sum_n 2^n x^(2n+1) / (2n+1)!!. */
const erf = (x) => {
  let term = x;
  let sum = 0;
  for (let n = 1; n < 200; n++) {
    sum += term;
    term *= (2 * x * x) / (2 * n + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
};
/** erfc x for x >= 1 by its continued fraction, from the inside out. */
const erfc = (x) => {
  let fraction = x;
  for (let k = 300; k > 0; k--) fraction = x + k / 2 / fraction;
  return Math.exp(-x * x) / Math.sqrt(Math.PI) / fraction;
};

/** The asymptotic series of `terms` in 1 / y^2, summed where it converges to float64: y >= 20. */
const FAR = 20;
const BERNOULLI = [1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6];
/** lgamma(y) - (y - 1/2) log y + y - log(2 pi) / 2; from y to y + 1 it loses (y + 1/2) log(1 + 1/y) - 1. */
const binet = (y) => {
  if (y >= FAR) return series(1 / (y * y), (k) => BERNOULLI[k] / ((2 * k + 1) * (2 * k + 2)), 6) / y;
  const z = 1 / (2 * y + 1); // log(1 + 1/y) = 2 atanh z
  return series(z * z, (k) => (k === 0 ? 0 : 1 / (2 * k + 1)), 60) + binet(y + 1);
};
/** log y - 1 / (2 y) - digamma y. */
const digammaRest = (y) =>
  y >= FAR
    ? series(1 / (y * y), (k) => BERNOULLI[k] / (2 * k + 2), 6) / (y * y)
    : 1 / y - 1 / (2 * y) + 1 / (2 * y + 2) - Math.log1p(1 / y) + digammaRest(y + 1);
/** trigamma y - 1 / y - 1 / (2 y^2). */
const trigammaRest = (y) => {
  if (y >= FAR) return series(1 / (y * y), (k) => BERNOULLI[k], 6) / y ** 3;
  return 0.5 / (y * y) - 1 / (y * (y + 1)) + 0.5 / ((y + 1) * (y + 1)) + trigammaRest(y + 1);
};
/** zeta(k) - 1 for k >= 2. */
const zeta1 = (k) => {
  let sum = 0;
  for (let n = 60; n >= 2; n--) sum += n ** -k;
  return sum + 60.5 ** (1 - k) / (k - 1) - (k * 60.5 ** (-k - 1)) / 24;
};
const ZETA1 = Array.from({ length: 70 }, (_, k) => (k < 2 ? 0 : zeta1(k)));
const EULER = 0.5772156649015329;

const absolute = () => 1;
/** The least argument of the asymptotic series of lgamma, and of those of digamma and trigamma. */
const LGAMMA_FROM = 4.5;
const DIGAMMA_FROM = 3;

const problems = {
  /** exp r for |r| <= ln 2 / 2 and a little more, in r. */
  exp: {
    value: (r) => series(r, (k) => 1 / factorial(k), 25),
    low: -0.3475,
    high: 0.3475,
    degree: 6,
    fixed: [1, 1],
  },
  /** expm1 r = r + r^2 P(r): relative error of expm1. */
  expm1: {
    value: (r) => series(r, (k) => 1 / factorial(k + 2), 25),
    weight: (r) => r / series(r, (k) => 1 / factorial(k + 1), 25),
    low: -0.3475,
    high: 0.3475,
    degree: 4,
    fixed: [0.5],
  },
  /** 2 atanh s = 2 s + s z P(z), z = s^2, s = f / (2 + f), 1 + f in [sqrt(1/2), sqrt(2)]: relative error of log. */
  log: {
    value: (z) => series(z, (k) => 2 / (2 * k + 3)),
    weight: (z) => z / series(z, (k) => 2 / (2 * k + 1)),
    low: 0,
    high: ((Math.SQRT2 - 1) / (Math.SQRT2 + 1)) ** 2,
    degree: 2,
  },
  /** log(1 + f) = f - f^2 / 2 + f^3 P(f), the same f: relative error of log. For machines where a division is dear. */
  logWithoutDivision: {
    value: (f) => series(-f, (k) => 1 / (k + 3), 200),
    weight: (f) => (f * f) / series(-f, (k) => 1 / (k + 1), 200),
    low: Math.SQRT1_2 - 1,
    high: Math.SQRT2 - 1,
    degree: 7,
  },
  /** log2(1 + f) = s P(z), the same s and z: relative error of log2, coefficients in float64. */
  log2: {
    value: (z) => series(z, (k) => 2 / (2 * k + 1)) / Math.LN2,
    low: 0,
    high: ((Math.SQRT2 - 1) / (Math.SQRT2 + 1)) ** 2,
    degree: 4,
    round: (c) => c,
  },
  /** log(1 + f) = 2 atanh s as above, with 0 <= f <= 1. */
  softplus: {
    value: (z) => series(z, (k) => 2 / (2 * k + 3)),
    weight: (z) => z / series(z, (k) => 2 / (2 * k + 1)),
    low: 0,
    high: 1 / 9,
    degree: 3,
  },
  /** -log(erfc x) = x + x P(x), 0 <= x <= 3.95: relative error of erf. */
  erf: {
    value: (x) =>
      (x < 1e-8 ? 2 / Math.sqrt(Math.PI) : -(x < 1.5 ? Math.log1p(-erf(x)) : Math.log(erfc(x))) / x) - 1,
    weight: (x, v) => (x < 1e-8 ? 1 : (x * Math.exp(-x * (v + 1))) / -Math.expm1(-x * (v + 1))),
    low: 0,
    high: 3.95,
    degree: 9,
    fixed: [Math.fround(2 / Math.sqrt(Math.PI) - 1)],
  },
  /** sin(pi r) = r P(r^2), |r| <= 1/2: relative error. */
  sinpi: {
    value: (w) => Math.PI * series(-w * Math.PI ** 2, (k) => 1 / factorial(2 * k + 1), 20),
    low: 0,
    high: 0.25,
    degree: 4,
    fixed: [Math.fround(Math.PI)],
  },
  /** cos(pi r) = P(r^2), |r| <= 1/2: absolute error. */
  cospi: {
    value: (w) => series(-w * Math.PI ** 2, (k) => 1 / factorial(2 * k), 20),
    weight: absolute,
    low: 0,
    high: 0.25,
    degree: 5,
    fixed: [1],
  },
  /** lgamma(2 + d) = d P(d), |d| <= 1/2: relative error. */
  lgamma: {
    value: (d) => 1 - EULER + d * series(-d, (k) => ZETA1[k + 2] / (k + 2), 60),
    low: -0.5,
    high: 0.5,
    degree: 9,
    fixed: [Math.fround(1 - EULER)],
  },
  /** binet(y) = P(w) / y, w = 1 / y^2, y >= 4.5: absolute error of lgamma. */
  stirling: {
    value: (w) => (w < 1e-6 ? 1 / 12 : binet(w ** -0.5) * w ** -0.5),
    weight: (w) => Math.sqrt(w),
    low: 0,
    high: LGAMMA_FROM ** -2,
    degree: 2,
  },
  /** digamma y = log y - 1 / (2 y) - w P(w), w = 1 / y^2, y >= 3: absolute error. */
  digamma: {
    value: (w) => (w < 1e-6 ? 1 / 12 : digammaRest(w ** -0.5) / w),
    weight: (w) => w,
    low: 0,
    high: DIGAMMA_FROM ** -2,
    degree: 2,
  },
  /** trigamma y = 1 / y + w / 2 + w P(w) / y, w = 1 / y^2, y >= 3: error relative to 1 / y. */
  trigamma: {
    value: (w) => (w < 1e-6 ? 1 / 6 : trigammaRest(w ** -0.5) * w ** -1.5),
    weight: (w) => w,
    low: 0,
    high: DIGAMMA_FROM ** -2,
    degree: 3,
  },
};

const wanted = process.argv.slice(2);
if (import.meta.url === `file://${process.argv[1]}`) {
  for (const [name, problem] of Object.entries(problems)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    const { coefficients, error } = fit(problem);
    console.log(`${name}: error ${error.toExponential(2)}\n  ${coefficients.join(", ")}`);
  }
}

export { problems };
