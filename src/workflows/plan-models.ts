/** From labels that were acquired to decisions: a model of the outcome, and the fair rule on top of it. */
import { fit, type PoolLabel } from "../active/pool-models.js";
import type { RunOptions } from "../core/options.js";
import type { RandomStream } from "../core/random.js";
import { learnerNamed } from "../learners/by-name.js";
import type { FeatureMatrix, Learner } from "../learners/classifier.js";
import { forest } from "../learners/forest.js";
import type { LearnerName } from "../learners/learner-names.js";
import { applyFairRule, type FairMetric, fitFairRule } from "../mitigation/fair-rule.js";
import { reweighedRows } from "./reweighed-rows.js";

/** What an acquisition has by some number of labels: rows of the features. */
export interface AcquiredSet {
  readonly features: FeatureMatrix;
  readonly target: PoolLabel;
  readonly sensitive: PoolLabel;
  /** Rows that have a label. */
  readonly labelled: Int32Array;
  /** Those of them that were drawn at random. */
  readonly representative: Int32Array;
  /** Candidates without a label. */
  readonly pool: Int32Array;
  readonly weights: Float64Array | undefined;
}

export interface Finish {
  readonly learner: LearnerName;
  readonly reweigh: boolean;
  readonly trees: number;
  readonly metric: FairMetric;
}

/** The rule is fitted on at most so many candidates: with more it is the same within its error. */
const RULE_ROWS = 1000;
/** Labels in a leaf of the model that says which group somebody is of: its probabilities are to be calibrated. */
const GROUP_LEAF = 10;

/**
 * Decisions for `rows` by a model of the labels, 1 is favourable: [aims][rows], of which an aim that is undefined is the
 * usual threshold. Neither the labels nor the groups of `rows` are looked at.
 */
export const decide = async (
  set: AcquiredSet,
  finish: Finish,
  aims: readonly (number | undefined)[],
  rows: Int32Array,
  stream: RandomStream,
  run: RunOptions,
): Promise<readonly Uint8Array[]> => {
  const { features, labelled, target } = set;
  const { metric } = finish;
  const known = new Set(labelled.map((row) => target.labels[row]));
  if (known.size < 2) {
    const only = known.has(1) ? 1 : 0;
    return aims.map(() => new Uint8Array(rows.length).fill(only));
  }
  const model = fit(
    finishLearner(finish),
    { features, ...target, rows: labelled, weights: finish.reweigh ? reweighedWeights(set) : set.weights },
    stream.split("target"),
  );
  const scoresOf = (of: Int32Array): Float64Array => {
    const probabilities = model.predict(features, of);
    // Means of float32 votes may be above 1 by their rounding.
    return Float64Array.from(of, (_, i) => Math.min(1, Math.max(0, probabilities[2 * i + 1])));
  };
  const scores = scoresOf(rows);
  const plain = Uint8Array.from(scores, (score) => Number(score > 0.5));
  if (aims.every((aim) => aim === undefined)) return aims.map(() => plain);
  const groupsOf = groupModel(set, finish, stream.split("groups"));
  const fitted = drawn(set.pool, RULE_ROWS, stream.split("rule rows"));
  const ruleRows = { scores: scoresOf(fitted), groupProbabilities: groupsOf(fitted) };
  const blind = { scores, groupProbabilities: groupsOf(rows) };
  const decisions: Uint8Array[] = [];
  for (const level of aims) {
    if (level === undefined) decisions.push(plain);
    else {
      const rule = await fitFairRule(ruleRows, {
        metric,
        level,
        // Its own interval is not read here.
        replicates: 0,
        signal: run.signal,
      });
      decisions.push(Uint8Array.from(applyFairRule(rule, blind)));
    }
  }
  return decisions;
};

const finishLearner = ({ learner, trees }: Finish): Learner =>
  learner === "forest" ? learnerNamed(learner, { trees }) : learnerNamed(learner);

const reweighedWeights = ({ labelled, target, sensitive, weights }: AcquiredSet): Float64Array =>
  reweighedRows({ rows: labelled, labels: target.labels, groups: sensitive.labels, weights });

/** P(group | x), or P(group | x, y = 1) for equal opportunity, of any rows: [rows, groups]. */
const groupModel = (
  { features, labelled, target, sensitive, weights }: AcquiredSet,
  { metric, trees }: Finish,
  stream: RandomStream,
): ((rows: Int32Array) => Float64Array) => {
  const rows = metric === "dp" ? labelled : labelled.filter((row) => target.labels[row] === 1);
  const present = new Set(rows.map((row) => sensitive.labels[row]));
  if (present.size > 1) {
    const model = fit(
      forest({ trees, minLeaf: GROUP_LEAF }),
      { features, ...sensitive, rows, weights },
      stream,
    );
    return (of) => model.predict(features, of);
  }
  const only = [...present][0] ?? 0;
  return (of) => {
    const all = new Float64Array(of.length * sensitive.classes);
    for (let i = 0; i < of.length; i++) all[i * sensitive.classes + only] = 1;
    return all;
  };
};

const drawn = (rows: Int32Array, most: number, stream: RandomStream): Int32Array =>
  rows.length <= most ? rows : Int32Array.from(stream.choice(rows.length, most), (at) => rows[at]).sort();
