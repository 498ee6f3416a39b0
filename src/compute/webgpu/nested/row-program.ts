/** Rows of designs on a GPU, with their keys, samples and bounds: what evaluating and climbing have in common. */
import type { StreamKey } from "../../../core/random.js";
import type { Buffer } from "../api.js";
import type { Dispatch, Gpu, Kernel } from "../device.js";
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

export interface RowOptions {
  readonly shape?: Partial<BoundShape> | undefined;
  readonly splitting?: Splitting | undefined;
}

export type RowBuffers = Record<
  "rows" | "blocks" | "sizes" | "keys" | "designs" | "ticks" | "samples" | "results" | "coefficients",
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
    { shape: given = {}, splitting }: RowOptions = {},
  ): Promise<RowProgram> {
    const { gradients } = kind;
    const layout = layoutOf(description, gradients, splitting);
    const capacity = gradients ? rows : Math.max(1, Math.min(rows, mostRows(gpu, layout)));
    const shape = await boundShape(gpu, layout, capacity, kind, given);
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
      coefficients: capacity * (layout.evidences.length + 1),
    });
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
        buffers.designs,
        buffers.ticks,
        buffers.sizes,
        buffers.samples,
      ]),
      gpu.kernel(boundKernel(layout, shape), [
        buffers.keys,
        buffers.designs,
        buffers.ticks,
        buffers.sizes,
        buffers.samples,
        buffers.coefficients,
        buffers.rows,
        buffers.results,
      ]),
    ]);
    return new RowProgram(gpu, layout, shape, capacity, buffers, { keys, samples, bound });
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
