/**
 * A policy as the kernels take it: an encoder reads every (design, outcome) pair, its outputs are added up, and an emitter
 * puts out the next design.
 */
import type { Value } from "../../graph/expression.js";
import type { NestedDescription } from "../nested/description.js";

/** The units that the encoder reads something in: (value - centre) / unit. */
export interface Reading {
  readonly centre: number;
  readonly unit: number;
}

/** How a design variable follows from what the emitter puts out. */
export type DesignOutput =
  | {
      readonly reading: Reading;
      readonly fromOutput: (output: Value) => Value;
      readonly low: number;
      readonly high: number;
    }
  /** An output for each value: the logit of its probability in training. */
  | { readonly reading: Reading; readonly values: readonly number[] };

export interface PolicyDescription {
  /** The objective on experiments that the policy designs. */
  readonly nested: NestedDescription;
  /** Widths: inputs (design variables, then outcomes), hidden layers, the encoding. */
  readonly encoder: readonly number[];
  /** The encoding, hidden layers, outputs. */
  readonly emitter: readonly number[];
  /** One for each design variable. */
  readonly designs: readonly DesignOutput[];
  /** One for each outcome. */
  readonly outcomes: readonly Reading[];
}

export const outputsOf = (design: DesignOutput): number => ("values" in design ? design.values.length : 1);
