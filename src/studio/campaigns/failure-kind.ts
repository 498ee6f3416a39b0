/** What a failure means for what waits to be sent. */
import { EngineError, isStopped } from "../engine-client.js";
import { AWAY } from "./campaign-client.js";

/** `away`: the same may work later. `token`: with another token. `refused`: never. */
export type FailureKind = "away" | "token" | "refused";

const ABOUT_TOKENS = ["no-credentials", "token", "scope", "campaign", "annotator"];
/** Codes of a store that is busy, full or gone for a while. */
const OF_STORES = /^store-/;

export const failureKind = (error: unknown): FailureKind => {
  if (isStopped(error) || !(error instanceof EngineError) || error.code === undefined) return "away";
  if (error.code === AWAY || OF_STORES.test(error.code)) return "away";
  return ABOUT_TOKENS.includes(error.code) ? "token" : "refused";
};

/** Taken back already, or never there: nothing is left to do. */
export const isDoneAlready = (error: unknown): boolean =>
  error instanceof EngineError && error.code === "retract";

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
