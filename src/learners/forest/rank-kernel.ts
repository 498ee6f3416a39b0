/** The kernel that ranks the values of a column: its distinct values in order, and which of them each row has. */
import { Assembly, type Value } from "../../compute/wasm/assembly.js";
import { I32, type ModuleWriter } from "../../compute/wasm/encoder.js";
import { GROW } from "./grow-layout.js";

/** What the phases share. */
const openFrame = (c: Assembly) => {
  const [job, thread, task] = c.parameters();
  const [values, distinct, codes, rows, bytes] = [c.i32(), c.i32(), c.i32(), c.i32(), c.i32()];
  const [from, to, width, left, middle, right, end, write, i] = Array.from({ length: 9 }, () => c.i32());
  const [bits, count, last] = [c.i32(), c.i32(), c.i32()];
  const [a, b] = [c.i64(), c.i64()];
  const scratch = c.add(c.load(job, GROW.scratch), c.mul(thread, c.load(job, GROW.scratchBytes)));
  c.set(rows, c.load(job, GROW.rows));
  const column = (field: number) => c.add(c.load(job, field), c.shl(c.mul(task, rows), 2));
  c.set(values, column(GROW.values));
  c.set(distinct, column(GROW.distinct));
  c.set(codes, column(GROW.codes));
  c.set(bytes, c.shl(rows, 3));
  c.set(from, scratch);
  c.set(to, c.add(from, bytes));
  /** The value at an offset; x + 0 makes -0 the same as 0. */
  const valueAt = (offset: Value): Value =>
    c.op("f32.add", c.loadFloat(c.add(values, offset)), () => c.writer.f32(0));
  return {
    ...{ c, distinct, codes, rows, bytes, from, to, width, left, middle, right, end, write, i },
    ...{ bits, count, last, a, b, scratch, valueAt },
    /** bits = the key of the value at this offset. Negative numbers count downwards. */
    setKey(offset: Value): void {
      c.set(bits, c.op("i32.reinterpret_f32", valueAt(offset)));
      c.set(bits, c.op("i32.xor", bits, c.and(c.op("i32.shr_s", bits, 31), 0x7fffffff)));
    },
    storeDistincts(value: Value): void {
      c.store(c.add(c.load(job, GROW.distincts), c.shl(task, 2)), value);
    },
  };
};

type Frame = ReturnType<typeof openFrame>;

/** Columns of one or two values, as those of categories, have nothing to be sorted: they end here. */
const rankTwoValues = ({ c, setKey, valueAt, i, bits, count, codes, distinct, ...frame }: Frame): void => {
  const [lowest, highest, other] = [frame.left, frame.right, frame.last];
  const columnBytes = c.shl(frame.rows, 2);
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
      c.storeFloat(c.add(distinct, count), valueAt(i));
    });
    c.set(count, c.add(1, c.op("i32.ne", lowest, highest)));
    frame.storeDistincts(count);
    c.writer.op("return");
  });
  c.set(other, 0);
};

/** Merges the runs [left, middle) and [middle, end) of `from` into `to`. */
const mergeRuns = ({ c, from, to, left, middle, right, end, write, a, b }: Frame): void => {
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
};

/** Bottom-up merge sort of key and row as one i64; the keys order as the values do. The result is in `from`. */
const sortKeys = (frame: Frame): void => {
  const { c, rows, bytes, from, to, width, left, middle, right, end, write, i, bits } = frame;
  c.for(i, 0, rows, 1, () => {
    frame.setKey(c.shl(i, 2));
    const wide = c.op("i64.shl", c.op("i64.extend_i32_s", bits), () => c.writer.i64(32n));
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
      mergeRuns(frame);
      c.set(left, end);
    });
    c.set(left, from);
    c.set(from, to);
    c.set(to, left);
    c.set(width, c.shl(width, 1));
  });
};

/** Distinct values and codes of the sorted keys. */
const storeCodes = ({ c, i, bytes, from, left, bits, last, count, ...frame }: Frame): void => {
  c.for(i, 0, bytes, 8, () => {
    c.set(left, c.shl(c.load(c.add(from, i)), 2));
    c.set(bits, c.load(c.add(from, i), 4));
    c.when(c.op("i32.or", c.op("i32.eqz", i), c.op("i32.ne", bits, last)), () => {
      c.storeFloat(c.add(frame.distinct, count), frame.valueAt(left));
      c.increase(count, 4);
      c.set(last, bits);
    });
    c.store(c.add(frame.codes, left), c.sub(count, 4));
  });
  frame.storeDistincts(c.shr(count, 2));
  // The working memory is 0 between uses.
  c.for(i, 0, c.shl(bytes, 1), 4, () => c.store(c.add(frame.scratch, i), 0));
};

/** Adds `rank`, of which task f ranks column f. */
export const writeRank = (module: ModuleWriter): void => {
  module.function("rank", [I32, I32, I32], [], (writer) => {
    const frame = openFrame(new Assembly(writer));
    rankTwoValues(frame);
    sortKeys(frame);
    storeCodes(frame);
  });
};
