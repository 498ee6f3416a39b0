/** Nested bounds of many rows at once on a GPU: the evidences at given designs, and the climb of designs by Adam. */
import type { StreamKey } from "../../../core/random.js";
import type { Buffer } from "../api.js";
import type { Dispatch, Gpu, Kernel } from "../device.js";
import {
  type AscentSettings,
  type AscentVariable,
  ascentKernel,
  ascentSettings,
  momentWords,
} from "./ascent-kernel.js";
import { type BoundShape, boundKernel, resultWords } from "./bound-kernel.js";
import type { NestedDescription } from "./description.js";
import { encodePaths, KEYS_WORKGROUP, keysKernel } from "./keys-kernel.js";
import { layoutOf, type NestedLayout, type Splitting } from "./layout.js";
import { samplesKernel, samplesWorkgroups } from "./samples-kernel.js";
import { boundShape } from "./shape.js";

/** A set of designs and the stream that its samples come from: step s draws from the child number + s of the key. */
export interface Row {
  /** [horizon, variables] */
  readonly designs: ArrayLike<number>;
  readonly key: StreamKey;
  readonly number: number;
  /** An observation that is left out, as if it had not been made. */
  readonly skip?: number | undefined;
}

/** What a row's experiments give: [outer] each. */
export interface RowEvidence {
  /** log p(D | all parameters) of the generating sample. */
  readonly own: Float64Array;
  /** The log mean over fresh inner samples of the likelihood and of its square, for every evidence. */
  readonly fresh: readonly Float64Array[];
  readonly squared: readonly Float64Array[];
}

/** Words of inner samples and tables that rows have at a time. */
const MOST_SAMPLES = 2 ** 26;

/** Points of all loops that a submission goes through: a page's GPU ends what takes longer than seconds. */
const MOST_POINTS = 2e10;

const mostRows = (gpu: Gpu, { samples, description }: NestedLayout): number => {
  const room = Math.min(MOST_SAMPLES, gpu.limits.maxStorageBufferBindingSize / 4);
  const { outer, horizon, evidences } = description;
  const points = outer * horizon * evidences.reduce((sum, { inner }) => sum + inner, 1);
  return Math.floor(Math.min(room / Math.max(1, samples), MOST_POINTS / points));
};

interface RowOptions {
  readonly shape?: Partial<BoundShape> | undefined;
  readonly splitting?: Splitting | undefined;
}

type RowBuffers = Record<
  "rows" | "blocks" | "sizes" | "keys" | "designs" | "ticks" | "samples" | "results",
  Buffer
>;

/** What both kinds of program have: rows, their keys and their samples. */
class RowProgram {
  readonly gpu: Gpu;
  readonly layout: NestedLayout;
  readonly shape: BoundShape;
  /** Rows that there is room for. */
  readonly capacity: number;
  readonly buffers: RowBuffers;
  readonly #keys: Kernel;
  readonly #samples: Kernel;

  private constructor(
    gpu: Gpu,
    layout: NestedLayout,
    shape: BoundShape,
    capacity: number,
    buffers: RowBuffers,
    kernels: { readonly keys: Kernel; readonly samples: Kernel },
  ) {
    this.gpu = gpu;
    this.layout = layout;
    this.shape = shape;
    this.capacity = capacity;
    this.buffers = buffers;
    this.#keys = kernels.keys;
    this.#samples = kernels.samples;
  }

  static async create(
    gpu: Gpu,
    description: NestedDescription,
    rows: number,
    steps: number,
    gradients: boolean,
    { shape: given = {}, splitting }: RowOptions = {},
  ): Promise<RowProgram> {
    const layout = layoutOf(description, gradients, splitting);
    const capacity = gradients ? rows : Math.max(1, Math.min(rows, mostRows(gpu, layout)));
    const shape = await boundShape(gpu, layout, capacity, gradients, given);
    const blocks = encodePaths(layout.streams);
    const { horizon, design } = description;
    const buffers = await gpu.allocate({
      rows: 4 * capacity,
      blocks: blocks.length,
      sizes: 2,
      keys: 2 * steps * capacity * layout.streams.length,
      designs: capacity * horizon * design.length,
      ticks: 4 * capacity,
      samples: capacity * layout.samples,
      results: capacity * resultWords(layout, shape),
    });
    gpu.write(buffers.blocks, blocks);
    const [keys, samples] = await Promise.all([
      gpu.kernel(keysKernel(layout.streams.length), [
        buffers.rows,
        buffers.blocks,
        buffers.sizes,
        buffers.keys,
      ]),
      gpu.kernel(samplesKernel(layout, gradients), [
        buffers.keys,
        buffers.designs,
        buffers.ticks,
        buffers.sizes,
        buffers.samples,
      ]),
    ]);
    return new RowProgram(gpu, layout, shape, capacity, buffers, { keys, samples });
  }

  /** Rows with no step taken yet in this chunk. */
  write(rows: readonly Row[], steps: number): void {
    const { horizon, design } = this.layout.description;
    const words = Uint32Array.from(
      rows.flatMap(({ key, number, skip = horizon }) => [key[0], key[1], number, skip]),
    );
    this.gpu.write(this.buffers.rows, words);
    this.gpu.write(this.buffers.sizes, Uint32Array.of(rows.length, steps));
    const size = horizon * design.length;
    const designs = new Float32Array(rows.length * size);
    rows.forEach((row, r) => {
      designs.set(row.designs, r * size);
    });
    this.gpu.write(this.buffers.designs, designs);
  }

  keysOf(rows: number, steps: number): Dispatch {
    const threads = rows * steps * this.layout.streams.length;
    return { kernel: this.#keys, workgroups: [Math.ceil(threads / KEYS_WORKGROUP)] };
  }

  samplesOf(rows: number): Dispatch {
    return {
      kernel: this.#samples,
      workgroups: [samplesWorkgroups(this.layout), Math.max(1, this.layout.evidences.length), rows],
    };
  }

  get tiles(): number {
    return Math.ceil(this.layout.description.outer / this.shape.tile);
  }

  dispose(): void {
    for (const buffer of Object.values(this.buffers)) buffer.destroy();
  }
}

/** The evidences at given designs. */
export class NestedValues {
  readonly #program: RowProgram;
  readonly #bound: Kernel;

  private constructor(program: RowProgram, bound: Kernel) {
    this.#program = program;
    this.#bound = bound;
  }

  /** For at most `rows` rows at a time; more are taken one part after the other. */
  static async create(
    gpu: Gpu,
    description: NestedDescription,
    rows: number,
    splitting?: Splitting,
  ): Promise<NestedValues> {
    const program = await RowProgram.create(gpu, description, rows, 1, false, { splitting });
    const { keys, designs, ticks, sizes, samples, rows: each, results } = program.buffers;
    const bound = await gpu.kernel(boundKernel(program.layout, program.shape), [
      keys,
      designs,
      ticks,
      sizes,
      samples,
      each,
      results,
    ]);
    return new NestedValues(program, bound);
  }

  async evaluate(rows: readonly Row[]): Promise<RowEvidence[]> {
    const program = this.#program;
    const found: RowEvidence[] = [];
    for (let from = 0; from < rows.length; from += program.capacity) {
      found.push(...(await this.#part(rows.slice(from, from + program.capacity))));
    }
    return found;
  }

  async #part(rows: readonly Row[]): Promise<RowEvidence[]> {
    const { gpu, layout, shape, buffers, tiles } = this.#program;
    this.#program.write(rows, 1);
    gpu.write(buffers.ticks, new Uint32Array(4 * rows.length));
    await gpu.submit([
      this.#program.keysOf(rows.length, 1),
      this.#program.samplesOf(rows.length),
      { kernel: this.#bound, workgroups: [tiles, rows.length] },
    ]);
    const words = resultWords(layout, shape);
    const all = await gpu.readFloats(buffers.results, rows.length * words);
    const { outer } = layout.description;
    const count = layout.evidences.length;
    const width = 1 + 2 * count;
    const column = (row: number, k: number): Float64Array =>
      Float64Array.from({ length: outer }, (_, b) => all[row * words + b * width + k]);
    return rows.map((_, row) => ({
      own: column(row, 0),
      fresh: Array.from({ length: count }, (_each, e) => column(row, 1 + 2 * e)),
      squared: Array.from({ length: count }, (_each, e) => column(row, 2 + 2 * e)),
    }));
  }

  dispose(): void {
    this.#program.dispose();
  }
}

/** A row on its way, as plain data: [horizon, variables] each. */
export interface ClimbState {
  readonly designs: Float32Array;
  /** What Adam and the rule for settling remember, see `momentWords`. */
  readonly moments: Float32Array;
  /** Steps of Adam, why it stopped, steps of the round. */
  readonly steps: number;
  readonly stopped: number;
  readonly roundSteps: number;
}

export interface ClimbRow extends Omit<Row, "designs" | "skip">, ClimbState {
  /** Of every evidence, and of the generating sample's own log-likelihood. */
  readonly coefficients: readonly number[];
  /** Of every design variable: the unit that the rate is in, a power of two. */
  readonly spreads: readonly number[];
}

export interface Chunk {
  readonly states: readonly ClimbState[];
  /** The bound at every step, [steps, rows]. */
  readonly values: Float32Array;
}

/** Designs on their way up, with all that the steps need on the GPU. */
export class NestedClimb {
  readonly #program: RowProgram;
  readonly #bound: Kernel;
  readonly #ascent: Kernel;
  readonly #extra: Record<"coefficients" | "settings" | "spreads" | "moments" | "history", Buffer>;
  readonly #steps: number;

  private constructor(
    program: RowProgram,
    kernels: { readonly bound: Kernel; readonly ascent: Kernel },
    extra: Record<"coefficients" | "settings" | "spreads" | "moments" | "history", Buffer>,
    steps: number,
  ) {
    this.#program = program;
    this.#bound = kernels.bound;
    this.#ascent = kernels.ascent;
    this.#extra = extra;
    this.#steps = steps;
  }

  /** For `rows` rows and at most `steps` steps at a time. */
  static async create(
    gpu: Gpu,
    description: NestedDescription,
    {
      rows,
      steps,
      variables,
      settings,
      shape = {},
    }: {
      readonly rows: number;
      readonly steps: number;
      readonly variables: readonly AscentVariable[];
      readonly settings: AscentSettings;
      readonly shape?: Partial<BoundShape> | undefined;
    },
  ): Promise<NestedClimb> {
    const program = await RowProgram.create(gpu, description, rows, steps, true, { shape });
    const { layout, buffers, tiles } = program;
    const extra = await gpu.allocate({
      coefficients: rows * (layout.evidences.length + 1),
      settings: 5,
      spreads: rows * description.design.length,
      moments: rows * momentWords(layout),
      history: rows * steps,
    });
    gpu.write(extra.settings, ascentSettings(settings));
    const { keys, designs, ticks, sizes, samples, results } = buffers;
    const [bound, ascent] = await Promise.all([
      gpu.kernel(boundKernel(layout, program.shape), [
        keys,
        designs,
        ticks,
        sizes,
        samples,
        extra.coefficients,
        results,
      ]),
      gpu.kernel(ascentKernel(layout, tiles, variables), [
        results,
        extra.settings,
        sizes,
        extra.spreads,
        designs,
        extra.moments,
        ticks,
        extra.history,
      ]),
    ]);
    return new NestedClimb(program, { bound, ascent }, extra, steps);
  }

  /** The state of a row before its first step. */
  fresh(designs: ArrayLike<number>): ClimbState {
    return {
      designs: Float32Array.from(designs),
      moments: new Float32Array(momentWords(this.#program.layout)),
      steps: 0,
      stopped: 0,
      roundSteps: 0,
    };
  }

  get shape(): BoundShape {
    return this.#program.shape;
  }

  /** `steps` steps of all rows. Nothing is read back between them. */
  async run(rows: readonly ClimbRow[], steps: number): Promise<Chunk> {
    if (steps > this.#steps) throw new RangeError(`${steps} steps in room for ${this.#steps}`);
    const program = this.#program;
    const { gpu, layout, buffers } = program;
    const { horizon, design } = layout.description;
    program.write(rows, steps);
    const count = rows.length;
    gpu.write(
      buffers.ticks,
      Uint32Array.from(
        rows.flatMap(({ steps: taken, stopped, roundSteps }) => [0, taken, stopped, roundSteps]),
      ),
    );
    gpu.write(this.#extra.coefficients, Float32Array.from(rows.flatMap(({ coefficients }) => coefficients)));
    gpu.write(this.#extra.spreads, Float32Array.from(rows.flatMap(({ spreads }) => spreads)));
    const width = momentWords(layout);
    const moments = new Float32Array(count * width);
    rows.forEach((row, r) => {
      moments.set(row.moments, r * width);
    });
    gpu.write(this.#extra.moments, moments);
    const step: Dispatch[] = [
      program.samplesOf(count),
      { kernel: this.#bound, workgroups: [program.tiles, count] },
      { kernel: this.#ascent, workgroups: [count] },
    ];
    const all = [program.keysOf(count, steps)];
    for (let i = 0; i < steps; i++) all.push(...step);
    await gpu.submit(all);
    const size = horizon * design.length;
    const [designs, after, ticks, history] = await gpu.read(
      { buffer: buffers.designs, words: count * size },
      { buffer: this.#extra.moments, words: count * width },
      { buffer: buffers.ticks, words: 4 * count },
      { buffer: this.#extra.history, words: count * steps },
    );
    const [allDesigns, allMoments, allTicks] = [
      new Float32Array(designs),
      new Float32Array(after),
      new Uint32Array(ticks),
    ];
    return {
      states: rows.map((_, r) => ({
        designs: allDesigns.slice(r * size, (r + 1) * size),
        moments: allMoments.slice(r * width, (r + 1) * width),
        steps: allTicks[4 * r + 1],
        stopped: allTicks[4 * r + 2],
        roundSteps: allTicks[4 * r + 3],
      })),
      values: new Float32Array(history),
    };
  }

  dispose(): void {
    this.#program.dispose();
    for (const buffer of Object.values(this.#extra)) buffer.destroy();
  }
}
