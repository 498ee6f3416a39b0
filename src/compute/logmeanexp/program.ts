/**
 * `value[outer] = logmeanexp_inner sum_observation f` and its gradient, compiled from a traced log-likelihood f.
 *
 * This is the nested estimate at the heart of every information bound: f is log p(y | psi, design), the inner
 * samples are draws of psi, and the value is an estimate of log p(y_1, ..., y_T | designs) for every outer sample.
 */
import { InputError } from "../../core/errors.js";
import { type Backend, requireBackend } from "../backend.js";
import type { Traced } from "../graph/expression.js";
import { type InputAxes, SINGLE, type TracedFunction, trace } from "../graph/trace.js";
import { type Pause, Workspace, type WorkspaceOptions } from "../workspace.js";
import { AXES, bitsOf, lengthOf, type Sizes } from "./axes.js";
import { withOwnLayout } from "./own-layout.js";
import { checkInputs, plan, planTexts } from "./plan.js";
import { evaluate } from "./reference.js";
import { type Arrays, Variant } from "./variant.js";

export interface LogMeanExpOptions<Inputs extends InputAxes> extends WorkspaceOptions {
  /**
   * The inputs of the log-likelihood and which of "outer", "observation" and "inner" each varies along, outermost
   * first: its array is row-major as its own list says. With "outer" first nothing is turned before a run.
   */
  readonly inputs: Inputs;
  /** Inputs in which the gradient is wanted. */
  readonly gradients?: readonly (keyof Inputs & string)[] | undefined;
  /** "wasm" (float32 SIMD, threads) unless given; "js" is float64, on one thread. */
  readonly backend?: Backend | undefined;
  /** Where to live; a workspace of its own unless given. */
  readonly workspace?: Workspace | undefined;
  /** Leaves out the checks of the function, where it was traced before and passed them. */
  readonly checked?: boolean | undefined;
}

/** One number for every value, or a function that gives them once the values are known. */
export type Adjoint = ArrayLike<number> | ((value: Float64Array) => ArrayLike<number>);

export interface LogMeanExp<Inputs extends InputAxes> {
  readonly sizes: Sizes;
  /** Gives every array its length; all elements become zero. */
  resize(sizes: Sizes): void;
  /**
   * The array of an input, row-major as its own list of axes says; write into it. A view is stale after anything was
   * allocated in the same workspace: take it anew.
   */
  input(name: keyof Inputs & string): Float32Array | Float64Array;
  /** [outer], after `run`. */
  readonly value: Float64Array;
  /** The gradient of sum_outer adjoint * value in an input, shaped as the input, after `run`. */
  gradient(name: keyof Inputs & string): Float32Array | Float64Array;
  /** Computes values and gradients; `adjoint` is [outer], 1 unless given, and may depend on the values. */
  run(adjoint?: Adjoint): void;
  /**
   * Computes the values alone, the same to the bit, with `pause` awaited between pieces of some milliseconds; in one
   * piece on the backend "js". Inputs and sizes must not change before it has ended.
   */
  runInPieces(pause: Pause): Promise<void>;
  /** Lets go of the memory. */
  dispose(): void;
}

/**
 * The matrix-product form adds a large outer and a large inner sum whose difference matters. Up to this size float32
 * keeps a log-likelihood to about 1e-4; beyond it the plain form takes over.
 */
const LARGEST_FOR_PRODUCT = 1024;

export const programTexts = {
  size: (axis: string, given: unknown) =>
    `the length of the axis "${axis}" was ${String(given)}: give a whole number of at least 1`,
  noInput: (name: string, names: readonly string[]) =>
    `there is no input "${name}": the inputs are ${names.map((n) => `"${n}"`).join(", ")}`,
  noGradient: (name: string, names: readonly string[]) =>
    `no gradient in "${name}" was compiled: name it in the option gradients (now ${names.map((n) => `"${n}"`).join(", ") || "none"})`,
  unsized: "the program has no sizes yet: call resize({ outer, inner, observation }) first",
  disposed: "this program was disposed of: compile a new one",
  adjoint: (given: number, expected: number) =>
    `the adjoint has ${given} elements and there are ${expected} values: give one for each`,
};

/** Traces and compiles a log-likelihood. */
export const compileLogMeanExp = <const Inputs extends InputAxes>(
  logLikelihood: TracedFunction<Inputs>,
  options: LogMeanExpOptions<Inputs>,
): LogMeanExp<Inputs> => {
  const { inputs: inputAxes, backend = "wasm" } = options;
  const gradients = [...new Set(options.gradients ?? [])];
  checkInputs(inputAxes, gradients);
  requireBackend(backend);
  const traced = trace(logLikelihood, inputAxes, { axes: AXES, checked: options.checked ?? false });
  const root = traced.outputs[SINGLE];
  if (root === undefined) throw new InputError("single", planTexts.single);
  const reduces = ({ op }: Traced) => op === "sum" || op === "logsumexp" || op === "size";
  if (traced.graph.nodes.some(reduces)) throw new InputError("reduction", planTexts.reduction);
  const inputs = Object.keys(inputAxes).map((name) => traced.inputs[name]);
  const wanted = gradients.map((name) => traced.inputs[name]);
  const program: LogMeanExp<Inputs> =
    backend === "js" ? onPlainArrays(root, inputs, wanted) : compiled(root, inputs, wanted, options);
  return guarded(withOwnLayout(program, inputAxes, gradients));
};

/** The program, with an error for what is asked of it too early or too late. */
const guarded = <Inputs extends InputAxes>(program: LogMeanExp<Inputs>): LogMeanExp<Inputs> => {
  let state: "unsized" | "ready" | "disposed" = "unsized";
  const ready = (): LogMeanExp<Inputs> => {
    if (state === "disposed") throw new InputError("disposed", programTexts.disposed);
    if (state === "unsized") throw new InputError("unsized", programTexts.unsized);
    return program;
  };
  return {
    get sizes() {
      return program.sizes;
    },
    get value() {
      return ready().value;
    },
    resize(sizes) {
      if (state === "disposed") throw new InputError("disposed", programTexts.disposed);
      program.resize(sizes);
      state = "ready";
    },
    input: (name) => ready().input(name),
    gradient: (name) => ready().gradient(name),
    run: (adjoint) => ready().run(adjoint),
    runInPieces: async (pause) => ready().runInPieces(pause),
    dispose() {
      if (state !== "disposed") program.dispose();
      state = "disposed";
    },
  };
};

const checkSizes = (sizes: Sizes): void => {
  for (const axis of AXES) {
    if (!Number.isInteger(sizes[axis]) || sizes[axis] < 1) {
      throw new InputError("size", programTexts.size(axis, sizes[axis]));
    }
  }
};

const namesOf = (nodes: readonly Traced[]): string[] => nodes.map(({ name }) => name);

const find = <T>(
  map: ReadonlyMap<string, T>,
  name: string,
  missing: (name: string, names: string[]) => string,
): T => {
  const found = map.get(name);
  if (found === undefined) throw new InputError("name", missing(name, [...map.keys()]));
  return found;
};

const adjointOf = (adjoint: Adjoint | undefined, value: Float64Array): ((b: number) => number) => {
  if (adjoint === undefined) return () => 1;
  const given = typeof adjoint === "function" ? adjoint(value) : adjoint;
  if (given.length !== value.length) {
    throw new InputError("adjoint", programTexts.adjoint(given.length, value.length));
  }
  return (b) => given[b];
};

const NO_SIZES: Sizes = { outer: 0, observation: 0, inner: 0 };

const compiled = <Inputs extends InputAxes>(
  root: Traced,
  inputs: readonly Traced[],
  wanted: readonly Traced[],
  options: LogMeanExpOptions<Inputs>,
): LogMeanExp<Inputs> => {
  const workspace = options.workspace ?? new Workspace(options);
  const fast = plan(root, wanted, { product: true });
  const variant = new Variant(fast, inputs, workspace);
  // The plain form, for the runs in which the product would cost digits: each run decides anew, so that its result
  // depends on its inputs alone and not on what ran before.
  let plain: Variant | undefined;
  let sizes = NO_SIZES;
  let value = new Float64Array(0);
  const inputAt = new Map<string, number>();
  const gradientAt = new Map<string, number>();
  const view = (address: number, node: Traced) => workspace.floats(address, lengthOf(bitsOf(node), sizes));
  const arrays: Arrays = {
    inputs,
    address: (input) => inputAt.get(input.name) ?? 0,
    gradient: (leaf) => view(gradientAt.get(leaf.name) ?? 0, leaf),
    get value() {
      return value;
    },
  };
  const nodeOf = (name: string) => inputs.find((input) => input.name === name) as Traced;
  const release = () => {
    variant.release();
    plain?.release();
    for (const address of [...inputAt.values(), ...gradientAt.values()]) workspace.release(address);
    inputAt.clear();
    gradientAt.clear();
  };
  const losesDigits = (): boolean => fast.product && !(variant.magnitude() <= LARGEST_FOR_PRODUCT);
  const plainForm = (): Variant => {
    if (plain === undefined) {
      plain = new Variant(plan(root, wanted, { product: false }), inputs, workspace);
      plain.resize(sizes, arrays);
    }
    return plain;
  };
  return {
    get sizes() {
      return sizes;
    },
    get value() {
      return value;
    },
    resize(next) {
      checkSizes(next);
      release();
      sizes = { ...next };
      value = new Float64Array(sizes.outer);
      const bytes = [...inputs, ...wanted].map((node) => 4 * lengthOf(bitsOf(node), sizes));
      const addresses = workspace.allocateAll(bytes);
      for (const [i, { name }] of inputs.entries()) inputAt.set(name, addresses[i]);
      for (const [i, { name }] of wanted.entries()) gradientAt.set(name, addresses[inputs.length + i]);
      variant.resize(sizes, arrays);
      plain?.resize(sizes, arrays);
    },
    input: (name) =>
      view(
        find(inputAt, name, () => programTexts.noInput(name, namesOf(inputs))),
        nodeOf(name),
      ),
    gradient: (name) =>
      view(
        find(gradientAt, name, () => programTexts.noGradient(name, namesOf(wanted))),
        nodeOf(name),
      ),
    run(adjoint) {
      variant.forward(arrays);
      const used = losesDigits() ? plainForm() : variant;
      if (used !== variant) used.forward(arrays);
      const of = adjointOf(adjoint, value);
      if (wanted.length > 0) used.backward(arrays, of);
    },
    async runInPieces(pause) {
      await variant.forwardInPieces(arrays, pause);
      if (losesDigits()) await plainForm().forwardInPieces(arrays, pause);
    },
    dispose() {
      release();
      variant.dispose();
      plain?.dispose();
      if (options.workspace === undefined) workspace.dispose();
    },
  };
};

const onPlainArrays = <Inputs extends InputAxes>(
  root: Traced,
  inputs: readonly Traced[],
  wanted: readonly Traced[],
): LogMeanExp<Inputs> => {
  let sizes = NO_SIZES;
  let value = new Float64Array(0);
  const arrays = new Map<string, Float64Array>();
  const gradients = new Map<string, Float64Array>();
  return {
    get sizes() {
      return sizes;
    },
    get value() {
      return value;
    },
    resize(next) {
      checkSizes(next);
      sizes = { ...next };
      value = new Float64Array(sizes.outer);
      for (const input of inputs) arrays.set(input.name, new Float64Array(lengthOf(bitsOf(input), sizes)));
      for (const leaf of wanted) gradients.set(leaf.name, new Float64Array(lengthOf(bitsOf(leaf), sizes)));
    },
    input: (name) => find(arrays, name, () => programTexts.noInput(name, namesOf(inputs))),
    gradient: (name) => find(gradients, name, () => programTexts.noGradient(name, namesOf(wanted))),
    run(adjoint) {
      evaluate(root, inputs, wanted, sizes, arrays, gradients, value, () => adjointOf(adjoint, value));
    },
    async runInPieces(pause) {
      this.run();
      await pause();
    },
    dispose() {
      arrays.clear();
      gradients.clear();
    },
  };
};
