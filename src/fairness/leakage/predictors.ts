/** What predictors of the target make of this table: one that may read the attribute, one that may not. */
import type { RandomStream } from "../../core/random.js";
import { namesToShow, rareClasses } from "../../core/rare-values.js";
import type { FeatureMatrix, Learner } from "../../learners/classifier.js";
import { type Gap, groupMetrics } from "../group-metrics.js";
import { decomposeParity, type GroupDecomposition } from "../parity-decomposition.js";
import { joinRows, someRows, stratifiedFolds } from "./folds.js";

export interface ParityInput {
  readonly features: FeatureMatrix;
  /** [rows], -1 where unknown. */
  readonly sensitive: Int32Array;
  readonly groupNames: readonly string[];
  readonly target: Int32Array;
  readonly targetNames: readonly string[];
}

export interface ParityOptions {
  readonly stream: RandomStream;
  /** What learns the target. */
  readonly predictor: Learner;
  /** The target value that counts as positive; 1 unless given. */
  readonly positive?: number | undefined;
  readonly folds?: number | undefined;
  readonly level?: number | undefined;
  readonly replicates?: number | undefined;
  readonly mostRows?: number | undefined;
  readonly onFit?: (() => Promise<void> | void) | undefined;
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
  /**
   * Where they differ, demographic parity and equalised odds cannot both hold (appendix H): "differ" where the
   * interval is above 0, "unclear" where it reaches 0, "unknown" where it could not be estimated.
   */
  readonly baseRates: "differ" | "unclear" | "unknown";
  /** Empty where the target cannot be learnt; `reason` then says why. */
  readonly predictors: readonly PredictorParity[];
  readonly reason: string | undefined;
}

export const parityReasons = {
  constant: "fewer than two target values have rows enough to hold some out, so no predictor was made",
};

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
const comparable = ({ sensitive, groupNames }: ParityInput) => {
  const rare = rareClasses(sensitive, groupNames.length);
  const kept = [...groupNames.keys()].filter((group) => !rare[group]);
  if (kept.length < 2) return { sensitive, groupNames: namesToShow(groupNames, sensitive, "group") };
  const place = new Map(kept.map((group, at) => [group, at]));
  return {
    sensitive: sensitive.map((group) => place.get(group) ?? -1),
    groupNames: kept.map((group) => groupNames[group]),
  };
};

export const auditParity = async (input: ParityInput, options: ParityOptions): Promise<ParityAudit> => {
  const { features, target } = input;
  const { sensitive, groupNames } = comparable(input);
  const targetNames = namesToShow(input.targetNames, target, "value");
  const { stream, predictor, positive = 1, folds = 5, level = 0.95, replicates = 1000, onFit } = options;
  const { mostRows = 5000 } = options;
  const groups = groupNames.length;
  const classes = targetNames.length;
  const known = Int32Array.from(
    [...sensitive.keys()].filter((row) => sensitive[row] >= 0 && target[row] >= 0),
  );
  const pick = (values: Int32Array) => Int32Array.from(known, (row) => values[row]);
  const metrics = (predicted: Int32Array, name: string) =>
    groupMetrics(
      { predicted, actual: pick(target), groups: pick(sensitive), groupNames, positive },
      { stream: stream.split(name), level, replicates },
    );
  const labels = metrics(pick(target), "base rates");
  const baseRateDifference = labels.comparisons.baseRate.difference;
  const baseRates =
    baseRateDifference.interval === undefined
      ? "unknown"
      : baseRateDifference.interval[0] > 0
        ? "differ"
        : "unclear";
  const counts = new Int32Array(classes);
  for (const row of known) counts[target[row]]++;
  const common = {
    predictor: predictor.name,
    positive: targetNames[positive],
    baseRateDifference,
    baseRates,
  } as const;
  if (counts.filter((count) => count >= 2 * folds).length < 2) {
    return { ...common, predictors: [], reason: parityReasons.constant };
  }

  const wide = withGroupColumns(features, groups);
  for (const row of known) {
    wide.values[(row + 1) * wide.columns - groups + sensitive[row]] = 1;
  }
  const dealt = stratifiedFolds(
    known,
    (row) => target[row] * groups + sensitive[row],
    folds,
    stream.split("folds"),
  );
  const place = new Int32Array(features.rows);
  known.forEach((row, i) => {
    place[row] = i;
  });
  const predictors: PredictorParity[] = [];
  for (const readsAttribute of [true, false]) {
    const own = stream.split(readsAttribute ? "reads the attribute" : "does not");
    const matrix = readsAttribute ? wide : features;
    const asIf = Array.from({ length: groups }, () => new Float64Array(known.length));
    const hard = new Int32Array(known.length);
    for (const [k, heldOut] of dealt.entries()) {
      await onFit?.();
      const others = joinRows(dealt.filter((_, fold) => fold !== k));
      const rows = someRows(others, mostRows, own.split(`rows ${k}`));
      const model = predictor.fit(
        { features: matrix, rows, labels: Int32Array.from(rows, (row) => target[row]), classes },
        own.split(`fit ${k}`),
      );
      const answers = readsAttribute
        ? groupNames.map((_, group) => model.predict(asIfIn(wide, heldOut, groups, group)))
        : [model.predict(features, heldOut)];
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
    const judged = metrics(hard, readsAttribute ? "reading" : "not reading");
    predictors.push({
      readsAttribute,
      accuracy:
        hard.reduce((right, answer, i) => right + Number(answer === target[known[i]]), 0) / known.length,
      decomposition: decomposeParity(
        { asIf, groups: pick(sensitive), groupNames },
        { stream: own.split("resamples"), level, replicates },
      ),
      demographicParity: judged.demographicParity.difference,
      equalisedOdds: judged.equalisedOdds.difference,
    });
  }
  return { ...common, predictors, reason: undefined };
};
