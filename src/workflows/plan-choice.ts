/** Which recipe is recommended: by what is known from inner rows alone. */
import { meanEstimate } from "../core/stats.js";
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
  values.length < 2 ? 0 : meanEstimate(values).standardError;

const isBetter = (a: Settled, b: Settled): boolean => {
  if (a.reaches !== b.reaches) return a.reaches > b.reaches;
  if (a.reaches === 0 && a.parity !== b.parity) return a.parity > b.parity;
  return a.accuracy > b.accuracy;
};

/** The most accurate setting that reaches the level, with a margin where one does; else the one that comes closest. */
export const settle = <Trial extends InnerTrial>(trial: Trial, level: number): Settled<Trial> => {
  const each = trial.aims.map(({ accuracy, parity }, at): Settled<Trial> => {
    const average = mean(parity);
    const reaches = average - errorOf(parity) >= level ? 2 : average >= level ? 1 : 0;
    return { trial, at, reaches, accuracy: mean(accuracy), parity: average };
  });
  return each.reduce((best, one) => (isBetter(one, best) ? one : best));
};

/** Missing parity counts as much as missing accuracy while recipes are dropped: few seeds tell neither exactly. */
const meritOf = ({ aims }: InnerTrial, level: number): number =>
  Math.max(...aims.map(({ accuracy, parity }) => mean(accuracy) - Math.max(0, level - mean(parity))));

/** From the most promising down, while some are to be dropped; equals in their order, in which simple ones come first. */
export const screened = <Trial extends InnerTrial>(
  trials: readonly Trial[],
  level: number,
): readonly Settled<Trial>[] =>
  trials
    .map((trial) => ({ settled: settle(trial, level), merit: meritOf(trial, level) }))
    .sort((a, b) => b.merit - a.merit)
    .map(({ settled }) => settled);

/** From the best down in the end: those that reach the level by their accuracy, then the others by their parity. */
export const ranked = <Trial extends InnerTrial>(
  trials: readonly Settled<Trial>[],
): readonly Settled<Trial>[] => [...trials].sort((a, b) => (isBetter(a, b) ? -1 : isBetter(b, a) ? 1 : 0));

/** Random acquisition under the fair rule: what any other has to beat. */
export const isReference = ({ acquisition, rule }: PlannedParts): boolean =>
  acquisition.method === "random" && rule;

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
  const values = best.trial.aims[best.at].accuracy;
  const near = order.filter(({ trial, at, reaches }) => {
    if (reaches !== best.reaches) return false;
    const lost = trial.aims[at].accuracy.map((each, seed) => values[seed] - each);
    return mean(lost) <= errorOf(lost);
  });
  return [best, ...near].reduce((simplest, one) =>
    complexityOf(one.trial.parts) < complexityOf(simplest.trial.parts) ? one : simplest,
  );
};
