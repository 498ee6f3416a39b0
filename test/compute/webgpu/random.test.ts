/** Random streams on a GPU: the words of core/random, and normals within the stated distance of the CPU's. */
import { expect, test } from "vitest";
import { encodePaths, KEYS_WORKGROUP, keysKernel } from "../../../src/compute/webgpu/nested/keys-kernel.js";
import { kernelText } from "../../../src/compute/webgpu/wgsl/module.js";
import { drawText, RANDOM, randomText } from "../../../src/compute/webgpu/wgsl/random.js";
import { normalQuantile } from "../../../src/core/math.js";
import { poissonLogProbability } from "../../../src/core/random/poisson.js";
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

  test("uniforms are those of the CPU, Student t numbers follow their distribution, and counts their quantiles", async () => {
    const freedoms = [1, 4];
    const means = [1e-4, 0.3, 15, 70, 3000, 1e4];
    // By the other formula; from 2^24 on, a number stands for the counts around it as well.
    const large = [10_001, 1e6, 1e8];
    const all = [...means, ...large];
    const students = freedoms.map((freedom) => ({
      noise: { kind: "studentT", freedom } as const,
      count: false,
    }));
    const uniform = { noise: { kind: "uniform" } as const, count: false };
    const draws = [uniform, ...students];
    const buffers = await gpu().allocate({
      tails: COUNT,
      drawn: draws.length * COUNT,
      counts: all.length * COUNT,
    });
    const kernel = await gpu().kernel(
      kernelText({
        buffers: [
          { name: "tails", type: "array<f32>" },
          { name: "drawn", type: "array<f32>", write: true },
          { name: "counts", type: "array<f32>", write: true },
        ],
        workgroup: THREADS,
        declarations: randomText([...draws, { ...uniform, count: true }]),
        body: `let i = group.x * ${THREADS}u + lane;
let key = vec2u(17u, 4u);
${draws.map((each, k) => `drawn[${k * COUNT}u + i] = ${drawText(each, "key", "i")};`).join("\n")}
let tail = select(tails[i], ${drawText({ ...uniform, count: true }, "key", "i")}, tails[i] == 0.0f);
${all.map((mean, k) => `counts[${k * COUNT}u + i] = fb_count(tail, f32(${mean}));`).join("\n")}`,
      }),
      [buffers.tails, buffers.drawn, buffers.counts],
    );
    // Some from far in the tails; the others, which are 0 here, from the stream.
    const tails = Float32Array.from({ length: COUNT }, (_, i) =>
      i % 4 > 0 ? 0 : (i % 8 === 0 ? 1 : -1) * 0.5 * 10 ** (-(i % 97) / 8),
    );
    gpu().write(buffers.tails, tails);
    await gpu().submit([{ kernel, workgroups: [COUNT / THREADS] }]);
    const [numbers, counts] = await gpu().read(
      { buffer: buffers.drawn, words: draws.length * COUNT },
      { buffer: buffers.counts, words: all.length * COUNT },
    );
    const found = new Float32Array(numbers);
    const stream = restoreStream({ key: [17, 4], position: 0 });
    const uniforms = Float64Array.from({ length: COUNT }, () => stream.uniform());
    expect(uniforms.every((u, i) => Math.abs(found[i] - u) <= 2 ** -24)).toBe(true);
    // Kolmogorov and Smirnov: a distance above 1.95 / sqrt(n) has a chance of one in a thousand.
    const distributions: ((t: number) => number)[] = [
      (t) => 0.5 + Math.atan(t) / Math.PI,
      (t) => 0.5 + ((3 / 8) * t * (1 - t ** 2 / (12 * (1 + t ** 2 / 4)))) / Math.sqrt(1 + t ** 2 / 4),
    ];
    distributions.forEach((distribution, k) => {
      const sorted = found.slice((k + 1) * COUNT, (k + 2) * COUNT).sort();
      const distance = sorted.reduce(
        (most, t, i) => Math.max(most, Math.abs(distribution(t) - (i + 0.5) / COUNT)),
        0,
      );
      expect(distance).toBeLessThan(1.95 / Math.sqrt(COUNT));
    });
    all.forEach((mean, k) => {
      const from = Math.max(0, Math.floor(mean - 12 * Math.sqrt(mean)));
      const length = Math.ceil(24 * Math.sqrt(mean)) + 40;
      const terms = Float64Array.from({ length }, (_, j) =>
        Math.exp(poissonLogProbability(from + j, Math.fround(mean))),
      );
      const below = new Float64Array(length + 1);
      const above = new Float64Array(length + 2);
      for (let j = 0; j < length; j++) below[j + 1] = below[j] + terms[j];
      for (let j = length; j-- > 0; ) above[j] = above[j + 1] + terms[j];
      const drawn = new Float32Array(counts).subarray(k * COUNT, (k + 1) * COUNT);
      const around = mean < 2 ** 24 ? 0 : 2 ** (Math.floor(Math.log2(mean)) - 24);
      const wrong = drawn.filter((count, i) => {
        const first = count - from - around;
        const last = count - from + around;
        const tail = tails[i] === 0 ? (uniforms[i] < 0.5 ? uniforms[i] : uniforms[i] - 1) : tails[i];
        // below[first] = P(X < count), above[last + 1] = P(X > count); the ends meet at a rounding of the sum.
        const [least, most] = tail > 0 ? [below[first], below[last + 1]] : [above[last + 1], above[first]];
        return !(Math.abs(tail) >= least * (1 - 5e-4) - 2e-12 && Math.abs(tail) <= most * (1 + 5e-4) + 2e-12);
      });
      expect([...wrong], `mean ${mean}`).toEqual([]);
    });
    for (const buffer of Object.values(buffers)) buffer.destroy();
  });
});
