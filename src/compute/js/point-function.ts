/** Float64 JavaScript from a graph: source text, and functions made of it. */
import { EnvironmentError } from "../../core/errors.js";
import { reachableUntil, type Traced } from "../graph/expression.js";
import { isElementwise, scalar } from "../graph/scalar.js";

export const sourceTexts = {
  blocked:
    'this page\'s security policy forbids making functions at run time, which the backend "js" does: use the ' +
    "backend \"wasm\", or allow 'unsafe-eval'",
};

const OPERATORS: Readonly<Record<string, string>> = { add: "+", sub: "-", mul: "*", div: "/" };

/** The right-hand side of `const v<id> = ...` for a constant or an elementwise node. */
export const elementSource = (node: Traced): string => {
  const args = node.args.map((arg) => `v${arg.id}`);
  if (node.op === "constant") return Object.is(node.value, -0) ? "-0" : `(${String(node.value)})`;
  const operator = OPERATORS[node.op];
  if (operator !== undefined) return `${args[0]} ${operator} ${args[1]}`;
  if (node.op === "square") return `${args[0]} * ${args[0]}`;
  if (isElementwise(node.op)) return `scalar.${node.op}(${args.join(", ")})`;
  throw new RangeError(`${node.op} ${node.name} has no value here`);
};

/** A function from its source, in which `scalar` names the operations. */
export const makeFunction = <T>(source: string): T => {
  try {
    return (new Function("scalar", `"use strict"; return ${source}`) as (operations: typeof scalar) => T)(
      scalar,
    );
  } catch (cause) {
    if (cause instanceof EvalError) throw new EnvironmentError("eval", sourceTexts.blocked, { cause });
    throw cause;
  }
};

/** All outputs at one point. */
export type PointFunction = (inputs: Float64Array, outputs: Float64Array) => void;

export const pointFunction = (inputs: readonly Traced[], outputs: readonly Traced[]): PointFunction => {
  const lines = reachableUntil(outputs, () => false).map((node) => {
    const value = node.op === "input" ? `inputs[${inputs.indexOf(node)}]` : elementSource(node);
    return `const v${node.id} = ${value};`;
  });
  outputs.forEach((node, i) => {
    lines.push(`outputs[${i}] = v${node.id};`);
  });
  return makeFunction<PointFunction>(`(inputs, outputs) => {\n${lines.join("\n")}\n}`);
};
