/**
 * Which rows of an unlabelled table to label next, and why. The pool is read in parts and never held as a whole; the
 * scores are the same as of all at once.
 */
import { selectBatch } from "../active/batch.js";
import { InputError } from "../core/errors.js";
import type { RandomStream } from "../core/random.js";
import { applyRule, type Label } from "../tables/label.js";
import { appendRows, columnNames, selectRows, type Table } from "../tables/table.js";
import type { Task } from "../tables/task.js";
import {
  type BestOfParts,
  type Candidate,
  columnsOf,
  costWeightOf,
  createPartRanker,
  type LabelPlan,
  labelColumns,
  type RankPlan,
  type RankSettings,
  rankStream,
  rankTexts,
  rankTies,
} from "./rank-plan.js";

export { type RankSettings, rankTexts } from "./rank-plan.js";

export interface RankInput {
  /** Labelled rows: the target, and the sensitive attribute unless `sensitive` has it. */
  readonly labelled: Task;
  /** The pool in parts, from its first row; called twice. */
  readonly pool: () => AsyncIterable<Table>;
  /** Rows that predictions are wanted for; drawn from the pool unless given. */
  readonly targets?: Table | undefined;
  /** Other rows whose sensitive attributes are known: the sensitive models are fitted on them instead. */
  readonly sensitive?: { readonly table: Table; readonly labels: readonly Label[] } | undefined;
  /** The group of every row of a part, for quotas. */
  readonly groupsOf?: ((part: Table) => Int32Array) | undefined;
  readonly onPart?: ((rows: number) => void | Promise<void>) | undefined;
}

export interface RankedCandidate extends Candidate {
  /** 1 for the first that was chosen. */
  readonly rank: number;
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

export const rankPool = async (input: RankInput, settings: RankSettings): Promise<Ranking> => {
  const looked = await lookThrough(input.pool(), settings.targets, targetStream(settings));
  const { plan, notes } = planRanking(input, settings, looked);
  const parts = createPartRanker(plan)(0);
  let rows = 0;
  for await (const table of input.pool()) {
    parts.add(table, input.groupsOf?.(table));
    rows += table.rows;
    await input.onPart?.(rows);
  }
  return rankingOf(plan, parts.best(), notes);
};

export const targetStream = (settings: RankSettings): RandomStream => rankStream(settings).split("targets");

/** A pool that was looked through once. */
export interface LookedThrough {
  /** Some of its rows. */
  readonly sample: Table;
  readonly rows: number;
}

/** What all parts of the pool are scored by, and what a reader should know. */
export const planRanking = (
  input: Pick<RankInput, "labelled" | "targets" | "sensitive">,
  settings: RankSettings,
  { sample, rows }: LookedThrough,
): { readonly plan: RankPlan; readonly notes: readonly string[] } => {
  const { labelled, sensitive } = input;
  const others = [sample, input.targets, sensitive?.table].filter((table) => table !== undefined);
  const { features, notes } = commonFeatures(labelled, others);
  const bare = ({ name, rule, classes }: Label): LabelPlan => ({ name, rule, classes });
  const labels = (sensitive?.labels ?? labelled.sensitive).map(bare);
  const target = bare(labelled.target);
  const own = sensitive === undefined ? [target, ...labels] : [target];
  const ids = settings.id === undefined ? [] : [settings.id];
  return {
    plan: {
      settings,
      features,
      labelled: columnsOf(labelled.table, [...features, ...labelColumns(own), ...ids]),
      target,
      sensitive: {
        labels,
        ...(sensitive === undefined
          ? {}
          : { table: columnsOf(sensitive.table, [...features, ...labelColumns(labels)]) }),
      },
      targets: columnsOf(input.targets ?? sample, features),
      rows,
    },
    notes,
  };
};

export const rankingOf = (plan: RankPlan, best: BestOfParts, notes: readonly string[]): Ranking => ({
  candidates: withinQuotas(best, plan),
  rows: plan.rows,
  labelled: labelledRows(plan),
  targets: plan.targets.rows,
  features: plan.features,
  notes: best.skipped === 0 ? notes : [...notes, rankTexts.done(best.skipped)],
});

const labelledRows = ({ labelled, target }: RankPlan): number =>
  applyRule(target.rule, labelled).reduce((count, label) => count + (label < 0 ? 0 : 1), 0);

/** The best of all groups together, as far as the quotas allow. */
const withinQuotas = ({ groups }: BestOfParts, { settings, rows }: RankPlan): RankedCandidate[] => {
  const all = groups
    .flatMap(({ group, best }) => best.map((each) => ({ ...each, group })))
    .sort((a, b) => a.row - b.row);
  const numbers = (of: (each: (typeof all)[number]) => number) => Float64Array.from(all, of);
  const parts = {
    score: numbers(({ score }) => score),
    target: numbers(({ target }) => target),
    leakage: numbers(({ leakage }) => leakage),
  };
  const ties = rankTies(settings);
  return selectBatch(parts, {
    ties: (at) => ties(all[at].row),
    size: Math.min(settings.top, rows),
    costs: numbers(({ cost }) => cost),
    costWeight: costWeightOf(settings),
    groups: numbers(({ group }) => group),
    quotas: settings.quotas ?? [],
  }).map(({ row: at, ...each }) => {
    const { row, id } = all[at];
    return { ...each, row, ...(id === undefined ? {} : { id }) };
  });
};

const commonFeatures = (labelled: Task, others: readonly Table[]) => {
  const has = (name: string) => others.every((table) => columnNames(table).includes(name));
  const features = labelled.features.filter(has);
  if (features.length === 0) throw new InputError("no-features", rankTexts.noCommon);
  const missing = labelled.features.filter((name) => !has(name));
  return { features, notes: missing.length === 0 ? [] : [rankTexts.onlyLabelled(missing)] };
};

/** The place of a row in a sample of `wanted` rows, each equally likely; none where it is not below that. */
export const samplePlace = (row: number, wanted: number, stream: RandomStream): number =>
  row < wanted ? row : stream.integer(row + 1);

/** Counts the rows and draws some of them (reservoir sampling). */
const lookThrough = async (
  parts: AsyncIterable<Table>,
  wanted: number,
  stream: RandomStream,
): Promise<LookedThrough> => {
  let rows = 0;
  let sample: Table | undefined;
  for await (const table of parts) {
    const places = new Map<number, number>();
    for (let at = 0; at < table.rows; at++, rows++) {
      const place = samplePlace(rows, wanted, stream);
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
