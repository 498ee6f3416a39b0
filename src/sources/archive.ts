/** The files in a zip, tar or gzip archive, also one inside the other, as the original sites pack them. */
import { gunzipSync, inflateRawSync } from "node:zlib";
import { InputError } from "../core/errors.js";

export const archiveTexts = {
  broken: (name: string) => `${name} is no whole archive: delete it and get it again.`,
  large: (name: string, megabytes: number) =>
    `${name} unpacks to more than ${megabytes} MB, far more than data of its size does: delete it and get it from its original site.`,
};

/** Tables of text shrink to a tenth or so; more than a two-hundredth is no table. */
const MOST_TIMES = 200;
const ALWAYS_ALLOWED = 64 * 2 ** 20;
/** An archive in an archive in an archive, and so on. */
const DEEPEST = 4;

/** What an archive may still unpack to, and how deep it lies in others: the same for all that is in it. */
interface Room {
  readonly name: string;
  readonly total: number;
  left: number;
}

class TooLarge extends Error {}

const used = (room: Room, contents: Buffer): Buffer => {
  room.left -= contents.length;
  if (room.left < 0) throw new TooLarge();
  return contents;
};

/** Stops as soon as there is no room, whatever would still come. */
const unpacked = (
  unpack: (bytes: Buffer, options: { readonly maxOutputLength: number }) => Buffer,
  bytes: Buffer,
  room: Room,
): Buffer => {
  try {
    return used(room, unpack(bytes, { maxOutputLength: Math.max(1, room.left) }));
  } catch (error) {
    throw error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE"
      ? new TooLarge()
      : error;
  }
};

export interface ArchiveFile {
  /** Without its folders. */
  readonly name: string;
  readonly contents: Buffer;
}

/** Every file of an archive; what is itself an archive is opened too. Nothing is written anywhere. */
export const filesInArchive = (name: string, bytes: Buffer): readonly ArchiveFile[] => {
  const total = ALWAYS_ALLOWED + MOST_TIMES * bytes.length;
  try {
    return opened(name, bytes, { name, total, left: total }, 0);
  } catch (error) {
    throw error instanceof TooLarge
      ? new InputError("large-archive", archiveTexts.large(name, Math.round(total / 2 ** 20)))
      : new InputError("broken-archive", archiveTexts.broken(name), { cause: error });
  }
};

const opened = (name: string, bytes: Buffer, room: Room, depth: number): readonly ArchiveFile[] => {
  const lower = name.toLowerCase();
  const base = name.slice(name.lastIndexOf("/") + 1);
  const all = (files: readonly ArchiveFile[]) =>
    files.flatMap((file) => opened(file.name, file.contents, room, depth + 1));
  const isArchive = /\.(zip|tar|tgz|gz)$/.test(lower);
  if (isArchive && depth > DEEPEST) throw new RangeError("too deep");
  if (lower.endsWith(".zip")) return all(zipEntries(bytes, room));
  if (lower.endsWith(".tar")) return all(tarEntries(bytes));
  if (lower.endsWith(".tgz")) return all(tarEntries(unpacked(gunzipSync, bytes, room)));
  if (!isArchive) return [{ name: base, contents: bytes }];
  return opened(base.slice(0, -3), unpacked(gunzipSync, bytes, room), room, depth + 1);
};

const END_OF_DIRECTORY = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;

/** A comment stands behind the end record. */
const LONGEST_COMMENT = 65_535;

const zipEntries = (bytes: Buffer, room: Room): readonly ArchiveFile[] => {
  // The end record stands behind all else.
  let end = bytes.length - 22;
  const first = Math.max(0, end - LONGEST_COMMENT);
  while (end >= first && bytes.readUInt32LE(end) !== END_OF_DIRECTORY) end -= 1;
  if (end < first) throw new RangeError("no end record");
  const count = bytes.readUInt16LE(end + 10);
  let at = bytes.readUInt32LE(end + 16);
  const files: ArchiveFile[] = [];
  for (let entry = 0; entry < count; entry++) {
    if (bytes.readUInt32LE(at) !== DIRECTORY_ENTRY) throw new RangeError("no directory entry");
    const method = bytes.readUInt16LE(at + 10);
    const packed = bytes.readUInt32LE(at + 20);
    const nameLength = bytes.readUInt16LE(at + 28);
    const local = bytes.readUInt32LE(at + 42);
    const name = bytes.toString("utf8", at + 46, at + 46 + nameLength);
    at += 46 + nameLength + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
    if (name.endsWith("/")) continue;
    // The local header repeats the name, with an extra field of its own length.
    const start = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
    if (start + packed > bytes.length) throw new RangeError("cut short");
    const data = bytes.subarray(start, start + packed);
    // Entries may share bytes: what is stored counts too.
    if (method === 0) files.push({ name, contents: used(room, data) });
    else if (method === 8) files.push({ name, contents: unpacked(inflateRawSync, data, room) });
    else throw new RangeError(`method ${method}`);
  }
  return files;
};

const TAR_BLOCK = 512;

const tarEntries = (bytes: Buffer): readonly ArchiveFile[] => {
  const files: ArchiveFile[] = [];
  let at = 0;
  while (at + TAR_BLOCK <= bytes.length && bytes[at] !== 0) {
    const name = bytes.toString("utf8", at, at + 100).split("\0")[0];
    const size = Number.parseInt(bytes.toString("latin1", at + 124, at + 136), 8);
    const type = bytes.toString("latin1", at + 156, at + 157);
    const start = at + TAR_BLOCK;
    if (!(size >= 0) || start + size > bytes.length) throw new RangeError("cut short");
    if (type === "0" || type === "\0") files.push({ name, contents: bytes.subarray(start, start + size) });
    at = start + Math.ceil(size / TAR_BLOCK) * TAR_BLOCK;
  }
  return files;
};
