/**
 * Whether there is any leakage at all: an exact test.
 *
 * The folds come one after another. Models of the folds before judge the next one; where the attribute has nothing to
 * do with the features, shuffling it within that fold (and within each value of the target) changes nothing, whatever
 * the models are. The statistic of a fold is the largest, over the adversaries, of the standardised sums of
 * log m(group | x), and so is that of every shuffle: taking the largest is part of the test. Given the folds before,
 * each fold's p is uniform, so the p of all folds are independent, and sum w z(1 - p) / sqrt(sum w^2) is normal.
 *
 * Shuffling what the usual cross-validation held out would not do: there every fold's labels train the models of all
 * the others, the sum's variance under the null is twice what shuffles show, and 5 % becomes 12 %.
 */
import { normalCdf, normalQuantile } from "../../core/math.js";
import type { RandomStream } from "../../core/random.js";
import { momentsOf, sampleVariance } from "../../core/stats.js";
import type { StageScores, Watch } from "./cross-fit.js";
import type { Stratum } from "./stratum.js";

/** What is judged of one fold in one stratum: log m [adversaries][rows, classes], and the labels. */
interface Judged {
  readonly labels: Int32Array;
  readonly classes: number;
  readonly scores: readonly Float64Array[];
}

export interface TestResult {
  readonly pValue: number;
  /** The combined statistic, standard normal where there is no leakage. */
  readonly drift: number;
}

export interface TestSettings {
  readonly permutations: number;
  readonly watch: Watch;
}

/** The stages of every adversary in one stratum. */
export interface JudgedStratum {
  readonly stratum: Stratum;
  /** [adversaries][stages] */
  readonly adversaries: readonly (readonly StageScores[])[];
}

const judgedAt = ({ stratum, adversaries }: JudgedStratum, stage: number): Judged => ({
  labels: Int32Array.from(adversaries[0][stage].heldOut, (row) => stratum.labels[row]),
  classes: stratum.groups.length,
  scores: adversaries.map((stages) => stages[stage].scores),
});

/** Sums [adversaries] of the scores of the labels in this order. */
const sumsOf = ({ classes, scores }: Judged, labels: Int32Array, sums: Float64Array): void => {
  scores.forEach((own, a) => {
    let sum = 0;
    for (let i = 0; i < labels.length; i++) sum += own[i * classes + labels[i]];
    sums[a] += sum;
  });
};

const shuffle = (labels: Int32Array, stream: RandomStream): void => {
  for (let i = labels.length - 1; i > 0; i--) {
    const j = stream.integer(i + 1);
    const kept = labels[i];
    labels[i] = labels[j];
    labels[j] = kept;
  }
};

/** The p of one fold: uniform where there is no leakage. */
const testFold = async (
  judged: readonly Judged[],
  adversaries: number,
  { permutations, watch }: TestSettings,
  stream: RandomStream,
): Promise<number> => {
  const seen = new Float64Array(adversaries);
  for (const part of judged) sumsOf(part, part.labels, seen);
  const shuffled = judged.map(({ labels }) => labels.slice());
  const drawn: Float64Array[] = [];
  for (let shuffles = 0; shuffles < permutations; shuffles++) {
    const sums = new Float64Array(adversaries);
    judged.forEach((part, s) => {
      shuffle(shuffled[s], stream);
      sumsOf(part, shuffled[s], sums);
    });
    drawn.push(sums);
    await watch.pause();
  }
  // The observed one is among the draws that standardise, or it would not be exchangeable with them.
  const moments = Array.from({ length: adversaries }, (_, a) =>
    momentsOf([seen[a], ...drawn.map((sums) => sums[a])]),
  );
  const largest = (sums: Float64Array): number => {
    let most = Number.NEGATIVE_INFINITY;
    for (let a = 0; a < adversaries; a++) {
      const sd = Math.sqrt(sampleVariance(moments[a]));
      // An adversary that says the same of every row has nothing to say.
      if (sd > 1e-12) most = Math.max(most, (sums[a] - moments[a].mean) / sd);
    }
    return most;
  };
  const observed = largest(seen);
  const others = Float64Array.from(drawn, largest);
  let above = 0;
  let ties = 0;
  for (const other of others) {
    if (other > observed) above++;
    else if (other === observed) ties++;
  }
  // Among equals the place is drawn, which makes p uniform and not merely at least as large.
  return (above + stream.uniform() * (ties + 1)) / (permutations + 1);
};

export const testLeakage = async (
  strata: readonly JudgedStratum[],
  settings: TestSettings,
  stream: RandomStream,
): Promise<TestResult & { readonly stages: readonly { learnt: number; rows: number }[] }> => {
  let sum = 0;
  let squares = 0;
  const done: { learnt: number; rows: number }[] = [];
  const total = (of: (first: StageScores) => number, stage: number) =>
    strata.reduce((whole, { adversaries }) => whole + of(adversaries[0][stage]), 0);
  for (const stage of strata[0].adversaries[0].keys()) {
    const judged = strata.map((each) => judgedAt(each, stage)).filter(({ labels }) => labels.length > 0);
    const own = stream.split(`stage ${stage}`);
    const p = await testFold(judged, strata[0].adversaries.length, settings, own);
    const learnt = total((first) => first.learnt, stage);
    // Models of more rows see more; the weight may depend on what is known before the fold is seen, as this does.
    const weight = Math.sqrt(learnt);
    sum += weight * normalQuantile(1 - p);
    squares += weight * weight;
    done.push({ learnt, rows: total(({ heldOut }) => heldOut.length, stage) });
  }
  const drift = sum / Math.sqrt(squares);
  return { pValue: normalCdf(-drift), drift, stages: done };
};
