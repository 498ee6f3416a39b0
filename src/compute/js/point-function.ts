/** Float64 JavaScript from a graph: source text, and functions made of it. */
import { reachableUntil, type Traced } from "../graph/expression.js";
import { isElementwise, scalar } from "../graph/scalar.js";
import { interpreter } from "./interpreter.js";

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

/** Whether a policy was found to forbid functions from text: it is then not tried again, as each try is reported. */
let forbidden = false;

/** A function from its source, in which `scalar` names the operations; undefined where a policy forbids making one. */
export const makeFunction = <T>(source: string): T | undefined => {
  if (forbidden) return undefined;
  try {
    const make = new Function("scalar", `"use strict"; return ${source}`) as (operations: typeof scalar) => T;
    return make(scalar);
  } catch (error) {
    if (!(error instanceof EvalError)) throw error;
    forbidden = true;
    return undefined;
  }
};

/** All outputs at one point. */
export type PointFunction = (inputs: Float64Array, outputs: Float64Array) => void;

/** A function of a point from its text. */
const madePoint = (inputs: readonly Traced[], outputs: readonly Traced[]): PointFunction | undefined => {
  const lines = reachableUntil(outputs, () => false).map((node) => {
    const value = node.op === "input" ? `inputs[${inputs.indexOf(node)}]` : elementSource(node);
    return `const v${node.id} = ${value};`;
  });
  outputs.forEach((node, i) => {
    lines.push(`outputs[${i}] = v${node.id};`);
  });
  return makeFunction<PointFunction>(`(inputs, outputs) => {\n${lines.join("\n")}\n}`);
};

const interpretedPoint = (inputs: readonly Traced[], outputs: readonly Traced[]): PointFunction => {
  let at: Float64Array = new Float64Array(0);
  const { run, value } = interpreter(
    reachableUntil(outputs, () => false),
    (node) => {
      if (node.op !== "input") return undefined;
      const index = inputs.indexOf(node);
      return () => at[index];
    },
  );
  return (given, results) => {
    at = given;
    run();
    outputs.forEach((node, i) => {
      results[i] = value(node);
    });
  };
};

export const pointFunction = (inputs: readonly Traced[], outputs: readonly Traced[]): PointFunction =>
  madePoint(inputs, outputs) ?? interpretedPoint(inputs, outputs);
