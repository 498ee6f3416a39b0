/**
 * Straight-line float32 SIMD code as a graph: four lanes a value, equal expressions shared, written out to
 * WebAssembly once it is known which loop each value belongs to.
 *
 * A value carries the `axes` it depends on (a bit set that the kernel gives to its leaves); a kernel uses it to
 * place the value in the outermost loop where it is constant.
 */
import { type FunctionWriter, type SimdInstruction, V128 } from "./encoder.js";

export interface VectorNode {
  readonly id: number;
  readonly args: readonly VectorNode[];
  readonly axes: number;
  /** Pushes the value, its arguments being on the stack already. */
  readonly write: (writer: FunctionWriter) => void;
  /** A value that does not pay to keep in a local (a constant). */
  readonly cheap: boolean;
}

type Binary = Exclude<SimdInstruction, `${string}splat` | `${string}relaxed_${string}` | "v128.bitselect">;

const bitsOf = new DataView(new ArrayBuffer(4));

/**
 * Constants of a kernel, in memory. V8 builds a `v128.const` from immediates wherever it is used, with three
 * instructions and inside loops too; a loaded one stays in a register or on the stack.
 */
export class ConstantPool {
  readonly #bits: number[] = [];
  readonly #push: (writer: FunctionWriter) => void;
  readonly #offset: number;

  /** `push` puts the address on the stack that the pool starts `offset` bytes after. */
  constructor(push: (writer: FunctionWriter) => void, offset: number) {
    this.#push = push;
    this.#offset = offset;
  }

  /** What memory must hold, 32 bits each. */
  get bits(): readonly number[] {
    return this.#bits;
  }

  load(bits: number): (writer: FunctionWriter) => void {
    const known = this.#bits.indexOf(bits);
    const index = known >= 0 ? known : this.#bits.push(bits) - 1;
    return (writer) => {
      this.#push(writer);
      writer.memory("v128.load32_splat", this.#offset + 4 * index);
    };
  }
}

export class VectorGraph {
  /** Whether fused multiply-add may be used (relaxed SIMD); without it `madd` is a product and a sum. */
  readonly fma: boolean;
  readonly #nodes = new Map<string, VectorNode>();
  #count = 0;

  readonly #pool: ConstantPool | undefined;

  constructor({ fma, pool }: { fma: boolean; pool?: ConstantPool | undefined }) {
    this.fma = fma;
    this.#pool = pool;
  }

  #node(
    key: string,
    args: readonly VectorNode[],
    write: (writer: FunctionWriter) => void,
    { axes = 0, cheap = false }: { axes?: number | undefined; cheap?: boolean | undefined } = {},
  ): VectorNode {
    const full = `${key}(${args.map((arg) => arg.id).join()})`;
    const known = this.#nodes.get(full);
    if (known !== undefined) return known;
    const node: VectorNode = {
      id: this.#count++,
      args,
      axes: args.reduce((all, arg) => all | arg.axes, axes),
      write,
      cheap,
    };
    this.#nodes.set(full, node);
    return node;
  }

  /** A value that the kernel provides: a load, a local. Leaves with the same key are the same value. */
  leaf(key: string, axes: number, write: (writer: FunctionWriter) => void): VectorNode {
    return this.#node(`leaf ${key}`, [], write, { axes });
  }

  /** The float32 nearest to `value` in every lane. */
  float(value: number): VectorNode {
    bitsOf.setFloat32(0, value, true);
    return this.bits(bitsOf.getInt32(0, true));
  }

  /** The same 32 bits in every lane: integer constants and masks. */
  bits(bits: number): VectorNode {
    if (this.#pool !== undefined) return this.#node(`bits ${bits | 0}`, [], this.#pool.load(bits | 0));
    return this.#node(`bits ${bits | 0}`, [], (writer) => writer.splat32(bits), { cheap: true });
  }

  /** Any instruction that takes vectors and returns a vector. */
  apply(instruction: Binary, ...args: readonly VectorNode[]): VectorNode {
    return this.#node(instruction, args, (writer) => writer.simd(instruction));
  }

  /** Integer shifts by a constant number of bits. */
  shift(instruction: "i32x4.shl" | "i32x4.shr_s" | "i32x4.shr_u", a: VectorNode, count: number): VectorNode {
    return this.#node(`${instruction} ${count}`, [a], (writer) => writer.i32(count).simd(instruction));
  }

  add(a: VectorNode, b: VectorNode): VectorNode {
    return this.apply("f32x4.add", a, b);
  }
  sub(a: VectorNode, b: VectorNode): VectorNode {
    return this.apply("f32x4.sub", a, b);
  }
  mul(a: VectorNode, b: VectorNode): VectorNode {
    return this.apply("f32x4.mul", a, b);
  }
  div(a: VectorNode, b: VectorNode): VectorNode {
    return this.apply("f32x4.div", a, b);
  }

  /** a * b + c, with one rounding where the machine has it. */
  madd(a: VectorNode, b: VectorNode, c: VectorNode): VectorNode {
    if (!this.fma) return this.add(this.mul(a, b), c);
    return this.#node("madd", [a, b, c], (writer) => writer.simd("f32x4.relaxed_madd"));
  }

  /** c - a * b, with one rounding where the machine has it. */
  nmadd(a: VectorNode, b: VectorNode, c: VectorNode): VectorNode {
    if (!this.fma) return this.sub(c, this.mul(a, b));
    return this.#node("nmadd", [a, b, c], (writer) => writer.simd("f32x4.relaxed_nmadd"));
  }

  /** mask ? a : b, lane by lane; the mask has all bits of a lane set or none. */
  select(mask: VectorNode, a: VectorNode, b: VectorNode): VectorNode {
    return this.#node("bitselect", [a, b, mask], (writer) => writer.simd("v128.bitselect"));
  }

  /** Horner's rule; coefficients from the constant term up. */
  polynomial(x: VectorNode, coefficients: readonly number[]): VectorNode {
    const last = coefficients.at(-1);
    if (last === undefined) return this.float(0);
    let sum = this.float(last);
    for (let i = coefficients.length - 2; i >= 0; i--) sum = this.madd(sum, x, this.float(coefficients[i]));
    return sum;
  }
}

/** How often each value is pushed when `roots` are written, those in `kept` and what only they need left out. */
const countUses = (
  roots: readonly VectorNode[],
  kept: ReadonlyMap<VectorNode, number>,
): Map<VectorNode, number> => {
  const uses = new Map<VectorNode, number>();
  const stack = [...roots];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (kept.has(node)) continue;
    const seen = uses.get(node) ?? 0;
    uses.set(node, seen + 1);
    if (seen === 0) stack.push(...node.args);
  }
  return uses;
};

/**
 * Writes the code of `roots` and keeps each in a local. `kept` holds the values that are in locals already and
 * gains every value that this call computed and used more than once, so that a later call in the same or an
 * inner loop reuses them.
 *
 * With `spare`, `kept` gains the roots alone: the locals of all others go to `spare` after their last use, and are taken
 * from there. An engine allows a function some 50,000 of them.
 */
export const writeVectors = (
  writer: FunctionWriter,
  roots: readonly VectorNode[],
  kept: Map<VectorNode, number>,
  spare?: number[],
): void => {
  const uses = countUses(roots, kept);
  const lasting = new Set(roots);
  const take = (): number => spare?.pop() ?? writer.local(V128);
  /** Pushes a value that is in a local; true if there is one. */
  const recall = (node: VectorNode): boolean => {
    const local = kept.get(node);
    if (local === undefined) return false;
    writer.get(local);
    const left = (uses.get(node) ?? 0) - 1;
    uses.set(node, left);
    if (spare !== undefined && left === 0 && !lasting.has(node)) {
      kept.delete(node);
      spare.push(local);
    }
    return true;
  };
  /** Pushes a value whose arguments are on the stack. */
  const finish = (node: VectorNode): void => {
    node.write(writer);
    const count = uses.get(node) ?? 0;
    if (node.cheap || count < 2) return;
    const fresh = take();
    kept.set(node, fresh);
    uses.set(node, count - 1);
    writer.tee(fresh);
  };
  /** Arguments first. A list and not recursion, which ends a few thousand operations deep. */
  const push = (root: VectorNode): void => {
    const open: { readonly node: VectorNode; next: number }[] = [];
    const enter = (node: VectorNode): void => {
      if (!recall(node)) open.push({ node, next: 0 });
    };
    enter(root);
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      const { node } = top;
      if (top.next < node.args.length) enter(node.args[top.next++]);
      else {
        finish(node);
        open.pop();
      }
    }
  };
  for (const root of roots) {
    if (kept.has(root)) continue;
    push(root);
    const known = kept.get(root);
    if (known !== undefined) {
      writer.op("drop");
      continue;
    }
    const fresh = take();
    kept.set(root, fresh);
    writer.set(fresh);
  }
};
