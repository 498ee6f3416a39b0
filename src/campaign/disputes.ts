/** Items on which annotators disagree: what is known of each, and who said what. For whoever settles them. */
import { InputError } from "../core/errors.js";
import type { LabelValue } from "../workflows/told-values.js";
import { campaignTexts } from "./campaign.js";
import type { LoadedCampaign } from "./loaded-campaign.js";
import { valuesOf } from "./pool-answers.js";

export interface DisputedOpinion {
  /** Empty for whoever gave no name. */
  readonly annotator: string;
  /** As it stands in the column; null where it was refused. */
  readonly label: LabelValue | null;
}

export interface Dispute {
  readonly id: string;
  /** The features of the item, by column; null where missing. Sensitive columns are never among them. */
  readonly values: Readonly<Record<string, string | number | null>>;
  /** In the order of the annotators' names. */
  readonly opinions: readonly DisputedOpinion[];
}

export interface Disputes {
  readonly disputes: readonly Dispute[];
  /** The item that the next part begins with; null where this is the last part. */
  readonly next: number | null;
}

const byName = (a: DisputedOpinion, b: DisputedOpinion): number =>
  a.annotator < b.annotator ? -1 : a.annotator > b.annotator ? 1 : 0;

/** At most `limit` of them, in the order of the pool, beginning with the item `from`. */
export const disputesOf = (
  { content }: Pick<LoadedCampaign, "content">,
  { from = 0, limit = Infinity }: { readonly from?: number; readonly limit?: number } = {},
): Disputes => {
  if (content.kind !== "pool") throw new InputError("design", campaignTexts.wantsPool);
  const left = [...content.state.disputed].filter((item) => item >= from).sort((a, b) => a - b);
  const disputes = left.slice(0, limit).map((item) => ({
    id: content.idOf(item) ?? "",
    values: valuesOf(content, item),
    opinions: [...(content.state.item(item)?.opinions.values() ?? [])]
      .map(({ annotator, label }) => ({ annotator, label: label ?? null }))
      .sort(byName),
  }));
  return { disputes, next: left.length > limit ? left[limit] : null };
};
