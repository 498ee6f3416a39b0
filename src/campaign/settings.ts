/** What a campaign is told to do: plain data, in the first event of its log, changed by later ones. */
import type { StrategyName } from "../active/strategy-names.js";
import { InputError } from "../core/errors.js";
import type { Optional } from "../core/options.js";
import type { ModelIdentity } from "../design/model-catalogue.js";
import type { FairMetric } from "../mitigation/fair-rule.js";
import type { NamedModels } from "../workflows/acquisition.js";
import type { AcquisitionOptions } from "../workflows/acquisition-plan.js";
import type { SharesChoice } from "../workflows/acquisition-settings.js";
import type { Recipe, RecipeFit } from "../workflows/recipe.js";

export const CAMPAIGN_FORMAT = "fairbed-campaign-1";

/** Options of `acquisition` that a log can carry. The number of labels and the seed are the campaign's. */
export type CampaignAcquisition = Omit<
  AcquisitionOptions,
  "targets" | "sensitiveModel" | "budget" | "seed"
> & { readonly sensitiveModel?: NamedModels | undefined };

export interface PoolColumn {
  readonly name: string;
  readonly kind: "numeric" | "categorical";
  readonly unit?: string | undefined;
}

export interface CampaignSettings {
  readonly seed: number;
  /** Seconds for which a question is not asked again. */
  readonly lease: number;
  /** Labels to collect in all, beyond those that the pool came with; no limit unless given. */
  readonly budget?: number | undefined;
  /** What an answer costs where the pool has no column of costs; and what all may cost. */
  readonly costPerLabel?: number | undefined;
  readonly costBudget?: number | undefined;
  /** How many annotators answer an item, and the share of the items that this is wanted for. */
  readonly opinions: number;
  readonly opinionsPart: number;
  /** What a model of the labels is to reach, and how it is made of them: from a recipe. */
  readonly requirement?: { readonly metric: FairMetric; readonly level: number } | undefined;
  readonly fit?: RecipeFit | undefined;
  /** Of a campaign about a pool. */
  readonly columns?: readonly PoolColumn[] | undefined;
  readonly acquisition?: CampaignAcquisition | undefined;
  /** Of a campaign of designs: the policy's file as base64, and the model that it is for. */
  readonly policy?: string | undefined;
  readonly model?: ModelIdentity | undefined;
}

/** What can be changed on the way. Null takes a limit away. */
export interface SettingsChange {
  readonly lease?: number | undefined;
  readonly budget?: number | null | undefined;
  readonly costPerLabel?: number | null | undefined;
  readonly costBudget?: number | null | undefined;
  readonly opinions?: number | undefined;
  readonly opinionsPart?: number | undefined;
  readonly requirement?: { readonly metric: FairMetric; readonly level: number } | null | undefined;
  readonly acquisition?:
    | Partial<Pick<CampaignAcquisition, "method" | "beta" | "shares" | "randomPart" | "reweigh" | "batch">>
    | undefined;
}

/** Every field of a change, with what holds now. Null is no limit. */
export interface ChangeableSettings {
  readonly lease: number;
  readonly budget: number | null;
  readonly costPerLabel: number | null;
  readonly costBudget: number | null;
  readonly opinions: number;
  readonly opinionsPart: number;
  readonly requirement: { readonly metric: FairMetric; readonly level: number } | null;
  /** Null in a campaign of designs. */
  readonly acquisition: {
    readonly method: StrategyName;
    /** Null where it follows a goal. */
    readonly beta: number | null;
    readonly shares: SharesChoice;
    readonly randomPart: number;
    readonly reweigh: boolean;
    readonly batch: number;
  } | null;
}

/** What people give; the rest has a default. */
export interface CampaignOptions
  extends Optional<
    Pick<
      CampaignSettings,
      | "seed"
      | "lease"
      | "budget"
      | "costPerLabel"
      | "costBudget"
      | "opinions"
      | "opinionsPart"
      | "requirement"
    >
  > {
  /** What `plan` recommended: how to ask, and what the labels are for. Options given beside it win. */
  readonly recipe?: Recipe | undefined;
}

export const CAMPAIGN_DEFAULTS = { seed: 0, lease: 86_400, opinions: 1, opinionsPart: 1 } as const;

/** In seconds: a year. */
export const LONGEST_LEASE = 366 * 86_400;

export const settingsTexts = {
  lease: (given: unknown) =>
    `the lease was ${String(given)} seconds: give a number above 0 and at most ${LONGEST_LEASE}, which is a year`,
  whole: (name: string, given: unknown) => `${name} was ${String(given)}: give a whole number of at least 1`,
  share: (name: string, given: unknown) => `${name} was ${String(given)}: give a number from 0 to 1`,
  amount: (name: string, given: unknown) => `${name} was ${String(given)}: give a number of at least 0`,
  seed: (given: unknown) => `the seed was ${String(given)}: give a whole number of at least 0`,
  level: (given: unknown) => `the level was ${String(given)}: give a ratio above 0 and at most 1`,
  noPool: "this campaign is about designs and has no pool: leave out what is about asking people of a pool",
};

const isWhole = (given: number, least: number): boolean => Number.isSafeInteger(given) && given >= least;

/** Fails where a setting cannot work. */
export const requireSettings = (settings: CampaignSettings): CampaignSettings => {
  const { seed, lease, budget, costPerLabel, costBudget, opinions, opinionsPart, requirement } = settings;
  const require = (holds: boolean, text: string): void => {
    if (!holds) throw new InputError("settings", text);
  };
  require(isWhole(seed, 0), settingsTexts.seed(seed));
  require(lease > 0 && lease <= LONGEST_LEASE, settingsTexts.lease(lease));
  require(budget === undefined || isWhole(budget, 1), settingsTexts.whole("the budget", budget));
  require(isWhole(opinions, 1) && opinions <= 100, settingsTexts.whole("the number of opinions", opinions));
  require(opinionsPart >= 0 && opinionsPart <= 1, settingsTexts.share(
    "the part with several opinions",
    opinionsPart,
  ));
  for (const [name, value] of [
    ["the cost of a label", costPerLabel],
    ["the budget of costs", costBudget],
  ] as const)
    require(value === undefined || (value >= 0 && value < Infinity), settingsTexts.amount(name, value));
  const level = requirement?.level;
  require(level === undefined || (level > 0 && level <= 1), settingsTexts.level(level));
  return settings;
};

/** The settings of a new campaign, by what was given, then the recipe, then the defaults. */
export const settingsOf = ({ recipe, ...given }: CampaignOptions): CampaignSettings => ({
  seed: given.seed ?? CAMPAIGN_DEFAULTS.seed,
  lease: given.lease ?? CAMPAIGN_DEFAULTS.lease,
  budget: given.budget ?? recipe?.requirement.labels,
  costPerLabel: given.costPerLabel,
  costBudget: given.costBudget,
  opinions: given.opinions ?? CAMPAIGN_DEFAULTS.opinions,
  opinionsPart: given.opinionsPart ?? CAMPAIGN_DEFAULTS.opinionsPart,
  requirement:
    given.requirement ?? (recipe && { metric: recipe.requirement.metric, level: recipe.requirement.level }),
  fit: recipe?.fit,
});

const orNone = <Value>(change: Value | null | undefined, now: Value | undefined): Value | undefined =>
  change === undefined ? now : (change ?? undefined);

export const changedSettings = (now: CampaignSettings, change: SettingsChange): CampaignSettings => {
  if (change.acquisition !== undefined && now.acquisition === undefined) {
    throw new InputError("settings", settingsTexts.noPool);
  }
  return requireSettings({
    ...now,
    lease: change.lease ?? now.lease,
    budget: orNone(change.budget, now.budget),
    costPerLabel: orNone(change.costPerLabel, now.costPerLabel),
    costBudget: orNone(change.costBudget, now.costBudget),
    opinions: change.opinions ?? now.opinions,
    opinionsPart: change.opinionsPart ?? now.opinionsPart,
    requirement: orNone(change.requirement, now.requirement),
    acquisition: now.acquisition && { ...now.acquisition, ...change.acquisition },
  });
};

/** Fails where a change cannot work whatever the pool is, with the sentence that `Campaign.configure` has for it. */
export const requireChange = (now: ChangeableSettings, change: SettingsChange): void => {
  const { acquisition: _, budget, costPerLabel, costBudget, requirement, ...rest } = now;
  const { acquisition: __, ...plain } = change;
  changedSettings(
    {
      ...rest,
      seed: CAMPAIGN_DEFAULTS.seed,
      budget: budget ?? undefined,
      costPerLabel: costPerLabel ?? undefined,
      costBudget: costBudget ?? undefined,
      requirement: requirement ?? undefined,
    },
    plain,
  );
};
