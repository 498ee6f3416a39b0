/**
 * Dense layers in WGSL: a workgroup multiplies the numbers of a tile of experiments by a matrix. A thread takes several
 * outputs, so that what it reads of the inputs is used more than once: on a large GPU reading them is what takes time.
 */
import type { Tile } from "./tile.js";

export interface DenseText {
  readonly inputs: number;
  readonly outputs: number;
  readonly workgroup: number;
  readonly tile: Tile;
  /** Outputs that a thread may take. */
  readonly together: number;
  /** Inputs that it may read ahead of using them. */
  readonly ahead: number;
  /** The weight from input k to output o. Neighbouring outputs should be side by side. */
  readonly weight: (k: string, o: string) => string;
  readonly bias?: ((o: string) => string) | undefined;
  readonly input: (k: string, part: number) => string;
  /** Statements that take the sums of output `o`, by part. */
  readonly take: (sums: readonly string[]) => readonly string[];
}

/** Fewer inputs than this are not shared between threads. */
const FEWEST_SHARED = 8;
const AHEAD = [8, 4, 2, 1];

/** How a layer is cut into threads: each takes `together` outputs, and `share` of their inputs. */
interface Cut {
  readonly together: number;
  readonly groups: number;
  readonly shares: number;
  readonly share: number;
}

const cutOf = (inputs: number, outputs: number, workgroup: number, most: number): Cut => {
  let together = most;
  while (outputs % together !== 0) together /= 2;
  const groups = outputs / together;
  const shares = Math.max(1, Math.min(Math.floor(workgroup / groups), Math.floor(inputs / FEWEST_SHARED)));
  const share = Math.ceil(inputs / shares);
  return { together, groups, shares: Math.ceil(inputs / share), share };
};

/** Words of `partial`, per experiment, that a layer needs. */
export const partialWords = (
  { inputs, outputs }: { readonly inputs: number; readonly outputs: number },
  { workgroup, together }: { readonly workgroup: number; readonly together: number },
): number => {
  const { shares } = cutOf(inputs, outputs, workgroup, together);
  return shares === 1 ? 0 : shares * outputs;
};

/** Sums of every output, handed to `take`; a barrier follows. Needs the shared array `partial`. */
export const denseText = (dense: DenseText): string => {
  const { inputs, outputs, workgroup, tile, weight, bias, input, take } = dense;
  const { together, groups, shares, share } = cutOf(inputs, outputs, workgroup, dense.together);
  const each = Array.from({ length: together }, (_, j) => j);
  const sumsOf = (j: number) => tile.eachPart.map((part) => `sum${j}_${part}`);
  const output = (j: number) => (together === 1 ? "g" : `g + ${j * groups}u`);
  const even = inputs % share === 0;
  const ahead = (even ? AHEAD.find((count) => count <= dense.ahead && share % count === 0) : undefined) ?? 1;
  const read = Array.from({ length: ahead }, (_, a) => a);
  const at = (a: number) => (a === 0 ? "k" : `k + ${a}u`);
  const terms = [
    ...read.flatMap((a) => each.map((j) => `let w${a}_${j} = ${weight(`(${at(a)})`, `(${output(j)})`)};`)),
    ...read.flatMap((a) => [
      ...tile.eachPart.map((part) => `let x${a}_${part} = ${input(`(${at(a)})`, part)};`),
      ...each.flatMap((j) =>
        sumsOf(j).map((sum, part) => `${sum} = fma(${tile.same(`w${a}_${j}`)}, x${a}_${part}, ${sum});`),
      ),
    ]),
  ];
  const begin = (start: (o: string) => string) =>
    each.flatMap((j) => sumsOf(j).map((sum) => `var ${sum} = ${tile.same(start(output(j)))};`));
  const first = bias ?? (() => "0.0f");
  if (shares === 1) {
    const body = [
      ...begin(first),
      `for (var k = 0u; k < ${inputs}u; k += ${ahead}u) {`,
      ...terms,
      "}",
      ...each.flatMap((j) => ["{", `let o = ${output(j)};`, ...take(sumsOf(j)), "}"]),
    ];
    return [
      ...(groups <= workgroup
        ? [`if (lane < ${groups}u) {`, "let g = lane;", ...body, "}"]
        : [`for (var g = lane; g < ${groups}u; g += ${workgroup}u) {`, ...body, "}"]),
      "workgroupBarrier();",
    ].join("\n");
  }
  const end = even ? `least + ${share}u` : `min(least + ${share}u, ${inputs}u)`;
  const whole = tile.eachPart.map((part) => `sum${part}`);
  return [
    `if (lane < ${shares * groups}u) {`,
    `let g = lane % ${groups}u;`,
    `let least = (lane / ${groups}u) * ${share}u;`,
    ...begin(() => "0.0f"),
    `for (var k = least; k < ${end}; k += ${ahead}u) {`,
    ...terms,
    "}",
    `let place = (lane / ${groups}u) * ${outputs}u;`,
    ...each.flatMap((j) =>
      sumsOf(j).map((sum, part) => `${tile.at("partial", `place + ${output(j)}`, part)} = ${sum};`),
    ),
    "}",
    "workgroupBarrier();",
    `for (var o = lane; o < ${outputs}u; o += ${workgroup}u) {`,
    ...whole.map((sum) => `var ${sum} = ${tile.same(first("o"))};`),
    `for (var share = 0u; share < ${shares}u; share++) {`,
    ...whole.map((sum, part) => `${sum} += ${tile.at("partial", `share * ${outputs}u + o`, part)};`),
    "}",
    ...take(whole),
    "}",
    "workgroupBarrier();",
  ].join("\n");
};
