/** What a fair decision rule is told where nothing else is. */
export const FAIR_RULE_DEFAULTS = { metric: "dp", level: 0.8, replicates: 1000 } as const;
