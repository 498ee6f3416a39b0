/**
 * The greedy adaptive policy: after every outcome, the design whose single next observation has the largest
 * incremental objective under the current posterior,
 *
 *     R_c(xi | h) = EIG_theta(xi | h) - beta EIG_{phi|theta}(xi | h),   R_u with EIG_phi in place of EIG_{phi|theta},
 *
 * all expectations under p(psi | h), which is represented by particles (`posterior.ts`), and estimated by
 * `one-step.ts`; `greedy-decisions.ts` brings the two together.
 *
 * Cost of a decision with the defaults, on one core: 0.1 to 0.5 s, about 200 designs at B (M + L) likelihoods each
 * (B = particles / 4 outer, M = L = 3/4 particles inner), and the posterior, which grows with the square of the
 * number of steps.
 */
import { InputError } from "../core/errors.js";
import type { Filled, RunOptions } from "../core/options.js";
import type { RandomStream } from "../core/random.js";
import { checkSearch, type SearchRange, searchRanges } from "./design-search.js";
import type { GreedyDecisions } from "./greedy-decisions.js";
import type { Model } from "./model.js";
import { experimentOf } from "./one-experiment.js";
import type { History, Policy } from "./policy.js";
import { type PosteriorOptions, posteriorOptions } from "./posterior-options.js";
import type { ObjectiveKind } from "./quantity.js";

export interface GreedyOptions extends PosteriorOptions {
  readonly horizon: number;
  /** R_c ("conditional", unless given) or R_u. */
  readonly objective?: ObjectiveKind | undefined;
  /** What a nat of leakage costs; 0 unless given. */
  readonly beta?: number | undefined;
  /** 512 unless given. */
  readonly particles?: number | undefined;
  /** Designs tried at every step before the best are refined; 128 unless given. */
  readonly candidates?: number | undefined;
  /**
   * Where designs are looked for, one range per design variable: the bounds unless given, and where a variable has
   * none, four standard deviations of the prior around the means of the parameters.
   */
  readonly search?: readonly SearchRange[] | undefined;
}

export interface AdaptivePolicy extends Policy {
  readonly kind: "greedy";
  /** All options, with their defaults: what it takes to make the same policy again. */
  readonly settings: Filled<GreedyOptions>;
}

export const greedyTexts = {
  horizon: (given: number) => `horizon was ${given}: give a whole number of at least 1`,
  beta: (given: number) => `beta was ${given}: give a finite number of at least 0`,
  particles: (given: number) =>
    `the greedy policy was given ${given} particles: give a whole number of at least ${LEAST_PARTICLES}`,
  candidates: (given: number) => `candidates was ${given}: give a whole number of at least 1`,
  over: (steps: number, horizon: number) =>
    `the history has ${steps} observations and the policy a horizon of ${horizon}: there is no next design`,
};

const LEAST_PARTICLES = 16;

/**
 * The greedy policy. It depends on the history and the stream alone; see the top of this file for its cost.
 *
 * @example
 * ```ts
 * import { greedyPolicy, psychometric, seededStream, readHistory } from "fairbed/design";
 *
 * const model = psychometric();
 * const policy = greedyPolicy(model, { horizon: 3, particles: 64, candidates: 16 });
 * const history = readHistory([{ design: [0, 0], outcome: 1 }], model);
 * const [intensity, context] = await policy.next(history, seededStream(0));
 * console.log(intensity >= -4 && intensity <= 4 && context >= 0 && context <= 1); // true
 * ```
 */
export const greedyPolicy = (
  model: Model,
  {
    horizon,
    objective = "conditional",
    beta = 0,
    particles = 512,
    resampleBelow = 0.5,
    sweeps = 5,
    candidates = 128,
    search = searchRanges(model),
  }: GreedyOptions,
): AdaptivePolicy => {
  if (!Number.isInteger(horizon) || horizon < 1)
    throw new InputError("horizon", greedyTexts.horizon(horizon));
  if (!(beta >= 0 && beta < Infinity)) throw new InputError("beta", greedyTexts.beta(beta));
  if (!Number.isInteger(particles) || particles < LEAST_PARTICLES) {
    throw new InputError("particles", greedyTexts.particles(particles));
  }
  if (!Number.isInteger(candidates) || candidates < 1) {
    throw new InputError("candidates", greedyTexts.candidates(candidates));
  }
  checkSearch(model, search);
  posteriorOptions({ particles, resampleBelow, sweeps }); // which checks them
  const settings = { horizon, objective, beta, particles, resampleBelow, sweeps, candidates, search };
  // Loaded at the first decision, and compiled then: a page that runs another kind of policy does without it.
  let decisions: GreedyDecisions | undefined;
  // Decisions share what was compiled: one that is asked for while another is under way waits for it.
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work);
    last = result.catch(() => undefined);
    return result;
  };
  const decide = async (history: History, stream: RandomStream, run: RunOptions): Promise<Float64Array> => {
    decisions ??= (await import("./greedy-decisions.js")).greedyDecisions(model, settings);
    return decisions(history, stream, run);
  };
  return {
    kind: "greedy",
    horizon,
    settings,
    next: async (history, stream, run = {}) => {
      const { outer, steps } = history;
      if (steps >= horizon) throw new InputError("history", greedyTexts.over(steps, horizon));
      const width = model.design.length;
      const all = new Float64Array(outer * width);
      const one = (b: number) => inTurn(() => decide(experimentOf(history, b), stream.split(b), run));
      // Before the first outcome all experiments are the same.
      const first = steps === 0 ? await one(0) : undefined;
      for (let b = 0; b < outer; b++) all.set(first ?? (await one(b)), b * width);
      return all;
    },
  };
};
