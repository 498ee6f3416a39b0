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

/**
 * `fb_philox(counter, key)` as philox4x32 of core/random; `fb_child(state, ...)` is in the keys' kernel.
 *
 * `fb_normal(key, i)` is the standard normal number i of a stream that is at its start: within 4e-7 of what the CPU
 * gives, relative to max(1, |z|). The language has no product of 64 bits, so the upper half is put together from halves.
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
  var z: f32;
  if (q <= 0.425f) {
    let r = fma(-q, q, 0.180625f);
    z = -q * (${polynomial("r", CENTRAL.above)}) / (${polynomial("r", CENTRAL.below)});
  } else {
    let r = sqrt(-fb_log(fma(f32(a), ${f32(2 ** -26)}, rest)));
    if (r <= 5.0f) {
      let t = r - 1.6f;
      z = -(${polynomial("t", TAIL.above)}) / (${polynomial("t", TAIL.below)});
    } else {
      let t = r - 5.0f;
      z = -(${polynomial("t", FAR.above)}) / (${polynomial("t", FAR.below)});
    }
  }
  return select(z, -z, upper);
}
fn fb_normal(key: vec2u, i: u32) -> f32 {
  let words = fb_philox(vec4u(i >> 1u, 0u, 0u, 0u), key);
  let two = select(words.xy, words.zw, (i & 1u) == 1u);
  return fb_quantile(two.x, two.y);
}
`;
