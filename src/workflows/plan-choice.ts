/** Which recipe is recommended: by what is known from inner rows alone. */
import { momentsOf, standardError } from "../core/stats.js";
import { complexityOf, type PlannedParts } from "./plan-recipes.js";

/** A recipe with one setting of its rule, on the inner rows of each seed. */
export interface InnerValues {
  /** What the rule aims at; undefined without a rule. */
  readonly aim: number | undefined;
  /** [seeds] */
  readonly accuracy: readonly number[];
  readonly parity: readonly number[];
}

export interface InnerTrial {
  readonly parts: PlannedParts;
  /** One for each setting of its rule. */
  readonly aims: readonly InnerValues[];
}

/** A recipe with the setting of its rule that was taken. */
export interface Settled<Trial extends InnerTrial = InnerTrial> {
  readonly trial: Trial;
  /** The place of the setting among the trial's. */
  readonly at: number;
  /** 2: at least the level by more than a standard error; 1: on average; 0: not. */
  readonly reaches: 0 | 1 | 2;
  readonly accuracy: number;
  readonly parity: number;
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, each) => sum + each, 0) / values.length;
const errorOf = (values: readonly number[]): number =>
  values.length < 2 ? 0 : standardError(momentsOf(values));

const isBetter = (a: Settled, b: Settled, rate: number): boolean => {
  if (a.reaches !== b.reaches) return a.reaches > b.reaches;
  if (a.reaches === 0 && a.parity !== b.parity) return a.parity > b.parity;
  return a.accuracy + rate * a.parity > b.accuracy + rate * b.parity;
};

/** The most accurate setting that reaches the level, with a margin where one does; else the one that comes closest. */
export const settle = <Trial extends InnerTrial>(trial: Trial, level: number): Settled<Trial> => {
  const each = trial.aims.map(({ accuracy, parity }, at): Settled<Trial> => {
    const average = mean(parity);
    const reaches = average - errorOf(parity) >= level ? 2 : average >= level ? 1 : 0;
    return { trial, at, reaches, accuracy: mean(accuracy), parity: average };
  });
  return each.reduce((best, one) => (isBetter(one, best, 0) ? one : best));
};

/**
 * What a unit of parity costs in accuracy, by the steps from each setting of a rule to the next, least squares over all
 * recipes; from 0 to 1. Recipes that are set alike do not come to the same parity, and are compared at the same one by it.
 */
export const exchangeRate = (trials: readonly InnerTrial[]): number => {
  let product = 0;
  let square = 0;
  for (const { aims } of trials)
    for (let at = 1; at < aims.length; at++) {
      const gained = mean(aims[at].parity) - mean(aims[at - 1].parity);
      const lost = mean(aims[at - 1].accuracy) - mean(aims[at].accuracy);
      product += gained * lost;
      square += gained * gained;
    }
  return square === 0 ? 0 : Math.min(1, Math.max(0, product / square));
};

/** Accuracy at the level: parity beyond it counts at the exchange rate, and missing parity, which cannot be had, fully. */
const meritOf = ({ aims }: InnerTrial, level: number, rate: number): number =>
  Math.max(
    ...aims.map(({ accuracy, parity }) => {
      const beyond = mean(parity) - level;
      return mean(accuracy) + (beyond > 0 ? rate : 1) * beyond;
    }),
  );

/** From the most promising down, while some are to be dropped; equals in their order, in which simple ones come first. */
export const screened = <Trial extends InnerTrial>(
  trials: readonly Trial[],
  level: number,
): readonly Settled<Trial>[] => {
  const rate = exchangeRate(trials);
  return trials
    .map((trial) => ({ settled: settle(trial, level), merit: meritOf(trial, level, rate) }))
    .sort((a, b) => b.merit - a.merit)
    .map(({ settled }) => settled);
};

/** From the best down in the end: those that reach the level by their accuracy at it, then the others by their parity. */
export const ranked = <Trial extends InnerTrial>(
  finalists: readonly Settled<Trial>[],
): readonly Settled<Trial>[] => {
  const rate = exchangeRate(finalists.map(({ trial }) => trial));
  return [...finalists].sort((a, b) => (isBetter(a, b, rate) ? -1 : isBetter(b, a, rate) ? 1 : 0));
};

/** Random acquisition, whatever is made of its labels: what any other has to beat. */
export const isReference = ({ acquisition }: PlannedParts): boolean => acquisition.method === "random";

/** The best, and always the best reference. */
export const keepBest = <Trial extends InnerTrial>(
  order: readonly Settled<Trial>[],
  count: number,
): readonly Settled<Trial>[] => {
  const best = order.slice(0, count);
  const reference = order.find(({ trial }) => isReference(trial.parts));
  return reference === undefined || best.includes(reference) ? best : [...best, reference];
};

/** Of those within a standard error of the best (of the paired difference over seeds), the simplest. */
export const choose = <Trial extends InnerTrial>(finalists: readonly Settled<Trial>[]): Settled<Trial> => {
  const order = ranked(finalists);
  const [best] = order;
  if (best.reaches === 0) return best;
  const rate = exchangeRate(finalists.map(({ trial }) => trial));
  const atLevel = ({ trial, at }: Settled): readonly number[] =>
    trial.aims[at].accuracy.map((each, seed) => each + rate * trial.aims[at].parity[seed]);
  const values = atLevel(best);
  const near = order.filter((one) => {
    const lost = atLevel(one).map((each, seed) => values[seed] - each);
    return one.reaches === best.reaches && mean(lost) <= errorOf(lost);
  });
  return [best, ...near].reduce((simplest, one) =>
    complexityOf(one.trial.parts) < complexityOf(simplest.trial.parts) ? one : simplest,
  );
};
