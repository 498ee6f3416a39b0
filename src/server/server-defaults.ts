/** What a server does unless it is told otherwise. */
import type { Rate } from "./rate-limit.js";

export const SERVER_DEFAULTS = { host: "127.0.0.1", port: 8400, graceSeconds: 10 } as const;

/**
 * Of the page alone. What it keeps in the browser belongs to its address, port included: it is found again where the page
 * has the same one every time.
 */
export const STUDIO_DEFAULTS = { host: "127.0.0.1", port: 8401 } as const;

/** Of each token, or address where there is none. */
export const RATE: Rate = { perSecond: 50, burst: 200 };
