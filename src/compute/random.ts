/** Random numbers made inside kernels: those of core/random bit for bit, straight into a workspace's memory. */
import { InputError } from "../core/errors.js";
import { requireArgument } from "../core/random/arguments.js";
import type { RandomStream } from "../core/random.js";
import { WideConstants } from "./random/constants.js";
import { LANE_OFFSETS, type Places, STEP, TAIL_STEP, writeNormals, writeUniforms } from "./random/normals.js";
import { KEY_BYTES, PHILOX_STEP, roundKeys, writePhilox } from "./random/philox.js";
import { type FunctionWriter, I32, I64, ModuleWriter, V128 } from "./wasm/encoder.js";
import { keep } from "./wasm/kernel.js";
import type { Workspace } from "./workspace.js";

/** Mean and standard deviation of normals; 0 and 1 unless given. */
export interface NormalOptions {
  readonly mean?: number | undefined;
  readonly sd?: number | undefined;
}

/**
 * Fills arrays of a workspace from a stream, on all its threads. The numbers do not depend on how many there are: every
 * element follows from the stream's key and its own place in the stream.
 */
export interface RandomKernels {
  /**
   * The next `length` uniforms of `stream` on (0, 1), rounded to float32, at `address`: what `fillUniform` gives in a
   * `Float32Array`. The stream moves on by two words each.
   */
  fillUniform(stream: RandomStream, address: number, length: number): void;
  /**
   * The next `length` normals of `stream`, mean + sd z in float64 as `stream.normal(mean, sd)` computes it, rounded to
   * float32, at `address`. The stream moves on by two words each.
   */
  fillNormal(stream: RandomStream, address: number, length: number, options?: NormalOptions): void;
  /** Gives the memory of the kernels back; the arrays stay. */
  dispose(): void;
}

export const randomTexts = {
  disposed: "these random kernels were disposed of: compile new ones",
};

/** Elements of a task: what it keeps fits in the fastest cache (32 KiB) beside its results. */
const CHUNK = 1024;

/** The job description, by byte offset. */
const ADDRESS = 0;
const LENGTH = 4;
/** Number of the block with the first word, 64 bits, and the place of that word in the block. */
const BLOCK = 8;
const WORD_IN_BLOCK = 16;
/** Scratch of thread 0; that of the others follows. */
const SCRATCH = 20;
const MEAN = 24;
const SD = 32;
const KEYS = 40;
const LANES = KEYS + KEY_BYTES;
const CONSTANTS = LANES + 8 * LANE_OFFSETS.length;

/** Scratch of one thread: the words (from the start of a block), the list of elements in the tails, spare results. */
const LIST = 8 * CHUNK + PHILOX_STEP;
const SPARE = LIST + 4 * (CHUNK + TAIL_STEP);
const SCRATCH_BYTES = Math.ceil((SPARE + 4 * CHUNK) / 64) * 64;

/** A kernel that makes elements `CHUNK * task` and on: words, then numbers by `write`, then a copy where needed. */
const writeFill = (writer: FunctionWriter, write: (places: Places, list: number) => void): void => {
  const descriptor = 0;
  const word = (offset: number) => writer.get(descriptor).memory("i32.load", offset);
  const first = keep(writer, () => writer.get(2).i32(CHUNK).op("i32.mul"));
  const left = keep(writer, () => {
    word(LENGTH).get(first).op("i32.sub");
  });
  const length = keep(writer, () => {
    writer.get(left).i32(CHUNK).get(left).i32(CHUNK).op("i32.lt_u").op("select");
  });
  const count = keep(writer, () => {
    writer
      .get(length)
      .i32(STEP - 1)
      .op("i32.add")
      .i32(-STEP)
      .op("i32.and");
  });
  const scratch = keep(writer, () => {
    word(SCRATCH).get(1).i32(SCRATCH_BYTES).op("i32.mul").op("i32.add");
  });

  const words = keep(writer, () => {
    word(WORD_IN_BLOCK).i32(2).op("i32.shl").get(scratch).op("i32.add");
  });
  const block = writer.local(I64);
  writer.get(descriptor).memory("i64.load", BLOCK);
  writer
    .get(2)
    .i32(CHUNK / 2)
    .op("i32.mul")
    .op("i64.extend_i32_u")
    .op("i64.add")
    .set(block);
  const at = keep(writer, () => writer.get(scratch));
  const end = keep(writer, () => writer.get(words).get(count).i32(3).op("i32.shl").op("i32.add"));
  writePhilox(writer, { at, end, block, base: descriptor, keys: KEYS });

  const target = keep(writer, () => {
    word(ADDRESS).get(first).i32(2).op("i32.shl").op("i32.add");
  });
  // Whole steps are written, so a last one that is not whole goes through the spare room.
  const spare = keep(writer, () => writer.get(scratch).i32(SPARE).op("i32.add"));
  const out = keep(writer, () => {
    writer.get(target).get(spare).get(length).get(count).op("i32.eq").op("select");
  });
  const list = keep(writer, () => writer.get(scratch).i32(LIST).op("i32.add"));
  write({ words, out, count }, list);
  writer
    .get(length)
    .get(count)
    .op("i32.ne")
    .when(() => {
      const bytes = keep(writer, () => writer.get(length).i32(2).op("i32.shl"));
      const offset = writer.local(I32);
      writer.loop(
        offset,
        () => writer.i32(0),
        () => writer.get(bytes),
        4,
        () => {
          writer.get(target).get(offset).op("i32.add");
          writer.get(spare).get(offset).op("i32.add").memory("f32.load").memory("f32.store");
        },
      );
    });
};

/** Compiles the kernels into a workspace, whose `dispose` disposes of them too. */
export const compileRandom = (workspace: Workspace): RandomKernels => {
  const constants = new WideConstants(0, CONSTANTS);
  const module = new ModuleWriter();
  module.function("uniform", [I32, I32, I32], [], (writer) =>
    writeFill(writer, (places) => writeUniforms(writer, constants, places)),
  );
  module.function("normal", [I32, I32, I32], [], (writer) =>
    writeFill(writer, (places, list) => {
      const splat = (offset: number) => {
        const local = writer.local(V128);
        writer.get(0).memory("v128.load64_splat", offset).set(local);
        return local;
      };
      const lanes = keep(writer, () => writer.get(0).i32(LANES).op("i32.add"));
      writeNormals(writer, constants, places, { list, lanes, mean: splat(MEAN), sd: splat(SD) });
    }),
  );
  const kernels = workspace.load(module, ["uniform", "normal"]);

  const { contents } = constants;
  const addresses = workspace.allocateAll([
    SCRATCH_BYTES * workspace.threads,
    CONSTANTS + contents.byteLength,
  ]);
  const [scratch, descriptor] = addresses;
  let disposed = false;
  workspace.words(descriptor + SCRATCH, 1)[0] = scratch;
  new BigUint64Array(workspace.memory.buffer, descriptor + LANES, LANE_OFFSETS.length).set(LANE_OFFSETS);
  new BigUint64Array(workspace.memory.buffer, descriptor + CONSTANTS, contents.length).set(contents);

  const fill = (
    name: "uniform" | "normal",
    stream: RandomStream,
    address: number,
    length: number,
    mean: number,
    sd: number,
  ): void => {
    if (disposed) throw new InputError("disposed", randomTexts.disposed);
    requireArgument(
      Number.isSafeInteger(length) && length >= 0,
      name,
      "length",
      length,
      "a whole number from 0",
    );
    const inside = Number.isSafeInteger(address) && address > 0 && address + 4 * length <= workspace.bytes;
    requireArgument(
      inside && address % 4 === 0,
      name,
      "address",
      address,
      `that of ${length} floats in the workspace`,
    );
    if (length === 0) return;
    const { key, position } = stream;
    const job = new DataView(workspace.memory.buffer, descriptor, LANES);
    job.setUint32(ADDRESS, address, true);
    job.setUint32(LENGTH, length, true);
    job.setBigUint64(BLOCK, BigInt(Math.floor(position / 4)), true);
    job.setUint32(WORD_IN_BLOCK, position % 4, true);
    job.setFloat64(MEAN, mean, true);
    job.setFloat64(SD, sd, true);
    roundKeys(key).forEach((word, i) => {
      for (let lane = 0; lane < 4; lane++) job.setInt32(KEYS + 16 * i + 4 * lane, word, true);
    });
    kernels.run(name, descriptor, Math.ceil(length / CHUNK));
    stream.skip(2 * length);
  };
  return {
    fillUniform: (stream, address, length) => fill("uniform", stream, address, length, 0, 1),
    fillNormal(stream, address, length, { mean = 0, sd = 1 } = {}) {
      requireArgument(Number.isFinite(mean), "normal", "mean", mean, "finite");
      requireArgument(
        sd >= 0 && sd < Number.POSITIVE_INFINITY,
        "normal",
        "sd",
        sd,
        "finite and not negative",
      );
      fill("normal", stream, address, length, mean, sd);
    },
    dispose() {
      if (disposed) return;
      disposed = true;
      for (const address of addresses) workspace.release(address);
      kernels.dispose();
    },
  };
};
