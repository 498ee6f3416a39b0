/** One leakage over strata: the whole table, or the target's values. */
import { InputError } from "../../core/errors.js";
import { log } from "../../core/math.js";
import type { RandomStream } from "../../core/random.js";
import type { Interval } from "../../core/stats.js";
import {
  type Adversary,
  type CrossFit,
  crossFit,
  type FitSettings,
  joinScores,
  type StratumFolds,
} from "./cross-fit.js";
import { smallestDetectable } from "./detectable.js";
import {
  type AdversaryEstimate,
  adversaryAlone,
  type IntervalSettings,
  largestOf,
  type RecordGains,
  recordGains,
} from "./estimate.js";
import { stratifiedFolds } from "./folds.js";
import type { LeakageSettings } from "./input.js";
import { testLeakage } from "./permutation-test.js";
import type { LeakageEstimate } from "./result.js";
import { type Stratum, shares } from "./stratum.js";
import { leakageNotes, leakageTexts } from "./texts.js";

export type NamedAdversary = readonly [string, Adversary];

export interface Estimated {
  readonly leakage: LeakageEstimate;
  readonly strata: readonly StratumFolds[];
  readonly winner: readonly CrossFit[];
  readonly adversary: Adversary;
  readonly idle: number;
  /** What was said of the adversaries that cannot learn from such a table. */
  readonly leftOut: readonly string[];
}

/** Two rows in every fold, so that none is without a group. */
export const leastRows = (folds: number): number => 2 * folds;

const entropyOf = (probabilities: Float64Array): number =>
  probabilities.reduce((sum, p) => (p > 0 ? sum - p * log(p) : sum), 0);

const judgedOf = ({ test, rows }: Stratum): Int32Array => test ?? rows;

/** The strata in which something can be learnt, with their folds; the rows of the others gain nothing. */
const dealStrata = (
  all: readonly Stratum[],
  folds: number,
  stream: RandomStream,
  notes: string[],
): { readonly strata: readonly StratumFolds[]; readonly idleRows: readonly Int32Array[] } => {
  const strata: StratumFolds[] = [];
  const idleRows: Int32Array[] = [];
  for (const [s, stratum] of all.entries()) {
    if (stratum.groups.length >= 2 && judgedOf(stratum).length > 0) {
      const dealt = stratifiedFolds(
        stratum.rows,
        (row) => stratum.labels[row],
        folds,
        stream.split(`folds ${s}`),
      );
      strata.push({ stratum, folds: dealt });
    } else if (stratum.groups.length === 1) {
      notes.push(leakageNotes.oneGroup(stratum.where));
      idleRows.push(judgedOf(stratum));
    }
  }
  if (strata.length > 0) return { strata, idleRows };
  const rows = all.reduce((sum, stratum) => sum + stratum.rows.length, 0);
  throw new InputError(
    "few-rows",
    leakageTexts.fewRows("The attribute", rows, all[0]?.groups.length ?? 0, leastRows(folds)),
  );
};

/** Is told what an adversary found as soon as it is known, and all there is to know. */
export type TellAdversary = (adversary: AdversaryEstimate, entropy: number) => Promise<void>;

const endsAtMost = (most: number, [low, high]: Interval): Interval => [
  Math.min(low, most),
  Math.min(high, most),
];

/** Nothing says more about the attribute than what it is. */
const atMost = (entropy: number, each: AdversaryEstimate): AdversaryEstimate => ({
  ...each,
  nats: Math.min(each.nats, entropy),
  interval: endsAtMost(entropy, each.interval),
});

/** What every adversary that can learn from these strata says of rows it has not seen. */
const askAdversaries = async (
  strata: readonly StratumFolds[],
  idle: number,
  given: readonly NamedAdversary[],
  fitting: FitSettings,
  stream: RandomStream,
  tell: ((own: RecordGains) => Promise<void>) | undefined,
) => {
  const gains: RecordGains[] = [];
  const fitsOf: CrossFit[][] = [];
  const adversaries: NamedAdversary[] = [];
  const leftOut: string[] = [];
  let refusal: InputError | undefined;
  for (const [name, adversary] of given) {
    const fits: CrossFit[] = [];
    try {
      for (const [s, dealt] of strata.entries()) {
        fits.push(await crossFit(adversary, dealt, fitting, stream.split(`${name} ${s}`)));
      }
    } catch (error) {
      // One that has too many columns for it, say, does not keep the others from looking.
      if (!(error instanceof InputError)) throw error;
      refusal ??= error;
      leftOut.push(leakageNotes.leftOut(name, error.message));
      continue;
    }
    adversaries.push([name, adversary]);
    fitsOf.push(fits);
    const own = recordGains(name, fits, idle);
    gains.push(own);
    await tell?.(own);
  }
  if (refusal !== undefined && adversaries.length === 0) throw refusal;
  return { gains, fitsOf, adversaries, leftOut };
};

/** The largest leakage that an adversary finds, with its interval, test and smallest detectable size. */
export const leakageOver = async (
  all: readonly Stratum[],
  given: readonly NamedAdversary[],
  settings: LeakageSettings,
  fitting: FitSettings,
  stream: RandomStream,
  notes: string[],
  firstRow: number,
  tell?: TellAdversary | undefined,
): Promise<Estimated> => {
  const { folds, level, replicates, permutations, plants, plantRows, plantAdversaries } = settings;
  const { strata, idleRows } = dealStrata(all, folds, stream, notes);
  const idle = idleRows.reduce((sum, rows) => sum + rows.length, 0);
  const judged = strata.reduce((sum, { stratum }) => sum + judgedOf(stratum).length, idle);
  const entropy = strata.reduce(
    (sum, { stratum }) =>
      sum + (judgedOf(stratum).length / judged) * entropyOf(shares(stratum.rows, stratum)),
    0,
  );
  const { watch } = fitting;
  const intervals = (): IntervalSettings => ({
    level,
    replicates,
    stream: stream.split("intervals"),
    watch,
  });
  const tellGains =
    tell === undefined
      ? undefined
      : async (own: RecordGains) => tell(atMost(entropy, await adversaryAlone(own, intervals())), entropy);
  const { gains, fitsOf, adversaries, leftOut } = await askAdversaries(
    strata,
    idle,
    given,
    fitting,
    stream,
    tellGains,
  );
  const largest = await largestOf(gains, intervals());
  const best = gains.findIndex(({ name }) => name === largest.winner);
  const { pValue } = await testLeakage(
    strata.map(({ stratum }, s) => ({ stratum, adversaries: fitsOf.map((fits) => fits[s].stages) })),
    { permutations, watch },
    stream.split("test"),
  );
  const detectable =
    plants === 0
      ? undefined
      : await smallestDetectable(
          strata.map(({ stratum }) => stratum),
          adversaries.slice(0, plantAdversaries),
          { ...fitting, permutations: Math.min(permutations, 199), folds, plants, plantRows, most: entropy },
          stream.split("detectable"),
        );
  for (const name of largest.unstable) notes.push(leakageNotes.unstable(name));
  if (plants > 0 && detectable === undefined) notes.push(leakageNotes.undetectable(entropy));
  const rows = [...fitsOf[best].map((fit) => fit.rows), ...idleRows].flatMap((part) => [...part]);
  return {
    leakage: {
      nats: Math.min(largest.nats, entropy),
      interval: endsAtMost(entropy, largest.interval),
      standardError: largest.standardError,
      heldOut: largest.heldOut,
      pValue,
      detectable,
      entropy,
      winner: largest.winner,
      adversaries: largest.adversaries.map((each) => atMost(entropy, each)),
      notes,
      records: {
        rows: Int32Array.from(rows, (row) => row - firstRow),
        gains: gains[best].gains,
        heldOut: gains[best].heldOut,
        learnt: gains[best].learnt,
        information: joinScores([...fitsOf[best].map((fit) => fit.information), new Float64Array(idle)]),
        extraVariance: gains[best].extraVariance,
      },
    },
    strata,
    winner: fitsOf[best],
    adversary: adversaries[best][1],
    idle,
    leftOut,
  };
};
