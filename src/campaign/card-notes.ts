/** What whoever uses the labels of a campaign should know first, one sentence each. */
import { fixed } from "../core/number-text.js";
import { ROWS_TO_NAME_A_VALUE } from "../core/rare-values.js";
import type { CampaignCard } from "./data-card.js";

/** Krippendorff's own: below it he would draw no conclusions, not even tentative ones. */
const LEAST_ALPHA = 0.667;

const people = (count: number, one: string, several: string): string =>
  count === 1 ? `One ${one}` : `${count} ${several}`;

export const cardNoteTexts = {
  noLabels: "No label was collected yet: there is nothing to use.",
  chosen: (chosen: number, drawn: number, weight: string) =>
    `Of the labels that were asked for, ${chosen} were chosen by their score and ${drawn} drawn at random: the rows are no random sample of the pool. Count each row by its weight (${weight}), or judge on those that were drawn, which stand for all who were left at the time.`,
  allDrawn:
    "All labels that were asked for were drawn at random, each from those who were left: their probabilities and weights are in the export.",
  noneDrawn:
    "No label was drawn at random: the rows are no random sample of the pool, and nothing can be said of the whole pool from them.",
  probability:
    "The inclusion probability of a row is the one with which it was drawn among all who were left at that moment; a row that was chosen has none. The inclusion weight says for how many of the pool a row counts: sums over the rows, each times its weight, are unbiased estimates of sums over the pool.",
  initial: (count: number) =>
    `${people(count, "row had", "rows had")} a label from the start: how ${count === 1 ? "it was" : "they were"} chosen is not known here, and ${count === 1 ? "it has" : "they have"} no weight.`,
  refused: (count: number, asked: number) =>
    `${count} of the ${asked} who were asked about refused: if they are unlike the others, the rows do not show it.`,
  unasked: (count: number) =>
    `${people(count, "label was", "labels were")} given without being asked for: ${count === 1 ? "it is" : "they are"} marked and ${count === 1 ? "has" : "have"} no weight, unless somebody else had been asked.`,
  disputed: (count: number) =>
    `Annotators disagree about ${people(count, "item", "items").toLowerCase()}, which ${count === 1 ? "is" : "are"} not among the labels.`,
  withdrawn: (count: number) =>
    `${people(count, "person", "people")} withdrew: all about them is erased, and they are not in the data.`,
  oneOpinion: "Each label is the word of one annotator: how far others would agree is not known.",
  lowAlpha: (alpha: number) =>
    `Annotators agree little (Krippendorff's alpha ${fixed(alpha, 2)}, below ${LEAST_ALPHA}): take the labels as uncertain.`,
  changed:
    "Settings were changed on the way: rows from before and after were not asked for by the same rules.",
  columns: (status: string, corrections: string) =>
    `The columns that the export adds, from ${status} to ${corrections}, say how a row was collected and are no features: leave them out of what a model learns from.`,
  sensitive:
    "The export has the sensitive attributes unless they are left out: keep it as safe as the law and those who answered expect.",
  smallGroups: `Groups and outcomes of fewer than ${ROWS_TO_NAME_A_VALUE} rows are not named here.`,
  design:
    "Each participant went through the policy on their own: observations of one participant are not independent of each other.",
  damaged: "The log is not what was written: do not rely on this data before the reason is known.",
};

const poolNotes = ({
  counts,
  purpose,
  agreement,
  columns,
}: Omit<CampaignCard, "notes">): readonly string[] => {
  const { drawn, chosen, labelled, initial, refused, asked, unasked, disputed } = counts;
  const texts = cardNoteTexts;
  if (labelled === 0) return [texts.noLabels];
  return [
    ...(drawn === 0
      ? [texts.noneDrawn]
      : chosen === 0
        ? [texts.allDrawn]
        : [texts.chosen(chosen, drawn, columns?.weight ?? "")]),
    ...(drawn === 0 ? [] : [texts.probability]),
    ...(initial === 0 ? [] : [texts.initial(initial)]),
    ...(refused === 0 ? [] : [texts.refused(refused, asked)]),
    ...(unasked === 0 ? [] : [texts.unasked(unasked)]),
    ...(disputed === 0 ? [] : [texts.disputed(disputed)]),
    ...(agreement === null ? [texts.oneOpinion] : []),
    ...(agreement !== null && agreement.alpha !== null && agreement.alpha < LEAST_ALPHA
      ? [texts.lowAlpha(agreement.alpha)]
      : []),
    ...(columns === null ? [] : [texts.columns(columns.status, columns.corrections)]),
    ...(purpose.sensitive.length === 0 ? [] : [texts.sensitive, texts.smallGroups]),
  ];
};

export const cardNotes = (card: Omit<CampaignCard, "notes">): readonly string[] => [
  ...(card.integrity.verified === false ? [cardNoteTexts.damaged] : []),
  ...(card.kind === "pool"
    ? poolNotes(card)
    : card.counts.labelled === 0
      ? [cardNoteTexts.noLabels]
      : [cardNoteTexts.design]),
  ...(card.counts.withdrawn === 0 ? [] : [cardNoteTexts.withdrawn(card.counts.withdrawn)]),
  ...(card.changes.length === 0 ? [] : [cardNoteTexts.changed]),
];
