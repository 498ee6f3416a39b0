/** What the rounds of a plan come to: the choice, by inner rows, and then everything that outer rows say of it. */
import { pacer, type RunOptions } from "../core/options.js";
import { seededStream } from "../core/random.js";
import { labelsNeeded, labelsNeededStream } from "./labels-needed.js";
import type { PlanFindings } from "./parity-plan.js";
import { choose, exchangeRate, isReference, ranked, type Settled, settle } from "./plan-choice.js";
import { curveOf, type RecipeCurve } from "./plan-curves.js";
import { type OuterJudge, outerJudge } from "./plan-estimates.js";
import { judgedRows, measure } from "./plan-measures.js";
import { recipeName } from "./plan-recipes.js";
import type { RoundsResult, Trial } from "./plan-rounds.js";
import { plannedSet } from "./plan-sets.js";
import { type PlanTable, sizesOf } from "./plan-trials.js";
import { isAsGood, verdictOf } from "./plan-verdict.js";
import { byMerit, decisionsOf, frontierOf, type PlannedRecipe, plannedRecipe } from "./planned-recipe.js";

export const findingsOf = async (
  table: PlanTable,
  { trials, finalists, rounds, cut }: RoundsResult,
  run: RunOptions,
): Promise<PlanFindings> => {
  const { task, rows, labels } = table;
  const { metric, level, seed } = table.settings;
  const best = choose(finalists);
  const rate = exchangeRate(finalists.map(({ trial }) => trial));
  const reference = ranked(finalists).find(({ trial }) => isReference(trial.parts)) ?? best;

  // Chosen: from here on the outer rows are looked at, and nothing is chosen any more.
  const stream = seededStream(seed).split("plan");
  const outer = judgedRows(task, rows.outer, metric);
  const judge = outerJudge(outer, stream.split("outer errors"));
  const pace = pacer({ signal: run.signal });
  const ids = new Set(finalists.map(({ trial }) => trial.id));
  const describe = (settled: Settled<Trial>) => plannedRecipe(settled, metric, judge, ids);
  const recipes: PlannedRecipe[] = [];
  for (const trial of trials) {
    recipes.push(describe(settle(trial, level)));
    await pace.pause();
  }
  const recommended = describe(best);
  const others = finalists.filter((each) => each !== best);
  const curves = await curvesOf(
    table,
    best === reference ? [best, ...others.slice(0, 1)] : [best, reference],
    judge,
    run,
  );
  const sets: PlanFindings["sets"][number][] = [];
  for (const { trial } of finalists) {
    const { id, parts } = trial;
    sets.push({ id, name: recipeName(parts), ...(await plannedSet(table, trial, { signal: run.signal })) });
  }
  const overReference = judge.difference(decisionsOf(best), decisionsOf(reference), rate);
  return {
    target: task.target.name,
    sensitive: task.sensitive[0].name,
    groups: task.sensitive[0].classes,
    requirement: { metric, level, labels },
    recommended,
    verdict: verdictOf(recommended.outer.parity, level),
    sameForAll: Math.max(
      ...[0, 1].map((all) => measure(new Uint8Array(rows.outer.length).fill(all), outer).accuracy),
    ),
    reference: describe(reference),
    overReference,
    exchangeRate: rate,
    randomIsAsGood: isAsGood(best, reference, overReference, best.trial.seeds.length),
    labelsNeeded: labelsNeeded(curves[0].settings[best.at].values, level, labelsNeededStream(seed)),
    recipes: recipes.sort(byMerit),
    frontiers: finalists.map(({ trial }) => frontierOf(trial, judge)),
    curves,
    composition: (sets.find(({ id }) => id === best.trial.id) ?? sets[0]).composition,
    sets,
    rows: { table: task.table.rows, outer: rows.outer.length, ...sizesOf(table) },
    rounds,
    seeds: best.trial.seeds,
    seed,
    cut,
    leftOut: task.leftOut,
    notes: task.notes,
  };
};

/** The recommended one first, and what it is compared with. */
const curvesOf = async (
  table: PlanTable,
  shown: readonly Settled<Trial>[],
  judge: OuterJudge,
  { signal, onProgress }: RunOptions,
): Promise<readonly (RecipeCurve & { readonly id: string; readonly name: string })[]> => {
  const curves: (RecipeCurve & { readonly id: string; readonly name: string })[] = [];
  for (const [i, settled] of shown.entries()) {
    const { trial } = settled;
    const name = recipeName(trial.parts);
    const curve = await curveOf(table, settled, judge, {
      signal,
      onProgress: ({ done, total }) =>
        onProgress?.({ done: i + done / total, total: shown.length, label: `labels needed: ${name}` }),
    });
    curves.push({ id: trial.id, name, ...curve });
  }
  return curves;
};
