/** Whether a column of an Arrow file has all the cells that it says it has, where it says: its reader does not look. */
import { isUtf8 } from "node:buffer";
import type { Data, Vector } from "apache-arrow";

export class BrokenCells extends Error {}

const broken = (): BrokenCells => new BrokenCells("its columns are shorter than they should be");

type Arrow = typeof import("apache-arrow");

export const requireCells = (data: Data, arrow: Arrow): void => {
  const { DataType: is } = arrow;
  const { type, length, stride, values, valueOffsets, nullBitmap, children, dictionary } = data;
  if (!(length >= 0)) throw broken();
  // Left out where nothing is missing.
  const bits = 8 * (nullBitmap?.length ?? 0);
  if (bits > 0 && bits < length) throw broken();
  for (const child of children) requireCells(child, arrow);
  if (is.isNull(type) || is.isUnion(type) || length === 0) return;
  if (is.isDictionary(type)) requireDictionary(data, dictionary, arrow);
  else if (is.isBool(type)) {
    if (8 * values.length < length) throw broken();
  } else if (is.isFixedSizeList(type)) {
    if (children[0].length < length * type.listSize) throw broken();
  } else if (is.isStruct(type)) {
    if (children.some((child) => child.length < length)) throw broken();
  } else if (valueOffsets !== undefined && valueOffsets !== null) {
    // Lists point into their only child, texts and bytes into their values.
    const [first, last] = requireOffsets(valueOffsets, length, (children[0] ?? values).length);
    const isText = is.isUtf8(type) || is.isLargeUtf8(type);
    if (isText && !isUtf8(values.subarray(first, last))) throw broken();
  } else if (!(values?.length >= length * stride)) throw broken();
};

const requireDictionary = (data: Data, dictionary: Vector | undefined, arrow: Arrow): void => {
  const { values, length } = data;
  if (values.length < length || dictionary === undefined) throw broken();
  for (const each of dictionary.data) requireCells(each, arrow);
  for (let row = 0; row < length; row++) {
    const place = Number(values[row]);
    if (data.getValid(row) && !(place >= 0 && place < dictionary.length)) throw broken();
  }
};

/** Offsets never go back and end inside what they point into; the first and the last. */
const requireOffsets = (
  offsets: Int32Array | BigInt64Array,
  length: number,
  most: number,
): readonly [number, number] => {
  if (offsets.length < length + 1) throw broken();
  let last = Number(offsets[0]);
  const first = last;
  for (let row = 1; row <= length; row++) {
    const next = Number(offsets[row]);
    if (next < last) throw broken();
    last = next;
  }
  if (first < 0 || last > most) throw broken();
  return [first, last];
};
