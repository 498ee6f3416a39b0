/** Polynomials of lgamma and its first two derivatives, the same for every backend: scripts/minimax.mjs. */

/** sin(pi r) / r in r^2, |r| <= 1/2: relative error 2.8e-8. */
export const SINPI = [
  3.1415927410125732, -5.167718410491943, 2.5502169132232666, -0.5990927815437317, 0.07914714515209198,
];
/** cos(pi r) in r^2, |r| <= 1/2: absolute error 1.1e-9. */
export const COSPI = [
  1, -4.934802055358887, 4.0587053298950195, -1.335161566734314, 0.23468376696109772, -0.023963874205946922,
];
/** lgamma(2 + d) / d, |d| <= 1/2: relative error 2.5e-8. */
export const LGAMMA = [
  0.42278432846069336, 0.32246702909469604, -0.06735145300626755, 0.020581407472491264, -0.007402690127491951,
  0.0028785469476133585, -0.001080388086847961, 0.0005843602702952921, -0.00046267281868495047,
  -0.00003879528594552539,
];
/** y (lgamma y - (y - 1/2) log y + y - log(2 pi) / 2) in 1 / y^2, y >= 4.5: absolute error of lgamma 2.5e-10. */
export const STIRLING = [0.0833333283662796, -0.0027767678257077932, 0.0007481561624445021];
/** y^2 (log y - 1 / (2 y) - digamma y) in 1 / y^2, y >= 3: absolute error of digamma 3.9e-9. */
export const DIGAMMA = [0.0833326056599617, -0.008291668258607388, 0.0032649259082973003];
/** y^3 (trigamma y - 1 / y - 1 / (2 y^2)) in 1 / y^2, y >= 3: relative error of trigamma 1.3e-9. */
export const TRIGAMMA = [
  0.16666629910469055, -0.03329899162054062, 0.022787343710660934, -0.020370278507471085,
];
