/**
 * One step of Adam for every row, from the bounds and gradients of its tiles: the rule of compute/adam.ts, in units of
 * the variables' spreads, back inside their bounds; and whether a row has settled, by the rule of design/static-ascent.ts.
 */
import { log } from "../../../core/math.js";
import { f32 } from "../wgsl/literal.js";
import { kernelText } from "../wgsl/module.js";
import type { NestedLayout } from "./layout.js";

export const ASCENT_WORKGROUP = 256;

/** Numbers that all rows share, in the order of the buffer `settings`. */
export interface AscentSettings {
  readonly rate: number;
  /** Steps over which the rate falls to a hundredth; 0 where it does not. */
  readonly decaySteps: number;
  /** The rule by which a row has settled; a window of 0 where there is none. */
  readonly window: number;
  readonly speed: number;
  readonly times: number;
}

export const ascentSettings = ({ rate, decaySteps, window, speed, times }: AscentSettings): Float32Array =>
  Float32Array.of(rate, decaySteps, window, speed, times);

/** Where a design variable may be. */
export interface AscentVariable {
  readonly low: number;
  readonly high: number;
}

/** Why a row no longer moves. */
export const RUNNING = 0;
export const SETTLED = 1;
export const NOT_FINITE = 2;

/** Words of a row in the buffer `moments`: mean, mean square, window's sum, means of the window before, calm windows. */
export const momentWords = ({ description: { horizon, design } }: NestedLayout): number =>
  4 * horizon * design.length + 2;

const BETA1 = 0.9;
const BETA2 = 0.999;
const EPSILON = 1e-8;

const bounded = (text: string, low: number, high: number): string => {
  const above = Number.isFinite(low) ? `max(${text}, ${f32(low)})` : text;
  return Number.isFinite(high) ? `min(${above}, ${f32(high)})` : above;
};

/**
 * Workgroups (rows). `ticks` of a row: steps since the chunk began, steps of Adam, why it stopped, steps of the round.
 * `history` gets the bound at [tick, row].
 */
export const ascentKernel = (
  { description: { horizon, design } }: NestedLayout,
  tiles: number,
  variables: readonly AscentVariable[],
): string => {
  const count = horizon * design.length;
  const words = count + 1;
  // Several threads share the tiles of one number, where there are enough of them.
  const parts = Math.max(1, Math.min(tiles, Math.floor(ASCENT_WORKGROUP / words)));
  const cases = variables.map(
    ({ low, high }, v) => `case ${v}u: { moved = ${bounded("moved", low, high)}; }`,
  );
  return kernelText({
    buffers: [
      { name: "results", type: "array<f32>" },
      { name: "settings", type: "array<f32>" },
      { name: "sizes", type: "array<u32>" },
      { name: "spreads", type: "array<f32>" },
      { name: "designs", type: "array<f32>", write: true },
      { name: "moments", type: "array<f32>", write: true },
      { name: "ticks", type: "array<vec4u>", write: true },
      { name: "history", type: "array<f32>", write: true },
    ],
    workgroup: ASCENT_WORKGROUP,
    declarations: `
var<workgroup> total: array<f32, ${words}>;
var<workgroup> partial: array<f32, ${ASCENT_WORKGROUP}>;
var<workgroup> moves: array<f32, ${count}>;
var<workgroup> broken: atomic<u32>;`,
    body: `
let row = group.x;
let now = ticks[row];
let place = row * ${tiles * words}u;
${
  parts === 1
    ? ""
    : `if (lane < ${parts * words}u) {
  var sum = 0.0f;
  for (var tile = lane / ${words}u; tile < ${tiles}u; tile += ${parts}u) {
    sum += results[place + tile * ${words}u + lane % ${words}u];
  }
  partial[lane] = sum;
}
workgroupBarrier();`
}
for (var i = lane; i < ${words}u; i += ${ASCENT_WORKGROUP}u) {
  var sum = 0.0f;
  for (var part = 0u; part < ${parts === 1 ? tiles : parts}u; part++) {
    sum += ${parts === 1 ? `results[place + part * ${words}u + i]` : `partial[part * ${words}u + i]`};
  }
  total[i] = sum;
  // By its bits: a GPU need not know of numbers that are none.
  if ((bitcast<u32>(sum) & 0x7f800000u) == 0x7f800000u) { atomicStore(&broken, 1u); }
}
workgroupBarrier();
var stopped = now.z;
if (stopped == ${RUNNING}u && atomicLoad(&broken) == 1u) { stopped = ${NOT_FINITE}u; }
let moving = stopped == ${RUNNING}u;
let step = f32(now.y + 1u);
let start = row * ${4 * count + 2}u;
if (moving) {
  var rate = settings[0];
  if (settings[1] > 0.0f) { rate *= fb_exp(min(step, settings[1]) / settings[1] * ${f32(log(0.01))}); }
  let size = rate / -fb_expm1(step * ${f32(log(BETA1))});
  let scale = inverseSqrt(-fb_expm1(step * ${f32(log(BETA2))}));
  let window = settings[2];
  let ends = window > 0.0f && (now.w + 1u) % u32(max(window, 1.0f)) == 0u;
  for (var i = lane; i < ${count}u; i += ${ASCENT_WORKGROUP}u) {
    let v = i % ${design.length}u;
    let spread = spreads[row * ${design.length}u + v];
    let slope = -total[i] * spread;
    let mean = fma(${f32(BETA1)}, moments[start + i], ${f32(1 - BETA1)} * slope);
    let square = fma(${f32(BETA2)}, moments[start + ${count}u + i], ${f32(1 - BETA2)} * slope * slope);
    moments[start + i] = mean;
    moments[start + ${count}u + i] = square;
    var moved = (designs[row * ${count}u + i] / spread - size * mean / (sqrt(square) * scale + ${f32(EPSILON)})) * spread;
    switch (v) { ${cases.join("\n")} default: {} }
    designs[row * ${count}u + i] = moved;
    if (window > 0.0f) {
      let sum = moments[start + ${2 * count}u + i] + moved / spread;
      moments[start + ${2 * count}u + i] = select(sum, 0.0f, ends);
      if (ends) {
        let average = sum / window;
        moves[i] = average - moments[start + ${3 * count}u + i];
        moments[start + ${3 * count}u + i] = average;
      }
    }
  }
}
workgroupBarrier();
if (lane == 0u) {
  let window = settings[2];
  if (moving && window > 0.0f && (now.w + 1u) % u32(max(window, 1.0f)) == 0u) {
    // In the first window there is nothing to compare with.
    if (moments[start + ${4 * count + 1}u] > 0.0f) {
      var square = 0.0f;
      for (var i = 0u; i < ${count}u; i++) { square = fma(moves[i], moves[i], square); }
      let calm = sqrt(square / ${f32(count)}) < settings[3] * settings[0] * window;
      let running = select(0.0f, moments[start + ${4 * count}u] + 1.0f, calm);
      moments[start + ${4 * count}u] = running;
      if (running >= settings[4]) { stopped = ${SETTLED}u; }
    }
    moments[start + ${4 * count + 1}u] = 1.0f;
  }
  history[now.x * sizes[0] + row] = total[${count}u];
  ticks[row] = vec4u(now.x + 1u, select(now.y, now.y + 1u, moving), stopped, select(now.w, now.w + 1u, moving));
}`,
  });
};
