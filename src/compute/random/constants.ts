import { type FunctionWriter, V128 } from "../wasm/encoder.js";

const scratch = new DataView(new ArrayBuffer(8));

/**
 * Constants of 64 bits, a vector each, that a kernel loads from memory, because V8 builds a `v128.const` from
 * immediates wherever it is used, with three instructions and inside loops too.
 */
export class WideConstants {
  readonly #bits: bigint[] = [];
  readonly #base: number;
  readonly #offset: number;

  /** They lie `offset` bytes after the address in the local `base`. */
  constructor(base: number, offset: number) {
    this.#base = base;
    this.#offset = offset;
  }

  /** What memory must hold, 64 bits each. */
  get contents(): BigUint64Array<ArrayBuffer> {
    return BigUint64Array.from(this.#bits.flatMap((bits) => [bits, bits]));
  }

  /** A local with these 64 bits in both lanes. */
  integer(writer: FunctionWriter, value: bigint): number {
    const bits = BigInt.asUintN(64, value);
    const known = this.#bits.indexOf(bits);
    const index = known >= 0 ? known : this.#bits.push(bits) - 1;
    const local = writer.local(V128);
    writer
      .get(this.#base)
      .memory("v128.load", this.#offset + 16 * index)
      .set(local);
    return local;
  }

  /** A local with this float64 in both lanes. */
  float(writer: FunctionWriter, value: number): number {
    scratch.setFloat64(0, value);
    return this.integer(writer, scratch.getBigUint64(0));
  }
}
