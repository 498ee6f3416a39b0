/** What a reject option is told where nothing else is. */
export const REJECT_OPTION_DEFAULTS = { band: [-0.05, 0.05], fallback: "absolute" } as const;
