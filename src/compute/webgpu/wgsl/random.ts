/** The streams of core/random in WGSL: the same words for the same key and position, and normals from them. */
import { f32, polynomial } from "./literal.js";

/**
 * Coefficients of AS 241 (Wichura, Applied Statistics 37, 1988, function PPND7), constant term first: relative error
 * 1e-7 before rounding.
 */
const CENTRAL = {
  above: [3.3871327179, 50.434271938, 159.29113202, 59.10937472],
  below: [1, 17.895169469, 78.757757664, 67.1875636],
};
const TAIL = {
  above: [1.4234372777, 2.75681539, 1.3067284816, 0.17023821103],
  below: [1, 0.7370016425, 0.12021132975],
};
const FAR = {
  above: [6.657905115, 3.081226386, 0.42868294337, 0.017337203997],
  below: [1, 0.24197894225, 0.012258202635],
};

/** What a number is drawn from. */
export type Noise =
  | { readonly kind: "normal" }
  | { readonly kind: "uniform" }
  | { readonly kind: "studentT"; readonly freedom: number };

/** How something is drawn; a count is where the Poisson distribution function reaches a uniform number. */
export interface Drawing {
  readonly noise: Noise;
  readonly count: boolean;
}

/** The noise of number `i` of the stream with this key. */
export const drawText = ({ noise, count }: Drawing, key: string, i: string): string => {
  if (count) return `fb_tail(${key}, ${i})`;
  switch (noise.kind) {
    case "normal":
      return `fb_normal(${key}, ${i})`;
    case "uniform":
      return `fb_uniform(${key}, ${i})`;
    case "studentT":
      return `fb_student(${key}, ${i}, ${f32(noise.freedom)})`;
  }
};

/** z, the standard normal number below which p lies, for p up to 1/2 and q = 1/2 - p. */
const quantileText = (p: string): string => `  var z: f32;
  if (q <= 0.425f) {
    let r = fma(-q, q, 0.180625f);
    z = -q * (${polynomial("r", CENTRAL.above)}) / (${polynomial("r", CENTRAL.below)});
  } else {
    let r = sqrt(-fb_log(${p}));
    if (r <= 5.0f) {
      let t = r - 1.6f;
      z = -(${polynomial("t", TAIL.above)}) / (${polynomial("t", TAIL.below)});
    } else {
      let t = r - 5.0f;
      z = -(${polynomial("t", FAR.above)}) / (${polynomial("t", FAR.below)});
    }
  }`;

/**
 * `fb_philox(counter, key)` as philox4x32 of core/random; `fb_child(state, ...)` is in the keys' kernel.
 *
 * `fb_normal(key, i)` is the standard normal number i of a stream that is at its start: within 4e-7 of what the CPU
 * gives, relative to max(1, |z|). `fb_uniform(key, i)` is the uniform number there, rounded. The language has no product of
 * 64 bits, so the upper half is put together from halves.
 */
export const RANDOM = `
fn fb_high(a: u32, b: u32) -> u32 {
  let al = a & 0xffffu;
  let ah = a >> 16u;
  let bl = b & 0xffffu;
  let bh = b >> 16u;
  let low = al * bl;
  let middle = ah * bl + (low >> 16u);
  let other = al * bh + (middle & 0xffffu);
  return ah * bh + (middle >> 16u) + (other >> 16u);
}
fn fb_philox(counter: vec4u, start: vec2u) -> vec4u {
  var a = counter;
  var key = start;
  for (var round = 0u; round < 10u; round++) {
    let low0 = a.x * 0xd2511f53u;
    let low2 = a.z * 0xcd9e8d57u;
    let high0 = fb_high(a.x, 0xd2511f53u);
    let high2 = fb_high(a.z, 0xcd9e8d57u);
    a = vec4u(high2 ^ a.y ^ key.x, low2, high0 ^ a.w ^ key.y, low0);
    key += vec2u(0x9e3779b9u, 0xbb67ae85u);
  }
  return a;
}
fn fb_quantile(first: u32, second: u32) -> f32 {
  // p, the smaller of u and 1 - u, is 2^-26 a + 2^-52 (b + 1/2) with a below 2^25: both ends keep their precision.
  let upper = first >= 0x80000000u;
  let a = select(first, ~first, upper) >> 6u;
  let b = select(second, ~second, upper) >> 6u;
  let rest = (f32(b) + 0.5f) * ${f32(2 ** -52)};
  let q = fma(f32(0x2000000u - a), ${f32(2 ** -26)}, -rest);
${quantileText(`fma(f32(a), ${f32(2 ** -26)}, rest)`)}
  return select(z, -z, upper);
}
fn fb_two(key: vec2u, i: u32) -> vec2u {
  let words = fb_philox(vec4u(i >> 1u, 0u, 0u, 0u), key);
  return select(words.xy, words.zw, (i & 1u) == 1u);
}
fn fb_normal(key: vec2u, i: u32) -> f32 {
  let two = fb_two(key, i);
  return fb_quantile(two.x, two.y);
}
fn fb_uniform(key: vec2u, i: u32) -> f32 {
  let two = fb_two(key, i);
  return fma(f32(two.x >> 6u), ${f32(2 ** -26)}, (f32(two.y >> 6u) + 0.5f) * ${f32(2 ** -52)});
}
`;

/**
 * `fb_student(key, i, freedom)`: Student t number i, a normal over the root of a gamma variate (Marsaglia and Tsang, ACM
 * TOMS 26, 2000). What is refused takes the next block of a counter that is i's own, beside those of streams; so the numbers
 * are not those of the processor, where a draw begins where the one before it ended.
 */
const STUDENT = `
fn fb_student(key: vec2u, i: u32, freedom: f32) -> f32 {
  let small = freedom < 2.0f;
  let d = select(0.5f * freedom, 0.5f * freedom + 1.0f, small) - ${f32(1 / 3)};
  let c = 1.0f / sqrt(9.0f * d);
  var gamma = d;
  for (var attempt = 0u; attempt < 64u; attempt++) {
    let words = fb_philox(vec4u(i, attempt, 1u, 0u), key);
    let x = fb_quantile(words.x, words.y);
    let root = fma(c, x, 1.0f);
    let v = root * root * root;
    if (v <= 0.0f) { continue; }
    let u = (f32(words.z >> 8u) + 0.5f) * ${f32(2 ** -24)};
    if (fb_log(u) >= fma(0.5f * x, x, fma(d, fb_log(v), d - d * v))) { continue; }
    gamma = d * v;
    // One with a shape below 1 is made of one with a shape above it.
    if (small) { gamma *= fb_exp(fb_log((f32(words.w >> 8u) + 0.5f) * ${f32(2 ** -24)}) * 2.0f / freedom); }
    break;
  }
  return fb_normal(key, i) * sqrt(freedom / (2.0f * max(gamma, 1e-30f)));
}
`;

/** Means from which counts are drawn by another formula. */
const LARGE_MEAN = 1e4;

/**
 * `fb_tail(key, i)` is the uniform number u there, or u - 1 from 1/2 on, so that both ends keep their precision.
 * `fb_count(tail, mean)`: the smallest count whose Poisson distribution function reaches u, from the end that is nearer, so
 * that rounding moves the distribution function by 5e-4 of itself at most, for means up to 1e4. Probabilities by Loader's
 * saddle point ("Fast and accurate computation of binomial probabilities", 2000), whose error does not grow with the mean.
 *
 * Above, where sums of probabilities would be long and from 2^24 on a count has no next one: the quantile by Cornish and
 * Fisher ("Moments and cumulants in the specification of distributions", 1938), to the second order in 1 / sqrt(mean).
 */
const COUNT = `
fn fb_count_probability(k: f32, mean: f32) -> f32 {
  if (k < 16.0f) { return fb_exp(k * fb_log(mean) - mean - fb_lgamma(k + 1.0f)); }
  let d = (mean - k) / k;
  let deviance = k * (d - fb_log1p(d));
  return fb_exp(-deviance - 1.0f / (12.0f * k)) / sqrt(${f32(2 * Math.PI)} * k);
}
fn fb_tail(key: vec2u, i: u32) -> f32 {
  let two = fb_two(key, i);
  let upper = two.x >= 0x80000000u;
  let words = select(two, ~two, upper) >> vec2u(6u);
  let tail = fma(f32(words.x), ${f32(2 ** -26)}, (f32(words.y) + 0.5f) * ${f32(2 ** -52)});
  return select(tail, -tail, upper);
}
fn fb_large_count(tail: f32, mean: f32) -> f32 {
  let p = abs(tail);
  let q = 0.5f - p;
${quantileText("p")}
  z = select(z, -z, tail < 0.0f);
  let width = sqrt(mean);
  let whole = floor(mean);
  let change = fma(width, z, fma(z, z, -1.0f) / 6.0f + (z - z * z * z) / (72.0f * width));
  return whole + ceil(mean - whole + change - 0.5f);
}
fn fb_count(tail: f32, mean: f32) -> f32 {
  if (!(mean > 0.0f)) { return 0.0f; }
  if (mean > ${f32(LARGE_MEAN)}) { return fb_large_count(tail, mean); }
  let width = sqrt(mean);
  if (tail >= 0.0f) {
    var count = max(0.0f, floor(mean - 8.0f * width));
    var term = fb_count_probability(count, mean);
    var below = term;
    let most = mean + 2.0f;
    while (below < tail && count < most) {
      count += 1.0f;
      term *= mean / count;
      below += term;
    }
    return count;
  }
  var count = ceil(mean + 7.0f * width + 8.0f);
  var term = fb_count_probability(count, mean);
  while (term < 1e-30f && count > 1.0f) {
    count -= 1.0f;
    term = fb_count_probability(count, mean);
  }
  var above = 0.0f;
  while (count > 0.0f && above + term <= -tail) {
    above += term;
    term *= count / mean;
    count -= 1.0f;
  }
  return count;
}
`;

/** What follows from the noise of a count and its mean; anything else is its value already. */
export const drawnText = ({ count }: Drawing, noise: string, value: string): string =>
  count ? `fb_count(${noise}, ${value})` : value;

/** The streams, and of the rest what these draws need. */
export const randomText = (draws: readonly Drawing[]): string =>
  [
    RANDOM,
    draws.some(({ noise }) => noise.kind === "studentT") ? STUDENT : "",
    draws.some(({ count }) => count) ? COUNT : "",
  ].join("");
