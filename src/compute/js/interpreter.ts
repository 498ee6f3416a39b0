/**
 * Float64 values of a graph without making a function at run time: what the backend `js` does where a page's
 * security policy forbids that. The operations and their order are those of the functions that are made otherwise,
 * and so are the bits.
 */
import type { Traced } from "../graph/expression.js";
import { isElementwise, scalar } from "../graph/scalar.js";

export interface Interpreter {
  /** Computes all nodes at the point that the loads read. */
  run(): void;
  /** The value of a node after `run`. */
  value(node: Traced): number;
}

type Operation = (a: number, b: number, c: number) => number;

/** `nodes` have their arguments before them; `load` reads those that are not computed from others. */
export const interpreter = (
  nodes: readonly Traced[],
  load: (node: Traced) => (() => number) | undefined,
): Interpreter => {
  const slots = new Map(nodes.map((node, i) => [node, i]));
  const slotOf = (node: Traced | undefined): number => (node === undefined ? 0 : (slots.get(node) ?? 0));
  const values = new Float64Array(nodes.length);
  const steps: (() => void)[] = [];
  nodes.forEach((node, slot) => {
    const read = load(node);
    if (read !== undefined) {
      steps.push(() => {
        values[slot] = read();
      });
    } else if (node.op === "constant") values[slot] = node.value;
    else if (isElementwise(node.op)) {
      // Operations ignore what they do not take.
      const compute = scalar[node.op] as Operation;
      const [a, b, c] = [0, 1, 2].map((i) => slotOf(node.args[i]));
      steps.push(() => {
        values[slot] = compute(values[a], values[b], values[c]);
      });
    } else throw new RangeError(`${node.op} ${node.name} has no value here`);
  });
  return {
    run() {
      for (const step of steps) step();
    },
    value: (node) => values[slotOf(node)],
  };
};
