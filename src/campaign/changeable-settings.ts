/** What a campaign is told to do by now, as far as it can be changed on the way. Nothing of anybody. */
import type { StrategyName } from "../active/strategies.js";
import type { FairMetric } from "../mitigation/fair-rule.js";
import { settingsOf as acquisitionSettings } from "../workflows/acquisition-plan.js";
import type { SharesChoice } from "../workflows/acquisition-settings.js";
import type { LoadedCampaign } from "./loaded-campaign.js";
import { CAMPAIGN_DEFAULTS, changedSettings, type SettingsChange } from "./settings.js";

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

export const changeableSettings = ({
  content,
  settings,
}: Pick<LoadedCampaign, "content" | "settings">): ChangeableSettings => {
  const { lease, budget, costPerLabel, costBudget, opinions, opinionsPart, requirement } = settings;
  const own = content.kind === "pool" ? acquisitionSettings(content.options) : undefined;
  return {
    lease,
    budget: budget ?? null,
    costPerLabel: costPerLabel ?? null,
    costBudget: costBudget ?? null,
    opinions,
    opinionsPart,
    requirement: requirement ?? null,
    acquisition:
      own === undefined
        ? null
        : {
            method: own.method,
            beta: "beta" in own.goal ? own.goal.beta : null,
            shares: own.shares ?? "none",
            randomPart: own.randomPart ?? 0,
            reweigh: own.reweigh ?? false,
            batch: own.batch,
          },
  };
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
