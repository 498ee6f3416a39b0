/**
 * Whether the messages of an Arrow file lie where the file says, one behind the other and inside it: the package that
 * reads them takes this for granted, and goes round for ever where it is not so.
 *
 * The format is that of Arrow's documentation, "Serialization and Interprocess Communication"; the few numbers that are
 * needed are read from its flatbuffers directly.
 */
import type { FileHandle } from "node:fs/promises";

export class BrokenFrames extends Error {}

const broken = (): BrokenFrames => new BrokenFrames("its messages do not lie where they should");

const CONTINUATION = 0xffffffff;
const MAGIC = "ARROW1";
/** Far more than a schema of ten thousand columns takes. */
const MOST_METADATA = 2 ** 28;

export const requireFrames = async (file: FileHandle): Promise<void> => {
  const { size } = await file.stat();
  const bytesAt = async (at: number, length: number): Promise<Buffer> => {
    if (!(at >= 0 && length >= 0 && length <= MOST_METADATA && at + length <= size)) throw broken();
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at);
    if (bytesRead !== length) throw broken();
    return buffer;
  };
  try {
    const start = await bytesAt(0, Math.min(size, MAGIC.length));
    if (start.toString("latin1") !== MAGIC) return await requireStream(bytesAt, size);
    const end = await bytesAt(size - 10, 10);
    if (end.toString("latin1", 4) !== MAGIC) throw broken();
    const length = end.readInt32LE(0);
    requireFooter(await bytesAt(size - 10 - length, length), size - 10 - length);
  } catch (error) {
    // A number that leads out of the bytes.
    throw error instanceof RangeError ? broken() : error;
  }
};

type BytesAt = (at: number, length: number) => Promise<Buffer>;

/** Each message is its length, its metadata and its body, up to a length of 0 or the end. */
const requireStream = async (bytesAt: BytesAt, size: number): Promise<void> => {
  let at = 0;
  while (at < size) {
    const head = await bytesAt(at, Math.min(8, size - at));
    // Before version 0.15 the length stood alone.
    const isMarked = head.readUInt32LE(0) === CONTINUATION;
    const length = head.readInt32LE(isMarked ? 4 : 0);
    if (length === 0) return;
    const start = at + (isMarked ? 8 : 4);
    if (length < 0) throw broken();
    const body = bodyLength(await bytesAt(start, length));
    if (body < 0 || start + length + body > size) throw broken();
    at = start + length + body;
  }
};

/** Fields of a flatbuffer's table by their numbers: where each stands, 0 where it is left out. */
const fieldsOf = (bytes: Buffer, table: number): ((field: number) => number) => {
  const vtable = table - bytes.readInt32LE(table);
  const size = bytes.readUInt16LE(vtable);
  return (field) => {
    const offset = 4 + 2 * field < size ? bytes.readUInt16LE(vtable + 4 + 2 * field) : 0;
    return offset === 0 ? 0 : table + offset;
  };
};

const longAt = (bytes: Buffer, at: number): number => Number(bytes.readBigInt64LE(at));

/** Message { version, header type, header, bodyLength }. */
const bodyLength = (bytes: Buffer): number => {
  const at = fieldsOf(bytes, bytes.readUInt32LE(0))(3);
  return at === 0 ? 0 : longAt(bytes, at);
};

const BLOCK_BYTES = 24;

/** Footer { version, schema, dictionaries: [Block], recordBatches: [Block] }, a Block { offset, metadata, body }. */
const requireFooter = (bytes: Buffer, end: number): void => {
  const field = fieldsOf(bytes, bytes.readUInt32LE(0));
  for (const at of [field(2), field(3)]) {
    if (at === 0) continue;
    const vector = at + bytes.readUInt32LE(at);
    const count = bytes.readUInt32LE(vector);
    if (vector + 4 + count * BLOCK_BYTES > bytes.length) throw broken();
    for (let block = 0; block < count; block++) {
      const start = vector + 4 + block * BLOCK_BYTES;
      const [offset, metadata, body] = [
        longAt(bytes, start),
        bytes.readInt32LE(start + 8),
        longAt(bytes, start + 16),
      ];
      if (offset < 8 || metadata < 8 || body < 0 || offset + metadata + body > end) throw broken();
    }
  }
};
