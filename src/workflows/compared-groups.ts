/** The groups of a table that a mitigation compares: all that enough rows to learn from have. */
import { type LeftOutGroup, leftOutGroups, leftOutTexts } from "../core/left-out.js";
import { countClasses, isRare, ROWS_TO_NAME_A_VALUE, rareTexts } from "../core/rare-values.js";
import { parityRatios } from "../fairness/group-metrics.js";
import type { MitigationSplit } from "./mitigation-split.js";
import { measure, type OutcomeMeasures } from "./outcome-measures.js";

export interface ComparedGroups {
  readonly names: readonly string[];
  /** [all rows], places in `names`; -1 where the group is missing or has too few rows. */
  readonly groups: Int32Array;
  /** Groups of too few rows to learn from. */
  readonly leftOut: readonly LeftOutGroup[];
  /** What a person must know about groups that are left out. */
  readonly notes: readonly string[];
}

export const comparedGroups = ({
  sensitive,
  train,
}: Pick<MitigationSplit, "sensitive" | "train">): ComparedGroups => {
  const { name: attribute, classes, labels } = sensitive;
  const counts = countClasses(
    train.map((row) => labels[row]),
    classes.length,
  );
  const kept = classes.flatMap((_, group) => (isRare(counts[group]) ? [] : [group]));
  const places = Int32Array.from(classes, (_, group) => kept.indexOf(group));
  const left = classes.length - kept.length;
  const rare = classes.flatMap((name, group) =>
    isRare(counts[group]) ? [{ name, rows: counts[group] }] : [],
  );
  return {
    names: kept.map((group) => classes[group]),
    groups: labels.map((group) => (group < 0 ? -1 : places[group])),
    leftOut: leftOutGroups(attribute, rare, `${leftOutTexts.fewerThan(ROWS_TO_NAME_A_VALUE)} to learn from`),
    notes: left === 0 ? [] : [`${rareTexts.some("group", left)} to learn from: left out of the comparison`],
  };
};

/** The difference is that between the privileged and the others; ratios are over all groups that are compared. */
export const measureGroups = (
  predicted: Int32Array,
  { test, labels, privileged }: MitigationSplit,
  { groups }: ComparedGroups,
): OutcomeMeasures => {
  const { dpRatio, tprRatio, fprRatio } = parityRatios(
    predicted,
    test.map((row) => labels[row]),
    test.map((row) => groups[row]),
  );
  return { ...measure(predicted, test, labels, privileged), dpRatio, tprRatio, fprRatio };
};
