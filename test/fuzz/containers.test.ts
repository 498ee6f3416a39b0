/** What packs tables and numbers, damaged: in memory, without a file for each. */
import { deflateRawSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { InputError } from "../../src/core/errors.js";
import { filesInArchive } from "../../src/sources/archive.js";
import { decompressLz4, lz4Texts } from "../../src/sources/lz4.js";
import { readNpy } from "../../src/sources/npy.js";
import { temporaryFolder } from "../sources/files.js";
import { mutant } from "./mutate.js";

const { file } = temporaryFolder();
const SEED = 15;
const MUTANTS = 300;

const text = Buffer.from("id,age\n1,20\n2,30\n".repeat(20));

const tar = (name: string, contents: Buffer): Buffer => {
  const head = Buffer.alloc(512);
  head.write(name, 0);
  head.write(contents.length.toString(8).padStart(11, "0"), 124);
  head.write("0", 156);
  return Buffer.concat([head, contents, Buffer.alloc(1024 - (contents.length % 512))]);
};

const zip = (name: string, contents: Buffer): Buffer => {
  const packed = deflateRawSync(contents);
  const local = Buffer.alloc(30);
  local.writeUInt32LE(0x04034b50, 0);
  local.writeUInt16LE(name.length, 26);
  const entry = Buffer.alloc(46);
  entry.writeUInt32LE(0x02014b50, 0);
  entry.writeUInt16LE(8, 10);
  entry.writeUInt32LE(packed.length, 20);
  entry.writeUInt16LE(name.length, 28);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(local.length + name.length + packed.length, 16);
  return Buffer.concat([local, Buffer.from(name), packed, entry, Buffer.from(name), end]);
};

const npy = (): Buffer => {
  const header = `${"{'descr': '<f4', 'fortran_order': False, 'shape': (5, 4), }".padEnd(117)}\n`;
  const start = Buffer.from("\x93NUMPY\x01\x00v\x00", "latin1");
  return Buffer.concat([start, Buffer.from(header), Buffer.alloc(80, 7)]);
};

test.each<[string, Buffer]>([
  ["data.zip", zip("data.csv", text)],
  ["data.zip", zip("inner.tar.gz", gzipSync(tar("data.csv", text)))],
  ["data.tar", tar("data.csv", text)],
  ["data.csv.gz", gzipSync(text)],
])("archives: %s", (name, whole) => {
  const [only] = filesInArchive(name, whole);
  expect([only.name, only.contents.toString()]).toEqual(["data.csv", text.toString()]);
  for (let index = 0; index < MUTANTS; index++) {
    try {
      const files = filesInArchive(name, Buffer.from(mutant([whole], SEED, index)));
      const bytes = files.reduce((sum, { contents }) => sum + contents.length, 0);
      expect(bytes).toBeLessThan(2 ** 27);
    } catch (error) {
      expect(error, `mutant ${index}`).toBeInstanceOf(InputError);
    }
  }
});

test("arrays of NumPy", async () => {
  const whole = npy();
  expect(await readNpy(file("whole.npy", whole))).toMatchObject({ rows: 5, columns: 4 });
  for (let index = 0; index < MUTANTS; index++) {
    const damaged = mutant([whole, gzipSync(whole)], SEED, index);
    const read = await readNpy(file("mutant.npy", damaged)).catch((error: unknown) => error);
    if (read instanceof Error) expect(read, `mutant ${index}`).toBeInstanceOf(InputError);
    else expect(read).toMatchObject({ values: expect.any(Object) });
  }
});

test("LZ4 frames", () => {
  const head = [0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82];
  const block = [0x35, ...Buffer.from("abc"), 3, 0, 0x10, ...Buffer.from("d")];
  const whole = Uint8Array.from([...head, block.length, 0, 0, 0, ...block, 0, 0, 0, 0]);
  for (let index = 0; index < MUTANTS; index++) {
    try {
      // A byte says at most 255 more.
      const damaged = mutant([whole], SEED, index);
      expect(decompressLz4(damaged).length).toBeLessThan(300 * (damaged.length + 64));
    } catch (error) {
      expect(String(error), `mutant ${index}`).toContain(lz4Texts.broken);
    }
  }
});
