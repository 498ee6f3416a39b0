/** Networks of policies on their way up on a GPU, many rows (seeds, betas) at once. */
import { EnvironmentError } from "../../../core/errors.js";
import type { StreamKey } from "../../../core/random.js";
import type { Buffer } from "../api.js";
import type { Dispatch, Gpu, Kernel } from "../device.js";
import { type BoundShape, boundKernel, resultWords } from "../nested/bound-kernel.js";
import { groupsFor } from "../nested/groups.js";
import { encodePaths, KEYS_WORKGROUP, keysKernel } from "../nested/keys-kernel.js";
import { samplesKernel, samplesWorkgroups } from "../nested/samples-kernel.js";
import { boundShape, SOFTWARE_WORKGROUP } from "../nested/shape.js";
import { type AdamSettings, adamGroups, adamKernel, adamSettings, gradientKernel } from "./adam-kernels.js";
import type { PolicyDescription } from "./description.js";
import { type PolicyLayout, policyLayout } from "./layout.js";
import type { PolicyShape } from "./network-text.js";
import { pullbackKernel, pullbackWords } from "./pullback-kernel.js";
import { type Choosing, rolloutKernel, rolloutWords } from "./rollout-kernel.js";
import { Tile, type TileSize } from "./tile.js";
import { rectangleCount, rectanglesOf, weightsKernel } from "./weights-kernel.js";

export const policyTexts = {
  wide: 'the layers of this network do not fit into the shared memory of this GPU: give smaller widths, or choose the device "cpu"',
};

/** A row on its way, as plain data. */
export interface PolicyState {
  readonly parameters: Float32Array;
  /** Adam's running means of the gradient and of its square. */
  readonly mean: Float32Array;
  readonly meanSquare: Float32Array;
}

/** What a row is trained for. */
export interface PolicyRow {
  /** Step s draws from the child s of it. */
  readonly key: StreamKey;
  /** Of every evidence, and of the generating sample's own log-likelihood. */
  readonly coefficients: readonly number[];
  /** Added to what is put out before each observation, [horizon, outputs]; nothing unless given. */
  readonly base?: ArrayLike<number> | undefined;
}

export interface PolicyChunk {
  /** The bound at every step, [steps, rows]. */
  readonly values: Float32Array;
  /** Rows at which a number was met that is none: they stayed where they were. */
  readonly broken: readonly number[];
}

/** Workgroups that keep a large GPU busy with networks, and with the gradient in their parameters. */
const BUSY = 200;
const BUSY_WITH_WEIGHTS = 1056;
const MOST_SPLITS = 32;
/** Where there are few experiments, a workgroup has many threads for each of them; else threads do more each. */
const SHAPES: readonly { readonly size: TileSize; readonly workgroup: number; readonly together: number }[] =
  [
    { size: 4, workgroup: 128, together: 2 },
    { size: 2, workgroup: 128, together: 2 },
    { size: 1, workgroup: 256, together: 1 },
  ];
const AHEAD = 8;

const shapeOf = async (
  gpu: Gpu,
  layout: PolicyLayout,
  rows: number,
  given: Partial<PolicyShapeGiven>,
): Promise<PolicyShape> => {
  const {
    maxComputeInvocationsPerWorkgroup,
    maxComputeWorkgroupStorageSize,
    maxComputeWorkgroupsPerDimension,
  } = gpu.limits;
  const leastSubgroup = await gpu.orderedSubgroup();
  const { outer } = layout.description.nested;
  const most = gpu.info.software ? SOFTWARE_WORKGROUP : maxComputeInvocationsPerWorkgroup;
  const rectangles = rows * rectangleCount(rectanglesOf(layout));
  const splits = gpu.info.software
    ? 1
    : Math.max(1, Math.min(MOST_SPLITS, Math.ceil(BUSY_WITH_WEIGHTS / rectangles)));
  const shapes = SHAPES.map(
    ({ size, workgroup, together }): PolicyShape => ({
      tile: new Tile(given.tile ?? size),
      workgroup: given.workgroup ?? Math.min(workgroup, most),
      together: given.together ?? together,
      ahead: given.ahead ?? (gpu.info.software ? 1 : AHEAD),
      leastSubgroup,
      splits: given.splits ?? splits,
    }),
  );
  const fits = (shape: PolicyShape) =>
    4 * Math.max(rolloutWords(layout, shape), pullbackWords(layout, shape)) <=
      maxComputeWorkgroupStorageSize && adamGroups(layout, shape) <= maxComputeWorkgroupsPerDimension;
  const shape = shapes.find(
    (each) =>
      fits(each) &&
      (given.tile !== undefined || each.tile.size === 1 || (rows * outer) / each.tile.size >= BUSY),
  );
  if (shape === undefined) throw new EnvironmentError("gpu-shared", policyTexts.wide);
  return shape;
};

/** How the work is cut up; what suits the GPU unless given. */
export interface PolicyShapeGiven {
  readonly tile: TileSize;
  readonly workgroup: number;
  readonly together: number;
  readonly ahead: number;
  readonly splits: number;
}

type BufferName =
  | "rows"
  | "blocks"
  | "sizes"
  | "keys"
  | "ticks"
  | "samples"
  | "coefficients"
  | "base"
  | "thetas"
  | "points"
  | "acts"
  | "deltas"
  | "results"
  | "rectangles"
  | "partials"
  | "gradient"
  | "norms"
  | "settings"
  | "parameters"
  | "transposed"
  | "moments"
  | "stopped"
  | "history";

interface Kernels {
  readonly keys: Kernel;
  readonly samples: Kernel;
  /** Of which the second is compiled when it is first used. */
  readonly rollout: (choosing: Choosing) => Promise<Kernel>;
  readonly bound: Kernel;
  readonly pullback: Kernel;
  readonly weights: Kernel;
  readonly gradient: Kernel;
  readonly adam: Kernel;
}

export class PolicyClimb {
  readonly layout: PolicyLayout;
  readonly shape: PolicyShape;
  readonly #gpu: Gpu;
  readonly #bound: BoundShape;
  readonly #buffers: Record<BufferName, Buffer>;
  readonly #kernels: Kernels;
  readonly #rows: readonly PolicyRow[];
  readonly #most: number;

  private constructor(
    gpu: Gpu,
    layout: PolicyLayout,
    shape: PolicyShape,
    bound: BoundShape,
    buffers: Record<BufferName, Buffer>,
    kernels: Kernels,
    rows: readonly PolicyRow[],
    most: number,
  ) {
    this.#gpu = gpu;
    this.layout = layout;
    this.shape = shape;
    this.#bound = bound;
    this.#buffers = buffers;
    this.#kernels = kernels;
    this.#rows = rows;
    this.#most = most;
  }

  /** For these rows, and at most `steps` steps at a time. */
  static async create(
    gpu: Gpu,
    description: PolicyDescription,
    {
      rows,
      steps,
      settings,
      shape: given = {},
    }: {
      readonly rows: readonly PolicyRow[];
      readonly steps: number;
      readonly settings: AdamSettings;
      readonly shape?: Partial<PolicyShapeGiven> | undefined;
    },
  ): Promise<PolicyClimb> {
    const layout = policyLayout(description);
    const { nested, parameters } = layout;
    const { horizon, outer, design, outcomes } = nested.description;
    const count = rows.length;
    // Which says so where experiments are too long or too many; then only layers can be too wide.
    const bound = await boundShape(gpu, nested, count, { gradients: true, wanted: "bound" });
    const shape = await shapeOf(gpu, layout, count, given);
    const sharedBytes = gpu.limits.maxComputeWorkgroupStorageSize;
    const blocks = encodePaths(nested.streams);
    const rectangles = rectanglesOf(layout);
    const records = count * outer * horizon;
    const groups = adamGroups(layout, shape);
    const buffers = await gpu.allocate<BufferName>({
      rows: 4 * count,
      blocks: blocks.length,
      sizes: 2,
      keys: 2 * steps * count * nested.streams.length,
      ticks: 4 * count,
      samples: count * nested.samples,
      coefficients: count * (nested.evidences.length + 1),
      base: count * horizon * layout.outputs,
      thetas: count * outer * nested.description.parameters.length,
      points: records * (design.length + outcomes.length),
      acts: records * layout.record,
      deltas: records * layout.deltas,
      results: count * resultWords(nested, bound),
      rectangles: rectangles.length,
      partials: count * shape.splits * parameters,
      gradient: count * parameters,
      norms: count * groups,
      settings: 3,
      parameters: count * parameters,
      transposed: count * parameters,
      moments: 2 * count * parameters,
      stopped: count * groups,
      history: count * steps,
    });
    try {
      const b = buffers;
      gpu.write(b.blocks, blocks);
      gpu.write(b.rectangles, rectangles);
      gpu.write(b.settings, adamSettings(settings));
      gpu.write(b.coefficients, Float32Array.from(rows.flatMap(({ coefficients }) => coefficients)));
      const base = new Float32Array(count * horizon * layout.outputs);
      rows.forEach((row, r) => {
        if (row.base !== undefined) base.set(row.base, r * horizon * layout.outputs);
      });
      gpu.write(b.base, base);
      const rollout = (choosing: Choosing) =>
        gpu.kernel(rolloutKernel(layout, shape, choosing), [
          b.keys,
          b.ticks,
          b.sizes,
          b.transposed,
          b.base,
          b.thetas,
          b.points,
          b.acts,
        ]);
      const [keys, samples, , boundOf, pullback, weights, gradient, adam] = await Promise.all([
        gpu.kernel(keysKernel(nested.streams.length), [b.rows, b.blocks, b.sizes, b.keys]),
        gpu.kernel(samplesKernel(nested, true), [b.keys, b.ticks, b.sizes, b.samples]),
        rollout("drawn"),
        gpu.kernel(boundKernel(nested, bound), [b.thetas, b.points, b.samples, b.coefficients, b.results]),
        gpu.kernel(pullbackKernel(layout, shape), [b.parameters, b.results, b.acts, b.deltas]),
        gpu.kernel(weightsKernel(layout, shape.splits, sharedBytes), [
          b.acts,
          b.deltas,
          b.rectangles,
          b.partials,
        ]),
        gpu.kernel(gradientKernel(layout, shape.splits, shape), [
          b.partials,
          b.results,
          b.sizes,
          b.gradient,
          b.norms,
          b.ticks,
          b.history,
        ]),
        gpu.kernel(adamKernel(layout, shape), [
          b.gradient,
          b.norms,
          b.settings,
          b.ticks,
          b.parameters,
          b.transposed,
          b.moments,
          b.stopped,
        ]),
      ]);
      return new PolicyClimb(
        gpu,
        layout,
        shape,
        bound,
        buffers,
        { keys, samples, rollout, bound: boundOf, pullback, weights, gradient, adam },
        rows,
        steps,
      );
    } catch (error) {
      for (const buffer of Object.values(buffers)) buffer.destroy();
      throw error;
    }
  }

  /** Sets every row's parameters, and what Adam remembers. */
  load(states: readonly PolicyState[]): void {
    const { parameters: count } = this.layout;
    const parameters = new Float32Array(states.length * count);
    const moments = new Float32Array(2 * states.length * count);
    states.forEach((state, r) => {
      parameters.set(state.parameters, r * count);
      moments.set(state.mean, 2 * r * count);
      moments.set(state.meanSquare, (2 * r + 1) * count);
    });
    const buffers = this.#buffers;
    this.#gpu.write(buffers.parameters, parameters);
    this.#gpu.write(buffers.transposed, this.#transposed(parameters));
    this.#gpu.write(buffers.moments, moments);
    this.#gpu.write(buffers.stopped, new Uint32Array(states.length * adamGroups(this.layout, this.shape)));
  }

  #transposed(parameters: Float32Array): Float32Array {
    const all = parameters.slice();
    const { encoder, emitter, parameters: count } = this.layout;
    for (let start = 0; start < all.length; start += count) {
      for (const { inputs, outputs, weights } of [...encoder, ...emitter]) {
        for (let o = 0; o < outputs; o++) {
          for (let i = 0; i < inputs; i++) {
            all[start + weights + i * outputs + o] = parameters[start + weights + o * inputs + i];
          }
        }
      }
    }
    return all;
  }

  /** Steps `number` + 1, ... of all rows, which draw from the children from `number` on. Nothing is read back between them. */
  async run(number: number, steps: number): Promise<PolicyChunk> {
    if (steps > this.#most) throw new RangeError(`${steps} steps in room for ${this.#most}`);
    const count = this.#rows.length;
    const taken = this.#begin(
      this.#rows.map(({ key }) => ({ key, number })),
      steps,
      number,
    );
    const { pullback, weights, gradient, adam } = this.#kernels;
    const tiles = Math.ceil(this.layout.description.nested.outer / this.shape.tile.size);
    const groups = adamGroups(this.layout, this.shape);
    const rectangles = rectangleCount(rectanglesOf(this.layout));
    const step: Dispatch[] = [
      ...(await this.#forward("drawn")),
      { kernel: pullback, workgroups: [tiles, count] },
      { kernel: weights, workgroups: [rectangles, this.shape.splits, count] },
      { kernel: gradient, workgroups: [groups, count] },
      { kernel: adam, workgroups: [groups, count] },
    ];
    const all = [taken];
    for (let i = 0; i < steps; i++) all.push(...step);
    await this.#gpu.submit(all);
    const [history, stopped] = await this.#gpu.read(
      { buffer: this.#buffers.history, words: count * steps },
      { buffer: this.#buffers.stopped, words: count * groups },
    );
    const flags = new Uint32Array(stopped);
    return {
      values: new Float32Array(history),
      broken: this.#rows.flatMap((_, r) => (flags[r * groups] === 0 ? [] : [r])),
    };
  }

  /** The bound of every row by its parameters, over experiments from the child `number` of other keys. */
  async values(keys: readonly StreamKey[], number: number): Promise<Float64Array> {
    const count = this.#rows.length;
    const begin = this.#begin(
      keys.map((key) => ({ key, number })),
      1,
      0,
    );
    await this.#gpu.submit([begin, ...(await this.#forward("likeliest"))]);
    const words = resultWords(this.layout.nested, this.#bound);
    const { outer } = this.layout.description.nested;
    const results = await this.#gpu.readFloats(this.#buffers.results, count * words);
    return Float64Array.from({ length: count }, (_, r) => {
      // A log-likelihood that is no number shows in the gradients, which are computed beside the bounds.
      if (results.subarray(r * words, (r + 1) * words).some(Number.isNaN)) return Number.NaN;
      let sum = 0;
      for (let b = 0; b < outer; b++) sum += results[r * words + (b * words) / outer];
      return sum / outer;
    });
  }

  /** The keys of all steps; steps of Adam so far are `taken`. */
  #begin(
    rows: readonly { readonly key: StreamKey; readonly number: number }[],
    steps: number,
    taken: number,
  ): Dispatch {
    const count = rows.length;
    const buffers = this.#buffers;
    this.#gpu.write(
      buffers.rows,
      Uint32Array.from(rows.flatMap(({ key, number }) => [key[0], key[1], number, 0])),
    );
    this.#gpu.write(buffers.sizes, Uint32Array.of(count, steps));
    this.#gpu.write(buffers.ticks, Uint32Array.from(rows.flatMap(() => [0, taken, 0, 0])));
    const threads = count * steps * this.layout.nested.streams.length;
    return { kernel: this.#kernels.keys, workgroups: [groupsFor(threads, KEYS_WORKGROUP)] };
  }

  /** From keys to every experiment's bound and its gradient. */
  async #forward(choosing: Choosing): Promise<Dispatch[]> {
    const count = this.#rows.length;
    const { nested } = this.layout;
    const { outer } = nested.description;
    const { samples, rollout, bound } = this.#kernels;
    return [
      {
        kernel: samples,
        workgroups: [samplesWorkgroups(nested), Math.max(1, nested.evidences.length), count],
      },
      { kernel: await rollout(choosing), workgroups: [Math.ceil(outer / this.shape.tile.size), count] },
      { kernel: bound, workgroups: [Math.ceil(outer / this.#bound.tile), count] },
    ];
  }

  /** Every row's parameters, and what Adam remembers. */
  async states(): Promise<PolicyState[]> {
    const { parameters: count } = this.layout;
    const rows = this.#rows.length;
    const [found, moments] = await this.#gpu.read(
      { buffer: this.#buffers.parameters, words: rows * count },
      { buffer: this.#buffers.moments, words: 2 * rows * count },
    );
    return this.#rows.map((_, r) => ({
      parameters: new Float32Array(found, 4 * r * count, count).slice(),
      mean: new Float32Array(moments, 8 * r * count, count).slice(),
      meanSquare: new Float32Array(moments, 4 * (2 * r + 1) * count, count).slice(),
    }));
  }

  dispose(): void {
    for (const buffer of Object.values(this.#buffers)) buffer.destroy();
  }
}
