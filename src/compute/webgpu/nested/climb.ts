/** The climb of designs by Adam on a GPU, many rows at once. */
import type { Buffer } from "../api.js";
import type { Dispatch, Gpu, Kernel } from "../device.js";
import {
  type AscentSettings,
  type AscentVariable,
  ascentKernel,
  ascentSettings,
  momentWords,
} from "./ascent-kernel.js";
import type { BoundShape } from "./bound-kernel.js";
import type { NestedDescription } from "./description.js";
import { type Row, RowProgram } from "./row-program.js";

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
  readonly #ascent: Kernel;
  readonly #extra: Record<"settings" | "spreads" | "moments" | "history", Buffer>;
  readonly #steps: number;

  private constructor(
    program: RowProgram,
    ascent: Kernel,
    extra: Record<"settings" | "spreads" | "moments" | "history", Buffer>,
    steps: number,
  ) {
    this.#program = program;
    this.#ascent = ascent;
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
    const program = await RowProgram.create(
      gpu,
      description,
      rows,
      steps,
      { gradients: true, wanted: "bound" },
      { shape },
    );
    const { layout, buffers, tiles } = program;
    const room = {
      settings: 5,
      spreads: rows * description.design.length,
      moments: rows * momentWords(description.horizon * description.design.length),
      history: rows * steps,
    };
    const extra = await gpu.allocate(room).catch((error: unknown) => {
      program.dispose();
      throw error;
    });
    try {
      gpu.write(extra.settings, ascentSettings(settings));
      const { designs, ticks, sizes, results } = buffers;
      const ascent = await gpu.kernel(ascentKernel(layout, tiles, variables), [
        results,
        extra.settings,
        sizes,
        extra.spreads,
        designs,
        extra.moments,
        ticks,
        extra.history,
      ]);
      return new NestedClimb(program, ascent, extra, steps);
    } catch (error) {
      program.dispose();
      for (const buffer of Object.values(extra)) buffer.destroy();
      throw error;
    }
  }

  /** The state of a row before its first step. */
  fresh(designs: ArrayLike<number>): ClimbState {
    return {
      designs: Float32Array.from(designs),
      moments: new Float32Array(momentWords(designs.length)),
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
    gpu.write(buffers.coefficients, Float32Array.from(rows.flatMap(({ coefficients }) => coefficients)));
    gpu.write(this.#extra.spreads, Float32Array.from(rows.flatMap(({ spreads }) => spreads)));
    const size = horizon * design.length;
    const width = momentWords(size);
    const moments = new Float32Array(count * width);
    rows.forEach((row, r) => {
      moments.set(row.moments, r * width);
    });
    gpu.write(this.#extra.moments, moments);
    const step: Dispatch[] = [
      program.samplesOf(count),
      program.boundOf(count),
      { kernel: this.#ascent, workgroups: [count] },
    ];
    const all = [program.keysOf(count, steps)];
    for (let i = 0; i < steps; i++) all.push(...step);
    await gpu.submit(all);
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
