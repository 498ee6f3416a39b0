/**
 * Joint entropies of members that vote, from packed bits.
 *
 * With p and q votes among K for class 1 and a members that vote so on both sides, the four cells of J are a / K,
 * (p - a) / K, (q - a) / K and (K - p - q + a) / K: a is a popcount. With M[m, i] = f(i / K) + f((m - i) / K) and
 * f(x) = x log x the sum over the cells is M[p, a] + M[K - p, q - a]: two numbers from two short rows of a table of
 * float64, which a candidate finds in the nearest cache for all targets. Exact but for the rounding of the sums.
 */
import { Assembly, type Local, type Value } from "../../compute/wasm/assembly.js";
import type { FunctionWriter } from "../../compute/wasm/encoder.js";
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

/** How many bits are set in both of two rows of `width` words. */
const overlap = (
  c: Assembly,
  width: number,
  pool: (word: number) => Value,
  target: (word: number) => Value,
): Value => {
  const words = Array.from({ length: width }, (_, w) =>
    c.op("i64.popcnt", c.op("i64.and", pool(w), target(w))),
  );
  return c.op(
    "i32.wrap_i64",
    words.reduce((sum, each) => c.op("i64.add", sum, each)),
  );
};

/** What the kernel keeps of a row of the pool: addresses of its bits, of M[p, 0] and of M[K - p, 0]; words; its sum. */
const rowLocals = (c: Assembly, words: number) => ({
  bits: c.i32(),
  first: c.i32(),
  second: c.i32(),
  words: Array.from({ length: words }, () => c.i64()),
  sum: c.f64(),
});

/** sums[n] = sum_t w_t sum_cells x log x, for one block of rows; parameters: job description, thread, block. */
const writeVotes = (writer: FunctionWriter, width: number, weighted: boolean): void => {
  const c = new Assembly(writer);
  const [job, , block] = c.parameters();
  const field = Object.fromEntries(WORDS.map((name, i) => [name, c.keep(c.load(job, 4 * i))])) as Record<
    (typeof WORDS)[number],
    Local
  >;
  const rowBytes = 8 * width;
  /** Words that are in locals; 0 where there are too many. */
  const written = width <= MOST_WRITTEN ? width : 0;
  const start = c.keep(c.mul(block, BLOCK));
  const end = c.keep(c.add(start, BLOCK));
  c.when(c.op("i32.gt_u", end, field.rows), () => c.set(end, field.rows));

  const [row, t, target, onesAt, q, w, a] = Array.from({ length: 7 }, () => c.i32());
  const weightAt = c.i32();
  const targetWords = Array.from({ length: written }, () => c.i64());
  const weight = c.f64();
  const rows = Array.from({ length: TOGETHER }, () => rowLocals(c, written));
  type Row = (typeof rows)[number];

  const startRow = ({ bits, first, second, words, sum }: Row, r: number): void => {
    c.set(bits, c.add(field.pool, c.mul(c.add(row, r), rowBytes)));
    words.forEach((word, i) => {
      c.set(word, c.loadWide(bits, 8 * i));
    });
    c.set(first, c.load(c.add(field.firsts, c.mul(row, 4)), 4 * r));
    c.set(second, c.load(c.add(field.seconds, c.mul(row, 4)), 4 * r));
    c.set(sum, c.real(0));
  };
  /** a = the members that vote so on both sides. */
  const setBoth = ({ bits, words }: Row): void => {
    if (written > 0) {
      c.set(
        a,
        overlap(
          c,
          width,
          (i) => words[i],
          (i) => targetWords[i],
        ),
      );
      return;
    }
    c.set(a, 0);
    c.for(w, 0, rowBytes, 8, () => {
      const load = (at: Local) => () => c.loadWide(c.add(at, w));
      c.increase(a, overlap(c, 1, load(bits), load(target)));
    });
  };
  const addCells = ({ first, second, sum }: Row): void => {
    c.set(a, c.shl(a, 3));
    const cells = c.op("f64.add", c.loadReal(c.add(first, a)), c.loadReal(c.sub(c.add(second, q), a)));
    c.set(sum, c.op("f64.add", sum, weighted ? c.op("f64.mul", cells, weight) : cells));
  };
  const perTarget = (): void => {
    targetWords.forEach((word, i) => {
      c.set(word, c.loadWide(target, 8 * i));
    });
    c.set(q, c.load(onesAt));
    if (weighted) c.set(weight, c.loadReal(weightAt));
    for (const each of rows) {
      setBoth(each);
      addCells(each);
    }
    c.increase(target, rowBytes);
    c.increase(onesAt, 4);
    if (weighted) c.increase(weightAt, 8);
  };
  c.for(row, start, end, TOGETHER, () => {
    rows.forEach(startRow);
    c.set(target, field.targets);
    c.set(onesAt, field.ones);
    if (weighted) c.set(weightAt, field.weights);
    c.for(t, 0, field.count, 1, perTarget);
    rows.forEach(({ sum }, r) => {
      c.storeReal(c.add(field.sums, c.mul(row, 8)), sum, 8 * r);
    });
  });
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
