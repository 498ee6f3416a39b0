/** What a leakage is measured on and with, checked. */
import { InputError } from "../../core/errors.js";
import type { RunOptions } from "../../core/options.js";
import type { RandomStream } from "../../core/random.js";
import { badLevelText } from "../../core/stats.js";
import type { FeatureMatrix } from "../../learners/classifier.js";
import type { Adversaries } from "./adversaries.js";
import { defaultFolds, LEAKAGE_DEFAULTS } from "./defaults.js";
import type { LeakageFinding } from "./findings.js";
import { leakageTexts } from "./texts.js";

export interface LeakageSettings {
  readonly folds: number;
  readonly level: number;
  readonly replicates: number;
  readonly permutations: number;
  readonly plants: number;
  readonly plantAdversaries: number;
  readonly plantRows: number;
  /** Undefined where there is no limit. */
  readonly mostRows: number | undefined;
}

export interface LeakageAuditInput {
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

export interface LeakageAuditOptions extends RunOptions {
  readonly stream: RandomStream;
  /** {@link defaultAdversaries} unless given. */
  readonly adversaries?: Adversaries | undefined;
  /** Parts that are held out in turn (5; 3 from 50,000 rows on), at least 3. */
  readonly folds?: number | undefined;
  /** Of the intervals (0.95). */
  readonly level?: number | undefined;
  /** Resamples of the records for the intervals (1000). */
  readonly replicates?: number | undefined;
  /** Shuffles of each fold for the test (999). */
  readonly permutations?: number | undefined;
  /** Tables with a planted leak, to see how small a leak would be found (8); 0 leaves `detectable` out. */
  readonly plants?: number | undefined;
  /** How many of the adversaries, the first ones, look for the planted leaks (2, for time). */
  readonly plantAdversaries?: number | undefined;
  /** The most rows that a planted table has (2000); what more rows would show follows from them. */
  readonly plantRows?: number | undefined;
  /** The most rows that a model learns from; all there are unless given. */
  readonly mostRows?: number | undefined;
  /** Whether to look at every column (yes). */
  readonly attribution?: boolean | undefined;
  /** Told what has been found so far while the audit runs; what it returns is waited for. */
  readonly onFound?: ((found: LeakageFinding) => unknown) | undefined;
}

export const leakageSettings = (options: LeakageAuditOptions, rows: number): LeakageSettings => ({
  folds: options.folds ?? defaultFolds(rows),
  level: options.level ?? LEAKAGE_DEFAULTS.level,
  replicates: options.replicates ?? LEAKAGE_DEFAULTS.replicates,
  permutations: options.permutations ?? LEAKAGE_DEFAULTS.permutations,
  plants: options.plants ?? LEAKAGE_DEFAULTS.plants,
  plantAdversaries: options.plantAdversaries ?? LEAKAGE_DEFAULTS.plantAdversaries,
  plantRows: options.plantRows ?? LEAKAGE_DEFAULTS.plantRows,
  mostRows: options.mostRows,
});

/** Everything has the length, the classes and the size that it needs. */
export const requireInput = (
  input: LeakageAuditInput,
  settings: LeakageSettings,
  adversaries: number,
): void => {
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
  const { folds, level, replicates, permutations, plants, plantAdversaries, plantRows, mostRows } = settings;
  if (!Number.isInteger(folds) || folds < 3) throw new InputError("folds", leakageTexts.folds(folds));
  if (!(level > 0 && level < 1)) throw new InputError("level", badLevelText(level));
  const counts = [
    ["replicates", replicates, 100],
    ["permutations", permutations, 99],
    ["plants", plants, 0],
    ["adversaries for planted leaks", plantAdversaries, 1],
    ["rows of a planted table", plantRows, 50],
    ["rows to learn from", mostRows ?? 50, 50],
  ] as const;
  for (const [what, given, least] of counts) {
    if (!Number.isInteger(given) || given < least) {
      throw new InputError("leakage-count", leakageTexts.count(what, given, least));
    }
  }
};

/** The input with the people of some groups as if theirs were not known. */
export const withoutGroups = (input: LeakageAuditInput, left: readonly boolean[]): LeakageAuditInput => {
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
export const joined = (input: LeakageAuditInput) => {
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
