/**
 * The two sums over all features of all rows that a loss and its gradient need, in float64:
 *
 *     distances[k, n] = |x_n - v_k|   and   sums[k, j] = sum_n c[k, n] x[n, j].
 *
 * In WebAssembly where it has SIMD, and otherwise in plain loops that add up in the same order: the bits are the same.
 */
import { detectFeatures } from "../../compute/features.js";
import { compileModule } from "../../compute/wasm/compile-module.js";
import { type FunctionWriter, I32, ModuleWriter, V128 } from "../../compute/wasm/encoder.js";
import { advance, VECTOR } from "../../compute/wasm/kernel.js";

/** Rows are taken this many at a time, and the last ones filled up with zeros. */
const BLOCK = 8;
/** Sums of this many prototypes are made side by side: as many as there are registers for. */
const SIDE_BY_SIDE = 8;
const NUMBER = 8;
const PAGE = 65_536;
/** What signed 32-bit addresses reach. */
const MOST_BYTES = 2 ** 31 - PAGE;

export interface RowSums {
  /** Entries between one prototype's numbers and the next one's in `distances` and `c`: rows, filled up. */
  readonly stride: number;
  /** V: [prototypes, columns]; write it before `findDistances`. */
  readonly v: Float64Array;
  /** [prototypes, stride] */
  readonly distances: Float64Array;
  /** [prototypes, stride]; write the rows' entries before `findSums`, and leave the others 0. */
  readonly c: Float64Array;
  /** [prototypes, columns, 2]: what rows with even and odd numbers add up to. */
  readonly sums: Float64Array;
  findDistances(): void;
  findSums(): void;
}

/** Where each array starts, in bytes; x is transposed, [columns, stride], so that rows lie side by side in a vector. */
const layOut = (rows: number, columns: number, prototypes: number) => {
  const stride = Math.ceil(rows / BLOCK) * BLOCK;
  const v = NUMBER * columns * stride;
  const distances = v + NUMBER * Math.ceil((prototypes * columns) / 2) * 2;
  const c = distances + NUMBER * prototypes * stride;
  const sums = c + NUMBER * prototypes * stride;
  return { stride, x: 0, v, distances, c, sums, bytes: sums + 2 * NUMBER * prototypes * columns };
};
type Layout = ReturnType<typeof layOut>;

const writeDistances = (w: FunctionWriter, at: Layout, columns: number, prototypes: number): void => {
  const [k, row, column, xAt, vAt, first, to] = Array.from({ length: 7 }, () => w.local(I32));
  const [target, difference] = [w.local(V128), w.local(V128)];
  const sums = Array.from({ length: BLOCK / 2 }, () => w.local(V128));
  const rowBytes = NUMBER * at.stride;
  w.i32(at.v).set(first).i32(at.distances).set(to);
  const perBlock = () => {
    for (const sum of sums) w.splat32(0).set(sum);
    w.get(row).set(xAt).get(first).set(vAt);
    const perColumn = () => {
      w.get(vAt).memory("v128.load64_splat").set(target);
      sums.forEach((sum, i) => {
        w.get(xAt)
          .memory("v128.load", VECTOR * i)
          .get(target)
          .simd("f64x2.sub")
          .tee(difference);
        w.get(difference).simd("f64x2.mul").get(sum).simd("f64x2.add").set(sum);
      });
      advance(w, xAt, rowBytes);
      advance(w, vAt, NUMBER);
    };
    w.loop(
      column,
      () => w.i32(0),
      () => w.i32(columns),
      1,
      perColumn,
    );
    sums.forEach((sum, i) => {
      w.get(to)
        .get(sum)
        .simd("f64x2.sqrt")
        .memory("v128.store", VECTOR * i);
    });
    advance(w, to, NUMBER * BLOCK);
  };
  const perPrototype = () => {
    w.loop(
      row,
      () => w.i32(at.x),
      () => w.i32(at.x + rowBytes),
      NUMBER * BLOCK,
      perBlock,
    );
    advance(w, first, NUMBER * columns);
  };
  w.loop(
    k,
    () => w.i32(0),
    () => w.i32(prototypes),
    1,
    perPrototype,
  );
};

const writeSums = (w: FunctionWriter, at: Layout, columns: number, prototypes: number): void => {
  const [column, row, xAt, to] = Array.from({ length: 4 }, () => w.local(I32));
  const values = w.local(V128);
  const locals = Array.from({ length: SIDE_BY_SIDE }, () => w.local(V128));
  const rowBytes = NUMBER * at.stride;
  for (let from = 0; from < prototypes; from += SIDE_BY_SIDE) {
    const sums = locals.slice(0, prototypes - from);
    w.i32(at.x).set(xAt).i32(at.sums).set(to);
    const perRows = () => {
      w.get(xAt).memory("v128.load").set(values);
      sums.forEach((sum, i) => {
        w.get(row).memory("v128.load", at.c + (from + i) * rowBytes);
        w.get(values).simd("f64x2.mul").get(sum).simd("f64x2.add").set(sum);
      });
      advance(w, xAt, VECTOR);
    };
    const perColumn = () => {
      for (const sum of sums) w.splat32(0).set(sum);
      w.loop(
        row,
        () => w.i32(0),
        () => w.i32(rowBytes),
        VECTOR,
        perRows,
      );
      sums.forEach((sum, i) => {
        w.get(to)
          .get(sum)
          .memory("v128.store", VECTOR * (from + i) * columns);
      });
      advance(w, to, VECTOR);
    };
    w.loop(
      column,
      () => w.i32(0),
      () => w.i32(columns),
      1,
      perColumn,
    );
  }
};

/** The sums for rows x [rows, columns]; `simd` is for tests, and follows the platform unless given. */
export const rowSums = (
  x: Float64Array,
  columns: number,
  prototypes: number,
  { simd = detectFeatures().simd }: { readonly simd?: boolean | undefined } = {},
): RowSums => {
  const rows = x.length / columns;
  const layout = layOut(rows, columns, prototypes);
  const { stride, bytes } = layout;
  const inMemory = simd && bytes <= MOST_BYTES;
  const memory = inMemory ? new WebAssembly.Memory({ initial: Math.ceil(bytes / PAGE) }) : undefined;
  const view = (offset: number, length: number): Float64Array =>
    memory === undefined ? new Float64Array(length) : new Float64Array(memory.buffer, offset, length);
  const transposed = view(layout.x, columns * stride);
  for (let n = 0; n < rows; n++)
    for (let j = 0; j < columns; j++) transposed[j * stride + n] = x[n * columns + j];
  const arrays = {
    stride,
    v: view(layout.v, prototypes * columns),
    distances: view(layout.distances, prototypes * stride),
    c: view(layout.c, prototypes * stride),
    sums: view(layout.sums, 2 * prototypes * columns),
  };
  if (memory === undefined) return { ...arrays, ...plainSums(transposed, arrays, columns, prototypes) };
  const module = new ModuleWriter();
  module.function("distances", [], [], (w) => writeDistances(w, layout, columns, prototypes));
  module.function("sums", [], [], (w) => writeSums(w, layout, columns, prototypes));
  const compiled = compileModule(module.bytes({ shared: false }));
  const { exports } = new WebAssembly.Instance(compiled, { env: { memory } });
  const { distances, sums } = exports as Record<"distances" | "sums", () => void>;
  return { ...arrays, findDistances: distances, findSums: sums };
};

const plainSums = (
  x: Float64Array,
  { stride, v, distances, c, sums }: Omit<RowSums, "findDistances" | "findSums">,
  columns: number,
  prototypes: number,
): Pick<RowSums, "findDistances" | "findSums"> => ({
  findDistances() {
    distances.fill(0);
    for (let k = 0; k < prototypes; k++) {
      for (let j = 0; j < columns; j++) {
        const target = v[k * columns + j];
        for (let n = 0; n < stride; n++) distances[k * stride + n] += (x[j * stride + n] - target) ** 2;
      }
    }
    for (let i = 0; i < distances.length; i++) distances[i] = Math.sqrt(distances[i]);
  },
  findSums() {
    for (let k = 0; k < prototypes; k++) {
      for (let j = 0; j < columns; j++) {
        let even = 0;
        let odd = 0;
        for (let n = 0; n < stride; n += 2) {
          even += c[k * stride + n] * x[j * stride + n];
          odd += c[k * stride + n + 1] * x[j * stride + n + 1];
        }
        sums[2 * (k * columns + j)] = even;
        sums[2 * (k * columns + j) + 1] = odd;
      }
    }
  },
});
