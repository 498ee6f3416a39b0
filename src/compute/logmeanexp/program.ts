/**
 * `value[outer] = logmeanexp_inner sum_observation f` and its gradient, compiled from a traced log-likelihood f.
 *
 * This is the nested estimate at the heart of every information bound: f is log p(y | psi, design), the inner
 * samples are draws of psi, and the value is an estimate of log p(y_1, ..., y_T | designs) for every outer sample.
 */
import { InputError } from "../../core/errors.js";
import type { Traced } from "../graph/expression.js";
import { type InputAxes, SINGLE, type TracedFunction, trace } from "../graph/trace.js";
import { ModuleWriter } from "../wasm/encoder.js";
import { type Kernels, Workspace, type WorkspaceOptions } from "../workspace.js";
import { AXES, type Axis, bitsOf, INNER, OBSERVATION, OUTER } from "./axes.js";
import { WORDS } from "./kernel.js";
import { checkInputs, type Plan, plan, planTexts, usesTables } from "./plan.js";
import { RECORD_HEAD, streamLayout, writeStream } from "./stream.js";

/** The length of every axis. */
export type Sizes = Readonly<Record<Axis, number>>;

export interface LogMeanExpOptions<Inputs extends InputAxes> extends WorkspaceOptions {
  /** The inputs of the log-likelihood and which of "outer", "observation" and "inner" each varies along. */
  readonly inputs: Inputs;
  /** Inputs in which the gradient is wanted. */
  readonly gradients?: readonly (keyof Inputs & string)[];
  /** Where to live; a workspace of its own unless given. */
  readonly workspace?: Workspace;
}

/** Inner samples that one task takes at most: more than this and an outer sample is split over threads. */
const CHUNK = 8192;

export const programTexts = {
  size: (axis: string, given: unknown) =>
    `the length of the axis "${axis}" was ${String(given)}: give a whole number of at least 1`,
  noInput: (name: string, names: readonly string[]) =>
    `there is no input "${name}": the inputs are ${names.map((n) => `"${n}"`).join(", ")}`,
  noGradient: (name: string, names: readonly string[]) =>
    `no gradient in "${name}" was compiled: name it in the option gradients (now ${names.map((n) => `"${n}"`).join(", ") || "none"})`,
};

const lengthOf = (bits: number, sizes: Sizes): number =>
  ((bits & OUTER) !== 0 ? sizes.outer : 1) *
  ((bits & OBSERVATION) !== 0 ? sizes.observation : 1) *
  ((bits & INNER) !== 0 ? sizes.inner : 1);

export class LogMeanExp<Inputs extends InputAxes> {
  readonly workspace: Workspace;
  readonly #ownsWorkspace: boolean;
  readonly #inputs: readonly Traced[];
  readonly #wanted: readonly Traced[];
  readonly #plan: Plan;
  readonly #kernels: Kernels;
  readonly #addresses = new Map<string, number>();
  #sizes: Sizes = { outer: 0, inner: 0, observation: 0 };
  #value = new Float64Array(0);
  #descriptor = 0;

  constructor(fn: TracedFunction<Inputs>, options: LogMeanExpOptions<Inputs>) {
    const { inputs, gradients = [], workspace } = options;
    checkInputs(inputs, gradients);
    const traced = trace(fn, inputs, AXES);
    if (traced.graph.nodes.some((node) => node.op === "sum" || node.op === "logsumexp")) {
      throw new InputError("reduction", planTexts.reduction);
    }
    this.#inputs = Object.keys(inputs).map((name) => traced.inputs[name]);
    this.#wanted = gradients.map((name) => traced.inputs[name]);
    this.#ownsWorkspace = workspace === undefined;
    this.workspace = workspace ?? new Workspace(options);
    this.#plan = plan(traced.outputs[SINGLE], this.#wanted, { product: true });
    const module = new ModuleWriter();
    writeStream(module, this.#plan, this.#inputs, this.workspace.fma);
    this.#kernels = this.workspace.load(module, ["stream"]);
  }
  get sizes(): Sizes { return this.#sizes; }
  get tables(): boolean { return usesTables(this.#plan); }

  resize(sizes: Sizes): void {
    for (const axis of AXES) {
      if (!Number.isInteger(sizes[axis]) || sizes[axis] < 1) {
        throw new InputError("size", programTexts.size(axis, sizes[axis]));
      }
    }
    const { workspace } = this;
    for (const address of this.#addresses.values()) workspace.release(address);
    this.#addresses.clear();
    this.#sizes = { ...sizes };
    this.#value = new Float64Array(sizes.outer);
    const floats = (name: string, length: number) => this.#addresses.set(name, workspace.allocate(4 * length));
    for (const input of this.#inputs) floats(`input ${input.name}`, lengthOf(bitsOf(input), sizes));
    for (const leaf of this.#wanted) floats(`gradient ${leaf.name}`, lengthOf(bitsOf(leaf), sizes));
    const layout = streamLayout(this.#plan);
    const chunks = Math.ceil(sizes.inner / CHUNK);
    const recordSize = layout.size(sizes.observation);
    const scratch = Math.ceil(layout.scratch(sizes.observation) / 64) * 64;
    floats("records", sizes.outer * chunks * recordSize);
    this.#addresses.set("scratch", workspace.allocate(scratch * workspace.threads));
    this.#descriptor = workspace.allocate(4 * (WORDS.inputs + this.#inputs.length));
    this.#addresses.set("descriptor", this.#descriptor);
    const words = workspace.words(this.#descriptor, WORDS.inputs + this.#inputs.length);
    words[WORDS.inner] = sizes.inner;
    words[WORDS.observations] = sizes.observation;
    words[WORDS.outer] = sizes.outer;
    words[WORDS.chunk] = CHUNK;
    words[WORDS.chunks] = chunks;
    words[WORDS.scratch] = this.#addresses.get("scratch") ?? 0;
    words[WORDS.scratchBytes] = scratch;
    words[WORDS.records] = this.#addresses.get("records") ?? 0;
    words[WORDS.recordBytes] = 4 * recordSize;
    this.#inputs.forEach((input, i) => {
      words[WORDS.inputs + i] = this.#addresses.get(`input ${input.name}`) ?? 0;
    });
  }

  input(name: keyof Inputs & string): Float32Array {
    const input = this.#inputs.find((each) => each.name === name);
    if (input === undefined)
      throw new InputError("input", programTexts.noInput(name, this.#inputs.map((each) => each.name)));
    return this.workspace.floats(this.#addresses.get(`input ${name}`) ?? 0, lengthOf(bitsOf(input), this.#sizes));
  }

  gradient(name: keyof Inputs & string): Float32Array {
    const leaf = this.#wanted.find((each) => each.name === name);
    if (leaf === undefined)
      throw new InputError("gradient", programTexts.noGradient(name, this.#wanted.map((each) => each.name)));
    return this.workspace.floats(this.#addresses.get(`gradient ${name}`) ?? 0, lengthOf(bitsOf(leaf), this.#sizes));
  }

  get value(): Float64Array { return this.#value; }

  run(seed?: ArrayLike<number>): void {
    const { outer, inner, observation } = this.#sizes;
    const layout = streamLayout(this.#plan);
    const chunks = Math.ceil(inner / CHUNK);
    const size = layout.size(observation);
    this.#kernels.run("stream", this.#descriptor, outer * chunks);
    const records = this.workspace.floats(this.#addresses.get("records") ?? 0, outer * chunks * size);
    const grads = new Map(this.#wanted.map((leaf) => [leaf, this.gradient(leaf.name).fill(0)]));
    const { perObservation, perOuter, outerPartials } = layout;
    const place = (leaf: Traced, b: number, t: number) => {
      const bits = bitsOf(leaf);
      return ((bits & OUTER) !== 0 ? b : 0) * ((bits & OBSERVATION) !== 0 ? observation : 1) + ((bits & OBSERVATION) !== 0 ? t : 0);
    };
    for (let b = 0; b < outer; b++) {
      let shift = Number.NEGATIVE_INFINITY;
      for (let c = 0; c < chunks; c++) shift = Math.max(shift, records[(b * chunks + c) * size]);
      let z = 0;
      for (let c = 0; c < chunks; c++) {
        const at = (b * chunks + c) * size;
        z += records[at + 1] * Math.exp(records[at] - shift);
      }
      this.#value[b] = shift + Math.log(z) - Math.log(inner) + records[b * chunks * size + 2];
      const adj = seed === undefined ? 1 : seed[b];
      for (let c = 0; c < chunks; c++) {
        const at = (b * chunks + c) * size;
        const w = (adj * Math.exp(records[at] - shift)) / z;
        perOuter.forEach((leaf, v) => {
          const g = grads.get(leaf) as Float32Array;
          g[place(leaf, b, 0)] += w * records[at + RECORD_HEAD + v];
        });
        for (let v = 0; v < perObservation.length; v++) {
          const leaf = perObservation[v];
          const g = grads.get(leaf) as Float32Array;
          for (let t = 0; t < observation; t++)
            g[place(leaf, b, t)] += w * records[at + RECORD_HEAD + perOuter.length + t * perObservation.length + v];
        }
      }
      const at = b * chunks * size + RECORD_HEAD + perOuter.length + observation * perObservation.length;
      for (let v = 0; v < outerPartials.length; v++) {
        const leaf = outerPartials[v];
        const g = grads.get(leaf) as Float32Array;
        for (let t = 0; t < observation; t++) g[place(leaf, b, t)] += adj * records[at + t * outerPartials.length + v];
      }
    }
  }

  dispose(): void {
    for (const address of this.#addresses.values()) this.workspace.release(address);
    if (this.#ownsWorkspace) this.workspace.dispose();
  }
}
