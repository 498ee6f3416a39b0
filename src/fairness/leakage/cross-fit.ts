/**
 * What an adversary says of rows it has not seen.
 *
 * Every row of fold k is judged by a model of the other K - 1 folds, calibrated on what models of K - 2 of them said
 * of the one left out. A model without folds j and k serves twice: it calibrates k's model by what it says of j, and
 * the other way round; and what it says of k is what the adversary could tell from fewer rows, which shows how fast
 * it is still learning. With test rows there is one block: they are held out, all folds are learnt from.
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
  /** Before every fit. */
  fit(): Promise<void>;
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

/** The model of one block, to be asked again about changed rows. */
export interface BlockModel {
  readonly heldOut: Int32Array;
  readonly model: Classifier;
  readonly calibration: Calibration;
  readonly base: Float64Array;
}

/** Of all judged rows, block after block. */
export interface CrossFit {
  readonly rows: Int32Array;
  /** log p(group | x) - log p(group) with the models of the largest training sets. */
  readonly gains: Float64Array;
  /** The same, of models of fewer rows. */
  readonly gainsOfFewer: Float64Array;
  /** What the models say of each row beyond the base rates, whatever its group; not below 0. */
  readonly information: Float64Array;
  /** Rows that the larger and the smaller models learnt from, on average. */
  readonly learnt: number;
  readonly learntOfFewer: number;
  readonly blocks: readonly BlockModel[];
}

/** A model of these rows. */
export const fitAdversary = async (
  adversary: Adversary,
  stratum: Stratum,
  trainedOn: Int32Array,
  { features, mostRows, watch }: FitSettings,
  stream: RandomStream,
): Promise<Classifier> => {
  await watch.fit();
  const most = Math.min(mostRows, adversary.mostRows ?? mostRows);
  const rows = someRows(trainedOn, most, stream.split("rows"));
  const labels = Int32Array.from(rows, (row) => stratum.labels[row]);
  const training = { features, rows, labels, classes: stratum.groups.length };
  return paced(fitInSteps(adversary, training, stream.split("fit")), watch);
};

/** log m(group | x) of these rows, [rows, classes]. */
export const adversarySays = async (
  model: Classifier,
  rows: Int32Array,
  base: Float64Array,
  { features, watch }: Pick<FitSettings, "features" | "watch">,
): Promise<Float64Array> => logScores(await paced(predictInSteps(model, features, rows), watch), base);

const labelsOf = (rows: Int32Array, { labels }: Stratum): Int32Array =>
  Int32Array.from(rows, (row) => labels[row]);

/** Inner models of block k by the fold they have not seen: scores on that fold and on the rows held out. */
interface InnerScores {
  readonly fold: Int32Array;
  readonly onFold: Float64Array;
  readonly onHeldOut: Float64Array;
}

export const crossFit = async (
  adversary: Adversary,
  stratum: Stratum,
  folds: readonly Int32Array[],
  settings: FitSettings,
  stream: RandomStream,
): Promise<CrossFit> => {
  const base = shares(stratum.rows, stratum);
  const says = (model: Classifier, rows: Int32Array) => adversarySays(model, rows, base, settings);
  const without = (...left: readonly number[]) => joinRows(folds.filter((_, fold) => !left.includes(fold)));
  const fit = (name: string, rows: Int32Array) =>
    fitAdversary(adversary, stratum, rows, settings, stream.split(name));

  const blocks: { heldOut: Int32Array; trainedOn: Int32Array; inner: InnerScores[] }[] = [];
  if (stratum.test === undefined) {
    for (let k = 0; k < folds.length; k++) {
      blocks.push({ heldOut: folds[k], trainedOn: without(k), inner: [] });
    }
    for (let j = 0; j < folds.length; j++) {
      for (let k = j + 1; k < folds.length; k++) {
        const model = await fit(`without ${j} and ${k}`, without(j, k));
        const onJ = await says(model, folds[j]);
        const onK = await says(model, folds[k]);
        blocks[k].inner.push({ fold: folds[j], onFold: onJ, onHeldOut: onK });
        blocks[j].inner.push({ fold: folds[k], onFold: onK, onHeldOut: onJ });
      }
    }
  } else {
    const inner: InnerScores[] = [];
    for (let j = 0; j < folds.length; j++) {
      const model = await fit(`without ${j}`, without(j));
      inner.push({
        fold: folds[j],
        onFold: await says(model, folds[j]),
        onHeldOut: await says(model, stratum.test),
      });
    }
    blocks.push({ heldOut: stratum.test, trainedOn: stratum.rows, inner });
  }

  const gains: Float64Array[] = [];
  const gainsOfFewer: Float64Array[] = [];
  const information: Float64Array[] = [];
  const models: BlockModel[] = [];
  for (const [k, { heldOut, trainedOn, inner }] of blocks.entries()) {
    await settings.watch.pause();
    const ownBase = shares(trainedOn, stratum);
    const calibration = calibrate(
      joinScores(inner.map(({ onFold }) => onFold)),
      joinRows(inner.map(({ fold }) => labelsOf(fold, stratum))),
      ownBase,
    );
    const labels = labelsOf(heldOut, stratum);
    const overBase = (scores: Float64Array) =>
      logProbabilities(scores, labels, calibration).map((value, i) => value - calibration.logBase[labels[i]]);
    await settings.watch.pause();
    const model = await fit(`block ${k}`, trainedOn);
    const scores = await says(model, heldOut);
    await settings.watch.pause();
    gains.push(overBase(scores));
    information.push(informationOf(scores, calibration));
    const fewer = new Float64Array(heldOut.length);
    for (const { onHeldOut } of inner) {
      overBase(onHeldOut).forEach((gain, i) => {
        fewer[i] += gain / inner.length;
      });
    }
    gainsOfFewer.push(fewer);
    models.push({ heldOut, model, calibration, base });
  }
  const most = Math.min(settings.mostRows, adversary.mostRows ?? settings.mostRows);
  const usual = (parts: number) => Math.min(most, (stratum.rows.length * parts) / folds.length);
  const left = stratum.test === undefined ? 1 : 0;
  return {
    rows: joinRows(blocks.map(({ heldOut }) => heldOut)),
    gains: joinScores(gains),
    gainsOfFewer: joinScores(gainsOfFewer),
    information: joinScores(information),
    learnt: usual(folds.length - left),
    learntOfFewer: usual(folds.length - left - 1),
    blocks: models,
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
