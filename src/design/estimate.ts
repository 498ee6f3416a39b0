/**
 * How much a policy's experiments tell about the target, the sensitive part, the sensitive part given the target, and
 * both, in nats: lower and upper bounds by nested sampling (paper, appendix D: sPCE and sNMC; with the recipes of
 * quantity.ts where parameters are integrated out), or exactly where that is possible.
 */

import { type Gpu, Workspace } from "../compute/index.js";
import { InputError } from "../core/errors.js";
import { log } from "../core/math.js";
import { fixed } from "../core/number-text.js";
import type { RunOptions } from "../core/options.js";
import type { RandomStream } from "../core/random.js";
import {
  type EvidenceSamples,
  estimateObjective,
  estimateQuantity,
  estimateRatio,
  type InformationEstimate,
  type RatioEstimate,
} from "./evidence-samples.js";
import { type EvidenceMethod, type ExactMethod, exactEvidences } from "./exact/exact.js";
import type { Model } from "./model.js";
import { nestedEvidences } from "./nested-evidences.js";
import { type Policy, staticPolicy } from "./policy.js";
import {
  GIVEN,
  type Given,
  INFORMATION,
  INFORMATION_NAMES,
  type InformationName,
  type ObjectiveKind,
} from "./quantity.js";

export type { InformationEstimate, RatioEstimate } from "./evidence-samples.js";

export interface EstimateOptions<N extends InformationName = InformationName> extends RunOptions {
  /** Simulated experiments in a batch, which share their inner samples. */
  readonly outer?: number | undefined;
  /** Batches, each with fresh inner samples: 8 or more give errors that do not depend on any one set of them. */
  readonly batches?: number | undefined;
  /** Inner samples L for p(D), and M for the evidences with something held. */
  readonly contrastive?: number | undefined;
  readonly marginal?: number | undefined;
  readonly stream: RandomStream;
  readonly workspace?: Workspace | undefined;
  /** Threads of the workspace that is made where none is given; all cores unless given. */
  readonly threads?: number | undefined;
  /**
   * Without inner samples: by closed form or enumeration, where nothing is sampled and lower and upper bound are the
   * same, or else by quadrature for sampled experiments, where they are the ends of a 95 % interval. Or by the one
   * that is named.
   */
  readonly exact?: boolean | ExactMethod | undefined;
  /** Where the inner samples are gone through; the processor unless given. Takes static designs, and no exact method. */
  readonly gpu?: Gpu | undefined;
  /** Which informations are wanted; all unless given. */
  readonly names?: readonly N[] | undefined;
}

export type EstimateMethod = "nested sampling" | EvidenceMethod;

export interface EstimateDiagnostics {
  /** Informations whose lower bound is within 0.5 nats of log(inner samples + 1), which it cannot exceed. */
  readonly ceiling: readonly InformationName[];
  /**
   * Effective number (sum w)^2 / sum w^2 of the fresh inner samples of every evidence, w their likelihoods: the median
   * over the experiments of the first batch. Empty for exact methods.
   */
  readonly effectiveSamples: Readonly<Partial<Record<Given, number>>>;
  /** Upper minus lower bound. */
  readonly gap: Readonly<Partial<Record<InformationName, number>>>;
  /** How far quadrature on half as fine a grid was from the one that was used, in nats; 0 for other methods. */
  readonly discretisation: number;
}

/** The informations that are leakage. */
export type LeakageName = "sensitive" | "sensitiveGivenTarget";

/** An estimate for every name that was asked for. */
export type PolicyEstimate<N extends InformationName = InformationName> = Readonly<
  Record<N, InformationEstimate>
> & {
  readonly method: EstimateMethod;
  /** Whether nothing was sampled, so that lower and upper bound are the same and the errors 0. */
  readonly exact: boolean;
  /** Leakage against information about the target, where both were asked for. */
  readonly ratios: "target" extends N ? Readonly<Record<N & LeakageName, RatioEstimate>> : unknown;
  readonly diagnostics: EstimateDiagnostics;
  /** What a reader should know before believing the numbers, in plain words. */
  readonly warnings: readonly string[];
  /** R_c or R_u from the same experiments. */
  objective(kind: ObjectiveKind, beta: number): InformationEstimate;
};

export const estimateTexts = {
  whole: (name: string, given: number, least: number) =>
    `${name} was ${given}: give a whole number of at least ${least}`,
  width: (given: number, expected: number) =>
    `the policy's designs have ${given} numbers for every observation, and the model has ${expected} design variables: give one number for each`,
  ceiling: (name: InformationName, lower: number, most: number, samples: number) =>
    `the lower bound of ${name}, ${fixed(lower, 2)} nats, is near the most that ${samples} inner samples can show (${fixed(most, 2)}): the information may be larger; use more`,
  few: (given: Given, effective: number) =>
    `about ${fixed(effective, 1)} of the inner samples of p(D | ${given}) carry its weight: the bounds are wide; use more inner samples, or exact`,
  gap: (name: InformationName, lower: number, upper: number) =>
    `the bounds of ${name} are ${fixed(lower, 2)} and ${fixed(upper, 2)} nats: use more inner samples, or exact`,
  interval: (name: InformationName, lower: number, upper: number) =>
    `the 95 % interval of ${name} is from ${fixed(lower, 2)} to ${fixed(upper, 2)} nats: use more experiments (outer, batches)`,
  oneBatch:
    "the errors are over experiments that share one set of inner samples, and leave out what that set contributes: use 8 batches or more",
  noTarget: "the lower bound of target is not above 0: the ratios have no upper end",
  grid: (difference: number) =>
    `the grid of the quadrature is coarse for this model: halving it changes a log evidence by ${fixed(difference, 3)} nats; compare with nested sampling`,
};

/** Within this of its ceiling a lower bound says more about the number of inner samples than about the policy. */
const NEAR_CEILING = 0.5;
const FEW_EFFECTIVE = 10;
/** A gap of more than this share of the upper bound, and of more than so many nats, is worth a warning. */
const WIDE = { share: 0.1, nats: 0.05 };
const COARSE = 0.01;

const requireWhole = (name: string, given: number, least: number): void => {
  if (!Number.isInteger(given) || given < least) {
    throw new InputError(name, estimateTexts.whole(name, given, least));
  }
};

/** The evidences that the informations are made of. */
const evidencesOf = (names: readonly InformationName[]): readonly Given[] =>
  GIVEN.filter((given) => names.some((name) => given in INFORMATION[name]));

/**
 * Bounds of the four informations of a policy under a model: EIG_theta, EIG_phi, EIG_{phi|theta} and both together
 * (paper, equations of quantity.ts), in nats.
 *
 * @example
 * ```ts
 * import { estimatePolicy, linearGaussian, seededStream, staticPolicy } from "fairbed/design";
 *
 * const policy = staticPolicy(Float64Array.of(1, 0), 2); // one observation, at x = 1 and y = 0
 * const { target, sensitive } = await estimatePolicy(linearGaussian(), policy, {
 *   stream: seededStream(0),
 *   outer: 50,
 *   contrastive: 1000,
 *   marginal: 1000,
 * });
 * // 0.347 nats about the target, by the closed form, and nothing about the sensitive part.
 * console.log(target.interval[0] < 0.347 && 0.347 < target.interval[1]); // true
 * console.log(Math.abs(sensitive.upper) < 0.05); // true
 * ```
 */
export const estimatePolicy = async <const N extends InformationName = InformationName>(
  model: Model,
  policy: Policy,
  options: EstimateOptions<N>,
): Promise<PolicyEstimate<N>> => {
  const { outer = 100, batches = 8, contrastive = 100_000, marginal = 100_000 } = options;
  requireWhole("outer", outer, 2);
  requireWhole("batches", batches, 1);
  requireWhole("contrastive", contrastive, 1);
  requireWhole("marginal", marginal, 1);
  const variables = model.design.length;
  if (policy.designs !== undefined && policy.designs.length !== policy.horizon * variables) {
    const given = policy.designs.length / policy.horizon;
    throw new InputError("designs", estimateTexts.width(given, variables));
  }
  const workspace =
    options.workspace ?? new Workspace(options.threads === undefined ? {} : { threads: options.threads });
  const names = options.names ?? (INFORMATION_NAMES as readonly N[]);
  const sizes = { outer, batches, contrastive, marginal };
  const given = evidencesOf(names);
  try {
    if (options.exact !== undefined && options.exact !== false) {
      const { samples, method, discretisation } = await exactEvidences(model, policy, {
        ...options,
        outer,
        batches,
        workspace,
        given,
        ...(options.exact === true ? {} : { method: options.exact }),
      });
      return describe(samples, method, names, sizes, {}, discretisation);
    }
    if (options.gpu !== undefined) {
      const { nestedEvidencesOnGpu } = await import("./gpu/nested-evidences.js");
      const { gpu, signal, onProgress } = options;
      const stream = options.stream.split("batch");
      const { samples, effective } = await nestedEvidencesOnGpu(model, policy, {
        ...{ ...sizes, gpu, stream, given, signal, onProgress },
      });
      return describe(samples, "nested sampling", names, sizes, effective, 0);
    }
    const { samples, effective } = await nestedEvidences(model, policy, {
      ...options,
      ...sizes,
      workspace,
      given,
      streams: (batch) => {
        const own = options.stream.split("batch").split(batch);
        return { experiments: own.split("experiments"), inner: own.split("inner") };
      },
    });
    return describe(samples, "nested sampling", names, sizes, effective, 0);
  } finally {
    if (options.workspace === undefined) workspace.dispose();
  }
};

/**
 * The four informations of a policy, or of designs [horizon][variables], without inner samples. The answer says how
 * (`method`) and whether nothing was sampled at all (`exact`): a quadrature of sampled experiments has a standard error.
 *
 * @example
 * ```ts
 * import { exactInformation, linearGaussian, seededStream } from "fairbed/design";
 *
 * const { target, exact } = await exactInformation(linearGaussian(), [[1, 0]], { stream: seededStream(0) });
 * console.log(exact, target.lower.toFixed(3), target.upper.toFixed(3)); // true 0.347 0.347
 * ```
 */
export const exactInformation = async (
  model: Model,
  policy: Policy | readonly (readonly number[])[],
  options: Omit<EstimateOptions, "contrastive" | "marginal">,
): Promise<PolicyEstimate> =>
  estimatePolicy(
    model,
    "next" in policy ? policy : staticPolicy(designRows(model, policy), model.design.length),
    {
      exact: true,
      ...options,
    },
  );

/** Rows of designs as one array. */
const designRows = (model: Model, rows: readonly (readonly number[])[]): Float64Array => {
  const variables = model.design.length;
  const wrong = rows.find((row) => row.length !== variables);
  if (wrong !== undefined) throw new InputError("designs", estimateTexts.width(wrong.length, variables));
  return Float64Array.from(rows.flat());
};

interface Sizes {
  readonly outer: number;
  readonly batches: number;
  readonly contrastive: number;
  readonly marginal: number;
}

const describe = <N extends InformationName>(
  samples: EvidenceSamples,
  method: EstimateMethod,
  names: readonly N[],
  { batches, contrastive, marginal }: Sizes,
  effectiveSamples: Partial<Record<Given, number>>,
  discretisation: number,
): PolicyEstimate<N> => {
  const by: Partial<Record<InformationName, InformationEstimate>> = {};
  const gap: Partial<Record<InformationName, number>> = {};
  const ratios: Partial<Record<LeakageName, RatioEstimate>> = {};
  const ceiling: InformationName[] = [];
  const warnings: string[] = [];
  const nested = method === "nested sampling";
  for (const name of names as readonly InformationName[]) {
    const estimate = estimateQuantity(samples, INFORMATION[name]);
    by[name] = estimate;
    const { lower, upper } = estimate;
    gap[name] = upper - lower;
    const inner = "none" in INFORMATION[name] ? contrastive : marginal;
    const most = log(inner + 1);
    if (nested && lower > most - NEAR_CEILING) {
      ceiling.push(name);
      warnings.push(estimateTexts.ceiling(name, lower, most, inner));
    } else if (upper - lower > Math.max(WIDE.nats, WIDE.share * upper)) {
      warnings.push((nested ? estimateTexts.gap : estimateTexts.interval)(name, lower, upper));
    }
  }
  for (const [given, effective] of Object.entries(effectiveSamples) as [Given, number][]) {
    if (effective < FEW_EFFECTIVE) warnings.push(estimateTexts.few(given, effective));
  }
  if (nested && batches === 1) warnings.push(estimateTexts.oneBatch);
  if (discretisation > COARSE) warnings.push(estimateTexts.grid(discretisation));
  if (by.target !== undefined) {
    for (const leakage of ["sensitive", "sensitiveGivenTarget"] as const) {
      if (by[leakage] !== undefined) ratios[leakage] = estimateRatio(samples, leakage);
    }
    if (!(by.target.lower > 0)) warnings.push(estimateTexts.noTarget);
  }
  return {
    method,
    exact: samples.experiments === "all",
    ...(by as Record<N, InformationEstimate>),
    ratios: ratios as PolicyEstimate<N>["ratios"],
    diagnostics: { ceiling, effectiveSamples, gap, discretisation },
    warnings,
    objective: (kind, beta) => estimateObjective(samples, kind, beta),
  };
};
