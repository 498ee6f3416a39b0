/** What a campaign is told to do by now, as far as it can be changed on the way. Nothing of anybody. */
import { settingsOf as acquisitionSettings } from "../workflows/acquisition-plan.js";
import type { LoadedCampaign } from "./loaded-campaign.js";
import type { ChangeableSettings } from "./settings.js";

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
