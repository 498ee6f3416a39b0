import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { Graph, texts, type Value } from "../../../src/compute/graph/expression.js";
import { callerOf, callerOfLibrary, locationIn, thrownAt } from "../../../src/compute/graph/location.js";
import {
  add,
  div,
  equal,
  exp,
  expm1,
  greater,
  less,
  log,
  logsumexp,
  max,
  mul,
  neg,
  pow,
  select,
  square,
  sub,
  sum,
  tanh,
} from "../../../src/compute/graph/operations.js";
import { evaluateAt, SINGLE, trace, traceTexts } from "../../../src/compute/graph/trace.js";
import { compile } from "../../../src/compute/program/program.js";
import { InputError, TraceError } from "../../../src/core/errors.js";

const THIS_FILE = fileURLToPath(import.meta.url);
const lines = readFileSync(THIS_FILE, "utf8").split("\n");
/** The number of the line that ends with `// <- mark`. */
const lineOf = (mark: string): number => {
  const found = lines.flatMap((line, i) => (line.endsWith(`// <- ${mark}`) ? [i + 1] : []));
  expect(found, `one line marked ${mark}`).toHaveLength(1);
  return found[0];
};

// What a user writes is wrong in type, too: the cast is what JavaScript does.
type Wrong = (inputs: Readonly<Record<string, Value>>) => Value;
const wrong = (fn: (inputs: Readonly<Record<string, number>>) => unknown): Wrong => fn as unknown as Wrong;

const failureOf = (run: () => unknown): TraceError => {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(TraceError);
    expect(error).toBeInstanceOf(InputError);
    return error as TraceError;
  }
  throw new Error("nothing was thrown");
};

const foreign = new Graph([]).input("x", []);
let turn = 0;

/** The mark of the line, the function, its code and its text. */
const mistakes: readonly [string, Wrong, string, string][] = [
  [
    "plus",
    wrong(({ x, y }) => {
      return x + y; // <- plus
    }),
    "untraceable",
    texts.primitive("default"),
  ],
  [
    "minus",
    wrong(({ x }) => -x), // <- minus
    "untraceable",
    texts.primitive("number"),
  ],
  [
    "if",
    wrong(({ x }) => {
      const doubled = mul(2, x);
      if (x > 0) return doubled; // <- if
      return x;
    }),
    "untraceable",
    texts.primitive("number"),
  ],
  [
    "Math.log",
    wrong(({ x }) => {
      return Math.log(x); // <- Math.log
    }),
    "untraceable",
    texts.primitive("number"),
  ],
  [
    "Math.max of a callback",
    wrong(({ x }) =>
      [1, 2].map(
        (k) => Math.max(k, x), // <- Math.max of a callback
      ),
    ),
    "untraceable",
    texts.primitive("number"),
  ],
  [
    "template",
    wrong(({ x }) => {
      return `${x}`; // <- template
    }),
    "untraceable",
    texts.primitive("string"),
  ],
  [
    "String",
    wrong(({ x }) => String(x)), // <- String
    "untraceable",
    texts.primitive("string"),
  ],
  [
    "loose equality",
    wrong(({ x }) => {
      // biome-ignore lint/suspicious/noDoubleEquals: it is the mistake
      return x == 3 ? 1 : 2; // <- loose equality
    }),
    "untraceable",
    texts.primitive("default"),
  ],
  [
    "array index",
    wrong(({ x }) => {
      return [1, 2, 3][x]; // <- array index
    }),
    "untraceable",
    texts.primitive("string"),
  ],
  [
    "if comparison",
    ({ x }) => {
      const positive = greater(x, 0); // <- if comparison
      if (positive) return x;
      return neg(x);
    },
    "branch",
    traceTexts.branched("greater"),
  ],
  [
    "ternary",
    ({ x, y }) => {
      const doubled = mul(2, y);
      return less(x, y) ? doubled : y; // <- ternary
    },
    "branch",
    traceTexts.branched("less"),
  ],
  [
    "second comparison",
    ({ x, y }) => {
      const fine = select(greater(x, 0), x, y);
      return add(fine, equal(x, y) ? 1 : 2); // <- second comparison
    },
    "branch",
    traceTexts.branched("equal"),
  ],
  [
    "product of comparisons",
    ({ x, y }) => {
      const both = mul(greater(x, 0), greater(y, 1)); // <- product of comparisons
      return both ? x : y;
    },
    "branch",
    traceTexts.branched("greater"),
  ],
  [
    "unknown method",
    wrong(({ x }) => {
      return (x as unknown as Math).sin(1); // <- unknown method
    }),
    "failed",
    traceTexts.failed("x.sin is not a function"),
  ],
  [
    "own error",
    () => {
      throw new Error("no such model\n    at nowhere (/nowhere.js:1:1)"); // <- own error
    },
    "failed",
    traceTexts.failed("no such model\n    at nowhere (/nowhere.js:1:1)"),
  ],
  [
    "error in a function of the platform",
    wrong(() => {
      return ([] as number[]).reduce((a, b) => a + b); // <- error in a function of the platform
    }),
    "failed",
    traceTexts.failed("Reduce of empty array with no initial value"),
  ],
  [
    "undefined",
    ({ x }) => {
      return add(x, undefined as unknown as number); // <- undefined
    },
    "not-a-value",
    texts.notAValue("add", undefined),
  ],
  [
    "missing",
    ({ x }) => (mul as (a: Value) => Value)(x), // <- missing
    "not-a-value",
    texts.notAValue("mul", undefined),
  ],
  [
    "array",
    ({ x }) => add([x] as unknown as Value, x), // <- array
    "not-a-value",
    texts.notAValue("add", []),
  ],
  [
    "string",
    ({ x }) =>
      mul(
        add(x, 1),
        log("2" as unknown as number), // <- string
      ),
    "not-a-value",
    texts.notAValue("log", "2"),
  ],
  [
    "object",
    () => exp({} as unknown as number), // <- object
    "not-a-value",
    texts.notAValue("exp", {}),
  ],
  [
    "sum of nothing",
    () => sum("b", undefined as unknown as number), // <- sum of nothing
    "not-a-value",
    texts.notAValue("sum", undefined),
  ],
  [
    "three of two",
    ({ x, y }) => {
      return (add as (...values: Value[]) => Value)(x, y, 1); // <- three of two
    },
    "too-many",
    texts.tooMany("add", 2, 3),
  ],
  [
    "two traces",
    ({ x }) => {
      const shifted = add(x, 1);
      return add(shifted, foreign); // <- two traces
    },
    "mixed-graphs",
    texts.mixedGraphs,
  ],
  [
    "two traces, foreign first",
    ({ x }) => {
      const scaled = mul(2, foreign); // <- two traces, foreign first
      return add(scaled, x);
    },
    "mixed-graphs",
    texts.mixedGraphs,
  ],
  [
    "foreign result",
    ({ x }) => {
      add(x, 1); // <- foreign result
      return foreign;
    },
    "mixed-graphs",
    texts.mixedGraphs,
  ],
  [
    "random",
    ({ x, y }) => {
      const shifted = add(x, y);
      return mul(shifted, Math.random()); // <- random
    },
    "changing",
    traceTexts.changing,
  ],
  [
    "order of arguments",
    ({ x, y }) => {
      turn++;
      return turn % 2 === 0 ? sub(x, y) : sub(y, x); // <- order of arguments
    },
    "changing",
    traceTexts.changing,
  ],
  [
    "nothing returned",
    wrong(({ x }) => {
      add(x, 1);
      mul(x, 2); // <- nothing returned
    }),
    "not-a-result",
    traceTexts.notAResult("undefined"),
  ],
  [
    "string returned",
    wrong(({ x }) => ({
      good: x,
      bad: log(x) && "text", // <- string returned
    })),
    "not-a-result",
    traceTexts.notAResult("a string", "bad"),
  ],
  [
    "wrong axis",
    ({ x }) => {
      return sum("time", x); // <- wrong axis
    },
    "unknown-axis",
    texts.unknownAxis("sum", "time", ["b", "t"]),
  ],
  [
    "wrong axis of a number",
    ({ x }) => add(x, logsumexp("s", 0)), // <- wrong axis of a number
    "unknown-axis",
    texts.unknownAxis("logsumexp", "s", ["b", "t"]),
  ],
  [
    "zero divided away",
    wrong(({ x }) => {
      return x === 0 ? 1 : div(expm1(x), x); // <- zero divided away
    }),
    "disagrees",
    traceTexts.disagrees("x = 0.000, y = 0.000"),
  ],
  [
    "default by ||",
    wrong(({ x, y }) => {
      const scale = x || 2;
      return add(y, exp(scale)); // <- default by ||
    }),
    "disagrees",
    traceTexts.disagrees("x = 0.000, y = 0.000"),
  ],
];

describe("mistakes", () => {
  test.each(mistakes)("%s is found with its line", (mark, fn, code, text) => {
    const error = failureOf(() => trace(fn, { x: ["b"], y: ["t"] }));
    expect(error.code).toBe(code);
    expect(error.message).toBe(`${text} (at ${error.location})`);
    expect(error.location?.replace(/:\d+$/, "")).toBe(`${THIS_FILE}:${lineOf(mark)}`);
  });

  test("a branch that only numbers take is found by its value", () => {
    const sneaky = wrong(({ x, y }) => {
      const factor = typeof x === "number" && x > 1 ? 5 : 1;
      return mul(add(y, 2), factor); // <- sneaky
    });
    const error = failureOf(() => trace(sneaky, { x: [], y: [] }));
    expect(error.code).toBe("disagrees");
    expect(error.location).toContain(`${THIS_FILE}:${lineOf("sneaky")}:`);
  });

  test("a function without operations is found by the line that compiles it", () => {
    const nothing = wrong(() => undefined);
    const error = failureOf(() => compile(nothing, { inputs: { x: [] } })); // <- compiles
    expect(error.message).toContain(traceTexts.notAResult("undefined"));
    expect(error.location).toContain(`${THIS_FILE}:${lineOf("compiles")}:`);
    const random = failureOf(() => trace(() => Math.random(), { x: [] })); // <- draws
    expect(random.code).toBe("changing");
    expect(random.location).toContain(`${THIS_FILE}:${lineOf("draws")}:`);
    const thrower = (): never => {
      throw "a string";
    };
    const thrown = failureOf(() => trace(thrower, { x: [] })); // <- throws text
    expect(thrown.message).toContain(traceTexts.failed("a string"));
    expect(thrown.location).toContain(`${THIS_FILE}:${lineOf("throws text")}:`);
  });

  test("keeps the user's own error as the cause", () => {
    const cause = new Error("mine");
    const thrower = (): never => {
      throw cause;
    };
    expect(failureOf(() => trace(thrower, { x: [] })).cause).toBe(cause);
  });

  test("outside a trace are found as well", () => {
    const error = failureOf(() => add("1" as unknown as number, 2)); // <- outside
    expect(error.message).toContain(texts.notAValue("add", "1"));
    expect(error.location).toContain(`${THIS_FILE}:${lineOf("outside")}:`);
    failureOf(() => (log as (...values: number[]) => Value)(1, 2));
  });

  test("are described in words", () => {
    expect(texts.notAValue("add", null)).toContain("was given null,");
    expect(texts.notAValue("add", {})).toContain("was given an object,");
    expect(texts.notAValue("add", () => 0)).toContain("was given a function,");
    expect(texts.unknownAxis("sum", "t", [])).toContain("the axes here are none");
  });
});

describe("what is fine", () => {
  const fine: readonly [string, Wrong][] = [
    ["a condition that simplification drops", ({ x, y }) => select(greater(x, y), x, x)],
    ["a condition that folding drops", ({ x, y }) => add(x, exp(neg(select(greater(x, y), 0.5, 0.5))))],
    ["a condition in the branch that is never taken", ({ x, y }) => select(1, x, select(less(x, y), x, y))],
    ["a comparison to the power of zero", ({ x, y }) => add(y, pow(greater(x, 0), 0))],
    ["a comparison as a number", ({ x, y }) => mul(greater(x, y), y)],
    ["a comparison returned", ({ x, y }) => greater(x, y)],
    ["a constant", () => 3],
    ["an input", ({ x }) => x],
    ["large numbers that cancel", ({ x }) => sub(pow(x, 8), mul(pow(x, 5), pow(x, 3)))],
    ["constants that are gathered", ({ x }) => sub(div(mul(3e7, x), 7), mul(x, 3e7 / 7))],
    ["infinite and undefined values", ({ x, y }) => add(log(x), div(exp(mul(100, x)), log(neg(square(y)))))],
    ["zeros of either sign", ({ x }) => add(div(1, sub(0, x)), div(1, x))],
    [
      "plain control flow on plain numbers",
      ({ x }) => [1, 2, 3].reduce<Value>((a, k) => (k > 1 ? mul(a, k) : a), x),
    ],
  ];
  test.each(fine)("%s", (_, fn) => {
    expect(() => trace(fn, { x: ["b"], y: ["t"] })).not.toThrow();
  });

  test("several outputs by name, and a single one as value", () => {
    const { outputs } = trace(({ x }) => ({ a: exp(x), b: 2, c: x }), { x: ["b"] });
    expect(Object.keys(outputs)).toEqual(["a", "b", "c"]);
    expect(outputs.b.value).toBe(2);
    expect(Object.keys(trace(({ x }) => x, { x: [] }).outputs)).toEqual([SINGLE]);
  });

  test("axes in the order in which inputs name them", () => {
    expect(trace(({ x }) => x, { x: ["t", "b"], y: ["s", "b"] }).graph.axes).toEqual(["t", "b", "s"]);
  });

  test("reductions of plain numbers count the axis", () => {
    const { graph, outputs } = trace(({ x }) => ({ n: sum("b", 1), log: logsumexp("b", 0), x }), {
      x: ["b"],
    });
    expect(outputs.n).toBe(graph.size("b"));
    expect(outputs.log).toBe(graph.apply("log", [graph.size("b")]));
    expect(sum("b", 5)).toBe(5);
    expect(logsumexp("b", 5)).toBe(5);
  });

  test("a trace inside a trace does not disturb it", () => {
    const outer: Wrong = ({ x }) => {
      const inner = trace(({ z }) => exp(z), { z: [] });
      return mul(x, evaluateAt(inner.graph, { z: 0 })[inner.outputs[SINGLE].id]);
    };
    const { outputs, inputs } = trace(outer, { x: [] });
    expect(outputs[SINGLE]).toBe(inputs.x);
  });

  test("a failed trace leaves nothing behind", () => {
    failureOf(() =>
      trace(
        wrong(({ x }) => x + 1),
        { x: [] },
      ),
    );
    expect(sum("anything", 2)).toBe(2);
    expect(() => trace(({ x }) => max(x, tanh(x)), { x: [] })).not.toThrow();
  });
});

describe("locations", () => {
  test.each([
    ["    at fn (/a/b.ts:12:3)", "/a/b.ts:12:3"],
    ["    at /a/b.ts:12:3", "/a/b.ts:12:3"],
    ["    at async /a/b.ts:12:3", "/a/b.ts:12:3"],
    ["    at async run (file:///a/b.ts?v=123:12:3)", "/a/b.ts:12:3"],
    ["    at new Model (file:///a/my%20models/b.ts:1:2)", "/a/my models/b.ts:1:2"],
    ["    at Object.go [as run] (/a/with space (1)/b.ts:1:2)", "/a/with space (1)/b.ts:1:2"],
    ["    at /a/with space (1)/b.ts:1:2", "/a/with space (1)/b.ts:1:2"],
    ["    at model (https://host:8080/app.js?t=1:5:6)", "https://host:8080/app.js:5:6"],
    ["model@https://host:8080/app.js:5:6", "https://host:8080/app.js:5:6"],
    ["    at Math.log (<anonymous>)", undefined],
    ["    at async Promise.all (index 0)", undefined],
    ["    at node:internal/main/run_main_module:28:49", undefined],
    ["    at Module._compile (node:internal/modules/cjs/loader:1521:14)", undefined],
    ["TypeError: x.sin is not a function", undefined],
  ])("%s", (line, location) => {
    expect(locationIn(line)).toBe(location);
  });

  test("of a caller, of an error and of the call into the library", () => {
    const inner = (): string | undefined => callerOf(inner);
    expect(inner()).toContain(`${THIS_FILE}:${lineOf("caller")}:`); // <- caller
    expect(thrownAt(new Error("a\nb"))).toContain(`${THIS_FILE}:${lineOf("thrown")}:`); // <- thrown
    expect(callerOfLibrary()).toContain(`${THIS_FILE}:${lineOf("library")}:`); // <- library
    expect(callerOf(() => 0)).toBeUndefined();
  });
});
