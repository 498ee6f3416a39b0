/** What decides a policy: its settings, as plain data, and their defaults. */
import { InputError } from "../core/errors.js";
import type { DadWidths } from "../design/dad-network.js";
import type { ObjectiveKind } from "../design/quantity.js";
import type { TrainStaticOptions } from "../design/train-static.js";
import { requireTrainable } from "../design/training.js";
import { POLICY_KINDS, type PolicyKind, TRAIN_POLICY_DEFAULTS } from "./policy-defaults.js";

/** Everything that decides a policy, beside its model: plain data, as stored in the policy's file. */
export interface TrainPolicySettings
  extends Pick<TrainStaticOptions, "starts" | "decay" | "settled" | "sizes"> {
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
  /** How far a step goes. Default 0.05 (static, in units of the prior's spread), 5e-5 (dad), 1e-3 (dad from a start). */
  readonly rate?: number | undefined;
  /** Gradients of a dad policy with a larger norm are scaled down to it. Default: none are; 1 with a start. */
  readonly clip?: number | undefined;
  /** Layers of a dad policy's network. Default: the paper's, { encoder: [64, 256], encoding: 16, emitter: [128, 16] }. */
  readonly widths?: DadWidths | undefined;
  /**
   * Where training starts. Of a dad policy: from static designs, to which the network adds what it learns; they are
   * found first with `"static"` (in at most as many steps), or are those of a static policy. Default: a random network.
   * Of a static policy: designs drawn from N(mean, sd^2) in every variable, or given ones as the first start. Default:
   * all over the prior.
   */
  readonly start?: PolicyStart | undefined;
  /**
   * What random designs are drawn from, in every variable, clipped to its bounds. Default: uniform between the bounds,
   * N(0, 1) where there are none (the paper's).
   */
  readonly distribution?: { readonly mean: number; readonly sd: number } | undefined;
  /** Where the random streams start. Default 0. */
  readonly seed?: number | undefined;
}

/** Designs, [horizon][variables]. */
export interface StartDesigns {
  readonly designs: readonly (readonly number[])[];
}

export type PolicyStart = "static" | StartDesigns | { readonly mean: number; readonly sd: number };

export const policySettingsTexts = {
  start: (kind: PolicyKind, given: unknown) =>
    kind === "dad" || kind === "static"
      ? `a ${kind} policy cannot start from ${JSON.stringify(given)}: give ${kind === "dad" ? '"static"' : "{ mean, sd }"} or a policy with designs, or leave out the start`
      : `a ${kind} policy is not trained and starts from nothing: leave out the start, or choose a dad policy`,
  startLength: (given: number, horizon: number) =>
    `the policy to start from has ${given} designs and the horizon is ${horizon}: give a horizon of ${given}`,

  widths: (kind: PolicyKind) =>
    `a ${kind} policy has no network: leave out the widths of its layers, or choose a dad policy`,
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
    seed = usual.seed,
    leakageBudget,
  } = given;
  if (!POLICY_KINDS.includes(kind)) throw new InputError("kind", policySettingsTexts.kind(kind));
  const start = startOf(kind, given.start);
  const designs = start !== undefined && hasDesigns(start) ? start.designs : undefined;
  const horizon = given.horizon ?? designs?.length ?? usual.horizon;
  if (designs !== undefined && designs.length !== horizon) {
    throw new InputError("horizon", policySettingsTexts.startLength(designs.length, horizon));
  }
  requireTrainable({ horizon }, beta);
  if (kind === "random" && leakageBudget !== undefined) {
    throw new InputError("budget", policySettingsTexts.randomBudget);
  }
  if (kind !== "dad" && given.widths !== undefined) {
    throw new InputError("widths", policySettingsTexts.widths(kind));
  }
  const common = { kind, objective, beta, horizon, seed, ...defined({ leakageBudget }) };
  if (kind === "static") {
    const { steps, starts, rate } = usual.static;
    const { decay, settled, sizes } = given;
    return {
      ...common,
      steps: given.steps ?? steps,
      starts: given.starts ?? starts,
      rate: given.rate ?? rate,
      ...defined({ start, decay, settled, sizes }),
    };
  }
  if (kind === "dad") {
    const { steps, rate } = start === undefined ? usual.dad : usual.dadFromStatic;
    const started = start !== undefined;
    const { decay = started, clip = started ? usual.dadFromStatic.clip : undefined, sizes, widths } = given;
    return {
      ...common,
      steps: given.steps ?? steps,
      rate: given.rate ?? rate,
      // A policy that starts as the paper's says nothing of it, as its file did before there were others.
      ...(decay ? { decay } : {}),
      ...(start === "static" ? { starts: given.starts ?? usual.static.starts } : {}),
      ...defined({ clip, start, sizes, widths }),
    };
  }
  if (kind === "random") return { ...common, ...defined({ distribution: given.distribution }) };
  return common;
};

export const hasDesigns = (start: PolicyStart): start is StartDesigns =>
  typeof start === "object" && "designs" in start;

/** A start that the kind of policy can have; of a policy only its designs. */
const startOf = (kind: PolicyKind, start: PolicyStart | undefined): PolicyStart | undefined => {
  if (start === undefined) return undefined;
  if (kind === "random" || kind === "greedy") {
    throw new InputError("start", policySettingsTexts.start(kind, start));
  }
  if (hasDesigns(start)) return { designs: start.designs };
  if ((start === "static") !== (kind === "dad")) {
    throw new InputError("start", policySettingsTexts.start(kind, start));
  }
  return start;
};

/** What static designs are found with, for a policy that starts from them. */
export const staticStartSettings = (settings: FullSettings): FullSettings => {
  const { objective, beta, horizon, seed, starts, sizes } = settings;
  const most = TRAIN_POLICY_DEFAULTS.static.steps;
  const steps = Math.min(settings.steps ?? most, most);
  return policySettings({ kind: "static", objective, beta, horizon, seed, starts, sizes, steps });
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
