/** How far the annotators of a campaign agree. */
import { InputError } from "../core/errors.js";
import { seededStream } from "../core/random.js";
import { type Agreement, krippendorffAlpha } from "../core/stats/agreement.js";
import type { LabelValue } from "../workflows/told-values.js";
import { campaignTexts } from "./campaign.js";
import type { LoadedCampaign } from "./loaded-campaign.js";
import { outcomeOf } from "./pool-state.js";

export interface AnnotatorAgreement {
  /** Empty for whoever gave no name. */
  readonly annotator: string;
  /** Labels that they gave, and what they refused. */
  readonly answers: number;
  readonly refused: number;
  /** Answers about items that others answered too or that were settled, and whose label is known; and how many of these are another label. */
  readonly compared: number;
  readonly disagreed: number;
}

/** Krippendorff's alpha of the labels: of their values, or of their sizes where the target is a threshold. */
export interface CampaignAgreement extends Agreement {
  /** In the order of their names. */
  readonly annotators: readonly AnnotatorAgreement[];
}

const said = (label: LabelValue): string => String(label);

const byName = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Of a campaign about a pool; refusals are no opinions. */
export const agreementOf = ({
  content,
  created,
}: Pick<LoadedCampaign, "content" | "created">): CampaignAgreement => {
  if (content.kind !== "pool") throw new InputError("design", campaignTexts.wantsPool);
  const { state, task } = content;
  const inNumbers = task.target.rule.kind === "threshold";
  const byAnnotator = new Map<string, AnnotatorAgreement>();
  const units: (number | string)[][] = [];
  // The intervals' draws follow the order of the items, whatever happened first.
  for (const item of [...state.touched()].sort((a, b) => a - b)) {
    const own = state.item(item);
    if (own === undefined) continue;
    const outcome = outcomeOf(own);
    const labels = [...own.opinions.values()].flatMap(({ label }) => (label === undefined ? [] : [label]));
    units.push(labels.map((label) => (inNumbers ? Number(label) : said(label))));
    const isCompared = outcome.kind === "label" && (labels.length > 1 || own.adjudicated !== undefined);
    for (const { annotator, label } of own.opinions.values()) {
      const known = byAnnotator.get(annotator);
      const counts = isCompared && label !== undefined;
      const differs = counts && said(label) !== said(outcome.label);
      byAnnotator.set(annotator, {
        annotator,
        answers: (known?.answers ?? 0) + Number(label !== undefined),
        refused: (known?.refused ?? 0) + Number(label === undefined),
        compared: (known?.compared ?? 0) + Number(counts),
        disagreed: (known?.disagreed ?? 0) + Number(differs),
      });
    }
  }
  const agreement = krippendorffAlpha(units, {
    scale: inNumbers ? "interval" : "nominal",
    stream: seededStream(created.settings.seed).split("campaign").split("agreement"),
  });
  return {
    ...agreement,
    annotators: [...byAnnotator.values()].sort((a, b) => byName(a.annotator, b.annotator)),
  };
};
