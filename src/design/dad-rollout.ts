/**
 * Batches of experiments that a network designs and a model simulates: a bound of a quantity over them, and its gradient
 * in the network's parameters.
 *
 * Where designs have finitely many values, the network draws them from its probabilities p(k) in training. The value is
 * then an expectation over the draws too, whose derivative has the score-function term
 *
 *     (A_b - mean of the others) d log p(k_bt) / d output,   d log p(k) / d output_j = [j = k] - p(j),
 *
 * for every experiment b with bound A_b and every draw k_bt in it: only allowed designs are ever tried, and the model
 * need not be smooth in them.
 */
import type { Workspace } from "../compute/index.js";
import type { RandomStream } from "../core/random.js";
import type { DadLayers, DadShape } from "./dad-network.js";
import {
  chosenBy,
  designFrom,
  likeliest,
  PLAIN,
  readingOf,
  type Scale,
  slopeAt,
  softmax,
} from "./design-scale.js";
import type { Model } from "./model.js";
import { Nested } from "./nested.js";
import type { SampleSizes } from "./objective.js";
import { Outcomes } from "./outcomes.js";
import type { History } from "./policy.js";
import { evidencesOf, type Quantity } from "./quantity.js";

type Named = Record<string, Float64Array>;

/** Where the parameters of simulated experiments come from: [outer] each. */
export type DrawParameters = (outer: number, stream: RandomStream) => Record<string, Float64Array>;

export interface RolloutOptions {
  readonly model: Model;
  readonly quantity: Quantity;
  readonly drawParameters: DrawParameters;
  readonly workspace: Workspace;
  /** With `sizes.outer * horizon` rows. */
  readonly layers: DadLayers;
  readonly shape: DadShape;
  readonly horizon: number;
  readonly sizes: SampleSizes;
  /** What was observed before, the same for all experiments. */
  readonly history?: History | undefined;
}

export class Rollout {
  readonly #options: RolloutOptions;
  readonly #nested: Nested;
  readonly #step: Outcomes;
  readonly #names: readonly string[];
  /** The units in which the encoder reads designs, and outcomes. */
  readonly #readings: readonly Scale[];
  /** Designs and outcomes of all experiments and the bound's gradients in them, [outer, horizon]. */
  readonly #designs: Named;
  readonly #observed: Named;
  readonly #designGradients: Named;
  readonly #outcomeGradients: Named;
  /** Designs of one observation, and gradients in it and in its outcomes, [outer]. */
  readonly #now: Named;
  readonly #nowGradients: Named;
  readonly #nowAdjoints: Named;
  readonly #noises: Record<string, Float64Array>[] = [];
  /** Which value was drawn, [variables][outer, horizon]; nothing for a variable without values. */
  readonly #chosen: readonly (Int32Array | undefined)[];
  /** How much better every experiment came out than the mean of the others, [outer]. */
  #advantages: Float64Array = new Float64Array(0);

  constructor(options: RolloutOptions) {
    const { model, quantity, workspace, horizon, sizes, shape } = options;
    const { outer } = sizes;
    this.#options = options;
    this.#nested = new Nested({
      model,
      workspace,
      horizon,
      ...sizes,
      designs: "perOuter",
      given: evidencesOf(quantity),
      gradients: true,
    });
    this.#step = new Outcomes({ model, workspace, outer, horizon: 1, designs: "perOuter" });
    this.#names = model.design.map(({ name }) => name);
    this.#readings = shape.designs.map(readingOf);
    const byName = (names: readonly string[], length: number): Named =>
      Object.fromEntries(names.map((name) => [name, new Float64Array(length)]));
    const rows = outer * horizon;
    this.#designs = byName(this.#names, rows);
    this.#observed = byName(model.outcomes, rows);
    this.#designGradients = byName(this.#names, rows);
    this.#outcomeGradients = byName(model.outcomes, rows);
    this.#now = byName(this.#names, outer);
    this.#nowGradients = byName(this.#names, outer);
    this.#nowAdjoints = byName(model.outcomes, outer);
    this.#chosen = shape.designs.map(({ kind }) => (kind === "values" ? new Int32Array(rows) : undefined));
  }

  /** The bound over experiments that `from` determines, by the designs that the network would be used with. */
  value(from: RandomStream): number {
    return this.#bound(from, this.#drawParameters(from), "likeliest");
  }

  #drawParameters(from: RandomStream): Named {
    return this.#options.drawParameters(this.#options.sizes.outer, from.split("parameters"));
  }

  #bound(from: RandomStream, generating: Named, values: "drawn" | "likeliest"): number {
    const nested = this.#nested;
    this.#simulate(from, generating, values);
    nested.setData(generating, this.#designs, this.#observed);
    nested.drawInner(from.split("inner"), generating);
    return nested.bound(this.#options.quantity, "lower");
  }

  /** The bound over experiments that `from` determines; its gradient is left in the layers. */
  run(from: RandomStream): number {
    const { model, layers, sizes, horizon, history } = this.#options;
    const past = history?.steps ?? 0;
    const { outer } = sizes;
    const nested = this.#nested;
    const generating = this.#drawParameters(from);
    const value = this.#bound(from, generating, "drawn");
    for (const name of this.#names) nested.addGradient(name, this.#designGradients[name].fill(0));
    for (const name of model.outcomes) nested.addGradient(name, this.#outcomeGradients[name].fill(0));
    this.#advantages = overOthers(nested.perOuter);
    this.#pullBack(generating, past);
    // The last pair is read by nobody.
    if (horizon > 1) layers.encoder.backwardParameters({ count: outer * (horizon - 1) });
    layers.emitter.backwardParameters({ first: past * outer, count: (horizon - past) * outer });
    return value;
  }

  /** The experiments, observation by observation: what was observed before, then what the network chooses. */
  #simulate(from: RandomStream, generating: Named, values: "drawn" | "likeliest"): void {
    const { model, layers, shape, horizon, sizes, history } = this.#options;
    const past = history?.steps ?? 0;
    const { outer } = sizes;
    const variables = shape.designs.length;
    const inputs = variables + shape.outcomes.length;
    const noise = from.split("noise");
    layers.emitter.input.fill(0);
    for (let t = 0; t < horizon; t++) {
      const first = t * outer;
      if (t < past) this.#repeat(t);
      else {
        const choices = values === "drawn" ? from.split("choices").split(t) : undefined;
        this.#choose(layers.emit(first, outer, t), t, choices);
      }
      this.#noises[t] = this.#step.drawNoise(noise.split(t));
      const seen = t < past ? this.#seenAt(t) : this.#step.simulate(generating, this.#now, this.#noises[t]);
      for (const name of this.#names) setColumn(this.#designs[name], t, horizon, this.#now[name]);
      for (const name of model.outcomes) setColumn(this.#observed[name], t, horizon, seen[name]);
      // The last pair is read by nobody.
      if (t === horizon - 1) break;
      const pairs = layers.encoder.input.subarray(first * inputs);
      for (const [d, name] of this.#names.entries()) {
        setColumn(pairs, d, inputs, this.#now[name], this.#readings[d]);
      }
      for (const [k, name] of model.outcomes.entries()) {
        setColumn(pairs, variables + k, inputs, seen[name], shape.outcomes[k]);
      }
      layers.encode(first, outer);
    }
  }

  /** The designs of observation t from the emitter's outputs; without a stream, the likeliest of finitely many. */
  #choose(emitted: Float32Array, t: number, stream: RandomStream | undefined): void {
    const { layers, shape, horizon, sizes } = this.#options;
    for (const [d, name] of this.#names.entries()) {
      const scale = shape.designs[d];
      const chosen = this.#chosen[d];
      const first = layers.firstOutput[d];
      const now = this.#now[name];
      const { outputs } = layers;
      if (scale.kind !== "values" || chosen === undefined) {
        for (let b = 0; b < now.length; b++) {
          now[b] = scale.kind === "values" ? 0 : designFrom(scale, emitted[b * outputs + first]);
        }
        continue;
      }
      const own = stream?.split(name);
      const probabilities = new Float64Array(scale.values.length);
      for (let b = 0; b < sizes.outer; b++) {
        const at = b * outputs + first;
        softmax(emitted, at, probabilities);
        const k =
          own === undefined
            ? likeliest(emitted, at, probabilities.length)
            : chosenBy(own.uniform(), probabilities);
        chosen[b * horizon + t] = k;
        now[b] = scale.values[k];
      }
    }
  }

  /** The design of a past observation, for every simulated experiment. */
  #repeat(t: number): void {
    const { history } = this.#options;
    const width = this.#names.length;
    for (const [d, name] of this.#names.entries()) this.#now[name].fill(history?.designs[t * width + d] ?? 0);
  }

  #seenAt(t: number): Named {
    const { model, history, sizes } = this.#options;
    const width = model.outcomes.length;
    return Object.fromEntries(
      model.outcomes.map((name, k) => [
        name,
        new Float64Array(sizes.outer).fill(history?.outcomes[t * width + k] ?? 0),
      ]),
    );
  }

  /** Backwards through the experiment, from the gradients in designs and outcomes to those in the layers' rows. */
  #pullBack(generating: Named, past: number): void {
    const { model, layers, shape, horizon, sizes } = this.#options;
    const { outer } = sizes;
    const { encoding } = shape.widths;
    const variables = shape.designs.length;
    const inputs = variables + shape.outcomes.length;
    // The gradient in the sum of encodings that all later designs see.
    const later = new Float32Array(outer * encoding);
    for (let t = horizon - 1; t >= 0; t--) {
      const first = t * outer;
      for (const name of this.#names) {
        getColumn(this.#designGradients[name], t, horizon, this.#nowGradients[name]);
      }
      for (const name of model.outcomes) {
        getColumn(this.#outcomeGradients[name], t, horizon, this.#nowAdjoints[name]);
      }
      const range = { first, count: outer };
      layers.encoder.outputGradient.set(later, first * encoding);
      if (t < horizon - 1) layers.encoder.backwardInput(range);
      if (t < past) continue;
      if (t < horizon - 1) {
        const pairs = layers.encoder.inputGradient.subarray(first * inputs);
        for (const [d, name] of this.#names.entries()) {
          addColumn(pairs, d, inputs, this.#readings[d].unit, this.#nowGradients[name]);
        }
        for (const [k, name] of model.outcomes.entries()) {
          addColumn(pairs, variables + k, inputs, shape.outcomes[k].unit, this.#nowAdjoints[name]);
        }
      }
      if (model.reparameterised) {
        for (const name of this.#names) getColumn(this.#designs[name], t, horizon, this.#now[name]);
        this.#step.addPullback(
          this.#nowAdjoints,
          { parameters: generating, designs: this.#now, noise: this.#noises[t] },
          this.#nowGradients,
        );
      }
      this.#setOutputGradient(t);
      layers.emitter.backwardInput(range);
      const sums = layers.emitter.inputGradient.subarray(first * encoding);
      for (let i = 0; i < later.length; i++) later[i] += sums[i];
    }
  }

  /** The gradient in the emitter's outputs at observation t, from that in its designs. */
  #setOutputGradient(t: number): void {
    const { layers, shape, horizon, sizes } = this.#options;
    const { outer } = sizes;
    const into = layers.emitter.outputGradient;
    const emitted = layers.emitter.output;
    for (const [d, name] of this.#names.entries()) {
      const scale = shape.designs[d];
      const chosen = this.#chosen[d];
      const gradients = this.#nowGradients[name];
      const { outputs } = layers;
      const first = t * outer * outputs + layers.firstOutput[d];
      const probabilities = new Float64Array(scale.kind === "values" ? scale.values.length : 0);
      for (let b = 0; b < outer; b++) {
        const at = first + b * outputs;
        if (scale.kind !== "values") {
          into[at] = gradients[b] * slopeAt(scale, emitted[at]);
          continue;
        }
        softmax(emitted, at, probabilities);
        const advantage = this.#advantages[b] / outer;
        for (let k = 0; k < probabilities.length; k++) {
          const drawn = chosen?.[b * horizon + t] === k ? 1 : 0;
          into[at + k] = advantage * (drawn - probabilities[k]);
        }
      }
    }
  }

  dispose(): void {
    this.#step.dispose();
    this.#nested.dispose();
  }
}

/** Puts values into a column of rows of `stride` numbers, in the given units. */
const setColumn = (
  rows: Float32Array | Float64Array,
  column: number,
  stride: number,
  values: Float64Array,
  { centre, unit }: Scale = PLAIN,
): void => {
  for (let b = 0; b < values.length; b++) rows[b * stride + column] = (values[b] - centre) / unit;
};

/** Takes a column out of rows of `stride` numbers. */
const getColumn = (rows: Float64Array, column: number, stride: number, into: Float64Array): void => {
  for (let b = 0; b < into.length; b++) into[b] = rows[b * stride + column];
};

/** Adds a column, divided by its unit. */
const addColumn = (
  rows: Float32Array,
  column: number,
  stride: number,
  unit: number,
  into: Float64Array,
): void => {
  for (let b = 0; b < into.length; b++) into[b] += rows[b * stride + column] / unit;
};

/** Every value less the mean of the others: leaving it out of its own baseline keeps the gradient unbiased. */
const overOthers = (values: Float64Array): Float64Array => {
  if (values.length === 1) return values.slice();
  const total = values.reduce((sum, value) => sum + value, 0);
  return values.map((value) => value - (total - value) / (values.length - 1));
};
