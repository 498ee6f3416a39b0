/** NumPy's array files, float32 in rows: what image features are exchanged as. */
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { InputError } from "../core/errors.js";

export const npyTexts = {
  wrong: (name: string, reason: string) => `${name} is not a NumPy file of float32 rows (${reason}).`,
};

export const readNpy = (
  path: string,
  name: string,
): { readonly values: Float32Array; readonly shape: readonly [number, number] } => {
  const raw = readFileSync(path);
  const bytes = raw[0] === 0x1f && raw[1] === 0x8b ? gunzipSync(raw) : raw;
  const wrong = (reason: string) => new InputError("npy", npyTexts.wrong(name, reason));
  if (bytes.toString("latin1", 1, 6) !== "NUMPY") throw wrong("it does not begin as one");
  const wide = bytes[6] >= 2;
  const length = wide ? bytes.readUInt32LE(8) : bytes.readUInt16LE(8);
  const start = (wide ? 12 : 10) + length;
  const header = bytes.toString("latin1", wide ? 12 : 10, start);
  if (!/'descr':\s*'<f4'/.test(header)) throw wrong("its numbers are not float32");
  if (!/'fortran_order':\s*False/.test(header)) throw wrong("it is in columns");
  const shape = /'shape':\s*\((\d+),\s*(\d+)\)/.exec(header);
  if (shape === null) throw wrong("it does not have two dimensions");
  const [rows, columns] = [Number(shape[1]), Number(shape[2])];
  if (bytes.length - start !== 4 * rows * columns) throw wrong("it was cut short");
  const copy = bytes.buffer.slice(bytes.byteOffset + start, bytes.byteOffset + bytes.length);
  return { values: new Float32Array(copy), shape: [rows, columns] };
};
