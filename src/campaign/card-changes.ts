/** How the settings of a campaign changed on the way, in words. */

import type { LoadedCampaign } from "./loaded-campaign.js";
import { type CampaignSettings, changedSettings } from "./settings.js";

export interface CardChange {
  /** ISO 8601. */
  readonly at: string;
  readonly setting: string;
  readonly from: string;
  readonly to: string;
}

const NONE = "none";

const text = (value: string | number | boolean | undefined): string =>
  value === undefined ? NONE : typeof value === "boolean" ? (value ? "yes" : "no") : String(value);

/** Shares are counted and not named: a group may be one of a few. */
const sharesText = (shares: string | object | undefined): string =>
  typeof shares === "object" ? `given for ${Object.keys(shares).length} groups` : text(shares);

/** What can be changed, as the card calls it. */
const SHOWN: readonly (readonly [string, (settings: CampaignSettings) => string])[] = [
  ["seconds until a question is asked again", ({ lease }) => text(lease)],
  ["budget of labels", ({ budget }) => text(budget)],
  ["cost of a label", ({ costPerLabel }) => text(costPerLabel)],
  ["budget of costs", ({ costBudget }) => text(costBudget)],
  ["opinions on an item", ({ opinions }) => text(opinions)],
  ["part with several opinions", ({ opinionsPart }) => text(opinionsPart)],
  [
    "requirement",
    ({ requirement }) =>
      requirement === undefined ? NONE : `${requirement.metric} of at least ${requirement.level}`,
  ],
  ["method", ({ acquisition }) => acquisition?.method ?? "the recommended one"],
  ["beta", ({ acquisition }) => text(acquisition?.beta ?? "the recommended one")],
  ["shares", ({ acquisition }) => sharesText(acquisition?.shares ?? "the recommended ones")],
  ["random part", ({ acquisition }) => text(acquisition?.randomPart ?? "the recommended one")],
  ["reweighing", ({ acquisition }) => text(acquisition?.reweigh ?? false)],
  ["labels between two fits", ({ acquisition }) => text(acquisition?.batch ?? "the recommended number")],
];

export const cardChanges = ({ created, configured }: LoadedCampaign): readonly CardChange[] => {
  let before = created.settings;
  return configured.flatMap(({ at, change }) => {
    const [old, now] = [before, changedSettings(before, change)];
    before = now;
    return SHOWN.flatMap(([setting, shown]) => {
      const [from, to] = [shown(old), shown(now)];
      return from === to ? [] : [{ at: new Date(at).toISOString(), setting, from, to }];
    });
  });
};
