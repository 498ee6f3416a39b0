/**
 * From the expression graph to float32 SIMD values: each operation by `wasm/math.ts`, products and sums fused
 * where the machine can.
 */
import { reachableUntil, type Traced } from "../graph/expression.js";
import { isComparison, isElementwise } from "../graph/scalar.js";
import { vectorMath } from "./math.js";
import type { VectorGraph, VectorNode } from "./vector.js";

/** Operations nested in each other that recursion takes at a time. */
const RUNG = 256;

/** Turns nodes into vectors. */
export class Lowering {
  readonly #vectors: VectorGraph;
  readonly #leaf: (node: Traced) => VectorNode | undefined;
  readonly #values = new Map<Traced, VectorNode>();
  readonly #masks = new Map<Traced, VectorNode>();

  /**
   * `leaf` gives the vectors that the kernel has already: inputs, sizes, reduced nodes, and whatever else it keeps
   * in memory; undefined for a node that is to be computed here.
   */
  constructor(vectors: VectorGraph, leaf: (node: Traced) => VectorNode | undefined) {
    this.#vectors = vectors;
    this.#leaf = leaf;
  }

  value(node: Traced): VectorNode {
    this.#climb(node);
    return this.#value(node);
  }

  /** The factors of a product or square, for fused multiply-add. */
  factors(node: Traced): readonly [VectorNode, VectorNode] | undefined {
    this.#climb(node);
    return this.#factors(node);
  }

  /**
   * Goes up to `node` rung by rung: whatever lies below a rung is a vector before something on it needs it, so that no
   * recursion is deeper than a rung.
   */
  #climb(node: Traced): void {
    if (node.depth < RUNG) return;
    const rung = ({ depth }: Traced) => Math.floor(depth / RUNG);
    const done = (each: Traced) => this.#values.has(each) || this.#leaf(each) !== undefined;
    for (const each of reachableUntil([node], done)) {
      if (done(each)) continue;
      for (const arg of each.args) if (rung(arg) < rung(each)) this.#value(arg);
    }
  }

  #value(node: Traced): VectorNode {
    const known = this.#values.get(node);
    if (known !== undefined) return known;
    const made = this.#make(node);
    this.#values.set(node, made);
    return made;
  }

  /** All bits of a lane set where the node is not zero. */
  #mask(node: Traced): VectorNode {
    const known = this.#masks.get(node);
    if (known !== undefined) return known;
    const g = this.#vectors;
    // A comparison that the kernel has already is a value like any other: its operands may be out of reach here.
    const made =
      this.#leaf(node) === undefined && isElementwise(node.op) && isComparison(node.op)
        ? vectorMath[node.op](g, this.#value(node.args[0]), this.#value(node.args[1]))
        : vectorMath.notEqual(g, this.#value(node), g.float(0));
    this.#masks.set(node, made);
    return made;
  }

  #factors(node: Traced): readonly [VectorNode, VectorNode] | undefined {
    if (this.#leaf(node) !== undefined) return undefined;
    if (node.op === "square") return [this.#value(node.args[0]), this.#value(node.args[0])];
    if (node.op === "mul") return [this.#value(node.args[0]), this.#value(node.args[1])];
    return undefined;
  }

  #make(node: Traced): VectorNode {
    const g = this.#vectors;
    const leaf = this.#leaf(node);
    if (leaf !== undefined) return leaf;
    if (node.op === "constant") return g.float(node.value);
    if (!isElementwise(node.op)) throw new RangeError(`${node.op} ${node.name} has no place in this kernel`);
    const [a, b, c] = node.args;
    switch (node.op) {
      case "add": {
        const second = this.#factors(b);
        if (second !== undefined) return g.madd(...second, this.#value(a));
        const first = this.#factors(a);
        return first === undefined ? g.add(this.#value(a), this.#value(b)) : g.madd(...first, this.#value(b));
      }
      case "sub": {
        const second = this.#factors(b);
        return second === undefined
          ? g.sub(this.#value(a), this.#value(b))
          : g.nmadd(...second, this.#value(a));
      }
      case "mul":
        return g.mul(this.#value(a), this.#value(b));
      case "div":
        // A constant divisor costs a product instead of a division, and half an ulp.
        return b.op === "constant" && Math.abs(b.value) > 1e-30 && Math.abs(b.value) < 1e30
          ? g.mul(this.#value(a), g.float(1 / b.value))
          : g.div(this.#value(a), this.#value(b));
      case "neg":
        return g.apply("f32x4.neg", this.#value(a));
      case "square":
        return g.mul(this.#value(a), this.#value(a));
      case "abs":
        return g.apply("f32x4.abs", this.#value(a));
      case "sqrt":
        return g.apply("f32x4.sqrt", this.#value(a));
      case "select":
        return vectorMath.select(g, this.#mask(a), this.#value(b), this.#value(c));
      case "less":
      case "lessEqual":
      case "greater":
      case "greaterEqual":
      case "equal":
      case "notEqual":
        return g.apply("v128.and", this.#mask(node), g.float(1));
      case "min":
      case "max":
        // With a constant, which stands first, one instruction passes NaN on; with two unknowns it takes several.
        if (a.op === "constant" && !Number.isNaN(a.value)) {
          return g.apply(node.op === "min" ? "f32x4.pmin" : "f32x4.pmax", this.#value(b), this.#value(a));
        }
        return vectorMath[node.op](g, this.#value(a), this.#value(b));
      case "pow":
        return vectorMath[node.op](g, this.#value(a), this.#value(b));
      default:
        return vectorMath[node.op](g, this.#value(a), a.range);
    }
  }
}
