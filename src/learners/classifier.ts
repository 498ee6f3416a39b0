/**
 * One interface for everything that learns a label from features.
 *
 * A classifier is an ensemble and answers with the probabilities of each of its **members**, because every
 * acquisition score is a function of them; their mean is its prediction.
 */
import type { RandomStream } from "../core/random.js";

/**
 * Numbers to learn from, row-major float32 [rows, columns], none of them missing (an encoder sees to that). Learners
 * may keep what they derive from a matrix for as long as the object lives, so its values must not be changed.
 */
export interface FeatureMatrix {
  readonly values: Float32Array;
  readonly rows: number;
  readonly columns: number;
}

/** P(class | row) of every member: [rows, members, classes], float32. */
export interface DenseMembers {
  readonly kind: "dense";
  readonly rows: number;
  readonly members: number;
  readonly classes: number;
  readonly values: Float32Array;
}

/**
 * Members of two classes that are all sure: bit k % 32 of word [row, k / 32] is 1 where member k votes for class 1.
 * The bits beyond the last member are 0.
 */
export interface VoteMembers {
  readonly kind: "votes";
  readonly rows: number;
  readonly members: number;
  readonly classes: 2;
  /** [rows, ceil(members / 32)] */
  readonly words: Uint32Array;
}

export type MemberProbabilities = DenseMembers | VoteMembers;

export interface TrainingSet {
  readonly features: FeatureMatrix;
  /** Rows of `features` that have a label, in any order; all of them unless given. */
  readonly rows?: Int32Array | undefined;
  /** The class of each of those rows, from 0. */
  readonly labels: Int32Array;
  /** How many classes there are, whether or not the labels have them all. */
  readonly classes: number;
  /** The weight of each of those rows; 1 unless given. */
  readonly weights?: Float64Array | undefined;
  /**
   * A classifier of much the same rows, from which a learner may start where that spares it time. What is learnt is the
   * same but for rounding.
   */
  readonly similar?: Classifier | undefined;
}

export interface Classifier {
  readonly classes: number;
  readonly members: number;
  /** What every member says of the given rows (all unless given). */
  predictMembers(features: FeatureMatrix, rows?: Int32Array): MemberProbabilities;
  /** The mean over members, float64 [rows, classes]. */
  predict(features: FeatureMatrix, rows?: Int32Array): Float64Array;
  /** The same in pieces of some milliseconds, for a classifier that can do better than some rows at a time. */
  predictSteps?(features: FeatureMatrix, rows?: Int32Array): Generator<unknown, Float64Array>;
}

export interface Learner {
  readonly name: string;
  /** The same training set and stream give the same classifier, on any number of threads. */
  fit(training: TrainingSet, stream: RandomStream): Classifier;
  /** The same in pieces: whoever walks it can let go of the thread, or stop, after each. The library's own all have it. */
  fitSteps?(training: TrainingSet, stream: RandomStream): Generator<unknown, Classifier>;
}
