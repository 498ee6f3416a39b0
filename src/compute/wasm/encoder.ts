/**
 * WebAssembly modules as bytes, without a compiler: just the part of the binary format that kernels need
 * (WebAssembly core specification 2.0, chapter 5; the threads and relaxed-SIMD proposals for memory and FMA).
 */

/** Value types by their byte in the binary format. */
export const I32 = 0x7f;
export const I64 = 0x7e;
export const F32 = 0x7d;
export const F64 = 0x7c;
export const V128 = 0x7b;
export type ValueType = typeof I32 | typeof I64 | typeof F32 | typeof F64 | typeof V128;

/** A block that leaves nothing on the stack. */
const VOID_BLOCK = 0x40;

/** One-byte instructions, by their name in the specification. */
const PLAIN = {
  unreachable: 0x00,
  return: 0x0f,
  drop: 0x1a,
  select: 0x1b,
  "i32.eqz": 0x45,
  "i32.eq": 0x46,
  "i32.ne": 0x47,
  "i32.lt_s": 0x48,
  "i32.lt_u": 0x49,
  "i32.gt_s": 0x4a,
  "i32.gt_u": 0x4b,
  "i32.le_u": 0x4d,
  "i32.ge_s": 0x4e,
  "i32.ge_u": 0x4f,
  "i64.lt_s": 0x53,
  "f32.gt": 0x5e,
  "f64.lt": 0x63,
  "f64.gt": 0x64,
  "f64.le": 0x65,
  "i32.ctz": 0x68,
  "i32.popcnt": 0x69,
  "i32.add": 0x6a,
  "i32.sub": 0x6b,
  "i32.mul": 0x6c,
  "i32.div_u": 0x6e,
  "i32.rem_u": 0x70,
  "i32.and": 0x71,
  "i32.or": 0x72,
  "i32.xor": 0x73,
  "i32.shl": 0x74,
  "i32.shr_s": 0x75,
  "i32.shr_u": 0x76,
  "i64.popcnt": 0x7b,
  "i64.add": 0x7c,
  "i64.sub": 0x7d,
  "i64.mul": 0x7e,
  "i64.and": 0x83,
  "i64.or": 0x84,
  "i64.shl": 0x86,
  "i64.shr_s": 0x87,
  "i64.shr_u": 0x88,
  "f32.add": 0x92,
  "f32.sub": 0x93,
  "f32.mul": 0x94,
  "f32.div": 0x95,
  "f32.max": 0x97,
  "f64.abs": 0x99,
  "f64.neg": 0x9a,
  "f64.sqrt": 0x9f,
  "f64.add": 0xa0,
  "f64.sub": 0xa1,
  "f64.mul": 0xa2,
  "f64.div": 0xa3,
  "i32.wrap_i64": 0xa7,
  "i32.trunc_f64_s": 0xaa,
  "i64.extend_i32_s": 0xac,
  "i64.extend_i32_u": 0xad,
  "f32.demote_f64": 0xb6,
  "f64.convert_i32_s": 0xb7,
  "f64.convert_i32_u": 0xb8,
  "f64.convert_i64_s": 0xb9,
  "f64.promote_f32": 0xbb,
  "i32.reinterpret_f32": 0xbc,
  "i64.reinterpret_f64": 0xbd,
  "f64.reinterpret_i64": 0xbf,
} as const;

/** SIMD instructions without immediates (prefix 0xfd), by their name in the specification. */
const SIMD = {
  "i8x16.swizzle": 0x0e,
  "i32x4.splat": 0x11,
  "f32x4.splat": 0x13,
  "f64x2.splat": 0x14,
  "i32x4.eq": 0x37,
  "i32x4.ne": 0x38,
  "i32x4.lt_s": 0x39,
  "i32x4.lt_u": 0x3a,
  "i32x4.gt_s": 0x3b,
  "i32x4.gt_u": 0x3c,
  "i32x4.ge_s": 0x3f,
  "f32x4.eq": 0x41,
  "f32x4.ne": 0x42,
  "f32x4.lt": 0x43,
  "f32x4.gt": 0x44,
  "f32x4.le": 0x45,
  "f32x4.ge": 0x46,
  "f64x2.gt": 0x4a,
  "v128.not": 0x4d,
  "v128.and": 0x4e,
  "v128.andnot": 0x4f,
  "v128.or": 0x50,
  "v128.xor": 0x51,
  "v128.bitselect": 0x52,
  "v128.any_true": 0x53,
  "f32x4.demote_f64x2_zero": 0x5e,
  "f64x2.promote_low_f32x4": 0x5f,
  "f32x4.ceil": 0x67,
  "f32x4.floor": 0x68,
  "f32x4.trunc": 0x69,
  "f32x4.nearest": 0x6a,
  "f64x2.nearest": 0x94,
  "i32x4.bitmask": 0xa4,
  "i32x4.shl": 0xab,
  "i32x4.shr_s": 0xac,
  "i32x4.shr_u": 0xad,
  "i32x4.add": 0xae,
  "i32x4.sub": 0xb1,
  "i32x4.mul": 0xb5,
  "i32x4.min_s": 0xb6,
  "i32x4.max_s": 0xb8,
  "i64x2.shl": 0xcb,
  "i64x2.shr_u": 0xcd,
  "i64x2.add": 0xce,
  "i64x2.sub": 0xd1,
  "i64x2.extmul_low_i32x4_u": 0xde,
  "i64x2.extmul_high_i32x4_u": 0xdf,
  "f32x4.abs": 0xe0,
  "f32x4.neg": 0xe1,
  "f32x4.sqrt": 0xe3,
  "f32x4.add": 0xe4,
  "f32x4.sub": 0xe5,
  "f32x4.mul": 0xe6,
  "f32x4.div": 0xe7,
  "f32x4.min": 0xe8,
  "f32x4.max": 0xe9,
  "f32x4.pmin": 0xea,
  "f32x4.pmax": 0xeb,
  "f64x2.abs": 0xec,
  "f64x2.neg": 0xed,
  "f64x2.sqrt": 0xef,
  "f64x2.add": 0xf0,
  "f64x2.sub": 0xf1,
  "f64x2.mul": 0xf2,
  "f64x2.div": 0xf3,
  "f64x2.pmin": 0xf6,
  "f64x2.pmax": 0xf7,
  "i32x4.trunc_sat_f32x4_s": 0xf8,
  "f32x4.convert_i32x4_s": 0xfa,
  "f32x4.relaxed_madd": 0x105,
  "f32x4.relaxed_nmadd": 0x106,
} as const;

/** Loads and stores: [prefix or opcode, sub-opcode or undefined, natural alignment as a power of two]. */
const MEMORY = {
  "i32.load": [0x28, undefined, 2],
  "i64.load": [0x29, undefined, 3],
  "f32.load": [0x2a, undefined, 2],
  "f64.load": [0x2b, undefined, 3],
  "i32.store": [0x36, undefined, 2],
  "i64.store": [0x37, undefined, 3],
  "f32.store": [0x38, undefined, 2],
  "f64.store": [0x39, undefined, 3],
  "v128.load": [0xfd, 0x00, 2],
  "v128.load32_splat": [0xfd, 0x09, 2],
  "v128.load64_splat": [0xfd, 0x0a, 2],
  "v128.store": [0xfd, 0x0b, 2],
  "v128.load32_zero": [0xfd, 0x5c, 2],
  "v128.load64_zero": [0xfd, 0x5d, 2],
} as const;

export type PlainInstruction = keyof typeof PLAIN;
export type SimdInstruction = keyof typeof SIMD;
export type MemoryInstruction = keyof typeof MEMORY;

/** A growing sequence of bytes with the encodings of the format. */
class Bytes {
  #data = new Uint8Array(64);
  #length = 0;

  get bytes(): Uint8Array {
    return this.#data.subarray(0, this.#length);
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#data.length) return;
    const larger = new Uint8Array(2 * (this.#length + count));
    larger.set(this.bytes);
    this.#data = larger;
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#data[this.#length++] = value;
  }

  push(...values: number[]): void {
    for (const value of values) this.byte(value);
  }

  append(values: ArrayLike<number>): void {
    this.#reserve(values.length);
    this.#data.set(values, this.#length);
    this.#length += values.length;
  }

  /** Unsigned LEB128. */
  unsigned(value: number): void {
    let rest = value;
    do {
      const low = rest % 128;
      rest = Math.floor(rest / 128);
      this.byte(rest === 0 ? low : low | 0x80);
    } while (rest !== 0);
  }

  /** Signed LEB128 of 32 bits. */
  signed32(value: number): void {
    let rest = value;
    for (;;) {
      const low = rest & 0x7f;
      rest >>= 7;
      const last = rest === ((low & 0x40) === 0 ? 0 : -1);
      this.byte(last ? low : low | 0x80);
      if (last) return;
    }
  }

  /** Signed LEB128 of 64 bits. */
  signed64(value: bigint): void {
    let rest = value;
    for (;;) {
      const low = Number(rest & 0x7fn);
      rest >>= 7n;
      const last = (rest === 0n && (low & 0x40) === 0) || (rest === -1n && (low & 0x40) !== 0);
      this.byte(last ? low : low | 0x80);
      if (last) return;
    }
  }

  name(text: string): void {
    const encoded = new TextEncoder().encode(text);
    this.unsigned(encoded.length);
    this.append(encoded);
  }

  /** A section or function body: its length, then its bytes. */
  sized(content: Bytes): void {
    this.unsigned(content.bytes.length);
    this.append(content.bytes);
  }
}

const scratch = new DataView(new ArrayBuffer(8));

/** One function being written: locals are taken as they are needed, instructions in the order of the calls. */
export class FunctionWriter {
  readonly #code = new Bytes();
  readonly #locals: ValueType[] = [];
  readonly params: readonly ValueType[];
  readonly results: readonly ValueType[];

  constructor(params: readonly ValueType[], results: readonly ValueType[]) {
    this.params = params;
    this.results = results;
  }

  /** A new local variable; parameters are locals 0 to params.length - 1. */
  local(type: ValueType): number {
    this.#locals.push(type);
    return this.params.length + this.#locals.length - 1;
  }

  get(local: number): this {
    this.#code.byte(0x20);
    this.#code.unsigned(local);
    return this;
  }

  set(local: number): this {
    this.#code.byte(0x21);
    this.#code.unsigned(local);
    return this;
  }

  tee(local: number): this {
    this.#code.byte(0x22);
    this.#code.unsigned(local);
    return this;
  }

  op(instruction: PlainInstruction): this {
    this.#code.byte(PLAIN[instruction]);
    return this;
  }

  simd(instruction: SimdInstruction): this {
    this.#code.byte(0xfd);
    this.#code.unsigned(SIMD[instruction]);
    return this;
  }

  /** `f32x4.extract_lane`. */
  lane(index: number): this {
    this.#code.push(0xfd, 0x1f, index);
    return this;
  }

  /** `f32x4.replace_lane`: takes a vector and a float. */
  replaceLane(index: number): this {
    this.#code.push(0xfd, 0x20, index);
    return this;
  }

  /** `v128.store32_lane`: stores one lane of the vector on the stack. */
  storeLane(index: number, offset = 0): this {
    this.#code.push(0xfd, 0x5a, 2);
    this.#code.unsigned(offset);
    this.#code.push(index);
    return this;
  }

  /** `i8x16.shuffle` of 32-bit lanes: 0 to 3 are those of the first vector on the stack, 4 to 7 of the second. */
  shuffle32(...lanes: readonly [number, number, number, number]): this {
    this.#code.push(0xfd, 0x0d);
    for (const lane of lanes) for (let i = 0; i < 4; i++) this.#code.push(4 * lane + i);
    return this;
  }

  memory(instruction: MemoryInstruction, offset = 0): this {
    const [first, second, alignment] = MEMORY[instruction];
    this.#code.push(first);
    if (second !== undefined) this.#code.unsigned(second);
    this.#code.unsigned(alignment);
    this.#code.unsigned(offset);
    return this;
  }

  i32(value: number): this {
    this.#code.push(0x41);
    this.#code.signed32(value | 0);
    return this;
  }

  i64(value: bigint): this {
    this.#code.push(0x42);
    this.#code.signed64(BigInt.asIntN(64, value));
    return this;
  }

  f32(value: number): this {
    scratch.setFloat32(0, value, true);
    this.#code.push(0x43);
    for (let i = 0; i < 4; i++) this.#code.byte(scratch.getUint8(i));
    return this;
  }

  f64(value: number): this {
    scratch.setFloat64(0, value, true);
    this.#code.push(0x44);
    for (let i = 0; i < 8; i++) this.#code.byte(scratch.getUint8(i));
    return this;
  }

  /** `v128.const` with the same 32 bits in every lane. */
  splat32(bits: number): this {
    scratch.setInt32(0, bits, true);
    this.#code.push(0xfd, 0x0c);
    for (let i = 0; i < 16; i++) this.#code.byte(scratch.getUint8(i % 4));
    return this;
  }

  /** `v128.const` of four integers. */
  integers(...lanes: readonly [number, number, number, number]): this {
    this.#code.push(0xfd, 0x0c);
    for (const value of lanes) {
      scratch.setInt32(0, value, true);
      for (let i = 0; i < 4; i++) this.#code.byte(scratch.getUint8(i));
    }
    return this;
  }

  call(index: number): this {
    this.#code.push(0x10);
    this.#code.unsigned(index);
    return this;
  }

  /** Runs `body` if the i32 on the stack is not zero, and `otherwise` if it is. */
  when(body: () => void, otherwise?: () => void): this {
    this.#code.push(0x04, VOID_BLOCK);
    body();
    if (otherwise !== undefined) {
      this.#code.byte(0x05);
      otherwise();
    }
    this.#code.push(0x0b);
    return this;
  }

  /** `while (condition) body()`; the condition pushes an i32. */
  repeat(condition: () => void, body: () => void): this {
    this.#code.push(0x02, VOID_BLOCK, 0x03, VOID_BLOCK);
    condition();
    this.op("i32.eqz");
    this.#code.push(0x0d, 1); // br_if out of the block
    body();
    this.#code.push(0x0c, 0, 0x0b, 0x0b); // br to the loop; end loop; end block
    return this;
  }

  /** `for (counter = start; counter < end (unsigned); counter += step) body()`; start and end push an i32. */
  loop(counter: number, start: () => void, end: () => void, step: number, body: () => void): this {
    start();
    this.set(counter);
    this.#code.push(0x02, VOID_BLOCK, 0x03, VOID_BLOCK);
    this.get(counter);
    end();
    this.op("i32.ge_u");
    this.#code.push(0x0d, 1); // br_if out of the block
    body();
    this.get(counter).i32(step).op("i32.add").set(counter);
    this.#code.push(0x0c, 0, 0x0b, 0x0b); // br to the loop; end loop; end block
    return this;
  }

  body(): Uint8Array {
    const body = new Bytes();
    const runs: { type: ValueType; count: number }[] = [];
    for (const type of this.#locals) {
      const last = runs.at(-1);
      if (last?.type === type) last.count++;
      else runs.push({ type, count: 1 });
    }
    body.unsigned(runs.length);
    for (const run of runs) {
      body.unsigned(run.count);
      body.push(run.type);
    }
    body.append(this.#code.bytes);
    body.push(0x0b);
    return body.bytes;
  }
}

/** The most pages a shared memory may have: the format wants a maximum, and 4 GiB is what 32 bits address. */
export const MAX_PAGES = 65_536;

/** A module that imports one memory (`env.memory`) and exports its functions by name. */
export class ModuleWriter {
  readonly #functions: { name: string; writer: FunctionWriter }[] = [];

  /** Adds an exported function and returns its index, for `call`. */
  function(
    name: string,
    params: readonly ValueType[],
    results: readonly ValueType[],
    write: (writer: FunctionWriter) => void,
  ): number {
    const writer = new FunctionWriter(params, results);
    write(writer);
    this.#functions.push({ name, writer });
    return this.#functions.length - 1;
  }

  bytes({ shared }: { shared: boolean }): Uint8Array<ArrayBuffer> {
    const out = new Bytes();
    out.push(0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00);
    const section = (id: number, write: (content: Bytes) => void) => {
      const content = new Bytes();
      write(content);
      out.push(id);
      out.sized(content);
    };
    section(1, (types) => {
      types.unsigned(this.#functions.length);
      for (const { writer } of this.#functions) {
        types.push(0x60);
        types.unsigned(writer.params.length);
        types.append(writer.params);
        types.unsigned(writer.results.length);
        types.append(writer.results);
      }
    });
    section(2, (imports) => {
      imports.unsigned(1);
      imports.name("env");
      imports.name("memory");
      imports.push(0x02, shared ? 0x03 : 0x00);
      imports.unsigned(1);
      if (shared) imports.unsigned(MAX_PAGES);
    });
    section(3, (functions) => {
      functions.unsigned(this.#functions.length);
      for (const type of this.#functions.keys()) functions.unsigned(type);
    });
    section(7, (exports) => {
      exports.unsigned(this.#functions.length);
      this.#functions.forEach(({ name }, index) => {
        exports.name(name);
        exports.push(0x00);
        exports.unsigned(index);
      });
    });
    section(10, (codes) => {
      codes.unsigned(this.#functions.length);
      for (const { writer } of this.#functions) {
        const body = new Bytes();
        body.append(writer.body());
        codes.sized(body);
      }
    });
    return out.bytes.slice();
  }
}
