/** The `js` backend of programs: nests as float64 JavaScript loops. */
import { reachableUntil, type Traced } from "../graph/expression.js";
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

export const nestFunction = (
  nest: Nest,
  find: Find,
  target: (result: NestResult) => ArrayPlace,
  axisNames: readonly string[],
): NestFunction => {
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
        `if (${value} > most${r}) { sum${r} = sum${r} * Math.exp(most${r} - ${value}) + 1; most${r} = ${value}; }`,
        `else if (${value} !== -Infinity) sum${r} += ${value} === most${r} ? 1 : Math.exp(${value} - most${r});`,
      );
      after.push(
        store(
          result,
          `most${r} === Infinity && sum${r} === sum${r} ? Infinity : most${r} + Math.log(sum${r})`,
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
