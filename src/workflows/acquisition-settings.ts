/** How labels are acquired, and what is recommended: the defaults of `acquisition`, `simulate`, `rankPool` and the commands. */
import type { BetaGoal } from "../active/beta-control.js";
import type { Correction } from "../active/correction.js";
import type { BatchKind } from "../active/step.js";
import { isFair, type StrategyName } from "../active/strategy-names.js";
import { InputError } from "../core/errors.js";
import type { ForestOptions } from "../learners/forest.js";
import type { CategoryEncoding } from "../tables/encoder.js";

/** How labels are chosen: what a live acquisition and a simulated one share. */
export interface AcquisitionSettings {
  readonly method: StrategyName;
  /** Beta, or what it is to be found for. */
  readonly goal: BetaGoal;
  /** Labels asked for between two fits. */
  readonly batch: number;
  readonly batchKind: BatchKind;
  /** Of softmax and rank batches. */
  readonly temperature?: number | undefined;
  /** Of several sensitive labels. */
  readonly combine: "sum" | "worst";
  /** How many rows that predictions are wanted for are drawn at every step. */
  readonly targetsPerStep: number;
  readonly categories: CategoryEncoding;
  /** The model of the target: the one that asks and the one that is judged. */
  readonly forest: ForestOptions;
  readonly correction: Correction;
  /** The model of the sensitive label that the score reads. */
  readonly sensitiveForest: ForestOptions;
  readonly sensitiveCorrection: Correction;
  /**
   * What the acquired groups of the first sensitive attribute are kept to: the population's shares, equal ones, those
   * given by group, or nothing ("none", unless given).
   */
  readonly shares?: SharesChoice | undefined;
  /** The share of what is asked that is drawn at random, with a probability that is known; none unless given. */
  readonly randomPart?: number | undefined;
  /** Whether the model of the target learns from reweighed rows: outcome and group independent. Not unless given. */
  readonly reweigh?: boolean | undefined;
}

/** By the names of the groups where they are given; those that are not named have no share. */
export type SharesChoice = "population" | "equal" | "none" | Readonly<Record<string, number>>;

export interface SimulationSettings extends AcquisitionSettings {
  /** How many labels to acquire, beyond the initial ones. */
  readonly budget: number;
  readonly testFraction: number;
  /** Labels at the start; 2 of every class unless given. */
  readonly initial?: number | undefined;
  /** Rows set aside that predictions are wanted for; a tenth, within bounds, unless given: see `splitRows`. */
  readonly targets?: number | undefined;
  /** At most so many rows in the pool, drawn at random; all unless given. */
  readonly pool?: number | undefined;
  /** What leakage is read from; of several, the one that finds most counts, candidate by candidate (the paper's F_u). */
  readonly sensitiveModel: SensitiveModelName | readonly SensitiveModelName[];
  /** Whether the candidates' groups are known before they are asked, or come with their labels ("revealed", unless given). */
  readonly poolAttributes?: "known" | "revealed" | undefined;
  /** Numbers of acquired labels at which it is evaluated; the budget is always one. */
  readonly checkpoints: readonly number[];
}

/**
 * Models of a sensitive attribute: a forest fitted on the labels revealed so far; the same with all groups counting the
 * same in all ("balanced"); a logistic regression ("logistic"); or a forest fitted once before the start on the target
 * rows ("pretrained").
 */
export const SENSITIVE_MODEL_NAMES = ["revealed", "balanced", "logistic", "pretrained"] as const;
export type SensitiveModelName = (typeof SENSITIVE_MODEL_NAMES)[number];

/** Settings whose beta is a number. */
export type FixedBetaSettings = SimulationSettings & { readonly goal: { readonly beta: number } };

/**
 * The calibrated score: leaves of at least ten labels in the sensitive model and a correction for its finite number of
 * trees. Of the settings whose parity at a matched selection rate is within a standard error of the best, over four
 * tables, it loses the least accuracy: see docs/concepts/what-moves-parity.md.
 */
export const CALIBRATED: FixedBetaSettings = {
  method: "fairbed",
  goal: { beta: 10 },
  budget: 400,
  batch: 1,
  batchKind: "top",
  combine: "sum",
  testFraction: 0.3,
  targetsPerStep: 100,
  categories: "one-hot",
  forest: {},
  correction: "none",
  sensitiveForest: { minLeaf: 10 },
  sensitiveCorrection: "analytic",
  sensitiveModel: "revealed",
  checkpoints: [],
};

/**
 * An acquisition that prefers inputs whose features give away no more of the attribute than those of the set do on
 * average, under a sensitive model with leaves of at least five labels. Measured: smaller gaps between the groups' scores
 * on Census, where a model trained on the set guesses the attribute more often, not less (docs/concepts/what-moves-parity.md).
 */
export const WHOLE_SET: FixedBetaSettings = {
  ...CALIBRATED,
  method: "fairbed-set",
  goal: { beta: 3 },
  sensitiveForest: { minLeaf: 5 },
  sensitiveCorrection: "none",
};

/** Who is asked, whatever the score: the acquired groups keep to the population's shares, and a quarter is drawn at random. */
const COMPOSITION = { shares: "population", randomPart: 0.25 } as const;

/** What is recommended where nothing else is asked for. */
export const RECOMMENDED: FixedBetaSettings = { ...CALIBRATED, ...COMPOSITION };

/** What a method is run with where nothing else is asked for. */
export const recommendedFor = (method: StrategyName): FixedBetaSettings => {
  if (method === WHOLE_SET.method) return { ...WHOLE_SET, ...COMPOSITION };
  return AIMED.includes(method)
    ? { ...RECOMMENDED, method, sensitiveForest: WHOLE_SET.sensitiveForest }
    : { ...RECOMMENDED, method };
};

/** Methods that read a model of the groups by its mean predictions. */
const AIMED: readonly StrategyName[] = ["epig-minimax", "epig-boundary"];

/** The paper's fully grown trees on both sides, and nothing done about who is asked. */
export const PAPER: SimulationSettings = {
  ...CALIBRATED,
  sensitiveForest: {},
  sensitiveCorrection: "none",
};

/** Who is asked, whatever the score. */
export interface CompositionChoice {
  /** What the acquired groups are kept to ("population"; "none" with `paper` or quotas). */
  readonly shares?: SharesChoice | undefined;
  /** The share that is drawn at random (0.25; 0 with `paper` or quotas). */
  readonly randomPart?: number | undefined;
}

/** What is recommended, unless it is given, or the paper's way or quotas are asked for. */
export const compositionOf = (
  { shares, randomPart }: CompositionChoice,
  { paper = false, quotas }: { readonly paper?: boolean | undefined; readonly quotas?: unknown },
): { readonly shares: SharesChoice; readonly randomPart: number } => {
  const own = paper || quotas !== undefined;
  return {
    shares: shares ?? (own ? "none" : COMPOSITION.shares),
    randomPart: randomPart ?? (own ? 0 : COMPOSITION.randomPart),
  };
};

export const settingsTexts = {
  goalMethod: (methods: readonly string[]) =>
    `${methods.length === 1 ? `the method ${methods[0]} does` : `the methods ${methods.join(", ")} do`} not look at leakage, so no beta can reach a goal with ${methods.length === 1 ? "it" : "them"}: choose fairbed, or leave out the goal`,
  twoGoals: "a leakage budget and a parity to reach were both given: give one of them",
  paperLeaf:
    "the paper's trees are fully grown: leave out the leaf size and the smoothing of the sensitive model",
};

/** What is said of the sensitive model, beyond what is recommended for a method. */
export interface SensitiveForestChoice {
  /** The paper's fully grown trees (false). */
  readonly paper?: boolean | undefined;
  /** Trees of every forest (100). */
  readonly trees?: number | undefined;
  /** Labels in a leaf (10; 5 with fairbed-set; 1 with `paper`). */
  readonly sensitiveLeaf?: number | undefined;
  /** Smoothing of its leaves (0). */
  readonly sensitiveSmoothing?: number | undefined;
}

/** The forest of the sensitive model: calibrated leaves unless the paper's are asked for. */
export const sensitiveForestOf = (
  { paper = false, trees, sensitiveLeaf, sensitiveSmoothing = 0 }: SensitiveForestChoice,
  recommended: ForestOptions,
): ForestOptions => {
  if (paper && (sensitiveLeaf !== undefined || sensitiveSmoothing > 0)) {
    throw new InputError("paper", settingsTexts.paperLeaf);
  }
  const own = trees === undefined ? {} : { trees };
  if (paper) return own;
  return {
    ...recommended,
    ...own,
    ...(sensitiveLeaf === undefined ? {} : { minLeaf: sensitiveLeaf }),
    ...(sensitiveSmoothing === 0 ? {} : { leafSmoothing: sensitiveSmoothing }),
  };
};

/** The correction of the sensitive model: "auto" is what is recommended, and none with the paper's trees. */
export const correctionOf = (
  {
    correction = "auto",
    paper = false,
  }: { readonly correction?: Correction | "auto" | undefined; readonly paper?: boolean | undefined },
  recommended: Correction,
): Correction => {
  if (correction !== "auto") return correction;
  return paper ? "none" : recommended;
};

/** What beta is, or is found for: of these at most one. */
export interface GoalChoice {
  /** What a nat of leakage costs (10; 3 with fairbed-set). */
  readonly beta?: number | undefined;
  /** At most so much leakage in all, in nats, instead of beta. */
  readonly leakageBudget?: number | undefined;
  /** A demographic-parity ratio to reach, instead of beta. */
  readonly parityAtLeast?: number | undefined;
}

/** The goal of each method: one that does not look at leakage has none, and at least one must. */
export const goalsOf = (
  methods: readonly StrategyName[],
  { beta, leakageBudget, parityAtLeast }: GoalChoice,
): ((method: StrategyName) => BetaGoal) => {
  if (leakageBudget !== undefined && parityAtLeast !== undefined) {
    throw new InputError("goal", settingsTexts.twoGoals);
  }
  const sought = leakageBudget !== undefined || parityAtLeast !== undefined;
  if (sought && !methods.some(isFair)) throw new InputError("goal", settingsTexts.goalMethod(methods));
  return (method) => {
    if (leakageBudget !== undefined && isFair(method)) return { leakageBudget };
    if (parityAtLeast !== undefined && isFair(method)) return { parityAtLeast };
    return beta === undefined ? recommendedFor(method).goal : { beta };
  };
};
