/** What growing a tree is put together from: functions of a module, each over the rows of a node. */
import { Assembly, type Local, type Value } from "../../compute/wasm/assembly.js";
import { F64, I32, type ModuleWriter, type ValueType } from "../../compute/wasm/encoder.js";

/** Values closer than this are the same to scikit-learn (FEATURE_THRESHOLD, float32). */
const CLOSE = 1e-7;

const integers = (count: number): ValueType[] => Array.from({ length: count }, () => I32);

/** Adds the parts to a module; each is called by its index. */
export const writeGrowParts = (module: ModuleWriter) => ({
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
});

export type GrowParts = ReturnType<typeof writeGrowParts>;

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
export const apart = (c: Assembly, values: Value, low: Value, high: Value): Value =>
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
