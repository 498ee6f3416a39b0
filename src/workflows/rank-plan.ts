/**
 * What the scores of a ranking depend on besides the candidates, as plain data. Whoever has the plan gives a candidate
 * the same score, so parts of a pool may be scored in turn, or on several machines.
 */

import type { Correction } from "../active/correction.js";
import type { ScoreParts } from "../active/fairbed.js";
import { fit } from "../active/pool-models.js";
import type { Quota } from "../active/quotas.js";
import { createBest, createRanker, type Ranked } from "../active/ranker.js";
import { type StrategyName, strategies } from "../active/strategies.js";
import { type TieKeys, tieKeys } from "../active/ties.js";
import { InputError } from "../core/errors.js";
import { type RandomStream, randomStream } from "../core/random.js";
import type { Classifier, Learner } from "../learners/classifier.js";
import { type ForestOptions, forest } from "../learners/forest.js";
import { type CategoryEncoding, fitEncoder } from "../tables/encoder.js";
import { applyRule, columnsOfRule, type Label } from "../tables/label.js";
import { appendRows, asCategorical, type Column, columnNamed, type Table } from "../tables/table.js";

export interface RankSettings {
  readonly method: StrategyName;
  readonly beta: number;
  readonly combine: "sum" | "worst";
  readonly top: number;
  /** How many rows of the pool stand for what predictions are wanted for, where no others are given. */
  readonly targets: number;
  readonly categories: CategoryEncoding;
  readonly forest: ForestOptions;
  readonly sensitiveForest: ForestOptions;
  /** Of the sensitive models. */
  readonly correction: Correction;
  readonly costs?: string | undefined;
  readonly costWeight?: number | undefined;
  readonly id?: string | undefined;
  readonly quotas?: readonly Quota[] | undefined;
  readonly seed: number;
}

export type LabelPlan = Pick<Label, "name" | "rule" | "classes">;

export interface RankPlan {
  readonly settings: RankSettings;
  readonly features: readonly string[];
  /** The features, the target, the sensitive attributes unless `sensitive` has them, and the ids. */
  readonly labelled: Table;
  readonly target: LabelPlan;
  /** Labels of another table where one is given, else of the labelled one. */
  readonly sensitive: { readonly table?: Table | undefined; readonly labels: readonly LabelPlan[] };
  /** What predictions are wanted for. */
  readonly targets: Table;
  /** Rows of the pool. */
  readonly rows: number;
}

export const rankTexts = {
  twice: (column: string, first: number, second: number) =>
    `rows ${first} and ${second} of the pool (counted from 0) have the same id in the column "${column}": make the ids different, or name another column.`,
  done: (rows: number) =>
    `${rows} row${rows === 1 ? "" : "s"} of the pool ${rows === 1 ? "is" : "are"} labelled already and left out`,
  noCommon: "the labelled table and the pool have no feature in common: give tables with the same columns.",
  onlyLabelled: (columns: readonly string[]) =>
    `left out because the pool does not have ${columns.length === 1 ? "it" : "them"}: ${columns.join(", ")}`,
  other: (table: string, column: string) =>
    `the column "${column}" of ${table} has another type than in the labelled table: read both in the same way.`,
};

export const rankStream = ({ seed }: RankSettings): RandomStream => randomStream(seed).split("rank");

/** Decides between candidates with equal scores, by their row in the pool: the same for all its parts. */
export const rankTies = (settings: RankSettings): TieKeys => tieKeys(rankStream(settings).split("ties"));

/** One that may be chosen, with its name where the pool has them. */
export interface Candidate extends Ranked {
  readonly id?: string | number | undefined;
}

/** What is left of the parts that were scored: the best of each group, any of which may be chosen. */
export interface BestOfParts {
  readonly rows: number;
  /** Rows that are labelled already. */
  readonly skipped: number;
  readonly groups: readonly { readonly group: number; readonly best: readonly Candidate[] }[];
}

/** The columns of a table that a plan needs. */
export const columnsOf = (table: Table, names: readonly string[]): Table => ({
  ...table,
  columns: table.columns.filter(({ name }) => names.includes(name)),
});

/** The columns that the labels are made of. */
export const labelColumns = (labels: readonly LabelPlan[]): readonly string[] =>
  labels.flatMap(({ rule }) => columnsOfRule(rule));

/** The parts of the scores of one part of the pool, by its number. */
const createScorer = (plan: RankPlan): ((table: Table, part: number) => ScoreParts) => {
  const { settings, features, labelled, target, sensitive, targets } = plan;
  const stream = rankStream(settings);
  const only = (table: Table): Table => ({
    ...table,
    columns: features.map((name) => columnNamed(table, name)),
  });
  // Levels and medians are those of everything that may be looked at.
  const known = [labelled, ...given(sensitive.table), targets].map(only);
  const reference = known.reduce(join);
  const encoder = fitEncoder({ table: reference, features }, undefined, { categories: settings.categories });
  const encode = (table: Table) => encoder.encode(only(table));
  const learn = (learner: Learner, { rule, classes }: LabelPlan, table: Table, name: string): Classifier => {
    const labels = applyRule(rule, table);
    const encoded = encode(table);
    const all = Int32Array.from(labels.keys());
    return fit(
      learner,
      { features: encoded, labels, classes: classes.length, rows: all },
      stream.split(name),
    );
  };
  const usesSensitive = strategies[settings.method].uses.sensitive;
  const ranker = createRanker({
    method: settings.method,
    beta: settings.beta,
    combine: settings.combine,
    target: learn(forest(settings.forest), target, labelled, "target"),
    sensitive: usesSensitive
      ? sensitive.labels.map((label, i) =>
          learn(forest(settings.sensitiveForest), label, sensitive.table ?? labelled, `sensitive ${i}`),
        )
      : [],
    targets: encode(targets),
    labelled: encode(labelled),
    sensitiveCorrection: settings.correction,
    stream: stream.split("parts"),
  });
  return (table, part) => ranker.score(encode(table), part);
};

export interface PartRanker {
  /** One part after the other, each with the group of every row where there are quotas. */
  add(table: Table, groups?: Int32Array): void;
  best(): BestOfParts;
}

/** Models are fitted once; `first` is the row of the pool that the first part begins with. */
export const createPartRanker = (plan: RankPlan): ((first: number) => PartRanker) => {
  const score = createScorer(plan);
  const { settings, labelled, rows } = plan;
  const size = Math.min(settings.top, rows);
  const done = idsOf(labelled, settings.id);
  const ties = rankTies(settings);
  return (start) => {
    // Whatever the quotas, what is chosen of a group is among the best of the group.
    const bestOf = new Map<number, ReturnType<typeof createBest>>();
    const bestIn = (group: number) => {
      const known = bestOf.get(group) ?? createBest({ size, costWeight: costWeightOf(settings), ties });
      bestOf.set(group, known);
      return known;
    };
    const seen = new Map<string | number, number>();
    let [first, part, skipped] = [start, 0, 0];
    return {
      add(table, groups) {
        const scores = score(table, part++);
        const costs = settings.costs === undefined ? undefined : numbersIn(table, settings.costs);
        const ids = settings.id === undefined ? undefined : idReader(columnNamed(table, settings.id));
        for (let at = 0; at < table.rows; at++) {
          const id = ids?.(at);
          if (id !== undefined) {
            const before = seen.get(id);
            if (before !== undefined) {
              throw new InputError("id-twice", rankTexts.twice(settings.id ?? "", before, first + at));
            }
            seen.set(id, first + at);
            if (done.has(id)) {
              skipped++;
              continue;
            }
          }
          const candidate: Candidate = {
            row: first + at,
            score: scores.score[at],
            target: scores.target[at],
            leakage: scores.leakage[at],
            cost: costs?.[at] ?? 0,
            id,
          };
          bestIn(groups?.[at] ?? -1).offer(candidate);
        }
        first += table.rows;
      },
      best: () => ({
        rows: first - start,
        skipped,
        groups: [...bestOf].map(([group, best]) => ({
          group,
          best: best.ranked().map(({ rank: _, ...each }) => each),
        })),
      }),
    };
  };
};

/** The best of all parts, whatever their order. */
export const mergeParts = (
  parts: readonly BestOfParts[],
  settings: RankSettings,
  rows: number,
): BestOfParts => {
  const size = Math.min(settings.top, rows);
  const ties = rankTies(settings);
  const groups = [...new Set(parts.flatMap((part) => part.groups.map(({ group }) => group)))];
  return {
    rows: parts.reduce((sum, part) => sum + part.rows, 0),
    skipped: parts.reduce((sum, { skipped }) => sum + skipped, 0),
    groups: groups.map((group) => {
      const best = createBest({ size, costWeight: costWeightOf(settings), ties });
      for (const part of parts) {
        for (const each of part.groups.find((own) => own.group === group)?.best ?? []) best.offer(each);
      }
      return { group, best: best.ranked().map(({ rank: _, ...each }) => each) };
    }),
  };
};

export const costWeightOf = ({ costs, costWeight }: RankSettings): number =>
  costWeight ?? (costs === undefined ? 0 : 1);

const given = <T>(value: T | undefined): T[] => (value === undefined ? [] : [value]);

const idReader =
  (column: Column) =>
  (row: number): string | number =>
    column.kind === "numeric" ? column.values[row] : column.levels[column.codes[row]];

/** The ids of a table that has them; none where it does not. */
const idsOf = (table: Table, id: string | undefined): ReadonlySet<string | number> => {
  const column = table.columns.find(({ name }) => name === id);
  if (column === undefined) return new Set();
  return new Set(Array.from({ length: table.rows }, (_, row) => idReader(column)(row)));
};

const numbersIn = (table: Table, name: string): Float64Array => {
  const column = columnNamed(table, name);
  if (column.kind !== "numeric") throw new InputError("costs", rankTexts.other(table.name, name));
  return column.values;
};

/** Rows below each other, a column as text where it is text in either. */
const join = (above: Table, below: Table): Table => {
  const same = (table: Table, other: Table): Table => ({
    ...table,
    columns: table.columns.map((column, i) =>
      column.kind === other.columns[i].kind ? column : asCategorical(column),
    ),
  });
  return appendRows(same(above, below), same(below, above));
};
