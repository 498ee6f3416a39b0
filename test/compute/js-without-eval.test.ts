/** The backend `js` where functions may not be made from text: the same bits, by interpretation. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Value } from "../../src/compute/graph/expression.js";
import { trace } from "../../src/compute/graph/trace.js";
import { interpreter } from "../../src/compute/js/interpreter.js";
import { needsDist } from "../setup/dist.js";
import { build, expression } from "./graph/expressions.js";

needsDist();

/** Runs on `dist/` in a process of its own and prints what came out as JSON. */
const PROGRAM = `
const { add, compile, compileLogMeanExp, exp, logsumexp, mul, select, less, sub, sum, square, tanh } =
  await import(process.argv[1]);
let allowed = true;
try { new Function("return 1"); } catch { allowed = false; }
const numbers = (n) => Float64Array.from({ length: n }, (_, i) => ((i * 7919) % 101) / 25 - 2);
const fill = (program, names) => names.forEach((name) => program.input(name).set(numbers(program.input(name).length)));
const program = compile(
  ({ x, y, z }) => {
    const inner = tanh(add(mul(x, y), z));
    const pair = logsumexp("s", sub(inner, square(z)));
    return { each: mul(inner, exp(pair)), total: sum("b", pair), chosen: select(less(x, 0), y, sum("t", x)) };
  },
  { inputs: { x: ["b", "t", "s"], y: ["t"], z: ["b", "s"] }, gradients: ["x", "y", "z"], of: "each", backend: "js" },
);
program.resize({ b: 3, t: 4, s: 5 });
fill(program, ["x", "y", "z"]);
program.run();
const nested = compileLogMeanExp(({ y, theta, x }) => mul(-0.5, square(sub(y, mul(theta, x)))), {
  inputs: { y: ["outer", "observation"], theta: ["inner"], x: ["observation"] }, gradients: ["x", "theta"], backend: "js",
});
nested.resize({ outer: 3, inner: 7, observation: 2 });
fill(nested, ["y", "theta", "x"]);
nested.run();
console.log(JSON.stringify({ allowed, values: [
  ...["each", "total", "chosen"].map((name) => [...program.output(name)]),
  ...["x", "y", "z"].map((name) => [...program.gradient(name)]),
  [...nested.value], ...["x", "theta"].map((name) => [...nested.gradient(name)]),
] }));
`;

const runInNode = (...flags: string[]) => {
  const library = new URL("../../dist/compute/index.js", import.meta.url).href;
  const args = [...flags, "--input-type=module", "--eval", PROGRAM, library];
  const cwd = fileURLToPath(new URL(".", import.meta.url));
  return JSON.parse(execFileSync(process.execPath, args, { cwd, encoding: "utf8" })) as {
    allowed: boolean;
    values: number[][];
  };
};

test("programs give the same bits with and without functions from text", () => {
  const made = runInNode();
  const interpreted = runInNode("--disallow-code-generation-from-strings");
  expect(made.allowed).toBe(true);
  expect(interpreted.allowed).toBe(false);
  expect(interpreted.values).toEqual(made.values);
  expect(made.values.flat().every(Number.isFinite)).toBe(true);
});

test("interprets every operation as it is on plain numbers", () => {
  const inputs = { x: [], y: [], z: [] };
  const number = fc.double({ min: -3, max: 3, noNaN: true });
  fc.assert(
    fc.property(
      expression({ inputs: Object.keys(inputs), depth: 4 }),
      fc.record({ x: number, y: number, z: number }),
      (tree, at) => {
        const fn = (values: Readonly<Record<string, Value>>) => build(tree, values);
        const { graph, outputs } = trace(fn, inputs, { checked: true });
        const { run, value } = interpreter(graph.nodes, (node) =>
          node.op === "input" ? () => at[node.name as "x" | "y" | "z"] : undefined,
        );
        run();
        const expected = fn(at) as number;
        const difference = Math.abs(value(outputs.value) - expected);
        // Simplification gathers constants, which rounds otherwise.
        expect(difference).toBeLessThanOrEqual(1e-9 * (1 + Math.abs(expected)));
      },
    ),
    { numRuns: 200, seed: 21 },
  );
});
