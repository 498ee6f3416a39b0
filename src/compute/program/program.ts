/**
 * A traced function over named axes, compiled: values for every point of its outputs' axes, and the gradient of the
 * sum of one output in any input.
 */
import { InputError } from "../../core/errors.js";
import type { Floats } from "../adam.js";
import { type Backend, requireBackend } from "../backend.js";
import type { Graph, Traced } from "../graph/expression.js";
import { gradient } from "../graph/gradient.js";
import { type InputAxes, SINGLE, type TracedFunction, trace } from "../graph/trace.js";
import { ModuleWriter } from "../wasm/encoder.js";
import { ConstantPool } from "../wasm/vector.js";
import { Workspace, type WorkspaceOptions } from "../workspace.js";
import { axisOrder } from "./axis-order.js";
import { isSplit, type Words, writeCombination, writeNest } from "./kernel.js";
import { type ArrayPlace, nestFunction } from "./nest-function.js";
import { type Nest, type NestResult, type Output, planNests } from "./nests.js";

export interface CompileOptions<Inputs extends InputAxes> extends WorkspaceOptions {
  /** The inputs and the named axes of each, outermost first: its array is row-major as its own list says. */
  readonly inputs: Inputs;
  /**
   * All axes, outermost first, as outputs are laid out; needed only where an output has two axes that the lists of
   * the inputs do not order, or order both ways.
   */
  readonly axes?: readonly string[] | undefined;
  /** Inputs in which the gradient is wanted. */
  readonly gradients?: readonly (keyof Inputs & string)[] | undefined;
  /** Which output the gradient is of; needed only where the function returns several. */
  readonly of?: string | undefined;
  /** "wasm" (float32 SIMD, threads) unless given; "js" is float64, on one thread. */
  readonly backend?: Backend | undefined;
  /** Where to live; a workspace of its own unless given. */
  readonly workspace?: Workspace | undefined;
  /** Leaves out the checks of the function, where it was traced before and passed them. */
  readonly checked?: boolean | undefined;
}

export interface Program<Inputs extends InputAxes> {
  /** Gives every axis its length; all elements become zero. A program without axes needs no call. */
  resize(sizes: Readonly<Record<string, number>>): void;
  /**
   * The array of an input; write into it. A view is stale after a `resize`, and after any other allocation in the same
   * workspace (a `resize` or `compile` of another program there): take a new one then.
   */
  input(name: keyof Inputs & string): Floats;
  /**
   * The array of an output, after `run`; "value" where the function returns one. It has the axes that its value
   * varies along once simplified, in the order of the inputs' lists or of the option `axes`: x^0 has none,
   * whatever those of x are.
   */
  output(name?: string): Floats;
  /** d(sum of the output)/d(input), shaped as the input, after `run`. */
  gradient(name: keyof Inputs & string): Floats;
  run(): void;
  dispose(): void;
}

export const compileTexts = {
  unknownGradient: (name: string, names: readonly string[]) =>
    `a gradient in "${name}" was asked for: the inputs are ${quoted(names)}`,
  of: (given: string | undefined, names: readonly string[]) =>
    given === undefined
      ? `the function returns ${quoted(names)}: say with the option of which one the gradient is of`
      : `the gradient of "${given}" was asked for: the function returns ${quoted(names)}`,
  name: (kind: string, name: string, names: readonly string[]) =>
    `there is no ${kind} "${name}": there is ${quoted(names)}`,
  repeatedAxis: (name: string, axis: string) =>
    `the input "${name}" names the axis "${axis}" twice: name each axis once, and give a second one of the same length a name of its own`,
  size: (axis: string, given: unknown) =>
    `the length of the axis "${axis}" was ${String(given)}: give a whole number of at least 1`,
  unsized: (axes: readonly string[]) => `the axes ${quoted(axes)} have no lengths yet: call resize first`,
  disposed: "this program was disposed of: compile a new one",
};

const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(", ") || "none";

/** What is stored, by name: the node, and the axes of its array. */
interface Stored extends Output {
  readonly kind: "input" | "output" | "gradient";
  readonly name: string;
}

/** The arrays of a program: inputs, outputs and gradients first, then reduced values. */
interface Layout {
  readonly axes: readonly string[];
  readonly stored: readonly Stored[];
  readonly places: readonly ArrayPlace[];
  readonly nests: readonly Nest[];
  find(node: Traced): ArrayPlace | undefined;
  target(result: NestResult): ArrayPlace;
}

const layOut = (graph: Graph, stored: readonly Stored[]): Layout => {
  const outputs = stored.filter(({ kind }) => kind !== "input");
  const nests = planNests(graph, outputs);
  const places: ArrayPlace[] = stored.map(({ axes }, index) => ({ index, axes }));
  const holders = new Map<Traced, ArrayPlace>();
  stored.forEach(({ kind, node }, i) => {
    if (kind === "input") holders.set(node, places[i]);
  });
  const targets = new Map<NestResult, ArrayPlace>();
  const waiting = new Map(outputs.map((output) => [output, places[stored.indexOf(output)]]));
  for (const nest of nests) {
    for (const result of nest.results) {
      if (nest.kind === "map") {
        for (const [output, place] of waiting) {
          if (output.node !== result.node || output.axes !== result.axes) continue;
          targets.set(result, place);
          waiting.delete(output);
          break;
        }
      } else {
        const place = { index: places.length, axes: result.axes };
        places.push(place);
        holders.set(result.node, place);
        targets.set(result, place);
      }
    }
  }
  return {
    axes: graph.axes,
    stored,
    places,
    nests,
    find: (node) => holders.get(node),
    target: (result) => {
      const place = targets.get(result);
      if (place === undefined) throw new RangeError("a result has no array");
      return place;
    },
  };
};

/** Traces and compiles a function over named axes. */
export const compile = <const Inputs extends InputAxes>(
  fn: TracedFunction<Inputs>,
  options: CompileOptions<Inputs>,
): Program<Inputs> => {
  const { inputs: inputAxes, gradients = [], of } = options;
  const backend = requireBackend(options.backend ?? "wasm");
  for (const [name, axes] of Object.entries(inputAxes)) {
    const repeated = axes.find((axis, i) => axes.indexOf(axis) !== i);
    if (repeated !== undefined) throw new InputError("axes", compileTexts.repeatedAxis(name, repeated));
  }
  const missing = gradients.find((name) => !Object.hasOwn(inputAxes, name));
  if (missing !== undefined) {
    throw new InputError("gradient", compileTexts.unknownGradient(missing, Object.keys(inputAxes)));
  }
  const inOrder = axisOrder(inputAxes, options.axes);
  const { graph, inputs, outputs } = trace(fn, inputAxes, { checked: options.checked ?? false });
  const names = Object.keys(outputs);
  const root = of ?? (names.length === 1 ? names[0] : undefined);
  if (gradients.length > 0 && (root === undefined || !Object.hasOwn(outputs, root))) {
    throw new InputError("of", compileTexts.of(of, names));
  }
  const stored: Stored[] = [
    ...Object.entries(inputs).map(([name, node]) => ({
      kind: "input" as const,
      name,
      node,
      axes: inputAxes[name],
    })),
    ...Object.entries(outputs).map(([name, node]) => ({
      kind: "output" as const,
      name,
      node,
      axes: [...inOrder(name, node.axes)],
    })),
  ];
  if (root !== undefined && gradients.length > 0) {
    const wrt = gradients.map((name) => inputs[name]);
    gradient(outputs[root], wrt).forEach((node, i) => {
      stored.push({ kind: "gradient", name: gradients[i], node, axes: [...inputAxes[gradients[i]]] });
    });
  }
  const layout = layOut(graph, stored);
  const machine = backend === "js" ? onPlainArrays(layout) : inWorkspace(layout, options);
  let state: "unsized" | "ready" | "disposed" = "unsized";
  const resize = (sizes: Readonly<Record<string, number>>) => {
    if (state === "disposed") throw new InputError("disposed", compileTexts.disposed);
    for (const axis of graph.axes) {
      if (!Number.isInteger(sizes[axis]) || sizes[axis] < 1) {
        throw new InputError("size", compileTexts.size(axis, sizes[axis]));
      }
    }
    state = "unsized";
    machine.resize(sizes);
    state = "ready";
  };
  const ready = (): Machine => {
    if (state === "disposed") throw new InputError("disposed", compileTexts.disposed);
    if (state === "unsized") throw new InputError("unsized", compileTexts.unsized(graph.axes));
    return machine;
  };
  if (graph.axes.length === 0) resize({});
  const find = (kind: Stored["kind"], name: string): Floats => {
    const index = stored.findIndex((each) => each.kind === kind && each.name === name);
    if (index < 0) {
      const known = stored.filter((each) => each.kind === kind).map((each) => each.name);
      throw new InputError("name", compileTexts.name(kind, name, known));
    }
    return ready().array(index);
  };
  return {
    resize,
    input: (name) => find("input", name),
    output: (name = SINGLE) => find("output", name),
    gradient: (name) => find("gradient", name),
    run: () => ready().run(),
    dispose() {
      if (state !== "disposed") machine.dispose();
      state = "disposed";
    },
  };
};

interface Machine {
  resize(sizes: Readonly<Record<string, number>>): void;
  array(index: number): Floats;
  run(): void;
  dispose(): void;
}

const lengthOf = (axes: readonly string[], sizes: Readonly<Record<string, number>>): number =>
  axes.reduce((product, axis) => product * sizes[axis], 1);

const onPlainArrays = ({ axes, places, nests, find, target }: Layout): Machine => {
  const functions = nests.map((nest) => nestFunction(nest, find, target, axes));
  let sizes: Readonly<Record<string, number>> = {};
  let arrays: Float64Array[] = [];
  return {
    resize(next) {
      sizes = { ...next };
      arrays = places.map((place) => new Float64Array(lengthOf(place.axes, sizes)));
    },
    array: (index) => arrays[index],
    run() {
      for (const run of functions) run(sizes, arrays);
    },
    dispose() {
      arrays = [];
    },
  };
};

/** Tasks of a nest at most: the split does not depend on the number of threads. */
const MOST_TASKS = 64;
/** Elements below which a task is not worth waking a thread for. */
const SMALLEST_TASK = 2048;

/** How a nest is cut: iterations of its outer loops (or of the only one) a task, and how many tasks that makes. */
const cut = (nest: Nest, sizes: Readonly<Record<string, number>>): { chunk: number; tasks: number } => {
  const inner = nest.inner === undefined ? 1 : sizes[nest.inner];
  const flat = nest.outer.length === 0;
  const iterations = flat ? inner : lengthOf(nest.outer, sizes);
  const least = Math.ceil(SMALLEST_TASK / (flat ? 1 : inner));
  // A multiple of four, so that a flat task starts on a vector.
  const chunk = 4 * Math.ceil(Math.max(least, iterations / MOST_TASKS) / 4);
  return { chunk, tasks: Math.ceil(iterations / chunk) };
};

/** A kernel of a program and how many tasks of it a run takes. */
interface Step {
  readonly kernel: string;
  readonly tasks: number;
}

const inWorkspace = (
  layout: Layout,
  options: WorkspaceOptions & { readonly workspace?: Workspace | undefined },
): Machine => {
  const { axes, places, nests, find, target } = layout;
  const workspace = options.workspace ?? new Workspace(options);
  // The job description: lengths of axes, addresses of arrays, three words for every nest, constants.
  const wordsOf = (i: number): Words => {
    const own = axes.length + places.length + 3 * i;
    return {
      size: (axis) => axes.indexOf(axis),
      array: (index) => axes.length + index,
      chunk: own,
      tasks: own + 1,
      partials: own + 2,
    };
  };
  const wordCount = axes.length + places.length + 3 * nests.length;
  const pool = new ConstantPool((writer) => writer.get(0), 4 * wordCount);
  const module = new ModuleWriter();
  const code = { fma: workspace.fma, pool };
  const names: string[] = [];
  nests.forEach((nest, i) => {
    names.push(`nest${i}`);
    writeNest(module, `nest${i}`, nest, find, target, wordsOf(i), code);
    if (!isSplit(nest)) return;
    names.push(`combination${i}`);
    writeCombination(module, `combination${i}`, nest, target, wordsOf(i), code);
  });
  const kernels = workspace.load(module, names);
  let addresses: readonly number[] = [];
  let steps: readonly Step[] = [];
  let sizes: Readonly<Record<string, number>> = {};
  const release = () => {
    const taken = addresses;
    addresses = [];
    for (const address of taken) workspace.release(address);
  };
  /** After the arrays: partial results of every nest, then the job description. */
  const descriptor = () => addresses[places.length + nests.length];
  return {
    resize(next) {
      release();
      sizes = { ...next };
      const cuts = nests.map((nest) => cut(nest, sizes));
      addresses = workspace.allocateAll([
        ...places.map((place) => 4 * lengthOf(place.axes, sizes)),
        ...nests.map((nest, i) => (isSplit(nest) ? 4 * nest.results.length * cuts[i].tasks : 0)),
        4 * (wordCount + pool.bits.length),
      ]);
      const view = workspace.words(descriptor(), wordCount + pool.bits.length);
      view.set(axes.map((axis) => sizes[axis]));
      view.set(addresses.slice(0, places.length), axes.length);
      cuts.forEach(({ chunk, tasks }, i) => {
        const words = wordsOf(i);
        view[words.chunk] = chunk;
        view[words.tasks] = tasks;
        view[words.partials] = addresses[places.length + i];
      });
      view.set(pool.bits, wordCount);
      steps = nests.flatMap((nest, i) => [
        { kernel: `nest${i}`, tasks: cuts[i].tasks },
        ...(isSplit(nest) ? [{ kernel: `combination${i}`, tasks: 1 }] : []),
      ]);
    },
    array: (index) => workspace.floats(addresses[index], lengthOf(places[index].axes, sizes)),
    run() {
      for (const { kernel, tasks } of steps) kernels.run(kernel, descriptor(), tasks);
    },
    dispose() {
      release();
      kernels.dispose();
      if (options.workspace === undefined) workspace.dispose();
    },
  };
};
