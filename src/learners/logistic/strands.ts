/**
 * The two loops that a logistic regression of many rows spends its time in: sums along rows and sums along columns, of
 * four, two or one vectors at a time, whose numbers then stay in registers.
 */
import type { SparseRows } from "../sparse-rows.js";

/** Calls `work` with the first vector and how many, 4, 2 or 1, until all are done. */
export const eachStrand = (vectors: number, work: (first: number, count: 4 | 2 | 1) => void): void => {
  for (let first = 0; first < vectors; ) {
    const left = vectors - first;
    const count = left >= 4 ? 4 : left >= 2 ? 2 : 1;
    work(first, count);
    first += count;
  }
};

/** out[i, k] = start[k] + sum over the entries of row i of u[column, k] delta, for i from..to and some vectors k. */
export const sumRows = (
  { starts, at, deltas }: SparseRows,
  rows: Int32Array,
  vectors: number,
  u: Float64Array,
  start: Float64Array,
  out: Float64Array,
  from: number,
  to: number,
): void =>
  eachStrand(vectors, (first, count) => {
    const [start0, start1, start2, start3] = [0, 1, 2, 3].map((k) => start[first + k] ?? 0);
    for (let i = from; i < to; i++) {
      const end = starts[rows[i] + 1];
      const place = i * vectors + first;
      if (count === 4) {
        let [s0, s1, s2, s3] = [start0, start1, start2, start3];
        for (let e = starts[rows[i]]; e < end; e++) {
          const own = at[e] * vectors + first;
          const delta = deltas[e];
          s0 += u[own] * delta;
          s1 += u[own + 1] * delta;
          s2 += u[own + 2] * delta;
          s3 += u[own + 3] * delta;
        }
        out[place] = s0;
        out[place + 1] = s1;
        out[place + 2] = s2;
        out[place + 3] = s3;
      } else if (count === 2) {
        let [s0, s1] = [start0, start1];
        for (let e = starts[rows[i]]; e < end; e++) {
          const own = at[e] * vectors + first;
          s0 += u[own] * deltas[e];
          s1 += u[own + 1] * deltas[e];
        }
        out[place] = s0;
        out[place + 1] = s1;
      } else {
        let sum = start0;
        for (let e = starts[rows[i]]; e < end; e++) sum += u[at[e] * vectors + first] * deltas[e];
        out[place] = sum;
      }
    }
  });

/** out[column, k] += sum over rows i, from..to, of r[i, k] delta, for all columns and some vectors k. */
export const sumColumns = (
  { starts, at, deltas }: SparseRows,
  rows: Int32Array,
  vectors: number,
  r: Float64Array,
  out: Float64Array,
  from: number,
  to: number,
): void =>
  eachStrand(vectors, (first, count) => {
    for (let i = from; i < to; i++) {
      const end = starts[rows[i] + 1];
      const place = i * vectors + first;
      const r0 = r[place];
      if (count === 4) {
        const r1 = r[place + 1];
        const r2 = r[place + 2];
        const r3 = r[place + 3];
        for (let e = starts[rows[i]]; e < end; e++) {
          const own = at[e] * vectors + first;
          const delta = deltas[e];
          out[own] += r0 * delta;
          out[own + 1] += r1 * delta;
          out[own + 2] += r2 * delta;
          out[own + 3] += r3 * delta;
        }
      } else if (count === 2) {
        const r1 = r[place + 1];
        for (let e = starts[rows[i]]; e < end; e++) {
          const own = at[e] * vectors + first;
          out[own] += r0 * deltas[e];
          out[own + 1] += r1 * deltas[e];
        }
      } else {
        for (let e = starts[rows[i]]; e < end; e++) out[at[e] * vectors + first] += r0 * deltas[e];
      }
    }
  });
