/** Who is among the labels of a campaign, as a data card may say it: groups of few rows are not named. */
import { isRare, rareTexts } from "../core/rare-values.js";
import { type Interval, wilsonInterval } from "../core/stats.js";
import { type AttributeComposition, compositionOf, type GroupComposition } from "../fairness/composition.js";
import { FEWEST_DRAWN } from "../workflows/judged-acquisition.js";
import { classOfRow } from "../workflows/told-values.js";
import type { PoolContent } from "./loaded-campaign.js";
import { askedLabels, weightsOfItems } from "./pool-export.js";
import { outcomeOf } from "./pool-state.js";
import { collectedRows, labelsNow } from "./status.js";

export interface CardGroup {
  /** Groups of so few rows that naming them may say who they are stand together, under a name that says so. */
  readonly group: string;
  readonly count: number;
  readonly share: number;
  /** 95 %, Wilson's. */
  readonly interval: Interval;
  /** Of the whole pool; null for groups that are not named. */
  readonly pool: number | null;
}

export interface CardCell {
  readonly group: string;
  readonly outcome: string;
  readonly count: number;
  /** Of the labels whose group is known. */
  readonly share: number;
  /** Of the whole pool, by inclusion weights; null where fewer than ten labels were drawn at random. */
  readonly pool: number | null;
}

export interface CardComposition {
  readonly attribute: string;
  /** Labels whose group is known, and those whose is not. */
  readonly known: number;
  readonly unknown: number;
  readonly groups: readonly CardGroup[];
  /** Every group with every outcome; groups that have an outcome of few rows are not divided. */
  readonly cells: readonly CardCell[];
  readonly undivided: number;
}

const isFew = (count: number): boolean => count > 0 && isRare(count);

/** The classes of the target of every row, by what is known by now. */
const outcomesNow = ({ table, task, state, rowOf }: PoolContent): Int32Array => {
  const { rule, labels } = task.target;
  const now = labels.slice(0, table.rows);
  const column = "column" in rule ? rule.column : "";
  for (const item of state.touched()) {
    const own = state.item(item);
    const row = rowOf[item];
    if (own === undefined || row < 0) continue;
    const outcome = outcomeOf(own);
    if (outcome.kind === "label") now[row] = classOfRow(rule, table, row, { [column]: outcome.label });
  }
  return now;
};

/** Shares of the pool by weights: of the rows that have one, [cells]. */
const weightedShares = (
  pool: PoolContent,
  cells: number,
  cellOf: (row: number) => number,
): readonly number[] | undefined => {
  const drawn = askedLabels(pool).filter(({ ask }) => ask.probability !== undefined).length;
  if (drawn < FEWEST_DRAWN) return undefined;
  const sums = new Array<number>(cells).fill(0);
  let whole = 0;
  for (const [item, weight] of weightsOfItems(pool)) {
    const cell = cellOf(pool.rowOf[item]);
    if (cell < 0) continue;
    sums[cell] += weight;
    whole += weight;
  }
  return whole > 0 ? sums.map((sum) => sum / whole) : undefined;
};

const groupsToShow = (
  groups: readonly GroupComposition[],
  inPool: readonly number[],
  known: number,
): readonly CardGroup[] => {
  const isHidden = ({ count }: GroupComposition, g: number): boolean => isFew(count) || isFew(inPool[g]);
  const hidden = groups.filter(isHidden);
  const count = hidden.reduce((sum, each) => sum + each.count, 0);
  const shown = (group: string, own: number, pool: number | null): CardGroup => ({
    group,
    count: own,
    share: own / known,
    interval: wilsonInterval(own, known),
    pool,
  });
  return [
    ...groups
      .filter((each, g) => !isHidden(each, g))
      .map((each) => shown(each.group, each.count, each.population)),
    ...(hidden.length === 0 ? [] : [shown(rareTexts.some("group", hidden.length), count, null)]),
  ];
};

const cellsToShow = (
  { cells, groups, acquired }: AttributeComposition,
  named: ReadonlySet<string>,
  weighted: readonly number[] | undefined,
): { readonly cells: readonly CardCell[]; readonly undivided: number } => {
  // The others of a group would give the one that is left out away.
  const there = groups.filter(({ group, count }) => named.has(group) && count > 0);
  const divided = there.filter(
    ({ group: name }) => !cells.some(({ group, count }) => group === name && isFew(count)),
  );
  const names = new Set(divided.map(({ group }) => group));
  return {
    cells: cells.flatMap(({ group, outcome, count }, at) =>
      names.has(group)
        ? [{ group, outcome, count, share: count / acquired, pool: weighted?.[at] ?? null }]
        : [],
    ),
    undivided: there.length - divided.length,
  };
};

/** One entry for each sensitive attribute; none before the first label whose group is known. */
export const cardComposition = (pool: PoolContent): readonly CardComposition[] => {
  const acquired = collectedRows(pool);
  if (acquired.length === 0 || pool.sensitive.length === 0) return [];
  const outcomes = outcomesNow(pool);
  const attributes = pool.sensitive.map((label) => ({
    name: label.name,
    classes: label.classes,
    labels: labelsNow(pool, label),
  }));
  const { classes } = pool.task.target;
  const composed = compositionOf({
    attributes,
    outcome: { name: pool.task.target.name, classes, labels: outcomes },
    acquired,
    population: Int32Array.from({ length: pool.table.rows }, (_, row) => row),
  });
  return composed.flatMap((own, a) => {
    if (own.acquired === 0) return [];
    const { labels, classes: groups } = attributes[a];
    const inPool = groups.map((_, g) => labels.reduce((sum, label) => sum + Number(label === g), 0));
    const shown = groupsToShow(own.groups, inPool, own.acquired);
    const weighted = weightedShares(pool, own.cells.length, (row) =>
      labels[row] < 0 || outcomes[row] < 0 ? -1 : labels[row] * classes.length + outcomes[row],
    );
    return [
      {
        attribute: own.attribute,
        known: own.acquired,
        unknown: own.unknown,
        groups: shown,
        ...cellsToShow(own, new Set(shown.map(({ group }) => group)), weighted),
      },
    ];
  });
};
