/** One model with all that was asked for: encoder, representation, weights, classifier, and how it decides. */
import { paced, pacer, type RunOptions } from "../core/options.js";
import type { RandomStream } from "../core/random.js";
import { joinRows, stratifiedFolds } from "../fairness/leakage/folds.js";
import type { Classifier, FeatureMatrix, Learner } from "../learners/classifier.js";
import { fitInSteps } from "../learners/in-steps.js";
import { applyFairRule } from "../mitigation/fair-rule.js";
import {
  applyRepresentation,
  type FairRepresentation,
  learnFairRepresentation,
} from "../mitigation/learned-fair-representation.js";
import { type FittedRejectOption, fitRejectOption } from "../mitigation/reject-option.js";
import { reweigh } from "../mitigation/reweighing.js";
import { stratify } from "../mitigation/stratify.js";
import { type CategoryEncoding, type Encoder, fitEncoder } from "../tables/encoder.js";
import type { Table } from "../tables/table.js";
import type { Task } from "../tables/task.js";
import { comparedGroups } from "./compared-groups.js";
import { mostProbable } from "./evaluation.js";
import type { Mitigations } from "./fit-mitigations.js";
import { blindRowsOf, favourable } from "./group-model.js";
import { privilegedGroup } from "./mitigation-split.js";
import { neededColumns } from "./needed-columns.js";
import { outOfFold } from "./out-of-fold.js";
import { rejectRows } from "./reject-rows.js";
import { type TunedRule, tuneRule } from "./tune-rule.js";
import { TUNE_RULE_DEFAULTS } from "./tune-rule-defaults.js";

/** What does not change from one set of rows to learn from to another. */
export interface FitPlan {
  readonly task: Task;
  readonly learner: Learner;
  readonly categories: CategoryEncoding;
  readonly mitigations: Mitigations;
  /** Rows of the table without a label, and a table of more such rows: only their features are read. */
  readonly unlabelled: Int32Array;
  readonly more: Table | undefined;
  /** [rows]: the probability with which a row was drawn, NaN where it was not drawn at random; all alike unless given. */
  readonly probabilities: Float64Array | undefined;
}

/** The rule of a model, and the names of its groups. */
export interface FittedRule {
  readonly tuned: TunedRule;
  readonly groups: readonly string[];
}

export interface FittedReject {
  readonly rule: FittedRejectOption;
  /** The class of the attribute that is privileged, and how many rows it was chosen on. */
  readonly privileged: number;
  readonly rows: number;
}

export interface FittedParts {
  readonly encoder: Encoder;
  readonly representation: FairRepresentation | undefined;
  readonly classifier: Classifier;
  readonly rule: FittedRule | undefined;
  readonly rejectOption: FittedReject | undefined;
  readonly notes: readonly string[];
  /** The class of each of these rows of the task's table. */
  readonly decide: (rows: Int32Array) => Int32Array;
}

/** The share of the rows that a representation does not learn from where a rule is to be chosen on rows it has not seen. */
const KEPT_FROM_REPRESENTATION = 1 / 3;
/** Parts of the rows for the scores that a reject option is fitted on. */
const FOLDS = TUNE_RULE_DEFAULTS.folds;

export const fitParts = async (
  plan: FitPlan,
  rows: Int32Array,
  stream: RandomStream,
  run: RunOptions = {},
): Promise<FittedParts> => {
  const { task, learner, categories, mitigations } = plan;
  const { target, table, weights } = task;
  const classes = target.classes.length;
  const encoder = fitEncoder(task, rows, { categories });
  const notes: string[] = [];
  const { represent, rule, rejectOption } = mitigations;
  const own = groupsOf();
  const represented = represent === undefined ? undefined : await learnRepresentation(represent);
  const encode = (of: Table, which?: Int32Array): FeatureMatrix => {
    const features = encoder.encode(of, which);
    return represented === undefined ? features : applyRepresentation(represented.representation, features);
  };
  const parts = { encoder, representation: represented?.representation, notes };
  if (rule !== undefined) return withRule();

  const features = encode(table, rows);
  const labels = rows.map((row) => target.labels[row]);
  const counted = weightsOf(Int32Array.from(rows.keys()));
  const training = { features, labels, classes, weights: counted };
  const classifier = await paced(fitInSteps(learner, training, stream), pacer({ signal: run.signal }));
  if (rejectOption !== undefined) return withRejectOption();
  return {
    ...parts,
    classifier,
    rule: undefined,
    rejectOption: undefined,
    decide: (wanted) => mostProbable(classifier.predict(encode(table, wanted)), classes),
  };

  /** [places in rows]: the group of each, -1 where it is not known or too rare, and what the groups are called. */
  function groupsOf(): { readonly groups: Int32Array; readonly names: readonly string[] } {
    if (mitigations.attribute === undefined) return { groups: new Int32Array(rows.length), names: [] };
    const compared = comparedGroups({ sensitive: mitigations.attribute, train: rows });
    notes.push(...compared.notes);
    return { groups: rows.map((row) => compared.groups[row]), names: compared.names };
  }

  /** How much these places in `rows` count: undefined where all count the same. */
  function weightsOf(places: Int32Array): Float64Array | undefined {
    const given =
      weights === undefined ? undefined : Float64Array.from(places, (place) => weights[rows[place]]);
    if (!mitigations.reweigh) return given;
    const { weights: balanced, warnings } = reweigh({
      labels: places.map((place) => target.labels[rows[place]]),
      groups: places.map((place) => own.groups[place]),
      weights: given,
    });
    if (places.length === rows.length) notes.push(...warnings);
    return balanced;
  }

  /** [places in rows]: 1 for the privileged group, 0 for others, -1 where the attribute is not known. */
  function privilegedOf(): { readonly group: number; readonly privileged: Int32Array } {
    const { attribute, privileged: given } = mitigations;
    if (attribute === undefined) throw new TypeError("there is no attribute");
    const known = rows.filter((row) => attribute.labels[row] >= 0);
    const group = privilegedGroup(attribute, target.labels, known, given, notes);
    return {
      group,
      privileged: rows.map((row) =>
        attribute.labels[row] < 0 ? -1 : Number(attribute.labels[row] === group),
      ),
    };
  }

  async function learnRepresentation(settings: NonNullable<Mitigations["represent"]>) {
    const { privileged } = privilegedOf();
    const known = Int32Array.from(rows.keys()).filter((place) => privileged[place] >= 0);
    const labels = rows.map((row) => target.labels[row]);
    const { rest, part } =
      rule === undefined
        ? { rest: known, part: new Int32Array(0) }
        : stratify(known, labels, privileged, KEPT_FROM_REPRESENTATION, stream.split("kept"));
    const representation = await learnFairRepresentation(
      {
        features: encoder.encode(table, rows),
        rows: rest,
        labels: rest.map((place) => labels[place]),
        privileged: rest.map((place) => privileged[place]),
      },
      stream.split("representation"),
      { ...settings, signal: run.signal },
    );
    if (representation.collapse !== undefined) notes.push(representation.collapse);
    return { representation, kept: part };
  }

  async function withRule(): Promise<FittedParts> {
    const asked = rule ?? { metric: "dp", level: 1 };
    const { unlabelled, more, probabilities } = plan;
    const matrices = [
      encode(table, rows),
      ...(unlabelled.length === 0 ? [] : [encode(table, unlabelled)]),
      ...(more === undefined ? [] : [encode(neededColumns(encoder, more).needed)]),
    ];
    const features = stacked(matrices);
    const labelled = Int32Array.from(rows.keys());
    const places = upTo(rows.length, features.rows);
    const padded = (labels: Int32Array) => joinRows([labels, new Int32Array(places.length).fill(-1)]);
    const drawn = labelled.filter((place) => probabilities === undefined || probabilities[rows[place]] > 0);
    const all = weights === undefined ? undefined : new Float64Array(features.rows).fill(1);
    if (weights !== undefined && all !== undefined) {
      labelled.forEach((place) => {
        all[place] = weights[rows[place]];
      });
      unlabelled.forEach((row, i) => {
        all[rows.length + i] = weights[row];
      });
    }
    const tuned = await tuneRule({
      features,
      target: { labels: padded(rows.map((row) => target.labels[row])), classes },
      sensitive: { labels: padded(own.groups), classes: Math.max(2, own.names.length) },
      labelled,
      judged: represented?.kept,
      representative: {
        rows: drawn,
        weights:
          probabilities === undefined
            ? undefined
            : Float64Array.from(drawn, (place) => 1 / probabilities[rows[place]]),
      },
      unlabelled: places,
      weights: all,
      reweighed: mitigations.reweigh,
      learner,
      sensitiveLearner: learner,
      metric: asked.metric,
      level: asked.level,
      selectionRate: asked.selectionRate,
      by: asked.by,
      stream,
      signal: run.signal,
    });
    const { classifier, groupModel } = tuned;
    return {
      ...parts,
      classifier,
      rule: { tuned, groups: own.names },
      rejectOption: undefined,
      decide: (wanted) =>
        applyFairRule(tuned.rule, blindRowsOf(classifier, groupModel, encode(table, wanted))),
    };
  }

  async function withRejectOption(): Promise<FittedParts> {
    const { group, privileged } = privilegedOf();
    const known = Int32Array.from(rows.keys()).filter((place) => privileged[place] >= 0);
    const folds = stratifiedFolds(
      known,
      (place) => 2 * labels[place] + privileged[place],
      Math.min(FOLDS, known.length),
      stream.split("folds"),
    );
    const all = new Float64Array(rows.length).fill(1);
    const scores = favourable(
      await outOfFold(
        folds,
        (places) => {
          const balanced = weightsOf(places);
          places.forEach((place, i) => {
            all[place] = balanced?.[i] ?? 1;
          });
          return { learner, features, labels, classes, rows: places, weights: all };
        },
        stream.split("out of fold"),
        pacer({ signal: run.signal }),
      ),
    );
    const judged = joinRows(folds);
    const fitted = fitRejectOption(
      scores,
      judged.map((place) => labels[place]),
      judged.map((place) => privileged[place]),
      rejectOption ?? {},
    );
    if (fitted.warning !== undefined) notes.push(fitted.warning);
    const attribute = mitigations.attribute?.labels ?? new Int32Array(table.rows).fill(-1);
    return {
      ...parts,
      classifier,
      rule: undefined,
      rejectOption: { rule: fitted, privileged: group, rows: judged.length },
      decide: (wanted) =>
        rejectRows(
          fitted,
          favourable(classifier.predict(encode(table, wanted))),
          wanted.map((row) => (attribute[row] < 0 ? -1 : Number(attribute[row] === group))),
        ),
    };
  }
};

const upTo = (from: number, to: number): Int32Array =>
  Int32Array.from({ length: to - from }, (_, i) => from + i);

/** The rows of several matrices of the same columns, one below the other. */
const stacked = (matrices: readonly FeatureMatrix[]): FeatureMatrix => {
  const [{ columns }] = matrices;
  const rows = matrices.reduce((sum, each) => sum + each.rows, 0);
  const values = new Float32Array(rows * columns);
  let at = 0;
  for (const each of matrices) {
    values.set(each.values, at);
    at += each.values.length;
  }
  return { values, rows, columns };
};
