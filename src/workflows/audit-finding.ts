/** What an audit of a table has found so far, told while it runs. */
import type { LeftOutGroup } from "../core/left-out.js";
import { namesToShow } from "../core/rare-values.js";
import type { LeakageFinding } from "../fairness/leakage/findings.js";
import { summariseGroups } from "../fairness/leakage/result.js";
import type { GroupSummary, LeakageAuditInput, ParityAudit } from "../fairness/leakage.js";
import type { AgainstReference } from "./against-reference.js";

/**
 * One thing that is known of one attribute, as plain values that can be sent to another thread. What is in a finding is
 * also in the finished audit, the same to the last bit. In this order for each table: the `groups` of all attributes,
 * before any model is fitted; then for one attribute after another every `adversary` and the `leakage` from the features,
 * the `columns` several times, every `adversary` and the `leakage` once the target is known too, and the `parity`.
 */
export type AuditFinding = {
  /** The name of a sensitive column, or of the intersection of several. */
  readonly attribute: string;
  /** Which of the two tables it is about. */
  readonly table: "first" | "second";
} & (
  | {
      readonly kind: "groups";
      readonly groups: readonly GroupSummary[];
      /** Groups that the leakage, the rates or both do not cover. */
      readonly leftOut: readonly LeftOutGroup[];
      /** The target value that counts as positive. */
      readonly positive: string;
      /** Of all intervals. */
      readonly level: number;
    }
  | LeakageFinding
  | {
      readonly kind: "parity";
      readonly parity: ParityAudit;
      readonly against: AgainstReference | undefined;
    }
);

/** Who is in the table, which needs no model. */
export const groupsFinding = (
  input: LeakageAuditInput & { readonly target: Int32Array; readonly targetNames: readonly string[] },
  level: number,
  leftOut: readonly LeftOutGroup[],
) => ({
  kind: "groups" as const,
  groups: summariseGroups(input, level),
  leftOut,
  positive: namesToShow(input.targetNames, input.target, "value")[1],
  level,
});
