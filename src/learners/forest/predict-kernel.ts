/**
 * What every tree says of every row.
 *
 * A node is 16 bytes: the feature's offset in a row, the threshold, and the addresses of the children for values
 * above and not above it. A leaf is its own child, and has its answer in place of the threshold. So a step has no
 * branch to mispredict, and several rows go down a tree side by side until none of them moves any more.
 */
import { Assembly, type Local, type Value } from "../../compute/wasm/assembly.js";
import { I32, ModuleWriter } from "../../compute/wasm/encoder.js";

/** Bytes of the job's description; every field is an i32, addresses are in bytes. */
export const PREDICT = {
  /** Rows, a multiple of {@link LANES}, and the bytes of each. */
  rows: 0,
  rowBytes: 4,
  /** float32 [rows, features]. */
  values: 8,
  /** i32 [trees]: the addresses of the roots. */
  trees: 12,
  roots: 16,
  /** i32 [rows, ceil(trees / 32)] of zeros, or float32 [rows, trees, classes]; and the bytes of each row. */
  answers: 20,
  answerBytes: 24,
  classes: 28,
  bytes: 32,
} as const;

/** How many rows go down a tree side by side. */
export const LANES = 8;

/** Rows of one task: few enough to stay in the cache while every tree looks at them. */
export const TASK_ROWS = 64;

/** Writes what a leaf says of a row: the local with the leaf, the number of the row, the local with the tree. */
type WriteAnswer = (leaf: Local, row: Value, tree: Local) => void;

const writeKernel = (c: Assembly, writeAnswer: WriteAnswer): void => {
  const [job, , task] = c.parameters();
  const [first, end, tree, root, row, step, limit, moved, at] = Array.from({ length: 9 }, () => c.i32());
  const lanes = Array.from({ length: LANES }, () => ({ base: c.i32(), node: c.i32() }));
  const field = (offset: number) => c.load(job, offset);

  const firstRow = c.setting(first, c.mul(task, TASK_ROWS));
  const endRow = c.setting(end, c.add(firstRow, TASK_ROWS));
  c.set(end, c.choose(endRow, field(PREDICT.rows), c.below(end, field(PREDICT.rows))));

  const start = (): void => {
    c.set(at, c.add(field(PREDICT.values), c.mul(row, field(PREDICT.rowBytes))));
    for (const { base, node } of lanes) {
      c.set(base, at);
      c.set(node, root);
      c.increase(at, field(PREDICT.rowBytes));
    }
  };
  const descend = (): void => {
    c.set(moved, 0);
    for (const { base, node } of lanes) {
      const value = c.loadFloat(c.add(base, c.load(node)));
      const isAbove = c.op("f32.gt", value, c.loadFloat(node, 4));
      const next = c.setting(at, c.choose(c.load(node, 8), c.load(node, 12), isAbove));
      c.set(moved, c.op("i32.or", c.op("i32.xor", next, node), moved));
      c.set(node, at);
    }
    c.when(c.op("i32.eqz", moved), () => c.set(limit, 0));
  };
  c.for(tree, 0, field(PREDICT.trees), 1, () => {
    c.set(root, c.load(c.add(field(PREDICT.roots), c.shl(tree, 2))));
    c.for(row, first, end, LANES, () => {
      start();
      c.set(limit, 0x7fffffff);
      c.for(step, 0, limit, 1, descend);
      lanes.forEach(({ node }, i) => {
        writeAnswer(node, c.add(row, i), tree);
      });
    });
  });
};

/** `votes` sets bit k % 32 of word [row, k / 32] where tree k says class 1; `dense` copies each leaf's probabilities. */
export const predictModule = (): ModuleWriter => {
  const module = new ModuleWriter();
  const kernel = (
    name: string,
    answerOf: (c: Assembly, answers: (row: Value) => Value) => WriteAnswer,
  ): void => {
    module.function(name, [I32, I32, I32], [], (writer) => {
      const c = new Assembly(writer);
      const [job] = c.parameters();
      const answers = (row: Value) =>
        c.add(c.load(job, PREDICT.answers), c.mul(row, c.load(job, PREDICT.answerBytes)));
      writeKernel(c, answerOf(c, answers));
    });
  };
  kernel("votes", (c, answers) => {
    const place = c.i32();
    return (leaf, row, tree) => {
      const word = c.setting(place, c.add(answers(row), c.shl(c.shr(tree, 5), 2)));
      c.store(word, c.op("i32.or", c.load(place), c.shl(c.load(leaf, 4), tree)));
    };
  });
  kernel("dense", (c, answers) => {
    const [place, from, k] = [c.i32(), c.i32(), c.i32()];
    const probability = c.f32();
    const bytes = c.shl(c.load(c.parameters()[0], PREDICT.classes), 2);
    return (leaf, row, tree) => {
      c.set(place, c.add(answers(row), c.mul(tree, bytes)));
      c.set(from, c.load(leaf, 4));
      c.for(k, 0, bytes, 4, () => {
        c.set(probability, c.loadFloat(c.add(from, k)));
        c.storeFloat(c.add(place, k), probability);
      });
    };
  });
  return module;
};
