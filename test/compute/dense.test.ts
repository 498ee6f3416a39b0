import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { type Activation, createDense, type Dense, denseTexts } from "../../src/compute/dense.js";
import { Workspace, type WorkspaceOptions } from "../../src/compute/workspace.js";
import { EnvironmentError, InputError } from "../../src/core/errors.js";
import { type RandomStream, seededStream } from "../../src/core/random.js";

const opened: Workspace[] = [];
const open = (options: WorkspaceOptions = { threads: 1 }): Workspace => {
  const workspace = new Workspace(options);
  opened.push(workspace);
  return workspace;
};
afterEach(() => {
  for (const workspace of opened.splice(0)) workspace.dispose();
});

const fill = (array: Float32Array, random: RandomStream): void => {
  for (let i = 0; i < array.length; i++) array[i] = random.normal();
};

/** Random parameters, input and upstream gradient. */
const fillAll = (network: Dense, seed: number | string = 1): void => {
  const random = seededStream(seed);
  network.initialise(random.split("parameters"));
  fill(network.input, random.split("input"));
  fill(network.outputGradient, random.split("gradient"));
};

const VALUES = ["output", "inputGradient", "gradient"] as const;
type Values = Record<(typeof VALUES)[number], Float64Array>;

const valuesOf = (network: Dense): Values => ({
  output: Float64Array.from(network.output),
  inputGradient: Float64Array.from(network.inputGradient),
  gradient: Float64Array.from(network.gradient),
});

/** The definition, in float64 loops; `kinks` is how near to 0 the sum of a hidden unit came. */
const reference = (
  { widths, activation, rows }: Pick<Dense, "widths" | "activation" | "rows">,
  data: { parameters: ArrayLike<number>; input: ArrayLike<number>; outputGradient: ArrayLike<number> },
): Values & { kinks: number } => {
  const sigma = (x: number) => (activation === "relu" ? Math.max(x, 0) : Math.tanh(x));
  const slope = (a: number) => (activation === "relu" ? (a > 0 ? 1 : 0) : 1 - a * a);
  const depth = widths.length - 1;
  const { parameters } = data;
  const at: { weights: number; biases: number }[] = [];
  let offset = 0;
  for (let l = 0; l < depth; l++) {
    at.push({ weights: offset, biases: offset + widths[l] * widths[l + 1] });
    offset += (widths[l] + 1) * widths[l + 1];
  }
  let kinks = Number.POSITIVE_INFINITY;
  const activations = [Float64Array.from(data.input)];
  for (let l = 0; l < depth; l++) {
    const [ins, outs] = [widths[l], widths[l + 1]];
    const next = new Float64Array(rows * outs);
    for (let n = 0; n < rows; n++) {
      for (let o = 0; o < outs; o++) {
        let sum = parameters[at[l].biases + o];
        for (let i = 0; i < ins; i++)
          sum += activations[l][n * ins + i] * parameters[at[l].weights + o * ins + i];
        if (l < depth - 1) kinks = Math.min(kinks, Math.abs(sum));
        next[n * outs + o] = l < depth - 1 ? sigma(sum) : sum;
      }
    }
    activations.push(next);
  }
  const gradient = new Float64Array(offset);
  let d = Float64Array.from(data.outputGradient);
  for (let l = depth - 1; l >= 0; l--) {
    const [ins, outs] = [widths[l], widths[l + 1]];
    const below = new Float64Array(rows * ins);
    for (let n = 0; n < rows; n++) {
      for (let o = 0; o < outs; o++) {
        const g = d[n * outs + o];
        gradient[at[l].biases + o] += g;
        for (let i = 0; i < ins; i++) {
          const a = activations[l][n * ins + i];
          gradient[at[l].weights + o * ins + i] += g * a;
          below[n * ins + i] += g * parameters[at[l].weights + o * ins + i] * (l === 0 ? 1 : slope(a));
        }
      }
    }
    d = below;
  }
  return { output: activations[depth], inputGradient: d, gradient, kinks };
};

/** Largest difference, relative to the largest value (and at least to 1). */
const difference = (got: ArrayLike<number>, wanted: Float64Array): number => {
  expect(got.length).toBe(wanted.length);
  let most = 0;
  let scale = 1;
  for (let i = 0; i < wanted.length; i++) {
    const off = Math.abs(got[i] - wanted[i]);
    most = Number.isNaN(off) ? Number.POSITIVE_INFINITY : Math.max(most, off);
    scale = Math.max(scale, Math.abs(wanted[i]));
  }
  return most / scale;
};

/** Whether a relu's sum is so near 0 that float32 may see another sign of it than float64. */
const ambiguous = (network: Dense, kinks: number): boolean => network.activation === "relu" && kinks < 1e-5;

const expectReference = (network: Dense): boolean => {
  const wanted = reference(network, network);
  if (ambiguous(network, wanted.kinks)) return false;
  for (const name of VALUES) expect(difference(network[name], wanted[name]), name).toBeLessThan(2e-6);
  return true;
};

const width = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 17 }) },
  { weight: 1, arbitrary: fc.constantFrom(64, 67, 256) },
);
const shapes = fc.record({
  widths: fc.array(width, { minLength: 2, maxLength: 4 }),
  rows: fc.integer({ min: 1, max: 40 }),
  activation: fc.constantFrom<Activation>("relu", "tanh"),
  relaxed: fc.boolean(),
  seed: fc.nat(),
});

describe("against float64 loops", () => {
  test("forward and backward, any widths and rows", () => {
    let checked = 0;
    fc.assert(
      fc.property(shapes, ({ widths, rows, activation, relaxed, seed }) => {
        const workspace = new Workspace({ threads: 1, relaxed });
        const network = createDense(workspace, { widths, rows, activation });
        fillAll(network, seed);
        network.forward();
        network.backward();
        if (expectReference(network)) checked++;
        workspace.dispose();
      }),
      { numRuns: 150 },
    );
    expect(checked).toBeGreaterThan(75);
  });

  test.each([
    { widths: [3, 64, 256, 16], rows: 300, activation: "tanh" as const },
    { widths: [16, 128, 16, 2], rows: 129, activation: "tanh" as const },
    { widths: [70, 33, 130], rows: 257, activation: "tanh" as const },
    { widths: [1, 1], rows: 1000, activation: "relu" as const },
    { widths: [131, 35], rows: 1, activation: "relu" as const },
  ])("$widths on $rows rows: more than one block, chunk and panel", ({ widths, rows, activation }) => {
    for (const relaxed of [true, false]) {
      const network = createDense(open({ threads: 2, relaxed }), { widths, rows, activation });
      fillAll(network);
      network.forward();
      network.backward();
      expect(expectReference(network)).toBe(true);
    }
  });

  test("the encoder with relu on 1000 rows: in the mean, where single signs may differ", () => {
    const network = createDense(open(), { widths: [3, 64, 256, 16], rows: 1000 });
    fillAll(network);
    network.forward();
    network.backward();
    const wanted = reference(network, network);
    for (const name of VALUES) {
      const squares = wanted[name].reduce((sum, value) => sum + value * value, 0);
      const off = wanted[name].reduce((sum, value, i) => sum + (network[name][i] - value) ** 2, 0);
      expect(Math.sqrt(off / squares), name).toBeLessThan(1e-5);
    }
  });
});

test("a network by hand: relu, its slope at and below 0, and the order of the parameters", () => {
  const network = createDense(open(), { widths: [2, 3, 1], rows: 2 });
  // Units x + 2y + 0.5, x - y, -x; output 1 * first + 10 * second + 100 * third - 1.
  network.parameters.set([1, 2, 1, -1, -1, 0, 0.5, 0, 0, 1, 10, 100, -1]);
  network.input.set([1, 1, -2, 3]);
  network.outputGradient.set([1, 2]);
  network.forward();
  network.backward();
  // Row 0: sums 3.5, 0, -1; row 1: sums 4.5, -5, 2.
  expect([...network.output]).toEqual([2.5, 203.5]);
  expect([...network.inputGradient]).toEqual([1, 2, 2 - 200, 4]);
  expect([...network.weightGradient(1)]).toEqual([3.5 + 9, 0, 4]);
  expect([...network.biasGradient(1)]).toEqual([3]);
  expect([...network.weightGradient(0)]).toEqual([1 - 4, 1 + 6, 0, 0, -400, 600]);
  expect([...network.biasGradient(0)]).toEqual([3, 0, 200]);
  expect([...network.weights(1)]).toEqual([1, 10, 100]);
  expect([...network.biases(0)]).toEqual([0.5, 0, 0]);
});

test("PyTorch's numbers (1.13, float64, nn.Sequential of Linear, Tanh and Linear)", () => {
  const network = createDense(open(), { widths: [2, 3, 2], rows: 2, activation: "tanh" });
  network.parameters.set([
    0.1, -0.2, 0.3, 0.4, -0.5, 0.6, 0.05, -0.1, 0.2, 0.7, -0.8, 0.9, 1, 1.1, -1.2, 0.3, -0.4,
  ]);
  network.input.set([1, 2, -0.5, 0.25]);
  network.outputGradient.set([1, -1, 0.5, 2]);
  network.forward();
  network.backward();
  const output = [0.1639496947, -0.6667225351, 0.8674817747, -1.258191392];
  const inputGradient = [-0.7788490494, 0.3507362663, 1.45623175, -0.5973330001];
  const gradient = [
    -1.454071844, 0.02202478517, -1.678001171, -1.155877537, 1.716314777, 1.698158758, 2.062130323,
    0.9621485951, -0.3650501786, -0.2698978499, 0.6871516391, 0.9848226537, 0.1450019125, -1.059364223,
    0.3578012638, 1.5, 1,
  ];
  const wanted = { output, inputGradient, gradient };
  for (const name of VALUES) {
    expect(difference(network[name], Float64Array.from(wanted[name])), name).toBeLessThan(3e-7);
  }
});

test("gradients against central differences of the float64 definition", () => {
  fc.assert(
    fc.property(shapes, ({ widths, rows: many, seed }) => {
      const rows = Math.min(many, 5);
      const workspace = new Workspace({ threads: 1 });
      const network = createDense(workspace, {
        widths: widths.map((w) => Math.min(w, 17)),
        rows,
        activation: "tanh",
      });
      fillAll(network, seed);
      network.forward();
      network.backward();
      const data = {
        parameters: Float64Array.from(network.parameters),
        input: Float64Array.from(network.input),
        outputGradient: network.outputGradient,
      };
      const loss = () =>
        reference(network, data).output.reduce((sum, y, i) => sum + y * data.outputGradient[i], 0);
      const slopeIn = (array: Float64Array, i: number): number => {
        const [value, step] = [array[i], 1e-5];
        array[i] = value + step;
        const above = loss();
        array[i] = value - step;
        const below = loss();
        array[i] = value;
        return (above - below) / (2 * step);
      };
      const random = seededStream(seed).split("which");
      for (let k = 0; k < 4; k++) {
        const p = random.integer(data.parameters.length);
        expect(network.gradient[p]).toBeCloseTo(slopeIn(data.parameters, p), 4);
        const x = random.integer(data.input.length);
        expect(network.inputGradient[x]).toBeCloseTo(slopeIn(data.input, x), 4);
      }
      workspace.dispose();
    }),
    { numRuns: 40 },
  );
});

test("NaN and Infinity go through", () => {
  for (const activation of ["relu", "tanh"] as const) {
    const network = createDense(open(), { widths: [2, 5, 1], rows: 3, activation });
    network.parameters.fill(1);
    network.input.set([Number.NaN, 1, 1, 1, Number.POSITIVE_INFINITY, 1]);
    network.forward();
    expect(network.output[0]).toBeNaN();
    expect(network.output[1]).toBeCloseTo(activation === "relu" ? 16 : 1 + 5 * Math.tanh(3), 5);
    expect(network.output[2]).toBe(activation === "relu" ? Number.POSITIVE_INFINITY : 6);
  }
});

describe("threads", () => {
  test.each([
    { widths: [3, 64, 256, 16], rows: 333 },
    { widths: [5, 70, 9], rows: 65 },
  ])("the number of threads changes no bit: $widths, $rows rows", async ({ widths, rows }) => {
    for (const relaxed of [true, false]) {
      const results: Values[] = [];
      for (const threads of [1, 2, 3]) {
        const network = createDense(open({ threads, relaxed }), { widths, rows });
        fillAll(network);
        // Workers start in their own time: by the last of these runs they take part.
        for (let k = 0; k < 3; k++) {
          await new Promise((resolve) => setTimeout(resolve, 50));
          network.output.fill(Number.NaN);
          network.inputGradient.fill(Number.NaN);
          network.gradient.fill(Number.NaN);
          network.forward();
          network.backward();
          results.push(valuesOf(network));
        }
      }
      for (const result of results) expect(result).toEqual(results[0]);
    }
  });

  test("an element's bits do not depend on the rows around it", () => {
    const widths = [7, 30, 11];
    const all = createDense(open(), { widths, rows: 39 });
    fillAll(all);
    all.forward();
    all.backwardInput();
    const one = createDense(open(), { widths, rows: 1 });
    one.parameters.set(all.parameters);
    for (let n = 0; n < 39; n++) {
      one.input.set(all.input.subarray(7 * n, 7 * n + 7));
      one.outputGradient.set(all.outputGradient.subarray(11 * n, 11 * n + 11));
      one.forward();
      one.backwardInput();
      expect(one.output).toEqual(all.output.slice(11 * n, 11 * n + 11));
      expect(one.inputGradient).toEqual(all.inputGradient.slice(7 * n, 7 * n + 7));
    }
  });
});

describe("ranges of rows", () => {
  test("step by step gives the bits of all at once, and touches no other row", () => {
    const make = () => {
      const network = createDense(open(), { widths: [3, 20, 5], rows: 50 });
      fillAll(network);
      return network;
    };
    const whole = make();
    whole.forward();
    whole.backward();
    const steps = make();
    steps.output.fill(9);
    steps.forward({ first: 10, count: 7 });
    expect([...steps.output.subarray(0, 50)]).toEqual(Array(50).fill(9));
    expect([...steps.output.subarray(85)]).toEqual(Array(165).fill(9));
    for (let first = 0; first < 50; first += 10) steps.forward({ first, count: 10 });
    for (let first = 40; first >= 0; first -= 10) steps.backwardInput({ first, count: 10 });
    steps.backwardParameters();
    expect(valuesOf(steps)).toEqual(valuesOf(whole));
  });

  test("the gradient of a range is of its rows alone", () => {
    const network = createDense(open(), { widths: [3, 20, 5], rows: 50, activation: "tanh" });
    fillAll(network);
    network.forward();
    network.backward({ first: 30 });
    const wanted = reference(
      { ...network, rows: 20 },
      {
        parameters: network.parameters,
        input: network.input.subarray(90),
        outputGradient: network.outputGradient.subarray(150),
      },
    );
    expect(difference(network.gradient, wanted.gradient)).toBeLessThan(1e-6);
  });
});

describe("memory", () => {
  const CANARY = 0x7fc0dead; // a NaN: reading it into a result would show, too

  /** Floats between two guards, in a block of their own. */
  const guarded = (workspace: Workspace, length: number) => {
    const address = workspace.allocate(4 * (length + 32));
    workspace.words(address, length + 32).fill(CANARY);
    return {
      view: () => workspace.floats(address + 64, length),
      intact: () => {
        const words = workspace.words(address, length + 32);
        return [...words.subarray(0, 16), ...words.subarray(16 + length)].every((word) => word === CANARY);
      },
    };
  };

  test("bound arrays are used in place, and nothing outside them is written or matters", () => {
    fc.assert(
      fc.property(shapes, ({ widths, rows, activation, seed }) => {
        const workspace = new Workspace({ threads: 1 });
        const own = createDense(workspace, { widths, rows, activation });
        const network = createDense(workspace, { widths, rows, activation });
        const inputs = rows * widths[0];
        const outputs = rows * widths[widths.length - 1];
        const ports = {
          input: guarded(workspace, inputs),
          inputGradient: guarded(workspace, inputs),
          output: guarded(workspace, outputs),
          outputGradient: guarded(workspace, outputs),
        };
        fillAll(own, seed);
        network.parameters.set(own.parameters);
        for (const name of ["input", "inputGradient", "output", "outputGradient"] as const) {
          network.bind(name, ports[name].view());
        }
        ports.input.view().set(own.input);
        ports.outputGradient.view().set(own.outputGradient);
        for (const each of [own, network]) {
          each.forward();
          each.backward();
        }
        expect(ports.output.view()).toEqual(own.output);
        expect(ports.inputGradient.view()).toEqual(own.inputGradient);
        expect(network.gradient).toEqual(own.gradient);
        for (const [name, port] of Object.entries(ports)) expect(port.intact(), name).toBe(true);
        workspace.dispose();
      }),
      { numRuns: 60 },
    );
  });

  test("a run writes only results: parameters, input and what other programs own stay", () => {
    fc.assert(
      fc.property(shapes, ({ widths, rows, activation, seed }) => {
        const workspace = new Workspace({ threads: 1 });
        const before = workspace.allocate(256);
        const network = createDense(workspace, { widths, rows, activation });
        const after = workspace.allocate(256);
        fillAll(network, seed);
        workspace.words(before, 68).fill(CANARY); // the slack of the block included
        workspace.words(after, 68).fill(CANARY);
        const kept = [network.parameters, network.input, network.outputGradient].map((array) =>
          array.slice(),
        );
        network.forward();
        network.backward();
        expect([network.parameters, network.input, network.outputGradient]).toEqual(kept);
        for (const address of [before, after]) {
          expect(workspace.words(address, 68).every((word) => word === CANARY)).toBe(true);
        }
        workspace.dispose();
      }),
      { numRuns: 40 },
    );
  });

  test("results do not depend on what memory held before", () => {
    const results = [0, Number.NaN].map((dirt) => {
      const workspace = open();
      const dirty = workspace.allocate(1 << 20);
      workspace.floats(dirty, (1 << 18) + 4).fill(dirt);
      workspace.release(dirty);
      const network = createDense(workspace, { widths: [5, 13, 6], rows: 21 });
      fillAll(network);
      for (const array of [network.output, network.inputGradient, network.gradient]) array.fill(dirt);
      network.forward();
      network.backward();
      return valuesOf(network);
    });
    expect(results[1]).toEqual(results[0]);
  });

  test("resizing rows keeps the parameters and works at every size", () => {
    const network = createDense(open(), { widths: [4, 9, 3], rows: 2, activation: "tanh" });
    fillAll(network);
    const parameters = network.parameters.slice();
    for (const rows of [70, 1, 33, 5000, 3]) {
      network.resizeRows(rows);
      expect(network.rows).toBe(rows);
      expect(network.parameters).toEqual(parameters);
      expect(network.input.length).toBe(4 * rows);
      expect(network.output.every((value) => value === 0)).toBe(true);
      fillAll(network);
      network.forward();
      network.backward();
      expect(expectReference(network)).toBe(true);
    }
  });

  test("a bound array survives a resize that it is long enough for, and can be unbound", () => {
    const workspace = open();
    const network = createDense(workspace, { widths: [2, 3], rows: 4 });
    const address = workspace.allocate(4 * 20);
    network.bind("input", workspace.floats(address, 20));
    network.resizeRows(10);
    expect(network.input.byteOffset).toBe(address);
    expect(() => network.resizeRows(11)).toThrow(new InputError("short", denseTexts.short("input", 20, 22)));
    expect(network.rows).toBe(10);
    network.bind("input");
    expect(network.input.byteOffset).not.toBe(address);
    network.resizeRows(11);
    network.bind("input"); // its own already
    expect(network.input.length).toBe(22);
  });

  test("a resize that memory does not suffice for changes nothing, and frees nothing twice", () => {
    const workspace = open();
    const network = createDense(workspace, { widths: [4, 9, 3], rows: 5, activation: "tanh" });
    fillAll(network);
    const allocate = workspace.allocate.bind(workspace);
    for (let allowed = 0; allowed < 6; allowed++) {
      let left = allowed;
      // Not more than so many large arrays.
      workspace.allocate = (bytes) => {
        if (bytes > 10_000 && left-- === 0) throw new EnvironmentError("memory", "no more");
        return allocate(bytes);
      };
      expect(() => network.resizeRows(2000)).toThrow("no more");
      expect(network.rows).toBe(5);
      expect(network.output.length).toBe(15);
      fillAll(network);
      network.forward();
      network.backward();
      expect(expectReference(network)).toBe(true);
    }
    workspace.allocate = allocate;
    // Others get what was given back; the network's own end must leave it alone.
    expect(() => network.resizeRows(1e9)).toThrow(/use fewer samples at a time/);
    network.dispose();
    const taken = Array.from({ length: 40 }, () => workspace.allocate(100));
    network.dispose();
    expect(taken).not.toContain(workspace.allocate(100));
  });

  test("unbinding without memory for an array of its own leaves the bound one, and its owner's memory", () => {
    const workspace = open();
    const network = createDense(workspace, { widths: [2, 3], rows: 4 });
    const mine = workspace.allocate(4 * 8);
    network.bind("input", workspace.floats(mine, 8));
    const allocate = workspace.allocate.bind(workspace);
    workspace.allocate = () => {
      throw new EnvironmentError("memory", "no more");
    };
    expect(() => network.bind("input")).toThrow("no more");
    workspace.allocate = allocate;
    expect(network.input.byteOffset).toBe(mine);
    network.dispose();
    expect(Array.from({ length: 40 }, () => workspace.allocate(16))).not.toContain(mine);
  });

  test("two networks in a chain share arrays", () => {
    const workspace = open();
    const [encoder, emitter] = [
      [3, 8, 4],
      [4, 8, 2],
    ].map((widths) => createDense(workspace, { widths, rows: 6, activation: "tanh" }));
    fillAll(encoder, "encoder");
    fillAll(emitter, "emitter");
    emitter.bind("input", encoder.output);
    encoder.bind("outputGradient", emitter.inputGradient);
    encoder.forward();
    emitter.forward();
    emitter.backward();
    encoder.backward();
    expect(expectReference(emitter)).toBe(true);
    expect(expectReference(encoder)).toBe(true);
    expect(encoder.outputGradient.byteOffset).toBe(emitter.inputGradient.byteOffset);
  });

  test("dispose gives everything back, bound arrays excepted", () => {
    const workspace = open();
    const mine = workspace.allocate(4 * 1600);
    for (let k = 0; k < 50; k++) {
      const network = createDense(workspace, { widths: [3, 64, 16], rows: 100 });
      network.bind("output", workspace.floats(mine, 1600));
      network.dispose();
      network.dispose();
      expect(() => network.forward()).toThrow(new InputError("disposed", denseTexts.disposed));
      expect(() => network.parameters).toThrow(denseTexts.disposed);
      expect(() => network.resizeRows(2)).toThrow(denseTexts.disposed);
      expect(() => network.bind("input")).toThrow(denseTexts.disposed);
    }
    expect(workspace.bytes).toBeLessThan(2 ** 20);
    workspace.floats(mine, 1600).fill(1);
    const next = createDense(workspace, { widths: [3, 64, 16], rows: 100 });
    expect(next.output.byteOffset).not.toBe(mine);
    expect(workspace.floats(mine, 1600).every((value) => value === 1)).toBe(true);
  });
});

describe("parameters", () => {
  test("initialise: uniform within 1 / sqrt(inputs) of each layer, from the stream alone", () => {
    const make = (seed: number) => {
      const network = createDense(open(), { widths: [4, 300, 50] });
      network.initialise(seededStream(seed));
      return network;
    };
    const network = make(7);
    expect(make(7).parameters).toEqual(network.parameters);
    expect(make(8).parameters).not.toEqual(network.parameters);
    for (const [l, inputs] of [4, 300].entries()) {
      const bound = 1 / Math.sqrt(inputs);
      for (const array of [network.weights(l), network.biases(l)]) {
        const mean = array.reduce((sum, value) => sum + value, 0) / array.length;
        const square = array.reduce((sum, value) => sum + value * value, 0) / array.length;
        expect(array.every((value) => Math.abs(value) <= Math.fround(bound))).toBe(true);
        expect(Math.abs(mean)).toBeLessThan((5 * bound) / Math.sqrt(3 * array.length));
        // Var(u^2) = bound^4 (1/5 - 1/9)
        expect(Math.abs(square - bound ** 2 / 3)).toBeLessThan(
          5 * bound ** 2 * Math.sqrt(4 / 45 / array.length),
        );
      }
    }
  });

  test("saved and loaded, the network is the same", () => {
    const [first, second] = [0, 1].map(() => createDense(open(), { widths: [3, 10, 2], rows: 4 }));
    fillAll(first, 1);
    fillAll(second, 2);
    const saved = JSON.stringify([...first.parameters]);
    second.parameters.set(JSON.parse(saved));
    second.input.set(first.input);
    second.outputGradient.set(first.outputGradient);
    for (const network of [first, second]) {
      network.forward();
      network.backward();
    }
    expect(valuesOf(second)).toEqual(valuesOf(first));
  });

  test("a change of the parameters is seen by the next forward", () => {
    const network = createDense(open(), { widths: [2, 3, 1], rows: 1 });
    network.input.set([1, 1]);
    network.forward();
    expect(network.output[0]).toBe(0);
    network.biases(1).set([4]);
    network.forward();
    expect(network.output[0]).toBe(4);
  });

  test("with the same parameters they are not read again, on whatever rows", () => {
    const network = createDense(open(), { widths: [3, 20, 2], rows: 40 });
    fillAll(network);
    network.forward();
    const whole = network.output.slice();
    network.output.fill(0);
    for (let first = 0; first < 40; first += 10) {
      network.forward({ first, count: 10, sameParameters: true });
    }
    expect(network.output).toEqual(whole);
    network.weights(1).fill(0);
    network.forward({ sameParameters: true });
    expect(network.output).toEqual(whole);
    network.forward();
    expect(network.output).not.toEqual(whole);
  });
});

describe("wrong use", () => {
  const make = () => createDense(open(), { widths: [2, 3], rows: 4 });

  test.each([[[3]], [[]], [[3, 0]], [[3, 1.5, 2]], [[3, -1]], [[3, Number.NaN]]])("widths %j", (widths) => {
    expect(() => createDense(open(), { widths })).toThrow(
      new InputError("widths", denseTexts.widths(widths)),
    );
  });

  test("activation", () => {
    const activation = "gelu" as Activation;
    expect(() => createDense(open(), { widths: [1, 1], activation })).toThrow(
      new InputError("activation", denseTexts.activation("gelu")),
    );
  });

  test.each([0, -1, 1.5, Number.NaN])("rows %d", (rows) => {
    const error = new InputError("rows", denseTexts.rows(rows));
    expect(() => createDense(open(), { widths: [1, 1], rows })).toThrow(error);
    expect(() => make().resizeRows(rows)).toThrow(error);
  });

  test.each([
    { first: -1, count: 1 },
    { first: 0, count: 0 },
    { first: 0, count: 5 },
    { first: 3, count: 2 },
    { first: 0.5, count: 1 },
    { first: Number.NaN, count: 1 },
  ])("rows from $first, $count of them", (range) => {
    const network = make();
    const error = new InputError("range", denseTexts.range(range.first, range.count, 4));
    expect(() => network.forward(range)).toThrow(error);
    expect(() => network.backward(range)).toThrow(error);
    expect(() => network.backwardInput(range)).toThrow(error);
    expect(() => network.backwardParameters(range)).toThrow(error);
  });

  test("layers and arrays that do not exist", () => {
    const network = make();
    expect(() => network.weights(1)).toThrow(new InputError("layer", denseTexts.layer(1, 1)));
    expect(() => network.biasGradient(-1)).toThrow(denseTexts.layer(-1, 1));
    expect(() => network.bind("hidden" as "input")).toThrow(
      new InputError("port", denseTexts.port("hidden")),
    );
  });

  test("arrays of another memory, or too short", () => {
    const workspace = open();
    const network = createDense(workspace, { widths: [2, 3], rows: 4 });
    const foreign = new InputError("foreign", denseTexts.foreign("input"));
    expect(() => network.bind("input", new Float32Array(8))).toThrow(foreign);
    expect(() => network.bind("input", make().input)).toThrow(foreign);
    const stale = workspace.floats(workspace.allocate(32), 8);
    workspace.allocate(1 << 20);
    expect(() => network.bind("input", stale)).toThrow(foreign);
    const short = workspace.floats(workspace.allocate(28), 7);
    expect(() => network.bind("input", short)).toThrow(
      new InputError("short", denseTexts.short("input", 7, 8)),
    );
  });
});
