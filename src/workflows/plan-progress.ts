/** What a plan has found so far, on inner rows alone: the outer ones are not looked at before the choice is made. */
import type { Measured } from "./plan-measures.js";
import { type PlannedParts, recipeId, recipeName } from "./plan-recipes.js";

/** A recipe with one setting of its rule: means over the seeds so far, on the rows that choices are made on. */
export interface PlanTrialPoint {
  /** What the rule aims at; null without a rule. */
  readonly aim: number | null;
  readonly accuracy: number;
  readonly parity: number;
}

/** A recipe, and what it has reached so far in the round that it is in. */
export interface PlanTrial {
  readonly id: string;
  readonly name: string;
  /** How it asks, in a word or two: recipes that ask alike have the same. */
  readonly asking: string;
  /** From 1. */
  readonly round: number;
  /** How many seeds the means are of. */
  readonly seeds: number;
  readonly labels: number;
  /** Not part of the present round. */
  readonly dropped: boolean;
  /** One for each setting of its rule. */
  readonly points: readonly PlanTrialPoint[];
}

/** What is watched while recipes are tried out. */
export interface TrialRunOptions {
  /**
   * Told after each way of asking on each seed what every recipe tried so far has reached: plain data, from the rows that
   * choices are made on. What it returns is waited for, and the plan is the same with or without it.
   */
  readonly onTrial?: ((trials: readonly PlanTrial[]) => unknown) | undefined;
}

/** Of one seed, one for each setting of the rule. */
export type SeedPoints = readonly { readonly aim: number | undefined; readonly inner: Measured }[];

export interface TrialBoard {
  /** A round begins with these recipes; all others are dropped. */
  begin(round: number, labels: number, recipes: readonly PlannedParts[]): void;
  /** What a recipe reached on one more seed of the round. */
  add(parts: PlannedParts, points: SeedPoints): void;
  /** All that were tried so far, in the order in which they first were. */
  trials(): readonly PlanTrial[];
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, each) => sum + each, 0) / values.length;

export const trialBoard = (): TrialBoard => {
  let now = { round: 0, labels: 0, ids: new Set<string>() };
  const shown = new Map<string, Omit<PlanTrial, "dropped">>();
  const bySeed = new Map<string, SeedPoints[]>();
  return {
    begin(round, labels, recipes) {
      now = { round, labels, ids: new Set(recipes.map(recipeId)) };
      bySeed.clear();
    },
    add(parts, points) {
      const id = recipeId(parts);
      const name = recipeName(parts);
      const seeds = [...(bySeed.get(id) ?? []), points];
      bySeed.set(id, seeds);
      shown.set(id, {
        id,
        name,
        asking: name.split(" + ")[0],
        round: now.round,
        seeds: seeds.length,
        labels: now.labels,
        points: points.map(({ aim }, at) => ({
          aim: aim ?? null,
          accuracy: mean(seeds.map((own) => own[at].inner.accuracy)),
          parity: mean(seeds.map((own) => own[at].inner.parity)),
        })),
      });
    },
    trials: () => [...shown.values()].map((each) => ({ ...each, dropped: !now.ids.has(each.id) })),
  };
};
