/**
 * Nested bounds for designs that are moved and asked about again and again: programs, parameters, noise and inner samples
 * are made once and kept, so that a move takes milliseconds and the bounds follow it smoothly, on common random numbers.
 */
import type { Workspace } from "../compute/index.js";
import type { RandomStream } from "../core/random.js";
import type { EvidenceSamples } from "./evidence-samples.js";
import type { Model } from "./model.js";
import { type Arrays, type ByGiven, Nested } from "./nested.js";
import { Outcomes } from "./outcomes.js";
import { drawOuter, sharedDesigns, staticPolicy } from "./policy.js";
import { GIVEN } from "./quantity.js";

export interface KeptNestedOptions {
  readonly horizon: number;
  /** Simulated experiments in a batch, which share their inner samples. */
  readonly outer: number;
  readonly batches: number;
  /** Inner samples of every evidence. */
  readonly inner: number;
  readonly stream: RandomStream;
  readonly workspace: Workspace;
}

interface Batch {
  readonly nested: Nested;
  readonly parameters: Readonly<Record<string, Float64Array>>;
  readonly noise: Arrays;
}

export class KeptNested {
  readonly #model: Model;
  readonly #outer: number;
  readonly #outcomes: Outcomes;
  readonly #batches: readonly Batch[];

  constructor(model: Model, { horizon, outer, batches, inner, stream, workspace }: KeptNestedOptions) {
    this.#model = model;
    this.#outer = outer;
    const common = { model, workspace, outer, horizon, designs: "shared" as const };
    this.#outcomes = new Outcomes(common);
    this.#batches = Array.from({ length: batches }, (_, batch) => {
      const own = stream.split("batch").split(batch);
      const parameters = drawOuter(model, outer, own.split("parameters"));
      const nested = new Nested({
        ...common,
        contrastive: inner,
        marginal: inner,
        given: GIVEN,
        gradients: false,
      });
      nested.drawInner(own.split("inner"), parameters);
      return { nested, parameters, noise: this.#outcomes.drawNoise(own.split("noise")) };
    });
  }

  /** The evidences of designs [horizon, variables], always of the same parameters, noise and inner samples. */
  evaluate(designs: Float64Array): EvidenceSamples {
    const outer = this.#outer;
    const shared = sharedDesigns(this.#model, staticPolicy(designs, this.#model.design.length)) ?? {};
    const under: ByGiven<Float64Array> = {};
    const over: ByGiven<Float64Array> = {};
    for (const given of GIVEN) {
      under[given] = new Float64Array(outer * this.#batches.length);
      over[given] = new Float64Array(outer * this.#batches.length);
    }
    for (const [batch, { nested, parameters, noise }] of this.#batches.entries()) {
      nested.setData(parameters, shared, this.#outcomes.simulate(parameters, shared, noise));
      const estimate = nested.evaluate();
      for (const given of GIVEN) {
        under[given]?.set(nested.combine(estimate, { [given]: 1 }, "lower"), batch * outer);
        over[given]?.set(nested.combine(estimate, { [given]: 1 }, "upper"), batch * outer);
      }
    }
    return { under, over, batches: this.#batches.length, outer, experiments: "bounded" };
  }

  dispose(): void {
    for (const { nested } of this.#batches) nested.dispose();
    this.#outcomes.dispose();
  }
}
