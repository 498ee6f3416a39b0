/** The kernel that grows one tree: its sample, then node by node the search for a split and the split itself. */
import { Assembly, type Local, type Value } from "../../compute/wasm/assembly.js";
import { I32, type ModuleWriter } from "../../compute/wasm/encoder.js";
import { GROW, STACK_WORDS } from "./grow-layout.js";
import { apart, type GrowParts } from "./grow-parts.js";

/** Nodes of no more impurity are leaves. */
const EPSILON = 2.220446049250313e-16;
/** Nodes of fewer rows than this put their codes in order one by one, where that looks at fewer words. */
const FEW_ROWS = 64;
const ENTRY_BYTES = 4 * STACK_WORDS;

/** Fields of the job's description, in locals. */
const loadFields = (c: Assembly) => {
  const [job] = c.parameters();
  const field = (name: Exclude<keyof typeof GROW, "bytes">) => c.keep(c.load(job, GROW[name]));
  const sizes = { rows: field("rows"), features: field("features"), classes: field("classes") };
  const [maxFeatures, minLeaf, paired] = [field("maxFeatures"), field("minLeaf"), field("pairs")];
  /** Leaves of one row need no counting. */
  const leafLimit = c.keep(c.mul(minLeaf, c.op("i32.ne", minLeaf, 1)));
  const columns = { distinct: field("distinct"), codes: field("codes"), labels: field("labels") };
  return { ...sizes, maxFeatures, minLeaf, paired, leafLimit, ...columns };
};

type Fields = ReturnType<typeof loadFields>;

/** Addresses of the tree's result and of the thread's working memory: arrays one after the other. */
const layOutArrays = (c: Assembly, { rows, features, classes }: Fields) => {
  const [job, thread, task] = c.parameters();
  const place = c.i32();
  const array = (bytes: Value): Local => {
    const at = c.keep(place);
    c.increase(place, bytes);
    return at;
  };
  const times = (bytes: number, count: Value) => c.mul(bytes, count);
  const capacity = c.keep(c.sub(c.shl(rows, 1), 1));
  const stride = c.keep(c.shl(classes, 3));
  // treeLayout
  const tree = c.keep(c.add(c.load(job, GROW.trees), c.mul(task, c.load(job, GROW.treeBytes))));
  c.set(place, c.add(tree, 16));
  const result = {
    threshold: array(times(8, capacity)),
    value: array(c.mul(capacity, stride)),
    importance: array(times(8, features)),
    feature: array(times(4, capacity)),
    right: array(times(4, capacity)),
  };
  // scratchBytes; what is added up in a node is 0 between uses.
  c.set(place, c.add(c.load(job, GROW.scratch), c.mul(thread, c.load(job, GROW.scratchBytes))));
  const scratch = {
    weight: array(times(8, rows)), // float64, by row
    sums: array(c.mul(rows, stride)), // float64, by code and class
    total: array(stride),
    left: array(stride),
    pair: array(times(4, rows)), // by row
    pairs: array(times(4, rows)), // by code
    counts: array(times(4, rows)), // by row at first, by code then
    samples: array(times(4, rows)),
    spare: array(times(4, rows)),
  };
  c.increase(place, 4); // 0 for ever, and so never above a code: sortCodes stops there
  const lists = {
    order: array(times(4, rows)),
    bits: array(c.shl(c.shr(c.add(rows, 31), 5), 2)),
    drawn: array(times(4, features)),
    constants: array(times(4, features)),
    found: array(12),
    stack: array(0),
  };
  return { stride, tree, ...result, ...scratch, ...lists };
};

/** sfc32 (Doty-Humphrey's small fast counting generator), seeded by the tree's key. */
const randomWords = (c: Assembly) => {
  const [job, , task] = c.parameters();
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
      c.op("i64.shr_u", c.op("i64.mul", wide(word), wide(n)), () => c.writer.i64(32n)),
    );
  };
  const seed = (i: Local, keys: Local) => {
    c.set(keys, c.add(c.load(job, GROW.keys), c.shl(task, 3)));
    c.set(stateA, c.load(keys));
    c.set(stateB, c.load(keys, 4));
    c.set(stateC, 0x46616972);
    c.set(counter, 1);
    c.for(i, 0, 12, 1, advance);
  };
  return { advance, below, seed };
};

/** Everything that the phases share; locals are taken in this order and the generator is seeded. */
const openFrame = (c: Assembly) => {
  const fields = loadFields(c);
  const arrays = layOutArrays(c, fields);
  const random = randomWords(c);
  const integers = (count: number) => Array.from({ length: count }, () => c.i32());
  const [i, keys] = integers(2);
  random.seed(i, keys);
  const [bytes, at, sampleEnd, rootPair] = integers(4);
  const w = c.f64();
  const [top, nodes] = integers(2);
  const [start, end, depth, parent, known, nodePair, size, node] = integers(8);
  const [bestFeature, bestCode, bestNext, bestPair] = integers(4);
  const [remaining, visited, foundConstants, drawnConstants, allConstants] = integers(5);
  const [pick, f, code, values, same, orderEnd, words, other, distincts] = integers(9);
  const constant = c.i32();
  const [sum, impurity, best, proxy, leftSum, decrease] = Array.from({ length: 6 }, () => c.f64());
  const k = c.i32();
  return {
    c,
    ...fields,
    ...arrays,
    ...random,
    ...{ i, bytes, at, sampleEnd, rootPair, w, top, nodes },
    ...{ start, end, depth, parent, known, nodePair, size, node },
    ...{ bestFeature, bestCode, bestNext, bestPair },
    ...{ remaining, visited, foundConstants, drawnConstants, allConstants },
    ...{ pick, f, code, values, same, orderEnd, words, other, distincts, constant },
    ...{ sum, impurity, best, proxy, leftSum, decrease, k },
    job: c.parameters()[0],
    eachClass: (body: () => void) => c.for(k, 0, arrays.stride, 8, body),
    slot: (base: Value, index: Value) => c.add(base, c.shl(index, 2)),
  };
};

type Frame = ReturnType<typeof openFrame>;

/** The bootstrap sample as whole-number weights; rows that were not drawn take no part. */
const drawSample = (frame: Frame): void => {
  const { c, job, i, at, bytes, rows, counts, samples, sampleEnd, rootPair, w } = frame;
  c.set(bytes, c.shl(rows, 2));
  c.when(
    c.load(job, GROW.bootstrap),
    () =>
      c.for(i, 0, c.load(job, GROW.draws), 1, () => {
        frame.advance();
        c.set(at, c.add(counts, c.shl(frame.below(rows), 2)));
        c.store(at, c.add(c.load(at), 1));
      }),
    () => c.for(i, 0, bytes, 4, () => c.store(c.add(counts, i), 1)),
  );
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
        frame.paired,
        () => {
          c.set(at, c.shl(c.op("i32.trunc_f64_s", w), c.shl(c.load(c.add(frame.labels, i)), 1)));
          c.store(c.add(frame.pair, i), at);
          c.increase(rootPair, at);
        },
        () => c.storeReal(c.add(frame.weight, c.shl(i, 1)), w),
      );
    });
  });
  c.for(i, 0, frame.features, 1, () => {
    c.store(c.add(frame.drawn, c.shl(i, 2)), i);
    c.storeReal(c.add(frame.importance, c.shl(i, 3)), c.real(0));
  });
};

/** A node to do: first sample, end, depth, the parent whose right child it is (or -1), known constants, pair. */
const pushNode = ({ c, top }: Frame, values: readonly Value[]): void => {
  values.forEach((each, k) => {
    c.store(top, each, 4 * k);
  });
  c.increase(top, ENTRY_BYTES);
};

/** The class sums of samples `from` to `to`. */
const sumClasses = (frame: Frame, sumsAt: Local, from: Value, to: Value): void => {
  const { c, i, k, at, other } = frame;
  frame.eachClass(() => c.storeReal(c.add(sumsAt, k), c.real(0)));
  c.for(i, from, to, 4, () => {
    c.set(other, c.load(i));
    c.set(at, c.add(sumsAt, c.load(c.add(frame.labels, other))));
    c.storeReal(at, c.op("f64.add", c.loadReal(at), c.loadReal(c.add(frame.weight, c.shl(other, 1)))));
  });
};

/** The class sums of a pair. */
const unpack = (c: Assembly, sumsAt: Local, from: Local): void => {
  c.storeReal(sumsAt, c.toReal(c.and(from, 0xffff)));
  c.storeReal(sumsAt, c.toReal(c.shr(from, 16)), 8);
};

/** Constant in the node? Mostly two of its first rows differ. */
const lookForConstant = ({ c, start, end, code, same, other, constant }: Frame): void => {
  c.set(other, c.load(c.add(code, c.load(start))));
  c.set(same, c.add(start, 4));
  c.set(constant, 1);
  c.while(c.and(constant, c.below(same, end)), () => {
    c.set(constant, c.op("i32.eq", c.load(c.add(code, c.load(same))), other));
    c.increase(same, 4);
  });
};

/** Class sums by code, and the codes in order. */
const addUp = (frame: Frame, parts: GrowParts): void => {
  const { c, paired, leafLimit, start, end, code, pair, pairs, bits, order, orderEnd } = frame;
  const { size, words, distincts } = frame;
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
      const { labels, weight, sums, classes, counts } = frame;
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

/** The best threshold of a feature, if it is better than the best so far. */
const scan = (frame: Frame, parts: GrowParts): void => {
  const { c, order, orderEnd, counts, leafLimit, size, values, found, total, proxy, best } = frame;
  const codesInOrder = [order, orderEnd];
  const rest = [counts, leafLimit, size, values, found];
  const totals = [c.loadReal(total), c.loadReal(total, 8)];
  const { pairs, sums, left, stride, sum } = frame;
  c.when(
    frame.paired,
    () => c.set(proxy, c.call(parts.scanPairs, ...codesInOrder, pairs, ...rest, ...totals, best)),
    () =>
      c.set(proxy, c.call(parts.scanSums, ...codesInOrder, sums, ...rest, total, left, stride, sum, best)),
  );
};

const swap = ({ c, other }: Frame, a: Value, b: Value): void => {
  c.set(other, c.load(a));
  c.store(a, c.load(b));
  c.store(b, other);
};

/** Looks at the feature at `pick`: it is found constant, or its best threshold may be the best. */
const tryFeature = (frame: Frame, parts: GrowParts): void => {
  const { c, slot, pick, f, drawn, bytes, values, constant, remaining, foundConstants, allConstants } = frame;
  c.increase(pick, foundConstants);
  c.set(f, c.load(slot(drawn, pick)));
  c.set(frame.code, c.add(frame.codes, c.mul(f, bytes)));
  c.set(values, c.add(frame.distinct, c.mul(f, bytes)));
  c.set(frame.distincts, c.load(slot(c.load(frame.job, GROW.distincts), f)));
  lookForConstant(frame);
  c.when(c.op("i32.eqz", constant), () => {
    addUp(frame, parts);
    const [least, most] = [c.load(frame.order), c.load(c.sub(frame.orderEnd, 4))];
    c.set(constant, c.op("i32.eqz", apart(c, values, least, most)));
    // Where all values are close no threshold is found, and the scan clears what was added up.
    scan(frame, parts);
  });
  c.when(
    constant,
    () => {
      swap(frame, slot(drawn, pick), slot(drawn, allConstants));
      c.increase(foundConstants, 1);
      c.increase(allConstants, 1);
    },
    () => {
      c.set(remaining, c.sub(remaining, 1));
      swap(frame, slot(drawn, pick), slot(drawn, remaining));
      c.when(c.op("f64.gt", frame.proxy, frame.best), () => {
        c.set(frame.best, frame.proxy);
        c.set(frame.bestFeature, f);
        c.set(frame.bestCode, c.load(frame.found));
        c.set(frame.bestNext, c.load(frame.found, 4));
        c.set(frame.bestPair, c.load(frame.found, 8));
      });
    },
  );
};

/** Fisher-Yates over the features; known constants stand in front (as BestSplitter.node_split). */
const searchSplit = (frame: Frame, parts: GrowParts): void => {
  const { c, slot, i, drawn, constants, known, pick } = frame;
  const { remaining, visited, foundConstants, drawnConstants, allConstants } = frame;
  c.set(frame.best, c.real(Number.NEGATIVE_INFINITY));
  c.set(remaining, frame.features);
  c.set(visited, 0);
  c.set(foundConstants, 0);
  c.set(drawnConstants, 0);
  const goesOn = c.and(
    c.less(allConstants, remaining),
    c.op(
      "i32.or",
      c.less(visited, frame.maxFeatures),
      c.op("i32.eqz", c.less(c.add(foundConstants, drawnConstants), visited)),
    ),
  );
  c.while(goesOn, () => {
    c.increase(visited, 1);
    frame.advance();
    c.set(pick, c.sub(c.sub(remaining, foundConstants), drawnConstants));
    c.set(pick, c.add(drawnConstants, frame.below(pick)));
    c.when(
      c.less(pick, known),
      () => {
        swap(frame, slot(drawn, drawnConstants), slot(drawn, pick));
        c.increase(drawnConstants, 1);
      },
      () => tryFeature(frame, parts),
    );
  });
  // The children know the constants that were found, in the order of finding.
  c.for(i, 0, known, 1, () => c.store(slot(drawn, i), c.load(slot(constants, i))));
  c.for(i, known, allConstants, 1, () => c.store(slot(constants, i), c.load(slot(drawn, i))));
};

/** What the split takes from the impurity, by feature: sum gini - sum_left gini_left - sum_right gini_right. */
const addImportance = (frame: Frame, parts: GrowParts): void => {
  const { c, k, at, left, total, stride, sum, impurity, leftSum, decrease } = frame;
  c.set(leftSum, c.real(0));
  frame.eachClass(() => c.set(leftSum, c.op("f64.add", leftSum, c.loadReal(c.add(left, k)))));
  const own = c.op("f64.mul", sum, impurity);
  const ofLeft = c.op("f64.mul", leftSum, c.call(parts.gini, left, stride, leftSum));
  c.set(decrease, c.op("f64.sub", own, ofLeft));
  frame.eachClass(() =>
    c.storeReal(c.add(left, k), c.op("f64.sub", c.loadReal(c.add(total, k)), c.loadReal(c.add(left, k)))),
  );
  const rightSum = c.op("f64.sub", sum, leftSum);
  const ofRight = c.op("f64.mul", rightSum, c.call(parts.gini, left, stride, rightSum));
  c.set(at, c.add(frame.importance, c.shl(frame.bestFeature, 3)));
  c.storeReal(at, c.op("f64.add", c.loadReal(at), c.op("f64.sub", decrease, ofRight)));
};

/** Splits the node at the best threshold and puts its children on the stack. */
const split = (frame: Frame, parts: GrowParts): void => {
  const { c, node, start, end, depth, values, bytes, left, nodePair } = frame;
  const { bestFeature, bestCode, bestNext, bestPair, allConstants } = frame;
  c.set(values, c.add(frame.distinct, c.mul(bestFeature, bytes)));
  const middle = c.f64();
  const half = (each: Value) =>
    c.op("f64.mul", c.op("f64.promote_f32", c.loadFloat(c.add(values, each))), c.real(0.5));
  // Exact in float64, and between the two: float32 values and their halves have bits to spare.
  c.set(middle, c.op("f64.add", half(bestCode), half(bestNext)));
  c.store(frame.slot(frame.feature, node), bestFeature);
  c.storeReal(c.add(frame.threshold, c.shl(node, 3)), middle);
  const column = c.add(frame.codes, c.mul(bestFeature, bytes));
  const cut = c.keep(c.call(parts.partition, start, end, column, bestCode, frame.spare));
  c.when(
    frame.paired,
    () => unpack(c, left, bestPair),
    () => sumClasses(frame, left, start, cut),
  );
  addImportance(frame, parts);
  c.increase(depth, 1);
  pushNode(frame, [cut, end, depth, node, allConstants, c.sub(nodePair, bestPair)]);
  pushNode(frame, [start, cut, depth, -1, allConstants, bestPair]);
};

/** Takes a node from the stack: its class sums and impurity. */
const openNode = (frame: Frame, parts: GrowParts): void => {
  const { c, k, at, w, top, nodes, node, start, end, depth, parent, known, nodePair } = frame;
  const { size, total, stride, sum } = frame;
  c.set(top, c.sub(top, ENTRY_BYTES));
  [start, end, depth, parent, known, nodePair].forEach((local, word) => {
    c.set(local, c.load(top, 4 * word));
  });
  c.set(size, c.shr(c.sub(end, start), 2));
  c.set(node, nodes);
  c.increase(nodes, 1);
  c.when(c.less(-1, parent), () => c.store(frame.slot(frame.right, parent), node));
  c.when(
    frame.paired,
    () => unpack(c, total, nodePair),
    () => sumClasses(frame, total, start, end),
  );
  c.set(sum, c.real(0));
  c.set(at, c.add(frame.value, c.mul(node, stride)));
  frame.eachClass(() => {
    c.set(w, c.loadReal(c.add(total, k)));
    c.set(sum, c.op("f64.add", sum, w));
    c.storeReal(c.add(at, k), w);
  });
  c.set(frame.impurity, c.call(parts.gini, total, stride, sum));
  c.set(frame.bestFeature, -1);
  c.set(frame.bestPair, 0);
  c.set(frame.allConstants, known);
};

/** Takes a node, and splits it or makes it a leaf. */
const growNode = (frame: Frame, parts: GrowParts): void => {
  const { c, job, size, node, slot } = frame;
  openNode(frame, parts);
  const atLeast = (a: Value, b: Value) => c.op("i32.ge_s", a, b);
  const splittable = [
    c.less(frame.depth, c.load(job, GROW.maxDepth)),
    atLeast(size, c.load(job, GROW.minSplit)),
    atLeast(size, c.shl(frame.minLeaf, 1)),
    c.op("f64.gt", frame.impurity, c.real(EPSILON)),
  ].reduce((all, each) => c.and(all, each));
  c.when(splittable, () => searchSplit(frame, parts));
  c.when(
    c.less(frame.bestFeature, 0),
    () => {
      c.store(slot(frame.feature, node), -1);
      c.store(slot(frame.right, node), -1);
      c.storeReal(c.add(frame.threshold, c.shl(node, 3)), c.real(0));
    },
    () => split(frame, parts),
  );
};

/** The importances sum to 1, unless all are 0. */
const normaliseImportances = ({ c, i, features, importance, decrease }: Frame): void => {
  c.set(decrease, c.real(0));
  const eachFeature = (body: (each: Value) => void) =>
    c.for(i, 0, c.shl(features, 3), 8, () => body(c.add(importance, i)));
  eachFeature((each) => c.set(decrease, c.op("f64.add", decrease, c.loadReal(each))));
  c.when(c.op("f64.gt", decrease, c.real(0)), () =>
    eachFeature((each) => c.storeReal(each, c.op("f64.div", c.loadReal(each), decrease))),
  );
};

/** Adds `grow`, of which task t grows tree t. */
export const writeGrow = (module: ModuleWriter, parts: GrowParts): void => {
  module.function("grow", [I32, I32, I32], [], (writer) => {
    const c = new Assembly(writer);
    const frame = openFrame(c);
    drawSample(frame);
    c.set(frame.top, frame.stack);
    pushNode(frame, [frame.samples, frame.sampleEnd, 0, -1, 0, frame.rootPair]);
    c.while(c.below(frame.stack, frame.top), () => growNode(frame, parts));
    c.store(frame.tree, frame.nodes);
    normaliseImportances(frame);
  });
};
