/**
 * The objective that static designs are trained on. With several models the leakage is the worst of theirs,
 *
 *     R = EIG_theta - beta max_m leakage_m
 *
 * with EIG_theta that of the first (paper, section 3.2 for the measure, 4 for the objective).
 */
import type { Workspace } from "../compute/index.js";
import type { RandomStream } from "../core/random.js";
import { canEnumerateCheaply, EnumeratedObjective } from "./enumerated-objective.js";
import { requireSameInterface } from "./fairness-measures.js";
import type { Model } from "./model.js";
import { type Noise, type Objective, SampledObjective, type SampleSizes } from "./objective.js";
import {
  type Bound,
  INFORMATION,
  leakageCost,
  type ObjectiveKind,
  objectiveQuantity,
  type Quantity,
} from "./quantity.js";

export interface StaticObjectiveOptions {
  readonly model: Model;
  /** Further models whose leakage counts. */
  readonly against: readonly Model[];
  readonly objective: ObjectiveKind;
  readonly beta: number;
  readonly horizon: number;
  readonly sizes: SampleSizes;
  readonly workspace: Workspace;
}

/**
 * The objective of static designs [horizon, variables], with its gradient in them: exact where enumerating all outcomes is
 * no dearer than sampling them, a bound by nested samples elsewhere.
 *
 * @example
 * ```ts
 * import { psychometric, seededStream, staticObjective, Workspace } from "fairbed/design";
 *
 * const workspace = new Workspace({ threads: 1 });
 * const objective = staticObjective({
 *   model: psychometric(),
 *   against: [],
 *   objective: "conditional",
 *   beta: 0,
 *   horizon: 1,
 *   sizes: { outer: 100, contrastive: 1000, marginal: 1000 },
 *   workspace,
 * });
 * // Nothing is sampled, and an intensity at the threshold's mean tells the most: the slope there is 0.
 * objective.evaluate(Float64Array.of(0, 0), seededStream(0));
 * console.log(Math.abs(objective.gradient[0]) < 1e-9); // true
 * objective.dispose();
 * workspace.dispose();
 * ```
 */
export const staticObjective = (options: StaticObjectiveOptions): Objective => {
  const { model, against, objective, beta, horizon, sizes, workspace } = options;
  const one = (of: Model, quantity: Quantity): Objective =>
    canEnumerateCheaply(of, horizon, sizes)
      ? new EnumeratedObjective(of, quantity, horizon)
      : new SampledObjective(of, quantity, horizon, sizes, workspace);
  if (against.length === 0) return one(model, objectiveQuantity(objective, beta));
  requireNamedModels(model, against);
  const cost = leakageCost(objective, beta);
  return new WorstCaseObjective(
    one(model, INFORMATION.target),
    [model, ...against].map((each) => one(each, cost)),
  );
};

/** Models that one policy is for must share its designs and outcomes. */
export const requireNamedModels = (model: Model, against: readonly Model[]): void =>
  requireSameInterface(
    [model, ...against].map((each, i) => [i === 0 ? each.name : `${each.name} (${i + 1})`, each]),
  );

/**
 * target + min_m cost_m. A minimum of bounds is a bound of the minimum on the lower side, and a minimum of noisy
 * values is low on average: "lower" stays a lower bound. The gradient is that of the model that is worst on this
 * batch, all on the same parts of the stream.
 */
class WorstCaseObjective implements Objective {
  readonly #target: Objective;
  readonly #costs: readonly Objective[];
  readonly gradient: Float64Array;

  constructor(target: Objective, costs: readonly Objective[]) {
    this.#target = target;
    this.#costs = costs;
    this.gradient = new Float64Array(target.gradient.length);
  }

  noise(stream: RandomStream): Noise {
    return [this.#target, ...this.#costs].map((part) => part.noise(stream)[0] ?? {});
  }

  evaluate(
    designs: Float64Array,
    stream: RandomStream,
    bound: Bound = "lower",
    noise: Noise = this.noise(stream),
  ): number {
    const target = this.#target.evaluate(designs, stream, bound, noise.slice(0, 1));
    let worst = Infinity;
    let steepest: Float64Array | undefined;
    this.#costs.forEach((cost, m) => {
      const value = cost.evaluate(designs, stream, bound, noise.slice(m + 1, m + 2));
      // One that is no number stays the worst: training must not go on.
      if (value >= worst || Number.isNaN(worst)) return;
      worst = value;
      steepest = cost.gradient;
    });
    this.gradient.set(this.#target.gradient);
    steepest?.forEach((derivative, i) => {
      this.gradient[i] += derivative;
    });
    return target + worst;
  }

  dispose(): void {
    for (const part of [this.#target, ...this.#costs]) part.dispose();
  }
}
