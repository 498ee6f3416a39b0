/** Who is labelled and who is recommended, beside the pool: where the tables have the sensitive columns. */
import {
  type AttributeComposition,
  compositionOf,
  compositionWarnings,
  countLabels,
  sharesOf,
} from "../fairness/composition.js";
import { applyRule, columnsOfRule } from "../tables/label.js";
import { findColumn, type Table } from "../tables/table.js";
import type { LabelPlan } from "./rank-plan.js";

/** One sensitive attribute's. */
export interface RankComposition {
  readonly attribute: string;
  /** The labelled rows, by group and by group with outcome; null where their table has no such column. */
  readonly labelled: AttributeComposition | null;
  /** What is recommended, by group; null where the pool has no such column. */
  readonly recommended: AttributeComposition | null;
}

/** Counts of the groups among the candidates of a pool, [attributes][groups]; null for one that it has no column of. */
export type PoolCounts = readonly (readonly number[] | null)[];

const has = (table: Table, columns: readonly string[]): boolean =>
  columns.every((name) => findColumn(table, name) !== undefined);

/** The group of each row of a part of the pool, by attribute; undefined for one that it has no column of. */
export const groupsInPool = (
  table: Table,
  labels: readonly LabelPlan[],
): readonly (Int32Array | undefined)[] =>
  labels.map(({ rule }) => (has(table, columnsOfRule(rule)) ? applyRule(rule, table) : undefined));

export const countPool = (
  groups: readonly (Int32Array | undefined)[],
  labels: readonly LabelPlan[],
  candidates: Int32Array,
): PoolCounts =>
  groups.map((own, a) =>
    own === undefined ? null : [...countLabels(candidates, labels[a].classes.length, (row) => own[row])],
  );

/** The counts of two parts together; null where either has none. */
export const addCounts = (first: PoolCounts | undefined, second: PoolCounts): PoolCounts =>
  first === undefined
    ? second
    : first.map((own, a) => {
        const other = second[a];
        return own === null || other === null ? null : own.map((count, g) => count + other[g]);
      });

export interface RankedGroups {
  readonly labels: readonly LabelPlan[];
  /** The labelled rows with their outcomes, where they have the sensitive columns. */
  readonly labelled: { readonly table: Table; readonly target: LabelPlan } | undefined;
  readonly pool: PoolCounts | undefined;
  /** The groups of each that is recommended, by attribute; -1 where it is unknown. */
  readonly recommended: readonly (readonly number[])[];
}

const withPopulation = (
  own: AttributeComposition,
  counts: readonly number[] | null,
): AttributeComposition => {
  if (counts === null) return { ...own, groups: own.groups.map((each) => ({ ...each, population: null })) };
  const all = counts.reduce((sum, count) => sum + count, 0);
  return {
    ...own,
    groups: own.groups.map((each, g) => ({ ...each, population: all === 0 ? null : counts[g] / all })),
  };
};

/** Every attribute's, and sentences on groups that are below half their share of the pool. */
export const rankComposition = ({
  labels,
  labelled,
  pool,
  recommended,
}: RankedGroups): { readonly composition: readonly RankComposition[]; readonly notes: readonly string[] } => {
  const known = labelled === undefined ? undefined : composeLabelled(labels, labelled);
  const composition = labels.map(({ name, classes }, a): RankComposition => {
    const counts = pool?.[a] ?? null;
    const own = known?.[a];
    if (counts === null)
      return {
        attribute: name,
        labelled: own === undefined ? null : withPopulation(own, null),
        recommended: null,
      };
    const chosen = countLabels([...recommended.keys()], classes.length, (at) => recommended[at][a] ?? -1);
    const acquired = chosen.reduce((sum, count) => sum + count, 0);
    const shares = sharesOf(chosen, Float64Array.from(counts));
    return {
      attribute: name,
      labelled: own === undefined ? null : withPopulation(own, counts),
      recommended: {
        attribute: name,
        acquired,
        unknown: recommended.length - acquired,
        groups: shares.map((each, g) => ({ group: classes[g], ...each })),
        cells: [],
      },
    };
  });
  const of = "the pool";
  return {
    composition,
    notes: composition.flatMap((each) => [
      ...(each.labelled === null
        ? []
        : compositionWarnings([each.labelled], { acquired: "the labelled rows", of })),
      ...(each.recommended === null
        ? []
        : compositionWarnings([each.recommended], { acquired: "what is recommended", of })),
    ]),
  };
};

/** The outcomes of the pool are not known: cells have no share of it. */
const composeLabelled = (
  labels: readonly LabelPlan[],
  { table, target }: NonNullable<RankedGroups["labelled"]>,
): readonly AttributeComposition[] => {
  const outcomes = applyRule(target.rule, table);
  const acquired = [...outcomes.keys()].filter((row) => outcomes[row] >= 0);
  return compositionOf({
    attributes: labels.map(({ name, classes, rule }) => ({ name, classes, labels: applyRule(rule, table) })),
    outcome: { name: target.name, classes: target.classes, labels: outcomes },
    acquired,
    population: [],
  });
};
