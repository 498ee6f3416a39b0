/**
 * Is this dataset fair? What its features give away about a sensitive attribute, in nats per record, in the worst
 * case over a set of adversaries (section 3 of the paper, on a table):
 *
 *     F_u = max_m H(phi) - E[-log m(phi | x)],   F_c = the same given the target, averaged over its values
 *
 * on rows that the adversaries have not seen.
 */
import { InputError } from "../core/errors.js";
import { log } from "../core/math.js";
import type { RandomStream } from "../core/random.js";
import { countClasses, isRare, rareClasses, rareTexts } from "../core/rare-values.js";
import { badLevelText, type Interval, wilsonInterval } from "../core/stats.js";
import { boosting } from "../learners/boosting.js";
import type { FeatureMatrix } from "../learners/classifier.js";
import { forest } from "../learners/forest.js";
import { logistic } from "../learners/logistic.js";
import { mlp } from "../learners/mlp.js";
import { svm } from "../learners/svm.js";
import { type ColumnLeakage, columnLeakage, groupColumns } from "./leakage/columns.js";
import {
  type Adversary,
  type CrossFit,
  crossFit,
  type FitSettings,
  joinScores,
  type Tick,
} from "./leakage/cross-fit.js";
import { smallestDetectable } from "./leakage/detectable.js";
import { type AdversaryEstimate, largestOf, type RecordGains, recordGains } from "./leakage/estimate.js";
import { stratifiedFolds } from "./leakage/folds.js";
import { lookup } from "./leakage/lookup.js";
import { type StratumFolds, testLeakage } from "./leakage/permutation-test.js";
import { type Stratum, shares, stratumOf } from "./leakage/stratum.js";
import { leakageNotes, leakageTexts } from "./leakage/texts.js";

export { type BinnedAttribute, binByCuts, quantileBins } from "./leakage/attribute.js";
export type { ColumnLeakage } from "./leakage/columns.js";
export type { Adversary } from "./leakage/cross-fit.js";
export { type LeakageDifference, leakageDifference } from "./leakage/difference.js";
export type { AdversaryEstimate } from "./leakage/estimate.js";
export { lookup } from "./leakage/lookup.js";
export {
  auditParity,
  type ParityAudit,
  type ParityInput,
  type ParityOptions,
  type PredictorParity,
  parityReasons,
} from "./leakage/predictors.js";
export { leakageNotes, leakageTexts } from "./leakage/texts.js";

/** Learners by name. */
export type Adversaries = Readonly<Record<string, Adversary>>;

export interface LeakageInput {
  readonly features: FeatureMatrix;
  /** [columns], the column of the table that each feature column comes from; numbered unless given. */
  readonly sourceColumns?: readonly string[] | undefined;
  /** [rows], places in `groupNames`, -1 where unknown. */
  readonly sensitive: Int32Array;
  readonly groupNames: readonly string[];
  /** [rows], places in `targetNames`, -1 where unknown; without it there is no conditional leakage. */
  readonly target?: Int32Array | undefined;
  readonly targetNames?: readonly string[] | undefined;
  /** Rows to judge on that nothing learns from; without them every row is judged by models of the others. */
  readonly test?:
    | {
        readonly features: FeatureMatrix;
        readonly sensitive: Int32Array;
        readonly target?: Int32Array | undefined;
      }
    | undefined;
}

export interface LeakageOptions {
  readonly stream: RandomStream;
  /** {@link defaultAdversaries} unless given. */
  readonly adversaries?: Adversaries | undefined;
  readonly folds?: number | undefined;
  readonly level?: number | undefined;
  /** Resamples of the records for the intervals. */
  readonly replicates?: number | undefined;
  /** Shuffles of each fold for the test. */
  readonly permutations?: number | undefined;
  /** Tables with a planted leak, to see how small a leak would be found; 0 leaves `detectable` out. */
  readonly plants?: number | undefined;
  /** How many of the adversaries, the first ones, look for the planted leaks: 2, for time. */
  readonly plantAdversaries?: number | undefined;
  /** The most rows that a model learns from. */
  readonly mostRows?: number | undefined;
  /** Whether to look at every column. */
  readonly attribution?: boolean | undefined;
  /** Called before each fit with how many were made. */
  readonly onFit?: ((done: number) => Promise<void> | void) | undefined;
}

/** The leakage that the adversaries find: a lower bound of what there is. */
export interface Leakage {
  /** Per record. */
  readonly nats: number;
  readonly interval: Interval;
  readonly standardError: number;
  /** Of the test that there is none. */
  readonly pValue: number;
  /** The smallest leakage that the test would have found 4 times in 5; undefined with a note where there is none. */
  readonly detectable: number | undefined;
  /** All there is to know: H(phi), or H(phi | target). */
  readonly entropy: number;
  readonly winner: string;
  readonly adversaries: readonly AdversaryEstimate[];
  readonly notes: readonly string[];
  readonly records: LeakageRecords;
}

/** The winner's gain of every judged row, and what a comparison with another dataset needs. */
export interface LeakageRecords {
  /** Row numbers, of the test rows where there are any. */
  readonly rows: Int32Array;
  /** log p(group | x) - log p(group), carried on to endless rows: their mean is the leakage. */
  readonly gains: Float64Array;
  /** What the winner's probabilities say of the row beyond the base rates, whatever its group; not below 0. */
  readonly information: Float64Array;
  readonly extraVariance: number;
}

export interface GroupSummary {
  readonly name: string;
  readonly rows: number;
  readonly share: number;
  /** By target value, with Wilson's interval; undefined without a target or rows. */
  readonly baseRates:
    | readonly { readonly target: string; readonly rate: number; readonly interval: Interval }[]
    | undefined;
  readonly testRows: number | undefined;
}

export interface RowLeakage {
  /** The share of the leakage in the tenth of the rows that say most; undefined where none says anything. */
  readonly topTenth: number | undefined;
  /** The rows whose features say most about the attribute, by the winner's probabilities; the most first. */
  readonly largest: readonly { readonly row: number; readonly nats: number }[];
}

export interface LeakageAudit {
  readonly leakage: { readonly unconditional: Leakage; readonly conditional: Leakage | undefined };
  readonly groups: readonly GroupSummary[];
  readonly columns: readonly ColumnLeakage[];
  readonly rows: RowLeakage;
  readonly notes: readonly string[];
  readonly settings: {
    readonly folds: number;
    readonly level: number;
    readonly replicates: number;
    readonly permutations: number;
    readonly plants: number;
    readonly mostRows: number;
    readonly adversaries: readonly string[];
  };
}

const SVM_ROWS = 10_000;

/**
 * Logistic regression, a forest whose leaves hold ten rows, boosting in small steps, a small network, a support vector
 * machine, and counting. The network and the machine, which take longest, learn from 2000 rows at most; the machine is
 * also slow to judge, and stays out of tables with more than 10,000 rows.
 */
export const defaultAdversaries = (rows = 0): Adversaries => ({
  logistic: logistic({ members: 30 }),
  forest: forest({ trees: 100, minLeaf: 10 }),
  boosting: boosting({ rounds: 50, rate: 0.1, maxDepth: 3 }),
  mlp: { ...mlp({ hidden: [32], epochs: 20, l2: 0.01 }), mostRows: 2000 },
  ...(rows > SVM_ROWS ? {} : { svm: { ...svm(), mostRows: 2000 } }),
  lookup: lookup(),
});

interface Settings {
  readonly folds: number;
  readonly level: number;
  readonly replicates: number;
  readonly permutations: number;
  readonly plants: number;
  readonly plantAdversaries: number;
  readonly mostRows: number;
}

const requireInput = (input: LeakageInput, settings: Settings, adversaries: number): void => {
  const { features, sensitive, groupNames, target, targetNames, test, sourceColumns } = input;
  const labelled = (what: string, labels: Int32Array | undefined, rows: number, classes: number) => {
    if (labels === undefined) return;
    if (labels.length !== rows) {
      throw new InputError("leakage-length", leakageTexts.length(what, labels.length, rows));
    }
    const wrong = labels.findIndex((label) => label < -1 || label >= classes);
    if (wrong >= 0) {
      throw new InputError("leakage-label", leakageTexts.label(what, wrong, labels[wrong], classes));
    }
  };
  if (groupNames.length < 2) {
    throw new InputError("leakage-classes", leakageTexts.classes("The attribute", groupNames.length));
  }
  const targets = targetNames?.length ?? 0;
  if (target !== undefined && targets < 2) {
    throw new InputError("leakage-classes", leakageTexts.classes("The target", targets));
  }
  labelled("The attribute", sensitive, features.rows, groupNames.length);
  labelled("The target", target, features.rows, targets);
  if (test !== undefined) {
    if (test.features.columns !== features.columns) {
      throw new InputError("columns", leakageTexts.columns(test.features.columns, features.columns));
    }
    labelled("The attribute of the test data", test.sensitive, test.features.rows, groupNames.length);
    labelled("The target of the test data", test.target, test.features.rows, targets);
  }
  if (sourceColumns !== undefined && sourceColumns.length !== features.columns) {
    throw new InputError("columns", leakageTexts.columnNames(sourceColumns.length, features.columns));
  }
  if (adversaries < 1) throw new InputError("no-adversaries", leakageTexts.noAdversaries);
  const { folds, level, replicates, permutations, plants, plantAdversaries, mostRows } = settings;
  if (!Number.isInteger(folds) || folds < 3) throw new InputError("folds", leakageTexts.folds(folds));
  if (!(level > 0 && level < 1)) throw new InputError("level", badLevelText(level));
  const counts = [
    ["replicates", replicates, 100],
    ["permutations", permutations, 99],
    ["plants", plants, 0],
    ["adversaries for planted leaks", plantAdversaries, 1],
    ["rows to learn from", mostRows, 50],
  ] as const;
  for (const [what, given, least] of counts) {
    if (!Number.isInteger(given) || given < least) {
      throw new InputError("leakage-count", leakageTexts.count(what, given, least));
    }
  }
};

/** The input with the people of some groups as if theirs were not known. */
const withoutGroups = (input: LeakageInput, left: readonly boolean[]): LeakageInput => {
  if (!left.includes(true)) return input;
  const rest = (groups: Int32Array) => groups.map((group) => (left[group] === true ? -1 : group));
  const { sensitive, test } = input;
  return {
    ...input,
    sensitive: rest(sensitive),
    test: test === undefined ? undefined : { ...test, sensitive: rest(test.sensitive) },
  };
};

/** The table's rows and the test rows under each other. */
const joined = (input: LeakageInput) => {
  const { features, sensitive, target, test } = input;
  const own = Int32Array.from({ length: features.rows }, (_, row) => row);
  if (test === undefined) return { features, sensitive, target, own, tested: undefined };
  const rows = features.rows + test.features.rows;
  const values = new Float32Array(rows * features.columns);
  values.set(features.values);
  values.set(test.features.values, features.values.length);
  const under = (above: Int32Array, below: Int32Array) => {
    const all = new Int32Array(rows);
    all.set(above);
    all.set(below, above.length);
    return all;
  };
  return {
    features: { values, rows, columns: features.columns },
    sensitive: under(sensitive, test.sensitive),
    target:
      target === undefined
        ? undefined
        : under(target, test.target ?? new Int32Array(test.features.rows).fill(-1)),
    own,
    tested: Int32Array.from({ length: test.features.rows }, (_, row) => features.rows + row),
  };
};

const entropyOf = (probabilities: Float64Array): number =>
  probabilities.reduce((sum, p) => (p > 0 ? sum - p * log(p) : sum), 0);

interface Estimated {
  readonly leakage: Leakage;
  readonly strata: readonly StratumFolds[];
  readonly winner: readonly CrossFit[];
  readonly idle: number;
  /** What was said of the adversaries that cannot learn from such a table. */
  readonly leftOut: readonly string[];
}

/** One leakage over strata: the whole table, or the target's values. */
const estimate = async (
  all: readonly Stratum[],
  given: readonly (readonly [string, Adversary])[],
  settings: Settings,
  fitting: FitSettings,
  stream: RandomStream,
  notes: string[],
  firstRow: number,
): Promise<Estimated> => {
  const { folds, level, replicates, permutations, plants, plantAdversaries } = settings;
  const judgedOf = (stratum: Stratum) => (stratum.test ?? stratum.rows).length;
  const strata: StratumFolds[] = [];
  const idleRows: Int32Array[] = [];
  for (const [s, stratum] of all.entries()) {
    if (stratum.groups.length >= 2 && judgedOf(stratum) > 0) {
      const dealt = stratifiedFolds(
        stratum.rows,
        (row) => stratum.labels[row],
        folds,
        stream.split(`folds ${s}`),
      );
      strata.push({ stratum, folds: dealt });
    } else if (stratum.groups.length === 1) {
      notes.push(leakageNotes.oneGroup(stratum.where));
      idleRows.push(stratum.test ?? stratum.rows);
    }
  }
  const idle = idleRows.reduce((sum, rows) => sum + rows.length, 0);
  if (strata.length === 0) {
    const rows = all.reduce((sum, stratum) => sum + stratum.rows.length, 0);
    throw new InputError(
      "few-rows",
      leakageTexts.fewRows("The attribute", rows, all[0]?.groups.length ?? 0, leastRows(folds)),
    );
  }
  const judged = strata.reduce((sum, { stratum }) => sum + judgedOf(stratum), idle);
  const gains: RecordGains[] = [];
  const fitsOf: CrossFit[][] = [];
  const adversaries: (readonly [string, Adversary])[] = [];
  const leftOut: string[] = [];
  let refusal: InputError | undefined;
  for (const [name, adversary] of given) {
    const fits: CrossFit[] = [];
    try {
      for (const [s, { stratum, folds: dealt }] of strata.entries()) {
        fits.push(await crossFit(adversary, stratum, dealt, fitting, stream.split(`${name} ${s}`)));
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
    gains.push(recordGains(name, fits, idle));
  }
  if (refusal !== undefined && adversaries.length === 0) throw refusal;
  const largest = largestOf(gains, { level, replicates, stream: stream.split("intervals") });
  const best = gains.findIndex(({ name }) => name === largest.winner);
  const testing = { ...fitting, permutations };
  const { pValue } = await testLeakage(strata, adversaries, testing, stream.split("test"));
  const entropy = strata.reduce(
    (sum, { stratum }) => sum + (judgedOf(stratum) / judged) * entropyOf(shares(stratum.rows, stratum)),
    0,
  );
  const detectable =
    plants === 0
      ? undefined
      : await smallestDetectable(
          strata.map(({ stratum }) => stratum),
          adversaries.slice(0, plantAdversaries),
          { ...testing, permutations: Math.min(permutations, 199), folds, plants, most: entropy },
          stream.split("detectable"),
        );
  if (plants > 0 && detectable === undefined) notes.push(leakageNotes.undetectable(entropy));
  const rows = [...fitsOf[best].map((fit) => fit.rows), ...idleRows].flatMap((part) => [...part]);
  return {
    leakage: {
      nats: Math.min(largest.nats, entropy),
      interval: [Math.min(largest.interval[0], entropy), Math.min(largest.interval[1], entropy)],
      standardError: largest.standardError,
      pValue,
      detectable,
      entropy,
      winner: largest.winner,
      adversaries: largest.adversaries,
      notes,
      records: {
        rows: Int32Array.from(rows, (row) => row - firstRow),
        gains: gains[best].gains,
        information: joinScores([...fitsOf[best].map((fit) => fit.information), new Float64Array(idle)]),
        extraVariance: gains[best].extraVariance,
      },
    },
    strata,
    winner: fitsOf[best],
    idle,
    leftOut,
  };
};

/** Two rows in every fold, so that none is without a group. */
const leastRows = (folds: number): number => 2 * folds;

/**
 * The audit of one attribute. The same input and stream give the same numbers on any number of threads; the stream
 * does not move.
 */
export const auditLeakage = async (input: LeakageInput, options: LeakageOptions): Promise<LeakageAudit> => {
  const { stream, attribution = true, onFit } = options;
  const settings: Settings = {
    folds: options.folds ?? 5,
    level: options.level ?? 0.95,
    replicates: options.replicates ?? 1000,
    permutations: options.permutations ?? 999,
    plants: options.plants ?? 8,
    plantAdversaries: options.plantAdversaries ?? 2,
    mostRows: options.mostRows ?? 5000,
  };
  const adversaries = Object.entries(options.adversaries ?? defaultAdversaries(input.features.rows));
  requireInput(input, settings, adversaries.length);
  const rare = rareClasses(input.sensitive, input.groupNames.length);
  const { features, sensitive, target, own, tested } = joined(withoutGroups(input, rare));
  const { groupNames } = input;
  const targetNames = input.targetNames ?? [];
  const least = leastRows(settings.folds);
  let fits = 0;
  const tick: Tick = () => onFit?.(fits++);
  const fitting: FitSettings = { features, mostRows: settings.mostRows, tick };
  const notes: string[] = [];
  if (options.adversaries === undefined && input.features.rows > SVM_ROWS) {
    notes.push(leakageNotes.noSvm(input.features.rows));
  }
  const unknown = input.sensitive.filter((group) => group < 0).length;
  if (unknown > 0) notes.push(leakageNotes.unknown(unknown));
  const trained = Math.floor((own.length * (settings.folds - 1)) / settings.folds);
  if (trained > settings.mostRows) notes.push(leakageNotes.cap(trained, settings.mostRows));
  const firstRow = tested === undefined ? 0 : own.length;

  const stratum = (rows: Int32Array, test: Int32Array | undefined, where: string, into: string[]): Stratum =>
    stratumOf({ sensitive, groupNames, rows, test, where, leastRows: least }, into);
  const unconditionalNotes: string[] = [];
  const small = rare.filter(Boolean).length;
  if (small > 0) notes.push(leakageNotes.rareGroups(small));
  const fewValues = rareClasses(input.target ?? [], targetNames.length).filter(Boolean).length;
  if (fewValues > 0) notes.push(leakageNotes.rareTargets(fewValues));
  const whole = stratum(own, tested, "", unconditionalNotes);
  if (whole.groups.length < 2) {
    throw new InputError(
      "few-rows",
      leakageTexts.fewRows("The attribute", own.length, groupNames.length, least),
    );
  }
  if (tested !== undefined) {
    const present = new Set(Array.from(tested, (row) => sensitive[row]));
    for (const group of whole.groups) {
      if (!present.has(group)) notes.push(leakageNotes.absentInTest(groupNames[group]));
    }
    if ((whole.test?.length ?? 0) < 2) throw new InputError("no-test-rows", leakageTexts.noTestRows);
  }
  const unconditional = await estimate(
    [whole],
    adversaries,
    settings,
    fitting,
    stream.split("unconditional"),
    unconditionalNotes,
    firstRow,
  );

  let conditional: Estimated | undefined;
  if (target !== undefined) {
    const conditionalNotes: string[] = [];
    const strata = targetNames.flatMap((name, value) => {
      const of = (rows: Int32Array) => rows.filter((row) => target[row] === value);
      const rows = of(own);
      // Too few to be held out, and to be named in a note.
      if (isRare(rows.length)) return [];
      return [
        stratum(
          rows,
          tested === undefined ? undefined : of(tested),
          ` where the target is "${name}"`,
          conditionalNotes,
        ),
      ];
    });
    if (strata.some(({ groups }) => groups.length >= 2)) {
      conditional = await estimate(
        strata,
        adversaries,
        settings,
        fitting,
        stream.split("conditional"),
        conditionalNotes,
        firstRow,
      );
    } else notes.push(leakageNotes.noConditional);
  }

  notes.push(...new Set([...unconditional.leftOut, ...(conditional?.leftOut ?? [])]));
  const names =
    input.sourceColumns ?? Array.from({ length: features.columns }, (_, column) => `column ${column}`);
  const columns = attribution
    ? await columnLeakage(features, groupColumns(names), unconditional.strata, unconditional.winner, {
        level: settings.level,
        idle: unconditional.idle,
        stream: stream.split("columns"),
        tick,
      })
    : [];
  return {
    leakage: { unconditional: unconditional.leakage, conditional: conditional?.leakage },
    groups: summarise(input, settings.level),
    columns,
    rows: rowLeakage(unconditional.leakage),
    notes,
    settings: { ...settings, adversaries: adversaries.map(([name]) => name) },
  };
};

/** The groups by name; those so small that their figures may say who is in them as one, without base rates. */
const summarise = (
  { sensitive, groupNames, target, targetNames = [], test }: LeakageInput,
  level: number,
): GroupSummary[] => {
  const counts = countClasses(sensitive, groupNames.length);
  const known = counts.reduce((sum, count) => sum + count, 0);
  const tests = test === undefined ? undefined : countClasses(test.sensitive, groupNames.length);
  const values = target === undefined ? undefined : countClasses(target, targetNames.length);
  const places = [...counts.keys()];
  const summaries = places
    .filter((group) => !isRare(counts[group]))
    .map((group): GroupSummary => {
      const hits = new Int32Array(targetNames.length);
      target?.forEach((value, row) => {
        if (sensitive[row] === group && value >= 0 && !isRare(values?.[value] ?? 0)) hits[value]++;
      });
      const labelled = hits.reduce((sum, count) => sum + count, 0);
      return {
        name: groupNames[group],
        rows: counts[group],
        share: counts[group] / known,
        baseRates:
          values === undefined || labelled === 0
            ? undefined
            : targetNames.flatMap((label, value) =>
                isRare(values[value])
                  ? []
                  : [
                      {
                        target: label,
                        rate: hits[value] / labelled,
                        interval: wilsonInterval(hits[value], labelled, level),
                      },
                    ],
              ),
        testRows: tests?.[group],
      };
    });
  const small = places.filter((group) => counts[group] > 0 && isRare(counts[group]));
  if (small.length === 0) return summaries;
  const sumOf = (of: Int32Array) => small.reduce((sum, group) => sum + of[group], 0);
  return [
    ...summaries,
    {
      name: rareTexts.some("group", small.length),
      rows: sumOf(counts),
      share: sumOf(counts) / known,
      baseRates: undefined,
      testRows: tests === undefined ? undefined : sumOf(tests),
    },
  ];
};

const LISTED = 20;

const rowLeakage = ({ records: { rows, information } }: Leakage): RowLeakage => {
  const order = [...information.keys()].sort((a, b) => information[b] - information[a]);
  const total = information.reduce((sum, nats) => sum + nats, 0);
  const tenth = order.slice(0, Math.ceil(order.length / 10)).reduce((sum, i) => sum + information[i], 0);
  return {
    topTenth: total > 0 ? tenth / total : undefined,
    largest: order.slice(0, LISTED).map((i) => ({ row: rows[i], nats: information[i] })),
  };
};
