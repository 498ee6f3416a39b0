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

/** Numbers do not shrink to less than this share, and no header is longer than this. */
const MOST_TIMES = 200;
const LONGEST_HEADER = 2 ** 20;

export const readNpy = async (path: string): Promise<NumberArray> => {
  const fail = (reason: string, cause?: unknown) =>
    new InputError("npy", npyTexts.notRead(path, reason), { cause });
  const bytes = await readBytes(path, fail);
  if (bytes.toString("latin1", 0, 6) !== "\x93NUMPY") throw fail("it is none");
  const wide = bytes[6] >= 2;
  const headerAt = wide ? 12 : 10;
  if (bytes.length < headerAt) throw fail("it is cut short");
  const headerLength = wide ? bytes.readUInt32LE(8) : bytes.readUInt16LE(8);
  const start = headerAt + headerLength;
  if (headerLength > LONGEST_HEADER || start > bytes.length) throw fail("it is cut short");
  const header = bytes.toString("latin1", headerAt, start);
  const type = /'descr':\s*'([^']{1,20})'/.exec(header)?.[1];
  const shape = /'shape':\s*\((\d{1,15}),\s*(\d{1,15})\)/.exec(header);
  if (type === undefined) throw fail("its header is damaged");
  if (type !== "<f4" && type !== "<f8") throw fail(`its type is ${type.replace(/[^\w<>|=]/g, "?")}`);
  if (!/'fortran_order':\s*False/.test(header)) throw fail("it is column-major");
  if (shape === null) throw fail("it has not two dimensions");
  const [rows, columns] = [Number(shape[1]), Number(shape[2])];
  const width = type === "<f4" ? 4 : 8;
  if (bytes.length - start < rows * columns * width) throw fail("it is cut short");
  // A copy, because the numbers may begin at any byte.
  const data = new Uint8Array(bytes.subarray(start, start + rows * columns * width)).buffer;
  return { rows, columns, values: width === 4 ? new Float32Array(data) : new Float64Array(data) };
};

const readBytes = async (path: string, fail: (reason: string, cause?: unknown) => Error): Promise<Buffer> => {
  try {
    const packed = await readFile(path);
    if (packed[0] !== 0x1f || packed[1] !== 0x8b) return packed;
    return gunzipSync(packed, { maxOutputLength: 2 ** 20 + MOST_TIMES * packed.length });
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "it is damaged";
    throw fail(code === "ERR_BUFFER_TOO_LARGE" ? "it unpacks to far more than numbers do" : code, error);
  }
};
