/**
 * A multilayer perceptron with the defaults of scikit-learn's MLPClassifier: one hidden layer of 100 ReLU units, Adam,
 * mini-batches of 200.
 *
 * Unlike there, features are standardised inside unless told otherwise (a StandardScaler before it), since steps of
 * one size suit no table of ages and incomes. Two classes have one output, the log odds of the second; more a
 * softmax. Classes that do not occur in training have probability 0.
 */
import { InputError } from "../core/errors.js";
import type { RandomStream } from "../core/random.js";
import type { Classifier, DenseMembers, FeatureMatrix, Learner, TrainingSet } from "./classifier.js";
import { steppedLearner } from "./in-steps.js";
import { type Layer, outputCount, probabilitiesOf, runNetwork } from "./mlp/network.js";
import { trainSteps } from "./mlp/train.js";
import { oneMember, presentClasses, requirePrediction } from "./one-member.js";
import { isNumbers, isPresent, isWhole, type Saved } from "./saved-numbers.js";
import {
  noStandardisation,
  rowsOrAll,
  type Standardisation,
  standardisationSteps,
  standardise,
  standardiseSteps,
} from "./standardise.js";
import { type ClassWeights, checkTraining, weighClasses } from "./training.js";

export interface MlpOptions {
  /** Units of each hidden layer ([100]). */
  readonly hidden?: readonly number[] | undefined;
  /** Adam's step size (0.001). */
  readonly rate?: number | undefined;
  /** The penalty on the squares of the weights (1e-4): scikit-learn's alpha. */
  readonly l2?: number | undefined;
  /** Rows of a mini-batch (200, or all where there are fewer). */
  readonly batch?: number | undefined;
  /** The most passes over the rows (200). */
  readonly epochs?: number | undefined;
  /** An epoch improves where its loss is this much below the best (1e-4) ... */
  readonly tolerance?: number | undefined;
  /** ... and after more epochs in a row than this without (10) training ends. */
  readonly patience?: number | undefined;
  /**
   * The share of the rows that is kept aside (0): training then ends by their loss, and the answer is the network of the
   * epoch where it was least, as with scikit-learn's early_stopping.
   */
  readonly validation?: number | undefined;
  /** The largest norm of a mini-batch's gradient, to which a longer one is cut (none). */
  readonly clip?: number | undefined;
  /** Whether features are brought to mean 0 and variance 1 (yes). */
  readonly standardise?: boolean | undefined;
  readonly classWeights?: ClassWeights | undefined;
  /** How many threads large networks use, the caller included; all cores unless given. Results do not depend on it. */
  readonly threads?: number | undefined;
}

export const mlpTexts = {
  saved: "this is no saved network: give what saveMlp returned",
  option: (name: string, given: unknown, expected: string) =>
    `the network's ${name} was ${String(given)}: give ${expected}`,
  diverged: (epoch: number) =>
    `the network's loss was no longer a number in epoch ${epoch}: give a smaller rate, or let it standardise the features`,
};

/** A fitted network, one member. */
export class FittedMlp implements Classifier {
  readonly members = 1;
  readonly classes: number;
  /** The classes that occurred in training; the others have probability 0. */
  readonly present: readonly number[];
  /** The loss of every epoch. */
  readonly losses: readonly number[];
  /** What is done to features first. */
  readonly standardisation: Standardisation;
  readonly layers: readonly Layer[];

  constructor(
    classes: number,
    present: readonly number[],
    standardisation: Standardisation,
    {
      layers,
      losses,
    }: {
      readonly layers: readonly { readonly weights: ArrayLike<number>; readonly biases: ArrayLike<number> }[];
      readonly losses: readonly number[];
    },
  ) {
    this.classes = classes;
    this.present = present;
    this.losses = losses;
    this.standardisation = standardisation;
    this.layers = layers.map(({ weights, biases }) => ({
      weights: Float64Array.from(weights),
      biases: Float64Array.from(biases),
    }));
  }

  predict(features: FeatureMatrix, rows?: Int32Array): Float64Array {
    const { columns } = features;
    const total = requirePrediction(features, this.standardisation.means.length, rows);
    const { classes, present } = this;
    const out = new Float64Array(total * classes);
    const own = new Float64Array(present.length);
    const x = new Float64Array(columns);
    const chosen = rowsOrAll(features, rows);
    for (let i = 0; i < total; i++) {
      standardise(features, chosen.subarray(i, i + 1), this.standardisation, x);
      probabilitiesOf(runNetwork(this.layers, x), 0, own);
      for (let c = 0; c < own.length; c++) out[i * classes + present[c]] = own[c];
    }
    return out;
  }

  predictMembers(features: FeatureMatrix, rows?: Int32Array): DenseMembers {
    return oneMember(this.predict(features, rows), this.classes);
  }
}

export interface MlpLearner extends Learner {
  fit(training: TrainingSet, stream: RandomStream): FittedMlp;
  fitSteps(training: TrainingSet, stream: RandomStream): Generator<unknown, FittedMlp>;
}

/** A learner of multilayer perceptrons; scikit-learn's defaults, behind a StandardScaler, unless told otherwise. */
export const mlp = (options: MlpOptions = {}): MlpLearner => {
  const { hidden = [100], rate = 1e-3, l2 = 1e-4, batch = 200, epochs = 200 } = options;
  const { tolerance = 1e-4, patience = 10, threads } = options;
  const { validation = 0, clip = Number.POSITIVE_INFINITY } = options;
  const requireOption = (right: boolean, name: keyof MlpOptions, given: unknown, expected: string): void => {
    if (!right) throw new InputError("mlp-option", mlpTexts.option(name, given, expected));
  };
  const fromZero = (given: number) => given >= 0 && given < Number.POSITIVE_INFINITY;
  const whole = "a whole number of at least 1";
  requireOption(
    Array.isArray(hidden) && hidden.every((width) => isWhole(width, 1)),
    "hidden",
    hidden,
    "a list of whole numbers of at least 1",
  );
  requireOption(rate > 0 && fromZero(rate), "rate", rate, "a positive, finite number");
  requireOption(fromZero(l2), "l2", l2, "a finite number of at least 0");
  requireOption(isWhole(batch, 1), "batch", batch, whole);
  requireOption(isWhole(epochs, 1), "epochs", epochs, whole);
  requireOption(fromZero(tolerance), "tolerance", tolerance, "a finite number of at least 0");
  requireOption(isWhole(patience, 1), "patience", patience, whole);
  const isShare = validation >= 0 && validation < 1;
  requireOption(isShare, "validation", validation, "a number of at least 0 and below 1");
  requireOption(clip > 0, "clip", clip, "a positive number");
  requireOption(threads === undefined || isWhole(threads, 1), "threads", threads, whole);
  return steppedLearner("mlp", function* (training, stream) {
    const { features, classes } = training;
    const { columns } = features;
    const checked = checkTraining(training);
    const weights = weighClasses(checked, classes, options.classWeights);
    const mean = weights.reduce((sum, w) => sum + w, 0) / weights.length;
    const { present, labels } = presentClasses(checked.labels, classes);
    const { rows } = checked;
    const standardisation =
      options.standardise === false
        ? noStandardisation(columns)
        : yield* standardisationSteps(features, rows, weights);
    const out = new Float32Array(rows.length * columns);
    const x = yield* standardiseSteps(features, rows, standardisation, out);
    const trained = yield* trainSteps(
      { x, columns, labels, weights: weights.map((w) => w / mean), classes: present.length },
      { hidden, rate, l2, batch, epochs, tolerance, patience, validation, clip, threads },
      stream,
    );
    const { layers, losses } = trained;
    const isRight =
      layers.every((layer) => layer.weights.every(Number.isFinite)) && losses.every(Number.isFinite);
    if (!isRight) throw new InputError("diverged", mlpTexts.diverged(losses.length));
    return new FittedMlp(classes, present, standardisation, trained);
  });
};

/** A network as JSON can carry it. */
export interface SavedMlp {
  readonly format: "fairbed-mlp-1";
  readonly classes: number;
  readonly present: readonly number[];
  readonly means: readonly number[];
  readonly scales: readonly number[];
  readonly layers: readonly { readonly weights: readonly number[]; readonly biases: readonly number[] }[];
  readonly losses: readonly number[];
}

export const saveMlp = ({ classes, present, standardisation, layers, losses }: FittedMlp): SavedMlp => ({
  format: "fairbed-mlp-1",
  classes,
  present: [...present],
  means: Array.from(standardisation.means),
  scales: Array.from(standardisation.scales),
  layers: layers.map(({ weights, biases }) => ({
    weights: Array.from(weights),
    biases: Array.from(biases),
  })),
  losses: [...losses],
});

/** The network that was saved, which answers with the same bits; anything else, or a damaged one, is refused. */
export const loadMlp = (saved: SavedMlp): FittedMlp => {
  if (!isSavedMlp(saved)) throw new InputError("saved-mlp", mlpTexts.saved);
  const { classes, present, means, scales, layers, losses } = saved;
  const standardisation = { means: Float64Array.from(means), scales: Float64Array.from(scales) };
  return new FittedMlp(classes, [...present], standardisation, { layers, losses: [...losses] });
};

const isSavedMlp = (given: unknown): given is SavedMlp => {
  const saved = given as Saved<SavedMlp>;
  if (saved?.format !== "fairbed-mlp-1" || !isWhole(saved.classes, 2)) return false;
  const { classes, present, means, scales, layers, losses } = saved;
  if (!isPresent(present, classes) || !isNumbers(means) || means.length === 0) return false;
  if (!isNumbers(scales, means.length) || !isNumbers(losses) || !Array.isArray(layers)) return false;
  let inputs = means.length;
  for (const layer of layers as readonly Saved<SavedMlp["layers"][number]>[]) {
    if (!isNumbers(layer?.biases) || !isNumbers(layer?.weights, inputs * layer.biases.length)) return false;
    inputs = layer.biases.length;
  }
  return layers.length > 0 && inputs === outputCount(present.length);
};
