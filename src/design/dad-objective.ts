/**
 * The objective that networks are trained on, on batches of simulated experiments. With several models the leakage is the
 * worst of theirs, as in `static-objective.ts`.
 */
import type { Pacer } from "../core/options.js";
import type { RandomStream } from "../core/random.js";
import { type DrawParameters, Rollout, type RolloutOptions } from "./dad-rollout.js";
import type { Model } from "./model.js";
import { drawOuter } from "./policy.js";
import {
  INFORMATION,
  leakageCost,
  type ObjectiveKind,
  objectiveQuantity,
  type Quantity,
} from "./quantity.js";

export interface DadObjectiveOptions {
  readonly model: Model;
  /** Further models whose leakage counts. */
  readonly against: readonly Model[];
  readonly objective: ObjectiveKind;
  readonly beta: number;
  /** Where the model's own parameters come from; those of others come from their priors. */
  readonly drawParameters: DrawParameters;
  readonly common: Omit<RolloutOptions, "model" | "quantity" | "drawParameters">;
  readonly pace: Pacer;
}

/** A part of the objective, compiled when it is first used. */
type Part = () => Rollout;

export class DadObjective {
  readonly #options: DadObjectiveOptions;
  readonly #rollouts: Rollout[] = [];
  /** Of the information about the target, or of the whole objective where there are no costs of their own. */
  readonly #gain: Part;
  /** Of the leakage under each model, where there are several. */
  readonly #costs: readonly Part[];

  constructor(options: DadObjectiveOptions) {
    const { model, against, objective, beta } = options;
    this.#options = options;
    const several = against.length > 0;
    const cost = leakageCost(objective, beta);
    this.#gain = this.#part(model, several ? INFORMATION.target : objectiveQuantity(objective, beta));
    this.#costs = several ? [model, ...against].map((each) => this.#part(each, cost)) : [];
  }

  #part(model: Model, quantity: Quantity): Part {
    const { common, model: own, drawParameters } = this.#options;
    let rollout: Rollout | undefined;
    return () => {
      if (rollout === undefined) {
        rollout = new Rollout({
          ...common,
          model,
          quantity,
          drawParameters: model === own ? drawParameters : (outer, stream) => drawOuter(model, outer, stream),
        });
        this.#rollouts.push(rollout);
      }
      return rollout;
    };
  }

  /** The objective on the batch that `stream` determines, as the network would be used. */
  async value(stream: RandomStream): Promise<number> {
    const { pace } = this.#options;
    const of = async (part: Part): Promise<number> => {
      const rollout = part();
      await pace.pause();
      return rollout.value(stream);
    };
    const gain = await of(this.#gain);
    if (this.#costs.length === 0) return gain;
    const leaked: number[] = [];
    for (const each of this.#costs) leaked.push(await of(each));
    return gain + Math.min(...leaked);
  }

  /**
   * The objective on the batch that `stream` determines, and its gradient in all parameters: the leakage is that of the
   * model that is worst on this batch.
   */
  async valueAndGradient(stream: RandomStream, gradient: Float32Array): Promise<number> {
    const { pace, common } = this.#options;
    const run = async (part: Part): Promise<number> => {
      const rollout = part();
      await pace.pause();
      return rollout.run(stream);
    };
    const value = await run(this.#gain);
    common.layers.gradient(gradient);
    if (this.#costs.length === 0) return value;
    const part = new Float32Array(gradient.length);
    let worst = Infinity;
    for (const each of this.#costs) {
      const leaked = await run(each);
      // One that is no number stays the worst: training must not go on.
      if (leaked >= worst || Number.isNaN(worst)) continue;
      worst = leaked;
      common.layers.gradient(part);
    }
    for (let i = 0; i < gradient.length; i++) gradient[i] += part[i];
    return value + worst;
  }

  dispose(): void {
    for (const each of this.#rollouts) each.dispose();
  }
}
