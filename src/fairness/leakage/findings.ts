/** What an audit of one attribute has found so far, told while it runs. */
import type { StopSignal } from "../../core/options.js";
import type { ColumnLeakage } from "./columns.js";
import type { AdversaryEstimate } from "./estimate.js";
import type { LeakageEstimate } from "./result.js";

/** A finished leakage without its records, of which there is one for every row. */
export type LeakageFigures = Omit<LeakageEstimate, "records">;

/** Plain values that can be sent to another thread; the same as in the finished audit. */
export type LeakageFinding =
  | {
      readonly kind: "adversary";
      /** Whether it knew the target too: F_c, else F_u. */
      readonly givenTarget: boolean;
      /** Its entry among the adversaries of the finished leakage, as it will stay. */
      readonly adversary: AdversaryEstimate;
      /** All there is to know: H(phi), or H(phi | target). */
      readonly entropy: number;
    }
  | {
      readonly kind: "leakage";
      readonly givenTarget: boolean;
      /** All adversaries, the test and the smallest detectable size taken together. */
      readonly leakage: LeakageFigures;
    }
  | {
      readonly kind: "columns";
      /** All of them, in their last order; until `finished`, `without` is missing where it was not tried yet. */
      readonly columns: readonly ColumnLeakage[];
      readonly finished: boolean;
    };

/** Tells a listener, waits for it, and stops where it was told to meanwhile; undefined where nobody listens. */
export const teller = <Finding>(
  onFound: ((found: Finding) => unknown) | undefined,
  signal: StopSignal | undefined,
): ((found: Finding) => Promise<void>) | undefined =>
  onFound === undefined
    ? undefined
    : async (found) => {
        await onFound(found);
        signal?.throwIfAborted();
      };
