/** Rows of designs on a GPU, with their keys, samples and bounds: what evaluating and climbing have in common. */
import type { StreamKey } from "../../../core/random.js";
import type { Buffer } from "../api.js";
import type { Dispatch, Gpu, Kernel } from "../device.js";
import { type BoundShape, boundKernel, resultWords } from "./bound-kernel.js";
import type { NestedDescription } from "./description.js";
import { groupsFor } from "./groups.js";
import { encodePaths, KEYS_WORKGROUP, keysKernel } from "./keys-kernel.js";
import { type Designs, layoutOf, type NestedLayout, type Splitting } from "./layout.js";
import { samplesKernel, samplesWorkgroups } from "./samples-kernel.js";
import { boundShape } from "./shape.js";

/** A set of designs and the stream that its samples come from: step s draws from the child number + s of the key. */
export interface Row {
  /** [horizon, variables]; of experiments that were made elsewhere also the outcomes, [outer, horizon, variables and outcomes]. */
  readonly designs: ArrayLike<number>;
  /** What those experiments were made with, [outer, parameters]. */
  readonly parameters?: ArrayLike<number> | undefined;
  readonly key: StreamKey;
  readonly number: number;
  /** An observation that is left out, as if it had not been made. */
  readonly skip?: number | undefined;
}

/** Words of inner samples and tables that rows have at a time. */
const MOST_SAMPLES = 2 ** 26;

/** Points of all loops that a submission goes through: a page's GPU ends what takes longer than seconds. */
const MOST_POINTS = 2e10;

/** Points that a step of one row goes through. */
export const pointsOf = ({ outer, horizon, evidences }: NestedDescription): number =>
  outer * horizon * evidences.reduce((sum, { inner }) => sum + inner, 1);

/** Steps of so many points each that are submitted before it is known how long one takes: `most`, or fewer where they are long. */
export const firstSteps = (points: number, most: number): number =>
  Math.max(1, Math.min(most, Math.floor(MOST_POINTS / points)));

const mostRows = (gpu: Gpu, { samples, description }: NestedLayout): number => {
  const room = Math.min(MOST_SAMPLES, gpu.limits.maxStorageBufferBindingSize / 4);
  return Math.floor(Math.min(room / Math.max(1, samples), MOST_POINTS / pointsOf(description)));
};

export interface RowOptions {
  readonly shape?: Partial<BoundShape> | undefined;
  readonly splitting?: Splitting | undefined;
  readonly designs?: Designs | undefined;
}

/** Words of a row's designs, and of the parameters that its experiments were made with elsewhere. */
const rowWords = ({ designs, description }: NestedLayout) => {
  const { outer, horizon, design, outcomes, parameters } = description;
  return designs === "shared"
    ? { designs: horizon * design.length, parameters: 0 }
    : { designs: outer * horizon * (design.length + outcomes.length), parameters: outer * parameters.length };
};

export type RowBuffers = Record<
  | "rows"
  | "blocks"
  | "sizes"
  | "keys"
  | "designs"
  | "parameters"
  | "ticks"
  | "samples"
  | "results"
  | "coefficients",
  Buffer
>;

/** What both kinds of program have: rows, their keys and their samples. */
export class RowProgram {
  readonly gpu: Gpu;
  readonly layout: NestedLayout;
  readonly shape: BoundShape;
  /** Rows that there is room for. */
  readonly capacity: number;
  readonly buffers: RowBuffers;
  readonly #keys: Kernel;
  readonly #samples: Kernel;
  readonly #bound: Kernel;

  private constructor(
    gpu: Gpu,
    layout: NestedLayout,
    shape: BoundShape,
    capacity: number,
    buffers: RowBuffers,
    kernels: { readonly keys: Kernel; readonly samples: Kernel; readonly bound: Kernel },
  ) {
    this.gpu = gpu;
    this.layout = layout;
    this.shape = shape;
    this.capacity = capacity;
    this.buffers = buffers;
    this.#keys = kernels.keys;
    this.#samples = kernels.samples;
    this.#bound = kernels.bound;
  }

  static async create(
    gpu: Gpu,
    description: NestedDescription,
    rows: number,
    steps: number,
    kind: Pick<BoundShape, "gradients" | "wanted">,
    { shape: given = {}, splitting, designs }: RowOptions = {},
  ): Promise<RowProgram> {
    const { gradients } = kind;
    const layout = layoutOf(description, { gradients, splitting, designs });
    const capacity = gradients ? rows : Math.max(1, Math.min(rows, mostRows(gpu, layout)));
    const shape = await boundShape(gpu, layout, capacity, kind, given);
    const blocks = encodePaths(layout.streams);
    const words = rowWords(layout);
    const shared = layout.designs === "shared";
    const buffers: RowBuffers = await gpu.allocate({
      rows: 4 * capacity,
      blocks: blocks.length,
      sizes: 2,
      keys: 2 * steps * capacity * layout.streams.length,
      designs: capacity * words.designs,
      parameters: capacity * words.parameters,
      ticks: 4 * capacity,
      samples: capacity * layout.samples,
      results: capacity * resultWords(layout, shape),
      coefficients: capacity * (layout.evidences.length + 1),
    });
    try {
      gpu.write(buffers.blocks, blocks);
      const [keys, samples, bound] = await Promise.all([
        gpu.kernel(keysKernel(layout.streams.length), [
          buffers.rows,
          buffers.blocks,
          buffers.sizes,
          buffers.keys,
        ]),
        gpu.kernel(samplesKernel(layout, gradients), [
          buffers.keys,
          ...(shared ? [buffers.designs] : []),
          buffers.ticks,
          buffers.sizes,
          buffers.samples,
        ]),
        gpu.kernel(boundKernel(layout, shape), [
          ...(shared
            ? [buffers.keys, buffers.designs, buffers.ticks, buffers.sizes, buffers.rows]
            : [buffers.parameters, buffers.designs]),
          buffers.samples,
          buffers.coefficients,
          buffers.results,
        ]),
      ]);
      return new RowProgram(gpu, layout, shape, capacity, buffers, { keys, samples, bound });
    } catch (error) {
      for (const buffer of Object.values(buffers)) buffer.destroy();
      throw error;
    }
  }

  /** Rows with no step taken yet in this chunk. */
  write(rows: readonly Row[], steps: number): void {
    const { horizon } = this.layout.description;
    const words = Uint32Array.from(
      rows.flatMap(({ key, number, skip = horizon }) => [key[0], key[1], number, skip]),
    );
    this.gpu.write(this.buffers.rows, words);
    this.gpu.write(this.buffers.sizes, Uint32Array.of(rows.length, steps));
    const { designs: size, parameters: count } = rowWords(this.layout);
    const designs = new Float32Array(rows.length * size);
    const parameters = new Float32Array(rows.length * count);
    rows.forEach((row, r) => {
      designs.set(row.designs, r * size);
      if (row.parameters !== undefined) parameters.set(row.parameters, r * count);
    });
    this.gpu.write(this.buffers.designs, designs);
    this.gpu.write(this.buffers.parameters, parameters);
  }

  keysOf(rows: number, steps: number): Dispatch {
    const threads = rows * steps * this.layout.streams.length;
    return { kernel: this.#keys, workgroups: [groupsFor(threads, KEYS_WORKGROUP)] };
  }

  samplesOf(rows: number): Dispatch {
    return {
      kernel: this.#samples,
      workgroups: [samplesWorkgroups(this.layout), Math.max(1, this.layout.evidences.length), rows],
    };
  }

  boundOf(rows: number): Dispatch {
    return { kernel: this.#bound, workgroups: [this.tiles, rows] };
  }

  get tiles(): number {
    return Math.ceil(this.layout.description.outer / this.shape.tile);
  }

  dispose(): void {
    for (const buffer of Object.values(this.buffers)) buffer.destroy();
  }
}
