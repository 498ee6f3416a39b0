/**
 * A step of Adam for every row's network, in two kernels: sums of the gradient's parts with its norm, and the step itself by
 * the rule of compute/adam.ts, the gradient scaled down to a norm where one is given.
 */
import { experimentWords } from "../nested/bound-kernel.js";
import { ADAM_STEP, adamChange } from "../wgsl/adam.js";
import { f32 } from "../wgsl/literal.js";
import { kernelText } from "../wgsl/module.js";
import { type Reducing, reduceText, scratchWords } from "../wgsl/reduce.js";
import type { PolicyLayout } from "./layout.js";

/** Numbers that all rows share, in the order of the buffer `settings`. */
export interface AdamSettings {
  readonly rate: number;
  /** Steps over which the rate falls to a hundredth; 0 where it does not. */
  readonly decaySteps: number;
  /** Gradients with a larger norm are scaled down to it. */
  readonly clip: number;
}

/** As large as a float32 is: nothing is scaled down. */
const NO_CLIP = 3e38;

export const adamSettings = ({ rate, decaySteps, clip }: AdamSettings): Float32Array =>
  Float32Array.of(rate, decaySteps, Math.min(clip, NO_CLIP));

export const adamGroups = ({ parameters }: PolicyLayout, { workgroup }: Reducing): number =>
  Math.ceil(parameters / workgroup);

/**
 * Workgroups (parts of the parameters, rows): the gradient from its parts, the square of its norm by workgroup, and the bound
 * in `history` [steps, rows]. Moves `ticks` on: steps since the chunk began, steps of Adam.
 */
export const gradientKernel = (layout: PolicyLayout, splits: number, reducing: Reducing): string => {
  const { workgroup } = reducing;
  const { outer } = layout.description.nested;
  const words = experimentWords(layout.nested, true);
  const count = layout.parameters;
  return kernelText({
    buffers: [
      { name: "partials", type: "array<f32>" },
      { name: "results", type: "array<f32>" },
      { name: "sizes", type: "array<u32>" },
      { name: "gradient", type: "array<f32>", write: true },
      { name: "norms", type: "array<f32>", write: true },
      { name: "ticks", type: "array<vec4u>", write: true },
      { name: "history", type: "array<f32>", write: true },
    ],
    workgroup,
    subgroups: reducing.leastSubgroup !== undefined,
    declarations: `var<workgroup> scratch: array<f32, ${scratchWords(reducing, 2)}>;`,
    body: `
let row = group.y;
let p = group.x * ${workgroup}u + lane;
var slope = 0.0f;
if (p < ${count}u) {
  for (var part = 0u; part < ${splits}u; part++) { slope += partials[(row * ${splits}u + part) * ${count}u + p]; }
  gradient[row * ${count}u + p] = slope;
}
var square = slope * slope;
var bound = 0.0f;
if (group.x == 0u) {
  for (var b = lane; b < ${outer}u; b += ${workgroup}u) { bound += results[(row * ${outer}u + b) * ${words}u]; }
}
${reduceText("sum", ["square", "bound"], reducing)}
if (lane == 0u) {
  if (group.x == 0u) {
    bound *= ${f32(1 / outer)};
    // By its bits: a GPU need not know of numbers that are none.
    if ((bitcast<u32>(bound) & 0x7f800000u) == 0x7f800000u) { square = bound; }
    let now = ticks[row];
    history[now.x * sizes[0] + row] = bound;
    ticks[row] = vec4u(now.x + 1u, now.y + 1u, 0u, 0u);
  }
  norms[row * ${adamGroups(layout, reducing)}u + group.x] = square;
}`,
  });
};

/**
 * Workgroups (parts of the parameters, rows). `transposed` has the same weights, those of an input side by side. A workgroup
 * that met a number that is none stays where it is: `stopped` [rows, workgroups] says so.
 */
export const adamKernel = (layout: PolicyLayout, reducing: Reducing): string => {
  const { workgroup } = reducing;
  const count = layout.parameters;
  const groups = adamGroups(layout, reducing);
  const places = [...layout.encoder, ...layout.emitter].map(
    ({ weights, biases, inputs, outputs }) =>
      `if (p >= ${weights}u && p < ${biases}u) { let k = p - ${weights}u; to = ${weights}u + (k % ${inputs}u) * ${outputs}u + k / ${inputs}u; }`,
  );
  return kernelText({
    buffers: [
      { name: "gradient", type: "array<f32>" },
      { name: "norms", type: "array<f32>" },
      { name: "settings", type: "array<f32>" },
      { name: "ticks", type: "array<vec4u>" },
      { name: "parameters", type: "array<f32>", write: true },
      { name: "transposed", type: "array<f32>", write: true },
      { name: "moments", type: "array<f32>", write: true },
      { name: "stopped", type: "array<u32>", write: true },
    ],
    workgroup,
    subgroups: reducing.leastSubgroup !== undefined,
    declarations: `var<workgroup> scratch: array<f32, ${scratchWords(reducing, 1)}>;`,
    body: `
let row = group.y;
let p = group.x * ${workgroup}u + lane;
var square = 0.0f;
for (var part = lane; part < ${groups}u; part += ${workgroup}u) { square += norms[row * ${groups}u + part]; }
${reduceText("sum", ["square"], reducing)}
let broken = (bitcast<u32>(square) & 0x7f800000u) == 0x7f800000u;
let own = row * ${groups}u + group.x;
if (broken || stopped[own] != 0u) {
  if (lane == 0u) { stopped[own] = 1u; }
  return;
}
if (p >= ${count}u) { return; }
let step = f32(ticks[row].y);
${ADAM_STEP}
let norm = sqrt(square);
// Up the gradient.
let slope = -gradient[row * ${count}u + p] * select(1.0f, settings[2] / norm, norm > settings[2]);
let at = row * ${2 * count}u + p;
${adamChange("moments[at]", `moments[at + ${count}u]`)}
let moved = parameters[row * ${count}u + p] - change;
parameters[row * ${count}u + p] = moved;
var to = p;
${places.join("\n")}
transposed[row * ${count}u + to] = moved;`,
  });
};
