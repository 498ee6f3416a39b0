/** NumPy's array files, as far as features come in them: float32 or float64, row-major, two dimensions. */
import { readFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";
import { InputError } from "../core/errors.js";

export const npyTexts = {
  notRead: (file: string, reason: string) =>
    `${file} could not be read as a NumPy array (${reason}): give a two-dimensional array of little-endian floats in C order.`,
};

export interface NumberArray {
  readonly rows: number;
  readonly columns: number;
  /** Row-major [rows, columns]. */
  readonly values: Float32Array | Float64Array;
}

export const readNpy = async (path: string): Promise<NumberArray> => {
  const fail = (reason: string, cause?: unknown) =>
    new InputError("npy", npyTexts.notRead(path, reason), { cause });
  let bytes: Buffer;
  try {
    const packed = await readFile(path);
    bytes = packed[0] === 0x1f && packed[1] === 0x8b ? gunzipSync(packed) : packed;
  } catch (error) {
    throw fail(error instanceof Error ? error.message : String(error), error);
  }
  if (bytes.toString("latin1", 0, 6) !== "\x93NUMPY") throw fail("it is none");
  const wide = bytes[6] >= 2;
  const start = (wide ? 12 : 10) + (wide ? bytes.readUInt32LE(8) : bytes.readUInt16LE(8));
  const header = bytes.toString("latin1", wide ? 12 : 10, start);
  const type = /'descr':\s*'([^']*)'/.exec(header)?.[1];
  const shape = /'shape':\s*\((\d+),\s*(\d+)\)/.exec(header);
  if (type !== "<f4" && type !== "<f8") throw fail(`its type is ${type}`);
  if (!/'fortran_order':\s*False/.test(header)) throw fail("it is column-major");
  if (shape === null) throw fail("it has not two dimensions");
  const [rows, columns] = [Number(shape[1]), Number(shape[2])];
  const width = type === "<f4" ? 4 : 8;
  if (bytes.length - start < rows * columns * width) throw fail("it is cut short");
  // A copy, because the numbers may begin at any byte.
  const data = new Uint8Array(bytes.subarray(start, start + rows * columns * width)).buffer;
  return { rows, columns, values: width === 4 ? new Float32Array(data) : new Float64Array(data) };
};
