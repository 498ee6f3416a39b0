/**
 * From a user's function to a graph, or to an error that names the line to change.
 *
 * Operators and `Math.*` on a traced value throw at once (`Traced[Symbol.toPrimitive]`). What JavaScript does not let
 * a library see, a branch on the truth of an object, is found by running the function again: on traced values
 * (it must build the same graph) and on plain numbers (it must give what the graph gives).
 */
import { TraceError } from "../../core/errors.js";
import { Graph, locationIn, Traced, type Value } from "./expression.js";
import { computeScalar, isElementwise } from "./scalar.js";

/** The axes of every input, by name. */
export type InputAxes = Readonly<Record<string, readonly string[]>>;

export interface Trace {
  readonly graph: Graph;
  readonly inputs: Readonly<Record<string, Traced>>;
  readonly outputs: Readonly<Record<string, Traced>>;
}

type Outputs = Value | Readonly<Record<string, Value>>;
export type TracedFunction<Inputs extends InputAxes> = (
  inputs: {
    readonly [Name in keyof Inputs]: Value;
  },
) => Outputs;

/** The name of the only output of a function that returns a value and not an object of values. */
export const SINGLE = "value";

export const traceTexts = {
  failed: (message: string) =>
    `the function failed while it was traced: ${message}; use the operations of fairbed (add, log, select, ...)`,
  branched: (operation: string) =>
    `the result of ${operation}(...) is not used by the outcome, as happens when it stands in an if: write select(condition, a, b) instead`,
  changing:
    "the function builds a different expression each time it is called: make it depend on its arguments alone, " +
    "without random numbers or outside state",
  disagrees: (point: string) =>
    `the function gives a different value on plain numbers (${point}) than when traced: replace if, ?:, &&, || and ===` +
    " on its arguments by select(...)",
  notAResult: (name: string, given: string) =>
    `the function returned ${given} for ${name}: return a traced value, a number, or an object of those`,
};

/** Axes in the order in which the inputs first name them. */
const axesOf = (inputs: InputAxes): string[] => [...new Set(Object.values(inputs).flat())];

const buildOnce = <Inputs extends InputAxes>(
  fn: TracedFunction<Inputs>,
  inputAxes: Inputs,
  axes: readonly string[],
): Trace => {
  const graph = new Graph(axes);
  const inputs: Record<string, Traced> = {};
  for (const [name, own] of Object.entries(inputAxes)) inputs[name] = graph.input(name, own);
  const outputs: Record<string, Traced> = {};
  const returned = guarded(() => fn(inputs as Parameters<typeof fn>[0]));
  for (const [name, value] of Object.entries(named(returned))) {
    if (typeof value !== "number" && !(value instanceof Traced)) {
      throw new TraceError("not-a-result", traceTexts.notAResult(name, String(value)), undefined);
    }
    outputs[name] = graph.lift(value, "return", buildOnce);
  }
  return { graph, inputs, outputs };
};

const named = (returned: Outputs): Readonly<Record<string, Value>> =>
  typeof returned === "object" && !(returned instanceof Traced) && returned !== null
    ? returned
    : { [SINGLE]: returned };

/** An error of the user's own code, such as a method that traced values do not have, with its line. */
const guarded = <T>(run: () => T): T => {
  try {
    return run();
  } catch (error) {
    if (error instanceof TraceError) throw error;
    const message = error instanceof Error ? error.message : String(error);
    const line =
      error instanceof Error ? error.stack?.split("\n").find((text) => /^\s*at /.test(text)) : undefined;
    const location = line === undefined ? undefined : locationIn(line);
    throw new TraceError("failed", traceTexts.failed(message), location, { cause: error });
  }
};

/** Every node's value at one point, in float64; axes have length one there. */
export const evaluateAt = (graph: Graph, at: Readonly<Record<string, number>>): Float64Array => {
  const values = new Float64Array(graph.nodes.length);
  for (const node of graph.nodes) {
    const args = node.args.map((arg) => values[arg.id]);
    values[node.id] = isElementwise(node.op)
      ? computeScalar(node.op, args)
      : node.op === "input"
        ? at[node.name]
        : node.op === "constant"
          ? node.value
          : node.op === "size"
            ? 1
            : args[0];
  }
  return values;
};

/** Points of both signs and several sizes: enough that a branch on the sign or size of an input is taken both ways. */
const CHECK_POINTS = 12;
const checkPoint = (names: readonly string[], round: number): Record<string, number> => {
  const scale = [0.3, 1, 3, 20][round % 4];
  return Object.fromEntries(
    names.map((name, i) => [name, scale * Math.sin(1 + 12.9898 * (i + 1) + 78.233 * (round + 1))]),
  );
};

const same = (a: number, b: number): boolean =>
  Object.is(a, b) || a === b || Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b), 1e-300);

/** Traces `fn` and makes sure that the graph says what the function says. */
export const trace = <const Inputs extends InputAxes>(
  fn: TracedFunction<Inputs>,
  inputAxes: Inputs,
  axes: readonly string[] = axesOf(inputAxes),
): Trace => {
  const traced = buildOnce(fn, inputAxes, axes);
  const { graph, outputs } = traced;
  const unused = graph.unusedComparison(Object.values(outputs));
  if (unused !== undefined) throw new TraceError("branch", traceTexts.branched(unused.op), unused.location);
  const again = buildOnce(fn, inputAxes, axes);
  const changed = Object.keys(outputs).some((name) => again.outputs[name]?.id !== outputs[name].id);
  const fingerprint = (g: Graph) => g.nodes.map((n) => `${n.op}${n.value}${n.name}`).join();
  if (changed || fingerprint(again.graph) !== fingerprint(graph)) {
    throw new TraceError("changing", traceTexts.changing, undefined);
  }
  for (let round = 0; round < CHECK_POINTS; round++) {
    const at = checkPoint(Object.keys(inputAxes), round);
    const direct = named(guarded(() => fn(at as Parameters<typeof fn>[0])));
    const values = evaluateAt(graph, at);
    for (const [name, node] of Object.entries(outputs)) {
      const value = direct[name];
      // Constants gathered by the graph round differently; only a real difference counts.
      if (
        typeof value === "number" &&
        !same(value, values[node.id]) &&
        !same(value + 1, values[node.id] + 1)
      ) {
        const point = Object.entries(at).map(([key, number]) => `${key} = ${number.toPrecision(4)}`);
        throw new TraceError("disagrees", traceTexts.disagrees(point.join(", ")), undefined);
      }
    }
  }
  return traced;
};
