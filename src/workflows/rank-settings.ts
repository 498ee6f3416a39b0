/** What a ranking may be told, and what it does where it is told nothing. */
import type { Correction } from "../active/correction.js";
import { strategies, takesJointBatch } from "../active/strategies.js";
import type { StrategyName } from "../active/strategy-names.js";
import { InputError } from "../core/errors.js";
import type { ForestOptions } from "../learners/forest.js";
import type { CategoryEncoding } from "../tables/encoder.js";
import {
  type CompositionChoice,
  compositionOf,
  recommendedFor,
  type SharesChoice,
} from "./acquisition-settings.js";
import type { ColumnQuotas } from "./groups-by.js";
import { rowSessionTexts } from "./row-session.js";

/** How the candidates of a ranking are chosen by their scores. */
export const RANK_BATCH_KINDS = ["joint", "top"] as const;
export type RankBatchKind = (typeof RANK_BATCH_KINDS)[number];

/** How candidates are scored and chosen. */
export interface RankChoices extends CompositionChoice {
  /** `fairbed` unless given. */
  readonly method?: StrategyName | undefined;
  /** What a nat of leakage costs; what is recommended for the method unless given: 10, or 3 with `fairbed-set`. */
  readonly beta?: number | undefined;
  /** The leakages of several sensitive attributes: their sum unless given, or the worst. */
  readonly combine?: "sum" | "worst" | undefined;
  /** How many candidates are wanted; 20 unless given. */
  readonly top?: number | undefined;
  /**
   * Whether the candidates are chosen such that they do not say the same thing twice ("joint": each by what it adds to
   * those before it, among the best by their scores alone), or by their scores alone ("top"). Jointly unless given, where
   * the method has joint batches; by the scores with `paper` or the correction "permutation".
   */
  readonly batchKind?: RankBatchKind | undefined;
  /** How many rows of the pool stand for what predictions are wanted for, where no others are given; 200 unless given. */
  readonly predictSample?: number | undefined;
  /** One-hot unless given. */
  readonly categories?: CategoryEncoding | undefined;
  /** The model of the target; 100 fully grown trees unless given. */
  readonly forest?: ForestOptions | undefined;
  /** The models of the sensitive attributes; 100 trees with the leaves recommended for the method unless given. */
  readonly sensitiveForest?: ForestOptions | undefined;
  /** Of the sensitive models for few trees; the one recommended for the method unless given. */
  readonly correction?: Correction | undefined;
  /** A column of the pool: what the label of each row costs; labels cost nothing unless given. */
  readonly costs?: string | undefined;
  /** What a unit of cost is worth, in nats: costs are shown and do not decide unless it is given. */
  readonly costWeight?: number | undefined;
  /** The column that names the rows, in the pool and in the labelled table: who is labelled already is left out. */
  readonly id?: string | undefined;
  readonly quotas?: ColumnQuotas | undefined;
  /** Whether the model of the target learns from rows reweighed so that outcome and group are independent; not unless given. */
  readonly reweigh?: boolean | undefined;
  /** The paper's way, which does nothing about who is asked; not unless given. */
  readonly paper?: boolean | undefined;
  /** Where the random streams start; 0 unless given. */
  readonly seed?: number | undefined;
}

/** The same with its defaults: plain data, which a plan carries to whoever scores a part of the pool. */
export interface RankSettings extends Pick<RankChoices, "costs" | "costWeight" | "id" | "quotas"> {
  readonly method: StrategyName;
  readonly beta: number;
  readonly combine: "sum" | "worst";
  readonly top: number;
  readonly batchKind: RankBatchKind;
  readonly predictSample: number;
  readonly categories: CategoryEncoding;
  readonly forest: ForestOptions;
  readonly sensitiveForest: ForestOptions;
  readonly correction: Correction;
  readonly shares: SharesChoice;
  readonly randomPart: number;
  readonly reweigh: boolean;
  readonly seed: number;
}

export const RANK_DEFAULTS = {
  method: "fairbed",
  top: 20,
  predictSample: 200,
  seed: 0,
} as const satisfies RankChoices;

export const rankSettingsTexts = {
  costWeight: "costWeight (--cost-weight) says what a unit of cost is worth: name the column of costs too",
  noJoint: (method: string) =>
    `the method ${method} has no joint batches: choose the batch kind top, or the method fairbed or epig`,
  jointPermutation:
    "a joint batch weighs the members anew with every label, and the correction permutation draws pairings of all: choose the correction analytic or none, or the batch kind top",
};

/** Random acquisition keeps to the population's shares by itself. */
const NO_COMPOSITION = { shares: "none", randomPart: 0 } as const;

const requireComposition = (
  composition: Pick<RankSettings, "shares" | "randomPart">,
  { quotas, method, ...choices }: RankChoices,
): Pick<RankSettings, "shares" | "randomPart"> => {
  const { shares, randomPart } = composition;
  if (!(randomPart >= 0 && randomPart <= 1)) {
    throw new InputError("random-part", rowSessionTexts.randomPart(randomPart));
  }
  if (quotas !== undefined && (shares !== "none" || randomPart > 0)) {
    throw new InputError("quotas", rowSessionTexts.quotas);
  }
  if (method !== "random") return composition;
  if (!["population", "none", undefined].includes(choices.shares as string | undefined)) {
    throw new InputError("shares", rowSessionTexts.randomShares);
  }
  return NO_COMPOSITION;
};

const batchKindOf = (
  { batchKind, paper }: RankChoices,
  method: StrategyName,
  correction: Correction,
): RankBatchKind => {
  const draws = strategies[method].uses.sensitive && correction === "permutation";
  if (batchKind === "joint") {
    if (!takesJointBatch(method)) throw new InputError("batch-kind", rankSettingsTexts.noJoint(method));
    if (draws) throw new InputError("batch-kind", rankSettingsTexts.jointPermutation);
  }
  return batchKind ?? (takesJointBatch(method) && !draws && paper !== true ? "joint" : "top");
};

/** Choices with what is recommended in the place of what is not chosen. */
export const rankSettings = (choices: RankChoices = {}): RankSettings => {
  const { method = RANK_DEFAULTS.method, costs } = choices;
  if (choices.costWeight !== undefined && costs === undefined) {
    throw new InputError("costs", rankSettingsTexts.costWeight);
  }
  const recommended = recommendedFor(method);
  const correction = choices.correction ?? recommended.sensitiveCorrection;
  return {
    method,
    beta: choices.beta ?? recommended.goal.beta,
    combine: choices.combine ?? recommended.combine,
    top: choices.top ?? RANK_DEFAULTS.top,
    batchKind: batchKindOf(choices, method, correction),
    predictSample: choices.predictSample ?? RANK_DEFAULTS.predictSample,
    categories: choices.categories ?? recommended.categories,
    forest: choices.forest ?? recommended.forest,
    sensitiveForest: choices.sensitiveForest ?? recommended.sensitiveForest,
    correction,
    costs,
    costWeight: choices.costWeight,
    id: choices.id,
    quotas: choices.quotas,
    ...requireComposition(compositionOf(choices, choices), { ...choices, method }),
    reweigh: choices.reweigh ?? recommended.reweigh ?? false,
    seed: choices.seed ?? RANK_DEFAULTS.seed,
  };
};
