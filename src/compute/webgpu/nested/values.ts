/** Nested bounds at given designs on a GPU, many rows at once. */
import type { Pacer } from "../../../core/options.js";
import type { Gpu } from "../device.js";
import { evidenceWords, resultWords } from "./bound-kernel.js";
import type { NestedDescription } from "./description.js";
import { type Row, type RowOptions, RowProgram } from "./row-program.js";

/** What a row's experiments give: [outer] each. */
export interface RowEvidence {
  /** log p(D | all parameters) of the generating sample. */
  readonly own: Float64Array;
  /** The log mean over fresh inner samples of the likelihood and of its square, for every evidence. */
  readonly fresh: readonly Float64Array[];
  readonly squared: readonly Float64Array[];
  /** log p(held | the others) of the generating sample and its log mean over inner ones, where evidences are weighted. */
  readonly prior: readonly ({ readonly own: Float64Array; readonly fresh: Float64Array } | undefined)[];
}

export interface BoundRow extends Row {
  /** Of every evidence, and of the generating sample's own log-likelihood. */
  readonly coefficients: readonly number[];
}

/** What the GPU wrote for some rows, one part after the other where they do not fit together. */
const resultsOf = async <Each extends Row>(
  program: RowProgram,
  rows: readonly Each[],
  {
    prepare = () => {},
    pace,
  }: {
    readonly prepare?: (part: readonly Each[]) => void;
    readonly pace?: Pick<Pacer, "pause"> | undefined;
  } = {},
): Promise<Float32Array[]> => {
  const { gpu, layout, shape, buffers, capacity } = program;
  const words = resultWords(layout, shape);
  const found: Float32Array[] = [];
  await pace?.pause();
  for (let from = 0; from < rows.length; from += capacity) {
    const part = rows.slice(from, from + capacity);
    const count = part.length;
    program.write(part, 1);
    gpu.write(buffers.ticks, new Uint32Array(4 * count));
    prepare(part);
    await gpu.submit([program.keysOf(count, 1), program.samplesOf(count), program.boundOf(count)]);
    const all = await gpu.readFloats(buffers.results, count * words);
    for (let r = 0; r < count; r++) found.push(all.subarray(r * words, (r + 1) * words));
    await pace?.pause();
  }
  return found;
};

/** The evidences of every experiment. */
export class NestedEvidences {
  readonly #program: RowProgram;

  private constructor(program: RowProgram) {
    this.#program = program;
  }

  /** For at most `rows` rows at a time; more are taken one part after the other. */
  static async create(
    gpu: Gpu,
    description: NestedDescription,
    rows: number,
    options: Pick<RowOptions, "splitting" | "designs"> = {},
  ): Promise<NestedEvidences> {
    const kind = { gradients: false, wanted: "evidences" } as const;
    return new NestedEvidences(await RowProgram.create(gpu, description, rows, 1, kind, options));
  }

  async evaluate(rows: readonly Row[]): Promise<RowEvidence[]> {
    const { description, evidences } = this.#program.layout;
    let width = 1;
    const starts = evidences.map((each) => {
      width += evidenceWords(each);
      return width - evidenceWords(each);
    });
    return (await resultsOf(this.#program, rows)).map((all) => {
      const column = (k: number): Float64Array =>
        Float64Array.from({ length: description.outer }, (_, b) => all[b * width + k]);
      return {
        own: column(0),
        fresh: starts.map((at) => column(at)),
        squared: starts.map((at) => column(at + 1)),
        prior: starts.map((at, e) =>
          evidenceWords(evidences[e]) === 2 ? undefined : { own: column(at + 2), fresh: column(at + 3) },
        ),
      };
    });
  }

  dispose(): void {
    this.#program.dispose();
  }
}

/** The mean lower bound of every row. */
export class NestedBounds {
  readonly #program: RowProgram;

  private constructor(program: RowProgram) {
    this.#program = program;
  }

  /** For at most `rows` rows at a time; more are taken one part after the other. */
  static async create(gpu: Gpu, description: NestedDescription, rows: number): Promise<NestedBounds> {
    const kind = { gradients: false, wanted: "bound" } as const;
    return new NestedBounds(await RowProgram.create(gpu, description, rows, 1, kind));
  }

  /** Lets go of the thread, and hears that it is to stop, around every part. */
  async evaluate(rows: readonly BoundRow[], pace?: Pick<Pacer, "pause">): Promise<number[]> {
    const { gpu, buffers } = this.#program;
    const found = await resultsOf(this.#program, rows, {
      prepare: (part) =>
        gpu.write(buffers.coefficients, Float32Array.from(part.flatMap(({ coefficients }) => coefficients))),
      pace,
    });
    return found.map((tiles) => tiles.reduce((sum, value) => sum + value, 0));
  }

  dispose(): void {
    this.#program.dispose();
  }
}
