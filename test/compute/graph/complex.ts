/**
 * Complex arithmetic for the complex-step derivative: im(f(x + ih)) / h has no cancellation, so h = 1e-30 gives the
 * derivative of an analytic f to rounding (Squire and Trapp 1998). Written from the definitions of the functions,
 * not from their derivatives.
 */
export interface Complex {
  readonly re: number;
  readonly im: number;
}

export const STEP = 1e-30;

export const real = (re: number): Complex => ({ re, im: 0 });

const plus = (a: Complex, b: Complex): Complex => ({ re: a.re + b.re, im: a.im + b.im });
const minus = (a: Complex, b: Complex): Complex => ({ re: a.re - b.re, im: a.im - b.im });
const times = (a: Complex, b: Complex): Complex => ({
  re: a.re * b.re - a.im * b.im,
  im: a.re * b.im + a.im * b.re,
});
const over = (a: Complex, b: Complex): Complex => {
  const size = b.re * b.re + b.im * b.im;
  return { re: (a.re * b.re + a.im * b.im) / size, im: (a.im * b.re - a.re * b.im) / size };
};
const exp = ({ re, im }: Complex): Complex => ({
  re: Math.exp(re) * Math.cos(im),
  im: Math.exp(re) * Math.sin(im),
});
const log = ({ re, im }: Complex): Complex => ({ re: Math.log(Math.hypot(re, im)), im: Math.atan2(im, re) });
const sqrt = ({ re, im }: Complex): Complex => {
  const [r, angle] = [Math.sqrt(Math.hypot(re, im)), Math.atan2(im, re) / 2];
  return { re: r * Math.cos(angle), im: r * Math.sin(angle) };
};
const one = real(1);

export const complexOperations: Readonly<Record<string, (...args: Complex[]) => Complex>> = {
  add: plus,
  sub: minus,
  mul: times,
  div: over,
  neg: (a) => minus(real(0), a),
  square: (a) => times(a, a),
  sqrt,
  exp,
  log,
  log1p: (a) => ({ re: Math.log1p(a.re), im: Math.atan2(a.im, 1 + a.re) }),
  expm1: ({ re, im }) => ({ re: Math.expm1(re), im: Math.exp(re) * Math.sin(im) }),
  // (sinh 2x + i sin 2y) / (cosh 2x + cos 2y)
  tanh: ({ re, im }) => ({
    re: Math.tanh(re),
    im: Math.sin(2 * im) / (Math.cosh(2 * re) + Math.cos(2 * im)),
  }),
  sigmoid: (a) =>
    a.re >= 0 ? over(one, plus(one, exp(minus(real(0), a)))) : over(exp(a), plus(one, exp(a))),
  softplus: (a) => log(plus(one, exp(a))),
  // Whole exponents by products: a negative base lies on the logarithm's cut.
  pow: (a, b) =>
    Number.isInteger(b.re) && b.re > 0 ? Array<Complex>(b.re).fill(a).reduce(times) : exp(times(b, log(a))),
};

export const complexLogSumExp = (values: readonly Complex[]): Complex => {
  const most = real(Math.max(...values.map(({ re }) => re)));
  return plus(most, log(values.map((value) => exp(minus(value, most))).reduce(plus)));
};

export const complexSum = (values: readonly Complex[]): Complex => values.reduce(plus);
