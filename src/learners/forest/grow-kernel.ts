/**
 * Growing trees on all threads, as scikit-learn's BestSplitter and DepthFirstTreeBuilder do.
 *
 * Every column's values are ranked once. A node then adds up the classes by rank, with a bit for each rank that
 * occurs, reads the ranks off the bits in order and tries the threshold after each: nothing is sorted in a node.
 *
 * Rows, ranks ("codes") and classes are kept as what they are multiplied by wherever they are used: rows and codes
 * as 4 times their number, classes as 8 times.
 */

import { Assembly, type Local, type Value } from "../../compute/wasm/assembly.js";
import { F64, I32, ModuleWriter, type ValueType } from "../../compute/wasm/encoder.js";
import { GROW, STACK_WORDS } from "./grow-layout.js";

/** Values closer than this are the same to scikit-learn (FEATURE_THRESHOLD, float32). */
const CLOSE = 1e-7;
/** Nodes of no more impurity are leaves. */
const EPSILON = 2.220446049250313e-16;
/** Nodes of fewer rows than this put their codes in order one by one, where that looks at fewer words. */
const FEW_ROWS = 64;

const integers = (count: number): ValueType[] => Array.from({ length: count }, () => I32);

/** `rank`: task f ranks column f. `grow`: task t grows tree t. */
export const growModule = (): ModuleWriter => {
  const module = new ModuleWriter();
  writeRank(module);
  const parts = {
    addPairs: writeAddPairs(module),
    addSums: writeAddSums(module),
    addCounts: writeAddCounts(module),
    firstOfTwo: writeFirstOfTwo(module),
    takeCodes: writeTakeCodes(module),
    sortCodes: writeSortCodes(module),
    scanPairs: writeScanPairs(module),
    scanSums: writeScanSums(module),
    partition: writePartition(module),
    gini: writeGini(module),
  };
  writeGrow(module, parts);
  return module;
};

/** Bottom-up merge sort of key and row as one i64, where there are more than two values; the keys order as they do. */
const writeRank = (module: ModuleWriter): void => {
  module.function("rank", integers(3), [], (writer) => {
    const c = new Assembly(writer);
    const [job, thread, task] = c.parameters();
    const [values, distinct, codes, rows, bytes] = [c.i32(), c.i32(), c.i32(), c.i32(), c.i32()];
    const [from, to, width, left, middle, right, end, write, i] = Array.from({ length: 9 }, () => c.i32());
    const [bits, count, last] = [c.i32(), c.i32(), c.i32()];
    const [a, b] = [c.i64(), c.i64()];
    c.set(rows, c.load(job, GROW.rows));
    const column = (field: number) => c.add(c.load(job, field), c.shl(c.mul(task, rows), 2));
    c.set(values, column(GROW.values));
    c.set(distinct, column(GROW.distinct));
    c.set(codes, column(GROW.codes));
    c.set(bytes, c.shl(rows, 3));
    c.set(from, c.add(c.load(job, GROW.scratch), c.mul(thread, c.load(job, GROW.scratchBytes))));
    c.set(to, c.add(from, bytes));

    const columnBytes = c.shl(rows, 2);
    /** The key of the value at this offset. */
    const setKey = (offset: Value): void => {
      // x + 0 makes -0 the same as 0. Negative numbers count downwards.
      const value = c.op("f32.add", c.loadFloat(c.add(values, offset)), () => writer.f32(0));
      c.set(bits, c.op("i32.reinterpret_f32", value));
      c.set(bits, c.op("i32.xor", bits, c.and(c.op("i32.shr_s", bits, 31), 0x7fffffff)));
    };

    // Columns of one or two values, as those of categories, have nothing to be sorted.
    const [lowest, highest, other] = [left, right, last];
    setKey(0);
    c.set(lowest, bits);
    c.set(highest, bits);
    c.for(i, 4, columnBytes, 4, () => {
      setKey(i);
      c.set(lowest, c.choose(bits, lowest, c.less(bits, lowest)));
      c.set(highest, c.choose(bits, highest, c.less(highest, bits)));
    });
    c.for(i, 0, columnBytes, 4, () => {
      setKey(i);
      const isOther = c.and(c.op("i32.ne", bits, lowest), c.op("i32.ne", bits, highest));
      c.set(other, c.op("i32.or", other, isOther));
    });
    c.when(c.op("i32.eqz", other), () => {
      c.for(i, 0, columnBytes, 4, () => {
        setKey(i);
        c.set(count, c.shl(c.op("i32.ne", bits, lowest), 2));
        c.store(c.add(codes, i), count);
        c.storeFloat(
          c.add(distinct, count),
          c.op("f32.add", c.loadFloat(c.add(values, i)), () => writer.f32(0)),
        );
      });
      c.set(count, c.add(1, c.op("i32.ne", lowest, highest)));
      c.store(c.add(c.load(job, GROW.distincts), c.shl(task, 2)), count);
      writer.op("return");
    });
    c.set(other, 0);

    c.for(i, 0, rows, 1, () => {
      setKey(c.shl(i, 2));
      const wide = c.op("i64.shl", c.op("i64.extend_i32_s", bits), () => writer.i64(32n));
      c.storeWide(c.add(from, c.shl(i, 3)), c.op("i64.or", wide, c.op("i64.extend_i32_u", i)));
    });
    c.set(width, 8);
    c.while(c.below(width, bytes), () => {
      c.set(left, 0);
      c.set(write, to);
      c.while(c.below(left, bytes), () => {
        const least = (value: Value) => c.choose(value, bytes, c.below(value, bytes));
        c.set(middle, c.add(left, width));
        c.set(middle, least(middle));
        c.set(end, c.add(middle, width));
        c.set(end, least(end));
        c.set(right, middle);
        c.while(c.below(write, c.add(to, end)), () => {
          const takesLeft = c.op("i32.eqz", c.op("i64.lt_s", b, a));
          const fromLeft = () => {
            c.storeWide(write, c.loadWide(c.add(from, left)));
            c.increase(left, 8);
          };
          const fromRight = () => {
            c.storeWide(write, c.loadWide(c.add(from, right)));
            c.increase(right, 8);
          };
          c.when(
            c.op("i32.and", c.below(left, middle), c.below(right, end)),
            () => {
              c.set(a, c.loadWide(c.add(from, left)));
              c.set(b, c.loadWide(c.add(from, right)));
              c.when(takesLeft, fromLeft, fromRight);
            },
            () => c.when(c.below(left, middle), fromLeft, fromRight),
          );
          c.increase(write, 8);
        });
        c.set(left, end);
      });
      c.set(left, from);
      c.set(from, to);
      c.set(to, left);
      c.set(width, c.shl(width, 1));
    });

    c.for(i, 0, bytes, 8, () => {
      c.set(left, c.shl(c.load(c.add(from, i)), 2));
      c.set(bits, c.load(c.add(from, i), 4));
      c.when(c.op("i32.or", c.op("i32.eqz", i), c.op("i32.ne", bits, last)), () => {
        c.storeFloat(
          c.add(distinct, count),
          c.op("f32.add", c.loadFloat(c.add(values, left)), () => writer.f32(0)),
        );
        c.increase(count, 4);
        c.set(last, bits);
      });
      c.store(c.add(codes, left), c.sub(count, 4));
    });
    c.store(c.add(c.load(job, GROW.distincts), c.shl(task, 2)), c.shr(count, 2));
    // The working memory is 0 between uses.
    c.for(i, 0, c.shl(bytes, 1), 4, () => {
      const start = c.add(c.load(job, GROW.scratch), c.mul(thread, c.load(job, GROW.scratchBytes)));
      c.store(c.add(start, i), 0);
    });
  });
};

/** Sets the bit of a code. */
const setBit = (c: Assembly, bits: Value, code: Value, word: Local): void => {
  c.set(word, c.add(bits, c.shl(c.shr(code, 7), 2)));
  c.store(word, c.op("i32.or", c.load(word), c.shl(1, c.shr(code, 2))));
};

/** (from, to, codes, pair, pairs, bits): for samples `from` to `to`, pairs[code] += pair[row], and the code's bit. */
const writeAddPairs = (module: ModuleWriter): number =>
  module.function("addPairs", integers(6), [], (writer) => {
    const c = new Assembly(writer);
    const [from, to, codes, pair, pairs, bits] = c.parameters();
    const [row, code, place] = [c.i32(), c.i32(), c.i32()];
    c.while(c.below(from, to), () => {
      c.set(row, c.load(from));
      c.set(code, c.load(c.add(codes, row)));
      c.set(place, c.add(pairs, code));
      c.store(place, c.add(c.load(place), c.load(c.add(pair, row))));
      setBit(c, bits, code, place);
      c.increase(from, 4);
    });
  });

/** (from, to, codes, labels, weight, sums, bits, C): sums[code, class] += weight[row], and the code's bit. */
const writeAddSums = (module: ModuleWriter): number =>
  module.function("addSums", integers(8), [], (writer) => {
    const c = new Assembly(writer);
    const [from, to, codes, labels, weight, sums, bits, classes] = c.parameters();
    const [row, code, place] = [c.i32(), c.i32(), c.i32()];
    c.while(c.below(from, to), () => {
      c.set(row, c.load(from));
      c.set(code, c.load(c.add(codes, row)));
      c.set(place, c.add(sums, c.shl(c.mul(code, classes), 1), c.load(c.add(labels, row))));
      c.storeReal(place, c.op("f64.add", c.loadReal(place), c.loadReal(c.add(weight, c.shl(row, 1)))));
      setBit(c, bits, code, place);
      c.increase(from, 4);
    });
  });

/** (from, to, codes, counts): how many rows have each code. */
const writeAddCounts = (module: ModuleWriter): number =>
  module.function("addCounts", integers(4), [], (writer) => {
    const c = new Assembly(writer);
    const [from, to, codes, counts] = c.parameters();
    const place = c.i32();
    c.while(c.below(from, to), () => {
      c.set(place, c.add(counts, c.load(c.add(codes, c.load(from)))));
      c.store(place, c.add(c.load(place), 1));
      c.increase(from, 4);
    });
  });

/** (from, to, codes, pair) -> the sum of the pairs of rows with code 0, where there are only the codes 0 and 1. */
const writeFirstOfTwo = (module: ModuleWriter): number =>
  module.function("firstOfTwo", integers(4), [I32], (writer) => {
    const c = new Assembly(writer);
    const [from, to, codes, pair] = c.parameters();
    const [row, sum] = [c.i32(), c.i32()];
    c.while(c.below(from, to), () => {
      c.set(row, c.load(from));
      const all = c.sub(c.shr(c.load(c.add(codes, row)), 2), 1); // all bits for code 0, none for code 1
      c.increase(sum, c.and(c.load(c.add(pair, row)), all));
      c.increase(from, 4);
    });
    c.push(sum);
  });

/** (bits, words, order) -> end: writes the codes whose bits are set in ascending order, and clears the bits. */
const writeTakeCodes = (module: ModuleWriter): number =>
  module.function("takeCodes", integers(3), [I32], (writer) => {
    const c = new Assembly(writer);
    const [bits, words, order] = c.parameters();
    const [word, rest, first] = [c.i32(), c.i32(), c.i32()];
    c.for(word, 0, words, 1, () => {
      c.set(rest, c.load(bits));
      c.when(rest, () => {
        c.store(bits, 0);
        c.set(first, c.shl(word, 5));
        c.while(rest, () => {
          c.store(order, c.shl(c.add(first, c.op("i32.ctz", rest)), 2));
          c.increase(order, 4);
          c.set(rest, c.and(rest, c.sub(rest, 1)));
        });
      });
      c.increase(bits, 4);
    });
    c.push(order);
  });

/** (from, to, codes, bits, order) -> end: the same for few rows and many codes, by insertion. */
const writeSortCodes = (module: ModuleWriter): number =>
  module.function("sortCodes", integers(5), [I32], (writer) => {
    const c = new Assembly(writer);
    const [from, to, codes, bits, order] = c.parameters();
    const [code, word, rest, place, end] = Array.from({ length: 5 }, () => c.i32());
    c.set(end, order);
    c.while(c.below(from, to), () => {
      c.set(code, c.load(c.add(codes, c.load(from))));
      c.set(word, c.add(bits, c.shl(c.shr(code, 7), 2)));
      c.set(rest, c.load(word));
      c.when(c.and(c.shr(rest, c.shr(code, 2)), 1), () => {
        c.store(word, c.op("i32.xor", rest, c.shl(1, c.shr(code, 2))));
        c.set(place, end);
        // The word before `order` is never a code above another: see writeGrow.
        c.while(c.op("i32.lt_s", code, c.load(c.sub(place, 4))), () => {
          c.store(place, c.load(c.sub(place, 4)));
          c.set(place, c.sub(place, 4));
        });
        c.store(place, code);
        c.increase(end, 4);
      });
      c.increase(from, 4);
    });
    c.push(end);
  });

/** Whether a value is more than CLOSE above another, in float32. */
const apart = (c: Assembly, values: Value, low: Value, high: Value): Value =>
  c.op(
    "f32.gt",
    c.loadFloat(c.add(values, high)),
    c.op("f32.add", c.loadFloat(c.add(values, low)), () => c.writer.f32(CLOSE)),
  );

/**
 * -right (1 - right2 / right^2) - left (1 - left2 / left^2): scikit-learn's stand-in for the improvement, in its
 * order of operations, so that ties and near-ties are broken alike.
 */
const proxyOf = (
  c: Assembly,
  leftSum: Value,
  leftSquares: Value,
  rightSum: Value,
  rightSquares: Value,
): Value => {
  const gini = (sum: Value, squares: Value) =>
    c.op("f64.sub", c.real(1), c.op("f64.div", squares, c.op("f64.mul", sum, sum)));
  return c.op(
    "f64.sub",
    c.op("f64.mul", c.op("f64.neg", rightSum), gini(rightSum, rightSquares)),
    c.op("f64.mul", leftSum, gini(leftSum, leftSquares)),
  );
};

const square = (c: Assembly, x: Value): Value => c.op("f64.mul", x, x);

/**
 * (order, end, pairs, counts, minLeaf, size, values, found, total0, total1, best) -> best: the best threshold by
 * the class sums of each code, which are cleared. Where it is above `best`, its code, the next and the left pair
 * are at `found`. minLeaf 0 where counts are not kept.
 */
const writeScanPairs = (module: ModuleWriter): number =>
  module.function("scanPairs", [...integers(8), F64, F64, F64], [F64], (writer) => {
    const c = new Assembly(writer);
    const [order, end, pairs, counts, minLeaf, size, values, found, total0, total1, best] = c.parameters();
    const [code, above, pair, position] = [c.i32(), c.i32(), c.i32(), c.i32()];
    const [left0, left1, right0, right1, left, right, proxy] = Array.from({ length: 7 }, () => c.f64());
    c.set(code, c.load(order));
    c.increase(order, 4);
    c.while(c.below(order, end), () => {
      c.increase(pair, c.load(c.add(pairs, code)));
      c.store(c.add(pairs, code), 0);
      c.when(minLeaf, () => {
        c.increase(position, c.load(c.add(counts, code)));
        c.store(c.add(counts, code), 0);
      });
      c.set(above, c.load(order));
      c.when(
        c.and(
          apart(c, values, code, above),
          c.and(c.op("i32.ge_s", position, minLeaf), c.op("i32.ge_s", c.sub(size, position), minLeaf)),
        ),
        () => {
          c.set(left0, c.toReal(c.and(pair, 0xffff)));
          c.set(left1, c.toReal(c.shr(pair, 16)));
          c.set(right0, c.op("f64.sub", total0, left0));
          c.set(right1, c.op("f64.sub", total1, left1));
          c.set(left, c.op("f64.add", left0, left1));
          c.set(right, c.op("f64.add", right0, right1));
          const squares = (x: Value, y: Value) => c.op("f64.add", square(c, x), square(c, y));
          c.set(proxy, proxyOf(c, left, squares(left0, left1), right, squares(right0, right1)));
          c.when(c.op("f64.gt", proxy, best), () => {
            c.set(best, proxy);
            c.store(found, code);
            c.store(found, above, 4);
            c.store(found, pair, 8);
          });
        },
      );
      c.set(code, above);
      c.increase(order, 4);
    });
    c.store(c.add(pairs, code), 0);
    c.when(minLeaf, () => c.store(c.add(counts, code), 0));
    c.push(best);
  });

/** The same by sums of any classes: (order, end, sums, counts, minLeaf, size, values, found, total, left, 8 C, sum, best). */
const writeScanSums = (module: ModuleWriter): number =>
  module.function("scanSums", [...integers(11), F64, F64], [F64], (writer) => {
    const c = new Assembly(writer);
    const [order, end, sums, counts, minLeaf, size, values, found, total, left, stride, sum, best] =
      c.parameters();
    const [code, above, place, position, k] = Array.from({ length: 5 }, () => c.i32());
    const [weight, leftSum, rightSum, leftSquares, rightSquares, x, proxy] = Array.from({ length: 7 }, () =>
      c.f64(),
    );
    const eachClass = (body: () => void) => c.for(k, 0, stride, 8, body);
    /** Adds what a code has to the left side, and clears it. */
    const move = () => {
      c.set(place, c.add(sums, c.mul(c.shr(code, 2), stride)));
      eachClass(() => {
        c.set(weight, c.loadReal(c.add(place, k)));
        c.storeReal(c.add(place, k), c.real(0));
        c.storeReal(c.add(left, k), c.op("f64.add", c.loadReal(c.add(left, k)), weight));
        c.set(leftSum, c.op("f64.add", leftSum, weight));
      });
      c.when(minLeaf, () => {
        c.increase(position, c.load(c.add(counts, code)));
        c.store(c.add(counts, code), 0);
      });
    };
    eachClass(() => c.storeReal(c.add(left, k), c.real(0)));
    c.set(code, c.load(order));
    c.increase(order, 4);
    c.while(c.below(order, end), () => {
      move();
      c.set(above, c.load(order));
      c.when(
        c.and(
          apart(c, values, code, above),
          c.and(c.op("i32.ge_s", position, minLeaf), c.op("i32.ge_s", c.sub(size, position), minLeaf)),
        ),
        () => {
          c.set(rightSum, c.op("f64.sub", sum, leftSum));
          c.set(leftSquares, c.real(0));
          c.set(rightSquares, c.real(0));
          eachClass(() => {
            c.set(x, c.loadReal(c.add(left, k)));
            c.set(leftSquares, c.op("f64.add", leftSquares, square(c, x)));
            c.set(x, c.op("f64.sub", c.loadReal(c.add(total, k)), x));
            c.set(rightSquares, c.op("f64.add", rightSquares, square(c, x)));
          });
          c.set(proxy, proxyOf(c, leftSum, leftSquares, rightSum, rightSquares));
          c.when(c.op("f64.gt", proxy, best), () => {
            c.set(best, proxy);
            c.store(found, code);
            c.store(found, above, 4);
          });
        },
      );
      c.set(code, above);
      c.increase(order, 4);
    });
    move();
    c.push(best);
  });

/** (from, to, codes, best, spare) -> end: rows whose code is at most `best` first, in the same order. No branches. */
const writePartition = (module: ModuleWriter): number =>
  module.function("partition", integers(5), [I32], (writer) => {
    const c = new Assembly(writer);
    const [from, to, codes, best, spare] = c.parameters();
    const [read, write, waiting, row, stays] = Array.from({ length: 5 }, () => c.i32());
    c.set(write, from);
    c.set(waiting, spare);
    c.for(read, from, to, 4, () => {
      c.set(row, c.load(read));
      c.set(stays, c.shl(c.op("i32.le_u", c.load(c.add(codes, row)), best), 2));
      c.store(write, row);
      c.store(waiting, row);
      c.increase(write, stays);
      c.set(waiting, c.sub(c.add(waiting, 4), stays));
    });
    c.set(row, write);
    c.for(read, spare, waiting, 4, () => {
      c.store(row, c.load(read));
      c.increase(row, 4);
    });
    c.push(write);
  });

/** (sums, 8 C, total) -> 1 - sum_c sums_c^2 / total^2. */
const writeGini = (module: ModuleWriter): number =>
  module.function("gini", [I32, I32, F64], [F64], (writer) => {
    const c = new Assembly(writer);
    const [sums, stride, total] = c.parameters();
    const k = c.i32();
    const squares = c.f64();
    c.for(k, 0, stride, 8, () => {
      c.set(squares, c.op("f64.add", squares, square(c, c.loadReal(c.add(sums, k)))));
    });
    c.push(c.op("f64.sub", c.real(1), c.op("f64.div", squares, square(c, total))));
  });

type Parts = Readonly<
  Record<
    | "addPairs"
    | "addSums"
    | "addCounts"
    | "firstOfTwo"
    | "takeCodes"
    | "sortCodes"
    | "scanPairs"
    | "scanSums"
    | "partition"
    | "gini",
    number
  >
>;

const writeGrow = (module: ModuleWriter, parts: Parts): void => {
  module.function("grow", integers(3), [], (writer) => {
    const c = new Assembly(writer);
    const [job, thread, task] = c.parameters();
    const field = (name: Exclude<keyof typeof GROW, "bytes">) => {
      const local = c.i32();
      c.set(local, c.load(job, GROW[name]));
      return local;
    };
    const rows = field("rows");
    const features = field("features");
    const classes = field("classes");
    const maxFeatures = field("maxFeatures");
    const minLeaf = field("minLeaf");
    const paired = field("pairs");
    /** Leaves of one row need no counting. */
    const leafLimit = c.i32();
    c.set(leafLimit, c.mul(minLeaf, c.op("i32.ne", minLeaf, 1)));
    const distinct = field("distinct");
    const codes = field("codes");
    const labels = field("labels");

    /** Arrays one after the other. */
    const place = c.i32();
    const array = (bytes: Value): Local => {
      const at = c.i32();
      c.set(at, place);
      c.increase(place, bytes);
      return at;
    };
    const times = (bytes: number, count: Value) => c.mul(bytes, count);
    const capacity = c.i32();
    c.set(capacity, c.sub(c.shl(rows, 1), 1));
    const stride = c.i32();
    c.set(stride, c.shl(classes, 3));

    // The tree's result: treeLayout.
    const tree = c.i32();
    c.set(tree, c.add(c.load(job, GROW.trees), c.mul(task, c.load(job, GROW.treeBytes))));
    c.set(place, c.add(tree, 16));
    const threshold = array(times(8, capacity));
    const value = array(c.mul(capacity, stride));
    const importance = array(times(8, features));
    const feature = array(times(4, capacity));
    const right = array(times(4, capacity));

    // Working memory: scratchBytes. What is added up in a node is 0 between uses.
    c.set(place, c.add(c.load(job, GROW.scratch), c.mul(thread, c.load(job, GROW.scratchBytes))));
    const weight = array(times(8, rows)); // float64, by row
    const sums = array(c.mul(rows, stride)); // float64, by code and class
    const total = array(stride);
    const left = array(stride);
    const pair = array(times(4, rows)); // by row
    const pairs = array(times(4, rows)); // by code
    const counts = array(times(4, rows)); // by row at first, by code then
    const samples = array(times(4, rows));
    const spare = array(times(4, rows));
    c.increase(place, 4); // 0 for ever, and so never above a code: sortCodes stops there
    const order = array(times(4, rows));
    const bits = array(c.shl(c.shr(c.add(rows, 31), 5), 2));
    const drawn = array(times(4, features));
    const constants = array(times(4, features));
    const found = array(12);
    const stack = array(0);

    // sfc32 (Doty-Humphrey's small fast counting generator), seeded by the tree's key.
    const [stateA, stateB, stateC, counter] = Array.from({ length: 4 }, () => c.i32());
    const word = c.i32();
    const advance = () => {
      c.set(word, c.add(stateA, stateB, counter));
      c.increase(counter, 1);
      c.set(stateA, c.op("i32.xor", stateB, c.shr(stateB, 9)));
      c.set(stateB, c.add(stateC, c.shl(stateC, 3)));
      c.set(stateC, c.add(c.op("i32.or", c.shl(stateC, 21), c.shr(stateC, 11)), word));
    };
    /** floor(word n / 2^32), from 0 to n - 1. */
    const below = (n: Value): Value => {
      const wide = (x: Value) => c.op("i64.extend_i32_u", x);
      return c.op(
        "i32.wrap_i64",
        c.op("i64.shr_u", c.op("i64.mul", wide(word), wide(n)), () => writer.i64(32n)),
      );
    };
    const i = c.i32();
    const keys = c.i32();
    c.set(keys, c.add(c.load(job, GROW.keys), c.shl(task, 3)));
    c.set(stateA, c.load(keys));
    c.set(stateB, c.load(keys, 4));
    c.set(stateC, 0x46616972);
    c.set(counter, 1);
    c.for(i, 0, 12, 1, advance);

    // The bootstrap sample as whole-number weights; rows that were not drawn take no part.
    const bytes = c.i32();
    const at = c.i32();
    c.set(bytes, c.shl(rows, 2));
    c.when(
      c.load(job, GROW.bootstrap),
      () =>
        c.for(i, 0, rows, 1, () => {
          advance();
          c.set(at, c.add(counts, c.shl(below(rows), 2)));
          c.store(at, c.add(c.load(at), 1));
        }),
      () => c.for(i, 0, bytes, 4, () => c.store(c.add(counts, i), 1)),
    );
    const sampleEnd = c.i32();
    const rootPair = c.i32();
    const w = c.f64();
    c.set(sampleEnd, samples);
    c.for(i, 0, bytes, 4, () => {
      c.set(at, c.load(c.add(counts, i)));
      c.when(at, () => {
        c.store(c.add(counts, i), 0);
        c.store(sampleEnd, i);
        c.increase(sampleEnd, 4);
        const given = c.loadReal(c.add(c.load(job, GROW.weights), c.shl(i, 1)));
        c.set(w, c.op("f64.mul", c.toReal(at), given));
        c.when(
          paired,
          () => {
            c.set(at, c.shl(c.op("i32.trunc_f64_s", w), c.shl(c.load(c.add(labels, i)), 1)));
            c.store(c.add(pair, i), at);
            c.increase(rootPair, at);
          },
          () => c.storeReal(c.add(weight, c.shl(i, 1)), w),
        );
      });
    });
    c.for(i, 0, features, 1, () => {
      c.store(c.add(drawn, c.shl(i, 2)), i);
      c.storeReal(c.add(importance, c.shl(i, 3)), c.real(0));
    });

    // A node to do: first sample, end, depth, the parent whose right child it is (or -1), known constants, pair.
    const entryBytes = 4 * STACK_WORDS;
    const top = c.i32();
    const pushNode = (values: readonly Value[]) => {
      values.forEach((each, k) => {
        c.store(top, each, 4 * k);
      });
      c.increase(top, entryBytes);
    };
    const nodes = c.i32();
    c.set(top, stack);
    pushNode([samples, sampleEnd, 0, -1, 0, rootPair]);

    const [start, end, depth, parent, known, nodePair, size, node] = Array.from({ length: 8 }, () => c.i32());
    const [bestFeature, bestCode, bestNext, bestPair] = Array.from({ length: 4 }, () => c.i32());
    const [remaining, visited, foundConstants, drawnConstants, allConstants] = Array.from({ length: 5 }, () =>
      c.i32(),
    );
    const [pick, f, code, values, same, orderEnd, words, other, distincts] = Array.from({ length: 9 }, () =>
      c.i32(),
    );
    const constant = c.i32();
    const [sum, impurity, best, proxy, leftSum, decrease] = Array.from({ length: 6 }, () => c.f64());
    const k = c.i32();
    const eachClass = (body: () => void) => c.for(k, 0, stride, 8, body);
    const slot = (base: Value, index: Value) => c.add(base, c.shl(index, 2));
    /** The class sums of samples `from` to `to`. */
    const sumClasses = (sumsAt: Local, from: Value, to: Value) => {
      eachClass(() => c.storeReal(c.add(sumsAt, k), c.real(0)));
      c.for(i, from, to, 4, () => {
        c.set(other, c.load(i));
        c.set(at, c.add(sumsAt, c.load(c.add(labels, other))));
        c.storeReal(at, c.op("f64.add", c.loadReal(at), c.loadReal(c.add(weight, c.shl(other, 1)))));
      });
    };
    const unpack = (sumsAt: Local, from: Local) => {
      c.storeReal(sumsAt, c.toReal(c.and(from, 0xffff)));
      c.storeReal(sumsAt, c.toReal(c.shr(from, 16)), 8);
    };

    /** Constant in the node? Mostly two of its first rows differ. */
    const lookForConstant = () => {
      c.set(other, c.load(c.add(code, c.load(start))));
      c.set(same, c.add(start, 4));
      c.set(constant, 1);
      c.while(c.and(constant, c.below(same, end)), () => {
        c.set(constant, c.op("i32.eq", c.load(c.add(code, c.load(same))), other));
        c.increase(same, 4);
      });
    };

    /** Class sums by code, and the codes in order. */
    const addUp = () => {
      c.when(
        c.and(paired, c.and(c.op("i32.eq", distincts, 2), c.op("i32.eqz", leafLimit))),
        () => {
          // Many features are yes or no, and both occur in the node: one sum says it all.
          c.store(pairs, c.call(parts.firstOfTwo, start, end, code, pair));
          c.store(order, 0);
          c.store(order, 4, 4);
          c.set(orderEnd, c.add(order, 8));
        },
        () => {
          c.when(
            paired,
            () => c.call(parts.addPairs, start, end, code, pair, pairs, bits)(),
            () => c.call(parts.addSums, start, end, code, labels, weight, sums, bits, classes)(),
          );
          c.when(leafLimit, () => c.call(parts.addCounts, start, end, code, counts)());
          c.set(words, c.shr(c.add(distincts, 31), 5));
          c.when(
            c.and(c.less(size, FEW_ROWS), c.less(size, words)),
            () => c.set(orderEnd, c.call(parts.sortCodes, start, end, code, bits, order)),
            () => c.set(orderEnd, c.call(parts.takeCodes, bits, words, order)),
          );
        },
      );
    };

    const scan = () => {
      const codesInOrder = [order, orderEnd];
      const rest = [counts, leafLimit, size, values, found];
      const totals = [c.loadReal(total), c.loadReal(total, 8)];
      c.when(
        paired,
        () => c.set(proxy, c.call(parts.scanPairs, ...codesInOrder, pairs, ...rest, ...totals, best)),
        () =>
          c.set(
            proxy,
            c.call(parts.scanSums, ...codesInOrder, sums, ...rest, total, left, stride, sum, best),
          ),
      );
    };

    const swap = (a: Value, b: Value) => {
      c.set(other, c.load(a));
      c.store(a, c.load(b));
      c.store(b, other);
    };

    const searchSplit = () => {
      c.set(best, c.real(Number.NEGATIVE_INFINITY));
      c.set(remaining, features);
      c.set(visited, 0);
      c.set(foundConstants, 0);
      c.set(drawnConstants, 0);
      // Fisher-Yates over the features; known constants stand in front (as BestSplitter.node_split).
      const goesOn = c.and(
        c.less(allConstants, remaining),
        c.op(
          "i32.or",
          c.less(visited, maxFeatures),
          c.op("i32.eqz", c.less(c.add(foundConstants, drawnConstants), visited)),
        ),
      );
      c.while(goesOn, () => {
        c.increase(visited, 1);
        advance();
        c.set(pick, c.sub(c.sub(remaining, foundConstants), drawnConstants));
        c.set(pick, c.add(drawnConstants, below(pick)));
        c.when(
          c.less(pick, known),
          () => {
            swap(slot(drawn, drawnConstants), slot(drawn, pick));
            c.increase(drawnConstants, 1);
          },
          () => {
            c.increase(pick, foundConstants);
            c.set(f, c.load(slot(drawn, pick)));
            c.set(code, c.add(codes, c.mul(f, bytes)));
            c.set(values, c.add(distinct, c.mul(f, bytes)));
            c.set(distincts, c.load(slot(c.load(job, GROW.distincts), f)));
            lookForConstant();
            c.when(c.op("i32.eqz", constant), () => {
              addUp();
              c.set(constant, c.op("i32.eqz", apart(c, values, c.load(order), c.load(c.sub(orderEnd, 4)))));
              // Where all values are close no threshold is found, and the scan clears what was added up.
              scan();
            });
            c.when(
              constant,
              () => {
                swap(slot(drawn, pick), slot(drawn, allConstants));
                c.increase(foundConstants, 1);
                c.increase(allConstants, 1);
              },
              () => {
                c.set(remaining, c.sub(remaining, 1));
                swap(slot(drawn, pick), slot(drawn, remaining));
                c.when(c.op("f64.gt", proxy, best), () => {
                  c.set(best, proxy);
                  c.set(bestFeature, f);
                  c.set(bestCode, c.load(found));
                  c.set(bestNext, c.load(found, 4));
                  c.set(bestPair, c.load(found, 8));
                });
              },
            );
          },
        );
      });
      // The children know the constants that were found, in the order of finding.
      c.for(i, 0, known, 1, () => c.store(slot(drawn, i), c.load(slot(constants, i))));
      c.for(i, known, allConstants, 1, () => c.store(slot(constants, i), c.load(slot(drawn, i))));
    };

    const split = () => {
      c.set(values, c.add(distinct, c.mul(bestFeature, bytes)));
      const middle = c.f64();
      const half = (each: Value) =>
        c.op("f64.mul", c.op("f64.promote_f32", c.loadFloat(c.add(values, each))), c.real(0.5));
      // Exact in float64, and between the two: float32 values and their halves have bits to spare.
      c.set(middle, c.op("f64.add", half(bestCode), half(bestNext)));
      c.store(slot(feature, node), bestFeature);
      c.storeReal(c.add(threshold, c.shl(node, 3)), middle);
      const cut = c.i32();
      c.set(
        cut,
        c.call(parts.partition, start, end, c.add(codes, c.mul(bestFeature, bytes)), bestCode, spare),
      );
      c.when(
        paired,
        () => unpack(left, bestPair),
        () => sumClasses(left, start, cut),
      );
      c.set(leftSum, c.real(0));
      eachClass(() => c.set(leftSum, c.op("f64.add", leftSum, c.loadReal(c.add(left, k)))));
      c.set(
        decrease,
        c.op(
          "f64.sub",
          c.op("f64.mul", sum, impurity),
          c.op("f64.mul", leftSum, c.call(parts.gini, left, stride, leftSum)),
        ),
      );
      eachClass(() =>
        c.storeReal(c.add(left, k), c.op("f64.sub", c.loadReal(c.add(total, k)), c.loadReal(c.add(left, k)))),
      );
      const rightSum = c.op("f64.sub", sum, leftSum);
      c.set(at, c.add(importance, c.shl(bestFeature, 3)));
      c.storeReal(
        at,
        c.op(
          "f64.add",
          c.loadReal(at),
          c.op("f64.sub", decrease, c.op("f64.mul", rightSum, c.call(parts.gini, left, stride, rightSum))),
        ),
      );
      c.increase(depth, 1);
      pushNode([cut, end, depth, node, allConstants, c.sub(nodePair, bestPair)]);
      pushNode([start, cut, depth, -1, allConstants, bestPair]);
    };

    c.while(c.below(stack, top), () => {
      c.set(top, c.sub(top, entryBytes));
      [start, end, depth, parent, known, nodePair].forEach((local, word) => {
        c.set(local, c.load(top, 4 * word));
      });
      c.set(size, c.shr(c.sub(end, start), 2));
      c.set(node, nodes);
      c.increase(nodes, 1);
      c.when(c.less(-1, parent), () => c.store(slot(right, parent), node));
      c.when(
        paired,
        () => unpack(total, nodePair),
        () => sumClasses(total, start, end),
      );
      c.set(sum, c.real(0));
      c.set(at, c.add(value, c.mul(node, stride)));
      eachClass(() => {
        c.set(w, c.loadReal(c.add(total, k)));
        c.set(sum, c.op("f64.add", sum, w));
        c.storeReal(c.add(at, k), w);
      });
      c.set(impurity, c.call(parts.gini, total, stride, sum));
      c.set(bestFeature, -1);
      c.set(bestPair, 0);
      c.set(allConstants, known);
      const atLeast = (a: Value, b: Value) => c.op("i32.ge_s", a, b);
      const splittable = [
        c.less(depth, c.load(job, GROW.maxDepth)),
        atLeast(size, c.load(job, GROW.minSplit)),
        atLeast(size, c.shl(minLeaf, 1)),
        c.op("f64.gt", impurity, c.real(EPSILON)),
      ].reduce((all, each) => c.and(all, each));
      c.when(splittable, searchSplit);
      c.when(
        c.less(bestFeature, 0),
        () => {
          c.store(slot(feature, node), -1);
          c.store(slot(right, node), -1);
          c.storeReal(c.add(threshold, c.shl(node, 3)), c.real(0));
        },
        split,
      );
    });

    c.store(tree, nodes);
    c.set(decrease, c.real(0));
    const eachFeature = (body: (each: Value) => void) =>
      c.for(i, 0, c.shl(features, 3), 8, () => body(c.add(importance, i)));
    eachFeature((each) => c.set(decrease, c.op("f64.add", decrease, c.loadReal(each))));
    c.when(c.op("f64.gt", decrease, c.real(0)), () =>
      eachFeature((each) => c.storeReal(each, c.op("f64.div", c.loadReal(each), decrease))),
    );
  });
};
