/**
 * Which rows of an unlabelled table to label next, and why. The pool is read in parts and never held as a whole; the
 * scores are the same as of all at once.
 */
import { type Selected, selectBatch } from "../active/batch.js";
import type { Correction } from "../active/correction.js";
import { fit } from "../active/loop.js";
import type { Quota } from "../active/quotas.js";
import { createBest, createRanker } from "../active/ranker.js";
import { type StrategyName, strategies } from "../active/strategies.js";
import { InputError } from "../core/errors.js";
import { type RandomStream, randomStream } from "../core/random.js";
import { type CategoryEncoding, fitEncoder } from "../data/encoder.js";
import { applyRule, type Label } from "../data/label.js";
import {
  appendRows,
  asCategorical,
  type Column,
  columnNamed,
  columnNames,
  selectRows,
  type Table,
} from "../data/table.js";
import type { Task } from "../data/task.js";
import type { Classifier, Learner } from "../learners/classifier.js";
import { type ForestOptions, forest } from "../learners/forest.js";

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
  readonly costs?: string;
  readonly costWeight?: number;
  readonly id?: string;
  readonly quotas?: readonly Quota[];
  readonly seed: number;
}

export interface RankInput {
  /** Labelled rows: the target, and the sensitive attribute unless `sensitive` has it. */
  readonly labelled: Task;
  /** The pool in parts, from its first row; called once, or twice where targets are drawn from it. */
  readonly pool: () => AsyncIterable<Table>;
  /** Rows that predictions are wanted for. */
  readonly targets?: Table;
  /** Other rows whose sensitive attributes are known: the sensitive models are fitted on them instead. */
  readonly sensitive?: { readonly table: Table; readonly labels: readonly Label[] };
  /** The group of every row of a part, for quotas. */
  readonly groupsOf?: (part: Table) => Int32Array;
  readonly onPart?: (rows: number) => void | Promise<void>;
}

export interface RankedCandidate extends Selected {
  readonly id?: string | number;
}

export interface Ranking {
  readonly candidates: readonly RankedCandidate[];
  /** Rows of the pool, and how many are labelled. */
  readonly rows: number;
  readonly labelled: number;
  readonly targets: number;
  readonly features: readonly string[];
  readonly notes: readonly string[];
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

export const rankPool = async (input: RankInput, settings: RankSettings): Promise<Ranking> => {
  const { labelled } = input;
  const stream = randomStream(settings.seed).split("rank");
  const { sample, rows } = await lookThrough(input.pool(), settings.targets, stream.split("targets"));
  const targets = input.targets ?? sample;
  const { features, notes } = commonFeatures(labelled, [
    sample,
    ...given(input.targets),
    ...given(input.sensitive?.table),
  ]);
  const only = (table: Table): Table => ({
    ...table,
    columns: features.map((name) => columnNamed(table, name)),
  });
  // Levels and medians are those of everything that may be looked at.
  const known = [labelled.table, ...given(input.sensitive?.table), targets].map(only);
  const reference = known.reduce(join);
  const encoder = fitEncoder({ table: reference, features }, undefined, { categories: settings.categories });
  const encode = (table: Table) => encoder.encode(only(table));
  const learn = (learner: Learner, { rule, classes }: Label, table: Table, name: string): Classifier => {
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
    target: learn(forest(settings.forest), labelled.target, labelled.table, "target"),
    sensitive: usesSensitive
      ? (input.sensitive?.labels ?? labelled.sensitive).map((label, i) =>
          learn(
            forest(settings.sensitiveForest),
            label,
            input.sensitive?.table ?? labelled.table,
            `sensitive ${i}`,
          ),
        )
      : [],
    targets: encode(targets),
    labelled: encode(labelled.table),
    sensitiveCorrection: settings.correction,
    stream: stream.split("parts"),
  });
  const size = Math.min(settings.top, rows);
  const costWeight = settings.costWeight ?? (settings.costs === undefined ? 0 : 1);
  // Whatever the quotas, what is chosen of a group is among the best of the group.
  const bestOf = new Map<number, ReturnType<typeof createBest>>();
  const bestIn = (group: number) => {
    const known = bestOf.get(group) ?? createBest(size, costWeight);
    bestOf.set(group, known);
    return known;
  };
  const names = new Map<number, string | number>();
  const done = idsOf(labelled.table, settings.id);
  const seen = new Map<string | number, number>();
  let skipped = 0;
  let first = 0;
  let part = 0;
  for await (const table of input.pool()) {
    const { score, target, leakage } = ranker.score(encode(table), part++);
    const costs = settings.costs === undefined ? undefined : numbersIn(table, settings.costs);
    const groups = input.groupsOf?.(table);
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
      bestIn(groups?.[at] ?? -1).offer({
        row: first + at,
        score: score[at],
        target: target[at],
        leakage: leakage[at],
        cost: costs?.[at] ?? 0,
      });
    }
    if (ids !== undefined) {
      for (const { row } of [...bestOf.values()].flatMap((best) => best.ranked())) {
        if (row < first) continue;
        names.set(row, ids(row - first));
      }
    }
    first += table.rows;
    await input.onPart?.(first);
  }
  const candidates = withinQuotas(bestOf, size, costWeight, settings.quotas).map((each) => {
    const id = names.get(each.row);
    return id === undefined ? each : { ...each, id };
  });
  return {
    candidates,
    rows,
    labelled: labelled.target.labels.reduce((count, label) => count + (label < 0 ? 0 : 1), 0),
    targets: targets.rows,
    features,
    notes: skipped === 0 ? notes : [...notes, rankTexts.done(skipped)],
  };
};

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

/** The best of all groups together, as far as the quotas allow. */
const withinQuotas = (
  bestOf: ReadonlyMap<number, ReturnType<typeof createBest>>,
  size: number,
  costWeight: number,
  quotas: readonly Quota[] = [],
): Selected[] => {
  const all = [...bestOf]
    .flatMap(([group, best]) => best.ranked().map((each) => ({ ...each, group })))
    .sort((a, b) => a.row - b.row);
  const numbers = (of: (each: (typeof all)[number]) => number) => Float64Array.from(all, of);
  const parts = {
    score: numbers(({ score }) => score),
    target: numbers(({ target }) => target),
    leakage: numbers(({ leakage }) => leakage),
  };
  const constraints = { groups: numbers(({ group }) => group), quotas };
  return selectBatch(parts, { size, costs: numbers(({ cost }) => cost), costWeight, ...constraints }).map(
    (each) => ({ ...each, row: all[each.row].row }),
  );
};

const given = <T>(value: T | undefined): T[] => (value === undefined ? [] : [value]);

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

const commonFeatures = (labelled: Task, others: readonly Table[]) => {
  const has = (name: string) => others.every((table) => columnNames(table).includes(name));
  const features = labelled.features.filter(has);
  if (features.length === 0) throw new InputError("no-features", rankTexts.noCommon);
  const missing = labelled.features.filter((name) => !has(name));
  return { features, notes: missing.length === 0 ? [] : [rankTexts.onlyLabelled(missing)] };
};

/** Counts the rows and draws some of them, each equally likely (reservoir sampling). */
const lookThrough = async (
  parts: AsyncIterable<Table>,
  wanted: number,
  stream: RandomStream,
): Promise<{ readonly sample: Table; readonly rows: number }> => {
  let rows = 0;
  let sample: Table | undefined;
  for await (const table of parts) {
    const places = new Map<number, number>();
    for (let at = 0; at < table.rows; at++, rows++) {
      const place = rows < wanted ? rows : stream.integer(rows + 1);
      if (place < wanted) places.set(place, at);
    }
    const kept = Math.min(rows, wanted);
    const before = sample?.rows ?? 0;
    const merged = sample === undefined ? table : appendRows(sample, table);
    sample = selectRows(
      merged,
      Array.from({ length: kept }, (_, place) => {
        const at = places.get(place);
        return at === undefined ? place : before + at;
      }),
    );
  }
  if (sample === undefined)
    throw new InputError("empty-pool", "the pool has no rows: give a table with at least one.");
  return { sample, rows };
};
