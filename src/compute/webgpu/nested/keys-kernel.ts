/** The keys of the streams of many steps at once, as `childKey` of core/random derives them. */
import type { StreamName } from "../../../core/random.js";
import { kernelText } from "../wgsl/module.js";
import { RANDOM } from "../wgsl/random.js";
import { MOST_GROUPS } from "./groups.js";
import type { StreamPath } from "./layout.js";

/** Words of one block of a name: what is set or mixed in, whether it is mixed in, whether the name ends here. */
const BLOCK = 6;
const NUMBER_NAME = 1;
const STRING_NAME = 2;

const blocksOf = (name: StreamName): number[][] => {
  if (typeof name !== "string") {
    const number = BigInt(name);
    return [[Number(number & 0xffffffffn), Number(number >> 32n), 0, NUMBER_NAME, 0, 1]];
  }
  const blocks = [[name.length, 0, 0, STRING_NAME, 0, 0]];
  for (let at = 0; at < name.length; at += 8) {
    const block = [0, 0, 0, 0, 1, 0];
    for (let i = 0; i < 8 && at + i < name.length; i++) {
      block[i >> 1] = (block[i >> 1] | (name.charCodeAt(at + i) << (16 * (i & 1)))) >>> 0;
    }
    blocks.push(block);
  }
  blocks[blocks.length - 1][BLOCK - 1] = 1;
  return blocks;
};

/** All paths as one list of blocks, after where each begins and how many blocks it has. */
export const encodePaths = (paths: readonly StreamPath[]): Uint32Array => {
  const blocks = paths.map((path) => path.flatMap(blocksOf));
  const words: number[] = [];
  let at = 2 * paths.length;
  for (const each of blocks) {
    words.push(at, each.length);
    at += BLOCK * each.length;
  }
  return Uint32Array.from([...words, ...blocks.flat(2)]);
};

export const KEYS_WORKGROUP = 64;

/**
 * keys[(step rows + row) streams + stream] of steps 0, 1, ... after `rows[row].number`, below the key `rows[row].key`.
 * One thread for each.
 */
export const keysKernel = (streams: number): string =>
  kernelText({
    buffers: [
      { name: "rows", type: "array<vec4u>" },
      { name: "blocks", type: "array<u32>" },
      { name: "sizes", type: "array<u32>" },
      { name: "keys", type: "array<vec2u>", write: true },
    ],
    workgroup: KEYS_WORKGROUP,
    declarations: RANDOM,
    body: `
let rowCount = sizes[0];
let total = rowCount * sizes[1] * ${streams}u;
for (var i = group.x * ${KEYS_WORKGROUP}u + lane; i < total; i += ${MOST_GROUPS * KEYS_WORKGROUP}u) {
let stream = i % ${streams}u;
let at = rows[(i / ${streams}u) % rowCount];
let step = i / (${streams}u * rowCount);
var key = fb_philox(vec4u(at.z + step, 0u, 0u, ${NUMBER_NAME}u), at.xy).xy;
var state = vec4u();
var place = blocks[2u * stream];
for (var count = blocks[2u * stream + 1u]; count > 0u; count--) {
  let words = vec4u(blocks[place], blocks[place + 1u], blocks[place + 2u], blocks[place + 3u]);
  state = fb_philox(select(words, state ^ words, blocks[place + 4u] == 1u), key);
  if (blocks[place + 5u] == 1u) { key = state.xy; }
  place += ${BLOCK}u;
}
keys[i] = key;
}`,
  });
