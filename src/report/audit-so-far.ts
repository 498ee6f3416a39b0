/** What is known of one attribute while an audit runs, from its findings or from the finished audit: what a page shows. */
import type { LeftOutGroup } from "../core/left-out.js";
import type {
  AdversaryEstimate,
  ColumnLeakage,
  GroupSummary,
  LeakageAudit,
  LeakageFigures,
  ParityAudit,
} from "../fairness/leakage.js";
import type { AttributeAudit, AuditFinding } from "../workflows/audit-table.js";

/** One leakage: its adversaries as they come, and the figures once all are there. */
export interface LeakageSoFar {
  readonly adversaries: readonly AdversaryEstimate[];
  readonly figures: LeakageFigures | undefined;
}

export interface AttributeSoFar {
  readonly name: string;
  /** Of the intervals. */
  readonly level: number;
  /** The target value that counts as positive. */
  readonly positive: string;
  readonly groups: readonly GroupSummary[];
  readonly leftOut: readonly LeftOutGroup[];
  /** From the features. */
  readonly unconditional: LeakageSoFar;
  /** When the target is known too; empty in a finished audit that has none. */
  readonly conditional: LeakageSoFar;
  /** In their last order from the first time on; empty before. */
  readonly columns: readonly ColumnLeakage[];
  readonly parity: ParityAudit | undefined;
}

const NOTHING: LeakageSoFar = { adversaries: [], figures: undefined };

type FinishedLeakage = LeakageFigures & { readonly records?: unknown };

/** Of an {@link AttributeAudit} what is shown: one that was kept need not have the records. */
export interface FinishedAttribute extends Pick<AttributeAudit, "name" | "parity" | "leftOut"> {
  readonly audit: Pick<LeakageAudit, "groups" | "columns"> & {
    readonly leakage: {
      readonly unconditional: FinishedLeakage;
      readonly conditional?: FinishedLeakage | undefined;
    };
    readonly settings: Pick<LeakageAudit["settings"], "level">;
  };
}

const finished = (leakage: FinishedLeakage | undefined): LeakageSoFar => {
  if (leakage === undefined) return NOTHING;
  const { records, ...figures } = leakage;
  return { adversaries: figures.adversaries, figures };
};

/** Of an attribute whose audit is done. */
export const allOf = ({ name, audit, parity, leftOut }: FinishedAttribute): AttributeSoFar => ({
  name,
  level: audit.settings.level,
  positive: parity.positive,
  groups: audit.groups,
  leftOut,
  unconditional: finished(audit.leakage.unconditional),
  conditional: finished(audit.leakage.conditional),
  columns: audit.columns,
  parity,
});

const withLeakage = (
  attribute: AttributeSoFar,
  givenTarget: boolean,
  change: (before: LeakageSoFar) => LeakageSoFar,
): AttributeSoFar =>
  givenTarget
    ? { ...attribute, conditional: change(attribute.conditional) }
    : { ...attribute, unconditional: change(attribute.unconditional) };

const changed = (attribute: AttributeSoFar, found: AuditFinding): AttributeSoFar => {
  switch (found.kind) {
    case "groups":
      return begun(found);
    case "adversary":
      return withLeakage(attribute, found.givenTarget, ({ adversaries, figures }) => ({
        adversaries: [...adversaries, found.adversary],
        figures,
      }));
    case "leakage":
      return withLeakage(attribute, found.givenTarget, () => ({
        adversaries: found.leakage.adversaries,
        figures: found.leakage,
      }));
    case "columns":
      return { ...attribute, columns: found.columns };
    case "parity":
      return { ...attribute, parity: found.parity };
  }
};

const begun = ({
  attribute,
  level,
  positive,
  groups,
  leftOut,
}: Extract<AuditFinding, { readonly kind: "groups" }>): AttributeSoFar => ({
  name: attribute,
  level,
  positive,
  groups,
  leftOut,
  unconditional: NOTHING,
  conditional: NOTHING,
  columns: [],
  parity: undefined,
});

/** One more finding, from none on. What is found in a second table is not looked at: only the comparison shows it. */
export const withFinding = (
  soFar: readonly AttributeSoFar[],
  found: AuditFinding,
): readonly AttributeSoFar[] => {
  if (found.table === "second") return soFar;
  if (soFar.some(({ name }) => name === found.attribute)) {
    return soFar.map((each) => (each.name === found.attribute ? changed(each, found) : each));
  }
  return found.kind === "groups" ? [...soFar, begun(found)] : soFar;
};
