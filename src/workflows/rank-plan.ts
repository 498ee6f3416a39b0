/**
 * What the scores of a ranking depend on besides the candidates, as plain data. Whoever has the plan gives a candidate
 * the same score, so parts of a pool may be scored in turn, or on several machines.
 */

import type { ScoreParts } from "../active/fairbed.js";
import type { PartElsewhere } from "../active/gpu/scores-elsewhere.js";
import { shortlistFor } from "../active/joint-batch.js";
import { type MembersShape, packMembers, shapeOf } from "../active/packed-members.js";
import { fitSteps, jointLabel, type PoolLabel } from "../active/pool-models.js";
import { createBest, createRanker, type Ranked } from "../active/ranker.js";
import { groupFactors, groupsBy as groupsByFactors, normalisedShares } from "../active/shares.js";
import { byGroup, stepTexts } from "../active/step.js";
import { strategies } from "../active/strategies.js";
import { type RowKeys, tieKeys } from "../active/ties.js";
import { drawWeighted } from "../active/weighted-draw.js";
import { InputError } from "../core/errors.js";
import type { Pacer } from "../core/options.js";
import { type RandomStream, seededStream } from "../core/random.js";
import type { Classifier, FeatureMatrix, Learner } from "../learners/classifier.js";
import { forest } from "../learners/forest.js";
import { type ColumnTypes, withColumnTypes } from "../tables/column-types.js";
import { fitEncoder } from "../tables/encoder.js";
import { idReader } from "../tables/ids.js";
import { applyRule, columnsOfRule, type Label } from "../tables/label.js";
import { appendRows, asCategorical, columnNamed, findColumn, type Table } from "../tables/table.js";
import { sharesOf } from "./acquired-shares.js";
import { fairBoundaryWeights } from "./fair-boundary.js";
import { groupsBy, groupValuesOf } from "./groups-by.js";
import { addCounts, countPool, groupsInPool, type PoolCounts } from "./rank-composition.js";
import type { RankSettings } from "./rank-settings.js";
import { reweighedRows } from "./reweighed-rows.js";

export type LabelPlan = Pick<Label, "name" | "rule" | "classes">;

export interface RankPlan {
  readonly settings: RankSettings;
  readonly features: readonly string[];
  /** The features, the target, the sensitive attributes unless `sensitive` has them, the ids and the weights. */
  readonly labelled: Table;
  /** A column of the labelled table: how much each row counts in the fits. */
  readonly weights?: string | undefined;
  readonly target: LabelPlan;
  /** Labels of another table where one is given, else of the labelled one. */
  readonly sensitive: { readonly table?: Table | undefined; readonly labels: readonly LabelPlan[] };
  /** What predictions are wanted for; where the method aims at some, what these are drawn from. */
  readonly predictFor: Table;
  /** Rows of the pool that its groups are known by, with the sensitive columns where it has them; for shares. */
  readonly sample?: Table | undefined;
  /** Rows of the pool. */
  readonly rows: number;
  /** How the columns are read and encoded, where that was asked for. */
  readonly types?: ColumnTypes | undefined;
  readonly minLevel?: number | undefined;
}

export const rankTexts = {
  twice: (column: string, first: number, second: number) =>
    `rows ${first} and ${second} of the pool (counted from 0) have the same id in the column "${column}": make the ids different, or name another column.`,
  done: (rows: number) =>
    `${rows} row${rows === 1 ? "" : "s"} of the pool ${rows === 1 ? "is" : "are"} labelled already and left out`,
  otherLabel: (rows: number, target: string) =>
    `${rows} ${rows === 1 ? "row" : "rows"} of the pool ${rows === 1 ? "has" : "have"} another value of ${target} than the labelled ${rows === 1 ? "row" : "rows"} with the same id: the labelled table's counts`,
  noRows: "the pool has no rows: give a table with at least one.",
  allDone: (columns: readonly string[]) =>
    `every row of the pool is labelled already: give a pool with others. Rows with a value of ${columns.join(" and ")} count as labelled.`,
  noCommon: "the labelled table and the pool have no feature in common: give tables with the same columns.",
  onlyLabelled: (columns: readonly string[]) =>
    `left out because the pool does not have ${columns.length === 1 ? "it" : "them"}: ${columns.join(", ")}`,
  cost: (column: string, row: number) =>
    `row ${row} of the pool (counted from 0) has no cost in the column "${column}": give every row one.`,
  oneSensitive: (method: string) =>
    `the method ${method} learns the target and one sensitive attribute together, from the labelled rows: give one sensitive column of the labelled table, or combine them into one.`,
  other: (table: string, column: string) =>
    `the column "${column}" of ${table} has another type than in the labelled table: read both in the same way.`,
};

export const rankStream = ({ seed }: RankSettings): RandomStream => seededStream(seed).split("rank");

/** Decides between candidates with equal scores, by their row in the pool: the same for all its parts. */
export const rankTies = (settings: RankSettings): RowKeys => tieKeys(rankStream(settings).split("ties"));

/** One that may be chosen, with its name where the pool has them. */
export interface Candidate extends Ranked {
  readonly id?: string | undefined;
  /** Its group by sensitive attribute, -1 where it is unknown or the pool does not say. */
  readonly sensitive?: readonly number[] | undefined;
  /** What each model's members say of it, for joint batches: see `packed-members.ts`. */
  readonly members?: readonly (readonly number[])[] | undefined;
}

/** One model's members: what those of candidates have in common, and what they say of the targets. */
export interface PackedModel extends MembersShape {
  readonly targets: readonly (readonly number[])[];
}

/** What is left of the parts that were scored: the best of each group, any of which may be chosen. */
export interface BestOfParts {
  readonly rows: number;
  /** Rows that are labelled already. */
  readonly skipped: number;
  /** Of those, rows with another label than the labelled table has for them. */
  readonly conflicts?: number | undefined;
  /** How many of each group the others are. */
  readonly counts?: PoolCounts | undefined;
  readonly groups: readonly { readonly group: number; readonly best: readonly Candidate[] }[];
  /** Of all that may be chosen, in an order that is drawn: the first that are not chosen are those drawn at random. */
  readonly drawn: readonly Candidate[];
  /** The shares that groups are kept to, [groups]; the same for all parts. */
  readonly shares?: readonly number[] | undefined;
  /** The target's model and those of the sensitive attributes, for joint batches; the same for all parts. */
  readonly models?: readonly PackedModel[] | undefined;
}

/**
 * How many candidates of each group are kept: as many as are wanted, and where they are chosen jointly the best of them
 * by their scores alone, among which they are.
 */
export const keptOf = ({ top, batchKind }: Pick<RankSettings, "top" | "batchKind">, rows: number): number =>
  Math.min(batchKind === "joint" ? Math.max(top, shortlistFor(top)) : top, rows);

/** How many candidates draw at random, of those that may be chosen. */
export const drawnOf = ({ top, randomPart }: RankSettings, eligible: number): number =>
  Math.round(randomPart * Math.min(top, eligible));

/** Enough for the draws, however many of them are chosen by their scores. */
const offeredDraws = ({ top, randomPart }: RankSettings, rows: number): number =>
  randomPart === 0 ? 0 : Math.min(top, rows);

/** The columns of a table that a plan needs. */
export const columnsOf = (table: Table, names: readonly string[]): Table => {
  const wanted = new Set(names);
  return { ...table, columns: table.columns.filter(({ name }) => wanted.has(name)) };
};

/** The columns that the labels are made of. */
export const labelColumns = (labels: readonly LabelPlan[]): readonly string[] =>
  labels.flatMap(({ rule }) => columnsOfRule(rule));

/** The encoded candidates, and the ranker that scores them; its models are fitted in pieces. */
function* scorerSteps(plan: RankPlan) {
  const { settings, features, labelled, weights, target, sensitive, predictFor, types, minLevel } = plan;
  const stream = rankStream(settings);
  const wanted = new Set(features);
  const ofFeatures: ColumnTypes = {
    categorical: types?.categorical?.filter((name) => wanted.has(name)),
    numeric: types?.numeric?.filter((name) => wanted.has(name)),
  };
  const only = (table: Table): Table =>
    withColumnTypes({ ...table, columns: features.map((name) => columnNamed(table, name)) }, ofFeatures)
      .table;
  // Levels and medians are those of everything that may be looked at.
  const known = [labelled, ...given(sensitive.table), predictFor].map(only);
  const reference = known.reduce(join);
  const encoder = fitEncoder({ table: reference, features, minLevel, types: ofFeatures }, undefined, {
    categories: settings.categories,
  });
  const encode = (table: Table, rows?: ArrayLike<number>) => encoder.encode(only(table), rows);
  const encodedLabelled = encode(labelled);
  const rowWeights = weights === undefined ? undefined : numbersIn(labelled, weights);
  const learn = (learner: Learner, label: PoolLabel, name: string, table: Table | undefined) =>
    fitSteps(
      learner,
      {
        features: table === undefined ? encodedLabelled : encode(table),
        ...label,
        rows: Int32Array.from(label.labels.keys()),
        // Of the labelled rows: what another table is for has weights of its own, if any.
        weights: table === undefined ? rowWeights : undefined,
      },
      stream.split(name),
    );
  const labelOf = ({ rule, classes }: LabelPlan, table: Table): PoolLabel => ({
    labels: applyRule(rule, table),
    classes: classes.length,
  });
  const { uses } = strategies[settings.method];
  const targetLabel = labelOf(target, labelled);
  const forestOf = forest(settings.forest);
  const sensitiveModel = (i: number) =>
    learn(
      forest(settings.sensitiveForest),
      labelOf(sensitive.labels[i], sensitive.table ?? labelled),
      `sensitive ${i}`,
      sensitive.table,
    );
  const keeps = settings.shares !== "none" && sensitive.labels.length > 0;
  if ((uses.groups || uses.boundary) && sensitive.labels.length === 0) {
    throw new InputError("sensitive", stepTexts.groups(settings.method));
  }
  if (uses.boundary && targetLabel.classes !== 2) {
    throw new InputError("target", stepTexts.twoOutcomes(settings.method, targetLabel.classes));
  }
  const groupModel = keeps || uses.groups || uses.boundary ? yield* sensitiveModel(0) : undefined;
  const jointOf = function* () {
    if (sensitive.labels.length !== 1 || sensitive.table !== undefined) {
      throw new InputError("sensitive", rankTexts.oneSensitive(settings.method));
    }
    const attribute = labelOf(sensitive.labels[0], labelled);
    const classifier = yield* learn(forestOf, jointLabel(targetLabel, attribute), "joint", undefined);
    return { classifier, sensitiveClasses: attribute.classes };
  };
  const targetModel = yield* fitSteps(
    forestOf,
    {
      features: encodedLabelled,
      ...targetLabel,
      rows: Int32Array.from(targetLabel.labels.keys()),
      weights: targetWeights(plan, targetLabel, rowWeights),
    },
    stream.split("target"),
  );
  const aimed = uses.boundary ? atBoundary(encode(predictFor), targetModel, groupModel, settings) : undefined;
  const targets = encode(predictFor, aimed);
  const sensitiveModels: Classifier[] = [];
  for (let i = 0; uses.sensitive && i < sensitive.labels.length; i++)
    sensitiveModels.push(i === 0 && groupModel !== undefined ? groupModel : yield* sensitiveModel(i));
  const ranker = createRanker({
    method: settings.method,
    beta: settings.beta,
    combine: settings.combine,
    target: targetModel,
    sensitive: sensitiveModels,
    joint: uses.joint ? yield* jointOf() : undefined,
    groups:
      uses.groups && groupModel !== undefined
        ? byGroup(groupModel.predict(targets), sensitive.labels[0].classes.length)
        : undefined,
    targets,
    labelled: encodedLabelled,
    sensitiveCorrection: settings.correction,
    stream: stream.split("parts"),
  });
  const groups = keeps && groupModel !== undefined ? shareGroups(plan, groupModel, encode) : undefined;
  return { encode, ranker, groups };
}

/** How much labelled rows count in the fit of the target. */
const targetWeights = (
  { settings, labelled, sensitive }: RankPlan,
  { labels }: PoolLabel,
  weights: Float64Array | undefined,
): Float64Array | undefined => {
  // Another table's groups say nothing of these rows.
  if (!settings.reweigh || sensitive.table !== undefined || sensitive.labels.length === 0) return weights;
  const rows = Int32Array.from(labels.keys()).filter((row) => labels[row] >= 0);
  return reweighedRows({ rows, labels, groups: applyRule(sensitive.labels[0].rule, labelled), weights });
};

/** Targets near the boundary of the fair decision rule, as places in the features. */
const atBoundary = (
  features: FeatureMatrix,
  target: Classifier,
  groups: Classifier | undefined,
  settings: RankSettings,
): Int32Array | undefined => {
  if (groups === undefined || features.rows <= settings.predictSample) return undefined;
  const scores = target.predict(features).filter((_, at) => at % 2 === 1);
  const weights = fairBoundaryWeights({ scores, groupProbabilities: groups.predict(features) });
  return drawWeighted(weights, settings.predictSample, rankStream(settings).split("boundary"));
};

/** The groups that shares are of: known where the pool has the column, else what a row is taken for. */
const shareGroups = (
  { settings, sensitive, sample, predictFor }: RankPlan,
  model: Classifier,
  encode: (table: Table, rows?: ArrayLike<number>) => FeatureMatrix,
) => {
  const [label] = sensitive.labels;
  const knownIn = (table: Table): Int32Array =>
    columnsOfRule(label.rule).every((name) => findColumn(table, name) !== undefined)
      ? applyRule(label.rule, table)
      : new Int32Array(table.rows).fill(-1);
  const reference = sample ?? predictFor;
  const known = knownIn(reference);
  const said = model.predict(encode(reference));
  const population = populationShares(label, known, said);
  const wanted = sharesOf(settings.shares, label, known)?.of ?? "population";
  const factors = groupFactors(said, population);
  return {
    shares: Array.from(wanted === "population" ? population : wanted),
    of(table: Table): (at: number) => number {
      const own = knownIn(table);
      const open = Int32Array.from(own.keys()).filter((row) => own[row] < 0);
      const taken = open.length === 0 ? open : groupsByFactors(model.predict(encode(table, open)), factors);
      open.forEach((row, i) => {
        own[row] = taken[i];
      });
      return (at) => own[at];
    },
  };
};

/** Of the rows that are known, and of the others what the model says. */
const populationShares = (label: LabelPlan, known: Int32Array, said: Float64Array): Float64Array => {
  const groups = label.classes.length;
  const sums = new Float64Array(groups);
  known.forEach((group, row) => {
    if (group >= 0) sums[group] += 1;
    else for (let g = 0; g < groups; g++) sums[g] += said[row * groups + g];
  });
  return normalisedShares(sums);
};

export interface PartRanker {
  /** One part after the other. */
  add(table: Table, pace?: Pacer | undefined, elsewhere?: PartElsewhere | undefined): Promise<void>;
  best(): BestOfParts;
}

/** Models are fitted once, in pieces; `first` is the row of the pool that the first part begins with. */
export function* partRankerSteps(plan: RankPlan): Generator<unknown, (first: number) => PartRanker> {
  const { settings, labelled, sensitive, rows } = plan;
  const { encode, ranker, groups: kept } = yield* scorerSteps(plan);
  const size = keptOf(settings, rows);
  const done = labelsById(labelled, settings.id, plan.target);
  const ties = rankTies(settings);
  const groups = settings.quotas === undefined ? undefined : groupValuesOf(settings.quotas);
  // A method that draws draws for a part as a whole.
  const drawsScores = strategies[settings.method].uses.stream || settings.correction === "permutation";
  return (start) => {
    // Whatever the quotas, what is chosen of a group is among the best of the group.
    const bestOf = new Map<number, ReturnType<typeof createBest>>();
    const bestIn = (group: number) => {
      const known = bestOf.get(group) ?? createBest({ size, costWeight: costWeightOf(settings), ties });
      bestOf.set(group, known);
      return known;
    };
    const drawKeys = tieKeys(rankStream(settings).split("drawn"));
    const wantedDraws = offeredDraws(settings, rows);
    const draws =
      wantedDraws === 0 ? undefined : createBest({ size: wantedDraws, costWeight: 0, ties: drawKeys });
    const seen = new Map<string, number>();
    const packed = new Map<number, readonly (readonly number[])[]>();
    let [first, part, skipped, conflicts] = [start, 0, 0, 0];
    let counts: PoolCounts | undefined;

    /** The rows of a part that nobody has labelled, there or in the labelled table; throws where two have the same id. */
    const candidatesIn = (table: Table, ids: ((row: number) => string | undefined) | undefined) => {
      const candidates: number[] = [];
      const isLabelled = columnsOfRule(plan.target.rule).every(
        (name) => findColumn(table, name) !== undefined,
      );
      const labels = isLabelled ? applyRule(plan.target.rule, table) : undefined;
      for (let at = 0; at < table.rows; at++) {
        const id = ids?.(at);
        const own = labels?.[at] ?? -1;
        if (id !== undefined) {
          const before = seen.get(id);
          if (before !== undefined) {
            throw new InputError("id-twice", rankTexts.twice(settings.id ?? "", before, first + at));
          }
          seen.set(id, first + at);
          const label = done.get(id);
          if (label !== undefined) {
            conflicts += Number(own >= 0 && label >= 0 && own !== label);
            continue;
          }
        }
        if (own < 0) candidates.push(at);
      }
      skipped += table.rows - candidates.length;
      return Int32Array.from(candidates);
    };

    /** The members of those of a part that are among the best so far; of those that no longer are, none. */
    const packBest = (table: Table): void => {
      const kept = new Set([...bestOf.values()].flatMap((best) => best.ranked().map(({ row }) => row)));
      for (const row of packed.keys()) if (!kept.has(row)) packed.delete(row);
      const own = [...kept].filter((row) => row >= first && row < first + table.rows);
      if (own.length === 0) return;
      const features = encode(
        table,
        own.map((row) => row - first),
      );
      const models = ranker.members(features).map(packMembers);
      own.forEach((row, i) => {
        packed.set(
          row,
          models.map((rowsOf) => rowsOf[i]),
        );
      });
    };

    return {
      async add(table, pace, elsewhere) {
        const ids = settings.id === undefined ? undefined : idReader(columnNamed(table, settings.id));
        const candidates = candidatesIn(table, ids);
        const costs = settings.costs === undefined ? undefined : costsIn(table, settings.costs, first);
        const groupOf =
          kept?.of(table) ?? valuesOf(groups === undefined ? undefined : groupsBy(table, groups));
        const attributes = groupsInPool(table, sensitive.labels);
        counts = addCounts(counts, countPool(attributes, sensitive.labels, candidates));
        const offer = (at: number, { score, target, leakage }: Readonly<Record<keyof ScoreParts, number>>) =>
          bestIn(groupOf?.(at) ?? -1).offer({
            row: first + at,
            score,
            target,
            leakage,
            cost: costs?.[at] ?? 0,
            id: ids?.(at),
            sensitive: attributes.map((own) => own?.[at] ?? -1),
          } as Candidate);
        const offerBest = async (block: Int32Array): Promise<void> => {
          const features = encode(table, block);
          if (elsewhere !== undefined) {
            const scores = await ranker.scoreBy(elsewhere, features, part);
            for (const [i, at] of block.entries()) offer(at, numbersAt(scores, i));
            return;
          }
          const wanted = Math.min(size, block.length);
          const isFew = FEW * wanted <= block.length && groupOf === undefined && costs === undefined;
          const keys = (i: number) => ties(first + block[i]);
          const few = isFew ? ranker.best(features, { size: wanted, ties: keys }) : undefined;
          if (few === undefined) {
            const scores = ranker.score(features, part);
            for (const [i, at] of block.entries()) offer(at, numbersAt(scores, i));
          } else for (const [i, row] of few.rows.entries()) offer(block[row], numbersAt(few, i));
        };
        for (const at of candidates) {
          const cost = costs?.[at] ?? 0;
          draws?.offer({
            row: first + at,
            score: 0,
            target: 0,
            leakage: 0,
            cost,
            id: ids?.(at),
            sensitive: attributes.map((own) => own?.[at] ?? -1),
          } as Candidate);
        }
        if (drawsScores) {
          // The candidates that are left out have their share of the draws.
          const scores =
            elsewhere === undefined
              ? ranker.score(encode(table), part)
              : await ranker.scoreBy(elsewhere, encode(table), part);
          for (const at of candidates) offer(at, numbersAt(scores, at));
        } else {
          for (const block of blocksOf(candidates, elsewhere === undefined ? FIRST_BLOCK : GPU_BLOCK)) {
            await offerBest(block);
            await pace?.step({ done: first + block[block.length - 1] + 1, total: rows, label: "scoring" });
          }
        }
        if (settings.batchKind === "joint") packBest(table);
        part += 1;
        first += table.rows;
        await pace?.step({ done: first, total: rows, label: "scoring" });
      },
      best: () => ({
        rows: first - start,
        skipped,
        conflicts,
        counts,
        groups: [...bestOf].map(([group, best]) => ({
          group,
          best: best.ranked().map(({ rank: _, ...each }) => ({ ...each, members: packed.get(each.row) })),
        })),
        drawn: draws?.ranked().map(({ rank: _, ...each }) => each) ?? [],
        shares: kept?.shares,
        models:
          settings.batchKind === "joint"
            ? ranker.targetMembers.map((members) => ({ ...shapeOf(members), targets: packMembers(members) }))
            : undefined,
      }),
    };
  };
}

/** The label of everybody who is labelled, by id; nobody where the table has no ids. */
const labelsById = (
  table: Table,
  id: string | undefined,
  { rule }: LabelPlan,
): ReadonlyMap<string, number> => {
  const column = id === undefined ? undefined : findColumn(table, id);
  if (column === undefined) return new Map();
  const read = idReader(column);
  const labels = applyRule(rule, table);
  return new Map(
    Array.from(labels, (label, row) => [read(row), label] as const).filter(
      (each): each is readonly [string, number] => each[0] !== undefined,
    ),
  );
};

const valuesOf = (values: Int32Array | undefined): ((at: number) => number) | undefined =>
  values === undefined ? undefined : (at) => values[at];

/** Of so many candidates for each that is wanted, the best are found faster by ruling the others out. */
const FEW = 8;

const numbersAt = ({ score, target, leakage }: ScoreParts, at: number) => ({
  score: score[at],
  target: target[at],
  leakage: leakage[at],
});

/** A block takes about this long, so that a page can answer between two. */
const BLOCK_MS = 25;
const FIRST_BLOCK = 1024;
/** A GPU is kept busy by larger ones. */
const GPU_BLOCK = 16384;

/** One after the other, as large as the last one allows: what is the best does not depend on the blocks. */
function* blocksOf(candidates: Int32Array, first: number): Generator<Int32Array, void, undefined> {
  let size = first;
  for (let from = 0; from < candidates.length; ) {
    const started = performance.now();
    yield candidates.subarray(from, from + size);
    from += size;
    if (performance.now() - started < BLOCK_MS) size *= 2;
  }
}

/** The best of all parts, whatever their order. */
export const mergeParts = (
  parts: readonly BestOfParts[],
  settings: RankSettings,
  rows: number,
): BestOfParts => {
  const size = keptOf(settings, rows);
  const ties = rankTies(settings);
  const groups = [...new Set(parts.flatMap((part) => part.groups.map(({ group }) => group)))];
  const wanted = offeredDraws(settings, rows);
  const draws =
    wanted === 0
      ? undefined
      : createBest({ size: wanted, ties: tieKeys(rankStream(settings).split("drawn")) });
  for (const { drawn } of parts) for (const each of drawn) draws?.offer(each);
  return {
    drawn: draws?.ranked().map(({ rank: _, ...each }) => each) ?? [],
    shares: parts.find(({ shares }) => shares !== undefined)?.shares,
    models: parts.find(({ models }) => models !== undefined)?.models,
    rows: parts.reduce((sum, part) => sum + part.rows, 0),
    skipped: parts.reduce((sum, { skipped }) => sum + skipped, 0),
    conflicts: parts.reduce((sum, { conflicts = 0 }) => sum + conflicts, 0),
    counts: parts.reduce<PoolCounts | undefined>(
      (sum, { counts }) => (counts === undefined ? sum : addCounts(sum, counts)),
      undefined,
    ),
    groups: groups.map((group) => {
      const best = createBest({ size, costWeight: costWeightOf(settings), ties });
      for (const part of parts) {
        for (const each of part.groups.find((own) => own.group === group)?.best ?? []) best.offer(each);
      }
      return { group, best: best.ranked().map(({ rank: _, ...each }) => each) };
    }),
  };
};

/** Costs do not decide unless it is said what they are worth. */
export const costWeightOf = ({ costWeight }: RankSettings): number => costWeight ?? 0;

const given = <T>(value: T | undefined): T[] => (value === undefined ? [] : [value]);

const numbersIn = (table: Table, name: string): Float64Array => {
  const column = columnNamed(table, name);
  if (column.kind !== "numeric") throw new InputError("costs", rankTexts.other(table.name, name));
  return column.values;
};

/** What each row of a part costs; `first` is the row of the pool that it begins with. */
const costsIn = (table: Table, name: string, first: number): Float64Array => {
  const costs = numbersIn(table, name);
  const none = costs.findIndex(Number.isNaN);
  if (none >= 0) throw new InputError("costs", rankTexts.cost(name, first + none));
  return costs;
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
