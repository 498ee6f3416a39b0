/** What decides a policy: its settings, as plain data, and their defaults. */
import { InputError } from "../core/errors.js";
import type { ObjectiveKind } from "../design/quantity.js";
import type { TrainStaticOptions } from "../design/train-static.js";
import { requireTrainable } from "../design/training.js";
import { POLICY_KINDS, type PolicyKind, TRAIN_POLICY_DEFAULTS } from "./policy-defaults.js";

/** Everything that decides a policy, beside its model: plain data, as stored in the policy's file. */
export interface TrainPolicySettings
  extends Pick<TrainStaticOptions, "starts" | "start" | "decay" | "settled" | "sizes"> {
  /**
   * `static`: all designs are chosen ahead, from many starts. `dad`: a network reads what was measured so far. `greedy`:
   * looks one observation ahead; nothing is trained. `random`: normal designs, to compare with. Default static.
   */
  readonly kind?: PolicyKind | undefined;
  /** Leakage given the target (R_c, the default), or by itself (R_u). */
  readonly objective?: ObjectiveKind | undefined;
  /** What a nat of leakage costs, in nats of information about the target. Default 0.8. */
  readonly beta?: number | undefined;
  /** At most so much leakage, in nats: beta is then looked for, and the one that is given is not used. */
  readonly leakageBudget?: number | undefined;
  /** How many observations. Default 10. */
  readonly horizon?: number | undefined;
  /** Steps of the optimiser. Default 6000 (static), 10,000 (dad). */
  readonly steps?: number | undefined;
  /** How far a step goes. Default 0.05 (static, in units of the prior's spread), 5e-5 (dad). */
  readonly rate?: number | undefined;
  /**
   * What random designs are drawn from, in every variable, clipped to its bounds. Default: uniform between the bounds,
   * N(0, 1) where there are none (the paper's).
   */
  readonly distribution?: { readonly mean: number; readonly sd: number } | undefined;
  /** Where the random streams start. Default 0. */
  readonly seed?: number | undefined;
}

export const policySettingsTexts = {
  kind: (given: unknown) =>
    `the kind of policy was ${JSON.stringify(given)}: the kinds are ${POLICY_KINDS.join(", ")}`,
  randomBudget:
    "a random policy has nothing to trade for leakage: leave out the leakage budget, or choose another kind of policy",
};

/** The settings with their defaults, and only those that matter to the kind of policy. */
export const policySettings = (given: TrainPolicySettings): FullSettings => {
  const usual = TRAIN_POLICY_DEFAULTS;
  const {
    kind = usual.kind,
    objective = usual.objective,
    beta = usual.beta,
    horizon = usual.horizon,
    seed = usual.seed,
    leakageBudget,
  } = given;
  if (!POLICY_KINDS.includes(kind)) throw new InputError("kind", policySettingsTexts.kind(kind));
  requireTrainable({ horizon }, beta);
  if (kind === "random" && leakageBudget !== undefined) {
    throw new InputError("budget", policySettingsTexts.randomBudget);
  }
  const common = { kind, objective, beta, horizon, seed, ...defined({ leakageBudget }) };
  if (kind === "static") {
    const { steps, starts, rate } = usual.static;
    const { start, decay, settled, sizes } = given;
    return {
      ...common,
      steps: given.steps ?? steps,
      starts: given.starts ?? starts,
      rate: given.rate ?? rate,
      ...defined({ start, decay, settled, sizes }),
    };
  }
  if (kind === "dad") {
    const { steps, rate } = usual.dad;
    const { sizes } = given;
    return { ...common, steps: given.steps ?? steps, rate: given.rate ?? rate, ...defined({ sizes }) };
  }
  if (kind === "random") return { ...common, ...defined({ distribution: given.distribution }) };
  return common;
};

/** Settings of one kind of policy, with every default filled in. */
export interface FullSettings extends TrainPolicySettings {
  readonly kind: PolicyKind;
  readonly objective: ObjectiveKind;
  readonly beta: number;
  readonly horizon: number;
  readonly seed: number;
}

/** Without what is undefined, so that files and checkpoints hold what was decided and nothing else. */
export const defined = <Fields extends object>(fields: Fields): Partial<Fields> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<Fields>;
