/**
 * What the kernels of this folder have in common: the description of a job in memory, and how an input is loaded in
 * which loop.
 */
import type { Graph, Traced } from "../graph/expression.js";
import { type FunctionWriter, I32 } from "../wasm/encoder.js";
import { keep } from "../wasm/kernel.js";
import { bitsOf, INNER, OBSERVATION, OUTER } from "./axes.js";

/** Words at the start of every job description; the addresses of the inputs follow, then the constants. */
export const WORDS = {
  /** Lengths of the axes. */
  outer: 0,
  inner: 1,
  observations: 2,
  /** Inner samples of a task of the first pass, and how many such tasks an outer sample has. */
  chunk: 3,
  chunks: 4,
  /** Memory of a thread's own. */
  scratch: 5,
  scratchBytes: 6,
  /** Results of the first pass, one record per task. */
  records: 7,
  recordBytes: 8,
  /** Tables that the batch shares, one row per four inner samples. */
  tables: 9,
  tableBytes: 10,
  /** Rows of a task of the passes over the tables. */
  block: 11,
  /** Log-likelihoods [outer, inner], rows filled up to whole vectors. */
  logs: 12,
  logBytes: 13,
  /** What the first pass keeps for the second: [outer, observations, kept]. */
  kept: 14,
  /** For every outer sample, the log-sum-exp of its log-likelihoods and the adjoint of its value. */
  weights: 15,
  /** Sums of the second pass, one set per task. */
  parts: 16,
  partBytes: 17,
  /** Gradients in inner samples, rows filled up to whole vectors. */
  innerGradients: 18,
  inputs: 19,
} as const;

/** Pushes a word of the job description. */
export const pushWord = (writer: FunctionWriter, word: number): void => {
  writer.get(0).memory("i32.load", 4 * word);
};

/** A local with `base + index * bytes`, base and bytes being words of the job description. */
export const keepPlace = (writer: FunctionWriter, base: number, index: number, bytes: number): number =>
  keep(writer, () => {
    pushWord(writer, base);
    writer.get(index);
    pushWord(writer, bytes);
    writer.op("i32.mul").op("i32.add");
  });

/** A local that holds a word of the job description. */
export const loadWord = (writer: FunctionWriter, word: number): number => {
  const local = writer.local(I32);
  writer
    .get(0)
    .memory("i32.load", 4 * word)
    .set(local);
  return local;
};

/** Nodes of the graph that do not vary with the inner sample but with the observation, used by nodes that do. */
export const observationParts = (roots: readonly Traced[]): Traced[] => {
  const found = new Set<Traced>();
  const seen = new Set<Traced>();
  const visit = (node: Traced): void => {
    if (seen.has(node)) return;
    seen.add(node);
    const bits = bitsOf(node);
    if ((bits & INNER) === 0 && (bits & OBSERVATION) !== 0) found.add(node);
    else node.args.forEach(visit);
  };
  roots.forEach(visit);
  return [...found];
};

/** Addresses of inputs: base + row of the outer sample, in locals that are set once per task. */
export class InputPointers {
  readonly #writer: FunctionWriter;
  readonly #rows = new Map<Traced, number>();

  constructor(
    writer: FunctionWriter,
    inputs: readonly Traced[],
    index: (input: Traced) => number,
    locals: { outer: number; inner: number; observations: number },
  ) {
    this.#writer = writer;
    for (const input of inputs) {
      const bits = bitsOf(input);
      const row = loadWord(writer, WORDS.inputs + index(input));
      if ((bits & OUTER) !== 0) {
        writer.get(row).get(locals.outer);
        if ((bits & INNER) !== 0) writer.get(locals.inner).op("i32.mul");
        if ((bits & OBSERVATION) !== 0) writer.get(locals.observations).op("i32.mul");
        writer.i32(2).op("i32.shl").op("i32.add").set(row);
      }
      this.#rows.set(input, row);
    }
  }

  row(input: Traced): number {
    const row = this.#rows.get(input);
    if (row === undefined) throw new RangeError(`the input ${input.name} has no address in this kernel`);
    return row;
  }

  /** Loads an input that does not vary with the inner sample into every lane; `offset4` is 4 * observation. */
  pushSplat(input: Traced, offset4: number | undefined): void {
    this.#writer.get(this.row(input));
    if (offset4 !== undefined && (bitsOf(input) & OBSERVATION) !== 0) this.#writer.get(offset4).op("i32.add");
    this.#writer.memory("v128.load32_splat");
  }
}

/** How many inputs vary with the inner sample: each needs a pad for the end of its rows. */
export const innerInputs = (graph: Graph): number =>
  graph.nodes.filter((node) => node.op === "input" && (bitsOf(node) & INNER) !== 0).length;
