/** What the choice of a fair rule from acquired labels is told where nothing else is. */
export const TUNE_RULE_DEFAULTS = {
  metric: "dp",
  level: 0.8,
  /** Of soft, true and both the one that came nearest to its level, by bench/rule-tuning.md. */
  by: "soft",
  /** Parts of the labelled rows that are predicted by models of the others. */
  folds: 10,
} as const;

/** How much of what known groups say beyond predicted ones is added with "both": the same study. */
export const CORRECTION_STRENGTH = 0.5;
