/**
 * F_u and F_c (paper, section 3.2): the fairness of the data that a policy gathers is minus the most that they tell
 * about the sensitive part under any of a set of models,
 *
 *     F_u = -max_m EIG_phi^m        F_c = -max_m E_theta EIG_{phi|theta}^m
 *
 * so that data should not pass for fair because a model is too poor to see what they give away.
 */
import { InputError } from "../core/errors.js";
import { type EstimateOptions, estimatePolicy, type InformationEstimate } from "./estimate.js";
import type { Model } from "./model.js";
import type { Policy } from "./policy.js";
import type { ObjectiveKind } from "./quantity.js";

export interface FairnessOptions extends Omit<EstimateOptions, "names"> {
  /** The models, by any names: one is named as the worst. */
  readonly models: Readonly<Record<string, Model>>;
  readonly policy: Policy;
  readonly kind: ObjectiveKind;
}

/** A number between bounds, in nats. */
export interface WorstCase {
  readonly lower: number;
  readonly upper: number;
  readonly standardError: number;
}

export interface FairnessMeasure {
  readonly kind: ObjectiveKind;
  /** F_c or F_u: at most 0, which is reached when the data tell nothing about the sensitive part. */
  readonly fairness: WorstCase;
  /**
   * -F: between the largest lower bound and the largest upper bound. A maximum of estimates is a little too large on
   * average, by about a standard error where models are close.
   */
  readonly leakage: WorstCase;
  /** The model with the most leakage. */
  readonly worst: string;
  /** Other models that may be the worst: their 95 % intervals reach that of the worst. */
  readonly contenders: readonly string[];
  readonly models: Readonly<Record<string, InformationEstimate>>;
  readonly warnings: readonly string[];
}

export const fairnessTexts = {
  noModels: "there is no model to be fair under: give at least one",
  variables: (name: string, given: readonly string[], first: string, expected: readonly string[]) =>
    `the model "${name}" has ${given.join(", ")} where "${first}" has ${expected.join(", ")}: models that share a policy must have the same design variables and outcomes`,
};

/** What a policy sees of a model. */
const interfaceOf = ({ design, outcomes }: Model): readonly string[] => [
  ...design.map(({ name }) => name),
  ...outcomes,
];

/** Models that share a policy must share what it chooses and sees. */
export const requireSameInterface = (models: readonly (readonly [string, Model])[]): void => {
  if (models.length === 0) throw new InputError("models", fairnessTexts.noModels);
  const [first, model] = models[0];
  const expected = interfaceOf(model);
  for (const [name, other] of models) {
    const given = interfaceOf(other);
    if (given.join("\n") !== expected.join("\n")) {
      throw new InputError("models", fairnessTexts.variables(name, given, first, expected));
    }
  }
};

/**
 * F_c or F_u of a policy (paper, section 3.2), with the worst model named.
 *
 * @example
 * ```ts
 * import { fairness, linearGaussian, seededStream, staticPolicy } from "fairbed/design";
 *
 * // phi is seen once: half of log(1 + 1 / noise^2) nats.
 * const { worst, leakage } = await fairness({
 *   models: { loud: linearGaussian({ noise: 1 }), quiet: linearGaussian({ noise: 0.5 }) },
 *   policy: staticPolicy(Float64Array.of(0, 1), 2),
 *   kind: "unconditional",
 *   exact: true,
 *   stream: seededStream(0),
 * });
 * console.log(worst, leakage.upper.toFixed(3)); // quiet 0.805
 * ```
 */
export const fairness = async ({
  models,
  policy,
  kind,
  ...options
}: FairnessOptions): Promise<FairnessMeasure> => {
  const entries = Object.entries(models);
  requireSameInterface(entries);
  const name = kind === "conditional" ? "sensitiveGivenTarget" : "sensitive";
  const warnings: string[] = [];
  const estimates: (InformationEstimate & { readonly key: string })[] = [];
  for (const [index, [key, model]] of entries.entries()) {
    const estimate = await estimatePolicy(model, policy, {
      ...options,
      names: [name],
      onProgress: ({ done, total }) =>
        options.onProgress?.({ done: index + done / total, total: entries.length, label: "models" }),
    });
    warnings.push(...estimate.warnings.map((text) => `${key}: ${text}`));
    estimates.push({ key, ...(estimate[name] as InformationEstimate) });
  }
  const most = (of: (estimate: InformationEstimate) => number) =>
    estimates.reduce((best, each) => (of(each) > of(best) ? each : best));
  const worst = most(({ lower, upper }) => lower + upper);
  const [largestLower, largestUpper] = [most(({ lower }) => lower), most(({ upper }) => upper)];
  const leakage: WorstCase = {
    lower: largestLower.lower,
    upper: largestUpper.upper,
    standardError: Math.max(largestLower.lowerError, largestUpper.upperError),
  };
  return {
    kind,
    fairness: { lower: -leakage.upper, upper: -leakage.lower, standardError: leakage.standardError },
    leakage,
    worst: worst.key,
    contenders: estimates
      .filter(({ key, interval }) => key !== worst.key && interval[1] >= worst.interval[0])
      .map(({ key }) => key),
    models: Object.fromEntries(estimates.map(({ key, ...estimate }) => [key, estimate])),
    warnings,
  };
};
