/** Who was asked, over the seeds of a simulation: shares of groups and of groups with outcomes, beside the candidates'. */

import { isFair, type StrategyName } from "../active/strategy-names.js";
import { UNIT_RANGE } from "../core/stats.js";
import { type AttributeComposition, compositionOf, compositionWarnings } from "../fairness/composition.js";
import type { Task } from "../tables/task.js";
import { type MetricSummary, type SeedResult, summaryOf } from "./simulation.js";

/** The share of a group among what was acquired, beside what it is among all candidates. */
export interface GroupShare {
  readonly group: string;
  readonly acquired: MetricSummary;
  /** The mean over seeds: each has a pool of its own. */
  readonly population: number;
}

/** The same of a group with an outcome. */
export interface CellShare extends GroupShare {
  readonly outcome: string;
}

/** Who was asked, by one sensitive attribute. */
export interface SimulatedComposition {
  readonly attribute: string;
  readonly groups: readonly GroupShare[];
  /** Every group with every outcome. */
  readonly cells: readonly CellShare[];
  /** As labels come in: [groups] of `groups` at each checkpoint. */
  readonly checkpoints: readonly { readonly labels: number; readonly groups: readonly MetricSummary[] }[];
}

export const simulatedCompositionTexts = {
  gain: "what it gains in parity may come from that alone (shares keep the groups: --shares population)",
};

const mean = (values: readonly (number | null)[]): number => {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? 0 : known.reduce((sum, value) => sum + value, 0) / known.length;
};

const knownShares = (of: readonly { readonly share: number | null }[]): MetricSummary =>
  summaryOf(
    of.map(({ share }) => share).filter((share) => share !== null),
    UNIT_RANGE,
  );

/** What of a seed says who was asked. */
export interface AskedInSeed extends Pick<SeedResult, "split" | "acquisition"> {
  readonly checkpoints: readonly { readonly labels: number }[];
}

type Asked = readonly (readonly AttributeComposition[])[];

/** By seed: who was among the first so many that were asked. */
const composed = (task: Task, results: readonly AskedInSeed[], labels?: number | undefined): Asked =>
  results.map(({ split, acquisition }) =>
    compositionOf({
      attributes: task.sensitive,
      outcome: task.target,
      acquired: acquisition.acquired.slice(0, labels).map(({ row }) => row),
      population: split.pool,
    }),
  );

/** Every sensitive attribute's, over the seeds of one method, and what a reader must be told of it. */
export const compositionOfMethod = (
  task: Task,
  method: StrategyName,
  results: readonly AskedInSeed[],
): { readonly composition: readonly SimulatedComposition[]; readonly warnings: readonly string[] } => {
  const whole = composed(task, results);
  const checkpoints = results[0].checkpoints.filter(({ labels }) => labels > 0);
  const then = checkpoints.map(({ labels }) => ({ labels, asked: composed(task, results, labels) }));
  const share = <Of extends { readonly share: number | null; readonly population: number | null }>(
    of: readonly Of[],
  ) => ({ acquired: knownShares(of), population: mean(of.map(({ population }) => population)) });
  const composition = task.sensitive.map(({ name, classes }, a): SimulatedComposition => {
    const own = whole.map((each) => each[a]);
    return {
      attribute: name,
      groups: classes.map((group, g) => ({ group, ...share(own.map(({ groups }) => groups[g])) })),
      cells: own[0].cells.map(({ outcome, group }, c) => ({
        outcome,
        group,
        ...share(own.map(({ cells }) => cells[c])),
      })),
      checkpoints: then.map(({ labels, asked }) => ({
        labels,
        groups: classes.map((_, g) => knownShares(asked.map((each) => each[a].groups[g]))),
      })),
    };
  });
  return { composition, warnings: warningsOf(method, whole) };
};

/** Of all seeds together, so that few labels of many seeds say something too. */
const warningsOf = (method: StrategyName, asked: Asked): readonly string[] => {
  const pooled = asked[0].map(({ attribute, groups }, a) => {
    const acquired = asked.reduce((sum, each) => sum + each[a].acquired, 0);
    return {
      attribute,
      acquired,
      groups: groups.map((group, g) => {
        const count = asked.reduce((sum, each) => sum + each[a].groups[g].count, 0);
        const population = mean(asked.map((each) => each[a].groups[g].population));
        return { ...group, count, share: acquired === 0 ? null : count / acquired, population };
      }),
    };
  });
  const words = { acquired: `what ${method} asked for`, of: "the candidates" };
  return compositionWarnings(pooled, words).map((text) =>
    isFair(method) ? `${text}; ${simulatedCompositionTexts.gain}` : text,
  );
};
