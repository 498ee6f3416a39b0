/**
 * The gradient in the parameters, dL/dW = sum over records of delta times activation, and dL/db = sum of delta: a workgroup
 * takes a rectangle of one layer's weights and a part of the records, as many at a time as fit into shared memory.
 */
import { kernelText } from "../wgsl/module.js";
import type { DenseLayer, PolicyLayout } from "./layout.js";

export const WEIGHTS_WORKGROUP = 256;
/** Weights of a workgroup: 4 x 4 to a thread. */
const RECTANGLE = 16 * WEIGHTS_WORKGROUP;
const WIDEST_SIDE = 256;
/** Four-byte words of a record in shared memory: deltas, then activations. The longer the one side, the shorter the other. */
const RECORD_WORDS = WIDEST_SIDE + RECTANGLE / WIDEST_SIDE;
/** Records that are in shared memory at a time; the least fits into what every GPU has. Sums are the same to the bit. */
const TOGETHER = { most: 16, least: 8 };

/** Words that describe a rectangle. */
const WORDS = 10;

const powerOfTwoFrom = (value: number): number => (value <= 1 ? 1 : 2 * powerOfTwoFrom(value / 2));

/** Which power of two a number is. */
const shiftOf = (power: number): number => (power <= 1 ? 0 : 1 + shiftOf(power / 2));

/** Rectangles of all layers, as the kernel reads them. */
export const rectanglesOf = ({ description, encoder, emitter }: PolicyLayout): Uint32Array => {
  const { outer, horizon } = description.nested;
  const words: number[] = [];
  const cover = ({ inputs, outputs, weights, biases, before, delta }: DenseLayer, records: number): void => {
    const across = Math.max(16, Math.min(WIDEST_SIDE, powerOfTwoFrom(inputs)));
    // Nearly a square where both sides are long: fewer numbers are read for each product.
    const wide = inputs > 64 && outputs >= 64 ? 64 : across;
    const down = Math.min(WIDEST_SIDE, RECTANGLE / wide);
    for (let o = 0; o < outputs; o += down) {
      for (let i = 0; i < inputs; i += wide) {
        words.push(o, i, outputs, inputs, weights, biases, before, delta, records, shiftOf(wide / 4));
      }
    }
  };
  // The last pair is read by nobody.
  for (const layer of encoder) cover(layer, outer * (horizon - 1));
  for (const layer of emitter) cover(layer, outer * horizon);
  return Uint32Array.from(words);
};

export const rectangleCount = (words: Uint32Array): number => words.length / WORDS;

/** Workgroups (rectangles, parts of the records, rows), with so many bytes of shared memory at most. */
export const weightsKernel = (layout: PolicyLayout, splits: number, sharedBytes: number): string => {
  const { outer, horizon } = layout.description.nested;
  const side = WIDEST_SIDE;
  const together = 4 * TOGETHER.most * RECORD_WORDS <= sharedBytes ? TOGETHER.most : TOGETHER.least;
  const cells = [0, 1, 2, 3];
  return kernelText({
    buffers: [
      { name: "acts", type: "array<f32>" },
      { name: "deltas", type: "array<f32>" },
      { name: "rectangles", type: "array<u32>" },
      { name: "partials", type: "array<f32>", write: true },
    ],
    workgroup: WEIGHTS_WORKGROUP,
    declarations: `var<workgroup> both: array<vec4f, ${(together * RECORD_WORDS) / 4}>;`,
    body: `
let row = group.z;
let about = group.x * ${WORDS}u;
let firstOutput = rectangles[about];
let firstInput = rectangles[about + 1u];
let outputs = rectangles[about + 2u];
let inputs = rectangles[about + 3u];
let before = rectangles[about + 6u];
let delta = rectangles[about + 7u];
let records = rectangles[about + 8u];
// Sides are powers of two, in fours.
let wideShift = rectangles[about + 9u];
let downShift = min(${shiftOf(RECTANGLE / 16)}u - wideShift, ${shiftOf(side / 4)}u);
let down = 4u << downShift;
let share = (records + ${splits - 1}u) / ${splits}u;
let begin = group.y * share;
let end = min(records, begin + share);
let place = row * ${outer * horizon}u;
let i = lane & ((1u << wideShift) - 1u);
let o = lane >> wideShift;
let right = ${together}u << downShift;
${cells.map((r) => `var sum${r} = vec4f();`).join("\n")}
var bias = vec4f();
for (var start = begin; start < end; start += ${together}u) {
  for (var at = lane; at < (${together}u << downShift); at += ${WEIGHTS_WORKGROUP}u) {
    let record = start + (at >> downShift);
    let output = firstOutput + 4u * (at & ((1u << downShift) - 1u));
    let base = (place + record) * ${layout.deltas}u + delta + output;
    var four = vec4f();
    if (record < end) {
      ${cells.map((c) => `if (output + ${c}u < outputs) { four.${"xyzw"[c]} = deltas[base + ${c}u]; }`).join("\n      ")}
    }
    both[at] = four;
  }
  for (var at = lane; at < (${together}u << wideShift); at += ${WEIGHTS_WORKGROUP}u) {
    let record = start + (at >> wideShift);
    let input = firstInput + 4u * (at & ((1u << wideShift) - 1u));
    let base = (place + record) * ${layout.record}u + before + input;
    var four = vec4f();
    if (record < end) {
      ${cells.map((c) => `if (input + ${c}u < inputs) { four.${"xyzw"[c]} = acts[base + ${c}u]; }`).join("\n      ")}
    }
    both[right + at] = four;
  }
  workgroupBarrier();
  if (4u * o < down) {
    for (var r = 0u; r < ${together}u; r++) {
      let d = both[(r << downShift) + o];
      let a = both[right + (r << wideShift) + i];
      ${cells.map((r) => `sum${r} = fma(vec4f(d.${"xyzw"[r]}), a, sum${r});`).join("\n      ")}
      bias += d;
    }
  }
  workgroupBarrier();
}
if (4u * o < down) {
  let to = (row * ${splits}u + group.y) * ${layout.parameters}u;
  let output = firstOutput + 4u * o;
  let input = firstInput + 4u * i;
  ${cells
    .map(
      (r) => `if (output + ${r}u < outputs) {
    let line = to + rectangles[about + 4u] + (output + ${r}u) * inputs + input;
    ${cells.map((c) => `if (input + ${c}u < inputs) { partials[line + ${c}u] = sum${r}.${"xyzw"[c]}; }`).join("\n    ")}
    if (input == 0u) { partials[to + rectangles[about + 5u] + output + ${r}u] = bias.${"xyzw"[r]}; }
  }`,
    )
    .join("\n  ")}
}`,
  });
};
