/** Random streams on a GPU: the words of core/random, and normals within the stated distance of the CPU's. */
import { expect, test } from "vitest";
import { encodePaths, KEYS_WORKGROUP, keysKernel } from "../../../src/compute/webgpu/nested/keys-kernel.js";
import { kernelText } from "../../../src/compute/webgpu/wgsl/module.js";
import { RANDOM } from "../../../src/compute/webgpu/wgsl/random.js";
import { normalQuantile } from "../../../src/core/math.js";
import { philox4x32, restoreStream, type StreamName, seededStream } from "../../../src/core/random.js";
import { describeOnGpu } from "../../setup/gpu.js";

const THREADS = 64;
const COUNT = 4096;

describeOnGpu("random streams on a GPU", (gpu) => {
  test("words are those of the CPU, and normals within 4e-7 of it", async () => {
    const buffers = await gpu().allocate({ given: 6 * COUNT, words: 4 * COUNT, normals: 2 * COUNT });
    const kernel = await gpu().kernel(
      kernelText({
        buffers: [
          { name: "given", type: "array<u32>" },
          { name: "words", type: "array<vec4u>", write: true },
          { name: "normals", type: "array<f32>", write: true },
        ],
        workgroup: THREADS,
        declarations: RANDOM,
        body: `let i = group.x * ${THREADS}u + lane;
let at = 6u * i;
let counter = vec4u(given[at], given[at + 1u], given[at + 2u], given[at + 3u]);
words[i] = fb_philox(counter, vec2u(given[at + 4u], given[at + 5u]));
normals[2u * i] = fb_quantile(given[at], given[at + 1u]);
normals[2u * i + 1u] = fb_normal(vec2u(17u, 4u), i);`,
      }),
      [buffers.given, buffers.words, buffers.normals],
    );
    const stream = seededStream("counters");
    // Tails down to the least uniform: words with many leading zeros, or ones.
    const given = Uint32Array.from({ length: 6 * COUNT }, (_, i) => {
      const word = stream.uint32();
      if (i % 6 !== 0) return word;
      const shifted = word >>> (Math.floor(i / 6) % 32);
      return i % 4 === 0 ? shifted : ~shifted;
    });
    gpu().write(buffers.given, given);
    await gpu().submit([{ kernel, workgroups: [COUNT / THREADS] }]);
    const [words, normals] = await gpu().read(
      { buffer: buffers.words, words: 4 * COUNT },
      { buffer: buffers.normals, words: 2 * COUNT },
    );
    const expected = new Uint32Array(4 * COUNT);
    for (let i = 0; i < COUNT; i++) {
      const [counter, key] = [given.subarray(6 * i, 6 * i + 4), given.subarray(6 * i + 4, 6 * i + 6)];
      philox4x32(counter, key, expected.subarray(4 * i, 4 * i + 4));
    }
    expect(new Uint32Array(words)).toEqual(expected);
    const found = new Float32Array(normals);
    const restored = restoreStream({ key: [17, 4], position: 0 });
    for (let i = 0; i < COUNT; i++) {
      const uniform = ((given[6 * i] >>> 6) * 2 ** 26 + (given[6 * i + 1] >>> 6) + 0.5) / 2 ** 52;
      for (const [z, exact] of [
        [found[2 * i], normalQuantile(uniform)],
        [found[2 * i + 1], restored.normal()],
      ]) {
        expect(Math.abs(z - exact)).toBeLessThanOrEqual(4e-7 * Math.max(1, Math.abs(exact)));
      }
    }
    for (const buffer of Object.values(buffers)) buffer.destroy();
  });

  test("keys of named streams are those of the CPU", async () => {
    const paths: StreamName[][] = [
      ["parameters", "theta"],
      ["inner", "sensitive", "a name of more than eight letters"],
      ["noise", "outcome", 3, 2 ** 40],
      ["inner", "none", "phi"],
    ];
    const [steps, numbers] = [3, [0, 4_000_000_000]];
    const blocks = encodePaths(paths);
    const total = steps * numbers.length * paths.length;
    const buffers = await gpu().allocate({ rows: 8, blocks: blocks.length, sizes: 2, keys: 2 * total });
    const parents = numbers.map((_, row) => seededStream(row).split("static"));
    gpu().write(
      buffers.rows,
      Uint32Array.from(numbers.flatMap((number, row) => [...parents[row].key, number, 0])),
    );
    gpu().write(buffers.blocks, blocks);
    gpu().write(buffers.sizes, Uint32Array.of(numbers.length, steps));
    const kernel = await gpu().kernel(keysKernel(paths.length), [
      buffers.rows,
      buffers.blocks,
      buffers.sizes,
      buffers.keys,
    ]);
    await gpu().submit([{ kernel, workgroups: [Math.ceil(total / KEYS_WORKGROUP)] }]);
    const [keys] = await gpu().read({ buffer: buffers.keys, words: 2 * total });
    const expected = Array.from({ length: steps }, (_, step) =>
      numbers.map((number, row) =>
        paths.map((path) => path.reduce((at, name) => at.split(name), parents[row].split(number + step)).key),
      ),
    ).flat(3);
    expect([...new Uint32Array(keys)]).toEqual(expected);
    for (const buffer of Object.values(buffers)) buffer.destroy();
  });
});
