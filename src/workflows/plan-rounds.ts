/**
 * Many recipes tried out with few of them to the end (successive halving): all on few seeds and part of the labels, the
 * best on more. What is kept is decided on inner rows alone.
 */
import { pacer, type RunOptions } from "../core/options.js";
import { type InnerTrial, keepBest, type Settled, screened } from "./plan-choice.js";
import { PLAN_ROUNDS } from "./plan-defaults.js";
import { type TrialRunOptions, trialBoard } from "./plan-progress.js";
import { askingId, type PlannedParts, recipeId, recipeName } from "./plan-recipes.js";
import { LEAST_LABELS } from "./plan-settings.js";
import {
  acquiredSet,
  acquireFor,
  aimsFor,
  finishId,
  judgeSet,
  type Outcome,
  type PlanSeed,
  type PlanTable,
  preparePlanSeed,
} from "./plan-trials.js";
import type { Acquisition } from "./simulation.js";

/** What a recipe reached in the last round that it was part of. */
export interface Trial extends InnerTrial {
  readonly id: string;
  /** From 1. */
  readonly round: number;
  readonly labels: number;
  readonly seeds: readonly number[];
  /** [aims][seeds]: of the aims in `aims`; and without the rule, [seeds]. */
  readonly outcomes: readonly (readonly Outcome[])[];
  readonly withoutRule: readonly Outcome[];
  /** What was acquired, [seeds]. */
  readonly acquisitions: readonly Acquisition[];
}

export interface PlannedRound {
  readonly recipes: number;
  readonly seeds: number;
  readonly labels: number;
}

export interface RoundsResult {
  /** Every recipe, as of the last round that it was part of. */
  readonly trials: readonly Trial[];
  /** The last round's, from the most promising down. */
  readonly finalists: readonly Settled<Trial>[];
  readonly rounds: readonly PlannedRound[];
  /** Where the time limit ended it; null where it did not. */
  readonly cut: { readonly round: number; readonly seeds: number; readonly planned: number } | null;
}

/** A clock for the time limit alone: nothing else depends on it. */
const limitOf = (minutes: number | undefined): (() => boolean) => {
  const end = minutes === undefined ? Number.POSITIVE_INFINITY : performance.now() + 60_000 * minutes;
  return () => performance.now() >= end;
};

export const seedsOf = ({ settings }: PlanTable, count: number): readonly number[] =>
  Array.from({ length: count }, (_, i) => 100 * settings.seed + i);

/** Recipes that ask alike, and of them those that fit alike: each is done once. */
const byKey = <Item>(
  items: readonly Item[],
  key: (item: Item) => string,
): ReadonlyMap<string, readonly Item[]> => {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const own = groups.get(key(item));
    if (own === undefined) groups.set(key(item), [item]);
    else own.push(item);
  }
  return groups;
};

interface SeedTrial {
  readonly outcomes: readonly Outcome[];
  readonly acquisition: Acquisition;
}

/** Whether it has a rule decides which of the outcomes are a recipe's own; the other one is drawn beside it. */
const ownOutcomes = ({ rule }: PlannedParts, outcomes: readonly Outcome[]): readonly Outcome[] =>
  outcomes.filter(({ aim }) => (aim !== undefined) === rule);

/** All recipes on one seed; calls `onAsked` after each way of asking, with the recipes that ask so and what they reached. */
const tryOnSeed = async (
  table: PlanTable,
  recipes: readonly PlannedParts[],
  {
    labels,
    aims,
    folds,
  }: { readonly labels: number; readonly aims: readonly number[]; readonly folds: number },
  { seed, kept }: { readonly seed: PlanSeed; readonly kept: Map<string, Acquisition> },
  onAsked: (alike: readonly PlannedParts[], found: ReadonlyMap<string, SeedTrial>) => Promise<boolean>,
  run: RunOptions,
): Promise<ReadonlyMap<string, SeedTrial> | undefined> => {
  const found = new Map<string, SeedTrial>();
  for (const [asking, alike] of byKey(recipes, ({ acquisition }) => askingId(acquisition))) {
    const [{ acquisition: how }] = alike;
    const key = `${asking} ${labels} ${seed.seed}`;
    const acquisition =
      kept.get(key) ?? (await acquireFor(table, how, labels, seed.seed, { signal: run.signal }));
    kept.set(key, acquisition);
    const set = acquiredSet(table, seed, acquisition, labels);
    for (const same of byKey(alike, finishId).values()) {
      const wanted = same.some(({ rule }) => rule) ? [undefined, ...aims] : [undefined];
      const outcomes = await judgeSet(table, seed, set, same[0], { aims: wanted, folds }, run);
      for (const parts of same) found.set(recipeId(parts), { outcomes, acquisition });
    }
    if (!(await onAsked(alike, found))) return undefined;
  }
  return found;
};

const trialOf = (
  parts: PlannedParts,
  results: readonly ReadonlyMap<string, SeedTrial>[],
  about: Pick<Trial, "round" | "labels" | "seeds">,
): Trial => {
  const id = recipeId(parts);
  const own = results.map((bySeed) => {
    const found = bySeed.get(id);
    if (found === undefined) throw new RangeError(`the recipe ${id} was not tried out`);
    return found;
  });
  const outcomes = own.map((each) => ownOutcomes(parts, each.outcomes));
  const at = (place: number) => outcomes.map((bySeed) => bySeed[place]);
  return {
    id,
    parts,
    ...about,
    aims: outcomes[0].map(({ aim }, place) => ({
      aim,
      accuracy: at(place).map(({ inner }) => inner.accuracy),
      parity: at(place).map(({ inner }) => inner.parity),
    })),
    outcomes: outcomes[0].map((_, place) => at(place)),
    withoutRule: own.map((each) => each.outcomes[0]),
    acquisitions: own.map(({ acquisition }) => acquisition),
  };
};

/** The first round's least: with one seed of every recipe there is an answer, whatever the time limit. */
const isEnough = (round: number, seeds: number): boolean => seeds >= (round === 0 ? 1 : 2);

export const runRounds = async (
  table: PlanTable,
  recipes: readonly PlannedParts[],
  run: RunOptions & TrialRunOptions,
): Promise<RoundsResult> => {
  const { level, minutes } = table.settings;
  const isOver = limitOf(minutes);
  const pace = pacer(run);
  const trials = new Map<string, Trial>();
  const kept = new Map<string, Acquisition>();
  const rounds: PlannedRound[] = [];
  const board = trialBoard();
  const askings = (of: readonly PlannedParts[]) => byKey(of, ({ acquisition }) => askingId(acquisition)).size;
  let alive = recipes;
  let finalists: readonly Settled<Trial>[] = [];
  let done = 0;
  for (const [r, { seeds: count, share, keep, folds }] of PLAN_ROUNDS.entries()) {
    const labels = share === 1 ? table.labels : Math.max(LEAST_LABELS, Math.round(share * table.labels));
    const later = PLAN_ROUNDS.slice(r + 1).map(
      ({ seeds }, i) => seeds * Math.min(askings(alive), PLAN_ROUNDS[r + i].keep + 1),
    );
    const total = done + count * askings(alive) + later.reduce((sum, each) => sum + each, 0);
    const aims = aimsFor(level, r === PLAN_ROUNDS.length - 1);
    const results: ReadonlyMap<string, SeedTrial>[] = [];
    board.begin(r + 1, labels, alive);
    for (const number of seedsOf(table, count)) {
      const seed = preparePlanSeed(table, number);
      const onAsked: Parameters<typeof tryOnSeed>[4] = async (alike, found) => {
        for (const parts of alike)
          board.add(parts, ownOutcomes(parts, found.get(recipeId(parts))?.outcomes ?? []));
        await run.onTrial?.(board.trials());
        const label = `round ${r + 1} of ${PLAN_ROUNDS.length}, seed ${results.length + 1} of ${count}: ${recipeName(alike[0]).split(" + ")[0]}`;
        await pace.step({ done: ++done, total, label });
        return !isOver() || (r === 0 && results.length === 0);
      };
      const result = await tryOnSeed(table, alive, { labels, aims, folds }, { seed, kept }, onAsked, run);
      if (result === undefined) break;
      results.push(result);
      if (isOver()) break;
    }
    const cut = results.length < count ? { round: r + 1, seeds: results.length, planned: count } : null;
    if (isEnough(r, results.length)) {
      const seeds = seedsOf(table, results.length);
      const own = alive.map((parts) => trialOf(parts, results, { round: r + 1, labels, seeds }));
      for (const trial of own) trials.set(trial.id, trial);
      finalists = screened(own, level);
      rounds.push({ recipes: alive.length, seeds: results.length, labels });
    }
    if (cut !== null)
      return { trials: [...trials.values()], finalists: keepBest(finalists, FINALISTS), rounds, cut };
    if (r < PLAN_ROUNDS.length - 1) {
      finalists = keepBest(finalists, keep);
      alive = finalists.map(({ trial }) => trial.parts);
    }
  }
  return { trials: [...trials.values()], finalists, rounds, cut: null };
};

/** As many as would be left before the last round. */
const FINALISTS = PLAN_ROUNDS[1].keep;
