/**
 * What every tree says of a block of rows at a time.
 *
 * A set of rows is a bit for each row: in a vector of 128 rows, row 4 j + l has bit j of lane l. Every split has a set, of the rows whose value is above the threshold, so that
 * the rows at its children are those at the split that are in this set and those that are not: two instructions for
 * 128 rows. A tree is walked once for a block, depth first, leaving out what no row of the block comes to.
 *
 * A node is 8 bytes: the address of its split's set and that of its right child, for rows in the set; the left child
 * is the next node. A leaf has 0 for the set, and for its answer the number of a class of two that it is sure of, or
 * the address of its probabilities.
 */

import { Assembly, type Local, type Value } from "../../compute/wasm/assembly.js";
import { I32, ModuleWriter, type ValueType } from "../../compute/wasm/encoder.js";

/** Bytes of the job's description; every field is an i32, addresses are in bytes. */
export const SETS = {
  /** i32 [trees]: the addresses of the roots. */
  trees: 0,
  roots: 4,
  /** The rows that are asked for, [blocks, BLOCK_BYTES]. */
  asked: 8,
  /** The part's first block. */
  firstBlock: 12,
  /**
   * i32 [blocks of the part, BLOCK_ROWS]: where the answer of each row goes. A row that is not asked for has a place
   * for votes that nobody reads, and none (0) for probabilities.
   */
  places: 16,
  classes: 20,
  /** Each thread's own working memory, its bytes, and where in it the stack of nodes is: see {@link setScratch}. */
  scratch: 24,
  scratchBytes: 28,
  nodeStack: 32,
  /** float32 [4, 4]: (1 - a, a, 1 - b, b) for the bits a + 2 b. */
  sure: 48,
  bytes: 112,
} as const;

/** Rows of a block, which is a task: 8 vectors. */
export const BLOCK_ROWS = 1024;
export const BLOCK_BYTES = BLOCK_ROWS / 8;
/**
 * Sets lie side by side in slabs, [blocks, SLAB_SETS, BLOCK_BYTES], so that what the trees need of a block is together
 * in memory; a set's next block is so many bytes after the one before.
 */
export const SLAB_SETS = 64;
export const SET_STRIDE = SLAB_SETS * BLOCK_BYTES;

/** The word of a set, block after block, that has a row's bit, and which bit of it. */
export const wordOfRow = (row: number): number => ((row >>> 7) << 2) | (row & 3);
/** The row of a word's lowest bit; that of each further one is four rows on. */
export const firstRowOf = (word: number): number => ((word >>> 2) << 7) | (word & 3);
export const bitOfRow = (row: number): number => (row >>> 2) & 31;

const VECTOR = 16;
const VECTORS = BLOCK_BYTES / VECTOR;
/** Trees whose votes make a word. */
const GROUP = 32;

/** What a thread needs: the votes of a group and where there are none, both also row by row, and a stack. */
const OWN = {
  votes: 0,
  unsure: GROUP * BLOCK_BYTES,
  votesByRow: 2 * GROUP * BLOCK_BYTES,
  unsureByRow: 2 * GROUP * BLOCK_BYTES + VECTOR * GROUP,
  stack: 2 * GROUP * BLOCK_BYTES + 2 * VECTOR * GROUP,
} as const;

/** The working memory of one thread, for trees of so many levels: the set of each, and then the nodes to do. */
export const setScratch = (levels: number): { readonly bytes: number; readonly nodeStack: number } => {
  const nodeStack = OWN.stack + (levels + 1) * BLOCK_BYTES;
  return { nodeStack, bytes: Math.ceil((nodeStack + 4 * (levels + 1)) / 64) * 64 };
};

/** What `above` reads: the blocks of a set, and i32 [tasks, 3]: a column, a threshold's bits and a set. */
export const ABOVE = { blocks: 0, list: 4, bytes: 8 } as const;

/** Marks the end of the stack of nodes to do. */
const DONE = -1;

const integers = (count: number): ValueType[] => Array.from({ length: count }, () => I32);

/**
 * `votes` and `dense`: task b answers for block b of the part, as in `predict-kernel.ts`. `above`: task k makes
 * the set of the rows whose value in a column is above a threshold.
 */
export const setsModule = (): ModuleWriter => {
  const module = new ModuleWriter();
  const walk = writeWalk(module, writeCopy(module));
  writeBlocks(module, "votes", walk, writeVotes(module));
  writeBlocks(module, "dense", walk, writeFractions(module, writeTranspose(module)));
  writeAbove(module);
  return module;
};

/** (set, places, offset, from, bytes): copies a leaf's probabilities to the places of all rows of a set. */
const writeCopy = (module: ModuleWriter): number =>
  module.function("copy", integers(5), [], (writer) => {
    const c = new Assembly(writer);
    const [set, places, offset, from, bytes] = c.parameters();
    const [vector, word, bits, place, k] = Array.from({ length: 5 }, () => c.i32());
    const [pair, one] = [c.i64(), c.f32()];
    const forRows = (write: () => void): void => {
      c.for(vector, 0, BLOCK_BYTES, VECTOR, () => {
        c.when(c.simd("v128.any_true", c.loadVector(c.add(set, vector))), () => {
          c.for(word, vector, c.add(vector, VECTOR), 4, () => {
            c.set(bits, c.load(c.add(set, word)));
            c.while(bits, () => {
              const lane = c.add(places, c.shl(vector, 5), c.sub(word, vector));
              c.set(place, c.add(c.load(c.add(lane, c.shl(c.op("i32.ctz", bits), 4))), offset));
              write();
              c.set(bits, c.and(bits, c.sub(bits, 1)));
            });
          });
        });
      });
    };
    c.when(
      c.op("i32.eq", bytes, 8),
      () => {
        c.set(pair, c.loadWide(from));
        forRows(() => c.storeWide(place, pair));
      },
      () =>
        forRows(() =>
          c.for(k, 0, bytes, 4, () => {
            c.set(one, c.loadFloat(c.add(from, k)));
            c.storeFloat(c.add(place, k), one);
          }),
        ),
    );
  });

/**
 * (root, block, set, votes, places, offset, bytes, next): walks a tree, from the set of the rows asked for. `block` is
 * where the block lies in every set; the sets of further levels follow the first one, and the nodes to do are at `next`.
 */
const writeWalk = (module: ModuleWriter, copy: number): number =>
  module.function("walk", integers(8), [], (writer) => {
    const c = new Assembly(writer);
    const [node, block, set, votes, places, offset, bytes, next] = c.parameters();
    const split = c.i32();
    const [rows, above, right, left, anyRight, anyLeft] = Array.from({ length: 6 }, () => c.v128());
    const nothing = () => writer.splat32(0);
    const addTo = (sum: Local, distance: number) => {
      for (let at = 0; at < BLOCK_BYTES; at += VECTOR) {
        const both = c.simd("v128.or", c.loadVector(sum, distance + at), c.loadVector(set, at));
        c.storeVector(sum, both, distance + at);
      }
    };
    c.store(next, DONE);
    c.increase(next, 4);
    c.while(c.op("i32.ne", node, DONE), () => {
      c.set(split, c.load(node));
      c.when(
        split,
        () => {
          c.increase(split, block);
          c.set(anyRight, nothing);
          c.set(anyLeft, nothing);
          for (let at = 0; at < BLOCK_BYTES; at += VECTOR) {
            c.set(rows, c.loadVector(set, at));
            c.set(above, c.loadVector(split, at));
            c.set(right, c.simd("v128.and", rows, above));
            c.set(left, c.simd("v128.andnot", rows, above));
            c.storeVector(set, right, at);
            c.storeVector(set, left, BLOCK_BYTES + at);
            c.set(anyRight, c.simd("v128.or", anyRight, right));
            c.set(anyLeft, c.simd("v128.or", anyLeft, left));
          }
          c.when(
            c.simd("v128.any_true", anyLeft),
            () => {
              const orNone = c.choose(c.load(node, 4), 0, c.simd("v128.any_true", anyRight));
              c.store(next, orNone);
              c.increase(next, 4);
              c.increase(set, BLOCK_BYTES);
              c.increase(node, 8);
            },
            () => c.set(node, c.load(node, 4)),
          );
        },
        () => {
          const answer = split;
          c.set(answer, c.load(node, 4));
          c.when(answer, () => {
            c.when(
              c.op("i32.eq", answer, 1),
              () => addTo(votes, 0),
              () => {
                addTo(votes, OWN.unsure - OWN.votes);
                c.call(copy, set, places, offset, answer, bytes)();
              },
            );
          });
          c.set(node, 0);
          c.while(c.op("i32.eqz", node), () => {
            c.set(next, c.sub(next, 4));
            c.set(set, c.sub(set, BLOCK_BYTES));
            c.set(node, c.load(next));
          });
        },
      );
    });
  });

/** Pushes 32 vectors, of four 32 x 32 matrices of bits side by side, and returns them transposed. */
const transposed = (c: Assembly, from: Value): Local[] => {
  const { writer } = c;
  const vectors = Array.from({ length: GROUP }, () => c.v128());
  const change = c.v128();
  for (const [t, vector] of vectors.entries()) c.set(vector, c.loadVector(from, t * BLOCK_BYTES));
  for (let size = GROUP / 2, mask = 0xffff; size > 0; size >>= 1, mask ^= mask << size) {
    for (let t = 0; t < GROUP; t++) {
      if ((t & size) !== 0) continue;
      const [low, high] = [vectors[t], vectors[t + size]];
      const differ = c.simd("v128.xor", c.simd("i32x4.shr_u", low, size), high);
      c.set(
        change,
        c.simd("v128.and", differ, () => writer.splat32(mask)),
      );
      c.set(low, c.simd("v128.xor", low, c.simd("i32x4.shl", change, size)));
      c.set(high, c.simd("v128.xor", high, change));
    }
  }
  return vectors;
};

/** (own, places, offset, trees, sure): every row's word of votes to its place. */
const writeVotes = (module: ModuleWriter): number =>
  module.function("placeVotes", integers(5), [], (writer) => {
    const c = new Assembly(writer);
    const [own, places, offset] = c.parameters();
    const at = c.i32();
    c.for(at, 0, BLOCK_BYTES, VECTOR, () => {
      transposed(c, c.add(own, at)).forEach((vector, j) => {
        for (let lane = 0; lane < 4; lane++) {
          c.push(c.add(c.load(c.add(places, c.shl(at, 5)), VECTOR * j + 4 * lane), offset));
          c.push(vector);
          writer.storeLane(lane);
        }
      });
    });
  });

/** (from, to): the bits of 128 rows, tree by tree, to a word of trees for each row. */
const writeTranspose = (module: ModuleWriter): number =>
  module.function("transpose", integers(2), [], (writer) => {
    const c = new Assembly(writer);
    const [from, to] = c.parameters();
    transposed(c, from).forEach((vector, j) => {
      c.storeVector(to, vector, VECTOR * j);
    });
  });

/** (own, places, offset, trees, sure): the probabilities 0 and 1 of every tree that is sure of a row. */
const writeFractions = (module: ModuleWriter, transpose: number): number =>
  module.function("placeFractions", integers(5), [], (writer) => {
    const c = new Assembly(writer);
    const [own, places, offset, trees, sure] = c.parameters();
    const [at, row, place, votes, unsure, tree, word] = Array.from({ length: 7 }, () => c.i32());
    const table = (bits: number) => c.add(sure, c.shl(c.and(votes, bits), 4));
    c.for(at, 0, BLOCK_BYTES, VECTOR, () => {
      c.call(transpose, c.add(own, at), c.add(own, OWN.votesByRow))();
      c.call(transpose, c.add(own, OWN.unsure, at), c.add(own, OWN.unsureByRow))();
      c.for(row, 0, 4 * GROUP, 1, () => {
        c.set(place, c.load(c.add(places, c.shl(at, 5), c.shl(row, 2))));
        c.when(place, () => {
          c.increase(place, offset);
          c.set(word, c.add(own, c.shl(row, 2)));
          c.set(votes, c.load(word, OWN.votesByRow));
          c.set(unsure, c.load(word, OWN.unsureByRow));
          c.when(
            c.op("i32.or", unsure, c.op("i32.ne", trees, GROUP)),
            () =>
              c.for(tree, 0, trees, 1, () => {
                c.when(c.op("i32.eqz", c.and(unsure, 1)), () => {
                  c.storeWide(c.add(place, c.shl(tree, 3)), c.loadWide(table(1)));
                });
                c.set(votes, c.shr(votes, 1));
                c.set(unsure, c.shr(unsure, 1));
              }),
            () => {
              for (let pair = 0; pair < GROUP / 2; pair++) {
                c.storeVector(place, c.loadVector(table(3)), VECTOR * pair);
                c.set(votes, c.shr(votes, 2));
              }
            },
          );
        });
      });
    });
  });

/** Sends a block down all trees, 32 at a time. */
const writeBlocks = (module: ModuleWriter, kind: "votes" | "dense", walk: number, place: number): void => {
  module.function(kind, integers(3), [], (writer) => {
    const c = new Assembly(writer);
    const [job, thread, task] = c.parameters();
    const [own, block, askedAt, places, root, tree, group, offset, bytes, at, rest] = Array.from(
      { length: 11 },
      () => c.i32(),
    );
    const asked = c.v128();
    c.set(own, c.add(c.load(job, SETS.scratch), c.mul(thread, c.load(job, SETS.scratchBytes))));
    c.set(block, c.add(task, c.load(job, SETS.firstBlock)));
    c.set(askedAt, c.add(c.load(job, SETS.asked), c.mul(block, BLOCK_BYTES)));
    c.set(block, c.mul(block, SET_STRIDE));
    c.set(places, c.add(c.load(job, SETS.places), c.mul(task, 4 * BLOCK_ROWS)));
    c.set(bytes, kind === "votes" ? 4 : c.shl(c.load(job, SETS.classes), 2));
    c.set(rest, c.load(job, SETS.trees));
    c.set(root, c.load(job, SETS.roots));
    c.while(rest, () => {
      c.set(group, GROUP);
      c.when(c.below(rest, GROUP), () => c.set(group, rest));
      c.set(rest, c.sub(rest, group));
      c.for(at, 0, 2 * GROUP * BLOCK_BYTES, VECTOR, () => {
        c.storeVector(c.add(own, at), () => writer.splat32(0));
      });
      c.for(tree, 0, group, 1, () => {
        for (let v = 0; v < VECTORS; v++) {
          c.set(asked, c.loadVector(askedAt, VECTOR * v));
          c.storeVector(own, asked, OWN.stack + VECTOR * v);
        }
        c.call(
          walk,
          c.load(c.add(root, c.shl(tree, 2))),
          block,
          c.add(own, OWN.stack),
          c.add(own, c.mul(tree, BLOCK_BYTES)),
          places,
          kind === "votes" ? offset : c.add(offset, c.mul(tree, bytes)),
          bytes,
          c.add(own, c.load(job, SETS.nodeStack)),
        )();
      });
      const put = c.call(place, own, places, offset, group, c.add(job, SETS.sure));
      if (kind === "votes") put();
      else c.when(c.op("i32.eq", bytes, 8), put);
      c.increase(root, 4 * GROUP);
      c.increase(offset, kind === "votes" ? 4 : c.mul(bytes, GROUP));
    });
  });
};

const writeAbove = (module: ModuleWriter): void => {
  module.function("above", integers(3), [], (writer) => {
    const c = new Assembly(writer);
    const [job, , task] = c.parameters();
    const [entry, column, set, end, at] = Array.from({ length: 5 }, () => c.i32());
    const threshold = c.v128();
    const halves = [c.v128(), c.v128()];
    c.set(entry, c.add(c.load(job, ABOVE.list), c.mul(task, 12)));
    c.set(column, c.load(entry));
    c.set(threshold, () => {
      c.push(entry);
      writer.memory("v128.load32_splat", 4);
    });
    c.set(set, c.load(entry, 8));
    c.set(end, c.add(set, c.mul(c.load(job, ABOVE.blocks), SET_STRIDE)));
    c.while(c.below(set, end), () => {
      c.for(at, 0, BLOCK_BYTES, VECTOR, () => {
        // A lane is -1 where it is above, so that 2 x - lane puts the next bit in; in two halves, side by side.
        for (const [half, bits] of halves.entries()) {
          for (let j = 15; j >= 0; j--) {
            const values = c.loadVector(column, VECTOR * (16 * half + j));
            const above = c.simd("f32x4.gt", values, threshold);
            if (j === 15)
              c.set(
                bits,
                c.simd("i32x4.sub", () => writer.splat32(0), above),
              );
            else c.set(bits, c.simd("i32x4.sub", c.simd("i32x4.add", bits, bits), above));
          }
        }
        const [low, high] = halves;
        c.storeVector(c.add(set, at), c.simd("v128.or", low, c.simd("i32x4.shl", high, 16)));
        c.increase(column, 4 * 8 * VECTOR);
      });
      c.increase(set, SET_STRIDE);
    });
  });
};
