/** Decompression of LZ4 frames (github.com/lz4/lz4, doc/lz4_Frame_format.md), in which Feather files are written. */

const MAGIC = 0x184d2204;
const UNCOMPRESSED = 0x80000000;

export const lz4Texts = {
  broken: "its LZ4 data end early or are damaged",
};

/** The contents of one frame. Checksums are skipped: what does not fit together is noticed, what is altered is not. */
export const decompressLz4 = (frame: Uint8Array): Uint8Array => {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  const need = (at: number, bytes: number) => {
    if (at + bytes > frame.length) throw new Error(lz4Texts.broken);
  };
  need(0, 7);
  const flags = frame[4];
  if (view.getUint32(0, true) !== MAGIC || flags >> 6 !== 1) throw new Error(lz4Texts.broken);
  const [blockChecksums, contentSize, dictionary] = [flags & 0x10, flags & 0x08, flags & 0x01];
  let at = 6 + (contentSize ? 8 : 0) + (dictionary ? 4 : 0) + 1;
  const output = new Output(Math.max(64, 4 * frame.length));
  for (;;) {
    need(at, 4);
    const word = view.getUint32(at, true);
    at += 4;
    if (word === 0) return output.take();
    const size = word & ~UNCOMPRESSED;
    need(at, size);
    const block = frame.subarray(at, at + size);
    if (word >= UNCOMPRESSED) output.append(block);
    else decompressBlock(block, output);
    at += size + (blockChecksums ? 4 : 0);
  }
};

/** A block is a list of sequences: bytes as they are, then a piece of what is already there. */
const decompressBlock = (block: Uint8Array, output: Output): void => {
  let at = 0;
  const byte = (): number => {
    if (at >= block.length) throw new Error(lz4Texts.broken);
    return block[at++];
  };
  const length = (nibble: number): number => {
    let total = nibble;
    for (let more = nibble === 15; more; ) {
      const next = byte();
      total += next;
      more = next === 255;
    }
    return total;
  };
  while (at < block.length) {
    const token = byte();
    const literals = length(token >> 4);
    if (at + literals > block.length) throw new Error(lz4Texts.broken);
    output.append(block.subarray(at, at + literals));
    at += literals;
    // The last sequence has no second half.
    if (at === block.length) return;
    const offset = byte() | (byte() << 8);
    output.repeat(offset, 4 + length(token & 15));
  }
};

class Output {
  private bytes: Uint8Array<ArrayBuffer>;
  private size = 0;

  constructor(room: number) {
    this.bytes = new Uint8Array(room);
  }

  append(part: Uint8Array): void {
    this.makeRoom(part.length);
    this.bytes.set(part, this.size);
    this.size += part.length;
  }

  /** A piece that began `offset` bytes ago; it may overlap with what it writes. */
  repeat(offset: number, length: number): void {
    if (offset === 0 || offset > this.size) throw new Error(lz4Texts.broken);
    this.makeRoom(length);
    const { bytes, size } = this;
    if (offset >= length) bytes.copyWithin(size, size - offset, size - offset + length);
    else for (let to = size; to < size + length; to++) bytes[to] = bytes[to - offset];
    this.size += length;
  }

  take(): Uint8Array {
    return this.bytes.slice(0, this.size);
  }

  private makeRoom(more: number): void {
    if (this.size + more <= this.bytes.length) return;
    const larger = new Uint8Array(Math.max(2 * this.bytes.length, this.size + more));
    larger.set(this.bytes.subarray(0, this.size));
    this.bytes = larger;
  }
}
