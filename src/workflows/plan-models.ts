/** From labels that were acquired to decisions: a model of the outcome, and the fair rule on top of it. */
import { fitSteps, type PoolLabel } from "../active/pool-models.js";
import { paced, pacer, type RunOptions } from "../core/options.js";
import type { RandomStream } from "../core/random.js";
import { learnerNamed } from "../learners/by-name.js";
import type { Classifier, FeatureMatrix, Learner } from "../learners/classifier.js";
import { forest } from "../learners/forest.js";
import type { LearnerName } from "../learners/learner-names.js";
import { applyFairRule, type FairMetric } from "../mitigation/fair-rule.js";
import { reweighedRows } from "./reweighed-rows.js";
import { tuneRule } from "./tune-rule.js";

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
  /** Parts of the labels that are held out in turn to choose the rule on. */
  readonly folds: number;
}

/** The rule is chosen on at most so many candidates: with more it is the same within its error. */
const RULE_ROWS = 1000;

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
  const { features, labelled, target, sensitive, weights } = set;
  const classes = new Set(labelled.map((row) => target.labels[row]));
  if (classes.size < 2) {
    const only = classes.has(1) ? 1 : 0;
    return aims.map(() => new Uint8Array(rows.length).fill(only));
  }
  const usual = (model: Classifier): Uint8Array => {
    const probabilities = model.predict(features, rows);
    return Uint8Array.from(rows, (_, i) => Number(probabilities[2 * i + 1] > 0.5));
  };
  const learner = learnerOf(finish);
  const [first] = aims.filter((aim) => aim !== undefined);
  if (first === undefined) {
    const own = finish.reweigh
      ? reweighedRows({ rows: labelled, labels: target.labels, groups: sensitive.labels, weights })
      : weights;
    // The stream of the model under a rule, so that it is the same one.
    const learnt = { features, ...target, rows: labelled, weights: own };
    const model = await paced(
      fitSteps(learner, learnt, stream.split("target")),
      pacer({ signal: run.signal }),
    );
    const decided = usual(model);
    return aims.map(() => decided);
  }
  const tuned = await tuneRule({
    features,
    target,
    sensitive,
    labelled,
    representative: { rows: set.representative },
    unlabelled: drawn(set.pool, RULE_ROWS, stream.split("rule rows")),
    weights,
    reweighed: finish.reweigh,
    learner,
    sensitiveLearner: forest({ trees: finish.trees }),
    metric: finish.metric,
    level: first,
    folds: finish.folds,
    stream,
    signal: run.signal,
  });
  const blind = tuned.blindRows(rows);
  const decisions: Uint8Array[] = [];
  for (const aim of aims) {
    if (aim === undefined) decisions.push(usual(tuned.classifier));
    else {
      const rule = aim === first ? tuned.rule : await tuned.ruleFor(aim);
      decisions.push(Uint8Array.from(applyFairRule(rule, blind)));
    }
  }
  return decisions;
};

const learnerOf = ({ learner, trees }: Finish): Learner =>
  learner === "forest" ? learnerNamed(learner, { trees }) : learnerNamed(learner);

const drawn = (rows: Int32Array, most: number, stream: RandomStream): Int32Array =>
  rows.length <= most ? rows : Int32Array.from(stream.choice(rows.length, most), (at) => rows[at]).sort();
