/** What nested bounds are computed of, without a word of where it comes from: parameters, designs, outcomes, evidences. */
import type { Value } from "../../graph/expression.js";
import type { Noise } from "../wgsl/random.js";

/** Traced values or numbers by name. */
export type Values = Readonly<Record<string, Value>>;

/** One evidence p(D | held): the other parameters are integrated over. */
export interface EvidenceDescription {
  readonly name: string;
  /** Parameters held at the values that generated the data. */
  readonly held: readonly string[];
  /** How many inner samples the others have. */
  readonly inner: number;
  /**
   * log p(held | the others), where that depends on the others: by it their samples count more or less, and by its mean
   * the evidence is divided.
   */
  readonly logPrior?: ((at: Values) => Value) | undefined;
}

/** A parameter or an outcome, as it follows from a number that is drawn. */
export interface Drawn {
  readonly name: string;
  readonly noise: Noise;
  /** Its value, given parameters, and designs for an outcome; of a count, whose noise is uniform, its mean. */
  readonly fromNoise: (at: Values, noise: Value) => Value;
  /** Whether it is the count where the Poisson distribution with this mean reaches its noise. */
  readonly count: boolean;
}

export interface NestedDescription {
  /** In the order in which they are drawn. */
  readonly parameters: readonly Drawn[];
  /** Whether a prior depends on parameters before it. */
  readonly dependent: boolean;
  readonly design: readonly string[];
  readonly outcomes: readonly Drawn[];
  /** Whether gradients go through the outcomes; else the derivative of the bound has a score-function term. */
  readonly reparameterised: boolean;
  /** log p(outcomes | parameters, design) of one observation. */
  readonly logLikelihood: (at: Values) => Value;
  readonly evidences: readonly EvidenceDescription[];
  readonly outer: number;
  readonly horizon: number;
}
