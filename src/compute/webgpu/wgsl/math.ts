/**
 * The functions of a model in WGSL. The language allows its own exp, log, tanh and pow errors that grow with the
 * argument, and says nothing of the rest; these here are of additions and products, which it rounds correctly, and of
 * divisions, for which it allows 2.5 ulp. Each says how far it may be from the exact value, in ulp, as measured by
 * test/compute/webgpu/math.test.ts; a GPU may take subnormal numbers for 0.
 *
 * Coefficients: scripts/minimax.mjs.
 */
import { COSPI, DIGAMMA, LGAMMA, SINPI, STIRLING, TRIGAMMA } from "../../gamma-coefficients.js";
import type { Range } from "../../graph/range.js";
import type { Elementwise } from "../../graph/scalar.js";
import { f32, polynomial } from "./literal.js";

/** exp r for |r| <= ln 2 / 2: relative error 3.7e-9. */
const EXP = [
  1, 1, 0.4999999403953552, 0.1666652113199234, 0.04166818782687187, 0.008368896320462227,
  0.0013832036638632417,
];
/** (expm1 r - r) / r^2: relative error of expm1 1.4e-8. */
const EXPM1 = [0.5, 0.1666654795408249, 0.04166687652468681, 0.008366161026060581, 0.0013896515592932701];
/** (log(1 + f) - f + f^2 / 2) / f^3, sqrt(1/2) <= 1 + f < sqrt(2): relative error of log 6.6e-9. */
const LOG = [
  0.3333333134651184, -0.2500081956386566, 0.20001262426376343, -0.16623440384864807, 0.14201368391513824,
  -0.1315893679857254, 0.1276141256093979, -0.07636170089244843,
];
/** (2 atanh s - 2 s) / s^3 in s^2, s <= 1/3: relative error 4.5e-9. */
const SOFTPLUS = [0.666664183139801, 0.40021437406539917, 0.2800302505493164, 0.2800678014755249];
/** -log(erfc x) / x - 1 for 0 <= x <= 3.95: relative error of erf 9.7e-10. */
const ERF = [
  0.12837916612625122, 0.6366198658943176, 0.10277090966701508, -0.019115924835205078, -0.0002574393292888999,
  0.0018054734682664275, -0.0007456903113052249, 0.00016984342073556036, -0.00002194834996771533,
  0.0000012545583558676299,
];
/** ln 2 in two parts; the first has 16 bits, so that its product with an exponent is exact. */
const LN2_HIGH = 0.693145751953125;
const LN2_LOW = 1.428606765330187e-6;

interface Definition {
  readonly needs: readonly string[];
  readonly text: string;
}

/** By the name of the WGSL function; the order is one in which each comes after what it needs. */
const DEFINITIONS: Readonly<Record<string, Definition>> = {
  // A constant of the text that is no number would be refused: made when the program runs.
  fb_infinity: {
    needs: [],
    text: "var<private> infinity_bits: u32 = 0x7f800000u;\nfn fb_infinity() -> f32 { return bitcast<f32>(infinity_bits); }",
  },
  fb_nan: {
    needs: [],
    text: "var<private> nan_bits: u32 = 0x7fc00000u;\nfn fb_nan() -> f32 { return bitcast<f32>(nan_bits); }",
  },
  /** By its bits: a GPU need not know of numbers that are none, and its min, max and clamp leave them out. */
  fb_is_nan: {
    needs: [],
    text: "fn fb_is_nan(x: f32) -> bool { return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }",
  },
  fb_power2: {
    needs: [],
    text: "fn fb_power2(n: i32) -> f32 { return bitcast<f32>(u32(n + 127) << 23u); }",
  },
  /** Within 1.5 ulp. */
  fb_exp: {
    needs: ["fb_power2"],
    text: `fn fb_exp(x: f32) -> f32 {
  let inside = clamp(x, -104.0f, 89.0f);
  let n = round(inside * ${f32(Math.LOG2E)});
  let r = fma(n, ${f32(-LN2_LOW)}, fma(n, ${f32(-LN2_HIGH)}, inside));
  let whole = i32(n);
  let half = whole >> 1u;
  return ${polynomial("r", EXP)} * fb_power2(half) * fb_power2(whole - half);
}`,
  },
  /** log x for normal x above 0: within 2 ulp. */
  fb_log_normal: {
    needs: [],
    text: `fn fb_log_normal(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  let exponent = (bits - 0x3f3504f3u) & 0xff800000u;
  let f = bitcast<f32>(bits - exponent) - 1.0f;
  let f2 = f * f;
  let mantissa = f + fma(f2 * f, ${polynomial("f", LOG)}, -0.5f * f2);
  return fma(f32(bitcast<i32>(exponent)), ${f32(Math.LN2 * 2 ** -23)}, mantissa);
}`,
  },
  /** Within 2 ulp for arguments from 2^-126. */
  fb_log: {
    needs: ["fb_log_normal", "fb_infinity", "fb_nan"],
    text: `fn fb_log(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  if (bits - 0x00800000u < 0x7f000000u) { return fb_log_normal(x); }
  if (bits == 0x7f800000u) { return x; }
  return select(fb_nan(), -fb_infinity(), (bits << 1u) < 0x01000000u);
}`,
  },
  /** Within 2 ulp. */
  fb_log1p: {
    needs: ["fb_log"],
    text: `fn fb_log1p(x: f32) -> f32 {
  if (!(x > -1.0f && x < 1e30f)) { return fb_log(1.0f + x); }
  let exponent = (bitcast<u32>(1.0f + x) - 0x3f3504f3u) & 0xff800000u;
  let power = bitcast<f32>(0x3f800000u - exponent);
  let f = fma(x, power, power - 1.0f);
  let f2 = f * f;
  let mantissa = f + fma(f2 * f, ${polynomial("f", LOG)}, -0.5f * f2);
  return fma(f32(bitcast<i32>(exponent)), ${f32(Math.LN2 * 2 ** -23)}, mantissa);
}`,
  },
  /** Within 2 ulp. */
  fb_expm1: {
    needs: ["fb_power2"],
    text: `fn fb_expm1(x: f32) -> f32 {
  let inside = clamp(x, -20.0f, 89.0f);
  let n = round(inside * ${f32(Math.LOG2E)});
  let r = fma(n, ${f32(-LN2_LOW)}, fma(n, ${f32(-LN2_HIGH)}, inside));
  let half = fb_power2(i32(n) - 1);
  let small = fma(r * r, ${polynomial("r", EXPM1)}, r);
  return 2.0f * fma(half, small, half - 0.5f);
}`,
  },
  /** Within 6 ulp. */
  fb_tanh: {
    needs: ["fb_expm1"],
    text: `fn fb_tanh(x: f32) -> f32 {
  let e = fb_expm1(clamp(2.0f * x, -20.0f, 20.0f));
  return e / (e + 2.0f);
}`,
  },
  /** Within 5 ulp. */
  fb_sigmoid: {
    needs: ["fb_exp"],
    text: `fn fb_sigmoid(x: f32) -> f32 {
  let z = fb_exp(-abs(x));
  return select(1.0f, z, x < 0.0f) / (1.0f + z);
}`,
  },
  /** Within 4 ulp. */
  fb_softplus: {
    needs: ["fb_exp"],
    text: `fn fb_softplus(x: f32) -> f32 {
  let z = fb_exp(-abs(x));
  let s = z / (z + 2.0f);
  let s2 = s * s;
  return max(x, 0.0f) + fma(-s, fma(-s2, ${polynomial("s2", SOFTPLUS)}, z), z);
}`,
  },
  /** Within 4 ulp. */
  fb_erf: {
    needs: ["fb_expm1"],
    text: `fn fb_erf(x: f32) -> f32 {
  let size = min(abs(x), 3.9375f);
  let value = -fb_expm1(-fma(size, ${polynomial("size", ERF)}, size));
  return select(value, -value, x < 0.0f);
}`,
  },
  /** Within 2 + 4 |y log x| ulp, for x above 0, or a whole y. */
  fb_pow: {
    needs: ["fb_exp", "fb_log", "fb_nan"],
    text: `fn fb_pow(x: f32, y: f32) -> f32 {
  if (y == 0.0f) { return 1.0f; }
  let size = abs(x);
  let whole = y == round(y);
  if (size == 0.0f) { return select(0.0f, fb_infinity(), y < 0.0f); }
  let l = fb_log(size);
  let t = y * l;
  let value = fb_exp(t) * (1.0f + fma(y, l, -t));
  let odd = whole && round(0.5f * y) != 0.5f * y;
  let signed = select(value, -value, x < 0.0f && odd);
  return select(signed, fb_nan(), x < 0.0f && !whole);
}`,
  },
  fb_sinpi: {
    needs: [],
    text: `fn fb_sinpi(r: f32) -> f32 { let w = r * r; return r * ${polynomial("w", SINPI)}; }`,
  },
  fb_lgamma_right: {
    needs: ["fb_log"],
    text: `fn fb_lgamma_right(t: f32) -> f32 {
  if (t >= 4.5f) {
    let inverse = 1.0f / t;
    let w = inverse * inverse;
    let rest = fma(inverse, ${polynomial("w", STIRLING)}, ${f32(0.9189385332046727 - 0.5)});
    return fma(t - 0.5f, fb_log(t) - 1.0f, rest);
  }
  let n = round(t);
  var factors = t;
  if (n == 4.0f) { factors = (t - 1.0f) * (t - 2.0f); }
  if (n == 3.0f) { factors = t - 1.0f; }
  if (n == 2.0f) { factors = 1.0f; }
  if (n <= 0.0f) { factors = abs(t * (t + 1.0f)); }
  let logarithm = fb_log(factors);
  let d = t - n;
  return fma(d, ${polynomial("d", LGAMMA)}, select(logarithm, -logarithm, t < 1.5f));
}`,
  },
  /** Within 10 ulp of max(1, |lgamma x|, lgamma |x|). */
  fb_lgamma: {
    needs: ["fb_lgamma_right", "fb_sinpi", "fb_infinity"],
    text: `fn fb_lgamma(x: f32) -> f32 {
  if (x > -0.5f) { return fb_lgamma_right(x); }
  if (x == round(x)) { return fb_infinity(); }
  let sine = abs(fb_sinpi(x - round(x)));
  return fb_log(${f32(Math.PI)} / (-x * sine)) - fb_lgamma_right(-x);
}`,
  },
  /** Within 12 ulp of max(1, |digamma x|, digamma(1 - x)). */
  fb_digamma: {
    needs: ["fb_log", "fb_sinpi", "fb_nan"],
    text: `fn fb_digamma(x: f32) -> f32 {
  let size = select(x, 1.0f - x, x < 0.0f);
  let near = size < 3.0f;
  let y = select(size, size + 3.0f, near);
  let inverse = 1.0f / y;
  let w = inverse * inverse;
  var sum = fma(-w, ${polynomial("w", DIGAMMA)}, fma(-0.5f, inverse, fb_log(y)));
  if (near) { sum -= ${polynomial("size", [2, 6, 3])} / (size * ((size + 1.0f) * (size + 2.0f))); }
  let r = x - round(x);
  if (x <= 0.0f && r == 0.0f) { return fb_nan(); }
  if (x >= 0.0f) { return sum; }
  let r2 = r * r;
  return sum - ${polynomial("r2", COSPI)} / (fb_sinpi(r) * ${f32(1 / Math.PI)});
}`,
  },
  /** Within 16 ulp. */
  fb_trigamma: {
    needs: ["fb_sinpi", "fb_infinity"],
    text: `fn fb_trigamma(x: f32) -> f32 {
  let size = select(x, 1.0f - x, x < 0.0f);
  let near = size < 3.0f;
  let y = select(size, size + 3.0f, near);
  let inverse = 1.0f / y;
  let w = inverse * inverse;
  let series = fma(inverse, ${polynomial("w", TRIGAMMA)}, 0.5f);
  var sum = fma(w, series, inverse);
  if (near) {
    let first = 1.0f / size;
    let denominator = (size + 1.0f) * (size + 2.0f);
    sum += fma(first, first, ${polynomial("size", [5, 6, 2])} / (denominator * denominator));
  }
  let r = x - round(x);
  if (x <= 0.0f && r == 0.0f) { return fb_infinity(); }
  if (x >= 0.0f) { return sum; }
  let cosecant = ${f32(Math.PI)} / fb_sinpi(r);
  return fma(cosecant, cosecant, -sum);
}`,
  },
};

/** The WGSL function of an operation that is none of the language's own. */
const FUNCTIONS: Readonly<Partial<Record<Elementwise, string>>> = {
  exp: "fb_exp",
  log: "fb_log",
  log1p: "fb_log1p",
  expm1: "fb_expm1",
  tanh: "fb_tanh",
  sigmoid: "fb_sigmoid",
  softplus: "fb_softplus",
  erf: "fb_erf",
  pow: "fb_pow",
  lgamma: "fb_lgamma",
  digamma: "fb_digamma",
  trigamma: "fb_trigamma",
};

const LEAST_NORMAL = 2 ** -126;
const GREATEST = 3e38;

/** The function of an operation whose argument is known to lie in a range. */
export const functionOf = (op: Elementwise, { low, high }: Range): string | undefined =>
  op === "log" && low >= LEAST_NORMAL && high <= GREATEST ? "fb_log_normal" : FUNCTIONS[op];

/** The definitions of those functions that a text calls, and of what they need, each once. */
export const mathUsedBy = (text: string): string => {
  const wanted = new Set<string>();
  const want = (name: string): void => {
    wanted.add(name);
    for (const each of DEFINITIONS[name].needs) want(each);
    for (const each of calledIn(DEFINITIONS[name].text)) if (!wanted.has(each)) want(each);
  };
  for (const name of calledIn(text)) want(name);
  return Object.entries(DEFINITIONS)
    .filter(([name]) => wanted.has(name))
    .map(([, { text: definition }]) => definition)
    .join("\n");
};

const calledIn = (text: string): string[] =>
  [...new Set(text.match(/\bfb_\w+/g) ?? [])].filter((name) => Object.hasOwn(DEFINITIONS, name));
