import { InputError } from "./errors.js";

/**
 * A row-major array: entry (i, j, ...) of shape [a, b, ...] lies at data[(i b + j) ...]. A plain value; whoever holds
 * `data` shares its memory.
 */
export interface FloatArray {
  readonly data: Float32Array | Float64Array;
  readonly shape: readonly number[];
}

export type FloatType = "float32" | "float64";

export const shapeText = (shape: readonly number[]): string =>
  `A shape got [${shape.join(", ")}], but needs whole numbers from 0; check the sizes.`;
export const lengthText = (length: number, shape: readonly number[]): string =>
  `An array of shape [${shape.join(", ")}] has ${sizeOf(shape)} entries, but the data has ${length}; change the shape or the data.`;
export const raggedText = (row: number, length: number, expected: number): string =>
  `Row ${row} has ${length} entries, but row 0 has ${expected}; give every row the same length.`;
export const indexText = (indices: readonly number[], shape: readonly number[]): string =>
  `The index [${indices.join(", ")}] is not inside an array of shape [${shape.join(", ")}]; give one whole number from 0 and below the size for each dimension.`;

const sizeOf = (shape: readonly number[]): number => shape.reduce((size, n) => size * n, 1);

const requireShape = (shape: readonly number[]): void => {
  if (!shape.every((n) => Number.isSafeInteger(n) && n >= 0)) throw new InputError("shape", shapeText(shape));
};

/** `data` seen as an array of this shape, not copied. The empty shape is one number. */
export const floatArray = (data: Float32Array | Float64Array, shape: readonly number[]): FloatArray => {
  requireShape(shape);
  if (data.length !== sizeOf(shape)) throw new InputError("shape", lengthText(data.length, shape));
  return { data, shape };
};

/** A new array of this shape, all 0. */
export const zeros = (shape: readonly number[], type: FloatType): FloatArray => {
  requireShape(shape);
  const size = sizeOf(shape);
  return { data: type === "float32" ? new Float32Array(size) : new Float64Array(size), shape };
};

/** A new float64 array of shape [rows.length, rows[0].length]; [0, 0] for no rows. */
export const fromRows = (rows: readonly (readonly number[])[]): FloatArray => {
  const width = rows.length === 0 ? 0 : rows[0].length;
  const data = new Float64Array(rows.length * width);
  rows.forEach((values, i) => {
    if (values.length !== width) throw new InputError("shape", raggedText(i, values.length, width));
    data.set(values, i * width);
  });
  return { data, shape: [rows.length, width] };
};

/** The same memory in another shape with as many entries. */
export const reshape = (array: FloatArray, shape: readonly number[]): FloatArray =>
  floatArray(array.data, shape);

/** Part i of the first dimension, shape [b, c, ...] of [a, b, c, ...], sharing memory with `array`. */
export const row = ({ data, shape }: FloatArray, i: number): FloatArray => {
  if (shape.length === 0 || !Number.isInteger(i) || i < 0 || i >= shape[0]) {
    throw new InputError("index", indexText([i], shape));
  }
  const rest = shape.slice(1);
  const size = sizeOf(rest);
  return { data: data.subarray(i * size, (i + 1) * size), shape: rest };
};

/** The entry at these indices, one for each dimension. */
export const at = ({ data, shape }: FloatArray, ...indices: readonly number[]): number => {
  let place = 0;
  let inside = indices.length === shape.length;
  for (let d = 0; d < indices.length && inside; d++) {
    inside = Number.isInteger(indices[d]) && indices[d] >= 0 && indices[d] < shape[d];
    place = place * shape[d] + indices[d];
  }
  if (!inside) throw new InputError("index", indexText(indices, shape));
  return data[place];
};
