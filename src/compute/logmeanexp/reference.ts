/**
 * The `js` backend: the definition, written down in float64. Two passes over the inner samples, every derivative at
 * every point, nothing hoisted: it is what the kernels are tested against, and the fallback without SIMD.
 */
import { exp, log } from "../../core/math.js";
import type { Traced } from "../graph/expression.js";
import { gradient } from "../graph/gradient.js";
import { pointFunction } from "../js/point-function.js";
import { bitsOf, INNER, OBSERVATION, OUTER, type Sizes } from "./axes.js";

/** Where the element of an array at (b, t, s) is. */
const placeOf = (node: Traced, sizes: Sizes): ((b: number, t: number, s: number) => number) => {
  const bits = bitsOf(node);
  const s1 = (bits & INNER) !== 0 ? 1 : 0;
  const t1 = (bits & OBSERVATION) === 0 ? 0 : s1 === 1 ? sizes.inner : 1;
  const inside = ((bits & OBSERVATION) !== 0 ? sizes.observation : 1) * (s1 === 1 ? sizes.inner : 1);
  const b1 = (bits & OUTER) !== 0 ? inside : 0;
  return (b, t, s) => b * b1 + t * t1 + s * s1;
};

export const evaluate = (
  root: Traced,
  inputs: readonly Traced[],
  wanted: readonly Traced[],
  sizes: Sizes,
  arrays: ReadonlyMap<string, Float64Array>,
  gradients: ReadonlyMap<string, Float64Array>,
  value: Float64Array,
  adjointOfValues: () => (b: number) => number,
): void => {
  const { outer, inner, observation } = sizes;
  const point = pointFunction(inputs, [root, ...gradient(root, wanted, { pointwise: true })]);
  const data = inputs.map((input) => arrays.get(input.name) ?? new Float64Array(0));
  const places = inputs.map((input) => placeOf(input, sizes));
  const targets = wanted.map((leaf) => gradients.get(leaf.name) ?? new Float64Array(0));
  const targetPlaces = wanted.map((leaf) => placeOf(leaf, sizes));
  const at = new Float64Array(inputs.length);
  const out = new Float64Array(1 + wanted.length);
  const evaluateAt = (b: number, t: number, s: number) => {
    for (let i = 0; i < at.length; i++) at[i] = data[i][places[i](b, t, s)];
    point(at, out);
  };
  /** Log-likelihoods of all inner samples, and their largest. */
  const logs = new Float64Array(inner);
  const evaluateLogs = (b: number): number => {
    let largest = -Infinity;
    for (let s = 0; s < inner; s++) {
      logs[s] = 0;
      for (let t = 0; t < observation; t++) {
        evaluateAt(b, t, s);
        logs[s] += out[0];
      }
      if (logs[s] > largest || Number.isNaN(logs[s])) largest = logs[s];
    }
    return largest;
  };
  for (let b = 0; b < outer; b++) {
    const largest = evaluateLogs(b);
    let z = 0;
    for (let s = 0; s < inner; s++) z += largest === -Infinity ? 0 : exp(logs[s] - largest);
    value[b] = largest === Infinity ? Infinity : largest + log(z / inner);
  }
  const adjoint = adjointOfValues();
  if (wanted.length === 0) return;
  for (const target of targets) target.fill(0);
  for (let b = 0; b < outer; b++) {
    evaluateLogs(b);
    for (let s = 0; s < inner; s++) {
      const weight = (adjoint(b) * exp(logs[s] - value[b])) / inner;
      if (weight === 0) continue;
      for (let t = 0; t < observation; t++) {
        evaluateAt(b, t, s);
        for (let v = 0; v < targets.length; v++) targets[v][targetPlaces[v](b, t, s)] += weight * out[1 + v];
      }
    }
  }
};
