/**
 * What an adversary says of rows it has not seen.
 *
 * Every row of fold k is judged by a model of all other folds, calibrated on what the models of the other folds said of
 * theirs. The folds also come one after another: models of the folds before each are what the test of leakage judges
 * it by (permutation-test.ts), and the one of about half as many rows shows how fast the adversary is still learning.
 * With test rows there is one block: they are held out, and all folds are learnt from.
 */
import { paced } from "../../core/options.js";
import type { RandomStream } from "../../core/random.js";
import type { Classifier, FeatureMatrix, Learner } from "../../learners/classifier.js";
import { fitInSteps, predictInSteps } from "../../learners/in-steps.js";
import { type Calibration, calibrate, informationOf, logProbabilities, logScores } from "./calibration.js";
import { joinRows, someRows } from "./folds.js";
import { type Stratum, shares } from "./stratum.js";

/** Awaited in a long audit, so that it can show how far it is, let go of the thread and be stopped. */
export interface Watch {
  /** Before a model learns from so many rows. */
  fit(rows: number): Promise<void>;
  /** Between other pieces of work. */
  pause(): Promise<void>;
}

/** A learner that need not see all rows: one whose time grows with their square, say. */
export interface Adversary extends Learner {
  /** The most rows it learns from, drawn at random; all there are unless given. */
  readonly mostRows?: number | undefined;
}

export interface FitSettings {
  readonly features: FeatureMatrix;
  /** The most rows a model learns from. */
  readonly mostRows: number;
  readonly watch: Watch;
}

/** A stratum and its rows dealt into folds. */
export interface StratumFolds {
  readonly stratum: Stratum;
  readonly folds: readonly Int32Array[];
}

/** The model of one block, to be asked again about changed rows. */
export interface BlockModel {
  readonly heldOut: Int32Array;
  readonly model: Classifier;
  readonly calibration: Calibration;
  readonly base: Float64Array;
}

/** What a model of the folds before says of the next one, or of the test rows: log m [rows, classes]. */
export interface StageScores {
  readonly heldOut: Int32Array;
  /** Rows of the folds before. */
  readonly learnt: number;
  readonly scores: Float64Array;
}

/** Of all judged rows, block after block. */
export interface CrossFit {
  readonly rows: Int32Array;
  /** log p(group | x) - log p(group) with the models of the largest training sets. */
  readonly gains: Float64Array;
  /** The same, of a model of fewer rows; NaN for rows that it has learnt from. */
  readonly gainsOfFewer: Float64Array;
  /** What the models say of each row beyond the base rates, whatever its group; not below 0. */
  readonly information: Float64Array;
  /** Rows that the larger models and the smaller one learnt from. */
  readonly learnt: number;
  readonly learntOfFewer: number;
  readonly blocks: readonly BlockModel[];
  readonly stages: readonly StageScores[];
}

/** A model of these rows, which may start from one of much the same rows. */
export const fitAdversary = async (
  adversary: Adversary,
  stratum: Stratum,
  trainedOn: Int32Array,
  { features, mostRows, watch }: FitSettings,
  stream: RandomStream,
  similar?: Classifier,
): Promise<Classifier> => {
  const most = Math.min(mostRows, adversary.mostRows ?? mostRows);
  const rows = someRows(trainedOn, most, stream.split("rows"));
  const labels = Int32Array.from(rows, (row) => stratum.labels[row]);
  await watch.fit(rows.length);
  const training = { features, rows, labels, classes: stratum.groups.length, similar };
  return paced(fitInSteps(adversary, training, stream.split("fit")), watch);
};

/** log m(group | x) of these rows, [rows, classes]. */
const adversarySays = async (
  model: Classifier,
  rows: Int32Array,
  base: Float64Array,
  { features, watch }: Pick<FitSettings, "features" | "watch">,
): Promise<Float64Array> => logScores(await paced(predictInSteps(model, features, rows), watch), base);

const labelsOf = (rows: Int32Array, { labels }: Stratum): Int32Array =>
  Int32Array.from(rows, (row) => labels[row]);

/** Folds before the first that is judged are 1; with test rows all are learnt from, and the test rows judged. */
const stagesOf = (folds: number, hasTest: boolean): readonly number[] =>
  hasTest ? [folds] : Array.from({ length: folds - 1 }, (_, k) => k + 1);

interface Stage extends StageScores {
  readonly before: number;
  readonly model: Classifier;
}

/** A model of the folds before each that is judged, and what it says of that one. */
export const fitStages = async (
  adversary: Adversary,
  { stratum, folds }: StratumFolds,
  settings: FitSettings,
  stream: RandomStream,
): Promise<Stage[]> => {
  const stages: Stage[] = [];
  for (const before of stagesOf(folds.length, stratum.test !== undefined)) {
    const trainedOn = joinRows(folds.slice(0, before));
    const heldOut = stratum.test ?? folds[before];
    const model = await fitAdversary(
      adversary,
      stratum,
      trainedOn,
      settings,
      stream.split(`stage ${before}`),
      stages.at(-1)?.model,
    );
    const scores = await adversarySays(model, heldOut, shares(trainedOn, stratum), settings);
    stages.push({ before, model, heldOut, learnt: trainedOn.length, scores });
  }
  return stages;
};

/** log p(group | x) - log p(group) of the rows that were scored. */
const overBase = (scores: Float64Array, labels: Int32Array, calibration: Calibration): Float64Array =>
  logProbabilities(scores, labels, calibration).map((value, i) => value - calibration.logBase[labels[i]]);

/** Rows and what a model that has not seen them says of them. */
interface Scored {
  readonly rows: Int32Array;
  readonly scores: Float64Array;
}

const calibrateOn = (parts: readonly Scored[], stratum: Stratum, base: Float64Array): Calibration =>
  calibrate(
    joinScores(parts.map(({ scores }) => scores)),
    labelsOf(joinRows(parts.map(({ rows }) => rows)), stratum),
    base,
  );

export const crossFit = async (
  adversary: Adversary,
  dealt: StratumFolds,
  settings: FitSettings,
  stream: RandomStream,
): Promise<CrossFit> => {
  const { watch } = settings;
  const { stratum, folds } = dealt;
  const { test } = stratum;
  const base = shares(stratum.rows, stratum);
  const scored = async (model: Classifier, rows: Int32Array): Promise<Scored> => ({
    rows,
    scores: await adversarySays(model, rows, base, settings),
  });
  const without = (left: number) => joinRows(folds.filter((_, fold) => fold !== left));

  // The last stage has learnt from all folds but the last, or from all of them where there are test rows.
  const stages = await fitStages(adversary, dealt, settings, stream);
  const last = stages[stages.length - 1];
  const fit = (name: string, rows: Int32Array) =>
    fitAdversary(adversary, stratum, rows, settings, stream.split(name), last.model);
  const models: Classifier[] = [];
  for (let k = 0; k < folds.length; k++) {
    const known = test === undefined && k === folds.length - 1;
    models.push(known ? last.model : await fit(`without ${k}`, without(k)));
  }
  const outOfFold: Scored[] = [];
  for (const [k, fold] of folds.entries()) outOfFold.push(await scored(models[k], fold));

  const judged: { readonly model: Classifier; readonly calibration: Calibration; readonly of: Scored }[] = [];
  if (test === undefined) {
    for (const [k, of] of outOfFold.entries()) {
      const others = outOfFold.filter((_, fold) => fold !== k);
      const calibration = calibrateOn(others, stratum, shares(without(k), stratum));
      judged.push({ model: models[k], calibration, of });
      await watch.pause();
    }
  } else {
    const calibration = calibrateOn(outOfFold, stratum, base);
    judged.push({ model: last.model, calibration, of: await scored(last.model, test) });
  }

  const learntFolds = test === undefined ? folds.length - 1 : folds.length;
  const fewer = Math.ceil(learntFolds / 2);
  const smaller =
    stages.find(({ before }) => before === fewer)?.model ??
    (await fit(`first ${fewer}`, joinRows(folds.slice(0, fewer))));
  const unseen: Scored[] = [];
  for (const fold of folds.slice(fewer)) unseen.push(await scored(smaller, fold));
  const smallerBase = shares(joinRows(folds.slice(0, fewer)), stratum);
  const gainsOfFewer: Float64Array[] = [];
  if (test === undefined) {
    for (const fold of folds.slice(0, fewer))
      gainsOfFewer.push(new Float64Array(fold.length).fill(Number.NaN));
    for (const of of unseen) {
      const others = unseen.filter((each) => each !== of);
      const calibration = calibrateOn(others, stratum, smallerBase);
      gainsOfFewer.push(overBase(of.scores, labelsOf(of.rows, stratum), calibration));
      await watch.pause();
    }
  } else {
    const { rows, scores } = await scored(smaller, test);
    const calibration = calibrateOn(unseen, stratum, smallerBase);
    gainsOfFewer.push(overBase(scores, labelsOf(rows, stratum), calibration));
  }

  const most = Math.min(settings.mostRows, adversary.mostRows ?? settings.mostRows);
  const learnt = (parts: number) => Math.min(most, (stratum.rows.length * parts) / folds.length);
  return {
    rows: joinRows(judged.map(({ of }) => of.rows)),
    gains: joinScores(
      judged.map(({ of, calibration }) => overBase(of.scores, labelsOf(of.rows, stratum), calibration)),
    ),
    gainsOfFewer: joinScores(gainsOfFewer),
    information: joinScores(judged.map(({ of, calibration }) => informationOf(of.scores, calibration))),
    learnt: learnt(learntFolds),
    learntOfFewer: learnt(fewer),
    blocks: judged.map(({ model, calibration, of }) => ({ heldOut: of.rows, model, calibration, base })),
    stages: stages.map(({ heldOut, learnt: rows, scores }) => ({ heldOut, learnt: rows, scores })),
  };
};

export const joinScores = (parts: readonly Float64Array[]): Float64Array => {
  const joined = new Float64Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
};
