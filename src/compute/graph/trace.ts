/**
 * From a user's function to a graph, or to an error that names the line to change.
 *
 * Operators and `Math.*` on a traced value throw at once (`Traced[Symbol.toPrimitive]`). What JavaScript does not let
 * a library see, a branch on the truth of an object, is found by running the function again: on traced values
 * (it must build the same graph) and on plain numbers (it must give what the graph gives).
 */

import { TraceError } from "../../core/errors.js";
import { sinPi } from "../../core/math.js";
import { building, describe, Graph, Traced, texts, type Value } from "./expression.js";
import { callerOfLibrary, thrownAt } from "./location.js";
import { type Call, recordCalls } from "./operations.js";
import { computeScalar, isElementwise } from "./scalar.js";

/** The axes of every input, by name. */
export type InputAxes = Readonly<Record<string, readonly string[]>>;

export interface Trace {
  readonly graph: Graph;
  readonly inputs: Readonly<Record<string, Traced>>;
  readonly outputs: Readonly<Record<string, Traced>>;
}

/** What a traced function returns: one value, or several by name. */
export type Outputs = Value | Readonly<Record<string, Value>>;
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
  /** `name` is that of an output where the function returned an object. */
  notAResult: (given: string, name?: string) =>
    `the function returned ${given}${name === undefined ? "" : ` for "${name}"`}: return a traced value, a number, or an object of those`,
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
  const run = () => guarded(() => building(graph, () => fn(inputs as Parameters<typeof fn>[0])));
  /** Where the function returns is not to be had; its last operation is near. */
  const end = () => recordCalls(run).at(-1)?.location ?? callerOfLibrary();
  const returned = run();
  for (const [name, value] of Object.entries(named(returned))) {
    if (typeof value !== "number" && !(value instanceof Traced)) {
      const text = traceTexts.notAResult(describe(value), value === returned ? undefined : name);
      throw new TraceError("not-a-result", text, end());
    }
    if (value instanceof Traced && value.graph !== graph) {
      throw new TraceError("mixed-graphs", texts.mixedGraphs, end());
    }
    outputs[name] = typeof value === "number" ? graph.constant(value) : value;
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
    const location = error instanceof Error ? thrownAt(error) : callerOfLibrary();
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

type Point = Readonly<Record<string, number>>;

/** Points of both signs and several sizes: enough that a branch on the sign or size of an input is taken both ways. */
const CHECK_POINTS = 12;
const checkPoint = (names: readonly string[], round: number): Point => {
  const scale = [0.3, 1, 3, 20][round % 4];
  return Object.fromEntries(
    names.map((name, i) => [name, scale * sinPi(1 + 12.9898 * (i + 1) + 78.233 * (round + 1))]),
  );
};
/** Where `x ? a : b` and `x === 0` go the other way. */
const zeroPoint = (names: readonly string[]): Point => Object.fromEntries(names.map((name) => [name, 0]));

/** Equal but for rounding, which grows with the largest number on the way: the graph gathers constants. */
const same = (a: number, b: number, largest: number): boolean =>
  Object.is(a, b) ||
  a === b ||
  Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a), Math.abs(b)) + 1e-13 * largest;

const largestIn = (values: Float64Array): number =>
  values.reduce((most, value) => (Number.isFinite(value) ? Math.max(most, Math.abs(value)) : most), 0);

/** The line where two runs of a function part: the first operation that only one has, or with another result. */
const firstDifference = (one: readonly Call[], other: readonly Call[], at: Point): string | undefined => {
  const valuesOf = new Map<Graph, Float64Array>();
  const numberOf = ({ result }: Call): number => {
    if (typeof result === "number") return result;
    const values = valuesOf.get(result.graph) ?? evaluateAt(result.graph, at);
    valuesOf.set(result.graph, values);
    return values[result.id];
  };
  const differ = (a: Call, b: Call) =>
    a.op !== b.op || a.location !== b.location || !same(numberOf(a), numberOf(b), 0);
  const [longer, shorter] = one.length > other.length ? [one, other] : [other, one];
  const parts = longer.find((call, i) => shorter[i] === undefined || differ(call, shorter[i]));
  return parts?.location ?? callerOfLibrary();
};

const fingerprint = ({ graph, outputs }: Trace): string =>
  JSON.stringify([
    graph.nodes.map(({ op, value, name, args }) => [op, String(value), name, args.map(({ id }) => id)]),
    Object.entries(outputs).map(([name, { id }]) => [name, id]),
  ]);

export interface TraceOptions {
  /** All axes, outermost first; unless given, in the order in which the inputs first name them. */
  readonly axes?: readonly string[] | undefined;
  /** Whether the function was checked when it was traced before, and is only traced again. */
  readonly checked?: boolean | undefined;
}

/** Traces `fn` and makes sure that the graph says what the function says. */
export const trace = <const Inputs extends InputAxes>(
  fn: TracedFunction<Inputs>,
  inputAxes: Inputs,
  { axes = axesOf(inputAxes), checked = false }: TraceOptions = {},
): Trace => {
  const build = () => buildOnce(fn, inputAxes, axes);
  const traced = build();
  if (checked) return traced;
  const { graph, outputs } = traced;
  const unused = graph.unusedComparison(Object.values(outputs));
  if (unused !== undefined) throw new TraceError("branch", traceTexts.branched(unused.op), unused.location);
  const names = Object.keys(inputAxes);
  if (fingerprint(build()) !== fingerprint(traced)) {
    const location = firstDifference(recordCalls(build), recordCalls(build), checkPoint(names, 0));
    throw new TraceError("changing", traceTexts.changing, location);
  }
  const check = (at: Point, onlyFinite: boolean) => {
    const run = () => fn(at as Parameters<typeof fn>[0]);
    const direct = named(guarded(run));
    const values = evaluateAt(graph, at);
    const largest = largestIn(values);
    for (const [name, node] of Object.entries(outputs)) {
      const value = direct[name];
      if (typeof value !== "number" || same(value, values[node.id], largest)) continue;
      if (onlyFinite && !Number.isFinite(value)) continue;
      const location = firstDifference(recordCalls(build), recordCalls(run), at);
      const point = Object.entries(at).map(([key, number]) => `${key} = ${number.toPrecision(4)}`);
      throw new TraceError("disagrees", traceTexts.disagrees(point.join(", ")), location);
    }
  };
  for (let round = 0; round < CHECK_POINTS; round++) check(checkPoint(names, round), false);
  // At zero the graph may have another sign of zero than the function, and so another infinity or NaN.
  check(zeroPoint(names), true);
  return traced;
};
