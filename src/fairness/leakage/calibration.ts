/**
 * What an adversary says, turned into probabilities that may be trusted: with m its probabilities, m' their mean and b
 * the base rates,
 *
 *     p(c | x) ∝ b(c) (m(c | x) / m'(c))^a,   a >= 0
 *
 * with the one number a chosen on inner folds. At a = 0 this is the base rates: an adversary that found nothing says
 * nothing, and its held-out skill is near 0 and never far below it. At a = 1 it is believed as it is; an overconfident
 * one gets a < 1. The log loss is convex in a.
 */
import { exp, log } from "../../core/math.js";

/** This share of the base rates is mixed into every prediction, so that no class ever has probability 0. */
const MIXED = 0.01;
const MOST = 4;

/** Logarithms of predictions [rows, classes], each mixed with a little of the base rates. */
export const logScores = (predicted: Float64Array, base: Float64Array): Float64Array => {
  const classes = base.length;
  const scores = new Float64Array(predicted.length);
  for (let at = 0; at < predicted.length; at++) {
    scores[at] = log((1 - MIXED) * predicted[at] + MIXED * base[at % classes]);
  }
  return scores;
};

export interface Calibration {
  /** a */
  readonly strength: number;
  /** log b(c) and log m'(c) */
  readonly logBase: Float64Array;
  readonly logMean: Float64Array;
}

/** The strength a that loses least on these scores [rows, classes] with these labels [rows], by the rows' weights. */
export const calibrate = (
  scores: Float64Array,
  labels: Int32Array,
  base: Float64Array,
  weights?: Float64Array | undefined,
): Calibration => {
  const classes = base.length;
  const mean = new Float64Array(classes);
  const whole = weights?.reduce((sum, weight) => sum + weight, 0) ?? labels.length;
  for (let i = 0; i < labels.length; i++) {
    const weight = weights?.[i] ?? 1;
    for (let c = 0; c < classes; c++) mean[c] += (weight * exp(scores[i * classes + c])) / whole;
  }
  const logBase = base.map((b) => log(b));
  const logMean = mean.map((m) => log(m));
  // Newton's steps on a convex function of one number, kept within [0, MOST].
  let strength = 0.5;
  const tilt = new Float64Array(classes);
  const p = new Float64Array(classes);
  for (let step = 0; step < 50; step++) {
    let slope = 0;
    let curvature = 0;
    for (let i = 0; i < labels.length; i++) {
      let sum = 0;
      for (let c = 0; c < classes; c++) {
        tilt[c] = scores[i * classes + c] - logMean[c];
        p[c] = exp(logBase[c] + strength * tilt[c]);
        sum += p[c];
      }
      let first = 0;
      let second = 0;
      for (let c = 0; c < classes; c++) {
        first += (p[c] / sum) * tilt[c];
        second += (p[c] / sum) * tilt[c] * tilt[c];
      }
      const weight = weights?.[i] ?? 1;
      slope += weight * (first - tilt[labels[i]]);
      curvature += weight * (second - first * first);
    }
    if (curvature <= 1e-12 * whole) return { strength: 0, logBase, logMean };
    const next = Math.min(MOST, Math.max(0, strength - slope / curvature));
    const moved = Math.abs(next - strength);
    strength = next;
    if (moved < 1e-6) break;
  }
  return { strength, logBase, logMean };
};

/** log p(label | x) of each row, calibrated; scores [rows, classes]. */
export const logProbabilities = (
  scores: Float64Array,
  labels: Int32Array,
  { strength, logBase, logMean }: Calibration,
): Float64Array => {
  const classes = logBase.length;
  const out = new Float64Array(labels.length);
  for (let i = 0; i < labels.length; i++) {
    let sum = 0;
    let own = 0;
    for (let c = 0; c < classes; c++) {
      const value = logBase[c] + strength * (scores[i * classes + c] - logMean[c]);
      sum += exp(value);
      if (c === labels[i]) own = value;
    }
    out[i] = own - log(sum);
  }
  return out;
};

/** What the calibrated probabilities say of each row beyond the base rates: sum_c p(c | x) log p(c | x) / b(c), in nats. */
export const informationOf = (
  scores: Float64Array,
  { strength, logBase, logMean }: Calibration,
): Float64Array => {
  const classes = logBase.length;
  const out = new Float64Array(scores.length / classes);
  const tilt = new Float64Array(classes);
  for (let i = 0; i < out.length; i++) {
    let sum = 0;
    let weighted = 0;
    for (let c = 0; c < classes; c++) {
      tilt[c] = strength * (scores[i * classes + c] - logMean[c]);
      const p = exp(logBase[c] + tilt[c]);
      sum += p;
      weighted += p * tilt[c];
    }
    out[i] = Math.max(0, weighted / sum - log(sum));
  }
  return out;
};
