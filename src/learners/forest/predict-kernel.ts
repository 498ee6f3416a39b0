/**
 * What every tree says of every row.
 *
 * A node is 16 bytes: the feature's offset in a row, the threshold, and the addresses of the children for values
 * above and not above it. A leaf is its own child, and has its answer in place of the threshold. So a step has no
 * branch to mispredict, and several rows go down a tree side by side until none of them moves any more.
 */
import { F32, type FunctionWriter, I32, ModuleWriter } from "../../compute/wasm/encoder.js";

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

const DESCRIPTOR = 0;
const TASK = 2;

const writeKernel = (
  w: FunctionWriter,
  writeAnswer: (leaf: number, row: () => void, tree: number) => void,
): void => {
  const [first, end, tree, root, row, step, limit, moved, at] = Array.from({ length: 9 }, () => w.local(I32));
  const lanes = Array.from({ length: LANES }, () => ({ base: w.local(I32), node: w.local(I32) }));
  const field = (offset: number) => w.get(DESCRIPTOR).memory("i32.load", offset);

  w.get(TASK).i32(TASK_ROWS).op("i32.mul").tee(first).i32(TASK_ROWS).op("i32.add").tee(end);
  field(PREDICT.rows);
  w.get(end);
  field(PREDICT.rows);
  w.op("i32.lt_u").op("select").set(end);

  w.loop(
    tree,
    () => w.i32(0),
    () => field(PREDICT.trees),
    1,
    () => {
      field(PREDICT.roots);
      w.get(tree).i32(2).op("i32.shl").op("i32.add").memory("i32.load").set(root);
      w.loop(
        row,
        () => w.get(first),
        () => w.get(end),
        LANES,
        () => {
          field(PREDICT.values);
          w.get(row);
          field(PREDICT.rowBytes);
          w.op("i32.mul").op("i32.add").set(at);
          for (const { base, node } of lanes) {
            w.get(at).set(base).get(root).set(node);
            w.get(at);
            field(PREDICT.rowBytes);
            w.op("i32.add").set(at);
          }
          w.i32(0x7fffffff).set(limit);
          w.loop(
            step,
            () => w.i32(0),
            () => w.get(limit),
            1,
            () => {
              w.i32(0).set(moved);
              for (const { base, node } of lanes) {
                w.get(node).memory("i32.load", 8).get(node).memory("i32.load", 12);
                w.get(base).get(node).memory("i32.load").op("i32.add").memory("f32.load");
                w.get(node).memory("f32.load", 4).op("f32.gt").op("select").tee(at);
                w.get(node).op("i32.xor").get(moved).op("i32.or").set(moved);
                w.get(at).set(node);
              }
              w.get(moved)
                .op("i32.eqz")
                .when(() => w.i32(0).set(limit));
            },
          );
          lanes.forEach(({ node }, i) => {
            writeAnswer(node, () => w.get(row).i32(i).op("i32.add"), tree);
          });
        },
      );
    },
  );
};

/** `votes` sets bit k % 32 of word [row, k / 32] where tree k says class 1; `dense` copies each leaf's probabilities. */
export const predictModule = (): ModuleWriter => {
  const module = new ModuleWriter();
  module.function("votes", [I32, I32, I32], [], (w) => {
    const place = w.local(I32);
    writeKernel(w, (leaf, row, tree) => {
      w.get(DESCRIPTOR).memory("i32.load", PREDICT.answers);
      row();
      w.get(DESCRIPTOR).memory("i32.load", PREDICT.answerBytes).op("i32.mul").op("i32.add");
      w.get(tree).i32(5).op("i32.shr_u").i32(2).op("i32.shl").op("i32.add").tee(place);
      w.get(place).memory("i32.load").get(leaf).memory("i32.load", 4).get(tree).op("i32.shl").op("i32.or");
      w.memory("i32.store");
    });
  });
  module.function("dense", [I32, I32, I32], [], (w) => {
    const [place, from, k] = [w.local(I32), w.local(I32), w.local(I32)];
    const probability = w.local(F32);
    writeKernel(w, (leaf, row, tree) => {
      const bytes = () => w.get(DESCRIPTOR).memory("i32.load", PREDICT.classes).i32(2).op("i32.shl");
      w.get(DESCRIPTOR).memory("i32.load", PREDICT.answers);
      row();
      w.get(DESCRIPTOR).memory("i32.load", PREDICT.answerBytes).op("i32.mul").op("i32.add");
      w.get(tree);
      bytes();
      w.op("i32.mul").op("i32.add").set(place);
      w.get(leaf).memory("i32.load", 4).set(from);
      w.loop(
        k,
        () => w.i32(0),
        () => bytes(),
        4,
        () => {
          w.get(from).get(k).op("i32.add").memory("f32.load").set(probability);
          w.get(place).get(k).op("i32.add").get(probability).memory("f32.store");
        },
      );
    });
  });
  return module;
};
