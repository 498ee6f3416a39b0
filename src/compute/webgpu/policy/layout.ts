/** Where things are in the buffers of a policy's kernels. */
import { layoutOf, type NestedLayout } from "../nested/layout.js";
import { outputsOf, type PolicyDescription } from "./description.js";

/**
 * A dense layer. Its weights [outputs, inputs] and biases are at these words of a row's parameters; a record is what is
 * kept of one observation of one experiment.
 */
export interface DenseLayer {
  readonly inputs: number;
  readonly outputs: number;
  readonly weights: number;
  readonly biases: number;
  /** Its inputs in a record of activations. */
  readonly before: number;
  /** The gradients in its sums, in a record of deltas. */
  readonly delta: number;
  /** Whether a ReLU follows. */
  readonly hidden: boolean;
}

export interface PolicyLayout {
  readonly description: PolicyDescription;
  readonly nested: NestedLayout;
  readonly encoder: readonly DenseLayer[];
  readonly emitter: readonly DenseLayer[];
  /** Parameters of both networks, the encoder's first. */
  readonly parameters: number;
  /** Outputs of the emitter, and where those of each design variable begin. */
  readonly outputs: number;
  readonly firstOutput: readonly number[];
  /** Words of a record of activations; in it what was put out, which value was chosen, d(outcome)/d(design variable). */
  readonly record: number;
  readonly emitted: number;
  readonly chosen: number;
  readonly slopes: number;
  /** Words of a record of deltas. */
  readonly deltas: number;
  /** The stream of the first choice among values at the first observation; that of others, then of later ones, follow. */
  readonly choiceStream: number;
  /** Design variables that have values. */
  readonly listed: readonly number[];
}

/** Records are observation by observation: that of experiment b at observation t has the number t outer + b. */
export const policyLayout = (description: PolicyDescription): PolicyLayout => {
  const { nested: problem, encoder, emitter, designs } = description;
  const { design, outcomes, horizon } = problem;
  const listed = designs.flatMap((each, d) => ("values" in each ? [d] : []));
  const choices = Array.from({ length: horizon }, (_, t) =>
    listed.map((d) => ["choices", t, design[d]] as const),
  ).flat();
  const nested = layoutOf(problem, {
    gradients: true,
    splitting: "rollout",
    designs: "perOuter",
    more: choices,
  });
  let parameters = 0;
  let record = 0;
  let deltas = 0;
  const layersOf = (widths: readonly number[]): DenseLayer[] =>
    widths.slice(1).map((outputs, l) => {
      const inputs = widths[l];
      const weights = parameters;
      const biases = weights + inputs * outputs;
      parameters = biases + outputs;
      const before = record;
      record += inputs;
      const delta = deltas;
      deltas += outputs;
      return { inputs, outputs, weights, biases, before, delta, hidden: l < widths.length - 2 };
    });
  const layers = { encoder: layersOf(encoder), emitter: layersOf(emitter) };
  const take = (words: number): number => {
    const at = record;
    record += words;
    return at;
  };
  return {
    description,
    nested,
    ...layers,
    parameters,
    outputs: emitter[emitter.length - 1],
    firstOutput: designs.map((_, d) => designs.slice(0, d).reduce((sum, each) => sum + outputsOf(each), 0)),
    emitted: take(emitter[emitter.length - 1]),
    chosen: take(listed.length),
    slopes: take(outcomes.length * design.length),
    record,
    deltas,
    choiceStream: nested.streams.length - choices.length,
    listed,
  };
};
