/**
 * One compiled form of a log-mean-exp: its kernels, the memory they work in, and the last sums, which are few and
 * are done here in float64 in a fixed order.
 */
import { exp, log } from "../../core/math.js";
import { reachable, type Traced } from "../graph/expression.js";
import { ModuleWriter } from "../wasm/encoder.js";
import { ConstantPool } from "../wasm/vector.js";
import type { Kernels, Pause, Workspace } from "../workspace.js";
import { bitsOf, INNER, OBSERVATION, OUTER, type Sizes } from "./axes.js";
import { writeGradient } from "./gradient-kernel.js";
import { WORDS } from "./kernel.js";
import { cost, type Partial, type Plan, usesTables } from "./plan.js";
import { RECORD_HEAD, type StreamLayout, streamLayout, writeStream } from "./stream.js";
import { type GradientLayout, gradientLayout, type TableLayout, tableLayout, writeTables } from "./tables.js";

/** Inner samples that one task takes at most: more than this and an outer sample is split over threads. */
const CHUNK = 8192;
/** Tasks of the passes over the tables: enough for many threads, few enough that their sums take little memory. */
const BLOCKS = 16;

/** Loops over at most this many observations are written out, if that takes no more than so many instructions. */
const MOST_WRITTEN = 16;
const LONGEST_WRITTEN = 2000;

interface Compiled {
  readonly kernels: Kernels;
  readonly pool: ConstantPool;
}

/** Whether a gradient comes through the tables or per pair, and so needs the second pass. */
const reachesTables = ({ shared, inner }: Plan, leaf: Traced): boolean =>
  (bitsOf(leaf) & INNER) !== 0 || reachable([inner, ...shared.map(({ node }) => node)]).has(leaf);

/** The arrays a program has, whatever form computes them. */
export interface Arrays {
  readonly inputs: readonly Traced[];
  address(input: Traced): number;
  gradient(leaf: Traced): Float32Array;
  readonly value: Float64Array;
}

export class Variant {
  readonly #plan: Plan;
  readonly #inputs: readonly Traced[];
  readonly #workspace: Workspace;
  readonly #stream: StreamLayout;
  readonly #tables: TableLayout | undefined;
  readonly #gradient: GradientLayout | undefined;
  /** Kernels by what they are written for. */
  readonly #compiled = new Map<string, Compiled>();
  #careful = false;
  readonly #memory: number[] = [];
  #words = new Map<keyof typeof WORDS, number>();
  #sums = new Map<Traced, Float64Array>();
  #descriptor = 0;
  #sizes: Sizes = { outer: 0, observation: 0, inner: 0 };

  constructor(plan: Plan, inputs: readonly Traced[], workspace: Workspace) {
    this.#plan = plan;
    this.#inputs = inputs;
    this.#workspace = workspace;
    this.#stream = streamLayout(plan);
    this.#tables = usesTables(plan) ? tableLayout(plan) : undefined;
    const second = this.#tables !== undefined && plan.wanted.some((leaf) => reachesTables(plan, leaf));
    this.#gradient = second ? gradientLayout(plan) : undefined;
  }

  /** The kernels for this many observations, whose loop is written out where that is short. */
  get #code(): Compiled {
    const { observation } = this.#sizes;
    const size = observation * cost(this.#stream.joint, ...this.#stream.stored.map(({ partial }) => partial));
    const written = observation <= MOST_WRITTEN && size <= LONGEST_WRITTEN ? observation : undefined;
    const key = `${written} ${this.#careful}`;
    const known = this.#compiled.get(key);
    if (known !== undefined) return known;
    const module = new ModuleWriter();
    const pool = new ConstantPool((writer) => writer.get(0), 4 * (WORDS.inputs + this.#inputs.length));
    const options = { inputs: this.#inputs, fma: this.#workspace.fma, pool, written, careful: this.#careful };
    const names = ["stream"];
    const tables = this.#tables;
    const gradient = this.#gradient;
    if (tables === undefined) writeStream(module, this.#stream, options);
    else {
      writeStream(module, this.#stream, options, { layout: tables, kept: gradient?.kept });
      writeTables(module, this.#plan, tables, options);
      names.push("tables");
      if (gradient !== undefined) {
        writeGradient(module, tables, gradient, options);
        names.push("gradient");
      }
    }
    const made = { kernels: this.#workspace.load(module, names), pool };
    this.#compiled.set(key, made);
    return made;
  }

  get #rows(): number {
    return Math.ceil(this.#sizes.inner / 4);
  }
  get #chunks(): number {
    return Math.ceil(this.#sizes.inner / CHUNK);
  }
  get #block(): number {
    return Math.ceil(this.#rows / BLOCKS);
  }
  get #blocks(): number {
    return Math.ceil(this.#rows / this.#block);
  }

  #allocate(bytes: number): number {
    const address = this.#workspace.allocate(bytes);
    this.#memory.push(address);
    return address;
  }

  /** Takes the memory that these sizes need. */
  resize(sizes: Sizes, arrays: Arrays): void {
    this.release();
    this.#sizes = sizes;
    const { outer, inner, observation } = sizes;
    const workspace = this.#workspace;
    const record = 4 * this.#stream.size(observation);
    const own = Math.max(this.#stream.scratch(observation), this.#gradient?.scratch(observation) ?? 0);
    const scratch = Math.ceil(own / 64) * 64;
    const words = new Map<keyof typeof WORDS, number>([
      ["outer", outer],
      ["inner", inner],
      ["observations", observation],
      ["chunk", CHUNK],
      ["chunks", this.#chunks],
      ["scratch", this.#allocate(scratch * workspace.threads)],
      ["scratchBytes", scratch],
      ["records", this.#allocate(record * outer * this.#chunks)],
      ["recordBytes", record],
    ]);
    if (this.#tables !== undefined) {
      const rows = this.#rows;
      const padded = 16 * rows;
      words.set("tables", this.#allocate(this.#tables.rowBytes(observation) * rows));
      words.set("tableBytes", this.#tables.rowBytes(observation));
      words.set("block", this.#block);
      const gradient = this.#gradient;
      if (gradient !== undefined) {
        words.set("logs", this.#allocate(padded * outer));
        words.set("logBytes", padded);
        const { perPair, back } = gradient;
        const part = 16 * gradient.part(observation);
        words.set("kept", this.#allocate(4 * outer * observation * gradient.kept.length));
        words.set("weights", this.#allocate(8 * outer));
        words.set("parts", this.#allocate(part * this.#blocks));
        words.set("partBytes", part);
        words.set("innerGradients", this.#allocate(padded * (perPair.length * outer + back.perInner.length)));
      }
    }
    this.#words = words;
    const { pool } = this.#code;
    const length = WORDS.inputs + arrays.inputs.length + pool.bits.length;
    this.#descriptor = this.#allocate(4 * length);
    const view = workspace.words(this.#descriptor, length);
    for (const [name, value] of words) view[WORDS[name]] = value;
    arrays.inputs.forEach((input, i) => {
      view[WORDS.inputs + i] = arrays.address(input);
    });
    view.set(pool.bits, WORDS.inputs + arrays.inputs.length);
    this.#sums = new Map(
      this.#plan.wanted
        .filter((leaf) => (bitsOf(leaf) & INNER) === 0)
        .map((leaf) => [leaf, new Float64Array(arrays.gradient(leaf).length)]),
    );
  }

  #floats(word: keyof typeof WORDS, length: number): Float32Array {
    return this.#workspace.floats(this.#words.get(word) ?? 0, length);
  }

  /** The largest sum of sizes of the inner and the outer part: what may cancel in their total. */
  magnitude(): number {
    const { outer } = this.#sizes;
    const size = this.#stream.size(this.#sizes.observation);
    const records = this.#floats("records", outer * this.#chunks * size);
    let largestOuter = 0;
    for (let b = 0; b < outer; b++) {
      largestOuter = Math.max(largestOuter, records[b * this.#chunks * size + 3]);
    }
    const stride = (this.#words.get("tableBytes") ?? 0) / 4;
    const tables = this.#floats("tables", stride * this.#rows);
    let largestInner = 0;
    for (let row = 0; row < this.#rows; row++) {
      for (let lane = 0; lane < 4; lane++)
        largestInner = Math.max(largestInner, tables[row * stride + 4 + lane]);
    }
    return largestOuter + largestInner;
  }

  /** The values, and with them all that a gradient needs. */
  forward(arrays: Arrays): void {
    for (const [kernel, tasks] of this.#forwardJobs()) {
      this.#code.kernels.run(kernel, this.#descriptor, tasks);
    }
    this.#collect(arrays);
  }

  /** `forward`, with `pause` awaited between pieces of the work. */
  async forwardInPieces(arrays: Arrays, pause: Pause): Promise<void> {
    for (const [kernel, tasks] of this.#forwardJobs()) {
      await this.#code.kernels.runInPieces(kernel, this.#descriptor, tasks, pause);
    }
    this.#collect(arrays);
  }

  #forwardJobs(): readonly (readonly [kernel: string, tasks: number])[] {
    const stream = ["stream", this.#sizes.outer * this.#chunks] as const;
    return this.#tables === undefined ? [stream] : [["tables", this.#blocks], stream];
  }

  /** The values, from the records of all tasks. */
  #collect(arrays: Arrays): void {
    const { outer, inner, observation } = this.#sizes;
    const chunks = this.#chunks;
    const size = this.#stream.size(observation);
    const records = this.#floats("records", outer * chunks * size);
    const logInner = log(inner);
    for (let b = 0; b < outer; b++) {
      const { shift, z } = mergeChunks(records, b * chunks, chunks, size);
      arrays.value[b] =
        shift === Infinity ? Infinity : shift + log(z) - logInner + records[b * chunks * size + 2];
    }
  }

  /** The gradient of sum_b adjoint[b] value[b], after `forward`. */
  backward(arrays: Arrays, adjoint: (b: number) => number): void {
    this.#accumulate(arrays, adjoint);
    if (this.#careful || !this.#hasNaN(arrays) || arrays.value.some(Number.isNaN)) return;
    // An infinite derivative at a sample that weighs nothing: the kernels that look out for it take over.
    this.#careful = true;
    this.resize(this.#sizes, arrays);
    this.forward(arrays);
    this.#accumulate(arrays, adjoint);
  }

  #hasNaN(arrays: Arrays): boolean {
    return this.#plan.wanted.some((leaf) => {
      const gradient = arrays.gradient(leaf);
      for (let i = 0; i < gradient.length; i++) if (Number.isNaN(gradient[i])) return true;
      return false;
    });
  }

  #accumulate(arrays: Arrays, adjoint: (b: number) => number): void {
    for (const sums of this.#sums.values()) sums.fill(0);
    this.#addRecords(adjoint);
    if (this.#gradient !== undefined) this.#addTables(this.#gradient, arrays, adjoint);
    for (const [leaf, sums] of this.#sums) arrays.gradient(leaf).set(sums);
  }

  /** Element (b, t) of an input's gradient is at b * perOuter + t * perStep. */
  #strides(leaf: Traced): { readonly perOuter: number; readonly perStep: number } {
    const bits = bitsOf(leaf);
    const perStep = (bits & OBSERVATION) !== 0 ? 1 : 0;
    return { perOuter: (bits & OUTER) === 0 ? 0 : perStep === 1 ? this.#sizes.observation : 1, perStep };
  }

  /** What the first pass has in its records. */
  #addRecords(adjoint: (b: number) => number): void {
    const { outer, observation } = this.#sizes;
    const { perObservation, perOuter, outerPartials } = this.#stream;
    const chunks = this.#chunks;
    const size = this.#stream.size(observation);
    const records = this.#floats("records", outer * chunks * size);
    /**
     * Weighted by `scales` of each of `tasks` tasks an outer sample: one float per observation, or just one where `width`
     * is 0, from `start` on and `width` apart.
     */
    const add = (
      { leaf, factor }: Partial,
      scales: Float64Array,
      tasks: number,
      start: number,
      width: number,
    ) => {
      const sums = this.#sums.get(leaf);
      if (sums === undefined) return;
      const { perOuter, perStep } = this.#strides(leaf);
      const steps = width > 0 ? observation : 1;
      for (let b = 0; b < outer; b++) {
        for (let c = 0; c < tasks; c++) {
          const scale = factor * scales[b * tasks + c];
          const from = (b * chunks + c) * size + start;
          for (let t = 0; t < steps; t++) {
            sums[b * perOuter + t * perStep] += scale * records[from + t * width];
          }
        }
      }
    };
    const adjoints = Float64Array.from({ length: outer }, (_, b) => adjoint(b));
    const weights = new Float64Array(outer * chunks);
    for (let b = 0; b < outer; b++) {
      const { shift, z } = mergeChunks(records, b * chunks, chunks, size);
      for (let c = 0; c < chunks; c++) {
        const task = b * chunks + c;
        weights[task] = (adjoints[b] * exp(records[task * size] - shift)) / z;
      }
    }
    let start = RECORD_HEAD;
    perOuter.forEach((part, v) => {
      add(part, weights, chunks, start + v, 0);
    });
    start += perOuter.length;
    perObservation.forEach((part, v) => {
      add(part, weights, chunks, start + v, perObservation.length);
    });
    start += observation * perObservation.length;
    outerPartials.forEach((part, v) => {
      add(part, adjoints, 1, start + v, outerPartials.length);
    });
  }

  /** The second pass over the tables, and its sums. */
  #addTables(layout: GradientLayout, arrays: Arrays, adjoint: (b: number) => number): void {
    const { outer, inner, observation } = this.#sizes;
    const chunks = this.#chunks;
    const size = this.#stream.size(observation);
    const records = this.#floats("records", outer * chunks * size);
    const weights = this.#floats("weights", 2 * outer);
    for (let b = 0; b < outer; b++) {
      const { shift, z } = mergeChunks(records, b * chunks, chunks, size);
      weights[2 * b] = shift + log(z);
      weights[2 * b + 1] = adjoint(b);
    }
    const { perPair, back } = layout;
    const floats = 4 * layout.part(observation);
    const parts = this.#floats("parts", floats * this.#blocks).fill(0);
    this.#code.kernels.run("gradient", this.#descriptor, this.#blocks);

    const add = (leaf: Traced, factor: number, start: number, width: number) => {
      const sums = this.#sums.get(leaf);
      if (sums === undefined) return;
      for (let block = 0; block < this.#blocks; block++) {
        for (let t = 0; t < sums.length; t++) {
          const at = block * floats + 4 * (start + t * width);
          sums[t] += factor * (parts[at] + parts[at + 1] + parts[at + 2] + parts[at + 3]);
        }
      }
    };
    for (const [v, { leaf, factor }] of back.single.entries()) add(leaf, factor, v, 0);
    for (const [v, { leaf, factor }] of back.perObservation.entries()) {
      add(leaf, factor, back.single.length + v, back.perObservation.length);
    }

    const padded = 4 * this.#rows;
    const rows = this.#floats("innerGradients", padded * (perPair.length * outer + back.perInner.length));
    const copy = (leaf: Traced, factor: number, row: number, to: number) => {
      const target = arrays.gradient(leaf);
      for (let s = 0; s < inner; s++) target[to * inner + s] = factor * rows[row * padded + s];
    };
    perPair.forEach(({ leaf, factor }, v) => {
      for (let b = 0; b < outer; b++) copy(leaf, factor, v * outer + b, b);
    });
    back.perInner.forEach(({ leaf, factor }, v) => {
      copy(leaf, factor, perPair.length * outer + v, 0);
    });
  }

  /** Gives everything back. */
  dispose(): void {
    this.release();
    for (const { kernels } of this.#compiled.values()) kernels.dispose();
    this.#compiled.clear();
  }

  /** Gives the memory back. */
  release(): void {
    for (const address of this.#memory.splice(0)) this.#workspace.release(address);
  }
}

/** Log-sum-exp of the chunks of one outer sample, as a shift and a sum. */
const mergeChunks = (
  records: Float32Array,
  first: number,
  chunks: number,
  size: number,
): { shift: number; z: number } => {
  let shift = Number.NEGATIVE_INFINITY;
  for (let c = 0; c < chunks; c++) shift = Math.max(shift, records[(first + c) * size]);
  let z = 0;
  for (let c = 0; c < chunks; c++) {
    const at = (first + c) * size;
    z += records[at + 1] * exp(records[at] - shift);
  }
  // An infinite density: the value is infinite, and there is no gradient.
  return shift === Infinity ? { shift, z: Number.NaN } : { shift, z };
};
