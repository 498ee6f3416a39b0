/** What predictors of the target make of this table: one that may read the attribute, one that may not. */
import { type Pacer, paced, pacer, type RunOptions } from "../../core/options.js";
import type { RandomStream } from "../../core/random.js";
import { countClasses, namesToShow, rareClasses } from "../../core/rare-values.js";
import type { FeatureMatrix, Learner } from "../../learners/classifier.js";
import { fitInSteps, predictInSteps } from "../../learners/in-steps.js";
import { type BaseRateTest, testBaseRates } from "../base-rates.js";
import { type Gap, groupMetricsSteps, type MetricsByGroup } from "../group-metrics.js";
import { decomposeParitySteps, type GroupDecomposition } from "../parity-decomposition.js";
import { defaultFolds } from "./defaults.js";
import { joinRows, someRows, stratifiedFolds } from "./folds.js";

export interface ParityAuditInput {
  readonly features: FeatureMatrix;
  /** [rows], -1 where unknown. */
  readonly sensitive: Int32Array;
  readonly groupNames: readonly string[];
  readonly target: Int32Array;
  readonly targetNames: readonly string[];
}

export interface ParityAuditOptions extends RunOptions {
  readonly stream: RandomStream;
  /** What learns the target. */
  readonly predictor: Learner;
  /** The target value that counts as positive; 1 unless given. */
  readonly positive?: number | undefined;
  /** Parts that are held out in turn (5; 3 from 50,000 rows on). */
  readonly folds?: number | undefined;
  /** Of the intervals (0.95). */
  readonly level?: number | undefined;
  /** Resamples for the intervals (1000). */
  readonly replicates?: number | undefined;
  /** The most rows that a predictor learns from (20,000). */
  readonly mostRows?: number | undefined;
}

export interface PredictorParity {
  readonly readsAttribute: boolean;
  /** Share of right answers where the more probable target value is taken. */
  readonly accuracy: number;
  /** Of P(positive), on rows held out. */
  readonly decomposition: readonly GroupDecomposition[];
  /** Largest difference of selection, true positive and false positive rates of hard answers. */
  readonly demographicParity: Gap;
  readonly equalisedOdds: Gap;
}

export interface ParityAudit {
  readonly predictor: string;
  readonly positive: string;
  /** Largest difference between the groups' shares of the positive target value in the table itself. */
  readonly baseRateDifference: Gap;
  /** All groups and all target values tested together; undefined where fewer than two of either have rows. */
  readonly baseRateTest: BaseRateTest | undefined;
  /**
   * Where they differ, demographic parity and equalised odds cannot both hold (appendix H): "differ" where the test
   * says so at the level of the intervals, "unclear" where it does not, "unknown" where there is nothing to test.
   */
  readonly baseRates: "differ" | "unclear" | "unknown";
  /** Empty where the target cannot be learnt; `reason` then says why. */
  readonly predictors: readonly PredictorParity[];
  readonly reason: string | undefined;
}

export const parityReasons = {
  constant: "fewer than two target values have rows enough to hold some out, so no predictor was made",
};

/** More rows than this change little about how a predictor treats the groups, and take long. */
const PREDICTOR_ROWS = 20_000;

/** The features with one more column for each group, all 0. */
const withGroupColumns = ({ values, rows, columns }: FeatureMatrix, groups: number): FeatureMatrix => {
  const wide = new Float32Array(rows * (columns + groups));
  for (let row = 0; row < rows; row++) {
    wide.set(values.subarray(row * columns, (row + 1) * columns), row * (columns + groups));
  }
  return { values: wide, rows, columns: columns + groups };
};

/** Some rows of a matrix of its own, as if they were all in one group. */
const asIfIn = (wide: FeatureMatrix, rows: Int32Array, groups: number, group: number): FeatureMatrix => {
  const { columns } = wide;
  const values = new Float32Array(rows.length * columns);
  rows.forEach((row, i) => {
    values.set(wide.values.subarray(row * columns, (row + 1) * columns), i * columns);
    values.fill(0, (i + 1) * columns - groups, (i + 1) * columns);
    values[(i + 1) * columns - groups + group] = 1;
  });
  return { values, rows: rows.length, columns };
};

/** Without the groups that are too small to be named, where two others are left; else without their names. */
const comparable = ({ sensitive, groupNames }: ParityAuditInput) => {
  const rare = rareClasses(sensitive, groupNames.length);
  const kept = [...groupNames.keys()].filter((group) => !rare[group]);
  if (kept.length < 2) return { sensitive, groupNames: namesToShow(groupNames, sensitive, "group") };
  const place = new Map(kept.map((group, at) => [group, at]));
  return {
    sensitive: sensitive.map((group) => place.get(group) ?? -1),
    groupNames: kept.map((group) => groupNames[group]),
  };
};

/** The rows whose group and target are known, and what all predictors are judged with. */
interface Comparison {
  readonly features: FeatureMatrix;
  readonly sensitive: Int32Array;
  readonly groupNames: readonly string[];
  readonly target: Int32Array;
  readonly classes: number;
  readonly positive: number;
  readonly known: Int32Array;
  /** [all rows], the place of a row among the known. */
  readonly place: Int32Array;
  readonly folds: readonly Int32Array[];
  readonly predictor: Learner;
  readonly mostRows: number;
}

/** [groups][known rows] P(positive) as if in that group, and the most probable target value [known rows]. */
interface Answers {
  readonly asIf: readonly Float64Array[];
  readonly hard: Int32Array;
}

/** Every known row by a predictor of the other folds, which may read the attribute or not. */
const answersOf = async (
  of: Comparison,
  readsAttribute: boolean,
  own: RandomStream,
  onFit: () => Promise<void>,
  pace: Pick<Pacer, "pause">,
): Promise<Answers> => {
  const { features, sensitive, groupNames, target, classes, positive, known, place, folds } = of;
  const groups = groupNames.length;
  const wide = readsAttribute ? withGroupColumns(features, groups) : features;
  if (readsAttribute)
    for (const row of known) wide.values[(row + 1) * wide.columns - groups + sensitive[row]] = 1;
  const asIf = Array.from({ length: groups }, () => new Float64Array(known.length));
  const hard = new Int32Array(known.length);
  for (const [k, heldOut] of folds.entries()) {
    await onFit();
    const others = joinRows(folds.filter((_, fold) => fold !== k));
    const rows = someRows(others, of.mostRows, own.split(`rows ${k}`));
    const training = { features: wide, rows, labels: Int32Array.from(rows, (row) => target[row]), classes };
    const model = await paced(fitInSteps(of.predictor, training, own.split(`fit ${k}`)), pace);
    const answers: Float64Array[] = [];
    for (let group = 0; group < (readsAttribute ? groups : 1); group++) {
      await pace.pause();
      const steps = readsAttribute
        ? predictInSteps(model, asIfIn(wide, heldOut, groups, group))
        : predictInSteps(model, features, heldOut);
      answers.push(await paced(steps, pace));
    }
    heldOut.forEach((row, i) => {
      for (let group = 0; group < groups; group++) {
        const answer = answers[readsAttribute ? group : 0];
        asIf[group][place[row]] = Math.min(1, Math.max(0, answer[i * classes + positive]));
      }
      const answer = answers[readsAttribute ? sensitive[row] : 0];
      let best = 0;
      for (let c = 1; c < classes; c++) {
        if (answer[i * classes + c] > answer[i * classes + best]) best = c;
      }
      hard[place[row]] = best;
    });
  }
  return { asIf, hard };
};

const baseRatesOf = (test: BaseRateTest | undefined, level: number): ParityAudit["baseRates"] => {
  if (test === undefined) return "unknown";
  return test.pValue < 1 - level ? "differ" : "unclear";
};

/**
 * What a predictor of the target makes of the groups of a table, on rows held out: one that reads the attribute and
 * one that does not, each with its gap in two parts (appendix A.1) and its largest gaps of rates; and whether the
 * groups' base rates differ, so that demographic parity and equalised odds exclude each other (appendix H).
 *
 * `features` is [rows, columns]; `sensitive` and `target` are [rows], -1 where unknown. Groups that are too small to be
 * named are left out where two others remain.
 *
 * @example
 * ```ts
 * import { auditParity, seededStream } from "fairbed/fairness";
 * import { logistic } from "fairbed/learners";
 *
 * const rows = 80;
 * const sensitive = Int32Array.from({ length: rows }, (_, row) => row % 2);
 * const values = Float32Array.from(sensitive, (group, row) => group + (row % 5)); // a copy with noise
 * const target = Int32Array.from(values, (x) => Number(x > 2));
 * const { predictors, baseRates } = await auditParity(
 *   { features: { values, rows, columns: 1 }, sensitive, groupNames: ["a", "b"], target, targetNames: ["no", "yes"] },
 *   { stream: seededStream(0), predictor: logistic({ members: 5 }), folds: 3, replicates: 200 },
 * );
 * const [, blind] = predictors;
 * console.log(blind.readsAttribute, blind.decomposition[0].reading.value); // false 0
 * console.log(baseRates); // unclear
 * ```
 */
export const auditParity = async (
  input: ParityAuditInput,
  options: ParityAuditOptions,
): Promise<ParityAudit> => {
  const { features, target } = input;
  const { sensitive, groupNames } = comparable(input);
  const targetNames = namesToShow(input.targetNames, target, "value");
  const { stream, predictor, positive = 1, level = 0.95, replicates = 1000 } = options;
  const { folds = defaultFolds(features.rows) } = options;
  const { mostRows = PREDICTOR_ROWS } = options;
  const pace = pacer(options);
  const known = Int32Array.from(
    [...sensitive.keys()].filter((row) => sensitive[row] >= 0 && target[row] >= 0),
  );
  const pick = (values: Int32Array) => Int32Array.from(known, (row) => values[row]);
  const groups = pick(sensitive);
  const metrics = (predicted: Int32Array, name: string): Promise<MetricsByGroup> =>
    paced(
      groupMetricsSteps(
        { predicted, actual: pick(target), groups, groupNames, positive },
        { stream: stream.split(name), level, replicates },
      ),
      pace,
    );
  const labels = await metrics(pick(target), "base rates");
  const baseRateDifference = labels.comparisons.baseRate.difference;
  const rareValues = rareClasses(target, targetNames.length);
  const baseRateTest = testBaseRates(
    {
      groups,
      groupNames,
      target: pick(target).map((value) => (rareValues[value] ? -1 : value)),
      targetNames,
    },
    { level },
  );
  const common = {
    predictor: predictor.name,
    positive: targetNames[positive],
    baseRateDifference,
    baseRateTest,
    baseRates: baseRatesOf(baseRateTest, level),
  } as const;
  const counts = countClasses(pick(target), targetNames.length);
  if (counts.filter((count) => count >= 2 * folds).length < 2) {
    return { ...common, predictors: [], reason: parityReasons.constant };
  }
  const place = new Int32Array(features.rows);
  known.forEach((row, i) => {
    place[row] = i;
  });
  const byTargetAndGroup = (row: number) => target[row] * groupNames.length + sensitive[row];
  const comparison: Comparison = {
    features,
    sensitive,
    groupNames,
    target,
    classes: targetNames.length,
    positive,
    known,
    place,
    folds: stratifiedFolds(known, byTargetAndGroup, folds, stream.split("folds")),
    predictor,
    mostRows,
  };
  let fits = 0;
  const onFit = () => pace.step({ done: fits++, total: parityFits(folds), label: "predicting the target" });
  const predictors: PredictorParity[] = [];
  for (const readsAttribute of [true, false]) {
    const own = stream.split(readsAttribute ? "reads the attribute" : "does not");
    const { asIf, hard } = await answersOf(comparison, readsAttribute, own, onFit, pace);
    const judged = await metrics(hard, readsAttribute ? "reading" : "not reading");
    predictors.push({
      readsAttribute,
      accuracy:
        hard.reduce((right, answer, i) => right + Number(answer === target[known[i]]), 0) / known.length,
      decomposition: await paced(
        decomposeParitySteps(
          { asIf, groups, groupNames },
          { stream: own.split("resamples"), level, replicates },
        ),
        pace,
      ),
      demographicParity: judged.demographicParity.difference,
      equalisedOdds: judged.equalisedOdds.difference,
    });
  }
  return { ...common, predictors, reason: undefined };
};

/** How many predictors {@link auditParity} fits. */
export const parityFits = (folds: number): number => 2 * folds;
