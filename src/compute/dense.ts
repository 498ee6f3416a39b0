/**
 * Small networks of dense layers in a workspace's memory, float32: what a policy is made of.
 *
 * Layer l of widths [w_0, ..., w_L] has weights W_l [w_{l+1}, w_l] and biases b_l [w_{l+1}], and
 *
 *     a_0 = input,   a_{l+1} = sigma(a_l W_l^T + b_l),   output = a_{L-1} W_{L-1}^T + b_{L-1},
 *
 * row by row. Given d_L = dL/d(output), and d_l the gradient in the sums that a_l is sigma of,
 *
 *     d_l = (d_{l+1} W_l) * sigma',   dL/dW_l = d_{l+1}^T a_l,   dL/db_l = sum over rows of d_{l+1},
 *
 * and d_0 = dL/d(input).
 */
import { InputError } from "../core/errors.js";
import type { Filled } from "../core/options.js";
import type { RandomStream } from "../core/random.js";
import {
  type Activation,
  BLOCK_ROWS,
  KERNEL_NAMES,
  type KernelName,
  SCRATCH_BYTES,
  WORDS,
  writeDense,
} from "./dense/kernels.js";
import { type DenseLayout, type Layer, layOutDense } from "./dense/layout.js";
import { RowArrays } from "./dense/row-arrays.js";
import type { Workspace } from "./workspace.js";

export type { Activation } from "./dense/kernels.js";

export interface DenseOptions {
  /** Inputs, outputs of each hidden layer, outputs: at least two whole numbers from 1. */
  readonly widths: readonly number[];
  /** sigma of the hidden layers, "relu" unless given; the last layer is linear. */
  readonly activation?: Activation | undefined;
  /** How many inputs are taken at a time, 1 unless given; see `resizeRows`. */
  readonly rows?: number | undefined;
}

/** Rows `first`, ..., `first + count - 1`; all from `first` on, or all, unless given. */
export interface RowRange {
  readonly first?: number | undefined;
  readonly count?: number | undefined;
}

/** What `forward` takes. */
export interface ForwardRange extends RowRange {
  /** Whether the parameters are those of the latest `forward`, which then need not be read again. */
  readonly sameParameters?: boolean | undefined;
}

/** The arrays at a network's ends: the input and output, [rows, width], and L's gradients in them. */
export type DensePort = "input" | "output" | "inputGradient" | "outputGradient";

/**
 * A network. The arrays it gives are views of the workspace's memory: take a new one after anything was allocated
 * there, and after `resizeRows`.
 */
export interface Dense {
  readonly widths: readonly number[];
  readonly activation: Activation;
  readonly rows: number;
  /** W_0, b_0, W_1, b_1, ..., each row-major; all zero until they are set or `initialise`d. Save this, restore by `set`. */
  readonly parameters: Float32Array<ArrayBuffer>;
  /** dL/d(parameters), in their order. */
  readonly gradient: Float32Array<ArrayBuffer>;
  /** [rows, w_0]. */
  readonly input: Float32Array<ArrayBuffer>;
  /** [rows, w_L]. */
  readonly output: Float32Array<ArrayBuffer>;
  /** dL/d(input), [rows, w_0]. */
  readonly inputGradient: Float32Array<ArrayBuffer>;
  /** dL/d(output), [rows, w_L]: write it before `backward`. */
  readonly outputGradient: Float32Array<ArrayBuffer>;
  /** Part of the parameters, of layer l: W_l [w_{l+1}, w_l]. */
  weights(l: number): Float32Array<ArrayBuffer>;
  /** b_l [w_{l+1}]. */
  biases(l: number): Float32Array<ArrayBuffer>;
  /** dL/dW_l [w_{l+1}, w_l]. */
  weightGradient(l: number): Float32Array<ArrayBuffer>;
  /** dL/db_l [w_{l+1}]. */
  biasGradient(l: number): Float32Array<ArrayBuffer>;
  /** Draws the parameters of each layer from U(-1/sqrt(w_l), 1/sqrt(w_l)), as PyTorch's `nn.Linear` does. */
  initialise(random: RandomStream): void;
  /** The output of some rows. Parameters are read here: `backward` goes with the ones of the latest `forward`. */
  forward(range?: ForwardRange): void;
  /** `backwardInput`, then `backwardParameters`. */
  backward(range?: RowRange): void;
  /** dL/d(input) of some rows, from their dL/d(output). A recurrent policy calls it step by step, last step first. */
  backwardInput(range?: RowRange): void;
  /** dL/d(parameters), summed over some rows that `backwardInput` has been through; replaces what was there. */
  backwardParameters(range?: RowRange): void;
  /**
   * Makes an array of the same workspace (at least [rows, width], not overlapping another of the network's) one of
   * the network's ends, so that nothing is copied; without an array, the network gets one of its own again.
   */
  bind(port: DensePort, array?: Float32Array): void;
  /**
   * Changes the number of rows; all but the parameters and bound arrays becomes zero. Where memory does not suffice, the
   * number of rows stays as it was.
   */
  resizeRows(rows: number): void;
  /** Gives the memory back. */
  dispose(): void;
}

export const denseTexts = {
  widths: (given: unknown) =>
    `widths was [${String(given)}]: give the numbers of inputs, of each hidden layer's units and of outputs, at least two whole numbers from 1`,
  activation: (given: unknown) => `activation was "${String(given)}": choose "relu" or "tanh"`,
  rows: (given: unknown) => `rows was ${String(given)}: give a whole number of at least 1`,
  range: (first: unknown, count: unknown, rows: number) =>
    `the range of rows was first ${String(first)}, count ${String(count)}: the network has ${rows}, so give whole numbers, first from 0, count from 1 and first + count at most ${rows}`,
  layer: (given: unknown, count: number) =>
    `layer ${String(given)} was asked for: give a whole number from 0 to ${count - 1}`,
  foreign: (port: DensePort) =>
    `the array for "${port}" is not in the network's workspace as it is now: take it from a program of the same workspace, after the last allocation`,
  short: (port: DensePort, length: number, wanted: number) =>
    `the array for "${port}" has ${length} floats: the network's rows need ${wanted}`,
  port: (given: unknown) =>
    `there is no array "${String(given)}" to bind: choose "input", "output", "inputGradient" or "outputGradient"`,
  disposed: "this network was disposed of: make a new one",
};

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 1;

const requireRows = (given: number): void => {
  if (!isCount(given)) throw new InputError("rows", denseTexts.rows(given));
};

const requireOptions = ({ widths, activation, rows }: Filled<DenseOptions>): void => {
  if (!Array.isArray(widths) || widths.length < 2 || !widths.every(isCount)) {
    throw new InputError("widths", denseTexts.widths(widths));
  }
  if (activation !== "relu" && activation !== "tanh") {
    throw new InputError("activation", denseTexts.activation(activation));
  }
  requireRows(rows);
};

const weightsIn = (all: Float32Array<ArrayBuffer>, { weights, biases }: Layer) =>
  all.subarray(weights, biases);
const biasesIn = (all: Float32Array<ArrayBuffer>, { biases, outputs }: Layer) =>
  all.subarray(biases, biases + outputs);

/** Multiply-adds, some ten microseconds of them, from which on threads that are asleep are woken to share them. */
const WORTH_WAKING = 1e6;

/** Memory that has nothing to do with rows, and the job description in it. */
const allocateFixed = (workspace: Workspace, { parameterCount, packedCount }: DenseLayout, words: number) => {
  const fixed = workspace.allocateAll([
    4 * parameterCount,
    4 * parameterCount,
    4 * packedCount,
    SCRATCH_BYTES * workspace.threads,
    4 * words,
  ]);
  const [parameters, gradient, packed, scratch, descriptor] = fixed;
  const description = () => workspace.words(descriptor, words);
  description().set([0, 0, parameters, gradient, packed, scratch]);
  return { fixed, parameters, gradient, descriptor, description };
};

/** A network in a workspace; its parameters are 0 until they are set. */
export const createDense = (workspace: Workspace, options: DenseOptions): Dense => {
  const { activation = "relu", rows: givenRows = 1 } = options;
  requireOptions({ widths: options.widths, activation, rows: givenRows });
  const widths: readonly number[] = [...options.widths];
  const depth = widths.length - 1;
  const layout = layOutDense(widths);
  const { layers, parameterCount } = layout;
  const { module, constants, gradientTasks } = writeDense(layout, { activation, fma: workspace.fma });
  const kernels = workspace.load(module, KERNEL_NAMES);

  /** Activations of all layers, input and output included, then the gradients in them. */
  const arrayWidths = [...widths, ...widths];
  const wordCount = WORDS.arrays + arrayWidths.length + constants.length;
  const { fixed, parameters, gradient, descriptor, description } = allocateFixed(
    workspace,
    layout,
    wordCount,
  );
  description().set(constants, WORDS.arrays + arrayWidths.length);
  const ports: Readonly<Record<DensePort, number>> = {
    input: 0,
    output: depth,
    inputGradient: depth + 1,
    outputGradient: 2 * depth + 1,
  };
  const releaseFixed = (): void => {
    for (const address of fixed) workspace.release(address);
    kernels.dispose();
  };
  const placeArrays = (): RowArrays => {
    try {
      return new RowArrays(workspace, arrayWidths, givenRows, (index, address) => {
        description()[WORDS.arrays + index] = address;
      });
    } catch (error) {
      releaseFixed();
      throw error;
    }
  };
  const arrays = placeArrays();
  let disposed = false;
  const dispose = (): void => {
    if (disposed) return;
    disposed = true;
    arrays.release();
    releaseFixed();
  };

  const requireAlive = (): void => {
    if (disposed) throw new InputError("disposed", denseTexts.disposed);
  };
  const floats = (address: number, length: number): Float32Array<ArrayBuffer> => {
    requireAlive();
    return workspace.floats(address, length);
  };
  const port = (name: DensePort) => floats(arrays.address(ports[name]), arrays.length(ports[name]));
  const layer = (l: number): Layer => {
    if (!Number.isInteger(l) || l < 0 || l >= depth) {
      throw new InputError("layer", denseTexts.layer(l, depth));
    }
    return layers[l];
  };

  /** Checks a range and puts it into the job description; returns how many rows it has. */
  const choose = ({ first = 0, count = arrays.rows - first }: RowRange): number => {
    requireAlive();
    const { rows } = arrays;
    if (!Number.isSafeInteger(first) || first < 0 || !isCount(count) || first + count > rows) {
      throw new InputError("range", denseTexts.range(first, count, rows));
    }
    const words = description();
    words[WORDS.first] = first;
    words[WORDS.end] = first + count;
    return count;
  };
  const products = layers.reduce((sum, { inputs, outputs }) => sum + inputs * outputs, 0);
  const run = (name: KernelName, tasks: number, rows: number): void =>
    kernels.run(name, descriptor, tasks, rows * products >= WORTH_WAKING);
  const backwardInput = (range: RowRange = {}): void => {
    const rows = choose(range);
    run("backward", Math.ceil(rows / BLOCK_ROWS), rows);
  };
  const backwardParameters = (range: RowRange = {}): void => run("gradients", gradientTasks, choose(range));

  return {
    widths,
    activation,
    get rows() {
      return arrays.rows;
    },
    get parameters() {
      return floats(parameters, parameterCount);
    },
    get gradient() {
      return floats(gradient, parameterCount);
    },
    get input() {
      return port("input");
    },
    get output() {
      return port("output");
    },
    get inputGradient() {
      return port("inputGradient");
    },
    get outputGradient() {
      return port("outputGradient");
    },
    weights: (l) => weightsIn(floats(parameters, parameterCount), layer(l)),
    biases: (l) => biasesIn(floats(parameters, parameterCount), layer(l)),
    weightGradient: (l) => weightsIn(floats(gradient, parameterCount), layer(l)),
    biasGradient: (l) => biasesIn(floats(gradient, parameterCount), layer(l)),
    initialise(random) {
      const all = floats(parameters, parameterCount);
      layers.forEach(({ inputs, outputs, weights, biases }, l) => {
        const stream = random.split(l);
        const most = 1 / Math.sqrt(inputs);
        for (let i = weights; i < biases + outputs; i++) all[i] = stream.uniform(-most, most);
      });
    },
    forward({ sameParameters = false, ...range } = {}) {
      const rows = choose(range);
      if (!sameParameters) kernels.run("pack", descriptor, 1);
      run("forward", Math.ceil(rows / BLOCK_ROWS), rows);
    },
    backward(range) {
      backwardInput(range);
      backwardParameters(range);
    },
    backwardInput,
    backwardParameters,
    bind(name, array) {
      requireAlive();
      if (!Object.hasOwn(ports, name)) throw new InputError("port", denseTexts.port(name));
      const index = ports[name];
      if (array !== undefined) {
        if (array.buffer !== workspace.buffer) throw new InputError("foreign", denseTexts.foreign(name));
        const wanted = arrays.length(index);
        if (array.length < wanted)
          throw new InputError("short", denseTexts.short(name, array.length, wanted));
      }
      arrays.bind(index, array);
    },
    resizeRows(next) {
      requireAlive();
      requireRows(next);
      for (const [name, index] of Object.entries(ports)) {
        const length = arrays.boundLength(index) ?? Number.POSITIVE_INFINITY;
        const wanted = arrays.length(index, next);
        if (length < wanted)
          throw new InputError("short", denseTexts.short(name as DensePort, length, wanted));
      }
      arrays.resize(next);
    },
    dispose,
  };
};
