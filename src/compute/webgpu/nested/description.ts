/** What nested bounds are computed of, without a word of where it comes from: parameters, designs, outcomes, evidences. */
import type { Value } from "../../graph/expression.js";

/** Traced values or numbers by name. */
export type Values = Readonly<Record<string, Value>>;

/** One evidence p(D | held): the other parameters are integrated over. */
export interface EvidenceDescription {
  readonly name: string;
  /** Parameters held at the values that generated the data. */
  readonly held: readonly string[];
  /** How many inner samples the others have. */
  readonly inner: number;
}

export interface NestedDescription {
  /** Each follows from a standard normal number. */
  readonly parameters: readonly { readonly name: string; readonly fromNoise: (noise: Value) => Value }[];
  readonly design: readonly string[];
  /** Each follows from a standard normal number, given parameters and designs. */
  readonly outcomes: readonly {
    readonly name: string;
    readonly fromNoise: (at: Values, noise: Value) => Value;
  }[];
  /** log p(outcomes | parameters, design) of one observation. */
  readonly logLikelihood: (at: Values) => Value;
  readonly evidences: readonly EvidenceDescription[];
  readonly outer: number;
  readonly horizon: number;
}
