/**
 * A bound of an objective and its gradient in static designs, on fresh simulated experiments: what training climbs.
 * Pathwise where outcomes follow from noise by a formula, by the score function where they do not.
 */
import type { Workspace } from "../compute/index.js";
import type { RandomStream } from "../core/random.js";
import type { Model } from "./model.js";
import { Nested } from "./nested.js";
import { Outcomes } from "./outcomes.js";
import { drawOuter } from "./policy.js";
import { type Bound, evidencesOf, type Quantity } from "./quantity.js";

export interface SampleSizes {
  /** Simulated experiments in a batch. */
  readonly outer: number;
  /** Inner samples for log p(D), and for evidences with something held. */
  readonly contrastive: number;
  readonly marginal: number;
}

/** The paper's sample sizes. */
export const PAPER_SIZES: SampleSizes = { outer: 100, contrastive: 1000, marginal: 1000 };

/** The noise of simulated experiments: for every model that is simulated, [outer, horizon] for every outcome. */
export type Noise = readonly Readonly<Record<string, Float64Array>>[];

/** A function of static designs to climb. */
export interface Objective {
  /** d(value)/d(design) after `evaluate`, [horizon, variables]. */
  readonly gradient: Float64Array;
  /** The noise of the experiments that `stream` determines. */
  noise(stream: RandomStream): Noise;
  /** The value at designs [horizon, variables], by samples that `stream` determines, or by given noise. */
  evaluate(designs: Float64Array, stream: RandomStream, bound?: Bound, noise?: Noise): number;
  dispose(): void;
}

/** A bound from nested samples. */
export class SampledObjective implements Objective {
  readonly #model: Model;
  readonly #sizes: SampleSizes;
  readonly #quantity: Quantity;
  readonly #nested: Nested;
  readonly #outcomes: Outcomes;
  readonly #horizon: number;
  readonly gradient: Float64Array;

  constructor(model: Model, quantity: Quantity, horizon: number, sizes: SampleSizes, workspace: Workspace) {
    this.#model = model;
    this.#sizes = sizes;
    this.#quantity = quantity;
    this.#horizon = horizon;
    const given = evidencesOf(quantity);
    const common = { model, workspace, outer: sizes.outer, horizon, designs: "shared" as const };
    this.#nested = new Nested({ ...common, ...sizes, given, gradients: true });
    this.#outcomes = new Outcomes(common);
    this.gradient = new Float64Array(horizon * model.design.length);
  }

  noise(stream: RandomStream): Noise {
    return [this.#outcomes.drawNoise(stream.split("noise"))];
  }

  evaluate(
    designs: Float64Array,
    stream: RandomStream,
    bound: Bound = "lower",
    [noise]: Noise = this.noise(stream),
  ): number {
    const model = this.#model;
    const variables = model.design.length;
    const byName = Object.fromEntries(
      model.design.map(({ name }, d) => [
        name,
        Float64Array.from({ length: this.#horizon }, (_, t) => designs[t * variables + d]),
      ]),
    );
    const parameters = drawOuter(model, this.#sizes.outer, stream.split("parameters"));
    const observed = this.#outcomes.simulate(parameters, byName, noise);
    this.#nested.setData(parameters, byName, observed);
    this.#nested.drawInner(stream.split("inner"), parameters);
    const value = this.#nested.bound(this.#quantity, bound);
    const direct = Object.fromEntries(
      model.design.map(({ name }) => [name, new Float64Array(this.#horizon)]),
    );
    for (const { name } of model.design) this.#nested.addGradient(name, direct[name]);
    const length = this.#sizes.outer * this.#horizon;
    const adjoints = Object.fromEntries(model.outcomes.map((name) => [name, new Float64Array(length)]));
    for (const name of model.outcomes) this.#nested.addGradient(name, adjoints[name]);
    this.#outcomes.addPullback(adjoints, { parameters, designs: byName, noise }, direct);
    for (const [d, { name }] of model.design.entries()) {
      for (let t = 0; t < this.#horizon; t++) this.gradient[t * variables + d] = direct[name][t];
    }
    return value;
  }

  dispose(): void {
    this.#nested.dispose();
    this.#outcomes.dispose();
  }
}
