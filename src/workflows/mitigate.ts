/** What is done about unfairness once the data is there, on a table: learned fair representations, the reject option. */
import { InputError } from "../core/errors.js";
import type { LeftOutGroup } from "../core/left-out.js";
import { paced, pacer } from "../core/options.js";
import type { RandomStream } from "../core/random.js";
import { learnerNamed } from "../learners/by-name.js";
import type { FeatureMatrix, Learner } from "../learners/classifier.js";
import { fitInSteps, predictInSteps } from "../learners/in-steps.js";
import {
  applyRepresentation,
  type FairRepresentation,
  learnFairRepresentation,
  predictFromRepresentation,
  type RepresentationOptions,
} from "../mitigation/learned-fair-representation.js";
import {
  applyRejectOption,
  type FittedRejectOption,
  fitRejectOption,
  type RejectOptionOptions,
} from "../mitigation/reject-option.js";
import { stratify } from "../mitigation/stratify.js";
import { columnNamed, type Table } from "../tables/table.js";
import { shownFeatureNames } from "./feature-names.js";
import {
  bandWarnings,
  countFavoured,
  differenceOfShares,
  type FittedBand,
  fittedBand,
} from "./fitted-band.js";
import { MITIGATION_DEFAULTS } from "./mitigation-defaults.js";
import {
  type MitigationOptions,
  type MitigationSplit,
  requireBoth,
  splitForMitigation,
} from "./mitigation-split.js";
import { measure, type OutcomeMeasures } from "./outcome-measures.js";

export type { MitigationOptions } from "./mitigation-split.js";

/** What every mitigation says of what it was done on. */
export interface Mitigated {
  readonly target: string;
  readonly sensitive: string;
  /** The privileged group. */
  readonly privileged: string;
  /** Groups that are not compared, because they are too small. */
  readonly leftOut: readonly LeftOutGroup[];
  /** What it was fitted to, and whether that holds on the test rows. */
  readonly band: FittedBand;
  readonly notes: readonly string[];
  /** What a person must know before using it. */
  readonly warnings: readonly string[];
}

export interface RepresentTableOptions
  extends MitigationOptions,
    Omit<RepresentationOptions, "standardise"> {}

export interface RepresentedTable extends Mitigated {
  readonly rows: { readonly train: number; readonly test: number };
  /** Of the encoded columns; values that only a few rows have are not named. */
  readonly featureNames: readonly string[];
  readonly representation: FairRepresentation;
  /** [all rows, prototypes]: what a model is trained on in place of the features. */
  readonly represented: FeatureMatrix;
  /** On the test rows: a forest on the features, one on the representation, and the representation by itself. */
  readonly metrics: {
    readonly forest: OutcomeMeasures;
    readonly representationForest: OutcomeMeasures;
    readonly representation: OutcomeMeasures;
  };
}

export const aboutOf = ({ task, sensitive, privilegedGroup }: MitigationSplit) => ({
  target: task.target.name,
  sensitive: sensitive.name,
  privileged: privilegedGroup,
  leftOut: task.leftOut,
});

/** The features of a table replaced by a learned fair representation, and what that costs and gives on test rows. */
export const representTable = async (
  table: Table,
  options: RepresentTableOptions,
): Promise<RepresentedTable> => {
  const split = splitForMitigation(table, options);
  const { task, features, labels, privileged, train, test, stream } = split;
  const { prototypes, reconstruction, prediction, parity, parityForm, smoothing, bounded } = options;
  const { maxSteps, restarts, trees = MITIGATION_DEFAULTS.trees, signal, onProgress } = options;
  const own = train.map((row) => labels[row]);
  const representation = await learnFairRepresentation(
    { features, rows: train, labels: own, privileged: train.map((row) => privileged[row]) },
    stream.split("lfr"),
    {
      prototypes,
      reconstruction,
      prediction,
      parity,
      parityForm,
      smoothing,
      bounded,
      maxSteps,
      restarts,
      signal,
      onProgress,
    },
  );
  const represented = applyRepresentation(representation, features);
  const pace = pacer({ signal });
  const learner = learnerNamed("forest", { trees });
  const byForest = async (matrix: FeatureMatrix): Promise<Int32Array> => {
    const training = { features: matrix, rows: train, labels: own, classes: 2 };
    const fitted = await paced(fitInSteps(learner, training, stream.split("forest")), pace);
    const probabilities = await paced(predictInSteps(fitted, matrix, test), pace);
    return Int32Array.from(test, (_, i) => Number(probabilities[2 * i + 1] > 0.5));
  };
  const direct = Int32Array.from(predictFromRepresentation(representation, features, test), (p) =>
    Number(p > 0.5),
  );
  const of = (predicted: Int32Array) => measure(predicted, test, labels, privileged);
  const learnt = Int32Array.from(predictFromRepresentation(representation, features, train), (p) =>
    Number(p > 0.5),
  );
  const band = fittedBand({
    measure: "difference",
    of: "selection rates",
    band: [0, 0],
    fitted: betweenGroups(learnt, train, privileged)?.value ?? 0,
    test: betweenGroups(direct, test, privileged),
  });
  return {
    ...aboutOf(split),
    band,
    rows: { train: train.length, test: test.length },
    featureNames: shownFeatureNames(task.table, features),
    representation,
    represented,
    metrics: {
      forest: of(await byForest(features)),
      representationForest: of(await byForest(represented)),
      representation: of(direct),
    },
    notes: [...task.notes, ...split.notes],
    warnings: [
      ...(representation.collapse === undefined ? [] : [representation.collapse]),
      ...bandWarnings(band),
    ],
  };
};

/** The unprivileged group's share of favoured rows less that of the privileged, of rows that were decided. */
const betweenGroups = (predicted: Int32Array, rows: Int32Array, privileged: Int32Array) => {
  const [others, favoured] = [0, 1].map((group) =>
    countFavoured(predicted, (at) => privileged[rows[at]] === group),
  );
  return differenceOfShares(others, favoured);
};

/** Rows to learn from, to fit the rule on and to test on, with the labels and groups of all rows. */
export interface RejectOptionRows {
  readonly learnFrom: Int32Array;
  readonly fitOn: Int32Array;
  readonly test: Int32Array;
  readonly labels: Int32Array;
  readonly privileged: Int32Array;
}

export interface RejectedRows {
  readonly rule: FittedRejectOption;
  /** [test rows]: P(favourable), and what the rule makes of it. */
  readonly scores: Float64Array;
  readonly decided: Int32Array;
}

/** P(favourable) of rows, by a classifier of others, which is fitted in pieces. */
export function* favourableScoreSteps(
  features: FeatureMatrix,
  { learnFrom, labels }: Pick<RejectOptionRows, "learnFrom" | "labels">,
  learner: Learner,
  weights: Float64Array | undefined,
  stream: RandomStream,
): Generator<unknown, (rows: Int32Array) => Float64Array> {
  const own = { features, rows: learnFrom, labels: learnFrom.map((row) => labels[row]), classes: 2 };
  const counted = weights === undefined ? undefined : Float64Array.from(learnFrom, (row) => weights[row]);
  const classifier = yield* fitInSteps(learner, { ...own, weights: counted }, stream);
  return (rows) => {
    const probabilities = classifier.predict(features, rows);
    return Float64Array.from(rows, (_, i) => Math.min(1, probabilities[2 * i + 1]));
  };
}

/** The rule is fitted on rows that the scores were not learnt from, and decides the test rows. */
export const rejectRows = (
  scoresOf: (rows: Int32Array) => Float64Array,
  { fitOn, test, labels, privileged }: RejectOptionRows,
  options: RejectOptionOptions,
): RejectedRows => {
  const of = (all: Int32Array, rows: Int32Array) => rows.map((row) => all[row]);
  const rule = fitRejectOption(scoresOf(fitOn), of(labels, fitOn), of(privileged, fitOn), options);
  const scores = scoresOf(test);
  return { rule, scores, decided: applyRejectOption(rule, scores, of(privileged, test)) };
};

export interface RejectTableOptions extends MitigationOptions, RejectOptionOptions {
  /** A column of probabilities of the favourable outcome; those of a forest unless given. */
  readonly scores?: string | undefined;
  /** The share of the rows that are not tested on which the rule is fitted on, and the forest is not (0.3). */
  readonly validationFraction?: number | undefined;
}

export interface RejectedTable extends Mitigated {
  readonly rows: { readonly train: number; readonly validation: number; readonly test: number };
  readonly rule: FittedRejectOption;
  /** The rows tested on, and of each its score, the label by the threshold 0.5 and the one by the rule. */
  readonly test: Int32Array;
  readonly scores: Float64Array;
  readonly before: Int32Array;
  readonly after: Int32Array;
  readonly metrics: { readonly before: OutcomeMeasures; readonly after: OutcomeMeasures };
}

export const rejectTableTexts = {
  scores: (column: string) =>
    `the column "${column}" cannot be the scores because it holds text: name a column of probabilities`,
};

/** Predictions near the threshold decided by group, on a table: the rule, and what it changes on test rows. */
export const rejectTable = async (table: Table, options: RejectTableOptions): Promise<RejectedTable> => {
  const split = splitForMitigation(table, options);
  const { task, features, labels, privileged, train, test, stream } = split;
  const { scores: column, band, fallback, signal, trees = MITIGATION_DEFAULTS.trees } = options;
  const { validationFraction = MITIGATION_DEFAULTS.validationFraction } = options;
  const pace = pacer({ signal });
  // Where scores are given nothing is trained, and all rows that are not tested on choose the rule.
  const { rest, part } =
    column === undefined
      ? stratify(train, labels, privileged, validationFraction, stream.split("validation"))
      : { rest: new Int32Array(), part: train };
  requireBoth(part, labels, privileged, "to fit the rule on");
  const rows: RejectOptionRows = { learnFrom: rest, fitOn: part, test, labels, privileged };
  await pace.pause();
  const { rule, scores, decided } = rejectRows(
    column === undefined ? await forestScores() : givenScores(task.table, column),
    rows,
    { band, fallback },
  );
  const before = Int32Array.from(scores, (score) => Number(score > 0.5));
  const of = (predicted: Int32Array) => measure(predicted, test, labels, privileged);
  const held = fittedBand({
    measure: "difference",
    of: "selection rates",
    band: rule.band,
    fitted: rule.difference,
    test: betweenGroups(decided, test, privileged),
  });
  return {
    ...aboutOf(split),
    band: held,
    rows: { train: rest.length, validation: part.length, test: test.length },
    rule,
    test,
    scores,
    before,
    after: decided,
    metrics: { before: of(before), after: of(decided) },
    notes: [...(column === undefined ? task.notes : []), ...split.notes],
    warnings: [...(rule.warning === undefined ? [] : [rule.warning]), ...bandWarnings(held)],
  };

  function forestScores() {
    requireBoth(rest, labels, privileged, "to learn from");
    const learner = learnerNamed("forest", { trees });
    return paced(favourableScoreSteps(features, rows, learner, undefined, stream.split("forest")), pace);
  }
};

export const givenScores = (table: Table, name: string): ((rows: Int32Array) => Float64Array) => {
  const column = columnNamed(table, name);
  if (column.kind !== "numeric") throw new InputError("scores", rejectTableTexts.scores(name));
  return (rows) => Float64Array.from(rows, (row) => column.values[row]);
};
