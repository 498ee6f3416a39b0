/** What both passes through a policy's networks have in common: the layers of the description as WGSL. */
import type { Traced, Value } from "../../graph/expression.js";
import { gradient } from "../../graph/gradient.js";
import { trace } from "../../graph/trace.js";
import { range } from "../wgsl/loop.js";
import type { Reducing } from "../wgsl/reduce.js";
import type { DesignOutput } from "./description.js";
import type { DenseLayer, PolicyLayout } from "./layout.js";
import type { Tile } from "./tile.js";

export interface PolicyShape extends Reducing {
  /** Experiments of a workgroup in the passes through the networks. */
  readonly tile: Tile;
  /** Outputs of a layer that a thread may take. */
  readonly together: number;
  /** Inputs of a layer that a thread may read ahead of using them: faster, and longer to compile. */
  readonly ahead: number;
  /** Parts that the records are cut into for the gradient in the parameters. */
  readonly splits: number;
}

/** The widest input or output of the layers. */
export const widest = (layers: readonly DenseLayer[]): number =>
  Math.max(...layers.flatMap(({ inputs, outputs }) => [inputs, outputs]));

/** Statements for every experiment of the tile that there is: the last tile may not be full. */
export const forPresent = (
  { description }: PolicyLayout,
  { size }: Tile,
  lines: (b: number) => readonly string[],
): string[] =>
  range(size).flatMap((b) =>
    description.nested.outer % size === 0
      ? lines(b)
      : [`if (first + ${b}u < ${description.nested.outer}u) {`, ...lines(b), "}"],
  );

/** A design as a function of what was put out, and its derivative. */
export const designGraph = (
  design: Exclude<DesignOutput, { values: readonly number[] }>,
): { readonly design: Traced; readonly slope: Traced } => {
  const { inputs, outputs } = trace(
    ({ r }: Readonly<Record<string, Value>>) => design.fromOutput(r),
    { r: [] },
    { checked: true },
  );
  const [slope] = gradient(outputs.value, [inputs.r], { pointwise: true });
  return { design: outputs.value, slope };
};
