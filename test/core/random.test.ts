import { Worker } from "node:worker_threads";
import fc from "fast-check";
import { build, type Rollup } from "vite";
import { describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.js";
import { normalCdf, normalQuantile } from "../../src/core/math.js";
import { philoxBlocks } from "../../src/core/random/philox.js";
import { poissonLogProbability } from "../../src/core/random/poisson.js";
import {
  drawArgumentText,
  fillNormal,
  fillUniform,
  LARGEST_POISSON_MEAN,
  philox4x32,
  type RandomStream,
  restoreStream,
  seededStream,
  streamNameText,
  streamStateText,
  uniformFromWords,
  weightSumText,
  weightText,
} from "../../src/core/random.js";
import { momentsOf, sampleVariance } from "../../src/core/stats.js";
import { CHI_SQUARE_LIMIT, chiSquare, KOLMOGOROV_LIMIT, kolmogorov } from "./goodness.js";
import { ulpsBetween } from "./ulps.js";

const draw = (n: number, next: () => number): Float64Array => Float64Array.from({ length: n }, next);
const words = (stream: RandomStream, n: number): number[] => Array.from({ length: n }, () => stream.uint32());

describe("Philox 4x32-10", () => {
  const F = 0xffffffff;
  // Known-answer vectors of the authors' Random123 library.
  test.each([
    { counter: [0, 0, 0, 0], key: [0, 0], out: [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8] },
    { counter: [F, F, F, F], key: [F, F], out: [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd] },
    {
      counter: [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344],
      key: [0xa4093822, 0x299f31d0],
      out: [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1],
    },
  ])("known answer for key $key", ({ counter, key, out }) => {
    const result = new Uint32Array(4);
    philox4x32(counter, key, result);
    expect([...result]).toEqual(out);
  });

  test("every word agrees with the specification in 64-bit integers", () => {
    const specification = (counter: number[], key: number[]): number[] => {
      let [a, b, c, d] = counter.map(BigInt);
      let [x, y] = key.map(BigInt);
      const low = 0xffffffffn;
      for (let round = 0; round < 10; round++) {
        const p = 0xd2511f53n * a;
        const q = 0xcd9e8d57n * c;
        [a, b, c, d] = [(q >> 32n) ^ b ^ x, q & low, (p >> 32n) ^ d ^ y, p & low];
        x = (x + 0x9e3779b9n) & low;
        y = (y + 0xbb67ae85n) & low;
      }
      return [a, b, c, d].map(Number);
    };
    const word = fc.oneof(
      fc.integer({ min: 0, max: F }),
      fc.constantFrom(0, 1, 0xffff, 0x10000, 0x80000000, F),
    );
    fc.assert(
      fc.property(fc.array(word, { minLength: 6, maxLength: 6 }), (input) => {
        const result = new Uint32Array(4);
        philox4x32(input.slice(0, 4), input.slice(4), result);
        expect([...result]).toEqual(specification(input.slice(0, 4), input.slice(4)));
      }),
      { numRuns: 500, seed: 1 },
    );
  });

  test("four blocks at a time are the blocks one by one, also where the second counter word changes", () => {
    for (const first of [
      0,
      5,
      2 ** 31 - 2,
      2 ** 32 - 8,
      2 ** 32 - 3,
      2 ** 32 - 2,
      3 * 2 ** 32 - 1,
      2 ** 45 + 7,
    ]) {
      const out = new Uint32Array(34).fill(7);
      philoxBlocks([0x89abcdef, 0x01234567], first, 8, out, 1);
      const one = new Uint32Array(4);
      for (let i = 0; i < 8; i++) {
        philox4x32(
          [(first + i) % 2 ** 32, Math.floor((first + i) / 2 ** 32), 0, 0],
          [0x89abcdef, 0x01234567],
          one,
        );
        expect([...out.subarray(1 + 4 * i, 5 + 4 * i)]).toEqual([...one]);
      }
      expect([out[0], out[33]]).toEqual([7, 7]);
    }
  });
});

// The numbers below come from a separate Python program written from the doc comments (big integers, SciPy's quantile).
describe("golden numbers", () => {
  test("seed 42", () => {
    const stream = seededStream(42);
    expect(stream.key).toEqual([0xfd50288f, 0x7e5c6d5a]);
    expect(words(stream, 6)).toEqual([
      0xde3baae9, 0x5d663891, 0x3ca6a03e, 0x3ef784f9, 0x7dee86bf, 0xe070a972,
    ]);
    const uniforms = [0.8680979514843378, 0.23691749939269335, 0.4919208716857296, 0.99182268094924];
    const normals = [1.1174450152688018, -0.7162532324715221, -0.020252755907803295, 2.40090373895682];
    const uniform = seededStream(42);
    expect(uniforms.map(() => uniform.uniform())).toEqual(uniforms);
    const normal = seededStream(42);
    for (const z of normals) expect(ulpsBetween(normal.normal(), z)).toBeLessThanOrEqual(4);
  });
  test("normals to the bit, 20 000 of them by a checksum", () => {
    // From the same Python program, which follows the documented order of operations in float64.
    const normals = [
      1.1174450152688016, -0.7162532324715221, -0.020252755907803295, 2.4009037389568197, -0.382847798751572,
      -2.4090767830785107, -1.244742848318955, 0.8281802265053274, -1.4195033652029736, 0.1365348344094584,
      -1.1114703106474142, -0.48600018519528193,
    ];
    const out = new Float64Array(20_000);
    fillNormal(seededStream(42), out);
    expect([...out.subarray(0, 12)]).toEqual(normals);
    const view = new DataView(new ArrayBuffer(8));
    let checksum = 0n;
    for (const z of out) {
      view.setFloat64(0, z);
      checksum = BigInt.asUintN(64, checksum * 31n + view.getBigInt64(0));
    }
    expect(checksum).toBe(0xfe8bf26635a0e3dfn);
  });
  test("names and seeds of every kind", () => {
    const stream = seededStream(42);
    expect(stream.split("outer").key).toEqual([0x417d9723, 0x193c0efa]);
    expect(words(stream.split("outer"), 4)).toEqual([0x6b480ece, 0xa50fc520, 0xa1dae1ce, 0xf6bf8b90]);
    expect(stream.split(7).key).toEqual([0xfc0afdc8, 0xb67768d0]);
    expect(seededStream("a longer name, beyond eight units – ü").key).toEqual([0x5f03bc7b, 0xa8d8fe4a]);
    expect(seededStream(2 ** 40 + 5).key).toEqual([0x96fc604d, 0x30a3ba8a]);
    expect(seededStream(2n ** 40n + 5n).key).toEqual([0x96fc604d, 0x30a3ba8a]);
    expect(seededStream(2n ** 64n - 1n).key).toEqual([0x3e158ccf, 0x0610736e]);
  });
  test("across the 2^32nd block", () => {
    const position = 4 * (2 ** 32 - 2);
    const expected = [
      0x64ef0e99, 0xa47a35c3, 0xaed184eb, 0xea8d74f2, 0x6e198d1b, 0xe3d934fd, 0xb2c34fb4, 0x27bae2b8,
      0x7bd860b2, 0x52b705a3, 0xcc378c41, 0x3e372e60, 0x277356f9, 0x385a4c35, 0x813c5754, 0x745e2df0,
      0x1aeab792, 0x63497d6d, 0x5ecd30a3, 0x7917e67d,
    ];
    const at = () => restoreStream({ key: [0xfd50288f, 0x7e5c6d5a], position });
    expect(words(at(), 20)).toEqual(expected);
    const bulk = new Uint32Array(20);
    at().fillUint32(bulk);
    expect([...bulk]).toEqual(expected);
  });
});

describe("uniforms from words", () => {
  test("never 0 or 1, exact at both ends, symmetric", () => {
    expect(uniformFromWords(0, 0)).toBe(2 ** -53);
    expect(uniformFromWords(0xffffffff, 0xffffffff)).toBe(1 - 2 ** -53);
    expect(uniformFromWords(0x80000000, 0)).toBe(0.5 + 2 ** -53);
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 0xffffffff }),
        fc.integer({ min: 0, max: 0xffffffff }),
        (a, b) => {
          expect(1 - uniformFromWords(a, b)).toBe(uniformFromWords(~a >>> 0, ~b >>> 0));
        },
      ),
    );
  });
});

describe("streams", () => {
  test("splitting ignores what was drawn, and does not draw", () => {
    const used = seededStream("s");
    words(used, 37);
    expect(used.split("child").state).toEqual(seededStream("s").split("child").state);
    expect(used.position).toBe(37);
  });

  test("different names, seeds and kinds of name give different keys", () => {
    const root = seededStream(1);
    const names = [
      0,
      1,
      2,
      2 ** 32,
      2 ** 40,
      "",
      "0",
      "1",
      "a",
      "b",
      "aa",
      "a\0",
      "\0",
      "\0a",
      "ä",
      "12345678",
      "123456789",
    ];
    const streams = [
      root,
      ...names.map((name) => root.split(name)),
      root.split("a").split("a"),
      seededStream(2),
    ];
    expect(new Set(streams.map(({ key }) => key.join())).size).toBe(streams.length);
    expect(root.split(1n).key).toEqual(root.split(1).key);
  });

  test("100 000 children have different keys, and their first uniforms are uniform and uncorrelated", () => {
    const root = seededStream("independence");
    const keys = new Set<string>();
    const first = draw(100_000, () => 0);
    for (let i = 0; i < first.length; i++) {
      const child = root.split(i);
      keys.add(child.key.join());
      first[i] = child.uniform();
    }
    expect(keys.size).toBe(first.length);
    expect(kolmogorov(first, (x) => x)).toBeLessThan(KOLMOGOROV_LIMIT);
    let lag = 0;
    for (let i = 1; i < first.length; i++) lag += (first[i] - 0.5) * (first[i - 1] - 0.5) * 12;
    expect(Math.abs(lag) / Math.sqrt(first.length)).toBeLessThan(3.3);
  });

  test("parent and children are uncorrelated", () => {
    const root = seededStream("pairs");
    const n = 20_000;
    const columns = [root, root.split("a"), root.split("b"), root.split(0)].map((s) =>
      draw(n, () => s.normal()),
    );
    columns.forEach((x, i) => {
      for (const y of columns.slice(0, i)) {
        const dot = x.reduce((sum, value, k) => sum + value * y[k], 0);
        expect(Math.abs(dot) / Math.sqrt(n)).toBeLessThan(3.3);
      }
    });
  });

  test("a stream survives JSON at any position, and mixed draws resume exactly", () => {
    fc.assert(
      fc.property(fc.nat(70), fc.nat(70), (before, after) => {
        const stream = seededStream("json");
        words(stream, before);
        const copy = restoreStream(JSON.parse(JSON.stringify(stream.state)));
        expect(copy.position).toBe(before);
        expect(words(copy, after)).toEqual(words(stream, after));
        expect(copy.normal()).toBe(stream.normal());
        expect(copy.state).toEqual(stream.state);
      }),
    );
  });

  test("bulk fills are the draws one by one, from any position", () => {
    fc.assert(
      fc.property(fc.nat(40), fc.nat(1500), (before, n) => {
        const start = () => {
          const stream = seededStream("bulk");
          words(stream, before);
          return stream;
        };
        const one = start();
        const uniforms = draw(n, () => one.uniform());
        const bulk = new Float64Array(n);
        const stream = start();
        fillUniform(stream, bulk);
        expect(bulk).toEqual(uniforms);
        expect(stream.state).toEqual(one.state);
        expect(stream.uint32()).toBe(one.uint32());
        fillNormal(start(), bulk);
        expect(bulk).toEqual(uniforms.map(normalQuantile));
        const single = new Float32Array(n);
        fillNormal(start(), single);
        expect(single).toEqual(Float32Array.from(bulk));
        fillUniform(start(), single);
        expect(single).toEqual(Float32Array.from(uniforms));
        const integers = new Uint32Array(n);
        start().fillUint32(integers);
        expect([...integers]).toEqual(words(start(), n));
      }),
      { numRuns: 50 },
    );
  });

  test("a worker thread draws the same numbers", async () => {
    const entry = new URL("../../src/core/random.ts", import.meta.url).pathname;
    const bundle = await build({
      configFile: false,
      logLevel: "silent",
      build: { write: false, minify: false, lib: { entry, formats: ["es"], fileName: "random" } },
    });
    const [{ output }] = bundle as Rollup.RollupOutput[];
    const code = `${output[0].code}
      import { parentPort } from "node:worker_threads";
      const s = seededStream(42).split("worker");
      parentPort.postMessage([s.uint32(), s.normal(), s.gamma(0.3), s.poisson(50), s.beta(2, 3), s.state]);`;
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`));
    const answer = await new Promise((resolve, reject) =>
      worker.once("message", resolve).once("error", reject),
    );
    await worker.terminate();
    const s = seededStream(42).split("worker");
    expect(answer).toEqual([s.uint32(), s.normal(), s.gamma(0.3), s.poisson(50), s.beta(2, 3), s.state]);
  });
});

describe("continuous distributions", () => {
  const N = 20_000;
  const erlang = (shape: number) => (x: number) => {
    let term = Math.exp(-x);
    let tail = term;
    for (let k = 1; k < shape; k++) {
      term *= x / k;
      tail += term;
    }
    return 1 - tail;
  };
  const cases: readonly {
    name: string;
    draw: (s: RandomStream) => number;
    cdf: (x: number) => number;
    mean: number;
    variance: number;
  }[] = [
    { name: "uniform", draw: (s) => s.uniform(), cdf: (x) => x, mean: 0.5, variance: 1 / 12 },
    {
      name: "uniform(-2, 5)",
      draw: (s) => s.uniform(-2, 5),
      cdf: (x) => (x + 2) / 7,
      mean: 1.5,
      variance: 49 / 12,
    },
    { name: "normal", draw: (s) => s.normal(), cdf: normalCdf, mean: 0, variance: 1 },
    {
      name: "normal(3, 2)",
      draw: (s) => s.normal(3, 2),
      cdf: (x) => normalCdf((x - 3) / 2),
      mean: 3,
      variance: 4,
    },
    {
      name: "exponential(4)",
      draw: (s) => s.exponential(4),
      cdf: (x) => 1 - Math.exp(-4 * x),
      mean: 0.25,
      variance: 1 / 16,
    },
    { name: "gamma(1)", draw: (s) => s.gamma(1), cdf: erlang(1), mean: 1, variance: 1 },
    { name: "gamma(3, 2)", draw: (s) => s.gamma(3, 2), cdf: (x) => erlang(3)(x / 2), mean: 6, variance: 12 },
    { name: "gamma(40)", draw: (s) => s.gamma(40), cdf: erlang(40), mean: 40, variance: 40 },
    // Gamma(1/2) is half the square of a normal variable.
    {
      name: "gamma(0.5)",
      draw: (s) => s.gamma(0.5),
      cdf: (x) => 2 * normalCdf(Math.sqrt(2 * x)) - 1,
      mean: 0.5,
      variance: 0.5,
    },
    {
      name: "beta(2, 3)",
      draw: (s) => s.beta(2, 3),
      cdf: (x) => x * x * (6 - 8 * x + 3 * x * x),
      mean: 0.4,
      variance: 0.04,
    },
    {
      name: "beta(0.5, 0.5)",
      draw: (s) => s.beta(0.5, 0.5),
      cdf: (x) => (2 / Math.PI) * Math.asin(Math.sqrt(x)),
      mean: 0.5,
      variance: 1 / 8,
    },
    {
      name: "beta(0.2, 1)",
      draw: (s) => s.beta(0.2, 1),
      cdf: (x) => x ** 0.2,
      mean: 1 / 6,
      variance: 0.2 / (1.44 * 2.2),
    },
  ];
  test.each(cases)("$name", ({ name, draw: next, cdf, mean, variance }) => {
    const stream = seededStream("continuous").split(name);
    const sample = draw(N, () => next(stream));
    expect(kolmogorov(sample, cdf)).toBeLessThan(KOLMOGOROV_LIMIT);
    const moments = momentsOf(sample);
    expect(Math.abs(moments.mean - mean)).toBeLessThan(4 * Math.sqrt(variance / N));
    expect(Math.abs(sampleVariance(moments) / variance - 1)).toBeLessThan(0.08);
  });

  test("tiny shapes: log x of gamma is about log(u) / shape, and beta stays inside [0, 1] with the right mean", () => {
    const stream = seededStream("tiny");
    // P(X < 1e-100) = 1e-100^shape / Gamma(shape + 1), nearly.
    const small = draw(N, () => stream.gamma(0.001)).filter((x) => x < 1e-100).length / N;
    expect(Math.abs(small - 10 ** -0.1 / 0.99942)).toBeLessThan(0.013);
    const betas = draw(N, () => stream.beta(0.001, 0.002));
    expect(betas.every((x) => x >= 0 && x <= 1)).toBe(true);
    expect(Math.abs(momentsOf(betas).mean - 2 / 3 + 1 / 3)).toBeLessThan(0.015);
  });
});

describe("discrete distributions", () => {
  const N = 20_000;

  test.each([0.3, 4, 9.99, 10, 35.5, 1000])("poisson(%d)", (mean) => {
    const stream = seededStream("poisson").split(String(mean));
    const sample = draw(N, () => stream.poisson(mean));
    const low = Math.max(0, Math.floor(mean - 3 * Math.sqrt(mean)));
    const high = Math.ceil(mean + 3 * Math.sqrt(mean));
    // Cells: below low, each (or each run) of low..high, above high; probabilities by the recurrence p(k+1) = p(k) m / (k+1).
    const width = Math.max(1, Math.floor((high - low) / 20));
    const cells = Math.ceil((high - low + 1) / width) + 2;
    const cell = (k: number) => (k < low ? 0 : k > high ? cells - 1 : 1 + Math.floor((k - low) / width));
    const probabilities = new Array<number>(cells).fill(0);
    let logP = -mean;
    for (let k = 0; k <= high + 30 * Math.sqrt(mean) + 40; k++) {
      probabilities[cell(k)] += Math.exp(logP);
      logP += Math.log(mean / (k + 1));
    }
    const counts = new Array<number>(cells).fill(0);
    for (const k of sample) counts[cell(k)]++;
    const filled = probabilities.map((p, i) => ({ p, count: counts[i] })).filter(({ p }) => p * N > 4);
    const rest = 1 - filled.reduce((sum, { p }) => sum + p, 0);
    const restCount = N - filled.reduce((sum, { count }) => sum + count, 0);
    if (rest * N < 1) expect(restCount).toBeLessThan(8);
    expect(
      chiSquare(
        filled.map(({ count }) => count),
        filled.map(({ p }) => p),
        N,
      ),
    ).toBeLessThan(CHI_SQUARE_LIMIT);
    expect(Math.abs(momentsOf(sample).mean - mean)).toBeLessThan(4 * Math.sqrt(mean / N));
    expect(Math.abs(sampleVariance(momentsOf(sample)) / mean - 1)).toBeLessThan(0.06);
  });

  test("poisson with very large means is nearly normal", () => {
    for (const mean of [1e8, 1e12, 1e15]) {
      const stream = seededStream("large").split(mean);
      const sample = draw(5000, () => (stream.poisson(mean) - mean) / Math.sqrt(mean));
      expect(kolmogorov(sample, normalCdf)).toBeLessThan(KOLMOGOROV_LIMIT);
    }
    expect(seededStream(1).poisson(0)).toBe(0);
  });

  // mpmath, 50 digits.
  test.each([
    [0, 12, -12],
    [9, 12, -2.437667631989467],
    [10, 12, -2.2553460751955123],
    [60, 50, -3.9067930979828276],
    [1000, 1000, -4.372899506026297],
    [1000031622, 1e9, -11.780557434520073],
  ])("log of the Poisson probability of %d at mean %d", (k, mean, expected) => {
    expect(Math.abs(poissonLogProbability(k, mean) / expected - 1)).toBeLessThan(1e-13);
  });

  test("categorical follows its weights, whatever their sum, and never draws a weight of 0", () => {
    const stream = seededStream("categorical");
    const counts = [0, 0, 0, 0, 0];
    for (let i = 0; i < N; i++) counts[stream.categorical([0, 2, 6, 0, 12])]++;
    expect([counts[0], counts[3]]).toEqual([0, 0]);
    expect(chiSquare([counts[1], counts[2], counts[4]], [0.1, 0.3, 0.6], N)).toBeLessThan(CHI_SQUARE_LIMIT);
    expect(stream.categorical(Float32Array.of(0, 5e-45))).toBe(1);
  });

  test.each([1, 2, 7, 100, 3 * 2 ** 30, 2 ** 32])("integer(%d) is uniform", (n) => {
    const stream = seededStream("integer").split(n);
    const cells = Math.min(n, 12);
    const counts = new Array<number>(cells).fill(0);
    const probabilities = new Array<number>(cells).fill(0);
    for (let i = 0; i < N; i++) {
      const k = stream.integer(n);
      expect(Number.isInteger(k) && k >= 0 && k < n).toBe(true);
      counts[Math.floor((k / n) * cells)]++;
    }
    for (let k = 0; k < Math.min(n, 100); k++) probabilities[Math.floor((k / Math.min(n, 100)) * cells)] += 1;
    const exact = n <= 100 ? probabilities.map((p) => p / n) : probabilities.map(() => 1 / cells);
    if (n > 1) expect(chiSquare(counts, exact, N)).toBeLessThan(CHI_SQUARE_LIMIT);
  });

  test("integer rejects the words that would favour some results", () => {
    // Without rejection floor(3 word / 4) would be 0 modulo 3 half of the time.
    const stream = seededStream("rejection");
    const counts = [0, 0, 0];
    for (let i = 0; i < N; i++) counts[stream.integer(3 * 2 ** 30) % 3]++;
    expect(chiSquare(counts, [1 / 3, 1 / 3, 1 / 3], N)).toBeLessThan(CHI_SQUARE_LIMIT);
  });

  test("permutations of 4 are equally likely", () => {
    const stream = seededStream("permutation");
    const counts = new Map<string, number>();
    for (let i = 0; i < N; i++) {
      const name = stream.permutation(4).join();
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    expect(counts.size).toBe(24);
    expect(chiSquare([...counts.values()], new Array(24).fill(1 / 24), N)).toBeLessThan(CHI_SQUARE_LIMIT);
  });

  test.each([
    [5, 2],
    [30, 2],
  ])("choices of 2 from %d are equally likely, in order too", (n, k) => {
    const stream = seededStream("choice").split(n);
    const counts = new Map<string, number>();
    for (let i = 0; i < N; i++) {
      const name = stream.choice(n, k).join();
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    const all = n * (n - 1);
    expect(counts.size).toBe(all);
    expect(chiSquare([...counts.values()], new Array(all).fill(1 / all), N)).toBeLessThan(CHI_SQUARE_LIMIT);
  });

  test("properties of permutations, choices and integers", () => {
    const size = fc.integer({ min: 1, max: 200 });
    fc.assert(
      fc.property(fc.nat(), size, fc.double({ min: 0, max: 1, noNaN: true }), (seed, n, share) => {
        const stream = seededStream(seed);
        expect([...stream.permutation(n)].sort((a, b) => a - b)).toEqual(
          Array.from({ length: n }, (_, i) => i),
        );
        const k = Math.floor(share * n);
        const chosen = stream.choice(n, k);
        expect(chosen.length).toBe(k);
        expect(new Set(chosen).size).toBe(k);
        expect(chosen.every((i) => i < n)).toBe(true);
        expect(stream.integer(n)).toBeLessThan(n);
      }),
    );
    const few = seededStream(1).choice(2 ** 32, 1000);
    expect(new Set(few).size).toBe(1000);
  });

  test("storing only the moved entries changes nothing", () => {
    // 2000 of 16 001 stores moved entries only, a permutation stores all; the first 2000 steps are the same.
    const sparse = seededStream("steps").choice(16_001, 2000);
    expect([...sparse]).toEqual([...seededStream("steps").permutation(16_001).subarray(0, 2000)]);
  });
});

describe("mistakes are named", () => {
  const stream = seededStream(0);
  const fails = (f: () => unknown, text: string) => {
    expect(f).toThrow(InputError);
    expect(f).toThrow(text);
  };
  test("seeds and names", () => {
    for (const seed of [-1, 1.5, Number.NaN, 2 ** 53, -1n, 2n ** 64n]) {
      fails(() => seededStream(seed), streamNameText(seed));
    }
    fails(() => stream.split(-3), streamNameText(-3));
  });
  test("states", () => {
    const bad = [
      { key: [1, 2], position: -1 },
      { key: [1, 2], position: 0.5 },
      { key: [1, 2 ** 32], position: 0 },
      { key: [1], position: 0 },
    ];
    for (const state of bad) fails(() => restoreStream(state as never), streamStateText(state));
  });
  test("draws", () => {
    const positive = "a positive, finite number";
    fails(
      () => stream.uniform(2, 1),
      drawArgumentText("uniform", "high - low", -1, "finite and not negative"),
    );
    fails(() => stream.normal(0, -1), drawArgumentText("normal", "sd", -1, "finite and not negative"));
    fails(() => stream.normal(Number.NaN), drawArgumentText("normal", "mean", Number.NaN, "finite"));
    fails(() => stream.exponential(0), drawArgumentText("exponential", "rate", 0, positive));
    fails(() => stream.gamma(0), drawArgumentText("gamma", "shape", 0, positive));
    fails(() => stream.gamma(1, Number.NaN), drawArgumentText("gamma", "scale", Number.NaN, positive));
    fails(() => stream.beta(-1, 1), drawArgumentText("beta", "a", -1, positive));
    fails(() => stream.beta(1, 0), drawArgumentText("beta", "b", 0, positive));
    const range = `between 0 and ${LARGEST_POISSON_MEAN}`;
    for (const mean of [-1, Number.NaN, 1e16]) {
      fails(() => stream.poisson(mean), drawArgumentText("poisson", "mean", mean, range));
    }
    for (const n of [0, 1.5, 2 ** 32 + 1, Number.NaN]) {
      fails(() => stream.integer(n), drawArgumentText("integer", "n", n, "a whole number from 1 to 2^32"));
    }
    fails(
      () => stream.permutation(-1),
      drawArgumentText("permutation", "n", -1, "a whole number from 0 to 2^32"),
    );
    fails(() => stream.choice(-1, 0), drawArgumentText("choice", "n", -1, "a whole number from 0 to 2^32"));
    fails(() => stream.choice(3, 4), drawArgumentText("choice", "k", 4, "a whole number from 0 to n = 3"));
    fails(() => stream.categorical([1, -1]), weightText(-1, 1));
    fails(() => stream.categorical([Number.NaN]), weightText(Number.NaN, 0));
    fails(() => stream.categorical([]), weightSumText(0, 0));
    fails(() => stream.categorical([0, 0]), weightSumText(0, 2));
    fails(() => stream.categorical([1e308, 1e308]), weightSumText(Number.POSITIVE_INFINITY, 2));
  });
});

test("skipping words is the same as drawing them", () => {
  for (const words of [0, 1, 3, 4, 17, 1000]) {
    for (const before of [0, 1, 6]) {
      const [drawn, skipped] = [seededStream(11), seededStream(11)];
      for (let i = 0; i < before; i++) expect(drawn.uint32()).toBe(skipped.uint32());
      for (let i = 0; i < words; i++) drawn.uint32();
      skipped.skip(words);
      expect(skipped.state).toEqual(drawn.state);
      expect(skipped.uint32()).toBe(drawn.uint32());
    }
  }
  expect(() => seededStream(1).skip(-1)).toThrow("skip");
});
