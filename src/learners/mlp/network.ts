/** A trained network's answers, in float64: what a prediction needs of it, without a workspace. */
import { exp } from "../../core/math.js";
import { dot } from "../dot.js";

/** Two classes need one output, the log odds of the second. */
export const outputCount = (classes: number): number => (classes === 2 ? 1 : classes);

/** The classes' probabilities from the outputs that start at `from`: a sigmoid for two, otherwise a softmax. */
export const probabilitiesOf = (
  outputs: Float32Array | Float64Array,
  from: number,
  p: Float64Array,
): void => {
  if (p.length === 2) {
    p[0] = 1 / (1 + exp(outputs[from]));
    p[1] = 1 / (1 + exp(-outputs[from]));
    return;
  }
  let most = outputs[from];
  for (let c = 1; c < p.length; c++) most = Math.max(most, outputs[from + c]);
  let sum = 0;
  for (let c = 0; c < p.length; c++) {
    p[c] = exp(outputs[from + c] - most);
    sum += p[c];
  }
  for (let c = 0; c < p.length; c++) p[c] /= sum;
};

export interface Layer {
  /** [outputs, inputs] */
  readonly weights: Float64Array;
  readonly biases: Float64Array;
}

/** The outputs for one row; ReLU after every layer but the last. */
export const runNetwork = (layers: readonly Layer[], row: Float64Array): Float64Array =>
  layers.reduce((inputs, { weights, biases }, l) => {
    const out = new Float64Array(biases.length);
    for (let o = 0; o < out.length; o++) {
      const sum = biases[o] + dot(inputs, 0, weights, o * inputs.length, inputs.length);
      out[o] = l + 1 < layers.length && sum < 0 ? 0 : sum;
    }
    return out;
  }, row);
