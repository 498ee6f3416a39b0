/** From the expression graph to WGSL: every operation is a statement that names its result. */
import { reachableUntil, type Traced } from "../../graph/expression.js";
import { type Comparison, isComparison, isElementwise } from "../../graph/scalar.js";
import { f32 } from "./literal.js";
import { functionOf } from "./math.js";

const COMPARE: Readonly<Record<Comparison, string>> = {
  less: "<",
  lessEqual: "<=",
  greater: ">",
  greaterEqual: ">=",
  equal: "==",
  notEqual: "!=",
};

/** Divisors outside of this have no reciprocal that a float32 holds as well. */
const RECIPROCAL = { least: 1e-30, most: 1e30 };

/** Statements that compute nodes. */
export class WgslStatements {
  readonly lines: string[] = [];
  readonly #names = new Map<Traced, string>();
  readonly #leaf: (node: Traced) => string | undefined;
  readonly #prefix: string;

  /**
   * `leaf` is the text of a node that is there already: an input, or what another loop keeps; undefined for one that is to
   * be computed here. Names begin with `prefix`, so that several copies can stand beside each other.
   */
  constructor(prefix: string, leaf: (node: Traced) => string | undefined) {
    this.#prefix = prefix;
    this.#leaf = leaf;
  }

  /** The name of a node's value, after the statements that it needs. */
  value(root: Traced): string {
    const known = (node: Traced) => this.#names.has(node) || this.#leaf(node) !== undefined;
    for (const node of reachableUntil([root], known)) {
      if (this.#names.has(node)) continue;
      const leaf = this.#leaf(node);
      if (leaf !== undefined || node.op === "constant") {
        this.#names.set(node, leaf ?? constantText(node.value));
        continue;
      }
      const name = `${this.#prefix}${node.id}`;
      this.lines.push(`let ${name} = ${this.#text(node)};`);
      this.#names.set(node, name);
    }
    return this.#nameOf(root);
  }

  #nameOf(node: Traced): string {
    const name = this.#names.get(node);
    if (name === undefined) throw new RangeError(`${node.op} ${node.name} has no place in this kernel`);
    return name;
  }

  #condition(node: Traced): string {
    return isElementwise(node.op) && isComparison(node.op) && this.#leaf(node) === undefined
      ? this.#comparison(node, node.op)
      : `${this.#nameOf(node)} != 0.0f`;
  }

  #comparison({ args: [a, b] }: Traced, op: Comparison): string {
    return `${this.#nameOf(a)} ${COMPARE[op]} ${this.#nameOf(b)}`;
  }

  #text(node: Traced): string {
    const { op } = node;
    if (!isElementwise(op)) throw new RangeError(`${op} ${node.name} has no place in this kernel`);
    const [first, second, third] = node.args;
    if (op === "select") {
      return `select(${this.#nameOf(third)}, ${this.#nameOf(second)}, ${this.#condition(first)})`;
    }
    if (isComparison(op)) return `select(0.0f, 1.0f, ${this.#comparison(node, op)})`;
    const args = node.args.map((arg) => this.#nameOf(arg));
    const [a, b] = args;
    switch (op) {
      case "add":
        return `${a} + ${b}`;
      case "sub":
        return `${a} - ${b}`;
      case "mul":
        return `${a} * ${b}`;
      case "div": {
        const size = Math.abs(second.value);
        return second.op === "constant" && size > RECIPROCAL.least && size < RECIPROCAL.most
          ? `${a} * ${f32(1 / second.value)}`
          : `${a} / ${b}`;
      }
      case "neg":
        return `-(${a})`;
      case "square":
        return `${a} * ${a}`;
      default:
        return `${functionOf(op, first.range) ?? op}(${args.join(", ")})`;
    }
  }
}

const constantText = (value: number): string => {
  if (Number.isNaN(value)) return "fb_nan()";
  const rounded = Math.fround(value);
  if (!Number.isFinite(rounded)) return rounded < 0 ? "(-fb_infinity())" : "fb_infinity()";
  return rounded < 0 ? `(${f32(value)})` : f32(value);
};
