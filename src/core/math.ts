/**
 * Special functions in float64 that give the same bits in every engine.
 *
 * `Math.log` and its like may differ between browsers, so these are made only of operations that IEEE 754 and
 * ECMAScript specify exactly: + - * /, `Math.sqrt`, `Math.floor`, `Math.abs` and the bits of a float64.
 */
export { chiSquareTail } from "./math/chi-square.js";
export { digamma } from "./math/digamma.js";
export { erf, erfc, normalCdf } from "./math/erf.js";
export { exp, expm1 } from "./math/exp.js";
export { lgamma } from "./math/lgamma.js";
export { log, log1p } from "./math/log.js";
export { normalQuantile } from "./math/normal-quantile.js";
export { sinPi } from "./math/sinpi.js";
export { tanh } from "./math/tanh.js";
export { trigamma } from "./math/trigamma.js";
export { wholePower } from "./math/whole-power.js";
