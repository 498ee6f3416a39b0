/**
 * An adversary for tables of few different rows: it remembers how often each class came with exactly these values.
 * Nothing is assumed about how columns work together, so with enough rows it finds all there is.
 */
import type { Classifier, FeatureMatrix, Learner, TrainingSet } from "../../learners/classifier.js";
import { steppedLearner } from "../../learners/in-steps.js";
import { oneMember, requirePrediction } from "../../learners/one-member.js";
import { eachRange } from "../../learners/standardise.js";
import { checkTraining } from "../../learners/training.js";

/** Rows with the same values have the same key: 53 bits of hash, so that others have it only by a rare accident. */
const keyOf = ({ values, columns }: FeatureMatrix, row: number): number => {
  let high = 0x811c9dc5;
  let low = 0x9e3779b9;
  for (let at = row * columns; at < (row + 1) * columns; at++) {
    FLOAT[0] = values[at] + 0; // -0 and 0 are the same value
    high = Math.imul(high ^ BITS[0], 0x01000193) ^ (high >>> 15);
    low = Math.imul(low ^ BITS[0], 0x85ebca6b) ^ (low >>> 13);
  }
  return (high >>> 11) * 4294967296 + (low >>> 0);
};
const FLOAT = new Float32Array(1);
const BITS = new Int32Array(FLOAT.buffer);

/** As many rows' worth of the base rates are added to what was seen of a combination. */
const PRIOR_ROWS = 2;

class Lookup implements Classifier {
  readonly members = 1;
  readonly classes: number;
  readonly #columns: number;
  readonly #counts: ReadonlyMap<number, Float64Array>;
  readonly #base: Float64Array;

  constructor(
    classes: number,
    columns: number,
    counts: ReadonlyMap<number, Float64Array>,
    base: Float64Array,
  ) {
    this.classes = classes;
    this.#columns = columns;
    this.#counts = counts;
    this.#base = base;
  }

  predict(features: FeatureMatrix, rows?: Int32Array): Float64Array {
    const total = requirePrediction(features, this.#columns, rows);
    const { classes } = this;
    const base = this.#base;
    const out = new Float64Array(total * classes);
    for (let i = 0; i < total; i++) {
      const counts = this.#counts.get(keyOf(features, rows === undefined ? i : rows[i]));
      const seen = counts?.reduce((sum, count) => sum + count, 0) ?? 0;
      for (let c = 0; c < classes; c++) {
        out[i * classes + c] = ((counts?.[c] ?? 0) + PRIOR_ROWS * base[c]) / (seen + PRIOR_ROWS);
      }
    }
    return out;
  }

  predictMembers(features: FeatureMatrix, rows?: Int32Array) {
    return oneMember(this.predict(features, rows), this.classes);
  }
}

/**
 * A learner that counts: P(class | x) = (rows of the class with exactly these values + 2 p(class)) / (rows with them + 2).
 *
 * @example
 * ```ts
 * import { lookup, seededStream } from "fairbed/fairness";
 *
 * const features = { values: Float32Array.of(0, 0, 0, 1), rows: 4, columns: 1 };
 * const fitted = lookup().fit({ features, labels: Int32Array.of(0, 0, 1, 1), classes: 2 }, seededStream(0));
 * console.log(fitted.predict(features, Int32Array.of(0))[0]); // 0.6
 * ```
 */
export const lookup = (): Learner =>
  steppedLearner("lookup", function* (training: TrainingSet) {
    const { features, classes } = training;
    const { rows, labels, weights } = checkTraining(training);
    const counts = new Map<number, Float64Array>();
    const base = new Float64Array(classes);
    let total = 0;
    const add = (i: number) => {
      const key = keyOf(features, rows[i]);
      let own = counts.get(key);
      if (own === undefined) {
        own = new Float64Array(classes);
        counts.set(key, own);
      }
      own[labels[i]] += weights[i];
      base[labels[i]] += weights[i];
      total += weights[i];
    };
    yield* eachRange(rows.length, features.columns, (from, to) => {
      for (let i = from; i < to; i++) add(i);
    });
    return new Lookup(
      classes,
      features.columns,
      counts,
      base.map((count) => count / total),
    );
  });
