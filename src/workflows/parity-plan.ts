/** What a plan comes to: the answer, and all that it rests on. */
import type { LeftOutGroup } from "../core/left-out.js";
import type { FairMetric } from "../mitigation/fair-rule.js";
import type { LabelsNeeded } from "./labels-needed.js";
import type { CurvePointEstimates, CurveSetting } from "./plan-curves.js";
import type { OuterDifference, PlanEstimate } from "./plan-estimates.js";
import type { PlannedRound } from "./plan-rounds.js";
import type { PlannedSet } from "./plan-sets.js";
import type { PlanVerdict } from "./plan-verdict.js";
import type { PlannedRecipe, RecipeFrontier } from "./planned-recipe.js";
import type { Recipe } from "./recipe.js";
import type { SimulatedComposition } from "./simulated-composition.js";

/** In sentences. */
export interface PlanAnswer {
  /** What to do. */
  readonly recommendation: string;
  /** What it reaches on rows that no choice saw, and whether that is the level. */
  readonly reached: string;
  /** How many labels it needs. */
  readonly labels: string;
  /** Whether random acquisition would do. */
  readonly random: string;
  /** What was wanted, what was reached on rows that no choice saw, and whether that is at least as much. */
  readonly level: { readonly wanted: number; readonly reached: PlanEstimate; readonly met: boolean };
  /** To be said first where the level was not reached; null where it was. */
  readonly unmet: string | null;
  /** What is not met or not known, one sentence each; none where all is well. */
  readonly warnings: readonly string[];
}

export interface ParityPlan {
  readonly target: string;
  readonly sensitive: string;
  readonly groups: readonly string[];
  readonly requirement: { readonly metric: FairMetric; readonly level: number; readonly labels: number };
  /** In sentences: the first says what to do. */
  readonly answer: PlanAnswer;
  /** The recommended one; that which comes closest where none reaches the level. */
  readonly recommended: PlannedRecipe;
  /** "met": the interval of its parity is above the level; "missed": below; else "open". */
  readonly verdict: PlanVerdict;
  /** How often the same decision for everybody would be right on the outer rows: parity of 1, and nothing learnt. */
  readonly sameForAll: number;
  /** The best with random acquisition, and the recommended one less it. */
  readonly reference: PlannedRecipe;
  readonly overReference: OuterDifference;
  /** What a unit of parity costs in accuracy here, on inner rows. */
  readonly exchangeRate: number;
  /**
   * Whether the reference reaches the level, if any does, and the interval of that accuracy, at the same parity, has 0 in
   * it; null with one seed, which does not tell.
   */
  readonly randomIsAsGood: boolean | null;
  readonly labelsNeeded: LabelsNeeded;
  /** Every recipe, from the best down, by the rounds that they were part of. */
  readonly recipes: readonly PlannedRecipe[];
  readonly frontiers: readonly RecipeFrontier[];
  readonly curves: readonly {
    readonly id: string;
    readonly name: string;
    /** With the rule as it was set for the level. */
    readonly points: readonly CurvePointEstimates[];
    /** By seed, under every setting of the rule that was tried. */
    readonly settings: readonly CurveSetting[];
  }[];
  /** Whom the recommended recipe asked, over seeds. */
  readonly composition: SimulatedComposition;
  /** Whom all finalists asked, and what their labels give away. */
  readonly sets: readonly ({ readonly id: string; readonly name: string } & PlannedSet)[];
  readonly rows: {
    readonly table: number;
    readonly outer: number;
    readonly inner: number;
    readonly pool: number;
  };
  readonly rounds: readonly PlannedRound[];
  readonly seeds: readonly number[];
  /** Where the random streams start. */
  readonly seed: number;
  /** Where the time limit ended it, or null: then the answer is the same on any machine. */
  readonly cut: { readonly round: number; readonly seeds: number; readonly planned: number } | null;
  /** Groups of the sensitive attributes that were left out, because they are smaller than was asked for. */
  readonly leftOut: readonly LeftOutGroup[];
  readonly notes: readonly string[];
  /** To be kept in a file: see `readRecipe`. */
  readonly recipe: Recipe;
}

/** What was found, before it is put into words. */
export type PlanFindings = Omit<ParityPlan, "answer" | "recipe">;
