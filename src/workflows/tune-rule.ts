/**
 * The fair decision rule for a set of acquired labels: the models are fitted on all of them, and multipliers and
 * threshold are chosen on rows that the models which judge them have not seen and that nothing is tested on.
 */
import { jointLabel, type PoolLabel } from "../active/pool-models.js";
import { InputError } from "../core/errors.js";
import { type Pacer, pacer, type RunOptions } from "../core/options.js";
import type { RandomStream } from "../core/random.js";
import { joinRows, stratifiedFolds } from "../fairness/leakage/folds.js";
import type { Classifier, FeatureMatrix, Learner } from "../learners/classifier.js";
import {
  applyFairRule,
  type BlindRows,
  type FairMetric,
  type FairRuleRows,
  type FittedFairRule,
  fitFairRule,
} from "../mitigation/fair-rule.js";
import { calibratedGroups, calibrateGroups, type GroupCalibration } from "../mitigation/group-calibration.js";
import { blindRowsOf, favourable, type GroupModel } from "./group-model.js";
import { firstClass, fitWhereTwo, type LearntLabel, outOfFold } from "./out-of-fold.js";
import { reweighedRows } from "./reweighed-rows.js";
import { CORRECTION_STRENGTH, TUNE_RULE_DEFAULTS } from "./tune-rule-defaults.js";

/**
 * By what the rates are counted that choose a rule: "soft", the predicted and calibrated groups of unlabelled rows, or
 * of labelled ones where there are none; "true", the groups of representative labelled rows; "both", the first corrected
 * by the second. Labelled rows are predicted by models that have not seen them.
 */
export type RuleCounting = "soft" | "true" | "both";

/** Labelled rows that were drawn at random. */
export interface RepresentativeRows {
  readonly rows: Int32Array;
  /** One over the probability of being drawn, [rows]; the same for all unless given. */
  readonly weights?: Float64Array | undefined;
}

export interface TuneRuleOptions extends RunOptions {
  readonly features: FeatureMatrix;
  /** Two classes, of which the second is the favourable one. */
  readonly target: PoolLabel;
  readonly sensitive: PoolLabel;
  /** Rows to learn from. */
  readonly labelled: Int32Array;
  /**
   * Those among them by which may be calibrated and counted, where a step before, such as a learned representation, has
   * seen the others; all unless given.
   */
  readonly judged?: Int32Array | undefined;
  /** Those among them that were drawn at random. */
  readonly representative?: RepresentativeRows | undefined;
  /** Other rows of the population, of which nothing but the features is read. None unless given. */
  readonly unlabelled?: Int32Array | undefined;
  /** The groups of the unlabelled rows are known and may be read (false): for "dp", rates are then counted by them. */
  readonly attributesKnown?: boolean | undefined;
  /** How much each row counts, [all rows], in fits and rates; 1 unless given. */
  readonly weights?: Float64Array | undefined;
  /** Learns the target from rows that are reweighed, so that outcome and group are independent (false). */
  readonly reweighed?: boolean | undefined;
  readonly learner: Learner;
  readonly sensitiveLearner: Learner;
  /** What is to be equal ("dp"). */
  readonly metric?: FairMetric | undefined;
  /** The least ratio of the lowest to the highest rate of a group (0.8). */
  readonly level?: number | undefined;
  /** The share of rows to select; that of the most accurate rule unless given. */
  readonly selectionRate?: number | undefined;
  readonly by?: RuleCounting | undefined;
  /** Parts of the labelled rows, each predicted by models of the others (10). */
  readonly folds?: number | undefined;
  /** Resamples behind the interval; the delta method unless given. */
  readonly replicates?: number | undefined;
  readonly stream: RandomStream;
}

/** Which rows decided. */
export interface ChosenOn {
  /** What the rates were counted by in the end; "attributes" are known groups of unlabelled rows. */
  readonly by: RuleCounting | "attributes";
  /** Unlabelled rows, by the models of all labels. */
  readonly unlabelled: Int32Array;
  /** Labelled rows, each by models that have not seen it. */
  readonly labelled: Int32Array;
  /** Whether those were drawn at random. */
  readonly representative: boolean;
}

export interface TunedRule {
  readonly classifier: Classifier;
  /** P(group | x), or P(group | x, favourable) for "eopp", with its calibration. */
  readonly groupModel: GroupModel;
  /** With its level, the ratio on the rows it was chosen on, and the interval of that. */
  readonly rule: FittedFairRule;
  /** The rule for another level, chosen on the same rows by the same models. */
  readonly ruleFor: (level: number) => Promise<FittedFairRule>;
  readonly chosenOn: ChosenOn;
  readonly warnings: readonly string[];
  /** What the rule reads of any rows of the features; of others it is {@link blindRowsOf}. */
  readonly blindRows: (rows: Int32Array) => BlindRows;
  /** 1 (favourable) or 0 of each. */
  readonly decide: (rows: Int32Array) => Int32Array;
}

export const tuneRuleTexts = {
  classes: (given: number) =>
    `the target has ${given} classes, and a fair rule decides between two: make one of them the positive class, as in hired=yes`,
  folds: (given: unknown) => `folds was ${String(given)}: give a whole number of at least 2`,
  by: (given: unknown) => `the rule was to be chosen by ${String(given)}: give "soft", "true" or "both"`,
  notRandom:
    "no labelled rows are said to be drawn at random, so the rule was chosen on all of them: if they were selected, the level will be missed; draw a part of the labels at random and say which, or give unlabelled rows",
  notCorrected:
    "no labelled rows are said to be drawn at random, so predicted groups were not corrected by known ones: draw a part of the labels at random and say which",
  fewKnown:
    "the representative rows have too few outcomes or groups to count by, so predicted groups were counted by alone: draw more labels at random",
  oneGroup:
    "the labelled rows have one known group at most, so the rule is the plain one: acquire labels of other groups",
};

interface Plan {
  readonly options: TuneRuleOptions;
  readonly metric: FairMetric;
  readonly by: RuleCounting;
  readonly unlabelled: Int32Array;
  readonly representative: RepresentativeRows;
  readonly byAttributes: boolean;
  readonly pace: Pacer;
}

const planOf = (options: TuneRuleOptions): Plan => {
  const { target, metric = TUNE_RULE_DEFAULTS.metric, by = TUNE_RULE_DEFAULTS.by } = options;
  const { unlabelled = new Int32Array(0), folds = TUNE_RULE_DEFAULTS.folds } = options;
  const { attributesKnown = false, sensitive } = options;
  if (target.classes !== 2) throw new InputError("classes", tuneRuleTexts.classes(target.classes));
  if (!Number.isInteger(folds) || folds < 2) throw new InputError("folds", tuneRuleTexts.folds(folds));
  if (by !== "soft" && by !== "true" && by !== "both") throw new InputError("by", tuneRuleTexts.by(by));
  const byAttributes =
    attributesKnown && metric === "dp" && unlabelled.some((row) => sensitive.labels[row] >= 0);
  return {
    options,
    metric,
    by,
    unlabelled,
    representative: knownOf(options),
    byAttributes,
    pace: pacer(options),
  };
};

/** The representative rows whose outcome and group are known. */
const knownOf = ({ representative, judged, target, sensitive }: TuneRuleOptions): RepresentativeRows => {
  if (representative === undefined) return { rows: new Int32Array(0) };
  const { rows, weights } = representative;
  const may = judged === undefined ? undefined : new Set(judged);
  const keeps = (row: number) =>
    target.labels[row] >= 0 && sensitive.labels[row] >= 0 && (may?.has(row) ?? true);
  return {
    rows: rows.filter(keeps),
    weights: weights?.filter((_, i) => keeps(rows[i])),
  };
};

/** What the target is learnt from: of some rows those with a label, reweighed by what they have. */
const targetOf = ({ options }: Plan, rows: Int32Array): LearntLabel => {
  const { features, target, sensitive, learner, weights, reweighed = false } = options;
  const own = { features, ...target, rows, weights, learner };
  return reweighed
    ? { ...own, weights: reweighedRows({ rows, labels: target.labels, groups: sensitive.labels, weights }) }
    : own;
};

/** What the group is learnt from: those with a known group, for "eopp" among those with the favourable outcome. */
const groupOf = ({ options, metric }: Plan, rows: Int32Array): LearntLabel => {
  const { features, target, sensitive, sensitiveLearner: learner, weights } = options;
  const own = metric === "dp" ? rows : rows.filter((row) => target.labels[row] === 1);
  return { features, ...sensitive, rows: own, weights, learner };
};

/** Scores and uncalibrated group probabilities. */
const blind = (target: Float64Array, groupProbabilities: Float64Array): BlindRows => ({
  scores: favourable(target),
  groupProbabilities,
});

const calibrated = (calibration: GroupCalibration, rows: BlindRows): BlindRows => ({
  scores: rows.scores,
  groupProbabilities: calibratedGroups(calibration, rows),
});

/** Some of the rows of `all`, which are in the order of `rows`. */
const pick = (all: BlindRows, rows: Int32Array, wanted: Int32Array): BlindRows => {
  const place = new Map(Array.from(rows, (row, at) => [row, at]));
  const groups = all.groupProbabilities.length / rows.length;
  const places = Int32Array.from(wanted, (row) => place.get(row) ?? 0);
  const groupProbabilities = new Float64Array(places.length * groups);
  places.forEach((at, i) => {
    for (let g = 0; g < groups; g++)
      groupProbabilities[i * groups + g] = all.groupProbabilities[at * groups + g];
  });
  return { scores: Float64Array.from(places, (at) => all.scores[at]), groupProbabilities };
};

/** Rows, and what models that have not seen them say of them. */
interface CrossFitted {
  readonly rows: Int32Array;
  readonly said: BlindRows;
}

/** Labelled rows in a random order of folds, and what models of the other folds say of them. */
const crossFitted = async (plan: Plan): Promise<CrossFitted> => {
  const { target, sensitive, labelled, judged, stream, folds = TUNE_RULE_DEFAULTS.folds } = plan.options;
  const known = labelled.filter((row) => target.labels[row] >= 0);
  const joint = jointLabel(target, sensitive);
  const dealt = stratifiedFolds(
    known,
    (row) => joint.labels[row],
    Math.min(folds, known.length),
    stream.split("folds"),
  );
  const scores = await outOfFold(
    dealt,
    (rows) => targetOf(plan, rows),
    stream.split("target out of fold"),
    plan.pace,
  );
  const groups = await outOfFold(
    dealt,
    (rows) => groupOf(plan, rows),
    stream.split("group out of fold"),
    plan.pace,
  );
  const [rows, said] = [joinRows(dealt), blind(scores, groups)];
  if (judged === undefined) return { rows, said };
  const may = new Set(judged);
  const own = rows.filter((row) => may.has(row));
  return { rows: own, said: pick(said, rows, own) };
};

/** a, k and d by all labelled rows, and k again by the representative ones. */
const calibrationOf = (plan: Plan, { rows, said }: CrossFitted): GroupCalibration => {
  const { target, sensitive, weights } = plan.options;
  const counts = (row: number) =>
    sensitive.labels[row] >= 0 && (plan.metric === "dp" || target.labels[row] === 1);
  const of = (own: Int32Array, weigh: (i: number) => number) => ({
    ...pick(said, rows, own),
    groups: own.map((row) => sensitive.labels[row]),
    weights: Float64Array.from(own, (row, i) => weigh(i) * (weights?.[row] ?? 1)),
  });
  const all = rows.filter(counts);
  const uncalibrated = { strength: 1, shifts: groupZeros(plan), slopes: groupZeros(plan) };
  if (all.length === 0) return uncalibrated;
  const first = calibrateGroups(of(all, () => 1));
  const { rows: random, weights: inverse } = plan.representative;
  const places = Int32Array.from(random.keys()).filter((i) => counts(random[i]));
  if (places.length === 0) return first;
  const drawn = places.map((i) => random[i]);
  return calibrateGroups(
    of(drawn, (i) => inverse?.[places[i]] ?? 1),
    { from: first },
  );
};

const groupZeros = ({ options }: Plan): readonly number[] =>
  Array.from({ length: options.sensitive.classes }, () => 0);

/** Labelled rows with what is known of them, by models that have not seen them. */
const knownRows = (
  { options }: Plan,
  { rows: own, weights: inverse }: RepresentativeRows,
  { rows, said }: CrossFitted,
  calibration: GroupCalibration,
): FairRuleRows => {
  const { target, sensitive, weights } = options;
  return {
    ...calibrated(calibration, pick(said, rows, own)),
    groups: own.map((row) => sensitive.labels[row]),
    labels: own.map((row) => target.labels[row]),
    weights: Float64Array.from(own, (row, i) => (inverse?.[i] ?? 1) * (weights?.[row] ?? 1)),
  };
};

/** Whether rates can be counted on them: several groups, and both outcomes, where they are told apart. */
const canCount = ({ labels, groups }: FairRuleRows, metric: FairMetric): boolean => {
  const y = Array.from(labels ?? []);
  const g = Array.from(groups ?? []);
  const counted = metric === "dp" ? g : g.filter((_, i) => y[i] === 1);
  return new Set(counted).size > 1 && new Set(y).size > 1;
};

/**
 * Models of target and group from the labelled rows, and the fair rule chosen honestly: see {@link RuleCounting}. Labels
 * and groups of unlabelled rows are not read, except the groups where `attributesKnown` says that they may be.
 */
export const tuneRule = async (options: TuneRuleOptions): Promise<TunedRule> => {
  const { labelled, features, sensitive, weights, stream } = options;
  const warnings: string[] = [];
  const plan = planOf(options);
  const { metric, unlabelled, representative, byAttributes, pace } = plan;
  const learnt = targetOf(plan, labelled);
  // Its own error says what is missing.
  const classifier =
    (await fitWhereTwo(learnt, stream.split("target"), pace)) ?? learnt.learner.fit(emptyOf(learnt), stream);
  await pace.pause();
  const learntGroup = groupOf(plan, labelled);
  const sensitiveClassifier = await fitWhereTwo(learntGroup, stream.split("group"), pace);
  if (sensitiveClassifier === undefined) warnings.push(tuneRuleTexts.oneGroup);
  await pace.pause();
  const crossed = await crossFitted(plan);
  const calibration = calibrationOf(plan, crossed);
  const groupModel: GroupModel = {
    classifier: sensitiveClassifier,
    only: firstClass(learntGroup),
    groups: sensitive.classes,
    calibration,
  };
  const blindRows = (rows: Int32Array): BlindRows => blindRowsOf(classifier, groupModel, features, rows);

  const { rows: given, chosenOn } = rowsToChooseOn();
  const ruleFor = (level: number): Promise<FittedFairRule> =>
    fitFairRule(given, {
      metric,
      level,
      selectionRate: options.selectionRate,
      replicates: options.replicates ?? 0,
      stream: stream.split("interval"),
      signal: options.signal,
      onProgress: options.onProgress,
    });
  const rule = await ruleFor(options.level ?? TUNE_RULE_DEFAULTS.level);
  return {
    classifier,
    groupModel,
    rule,
    ruleFor,
    chosenOn,
    warnings: [...warnings, ...rule.warnings],
    blindRows,
    decide: (rows) => applyFairRule(rule, blindRows(rows)),
  };

  function rowsToChooseOn(): { readonly rows: FairRuleRows; readonly chosenOn: ChosenOn } {
    const none = new Int32Array(0);
    const random = representative.rows.length > 0;
    const weightsOf = (rows: Int32Array) =>
      weights === undefined ? undefined : Float64Array.from(rows, (row) => weights[row]);
    if (byAttributes) {
      const known = unlabelled.filter((row) => sensitive.labels[row] >= 0);
      return {
        rows: {
          ...blindRows(known),
          groups: known.map((row) => sensitive.labels[row]),
          weights: weightsOf(known),
        },
        chosenOn: { by: "attributes", unlabelled: known, labelled: none, representative: random },
      };
    }
    const drawn = random ? knownRows(plan, representative, crossed, calibration) : undefined;
    const isEnough = drawn !== undefined && canCount(drawn, metric);
    const soft = softRows();
    if (plan.by === "soft") return soft;
    if (drawn !== undefined && isEnough)
      return plan.by === "true"
        ? {
            rows: drawn,
            chosenOn: { by: "true", unlabelled: none, labelled: representative.rows, representative: true },
          }
        : {
            rows: { ...soft.rows, correction: drawn, correctionStrength: CORRECTION_STRENGTH },
            chosenOn: { ...soft.chosenOn, by: "both", labelled: representative.rows },
          };
    if (random) warnings.push(tuneRuleTexts.fewKnown);
    else if (plan.by === "both") warnings.push(tuneRuleTexts.notCorrected);
    if (random || plan.by === "both") return soft;
    warnings.push(tuneRuleTexts.notRandom);
    const own = crossed.rows
      .slice()
      .sort()
      .filter((row) => sensitive.labels[row] >= 0);
    const known = knownRows(plan, { rows: own }, crossed, calibration);
    // Without several known groups there is nothing to compare, and the rule is the plain one.
    if (!canCount(known, metric)) return soft;
    return {
      rows: known,
      chosenOn: { by: "true", unlabelled: none, labelled: own, representative: false },
    };

    /** By predicted groups: of the unlabelled rows, or where there are none of labelled ones whose outcome is known. */
    function softRows(): { readonly rows: FairRuleRows; readonly chosenOn: ChosenOn } {
      if (unlabelled.length > 0) {
        const rows = { ...blindRows(unlabelled), weights: weightsOf(unlabelled) };
        return { rows, chosenOn: { by: "soft", unlabelled, labelled: none, representative: random } };
      }
      const own = drawn !== undefined && isEnough ? representative : { rows: crossed.rows.slice().sort() };
      if (!random) warnings.push(tuneRuleTexts.notRandom);
      const { groups: _, ...counted } = knownRows(plan, own, crossed, calibration);
      return {
        rows: counted,
        chosenOn: { by: "soft", unlabelled: none, labelled: own.rows, representative: isEnough },
      };
    }
  }
};

const emptyOf = ({ features, rows, labels, classes }: LearntLabel) => {
  const known = rows.filter((row) => labels[row] >= 0);
  return { features, rows: known, labels: known.map((row) => labels[row]), classes };
};
