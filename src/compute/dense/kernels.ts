/**
 * The kernels of a network, written for its widths: strides and depths are constants of the code.
 *
 * Four kernels do everything. `pack` copies the weights into panels; `forward` and `backward` take a block of rows
 * through all layers; `gradients` takes a block of one layer's weights through all rows. A task's place in the
 * results depends on the widths and the rows alone, so the number of threads changes no bit.
 */
import { type FunctionWriter, I32, ModuleWriter, V128 } from "../wasm/encoder.js";
import { accumulate, advance, compute, keep, keepVector, VECTOR } from "../wasm/kernel.js";
import { vectorMath } from "../wasm/math.js";
import { ConstantPool, type VectorGraph, type VectorNode } from "../wasm/vector.js";
import { type DenseLayout, LANES, type Layer, PANEL, tailColumns } from "./layout.js";
import { type Tile, tileSums, writeStore, writeTile } from "./tile.js";

/** What hidden layers do to their sums; the last layer does nothing. */
export type Activation = "relu" | "tanh";

/** Rows that a task of `forward` or `backward` takes: their activations stay in the cache from layer to layer. */
export const BLOCK_ROWS = 16;
/** Rows of a tile: with two vectors in each, its 8 sums and 6 operands are what fits into 15 registers (x86). */
const TILE_ROWS = 4;
/** Outputs and inputs of the block of weights that a task of `gradients` takes. */
const BLOCK_OUTPUTS = 32;
const BLOCK_INPUTS = 64;
/** Rows that `gradients` copies at a time, next to each other. */
const CHUNK = 128;
/** Bytes between panels of four outputs in that copy. */
const CHUNK_PANEL = CHUNK * VECTOR;
/** Bytes that each thread needs for it: BLOCK_OUTPUTS of the gradient, then a panel of activations. */
export const SCRATCH_BYTES = (BLOCK_OUTPUTS + PANEL) * CHUNK * 4;

export const KERNEL_NAMES = ["pack", "forward", "backward", "gradients"] as const;
export type KernelName = (typeof KERNEL_NAMES)[number];

/** The words of a job description; after them the addresses of the activations, of their gradients, constants. */
export const WORDS = {
  first: 0,
  end: 1,
  parameters: 2,
  gradient: 3,
  packed: 4,
  scratch: 5,
  arrays: 6,
} as const;

export interface DenseKernels {
  readonly module: ModuleWriter;
  /** What follows the addresses in the job description. */
  readonly constants: readonly number[];
  /** Tasks of `gradients`. */
  readonly gradientTasks: number;
}

/** Blocks of weights of a layer: whole ones and a rest of outputs, times blocks of inputs. */
const blocksOf = ({ outputs, inputs }: Layer) => ({
  down: Math.ceil(outputs / BLOCK_OUTPUTS),
  across: Math.ceil(inputs / BLOCK_INPUTS),
});

type Derive = (g: VectorGraph, gradient: VectorNode, activation: VectorNode) => VectorNode;
type Apply = (g: VectorGraph, x: VectorNode) => VectorNode;

/** sigma(x), and gradient * sigma'(x) from a = sigma(x). The derivative of relu at 0 is 0. A NaN stays one. */
const ACTIVATIONS: Readonly<Record<Activation, { readonly apply: Apply; readonly derive: Derive }>> = {
  relu: {
    apply: (g, x) => g.apply("f32x4.pmax", x, g.float(0)),
    derive: (g, gradient, a) => g.apply("v128.and", gradient, g.apply("f32x4.gt", a, g.float(0))),
  },
  tanh: {
    apply: (g, x) => vectorMath.tanh(g, x),
    derive: (g, gradient, a) => g.mul(gradient, g.nmadd(a, a, g.float(1))),
  },
};

/** What the kernels of one network share. */
interface Network {
  readonly layers: readonly Layer[];
  readonly fma: boolean;
  readonly pool: ConstantPool;
  /** Words with the addresses of the activations [rows, widths[l]] and of the gradients in them (in the sums before sigma, for hidden layers). */
  activations(l: number): number;
  gradients(l: number): number;
}

/** Pushes an array of the job description plus a constant number of floats. */
const pushAddress = (writer: FunctionWriter, word: number, floats = 0): void => {
  writer.get(0).memory("i32.load", 4 * word);
  if (floats > 0) writer.i32(4 * floats).op("i32.add");
};

/** The rows of this task: a local with the first, one with their number. */
const rowsOfTask = (writer: FunctionWriter): { first: number; count: number } => {
  const first = keep(writer, () => {
    writer.get(2).i32(BLOCK_ROWS).op("i32.mul");
    writer
      .get(0)
      .memory("i32.load", 4 * WORDS.first)
      .op("i32.add");
  });
  const left = keep(writer, () => {
    writer
      .get(0)
      .memory("i32.load", 4 * WORDS.end)
      .get(first)
      .op("i32.sub");
  });
  const count = keep(writer, () => {
    writer.i32(BLOCK_ROWS).get(left).get(left).i32(BLOCK_ROWS).op("i32.gt_u").op("select");
  });
  return { first, count };
};

/** A local with the address of row `first` of an array. */
const rowAddress = (writer: FunctionWriter, word: number, first: number, width: number): number =>
  keep(writer, () => {
    pushAddress(writer, word);
    writer
      .get(first)
      .i32(4 * width)
      .op("i32.mul")
      .op("i32.add");
  });

/** a_{l+1} = sigma(a_l W^T + b), linear in the last layer. */
const writeForward = (writer: FunctionWriter, network: Network, apply: Apply): void => {
  const { layers, fma, pool, activations } = network;
  const { first, count } = rowsOfTask(writer);
  layers.forEach((layer, l) => {
    const biases = keep(writer, () => pushAddress(writer, WORDS.parameters, layer.biases));
    writeProduct(writer, {
      fma,
      depth: layer.inputs,
      columns: layer.outputs,
      count,
      a: rowAddress(writer, activations(l), first, layer.inputs),
      b: keep(writer, () => pushAddress(writer, WORDS.packed, layer.forward)),
      c: rowAddress(writer, activations(l + 1), first, layer.outputs),
      start: (sums, column) => {
        sums[0].forEach((sum, v) => {
          writer
            .get(biases)
            .get(column)
            .op("i32.add")
            .memory("v128.load", VECTOR * v)
            .set(sum);
          for (const row of sums.slice(1)) writer.get(sum).set(row[v]);
        });
      },
      end: (sum) => (l === layers.length - 1 ? sum : compute(writer, fma, pool, [sum], apply)),
    });
  });
};

/** With d_l the gradient in the sums of layer l: d_{l-1} = (d_l W) * sigma'; the input has no sigma. */
const writeBackward = (writer: FunctionWriter, network: Network, derive: Derive): void => {
  const { layers, fma, pool, activations, gradients } = network;
  const { first, count } = rowsOfTask(writer);
  for (let l = layers.length - 1; l >= 0; l--) {
    const { inputs, outputs, backward } = layers[l];
    const c = rowAddress(writer, gradients(l), first, inputs);
    const apart = keep(writer, () => {
      pushAddress(writer, activations(l));
      pushAddress(writer, gradients(l));
      writer.op("i32.sub");
    });
    writeProduct(writer, {
      fma,
      depth: outputs,
      columns: inputs,
      count,
      a: rowAddress(writer, gradients(l + 1), first, outputs),
      b: keep(writer, () => pushAddress(writer, WORDS.packed, backward)),
      c,
      start: (sums) => {
        for (const sum of sums.flat()) writer.splat32(0).set(sum);
      },
      end: (sum, pointer, offset) => {
        if (l === 0) return sum;
        const a = keepVector(writer, () =>
          writer.get(pointer).get(apart).op("i32.add").memory("v128.load", offset),
        );
        return compute(writer, fma, pool, [sum, a], derive);
      },
    });
  }
};

/** Adds `gradients` and what it calls: one function for whole blocks of a layer, one for the rest. Returns its tasks. */
const writeGradients = (module: ModuleWriter, { layers, fma, activations, gradients }: Network): number => {
  let tasks = 0;
  const blocks = layers.map((layer, l) => {
    const { down, across } = blocksOf(layer);
    const from = tasks;
    tasks += down * across;
    const whole = Math.floor(layer.outputs / BLOCK_OUTPUTS);
    const write = (name: string, outputs: number) =>
      module.function(`${name}${l}`, [I32, I32, I32], [], (writer) => {
        const block = { fma, layer, outputs, activations: activations(l), sums: gradients(l + 1) };
        writeGradientBlock(writer, block);
      });
    return {
      from,
      edge: from + whole * across,
      to: tasks,
      whole: whole > 0 ? write("block", BLOCK_OUTPUTS) : undefined,
      rest: down > whole ? write("rest", layer.outputs - whole * BLOCK_OUTPUTS) : undefined,
    };
  });
  module.function("gradients", [I32, I32, I32], [], (writer) => {
    const between = (from: number, to: number, base: number, index: number | undefined): void => {
      if (index === undefined) return;
      // Unsigned: below `from` the difference is huge.
      writer
        .get(2)
        .i32(from)
        .op("i32.sub")
        .i32(to - from)
        .op("i32.lt_u");
      writer.when(() => writer.get(0).get(1).get(2).i32(base).op("i32.sub").call(index));
    };
    for (const { from, edge, to, whole, rest } of blocks) {
      between(from, edge, from, whole);
      between(edge, to, from, rest);
    }
  });
  return tasks;
};

export const writeDense = (
  { layers }: DenseLayout,
  { activation, fma }: { activation: Activation; fma: boolean },
): DenseKernels => {
  const module = new ModuleWriter();
  const depth = layers.length;
  const pool = new ConstantPool((writer) => writer.get(0), 4 * (WORDS.arrays + 2 * (depth + 1)));
  const { apply, derive } = ACTIVATIONS[activation];
  const network: Network = {
    layers,
    fma,
    pool,
    activations: (l) => WORDS.arrays + l,
    gradients: (l) => WORDS.arrays + depth + 1 + l,
  };
  module.function("pack", [I32, I32, I32], [], (writer) => {
    for (const layer of layers) {
      const weights = keep(writer, () => pushAddress(writer, WORDS.parameters, layer.weights));
      writeTransposed(writer, layer, weights, () => pushAddress(writer, WORDS.packed, layer.forward));
      writePanels(writer, layer, weights, () => pushAddress(writer, WORDS.packed, layer.backward));
    }
  });
  module.function("forward", [I32, I32, I32], [], (writer) => writeForward(writer, network, apply));
  module.function("backward", [I32, I32, I32], [], (writer) => writeBackward(writer, network, derive));
  const gradientTasks = writeGradients(module, network);
  return { module, constants: pool.bits, gradientTasks };
};

/** Runs `body` a constant number of times. */
const repeat = (writer: FunctionWriter, count: number, body: () => void): void => {
  const index = writer.local(I32);
  writer.loop(
    index,
    () => writer.i32(0),
    () => writer.i32(count),
    1,
    body,
  );
};

/** W [outputs, inputs] into panels of W^T: eight outputs of one input lie next to each other. */
const writeTransposed = (
  writer: FunctionWriter,
  { inputs, outputs }: Layer,
  weights: number,
  pushPacked: () => void,
): void => {
  const from = keep(writer, () => writer.get(weights));
  const panel = keep(writer, pushPacked);
  const to = writer.local(I32);
  const column = (columns: number, j: number): void => {
    writer
      .get(panel)
      .i32(4 * j)
      .op("i32.add")
      .set(to);
    const copy = (count: number): void => {
      for (let k = 0; k < count; k++) {
        writer
          .get(to)
          .get(from)
          .memory("f32.load", 4 * k)
          .memory("f32.store", 4 * columns * k);
      }
      advance(writer, from, 4 * count);
      advance(writer, to, 4 * columns * count);
    };
    if (inputs >= LANES) repeat(writer, Math.floor(inputs / LANES), () => copy(LANES));
    if (inputs % LANES > 0) copy(inputs % LANES);
  };
  repeat(writer, Math.floor(outputs / PANEL), () => {
    for (let j = 0; j < PANEL; j++) column(PANEL, j);
    advance(writer, panel, 4 * PANEL * inputs);
  });
  for (let j = 0; j < outputs % PANEL; j++) column(tailColumns(outputs), j);
};

/** W [outputs, inputs] into panels: eight inputs of one output lie next to each other. */
const writePanels = (
  writer: FunctionWriter,
  { inputs, outputs }: Layer,
  weights: number,
  pushPacked: () => void,
): void => {
  const from = keep(writer, () => writer.get(weights));
  const to = keep(writer, pushPacked);
  const row = writer.local(I32);
  const panel = (columns: number): void => {
    writer.get(from).set(row);
    writeRowCopies(writer, row, 4 * inputs, to, columns / LANES, () => writer.i32(outputs));
    advance(writer, from, 4 * columns);
  };
  repeat(writer, Math.floor(inputs / PANEL), () => panel(PANEL));
  // Past a row's end this reads the next row, and past the last row the biases: lanes that nobody stores.
  if (inputs % PANEL > 0) panel(tailColumns(inputs));
};

/** Copies `count` rows of a matrix, a few vectors of each, next to each other; both pointers move. */
const writeRowCopies = (
  writer: FunctionWriter,
  from: number,
  stride: number,
  to: number,
  vectors: number,
  pushCount: () => void,
): void => {
  const index = writer.local(I32);
  writer.loop(
    index,
    () => writer.i32(0),
    pushCount,
    1,
    () => {
      for (let v = 0; v < vectors; v++) {
        writer
          .get(to)
          .get(from)
          .memory("v128.load", VECTOR * v)
          .memory("v128.store", VECTOR * v);
      }
      advance(writer, from, stride);
      advance(writer, to, VECTOR * vectors);
    },
  );
};

/** C = start + A B, then `end`: A [count, depth] and C [count, columns] row by row, B [depth, columns] in panels. */
interface Product {
  readonly fma: boolean;
  readonly depth: number;
  readonly columns: number;
  /** Locals: the number of rows, and the addresses of the arrays. */
  readonly count: number;
  readonly a: number;
  readonly b: number;
  readonly c: number;
  /** Sets the sums of a tile whose first column is `column` bytes (a local) into a row. */
  start(sums: readonly (readonly number[])[], column: number): void;
  /** The local with what is stored for a sum, at the address in local `pointer` plus `offset`. */
  end(sum: number, pointer: number, offset: number): number;
}

const writeProduct = (writer: FunctionWriter, product: Product): void => {
  const { fma, depth, columns, count, a, b, c, start, end } = product;
  const column = keep(writer, () => writer.i32(0));
  const panel = keep(writer, () => writer.get(b));
  const [pointerA, pointerB, pointerC, row] = Array.from({ length: 4 }, () => writer.local(I32));
  const whole = keep(writer, () => writer.get(count).i32(-TILE_ROWS).op("i32.and"));
  const rowBytes = 4 * columns;
  const tiles = (rows: number, width: number, from: () => void, to: () => void): void => {
    const vectors = Math.ceil(width / LANES);
    const sums = tileSums(writer, rows, vectors);
    writer.loop(row, from, to, rows, () => {
      start(sums, column);
      writer.get(panel).set(pointerB);
      writer
        .get(a)
        .get(row)
        .i32(4 * depth)
        .op("i32.mul")
        .op("i32.add")
        .set(pointerA);
      const tile: Tile = {
        rows,
        vectors,
        fma,
        a: pointerA,
        aRow: (r) => 4 * depth * r,
        aStep: 4,
        b: pointerB,
        depth: () => writer.i32(depth),
      };
      writeTile(writer, tile, sums);
      sums.forEach((each, r) => {
        const stored = each.map((sum, v) => end(sum, pointerC, rowBytes * r + VECTOR * v));
        writeStore(writer, pointerC, rowBytes * r, stored, width);
      });
      advance(writer, pointerC, rowBytes * rows);
    });
  };
  const panelOf = (width: number): void => {
    writer.get(c).get(column).op("i32.add").set(pointerC);
    tiles(
      TILE_ROWS,
      width,
      () => writer.i32(0),
      () => writer.get(whole),
    );
    tiles(
      1,
      width,
      () => writer.get(whole),
      () => writer.get(count),
    );
  };
  if (columns >= PANEL) {
    repeat(writer, Math.floor(columns / PANEL), () => {
      panelOf(PANEL);
      advance(writer, column, 4 * PANEL);
      advance(writer, panel, 4 * PANEL * depth);
    });
  }
  if (columns % PANEL > 0) panelOf(columns % PANEL);
};

/** A block of `outputs` (all of a whole block, or the rest) times BLOCK_INPUTS of one layer's weights. */
interface GradientBlock {
  readonly fma: boolean;
  readonly layer: Layer;
  readonly outputs: number;
  /** Words with the addresses of x [rows, inputs] and of d [rows, outputs]. */
  readonly activations: number;
  readonly sums: number;
}

/**
 * dL/dW = d^T x and dL/db = sum over rows of d, for one block; parameters: job description, thread, block.
 *
 * Rows are taken a chunk at a time and copied, because a column of a matrix whose rows are a power of two apart
 * falls into few sets of the cache. A chunk's sum is added to those before it, which wait in the gradient: the
 * rounding errors of n rows are those of CHUNK + n / CHUNK additions, not of n.
 */
const writeGradientBlock = (writer: FunctionWriter, block: GradientBlock): void => {
  const frame = openBlock(writer, block);
  const { inputs, biases } = block.layer;
  const { n, count, column, first, end, input, output, gradient, across, totals } = frame;
  for (const total of totals) writer.splat32(0).set(total);
  writer.loop(
    n,
    () => writer.get(first),
    () => writer.get(end),
    CHUNK,
    () => {
      writer.get(end).get(n).op("i32.sub").set(count);
      writer.get(count).i32(CHUNK).op("i32.gt_u");
      writer.when(() => writer.i32(CHUNK).set(count));
      copyGradients(frame);
      const whole = inputs - (inputs % PANEL);
      const last = keep(writer, () => writer.get(input).i32(BLOCK_INPUTS).op("i32.add"));
      writer.get(last).i32(whole).op("i32.gt_u");
      writer.when(() => writer.i32(whole).set(last));
      writer.loop(
        column,
        () => writer.get(input),
        () => writer.get(last),
        PANEL,
        () => addPanel(frame, PANEL),
      );
      if (inputs % PANEL > 0) {
        // Only the last block of inputs has the rest; its loop ended there.
        writer
          .get(input)
          .i32((across - 1) * BLOCK_INPUTS)
          .op("i32.eq");
        writer.when(() => {
          writer.i32(whole).set(column);
          addPanel(frame, inputs % PANEL);
        });
      }
    },
  );
  writer.get(input).op("i32.eqz");
  writer.when(() => {
    const at = keep(writer, () => {
      writer
        .get(gradient)
        .i32(4 * biases)
        .op("i32.add");
      pushFloats(writer, () => writer.get(output));
    });
    writeStore(writer, at, 0, totals, block.outputs);
  });
};

/** Adds four times what is pushed to the address on the stack. */
const pushFloats = (writer: FunctionWriter, push: () => void): void => {
  push();
  writer.i32(2).op("i32.shl").op("i32.add");
};

/** The block's place, the task's rows and the sums, in locals. */
const openBlock = (writer: FunctionWriter, block: GradientBlock) => {
  const word = (index: number) => keep(writer, () => writer.get(0).memory("i32.load", 4 * index));
  const across = Math.ceil(block.layer.inputs / BLOCK_INPUTS);
  const output = keep(writer, () =>
    writer.get(2).i32(across).op("i32.div_u").i32(BLOCK_OUTPUTS).op("i32.mul"),
  );
  const input = keep(writer, () => writer.get(2).i32(across).op("i32.rem_u").i32(BLOCK_INPUTS).op("i32.mul"));
  const first = word(WORDS.first);
  const end = word(WORDS.end);
  const copiedD = keep(writer, () => {
    writer.get(0).memory("i32.load", 4 * WORDS.scratch);
    writer.get(1).i32(SCRATCH_BYTES).op("i32.mul").op("i32.add");
  });
  const copiedX = keep(writer, () =>
    writer
      .get(copiedD)
      .i32(4 * BLOCK_OUTPUTS * CHUNK)
      .op("i32.add"),
  );
  const d = word(block.sums);
  const x = word(block.activations);
  const gradient = word(WORDS.gradient);
  const panels = Math.ceil(block.outputs / LANES);
  const [totals, chunkTotals] = [0, 1].map(() => Array.from({ length: panels }, () => writer.local(V128)));
  const [n, count, row, from, to, column] = Array.from({ length: 6 }, () => writer.local(I32));
  return {
    ...{ writer, block, across, output, input, first, end, copiedD, copiedX, d, x, gradient },
    ...{ totals, chunkTotals, n, count, row, from, to, column },
  };
};

type BlockFrame = ReturnType<typeof openBlock>;

/** d of this chunk into panels of four outputs, [panel][row][4], and the biases' sums on the way. */
const copyGradients = ({ writer, block, d, n, output, from, to, row, count, ...frame }: BlockFrame): void => {
  const { totals, chunkTotals } = frame;
  const stride = block.layer.outputs;
  writer.get(d);
  pushFloats(writer, () => writer.get(n).i32(stride).op("i32.mul").get(output).op("i32.add"));
  writer.set(from);
  writer.get(frame.copiedD).set(to);
  for (const sum of chunkTotals) writer.splat32(0).set(sum);
  const loaded = writer.local(V128);
  writer.loop(
    row,
    () => writer.i32(0),
    () => writer.get(count),
    1,
    () => {
      chunkTotals.forEach((sum, p) => {
        writer
          .get(from)
          .memory("v128.load", VECTOR * p)
          .set(loaded);
        writer
          .get(to)
          .get(loaded)
          .memory("v128.store", CHUNK_PANEL * p);
        accumulate(writer, sum, () => writer.get(loaded));
      });
      advance(writer, from, 4 * stride);
      advance(writer, to, VECTOR);
    },
  );
  totals.forEach((total, p) => {
    accumulate(writer, total, () => writer.get(chunkTotals[p]));
  });
};

/** The weights of a panel of inputs, `width` of them from `column` on. */
const addPanel = (frame: BlockFrame, width: number): void => {
  const { writer, block, n, count, column, from, to, first, output, copiedD, copiedX } = frame;
  const { inputs, weights } = block.layer;
  const vectors = Math.ceil(width / LANES);
  writer.get(frame.x);
  pushFloats(writer, () => writer.get(n).i32(inputs).op("i32.mul").get(column).op("i32.add"));
  writer.set(from);
  writer.get(copiedX).set(to);
  writeRowCopies(writer, from, 4 * inputs, to, vectors, () => writer.get(count));
  const c = keep(writer, () => {
    writer
      .get(frame.gradient)
      .i32(4 * weights)
      .op("i32.add");
    pushFloats(writer, () => writer.get(output).i32(inputs).op("i32.mul").get(column).op("i32.add"));
  });
  const a = keep(writer, () => writer.get(copiedD));
  const [pointerA, pointerB] = [writer.local(I32), writer.local(I32)];
  const tile = (rows: number): void => {
    const sums = tileSums(writer, rows, vectors);
    for (const sum of sums.flat()) writer.splat32(0).set(sum);
    writer.get(a).set(pointerA).get(copiedX).set(pointerB);
    const spec: Tile = {
      rows,
      vectors,
      fma: block.fma,
      a: pointerA,
      aRow: (r) => CHUNK_PANEL * Math.floor(r / LANES) + 4 * (r % LANES),
      aStep: VECTOR,
      b: pointerB,
      depth: () => writer.get(count),
    };
    writeTile(writer, spec, sums);
    // What earlier chunks left; past a row's end lanes that are not stored.
    writer.get(n).get(first).op("i32.ne");
    writer.when(() => {
      sums.forEach((each, r) => {
        each.forEach((sum, v) => {
          accumulate(writer, sum, () => writer.get(c).memory("v128.load", 4 * inputs * r + VECTOR * v));
        });
      });
    });
    sums.forEach((each, r) => {
      writeStore(writer, c, 4 * inputs * r, each, width);
    });
    advance(writer, c, 4 * inputs * rows);
    advance(writer, a, CHUNK_PANEL * Math.ceil(rows / LANES));
  };
  // Enough sums at a time to keep the multipliers busy: eight vectors.
  const rows = vectors === 1 ? 2 * LANES : LANES;
  if (block.outputs >= rows) repeat(writer, Math.floor(block.outputs / rows), () => tile(rows));
  if (block.outputs % rows > 0) tile(block.outputs % rows);
};
