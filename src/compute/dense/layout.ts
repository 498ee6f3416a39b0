/** Where everything of a network lies: parameters as they are saved, and copies of them as the kernels read them. */

/** Floats of a vector. */
export const LANES = 4;
/** Columns of a panel: a product makes this many columns of its result at a time, in two vectors. */
export const PANEL = 2 * LANES;

/** One layer, y = x W^T + b with x [rows, inputs], W [outputs, inputs], b [outputs]; offsets are in floats. */
export interface Layer {
  readonly inputs: number;
  readonly outputs: number;
  /** W and then b, among the parameters. */
  readonly weights: number;
  readonly biases: number;
  /** W^T [inputs, outputs] in panels, for the output; among the packed copies. */
  readonly forward: number;
  /** W [outputs, inputs] in panels, for the input's gradient; among the packed copies. */
  readonly backward: number;
}

export interface DenseLayout {
  readonly layers: readonly Layer[];
  readonly parameterCount: number;
  readonly packedCount: number;
}

/** Columns of the last panel where the others do not take all: a whole number of vectors. */
export const tailColumns = (columns: number): number => Math.ceil((columns % PANEL) / LANES) * LANES;

/**
 * Floats of a matrix [depth, columns] in panels: panel p holds columns 8 p to 8 p + 7 as [depth, 8], and the last
 * one, where fewer are left, as [depth, 4] or [depth, 8]. A panel is read from its start to its end.
 */
const packedSize = (depth: number, columns: number): number =>
  depth * (columns - (columns % PANEL) + tailColumns(columns));

export const layOutDense = (widths: readonly number[]): DenseLayout => {
  let parameterCount = 0;
  let packedCount = 0;
  const layers = widths.slice(1).map((outputs, l): Layer => {
    const inputs = widths[l];
    const weights = parameterCount;
    const biases = weights + outputs * inputs;
    parameterCount = biases + outputs;
    const forward = packedCount;
    const backward = forward + packedSize(inputs, outputs);
    packedCount = backward + packedSize(outputs, inputs);
    return { inputs, outputs, weights, biases, forward, backward };
  });
  return { layers, parameterCount, packedCount };
};
