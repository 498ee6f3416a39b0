/**
 * Joint entropies of members that vote, from packed bits.
 *
 * With p and q votes among K for class 1 and a members that vote so on both sides, the four cells of J are a / K,
 * (p - a) / K, (q - a) / K and (K - p - q + a) / K: a is a popcount. With M[m, i] = f(i / K) + f((m - i) / K) and
 * f(x) = x log x the sum over the cells is M[p, a] + M[K - p, q - a]: two numbers from two short rows of a table of
 * float64, which a candidate finds in the nearest cache for all targets. Exact but for the rounding of the sums.
 */
import { F64, type FunctionWriter, I32, I64 } from "../../compute/wasm/encoder.js";
import { advance, keep } from "../../compute/wasm/kernel.js";
import type { Workspace } from "../../compute/workspace.js";
import type { VoteMembers } from "../../learners/classifier.js";
import { xlogx } from "../entropy.js";
import { countVotes, wordsPerRow } from "../members.js";
import { loadKernel } from "./shared-workspace.js";

/** Words of the job description. */
const WORDS = ["pool", "firsts", "seconds", "targets", "ones", "weights", "sums", "rows", "count"] as const;
/** Rows of a task, and how many of them go through the targets together: they share the loads of a target. */
const BLOCK = 64;
const TOGETHER = 2;
/** Words of 64 bits that are written out one after the other; more are a loop. */
const MOST_WRITTEN = 8;

/** Pushes how many bits are set in both of two rows of `width` words. */
const writeOverlap = (
  writer: FunctionWriter,
  width: number,
  pushPool: (word: number) => void,
  pushTarget: (word: number) => void,
): void => {
  for (let w = 0; w < width; w++) {
    pushPool(w);
    pushTarget(w);
    writer.op("i64.and").op("i64.popcnt");
    if (w > 0) writer.op("i64.add");
  }
  writer.op("i32.wrap_i64");
};

/** sums[n] = sum_t w_t sum_cells x log x, for one block of rows; parameters: job description, thread, block. */
const writeVotes = (writer: FunctionWriter, width: number, weighted: boolean): void => {
  const field = Object.fromEntries(
    WORDS.map((name, i) => [name, keep(writer, () => writer.get(0).memory("i32.load", 4 * i))]),
  ) as Record<(typeof WORDS)[number], number>;
  const rowBytes = 8 * width;
  const written = width <= MOST_WRITTEN;
  const start = keep(writer, () => writer.get(2).i32(BLOCK).op("i32.mul"));
  const end = keep(writer, () => writer.get(start).i32(BLOCK).op("i32.add"));
  writer.get(end).get(field.rows).op("i32.gt_u");
  writer.when(() => writer.get(field.rows).set(end));

  const [row, t, target, onesAt, q, w, a] = Array.from({ length: 7 }, () => writer.local(I32));
  const weightAt = writer.local(I32);
  const targetWords = Array.from({ length: written ? width : 0 }, () => writer.local(I64));
  const weight = writer.local(F64);
  const rows = Array.from({ length: TOGETHER }, () => ({
    /** Addresses: of the row's bits, of M[p, 0] and of M[K - p, 0]. */
    bits: writer.local(I32),
    first: writer.local(I32),
    second: writer.local(I32),
    words: Array.from({ length: written ? width : 0 }, () => writer.local(I64)),
    sum: writer.local(F64),
  }));
  writer.loop(
    row,
    () => writer.get(start),
    () => writer.get(end),
    TOGETHER,
    () => {
      rows.forEach(({ bits, first, second, words, sum }, r) => {
        writer
          .get(field.pool)
          .get(row)
          .i32(r)
          .op("i32.add")
          .i32(rowBytes)
          .op("i32.mul")
          .op("i32.add")
          .set(bits);
        words.forEach((word, i) => {
          writer
            .get(bits)
            .memory("i64.load", 8 * i)
            .set(word);
        });
        for (const [array, to] of [
          [field.firsts, first],
          [field.seconds, second],
        ]) {
          writer
            .get(array)
            .get(row)
            .i32(4)
            .op("i32.mul")
            .op("i32.add")
            .memory("i32.load", 4 * r)
            .set(to);
        }
        writer.f64(0).set(sum);
      });
      writer.get(field.targets).set(target).get(field.ones).set(onesAt);
      if (weighted) writer.get(field.weights).set(weightAt);
      writer.loop(
        t,
        () => writer.i32(0),
        () => writer.get(field.count),
        1,
        () => {
          targetWords.forEach((word, i) => {
            writer
              .get(target)
              .memory("i64.load", 8 * i)
              .set(word);
          });
          writer.get(onesAt).memory("i32.load").set(q);
          if (weighted) writer.get(weightAt).memory("f64.load").set(weight);
          for (const { bits, first, second, words, sum } of rows) {
            if (written) {
              writeOverlap(
                writer,
                width,
                (i) => writer.get(words[i]),
                (i) => writer.get(targetWords[i]),
              );
              writer.set(a);
            } else {
              writer.i32(0).set(a);
              writer.loop(
                w,
                () => writer.i32(0),
                () => writer.i32(rowBytes),
                8,
                () => {
                  const load = (at: number) => writer.get(at).get(w).op("i32.add").memory("i64.load");
                  writer.get(a);
                  writeOverlap(
                    writer,
                    1,
                    () => load(bits),
                    () => load(target),
                  );
                  writer.op("i32.add").set(a);
                },
              );
            }
            writer.get(a).i32(3).op("i32.shl").set(a);
            writer.get(sum);
            writer.get(first).get(a).op("i32.add").memory("f64.load");
            writer.get(second).get(q).op("i32.add").get(a).op("i32.sub").memory("f64.load").op("f64.add");
            if (weighted) writer.get(weight).op("f64.mul");
            writer.op("f64.add").set(sum);
          }
          advance(writer, target, rowBytes);
          advance(writer, onesAt, 4);
          if (weighted) advance(writer, weightAt, 8);
        },
      );
      rows.forEach(({ sum }, r) => {
        writer
          .get(field.sums)
          .get(row)
          .i32(8)
          .op("i32.mul")
          .op("i32.add")
          .get(sum)
          .memory("f64.store", 8 * r);
      });
    },
  );
};

const allEqual = (weights: Float64Array): boolean => weights.every((weight) => weight === weights[0]);

/** The rows of M that candidates with these numbers of votes need, one after the other, and where each starts. */
const pairTable = (
  ones: Int32Array,
  members: number,
): { table: Float64Array; starts: Map<number, number> } => {
  const starts = new Map<number, number>();
  let length = 0;
  for (const p of new Set(ones)) {
    for (const m of [p, members - p]) {
      if (starts.has(m)) continue;
      starts.set(m, length);
      length += m + 1;
    }
  }
  const cells = Float64Array.from({ length: members + 1 }, (_, i) => xlogx(i / members));
  const table = new Float64Array(length);
  for (const [m, start] of starts) for (let i = 0; i <= m; i++) table[start + i] = cells[i] + cells[m - i];
  return { table, starts };
};

/** sum_t w_t H[J[n, t]], [pool rows]; the weights have the sum 1. */
export const voteJointEntropies = (
  workspace: Workspace,
  pool: VoteMembers,
  targets: VoteMembers,
  weights: Float64Array,
): Float64Array => {
  const { members } = pool;
  const words = wordsPerRow(members);
  const width = Math.ceil(words / 2);
  const weighted = !allEqual(weights);
  const name = `votes ${width} ${weighted}`;
  const { kernels } = loadKernel(workspace, name, (writer) => {
    writeVotes(writer, width, weighted);
    return [];
  });
  const rows = Math.ceil(pool.rows / TOGETHER) * TOGETHER;
  const ones = new Int32Array(rows);
  ones.set(countVotes(pool));
  const { table, starts } = pairTable(ones, members);
  const addresses = workspace.allocateAll([
    8 * width * rows,
    4 * rows,
    4 * rows,
    8 * width * targets.rows,
    4 * targets.rows,
    weighted ? 8 * targets.rows : 0,
    8 * rows,
    8 * table.length,
    4 * WORDS.length,
  ]);
  const [poolBits, firsts, seconds, targetBits, onesAt, weightsAt, sums, tableAt, job] = addresses;
  try {
    const { buffer } = workspace;
    const copyBits = (given: VoteMembers, at: number): void => {
      const to = new Uint32Array(buffer, at, 2 * width * given.rows);
      if (words === 2 * width) to.set(given.words);
      else {
        for (let row = 0; row < given.rows; row++) {
          for (let w = 0; w < words; w++) to[2 * width * row + w] = given.words[words * row + w];
        }
      }
    };
    copyBits(pool, poolBits);
    copyBits(targets, targetBits);
    const rowOf = (m: number): number => tableAt + 8 * (starts.get(m) ?? 0);
    workspace.words(firsts, rows).set(ones.map(rowOf));
    workspace.words(seconds, rows).set(ones.map((p) => rowOf(members - p)));
    workspace.words(onesAt, targets.rows).set(countVotes(targets).map((q) => 8 * q));
    if (weighted) new Float64Array(buffer, weightsAt, targets.rows).set(weights);
    new Float64Array(buffer, tableAt, table.length).set(table);
    workspace
      .words(job, WORDS.length)
      .set([poolBits, firsts, seconds, targetBits, onesAt, weightsAt, sums, rows, targets.rows]);
    kernels.run(name, job, Math.ceil(rows / BLOCK));
    const scale = weighted ? -1 : -weights[0];
    return Float64Array.from(new Float64Array(buffer, sums, pool.rows), (sum) => scale * sum);
  } finally {
    for (const address of addresses) workspace.release(address);
  }
};
