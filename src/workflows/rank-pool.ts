/**
 * Which rows of an unlabelled table to label next, and why. The pool is read in parts and need never be held as a
 * whole; the scores are the same as of all at once.
 */
import { strategies } from "../active/strategies.js";
import { informationParts } from "../active/strategy-names.js";
import { InputError } from "../core/errors.js";
import type { LeftOutGroup } from "../core/left-out.js";
import { type Pacer, paced, pacer, type RunOptions } from "../core/options.js";
import type { RandomStream } from "../core/random.js";
import { applyRule, chooseLabel, columnsOfRule, combineLabels, type Label } from "../tables/label.js";
import { repeatedIds, repeatedIdTexts } from "../tables/repeated-ids.js";
import { type GroupSizes, withGroupSizes } from "../tables/small-groups.js";
import { appendRows, columnNames, findColumn, selectRows, type Table } from "../tables/table.js";
import { defineTask, type Task, type TaskSettings } from "../tables/task.js";
import { type ComputeDevice, DEFAULT_DEVICE, storedDevice, type UsedDevice } from "./device.js";
import { requireRoom } from "./groups-by.js";
import { chooseAmong } from "./rank-choice.js";
import { type RankComposition, rankComposition } from "./rank-composition.js";
import {
  type BestOfParts,
  columnsOf,
  costWeightOf,
  drawnOf,
  type LabelPlan,
  labelColumns,
  partRankerSteps,
  type RankPlan,
  rankStream,
  rankTexts,
} from "./rank-plan.js";
import { type RankChoices, type RankSettings, rankSettings } from "./rank-settings.js";
import { openScores, type ScoreWork, USUAL_TREES } from "./score-device.js";

/** A table, or its parts from the first row on; asked for twice. */
export type Pool = Table | (() => AsyncIterable<Table> | Iterable<Table>);

export interface RankOptions extends RankChoices, TaskSettings, RunOptions {
  /**
   * Rows that are labelled: they have the target, the features, the sensitive columns unless `sensitiveTable` has
   * them, and `weights` where it is given.
   */
  readonly labelled: Table;
  /** Other rows whose sensitive attributes are known: the sensitive models are fitted on them instead. */
  readonly sensitiveTable?: Table | undefined;
  /** Rows that predictions are wanted for; `predictSample` rows drawn from the pool unless given. */
  readonly predictFor?: Table | undefined;
  /**
   * Where the scores are computed. Default `cpu`, the reference. On a GPU they are within 1e-6 nats of its; `auto` takes it
   * where the pool is so large that it pays.
   */
  readonly device?: ComputeDevice | undefined;
}

export interface RankedCandidate {
  /** 1 for the first that was chosen. */
  readonly rank: number;
  /** In the pool, from 0. */
  readonly row: number;
  readonly id?: string | undefined;
  readonly score: number;
  /** Information about the target and leakage about the sensitive attributes, in nats; null where the score has none. */
  readonly target: number | null;
  readonly leakage: number | null;
  readonly cost: number;
  /** What candidates compete by: the score less what the cost is worth. */
  readonly net: number;
  /** Why it is among them: by its score, or drawn at random from all that may be asked. */
  readonly reason: "score" | "random";
  /** With which it was drawn among all that were left; null where it was chosen. */
  readonly probability: number | null;
}

export interface Ranking {
  readonly target: string;
  readonly sensitive: readonly string[];
  readonly settings: RankSettings;
  /** The best first. */
  readonly candidates: readonly RankedCandidate[];
  /** Rows of the pool, labelled rows, and rows that predictions are wanted for. */
  readonly rows: number;
  readonly labelled: number;
  readonly predictFor: number;
  readonly features: readonly string[];
  /** Who is labelled and who is recommended, by sensitive attribute. */
  readonly composition: readonly RankComposition[];
  /** Groups of the sensitive attributes that were left out, because they are smaller than was asked for. */
  readonly leftOut: readonly LeftOutGroup[];
  /** What the scores were computed on, where a GPU was asked for. */
  readonly device?: UsedDevice | undefined;
  readonly notes: readonly string[];
}

/**
 * The candidates of a pool whose labels say the most about the target and give away the least of the sensitive
 * attributes, best first: score = EPIG - beta x leakage, both in nats (section 6.2 of the paper), or by another method.
 *
 * Models are fitted on `labelled`; its weights count in the fits. The features are those that all tables have. A row of
 * the pool that has a label, or whose `id` is in the labelled table, is left out (ids are compared as texts). The answer is the same for the
 * pool as one table and in parts, except for methods that draw (`random`, the correction `permutation`), which draw
 * anew for each part.
 *
 * @example
 * ```ts
 * import { rankPool, tableOf } from "fairbed";
 *
 * const person = (i: number) => ({ id: i, skill: (i * 7) % 10, town: i % 3 === 0 ? "north" : "south", sex: i % 2 === 0 ? "f" : "m" });
 * const labelled = tableOf(Array.from({ length: 40 }, (_, i) => ({ ...person(i), hired: (i * 7) % 10 > 4 ? "yes" : "no" })));
 * const pool = tableOf(Array.from({ length: 30 }, (_, i) => person(i + 30))); // ten of them are labelled already
 * const { candidates, notes } = await rankPool(pool, { labelled, target: "hired=yes", sensitive: ["sex"], id: "id", top: 3 });
 * console.log(candidates.length, notes[0]); // 3 10 rows of the pool are labelled already and left out
 * ```
 */
export const rankPool = async (pool: Pool, options: RankOptions): Promise<Ranking> => {
  const pace = pacer(options);
  const settings = rankSettings(options);
  if (settings.quotas !== undefined) requireRoom(settings.quotas, settings.top);
  const known = knownRows(options);
  const parts = typeof pool === "function" ? pool : () => [pool];
  const looked = await lookThrough(parts(), sampleSize(settings), targetStream(settings));
  await pace.step({ done: 0, total: looked.rows, label: "scoring" });
  const { plan, ...remarks } = planRanking(known, settings, looked);
  const scores = await openScores(options.device ?? DEFAULT_DEVICE, workOf(plan), options);
  const ranker = (await paced(partRankerSteps(plan), pace))(0);
  for await (const table of parts()) await ranker.add(table, pace, scores.elsewhere);
  const ranking = await rankingOf(plan, ranker.best(), remarks, pace);
  return { ...ranking, ...storedDevice(scores.used()) };
};

const workOf = ({ settings, rows, predictFor, sensitive }: RankPlan): ScoreWork => ({
  method: settings.method,
  candidates: rows,
  targets: predictFor.rows,
  members: settings.forest.trees ?? USUAL_TREES,
  times: 1 + (strategies[settings.method].uses.sensitive ? sensitive.labels.length : 0),
});

/** Rows of the pool that are looked at before the others: groups are counted on them, and a method may aim at some. */
const GROUP_SAMPLE = 2000;

export const sampleSize = ({ method, shares, predictSample }: RankSettings): number =>
  shares !== "none" || strategies[method].uses.boundary
    ? Math.max(GROUP_SAMPLE, predictSample)
    : predictSample;

export const targetStream = (settings: RankSettings): RandomStream => rankStream(settings).split("targets");

/** What is known before the pool is read. */
export interface KnownRows {
  readonly labelled: Task;
  readonly weights?: string | undefined;
  readonly sensitive?:
    | (RankRemarks & { readonly table: Table; readonly labels: readonly Label[] })
    | undefined;
  readonly predictFor?: Table | undefined;
}

/** The labelled rows as a task; what stays out of the features by its role is known before the pool is read. */
export const knownRows = ({
  labelled: table,
  sensitiveTable,
  predictFor,
  id,
  costs,
  ...roles
}: RankOptions): KnownRows => {
  const names = columnNames(table);
  const sensitive =
    sensitiveTable === undefined
      ? undefined
      : { table: sensitiveTable, ...sensitiveLabels(sensitiveTable, roles) };
  const hidden = (sensitive?.labels ?? []).flatMap(({ rule }) => columnsOfRule(rule));
  const aside = [id, costs, ...hidden].filter((name) => name !== undefined && names.includes(name));
  const labelled = defineTask(
    table,
    {
      ...roles,
      sensitive: sensitive === undefined ? roles.sensitive : [],
      exclude: [...(roles.exclude ?? []), ...(aside as string[])],
    },
    { sensitiveElsewhere: sensitive !== undefined },
  );
  const notes = id === undefined || !names.includes(id) ? [] : idNotes(labelled, id);
  return {
    labelled: { ...labelled, notes: [...labelled.notes, ...notes] },
    weights: roles.weights,
    sensitive,
    predictFor,
  };
};

/** A person may be labelled twice, but not in two ways. */
const idNotes = ({ table, target }: Task, id: string): readonly string[] => {
  const { repeated, conflicting } = repeatedIds(table, id, target.labels);
  if (conflicting > 0)
    throw new InputError("id-conflict", repeatedIdTexts.conflict(id, conflicting, target.name));
  return repeated === 0 ? [] : [repeatedIdTexts.repeated(id, repeated)];
};

/** The sensitive labels of another table. */
const sensitiveLabels = (
  table: Table,
  {
    sensitive,
    combineSensitive,
    ...sizes
  }: Pick<TaskSettings, "sensitive" | "combineSensitive"> & GroupSizes,
): RankRemarks & { readonly labels: readonly Label[] } => {
  const labels = sensitive.map((choice) => chooseLabel(table, choice));
  const whole = combineSensitive && labels.length > 1 ? [combineLabels(table, labels)] : labels;
  const sized = whole.map((label) => withGroupSizes(label, table, sizes));
  return {
    labels: sized.map(({ label }) => label),
    leftOut: sized.flatMap(({ leftOut }) => leftOut),
    notes: sized.flatMap(({ notes }) => notes),
  };
};

/** A pool that was looked through once. */
export interface LookedThrough {
  /** Some of its rows. */
  readonly sample: Table;
  readonly rows: number;
}

/** What a reader of a ranking should know. */
export interface RankRemarks {
  readonly notes: readonly string[];
  readonly leftOut: readonly LeftOutGroup[];
}

/** What all parts of the pool are scored by, and what a reader should know. */
export const planRanking = (
  { labelled, weights, sensitive, predictFor }: KnownRows,
  settings: RankSettings,
  { sample, rows }: LookedThrough,
): { readonly plan: RankPlan } & RankRemarks => {
  const others = [sample, predictFor, sensitive?.table].filter((table) => table !== undefined);
  const { features, notes } = commonFeatures(labelled, others);
  const bare = ({ name, rule, classes }: Label): LabelPlan => ({ name, rule, classes });
  const labels = (sensitive?.labels ?? labelled.sensitive).map(bare);
  const target = bare(labelled.target);
  const own = sensitive === undefined ? [target, ...labels] : [target];
  const alsoKept = [settings.id, weights].filter((name) => name !== undefined);
  const aims = strategies[settings.method].uses.boundary;
  return {
    plan: {
      settings,
      features,
      labelled: columnsOf(labelled.table, [...features, ...labelColumns(own), ...alsoKept]),
      weights,
      target,
      sensitive: {
        labels,
        ...(sensitive === undefined
          ? {}
          : { table: columnsOf(sensitive.table, [...features, ...labelColumns(labels)]) }),
      },
      predictFor: columnsOf(predictFor ?? (aims ? sample : someOf(sample, settings)), features),
      ...(settings.shares === "none" || labels.length === 0
        ? {}
        : { sample: columnsOf(sample, [...features, ...labelColumns(labels)]) }),
      rows,
      types: labelled.types,
      minLevel: labelled.minLevel,
    },
    leftOut: sensitive?.leftOut ?? labelled.leftOut,
    notes: [...labelled.notes, ...(sensitive?.notes ?? []), ...notes],
  };
};

/** As many rows of the sample as predictions are wanted for, drawn at random. */
const someOf = (sample: Table, settings: RankSettings): Table => {
  const { predictSample } = settings;
  if (sample.rows <= predictSample) return sample;
  const stream = targetStream(settings).split("some");
  return selectRows(
    sample,
    Array.from(stream.choice(sample.rows, predictSample)).sort((a, b) => a - b),
  );
};

export const rankingOf = async (
  plan: RankPlan,
  best: BestOfParts,
  { notes, leftOut }: RankRemarks,
  pace?: Pacer | undefined,
): Promise<Ranking> => {
  const chosen = await withinQuotas(best, plan, pace);
  const { labels, table: elsewhere } = plan.sensitive;
  const asked = rankComposition({
    labels,
    labelled: elsewhere === undefined ? { table: plan.labelled, target: plan.target } : undefined,
    pool: best.counts,
    recommended: chosen.map(({ sensitive }) => sensitive),
  });
  return {
    target: plan.target.name,
    sensitive: labels.map(({ name }) => name),
    settings: plan.settings,
    candidates: chosen.map(({ sensitive: _, ...candidate }) => candidate),
    rows: plan.rows,
    labelled: labelledRows(plan),
    predictFor: plan.predictFor.rows,
    features: plan.features,
    composition: asked.composition,
    leftOut,
    notes: [
      ...(best.skipped === 0 ? [] : [rankTexts.done(best.skipped)]),
      ...(best.conflicts === undefined || best.conflicts === 0
        ? []
        : [rankTexts.otherLabel(best.conflicts, plan.target.name)]),
      ...notes,
      ...asked.notes,
    ],
  };
};

const labelledRows = ({ labelled, target }: RankPlan): number =>
  applyRule(target.rule, labelled).reduce((count, label) => count + (label < 0 ? 0 : 1), 0);

/** With its group by sensitive attribute. */
type ChosenCandidate = RankedCandidate & { readonly sensitive: readonly number[] };

/**
 * The best of all groups together, as far as quotas or shares allow, and then those that are drawn at random from all
 * that are left.
 */
const withinQuotas = async (
  { groups, drawn: offered, shares, skipped, models }: BestOfParts,
  { settings, rows, target }: RankPlan,
  pace: Pacer | undefined,
): Promise<ChosenCandidate[]> => {
  const all = groups
    .flatMap(({ group, best }) => best.map((each) => ({ ...each, group })))
    .sort((a, b) => a.row - b.row);
  if (all.length === 0) throw new InputError("all-labelled", rankTexts.allDone(columnsOfRule(target.rule)));
  const eligible = rows - skipped;
  const draws = drawnOf(settings, eligible);
  const costWeight = costWeightOf(settings);
  const size = Math.min(settings.top, eligible) - draws;
  const chosen = size === 0 ? [] : await chooseAmong({ all, size, shares, models, settings }, pace);
  const taken = new Set(chosen.map(({ row: at }) => all[at].row));
  const drawn = offered.filter(({ row }) => !taken.has(row)).slice(0, draws);
  // A method that draws gives every candidate the same chance, unless quotas or costs have a say.
  const equal = settings.method === "random" && settings.quotas === undefined && costWeight === 0;
  return [
    ...chosen.map(({ row: at, rank, score, cost, ...information }): ChosenCandidate => {
      const { row, id, sensitive = [] } = all[at];
      const { target, leakage } = informationParts(settings.method, information);
      return {
        rank,
        row,
        id,
        score,
        target,
        leakage,
        cost,
        net: score - costWeight * cost,
        reason: settings.method === "random" ? "random" : "score",
        probability: equal ? 1 / (eligible - rank + 1) : null,
        sensitive,
      };
    }),
    ...drawn.map(
      ({ row, id, cost, sensitive = [] }, i): ChosenCandidate => ({
        rank: chosen.length + i + 1,
        row,
        id,
        score: 0,
        target: null,
        leakage: null,
        cost,
        net: -costWeight * cost,
        reason: "random",
        probability: 1 / (eligible - chosen.length - i),
        sensitive,
      }),
    ),
  ];
};

const commonFeatures = (labelled: Task, others: readonly Table[]) => {
  const has = (name: string) => others.every((table) => findColumn(table, name) !== undefined);
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
  parts: AsyncIterable<Table> | Iterable<Table>,
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
  if (sample === undefined) throw new InputError("empty-pool", rankTexts.noRows);
  return { sample, rows };
};
