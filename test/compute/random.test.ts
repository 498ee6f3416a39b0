/**
 * Numbers made in kernels against core/random, bit for bit; core's own are checked against published vectors, closed
 * forms and mpmath in test/core.
 */
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { WideConstants } from "../../src/compute/random/constants.js";
import {
  LANE_OFFSETS,
  STEP,
  TAIL_STEP,
  writeNormals,
  writeUniforms,
} from "../../src/compute/random/normals.js";
import { compileRandom, randomTexts } from "../../src/compute/random.js";
import { I32, ModuleWriter, V128 } from "../../src/compute/wasm/encoder.js";
import { keep } from "../../src/compute/wasm/kernel.js";
import { Workspace } from "../../src/compute/workspace.js";
import { InputError } from "../../src/core/errors.js";
import { normalQuantile } from "../../src/core/math.js";
import {
  drawArgumentText,
  fillNormal,
  fillUniform,
  type RandomStream,
  randomStream,
  restoreStream,
} from "../../src/core/random.js";

const bitsOf = (floats: Float32Array): Int32Array =>
  new Int32Array(floats.buffer, floats.byteOffset, floats.length);

const expectSameBits = (actual: Float32Array, expected: Float32Array): void => {
  expect(actual.length).toBe(expected.length);
  const [a, b] = [bitsOf(actual), bitsOf(expected)];
  const at = a.findIndex((bits, i) => bits !== b[i]);
  if (at >= 0) expect.fail(`element ${at}: ${actual[at]}, not ${expected[at]}`);
};

const GUARD = 12345;
const MOST = 100_003;

/** Kernels in a workspace, and one array there with a guard on either side. */
const setUp = (threads: number, most = MOST) => {
  const workspace = new Workspace({ threads });
  const kernels = compileRandom(workspace);
  const room = workspace.allocate(4 * (most + 2));
  const address = room + 4;
  /** What `fill` leaves in the array's first `length` floats, with nothing else touched. */
  const filled = (length: number, fill: (address: number) => void): Float32Array => {
    workspace.floats(room, length + 2).fill(GUARD);
    fill(address);
    const around = workspace.floats(room, length + 2);
    expect([around[0], around[length + 1]]).toEqual([GUARD, GUARD]);
    return Float32Array.from(workspace.floats(address, length));
  };
  return { workspace, kernels, filled };
};
const machines = new Map([1, 2, 3].map((threads) => [threads, setUp(threads)]));
const machine = (threads: number): ReturnType<typeof setUp> => machines.get(threads) ?? setUp(threads);
afterAll(() => {
  for (const { workspace } of machines.values()) workspace.dispose();
});

/** The same stream twice, `position` words from its start. */
const twice = (seed: number | string, position: number): [RandomStream, RandomStream] => {
  const { key } = randomStream(seed);
  return [restoreStream({ key, position }), restoreStream({ key, position })];
};

const expectSameUniforms = (
  threads: number,
  seed: number | string,
  position: number,
  length: number,
): void => {
  const { kernels, filled } = machine(threads);
  const [ours, core] = twice(seed, position);
  const expected = new Float32Array(length);
  fillUniform(core, expected);
  expectSameBits(
    filled(length, (address) => kernels.fillUniform(ours, address, length)),
    expected,
  );
  expectSameState(ours, core);
};

const expectSameNormals = (
  threads: number,
  seed: number | string,
  position: number,
  length: number,
): void => {
  const { kernels, filled } = machine(threads);
  const [ours, core] = twice(seed, position);
  const expected = new Float32Array(length);
  fillNormal(core, expected);
  expectSameBits(
    filled(length, (address) => kernels.fillNormal(ours, address, length)),
    expected,
  );
  expectSameState(ours, core);
};

/** Both stand at the same place and go on alike. */
const expectSameState = (ours: RandomStream, core: RandomStream): void => {
  expect(ours.state).toEqual(core.state);
  for (let i = 0; i < 20; i++) expect(ours.uint32()).toBe(core.uint32());
};

const LENGTHS = [0, 1, 2, 3, 4, 5, 7, 8, 9, 1000, 1023, 1024, 1025, MOST];
/** The last ones: a word before the 2^32nd; where block numbers pass 2^32, inside a vector of counters; far beyond. */
const POSITIONS = [0, 1, 2, 3, 4, 5, 2 ** 32 - 1, 2 ** 34 - 10, 2 ** 34 - 2051, 2 ** 34 + 7, 2 ** 50 + 3];

describe.each([1, 2, 3])("compileRandom on %i threads", (threads) => {
  it.each(LENGTHS)("gives the uniforms of core/random, %i of them", (length) => {
    for (const position of [0, 1, 2, 3]) expectSameUniforms(threads, "uniform", position, length);
  });

  it.each(LENGTHS)("gives the normals of core/random, %i of them", (length) => {
    for (const position of [0, 1, 2, 3]) expectSameNormals(threads, "normal", position, length);
  });

  it.each(POSITIONS)("starts anywhere in the stream: at word %i", (position) => {
    for (const seed of [0, 1, "a", 2 ** 53 - 1]) {
      expectSameUniforms(threads, seed, position, 5000);
      expectSameNormals(threads, seed, position, 5000);
    }
  });

  it("agrees for any seed, position and length", () => {
    fc.assert(
      fc.property(
        fc.maxSafeNat(),
        fc.oneof(fc.nat(100), fc.integer({ min: 2 ** 34 - 5000, max: 2 ** 34 + 10 }), fc.nat(2 ** 50)),
        fc.integer({ min: 0, max: 3000 }),
        (seed, position, length) => {
          expectSameUniforms(threads, seed, position, length);
          expectSameNormals(threads, seed, position, length);
        },
      ),
    );
  });

  it.each([
    [3, 1],
    [-0.1, 0.3],
    [1e6, 1e-3],
    [0, 0],
    [-0, 0],
    [2.5, 0],
    [1e300, 1e290],
    [1e-40, 1e-42],
  ])("rounds mean %f and sd %f as stream.normal does", (mean, sd) => {
    const { kernels, filled } = machine(threads);
    const [ours, core] = twice("scaled", 3);
    const actual = filled(3001, (address) => kernels.fillNormal(ours, address, 3001, { mean, sd }));
    expectSameBits(
      actual,
      Float32Array.from({ length: 3001 }, () => core.normal(mean, sd)),
    );
    expectSameState(ours, core);
  });
});

describe("compileRandom", () => {
  it("continues where the last call ended, mixed with draws in between", () => {
    const { kernels, filled } = machine(2);
    const [ours, core] = twice("mixed", 0);
    for (const length of [3, 1, 2000, 5]) {
      const expected = new Float32Array(length);
      fillNormal(core, expected);
      expectSameBits(
        filled(length, (address) => kernels.fillNormal(ours, address, length)),
        expected,
      );
      expect(ours.uint32()).toBe(core.uint32());
      fillUniform(core, expected);
      expectSameBits(
        filled(length, (address) => kernels.fillUniform(ours, address, length)),
        expected,
      );
      expect(ours.integer(1000)).toBe(core.integer(1000));
    }
  });

  it("agrees in the tails: four million normals, some beyond 5", () => {
    const length = 4_000_000;
    const { workspace, kernels, filled } = setUp(2, length);
    const [ours, core] = twice("tails", 1);
    const expected = new Float32Array(length);
    fillNormal(core, expected);
    const actual = filled(length, (address) => kernels.fillNormal(ours, address, length));
    expectSameBits(actual, expected);
    expect(actual.reduce((most, z) => Math.max(most, Math.abs(z)), 0)).toBeGreaterThan(5);
    workspace.dispose();
  });

  it("keeps all 53 bits before it rounds: the distance to core's float64 is exactly zero", () => {
    const { kernels, filled } = machine(1);
    const [ours, core] = twice("float64", 0);
    for (let i = 0; i < 3000; i++) {
      const mean = -core.normal();
      const [distance] = filled(1, (address) => kernels.fillNormal(ours, address, 1, { mean }));
      if (distance !== 0) expect.fail(`normal ${i} is ${-mean}, but differs by ${distance}`);
    }
  });

  it("lets other programs have its memory back", () => {
    const workspace = new Workspace({ threads: 1 });
    const before = workspace.allocate(4);
    workspace.release(before);
    const kernels = compileRandom(workspace);
    kernels.dispose();
    const mine = workspace.allocate(4);
    expect(mine).toBe(before);
    // What it had is someone else's by now.
    const others = [workspace.allocate(20_000), workspace.allocate(2000)];
    kernels.dispose();
    expect([mine, ...others]).not.toContain(workspace.allocate(4));
    expect([mine, ...others]).not.toContain(workspace.allocate(2000));
    const stream = randomStream(1);
    expect(() => kernels.fillUniform(stream, mine, 1)).toThrow(
      new InputError("disposed", randomTexts.disposed),
    );
    expect(stream.position).toBe(0);
    workspace.dispose();
  });

  it("refuses what it cannot fill and draws nothing", () => {
    const workspace = new Workspace({ threads: 1 });
    const kernels = compileRandom(workspace);
    const address = workspace.allocate(40);
    const stream = randomStream(1);
    const { bytes } = workspace;
    const text = (draw: string, name: string, given: number, expected: string) =>
      drawArgumentText(draw, name, given, expected);
    expect(() => kernels.fillNormal(stream, address, 10, { sd: -1 })).toThrow(
      text("normal", "sd", -1, "finite and not negative"),
    );
    expect(() => kernels.fillNormal(stream, address, 10, { mean: Number.NaN })).toThrow(
      text("normal", "mean", Number.NaN, "finite"),
    );
    for (const length of [-1, 1.5, Number.NaN]) {
      expect(() => kernels.fillUniform(stream, address, length)).toThrow(
        text("uniform", "length", length, "a whole number from 0"),
      );
    }
    for (const wrong of [0, address + 2, bytes - 36]) {
      expect(() => kernels.fillUniform(stream, wrong, 10)).toThrow(
        text("uniform", "address", wrong, "that of 10 floats in the workspace"),
      );
    }
    expect(stream.position).toBe(0);
    workspace.dispose();
  });
});

/** The loops over words on words of the test's choice: fills 8 elements at a time. */
const onGivenWords = () => {
  const WORDS = 0;
  const OUT = WORDS + 8 * STEP;
  const LIST = OUT + 4 * STEP;
  const MEAN = LIST + 4 * (STEP + TAIL_STEP);
  const LANES = MEAN + 16;
  const CONSTANTS = LANES + 8 * LANE_OFFSETS.length;
  const module = new ModuleWriter();
  const base = 0;
  const constants = new WideConstants(base, CONSTANTS);
  for (const name of ["uniform", "normal"]) {
    module.function(name, [I32], [], (writer) => {
      const at = (offset: number) => keep(writer, () => writer.i32(offset));
      const places = { words: at(WORDS), out: at(OUT), count: at(STEP) };
      if (name === "uniform") {
        writeUniforms(writer, constants, places);
        return;
      }
      const [mean, sd] = [MEAN, MEAN + 8].map((offset) => {
        const local = writer.local(V128);
        writer.i32(offset).memory("v128.load64_splat").set(local);
        return local;
      });
      writeNormals(writer, constants, places, { list: at(LIST), lanes: at(LANES), mean, sd });
    });
  }
  const memory = new WebAssembly.Memory({ initial: 1 });
  const { contents } = constants;
  new BigUint64Array(memory.buffer, LANES, LANE_OFFSETS.length).set(LANE_OFFSETS);
  new BigUint64Array(memory.buffer, CONSTANTS, contents.length).set(contents);
  const compiled = new WebAssembly.Module(module.bytes({ shared: false }));
  const { exports } = new WebAssembly.Instance(compiled, { env: { memory } });
  const words = new Uint32Array(memory.buffer, WORDS, 2 * STEP);
  const scale = new Float64Array(memory.buffer, MEAN, 2);
  const out = new Float32Array(memory.buffer, OUT, STEP);
  const run = (name: "uniform" | "normal", numbers: readonly number[], mean = 0): Float32Array => {
    numbers.forEach((n, i) => {
      // The low six bits of a word must not matter.
      words[2 * i] = Math.floor(n / 2 ** 26) * 64 + (i % 64);
      words[2 * i + 1] = (n % 2 ** 26) * 64 + 63 - (i % 64);
    });
    scale.set([mean, 1]);
    (exports[name] as (base: number) => void)(base);
    return Float32Array.from(out);
  };
  return run;
};

describe("the quantile on given uniforms u = (n + 1/2) / 2^52", () => {
  const run = onGivenWords();
  const uniformOf = (n: number): number => (n + 0.5) * 2 ** -52;
  const eight = (n: number): number[] => Array.from({ length: STEP }, () => n);
  const expectExact = (n: number): void => {
    const u = uniformOf(n);
    const z = normalQuantile(u);
    for (const distance of run("normal", eight(n), -z)) {
      if (distance !== 0) expect.fail(`at n = ${n}, u = ${u}: differs from ${z} by ${distance}`);
    }
  };
  const mirrored = (n: number): number[] => [n, 2 ** 52 - 1 - n];
  const around = (u: number): number[] =>
    Array.from({ length: 41 }, (_, i) => Math.floor(u * 2 ** 52) + i - 20).filter((n) => n >= 0);

  it("is exact at every border between regions, and at both ends", () => {
    // The centre ends at |u - 1/2| = 0.425, the tail where sqrt(-log u) = 5; logarithms change exponent at 2^-k sqrt 2.
    const borders = [0.075, Math.exp(-25), 0.5, 0];
    for (let k = 3; k < 53; k++) borders.push(2 ** -k, 2 ** -k * Math.SQRT2);
    for (const n of borders.flatMap(around).flatMap(mirrored)) expectExact(n);
  });

  it("is exact for random uniforms of every size", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 52, noNaN: true }), (bits) => {
        for (const n of mirrored(Math.min(Math.floor(2 ** bits), 2 ** 52 - 1))) expectExact(n);
      }),
      { numRuns: 20_000 },
    );
  });

  it("treats neighbours in other regions each by its own formula", () => {
    const regions = [1, 2 ** 20, 2 ** 40, 2 ** 48, 2 ** 51, 2 ** 52 - 2 ** 45, 2 ** 52 - 7];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...regions), { minLength: STEP, maxLength: STEP }), (numbers) => {
        expectSameBits(
          run("normal", numbers),
          Float32Array.from(numbers, (n) => normalQuantile(uniformOf(n))),
        );
        expectSameBits(run("uniform", numbers), Float32Array.from(numbers, uniformOf));
      }),
      { numRuns: 2000 },
    );
  });
});
