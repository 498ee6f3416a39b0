/** A policy used for real: one experiment, observation by observation. */
import { InputError } from "../core/errors.js";
import type { RunOptions } from "../core/options.js";
import { seededStream } from "../core/random.js";
import { readHistory } from "../design/history-file.js";
import type { Model, Role } from "../design/model.js";
import { outcomeKinds } from "../design/outcome-kinds.js";
import type { History, Policy } from "../design/policy.js";
import type { PolicyFile } from "../design/policy-file.js";
import { asPolicy } from "./as-policy.js";
import { evenDraws, type ParticleSummary, summariseParticles } from "./particle-summary.js";

/** Numbers by name: of a design's variables, or of outcomes. */
export type NamedNumbers = Readonly<Record<string, number>>;

/** Numbers by name, in the model's order, or alone where there is one. */
export type GivenNumbers = NamedNumbers | readonly number[] | number;

/** One observation: the design that was really used, and what came of it. */
export interface Observation {
  readonly design: NamedNumbers;
  readonly outcome: NamedNumbers;
}

/** A session as plain data: given to `runPolicy` as its options, it goes on where it was. */
export interface SavedSession {
  readonly seed: number;
  readonly history: readonly Observation[];
  /** What was proposed and has no outcome yet. */
  readonly proposed?: NamedNumbers | undefined;
}

export interface RunPolicyOptions {
  /** For a policy that draws, and for the posterior. Default 0. */
  readonly seed?: number | undefined;
  /** What was observed before. Default nothing. */
  readonly history?: readonly { readonly design: GivenNumbers; readonly outcome: GivenNumbers }[] | undefined;
  /** What was proposed before and has no outcome yet. */
  readonly proposed?: NamedNumbers | undefined;
}

/** What is known of one parameter. */
export interface ParameterPosterior extends ParticleSummary {
  readonly role: Role;
}

export interface SessionPosterior {
  readonly parameters: Readonly<Record<string, ParameterPosterior>>;
  /** How many independent draws the particles are worth. */
  readonly effectiveSampleSize: number;
  /** By parameter, those that were asked for, of the same experiment at the same place. */
  readonly draws?: Readonly<Record<string, readonly number[]>> | undefined;
}

export interface PosteriorRunOptions extends RunOptions {
  /** Draws that stand for the posterior. Default 4096. */
  readonly particles?: number | undefined;
  /** So many draws of equal weight are given too, for a picture. Default none. */
  readonly draws?: number | undefined;
}

export interface PolicySession {
  readonly horizon: number;
  /** Whether as many observations were made as the policy plans. */
  readonly done: boolean;
  readonly history: readonly Observation[];
  /** What is to be told after each observation; a logarithm is natural, and of yes and no, yes is 1 and no is 0. */
  readonly outcomes: readonly {
    readonly name: string;
    readonly isLogarithm: boolean;
    readonly isYesNo: boolean;
  }[];
  /** The next design, by name. Asked again before an outcome is told, it is the same. An error once all are made. */
  next(options?: RunOptions): Promise<NamedNumbers>;
  /**
   * Takes in an outcome as the model records it (see `outcomes`), and the design that was really used where that was not
   * the proposed one.
   */
  tell(outcome: GivenNumbers, options?: { readonly design?: GivenNumbers | undefined }): void;
  /** What is known of every parameter: mean, standard deviation and 95 % interval. */
  posterior(options?: PosteriorRunOptions): Promise<SessionPosterior>;
  toJSON(): SavedSession;
}

export const runPolicyTexts = {
  done: (horizon: number) =>
    `all ${horizon} observations that the policy plans are made: there is no next design; train a policy with a longer horizon for more`,
  notAsked: "no design was proposed for this outcome: ask next() first, or tell the design that was used",
  tooMany: (given: number, horizon: number) =>
    `the history has ${given} observations and the policy plans ${horizon}: give at most as many`,
};

const USUAL_PARTICLES = 4096;

/**
 * A session with a policy: `next()` gives the design to use, `tell()` takes what came of it, until `done`. The same in
 * Node and in a page; `toJSON()` can be stored and given back as options, and the session goes on with the same designs.
 *
 * @example
 * ```ts
 * import { runPolicy } from "fairbed";
 * import { linearGaussian } from "fairbed/design";
 *
 * const policy = { kind: "static", horizon: 2, designs: [[1, 0], [1, 0]] } as const;
 * const session = runPolicy(linearGaussian(), policy);
 * while (!session.done) {
 *   const { x, y } = await session.next();
 *   session.tell(1.5 * x + 0.2 * y);
 * }
 * // Two readings of 1.5 with the prior N(0, 1) and noise N(0, 1): mean 3 / 3, variance 1 / 3.
 * const { theta } = (await session.posterior()).parameters;
 * console.log(theta.mean.toFixed(1), theta.sd.toFixed(1)); // 1.0 0.6
 * ```
 */
export const runPolicy = (
  model: Model,
  policy: PolicyFile | Policy,
  { seed = 0, history: before = [], proposed: pending }: RunPolicyOptions = {},
): PolicySession => {
  const asked = asPolicy(policy, model);
  const { horizon } = asked;
  let history = readHistory(before, model);
  if (history.steps > horizon) {
    throw new InputError("history", runPolicyTexts.tooMany(history.steps, horizon));
  }
  let proposed = pending;
  const stream = seededStream(seed);
  const variables = model.design.map(({ name }) => name);
  return {
    horizon,
    get done() {
      return history.steps >= horizon;
    },
    get history() {
      return observationsOf(history, variables, model.outcomes);
    },
    outcomes: outcomesOf(model),
    async next(run) {
      if (history.steps >= horizon) throw new InputError("history", runPolicyTexts.done(horizon));
      proposed ??= named(
        variables,
        await asked.next(history, stream.split("next").split(history.steps), run),
      );
      return proposed;
    },
    tell(outcome, { design = proposed } = {}) {
      if (history.steps >= horizon) throw new InputError("history", runPolicyTexts.done(horizon));
      if (design === undefined) throw new InputError("design", runPolicyTexts.notAsked);
      history = readHistory(
        [...observationsOf(history, variables, model.outcomes), { design, outcome }],
        model,
      );
      proposed = undefined;
    },
    async posterior({ particles = USUAL_PARTICLES, draws = 0, ...run } = {}) {
      const told = history; // what is told meanwhile is for the next one
      const { posteriorGiven } = await import("../design/posterior.js");
      const { parameters, weights, effectiveSampleSize } = await posteriorGiven(model, told, {
        ...run,
        particles,
        stream: stream.split("posterior").split(told.steps),
      });
      return {
        parameters: Object.fromEntries(
          model.parameters.map(({ name, role }) => [
            name,
            { role, ...summariseParticles(parameters[name], weights) },
          ]),
        ),
        effectiveSampleSize,
        ...(draws > 0 ? { draws: evenDraws(parameters, weights, draws) } : {}),
      };
    },
    toJSON: () => ({
      seed,
      history: observationsOf(history, variables, model.outcomes),
      ...(proposed === undefined ? {} : { proposed }),
    }),
  };
};

const named = (names: readonly string[], values: ArrayLike<number>): NamedNumbers =>
  Object.fromEntries(names.map((name, i) => [name, values[i]]));

const observationsOf = (
  { steps, designs, outcomes }: History,
  variables: readonly string[],
  outcomeNames: readonly string[],
): readonly Observation[] => {
  const row = (names: readonly string[], values: Float64Array, t: number) =>
    named(names, values.subarray(t * names.length, (t + 1) * names.length));
  return Array.from({ length: steps }, (_, t) => ({
    design: row(variables, designs, t),
    outcome: row(outcomeNames, outcomes, t),
  }));
};

export const outcomesOf = (model: Model): PolicySession["outcomes"] =>
  Object.entries(outcomeKinds(model)).map(([name, { logged, support }]) => ({
    name,
    isLogarithm: logged === true,
    isYesNo: support?.join() === "0,1",
  }));
