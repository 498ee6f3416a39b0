/**
 * Columns that the export of a campaign adds: how a row came to its label. They say nothing of whom the row is about, so
 * nothing is learnt from them unless they are asked for.
 */
export const PROVENANCE_COLUMNS = [
  "status",
  "reason",
  "probability",
  "weight",
  "order",
  "opinions",
  "agreement",
  "asked_at",
  "answered_at",
  "corrections",
] as const;
export type ProvenanceColumn = (typeof PROVENANCE_COLUMNS)[number];

const NAMES = new RegExp(`^fairbed\\d*_(${PROVENANCE_COLUMNS.join("|")})$`, "i");

/** Whether an export calls a column like that. */
export const isProvenance = (name: string): boolean => NAMES.test(name);
