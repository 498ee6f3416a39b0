/** The radial basis function kernel k(x, z) = exp(-gamma |x - z|^2) on the training rows, a column at a time. */
import { exp } from "../../core/math.js";
import { dot } from "../dot.js";

/** Rows with their squared lengths, since |x - z|^2 = |x|^2 + |z|^2 - 2 x.z. */
export interface KernelRows {
  /** [rows, columns] */
  readonly x: Float64Array;
  readonly columns: number;
  readonly squares: Float64Array;
}

export const kernelRows = (x: Float64Array, columns: number): KernelRows => {
  const squares = new Float64Array(x.length / columns);
  for (let i = 0; i < squares.length; i++) squares[i] = dot(x, i * columns, x, i * columns, columns);
  return { x, columns, squares };
};

/** k between row i of `a` and each row of `b`. */
export const kernelColumn = <Out extends Float32Array | Float64Array>(
  a: KernelRows,
  i: number,
  b: KernelRows,
  gamma: number,
  out: Out,
): Out => {
  const { columns } = a;
  for (let t = 0; t < out.length; t++) {
    const square = a.squares[i] + b.squares[t] - 2 * dot(a.x, i * columns, b.x, t * columns, columns);
    // Rounding must not make a row more than itself.
    out[t] = square > 0 ? exp(-gamma * square) : 1;
  }
  return out;
};

/** As much as the columns that are kept may take: all of them up to 8192 rows. */
const MOST_BYTES = 2 ** 28;

/** Columns [rows] of the training rows' kernel matrix in float32 (as in libsvm), the latest ones kept. */
export const kernelCache = (rows: KernelRows, gamma: number): ((i: number) => Float32Array) => {
  const n = rows.squares.length;
  const most = Math.max(2, Math.floor(MOST_BYTES / (4 * n)));
  const kept = new Map<number, Float32Array>();
  return (i) => {
    let column = kept.get(i);
    if (column !== undefined) {
      if (n > most) {
        // To the end of the queue.
        kept.delete(i);
        kept.set(i, column);
      }
      return column;
    }
    let room: Float32Array | undefined;
    if (kept.size >= most) {
      const oldest = kept.keys().next().value ?? 0;
      room = kept.get(oldest);
      kept.delete(oldest);
    }
    column = kernelColumn(rows, i, rows, gamma, room ?? new Float32Array(n));
    kept.set(i, column);
    return column;
  };
};
