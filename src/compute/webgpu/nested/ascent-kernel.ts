/**
 * One step of Adam for every row, from the bounds and gradients of its tiles: the rule of compute/adam.ts, in units of
 * the variables' spreads, back inside their bounds; and whether a row has settled, by the rule of design/static-ascent.ts.
 */
import { ADAM_STEP, adamChange } from "../wgsl/adam.js";
import { f32 } from "../wgsl/literal.js";
import { kernelText } from "../wgsl/module.js";
import { hasScore, tileWords } from "./bound-kernel.js";
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

/** Where a design variable may be; one with values is moved by no gradient. */
export interface AscentVariable {
  readonly low: number;
  readonly high: number;
  readonly values?: readonly number[] | undefined;
}

/** Why a row no longer moves. */
export const RUNNING = 0;
export const SETTLED = 1;
export const NOT_FINITE = 2;

/**
 * Words of a row with so many numbers in the buffer `moments`: mean, mean square, window's sum, means of the window before,
 * calm windows.
 */
export const momentWords = (count: number): number => 4 * count + 2;

const bounded = (text: string, low: number, high: number): string => {
  const above = Number.isFinite(low) ? `max(${text}, ${f32(low)})` : text;
  return Number.isFinite(high) ? `min(${above}, ${f32(high)})` : above;
};

/**
 * Workgroups (rows). `ticks` of a row: steps since the chunk began, steps of Adam, why it stopped, steps of the round.
 * `history` gets the bound at [tick, row].
 */
export const ascentKernel = (
  layout: NestedLayout,
  tiles: number,
  variables: readonly AscentVariable[],
): string => {
  const { horizon, design } = layout.description;
  const count = horizon * design.length;
  const words = tileWords(layout, true);
  const bound = words - 1;
  // Several threads share the tiles of one number, where there are enough of them.
  const parts = Math.max(1, Math.min(tiles, Math.floor(ASCENT_WORKGROUP / words)));
  const cases = variables.map(
    ({ low, high, values }, v) =>
      `case ${v}u: { moved = ${values === undefined ? bounded("moved", low, high) : "designs[place_of]"}; }`,
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
let start = row * ${momentWords(count)}u;
if (moving) {
${ADAM_STEP}
  let window = settings[2];
  let ends = window > 0.0f && (now.w + 1u) % u32(max(window, 1.0f)) == 0u;
  for (var i = lane; i < ${count}u; i += ${ASCENT_WORKGROUP}u) {
    let v = i % ${design.length}u;
    let spread = spreads[row * ${design.length}u + v];
    let place_of = row * ${count}u + i;
    let slope = -${hasScore(layout) ? `(total[i] - total[${bound}u] * total[${count}u + i])` : "total[i]"} * spread;
${adamChange("moments[start + i]", `moments[start + ${count}u + i]`)}
    var moved = (designs[place_of] / spread - change) * spread;
    switch (v) { ${cases.join("\n")} default: {} }
    designs[place_of] = moved;
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
  history[now.x * sizes[0] + row] = total[${bound}u];
  ticks[row] = vec4u(now.x + 1u, select(now.y, now.y + 1u, moving), stopped, select(now.w, now.w + 1u, moving));
}`,
  });
};
