/** The files in a zip, tar or gzip archive, also one inside the other, as the original sites pack them. */
import { gunzipSync, inflateRawSync } from "node:zlib";
import { InputError } from "../core/errors.js";

export const archiveTexts = {
  broken: (name: string) => `${name} is no whole archive: delete it and get it again.`,
};

export interface ArchiveFile {
  /** Without its folders. */
  readonly name: string;
  readonly contents: Buffer;
}

/** Every file of an archive; what is itself an archive is opened too. Nothing is written anywhere. */
export const filesInArchive = (name: string, bytes: Buffer): readonly ArchiveFile[] => {
  const lower = name.toLowerCase();
  const base = name.slice(name.lastIndexOf("/") + 1);
  const open = (files: readonly ArchiveFile[]) =>
    files.flatMap((file) => filesInArchive(file.name, file.contents));
  try {
    if (lower.endsWith(".zip")) return open(zipEntries(bytes));
    if (lower.endsWith(".tar")) return open(tarEntries(bytes));
    if (lower.endsWith(".tgz")) return open(tarEntries(gunzipSync(bytes)));
    if (lower.endsWith(".gz")) return filesInArchive(base.slice(0, -3), gunzipSync(bytes));
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw new InputError("broken-archive", archiveTexts.broken(name), { cause: error });
  }
  return [{ name: base, contents: bytes }];
};

const END_OF_DIRECTORY = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;

const zipEntries = (bytes: Buffer): readonly ArchiveFile[] => {
  // The end record stands behind all else, followed by a comment of at most 65535 bytes.
  let end = bytes.length - 22;
  while (end >= 0 && bytes.readUInt32LE(end) !== END_OF_DIRECTORY) end -= 1;
  if (end < 0) throw new RangeError("no end record");
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
    if (method === 0) files.push({ name, contents: data });
    else if (method === 8) files.push({ name, contents: inflateRawSync(data) });
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
