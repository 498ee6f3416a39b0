/** EPIG of members with any probabilities on a GPU. */
import type { Buffer } from "../../compute/webgpu/api.js";
import type { Gpu } from "../../compute/webgpu/device.js";
import type { RunOptions } from "../../core/options.js";
import type { DenseMembers } from "../../learners/classifier.js";
import { type EpigOptions, epig, type PlainEpig } from "../epig.js";
import type { Members } from "../members.js";
import {
  type Cells,
  cellsOf,
  informationKernel,
  informationWorkgroups,
  keptOf,
  meansKernel,
  meansWorkgroups,
  splitsOf,
  targetsAtATime,
} from "./information-kernel.js";
import { scoresElsewhere } from "./scores-elsewhere.js";

/** Words of members that are on the GPU at a time. */
const MOST_WORDS = 2 ** 26;
/** Rows of the product at a time, for which every adapter has workgroups. */
const MOST_ROWS = 2 ** 21;

/** Votes and float64 members are exact on the processor, and stay there. */
const isFloat32 = (given: Members): given is DenseMembers =>
  given.kind === "dense" && given.values instanceof Float32Array;

/** Buffers that are given back together, whatever happens while they are in use. */
class Owned {
  readonly #gpu: Gpu;
  readonly #buffers: Buffer[] = [];

  constructor(gpu: Gpu) {
    this.#gpu = gpu;
  }

  async allocate<Name extends string>(words: Readonly<Record<Name, number>>): Promise<Record<Name, Buffer>> {
    const made = await this.#gpu.allocate(words);
    this.#buffers.push(...Object.values<Buffer>(made));
    return made;
  }

  release(): void {
    for (const buffer of this.#buffers) buffer.destroy();
  }
}

/** Members in memory, with their means. */
const loadMembers = async (
  gpu: Gpu,
  owned: Owned,
  cells: Cells,
  { rows, members, classes, values }: DenseMembers,
): Promise<{ readonly values: Buffer; readonly means: Buffer }> => {
  const kept = keptOf(cells, classes);
  const buffers = await owned.allocate({ values: values.length, means: rows * kept, sizes: 3 });
  gpu.write(buffers.values, values);
  gpu.write(buffers.sizes, Uint32Array.of(rows, members, classes));
  const kernel = await gpu.kernel(meansKernel(cells), [buffers.values, buffers.sizes, buffers.means]);
  await gpu.submit([{ kernel, workgroups: [meansWorkgroups(rows, kept)] }]);
  return buffers;
};

/** Rows of members that fit at a time, each of so many words and rows of the product. */
const rowsWithin = (gpu: Gpu, words: number, kept: number): number => {
  const room = Math.min(MOST_WORDS, gpu.limits.maxStorageBufferBindingSize / 4);
  return Math.max(1, Math.floor(Math.min(room / words, MOST_ROWS / kept)));
};

const widthOf = ({ members, classes }: DenseMembers): number => members * classes;

/**
 * `plainEpig` of float32 members: within 1e-6 nats of the exact value, and the same bits for a candidate in any pool.
 * Targets that do not fit together are taken one part after the other, which changes no bits.
 */
export const plainEpigOnGpu = async (
  gpu: Gpu,
  pool: DenseMembers,
  targets: DenseMembers,
  weights: Float64Array,
  { signal }: Pick<RunOptions, "signal"> = {},
): Promise<Float64Array> => {
  const cells = cellsOf(pool.classes, targets.classes);
  const width = widthOf(targets);
  const most = targetsAtATime(rowsWithin(gpu, width, keptOf(cells, targets.classes)));
  // Equal weights are 1 this way, and exact.
  const shares = Float32Array.from(weights, (weight) => weight * targets.rows);
  const scores = new Float64Array(pool.rows);
  for (let first = 0; first < targets.rows; first += most) {
    const end = Math.min(first + most, targets.rows);
    const part = {
      ...targets,
      rows: end - first,
      values: targets.values.subarray(first * width, end * width),
    };
    const add = (row: number, sum: number): void => {
      scores[row] += sum / targets.rows;
    };
    await addInformation(gpu, cells, pool, part, shares.subarray(first, end), add, signal);
  }
  return scores;
};

/** Tells `add` the weighted sums of what candidates say of these targets, in an order that does not depend on the pool. */
const addInformation = async (
  gpu: Gpu,
  cells: Cells,
  pool: DenseMembers,
  targets: DenseMembers,
  weights: Float32Array,
  add: (row: number, sum: number) => void,
  signal: RunOptions["signal"],
): Promise<void> => {
  const kept = keptOf(cells, pool.classes);
  const columns = targets.rows * keptOf(cells, targets.classes);
  const width = widthOf(pool);
  const most = rowsWithin(gpu, Math.max(width, splitsOf(columns) * kept), kept);
  const ofTargets = new Owned(gpu);
  try {
    const right = await loadMembers(gpu, ofTargets, cells, targets);
    const { weights: weighed } = await ofTargets.allocate({ weights: weights.length });
    gpu.write(weighed, weights);
    for (let first = 0; first < pool.rows; first += most) {
      signal?.throwIfAborted();
      const count = Math.min(most, pool.rows - first);
      const rows = count * kept;
      const owned = new Owned(gpu);
      try {
        const values = pool.values.subarray(first * width, (first + count) * width);
        const left = await loadMembers(gpu, owned, cells, { ...pool, rows: count, values });
        const { sums, sizes } = await owned.allocate({ sums: splitsOf(columns) * rows, sizes: 5 });
        gpu.write(sizes, Uint32Array.of(rows, pool.members, columns, pool.classes, targets.classes));
        const kernel = await gpu.kernel(informationKernel(cells), [
          left.values,
          left.means,
          right.values,
          right.means,
          weighed,
          sizes,
          sums,
        ]);
        await gpu.submit([{ kernel, workgroups: informationWorkgroups(rows, columns) }]);
        const found = await gpu.readFloats(sums, splitsOf(columns) * rows);
        for (let at = 0; at < found.length; at++) add(first + Math.floor((at % rows) / kept), found[at]);
      } finally {
        owned.release();
      }
    }
  } finally {
    ofTargets.release();
  }
};

/** What EPIG is computed by on a GPU; votes and float64 members stay on the processor. */
export const epigsOnGpu =
  (gpu: Gpu, run: Pick<RunOptions, "signal"> = {}) =>
  async (...[pool, targets, weights, options]: Parameters<PlainEpig>): Promise<Float64Array | undefined> =>
    isFloat32(pool) && isFloat32(targets) && options?.memberWeights === undefined
      ? plainEpigOnGpu(gpu, pool, targets, weights, run)
      : undefined;

/**
 * {@link epig} with its products on a GPU, for float32 members with any probabilities: within 1e-6 nats. Votes and float64
 * members, which are exact, stay on the processor.
 *
 * @example
 * ```ts
 * import { epig, epigOnGpu } from "fairbed/active";
 * import { openGpu } from "fairbed/compute";
 *
 * const gpu = await openGpu().catch(() => undefined);
 * const members = (rows: number[][]) => ({
 *   kind: "dense" as const,
 *   rows: rows.length,
 *   members: rows[0].length,
 *   classes: 2,
 *   values: Float32Array.from(rows.flat().flatMap((p) => [1 - p, p])), // p: of class 1, by each member
 * });
 * const pool = members([[0.1, 0.2, 0.9, 0.8], [0.5, 0.5, 0.5, 0.5]]);
 * const targets = members([[0, 0, 1, 1], [0, 1, 1, 1]]);
 * const there = gpu && (await epigOnGpu(gpu, pool, targets));
 * console.log(there === undefined || Math.abs(there[0] - epig(pool, targets)[0]) < 1e-6); // true
 * gpu?.dispose();
 * ```
 */
export const epigOnGpu = (
  gpu: Gpu,
  pool: Members,
  targets: Members,
  options: EpigOptions & Pick<RunOptions, "signal"> = {},
): Promise<Float64Array> =>
  scoresElsewhere((plain) => epig(pool, targets, { ...options, plain }), epigsOnGpu(gpu, options));
