/** The files in a zip archive, unpacked one at a time and never beyond a limit. */
import { inflateRawSync } from "node:zlib";

/** What is wrong with an archive; who reads it words it. */
export class BrokenZip extends Error {}
/** One that unpacks to more than was allowed. */
export class ZipBomb extends Error {}

export interface ZipFile {
  readonly names: readonly string[];
  /** The bytes of a file; undefined where there is none of this name. */
  contents(name: string): Buffer | undefined;
}

interface Entry {
  readonly method: number;
  readonly flags: number;
  readonly checksum: number;
  readonly packed: number;
  readonly size: number;
  readonly header: number;
}

const END_OF_DIRECTORY = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;
const LOCAL_HEADER = 0x04034b50;
const END_BYTES = 22;
const LONGEST_COMMENT = 65535;

/** All files together may have `mostUnpacked` bytes. */
export const openZip = (bytes: Buffer, mostUnpacked: number): ZipFile => {
  const entries = entriesOf(bytes);
  let left = mostUnpacked;
  return {
    names: [...entries.keys()],
    contents(name) {
      const entry = entries.get(name);
      if (entry === undefined) return undefined;
      if (entry.size > left) throw new ZipBomb();
      left -= entry.size;
      return unpack(bytes, entry);
    },
  };
};

const entriesOf = (bytes: Buffer): ReadonlyMap<string, Entry> => {
  const end = endOfDirectory(bytes);
  const count = bytes.readUInt16LE(end + 10);
  let at = bytes.readUInt32LE(end + 16);
  const entries = new Map<string, Entry>();
  for (let index = 0; index < count; index++) {
    if (at + 46 > end || bytes.readUInt32LE(at) !== DIRECTORY_ENTRY) throw new BrokenZip();
    const nameBytes = bytes.readUInt16LE(at + 28);
    // Excel for Windows writes /, some programs write \.
    const name = bytes.toString("utf8", at + 46, at + 46 + nameBytes).replaceAll("\\", "/");
    entries.set(name, {
      flags: bytes.readUInt16LE(at + 8),
      method: bytes.readUInt16LE(at + 10),
      checksum: bytes.readUInt32LE(at + 16),
      packed: bytes.readUInt32LE(at + 20),
      size: bytes.readUInt32LE(at + 24),
      header: bytes.readUInt32LE(at + 42),
    });
    at += 46 + nameBytes + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  return entries;
};

const endOfDirectory = (bytes: Buffer): number => {
  const first = Math.max(0, bytes.length - END_BYTES - LONGEST_COMMENT);
  for (let at = bytes.length - END_BYTES; at >= first; at--) {
    if (bytes.readUInt32LE(at) === END_OF_DIRECTORY) return at;
  }
  throw new BrokenZip();
};

const unpack = (bytes: Buffer, { method, flags, checksum, packed, size, header }: Entry): Buffer => {
  const isEncrypted = (flags & 1) === 1;
  if (isEncrypted || header + 30 > bytes.length || bytes.readUInt32LE(header) !== LOCAL_HEADER) {
    throw new BrokenZip();
  }
  // The local header repeats the name, with an extra field of its own length.
  const start = header + 30 + bytes.readUInt16LE(header + 26) + bytes.readUInt16LE(header + 28);
  if (start + packed > bytes.length) throw new BrokenZip();
  const data = bytes.subarray(start, start + packed);
  const contents = method === 0 ? data : inflated(data, method, size);
  if (contents.length !== size || checksumOf(contents) !== checksum) throw new BrokenZip();
  return contents;
};

const inflated = (data: Buffer, method: number, size: number): Buffer => {
  if (method !== 8) throw new BrokenZip();
  try {
    return inflateRawSync(data, { maxOutputLength: Math.max(1, size) });
  } catch {
    throw new BrokenZip();
  }
};

const TABLE = Int32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = (value & 1) === 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** CRC-32. */
export const checksumOf = (bytes: Uint8Array): number => {
  let value = -1;
  for (let at = 0; at < bytes.length; at++) value = TABLE[(value ^ bytes[at]) & 0xff] ^ (value >>> 8);
  return (value ^ -1) >>> 0;
};
