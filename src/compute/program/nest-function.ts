/** The `js` backend of programs: nests as float64 JavaScript loops, made from their text or interpreted. */
import { exp, log } from "../../core/math.js";
import { reachableUntil, type Traced } from "../graph/expression.js";
import { interpreter } from "../js/interpreter.js";
import { elementSource, makeFunction } from "../js/point-function.js";
import type { Nest, NestResult } from "./nests.js";

/** An array of the program: an input, a reduced node or an output. */
export interface ArrayPlace {
  readonly index: number;
  readonly axes: readonly string[];
}

/** Finds the array that holds a node's values, if one does. */
export type Find = (node: Traced) => ArrayPlace | undefined;

export type NestFunction = (sizes: Readonly<Record<string, number>>, arrays: readonly Float64Array[]) => void;

/** `i_b * n_t + i_t` for an array over b and t. */
const indexOf = (axes: readonly string[], name: (axis: string) => string): string =>
  axes.length === 0
    ? "0"
    : axes
        .slice(1)
        .reduce((sofar, axis) => `(${sofar}) * n_${name(axis)} + i_${name(axis)}`, `i_${name(axes[0])}`);

/** Finds the array that a result is stored in. */
export type Target = (result: NestResult) => ArrayPlace;

/** The loops of a nest; all axes of the program are given, outermost first. */
export const nestFunction = (
  nest: Nest,
  find: Find,
  target: Target,
  axisNames: readonly string[],
): NestFunction => madeNest(nest, find, target, axisNames) ?? interpretedNest(nest, find, target);

/** A function from its text, where that is allowed. */
const madeNest = (
  nest: Nest,
  find: Find,
  target: Target,
  axisNames: readonly string[],
): NestFunction | undefined => {
  const name = (axis: string) => String(axisNames.indexOf(axis));
  const load = (node: Traced): string | undefined => {
    const place = find(node);
    if (place !== undefined) return `arrays[${place.index}][${indexOf(place.axes, name)}]`;
    return node.op === "size" ? `n_${name(node.name)}` : undefined;
  };
  const bodies = nest.results.map(({ body }) => body);
  const lines = reachableUntil(bodies, (node) => find(node) !== undefined).map(
    (node) => `const v${node.id} = ${load(node) ?? elementSource(node)};`,
  );
  const store = (result: NestResult, text: string) => {
    const place = target(result);
    return `arrays[${place.index}][${indexOf(place.axes, name)}] = ${text};`;
  };
  const before: string[] = [];
  const after: string[] = [];
  nest.results.forEach((result, r) => {
    const value = `v${result.body.id}`;
    if (nest.kind === "map") lines.push(store(result, value));
    else if (nest.kind === "sum") {
      before.push(`let sum${r} = 0;`);
      lines.push(`sum${r} += ${value};`);
      after.push(store(result, `sum${r}`));
    } else {
      // One pass: the sum of e^(x - most), scaled whenever a larger x comes by.
      before.push(`let most${r} = -Infinity, sum${r} = 0;`);
      lines.push(
        `if (${value} > most${r}) { sum${r} = sum${r} * scalar.exp(most${r} - ${value}) + 1; most${r} = ${value}; }`,
        `else if (${value} !== -Infinity) sum${r} += ${value} === most${r} ? 1 : scalar.exp(${value} - most${r});`,
      );
      after.push(
        store(
          result,
          `most${r} === Infinity && sum${r} === sum${r} ? Infinity : most${r} + scalar.log(sum${r})`,
        ),
      );
    }
  });
  const loop = (axis: string, body: string) => {
    const n = name(axis);
    return `for (let i_${n} = 0; i_${n} < n_${n}; i_${n}++) {\n${body}\n}`;
  };
  const innermost = nest.inner === undefined ? lines.join("\n") : loop(nest.inner, lines.join("\n"));
  const source = nest.outer.reduceRight(
    (body, axis) => loop(axis, body),
    [...before, innermost, ...after].join("\n"),
  );
  const sizes = axisNames.map((axis, i) => `const n_${i} = sizes[${JSON.stringify(axis)}];`).join("\n");
  return makeFunction<NestFunction>(`(sizes, arrays) => {\n${sizes}\n${source}\n}`);
};

/** A reduction as it goes; the text of `madeNest` says the same. */
interface Running {
  add(value: number): void;
  result(): number;
}

const runningSum = (): Running => {
  let sum = 0;
  return {
    add(value) {
      sum += value;
    },
    result: () => sum,
  };
};

const runningLogSumExp = (): Running => {
  let most = -Infinity;
  let sum = 0;
  return {
    add(value) {
      if (value > most) {
        sum = sum * exp(most - value) + 1;
        most = value;
      } else if (value !== -Infinity) sum += value === most ? 1 : exp(value - most);
    },
    result: () => (most === Infinity && !Number.isNaN(sum) ? Infinity : most + log(sum)),
  };
};

/** The same loops, computed node by node. */
export const interpretedNest = (nest: Nest, find: Find, target: Target): NestFunction => {
  const index = new Map<string, number>();
  let sizes: Readonly<Record<string, number>> = {};
  let arrays: readonly Float64Array[] = [];
  const offset = ({ axes }: ArrayPlace): number =>
    axes.reduce((sofar, axis) => sofar * sizes[axis] + (index.get(axis) ?? 0), 0);
  const bodies = nest.results.map(({ body }) => body);
  const { run, value } = interpreter(
    reachableUntil(bodies, (node) => find(node) !== undefined),
    (node) => {
      const place = find(node);
      if (place !== undefined) return () => arrays[place.index][offset(place)];
      return node.op === "size" ? () => sizes[node.name] : undefined;
    },
  );
  const loop = (axis: string, body: () => void): void => {
    for (let i = 0; i < sizes[axis]; i++) {
      index.set(axis, i);
      body();
    }
  };
  const store = (result: NestResult, number: number): void => {
    const place = target(result);
    arrays[place.index][offset(place)] = number;
  };
  const inside = (body: () => void): void => {
    if (nest.inner === undefined) body();
    else loop(nest.inner, body);
  };
  const innermost = (): void => {
    const { kind } = nest;
    const running = kind === "map" ? [] : bodies.map(kind === "sum" ? runningSum : runningLogSumExp);
    inside(() => {
      run();
      nest.results.forEach((result, r) => {
        if (kind === "map") store(result, value(result.body));
        else running[r].add(value(result.body));
      });
    });
    running.forEach((each, r) => {
      store(nest.results[r], each.result());
    });
  };
  const all = nest.outer.reduceRight<() => void>((body, axis) => () => loop(axis, body), innermost);
  return (nextSizes, nextArrays) => {
    sizes = nextSizes;
    arrays = nextArrays;
    all();
  };
};
