/** What a token is for. */

/**
 * admin: everything. collect: asks, answers, settles, withdraws, exports and sees where a campaign stands. label: asks for
 * questions and answers them, and sees nothing else. read: counts, estimates and forecasts, and nothing of anybody.
 */
export const SCOPES = ["admin", "collect", "label", "read"] as const;
export type Scope = (typeof SCOPES)[number];

const COVERED: Readonly<Record<Scope, readonly Scope[]>> = {
  admin: ["admin", "collect", "label", "read"],
  collect: ["collect", "label", "read"],
  label: ["label"],
  read: ["read"],
};

/** Whether a token of one scope may do what another is needed for. */
export const covers = (own: Scope, needed: Scope): boolean => COVERED[own].includes(needed);
