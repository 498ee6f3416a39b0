/** Sensitive groups of few rows: merged into one, or left out, where a least size is asked for. */
import { InputError } from "../core/errors.js";
import { type LeftOutGroup, leftOutGroups, leftOutTexts } from "../core/left-out.js";
import { countClasses, isRare } from "../core/rare-values.js";
import { applyRule, type Label, type LabelRule } from "./label.js";
import { someOf, type Table } from "./table.js";

/** What becomes of a group that is too small: one of all such groups, or none. */
export type SmallGroups = "merge" | "leave-out";
export const SMALL_GROUPS: readonly SmallGroups[] = ["merge", "leave-out"];

export interface GroupSizes {
  /** Groups of fewer rows are merged or left out; every group counts unless given. */
  readonly minGroup?: number | undefined;
  /** What becomes of smaller ones (`"merge"`). */
  readonly smallGroups?: SmallGroups | undefined;
}

export const smallGroupTexts = {
  minGroup: (given: unknown) => `minGroup was ${String(given)}: give a whole number of at least 1.`,
  fewGroups: (attribute: string, least: number) =>
    `fewer than two groups of "${attribute}" have at least ${least} rows, so there is nothing to compare: ask for smaller groups, or choose another column.`,
  /** `named` are those that may be. */
  merged: (attribute: string, named: readonly string[], groups: number, least: number, into: string) => {
    const unnamed = groups - named.length;
    const which = [
      ...named.map((name) => `"${name}"`),
      ...(unnamed === 0 ? [] : [`${unnamed} too rare to name`]),
    ];
    return `${groups} groups of ${attribute} with fewer than ${least} rows each are merged into "${into}": ${someOf(which)}`;
  },
};

export interface SizedLabel {
  readonly label: Label;
  readonly leftOut: readonly LeftOutGroup[];
  readonly notes: readonly string[];
}

/** The attribute with groups of at least so many rows of the table; throws where fewer than two are left. */
export const withGroupSizes = (
  label: Label,
  table: Table,
  { minGroup, smallGroups = "merge" }: GroupSizes,
): SizedLabel => {
  if (minGroup === undefined) return { label, leftOut: [], notes: [] };
  if (!Number.isInteger(minGroup) || minGroup < 1)
    throw new InputError("min-group", smallGroupTexts.minGroup(minGroup));
  const { name: attribute, classes, rule } = label;
  const counts = countClasses(label.labels, classes.length);
  const all = classes.map((name, place) => ({ name, rows: counts[place] }));
  const small = all.filter(({ rows }) => rows < minGroup);
  if (small.length === 0) return { label, leftOut: [], notes: [] };
  const kept = all.filter(({ rows }) => rows >= minGroup).map(({ name }) => name);
  const there = small.filter(({ rows }) => rows > 0);
  const together = there.reduce((sum, { rows }) => sum + rows, 0);
  const isMerged = smallGroups === "merge" && there.length > 1 && together >= minGroup;
  const classesNow = isMerged ? [...kept, mergedName(kept)] : kept;
  if (classesNow.length < 2 || rule.kind === "value" || rule.kind === "threshold")
    throw new InputError("min-group", smallGroupTexts.fewGroups(attribute, minGroup));
  const own: LabelRule = { ...rule, classes: classesNow, ...(isMerged ? { others: true } : {}) };
  const sized = { ...label, rule: own, classes: classesNow, labels: applyRule(own, table) };
  if (!isMerged) {
    const leftOut = leftOutGroups(attribute, there, leftOutTexts.fewerThan(minGroup));
    return { label: sized, leftOut, notes: leftOut.map(leftOutTexts.note) };
  }
  const named = there.filter(({ rows }) => !isRare(rows)).map(({ name }) => name);
  const into = classesNow[classesNow.length - 1];
  const note = smallGroupTexts.merged(attribute, named, there.length, minGroup, into);
  return { label: sized, leftOut: [], notes: [note] };
};

const mergedName = (taken: readonly string[]): string => {
  let name = "other";
  while (taken.includes(name)) name = `${name} groups`;
  return name;
};
