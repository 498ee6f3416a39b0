/** Acquired rows as those that judge a model: who counts for how many of the pool, predicted by models that have not seen them. */
import { inclusionWeights } from "../active/inclusion.js";
import { jointLabel, type PoolLabel } from "../active/pool-models.js";
import { InputError } from "../core/errors.js";
import type { Pacer, RunOptions } from "../core/options.js";
import type { RandomStream } from "../core/random.js";
import { joinRows, stratifiedFolds } from "../fairness/leakage/folds.js";
import type { FeatureMatrix, Learner } from "../learners/classifier.js";
import { type LearntLabel, outOfFold } from "./out-of-fold.js";
import { reweighedRows } from "./reweighed-rows.js";
import type { AskedRow } from "./row-session.js";

export const estimateTexts = {
  few: (drawn: number) =>
    `${drawn} row${drawn === 1 ? " was" : "s were"} drawn at random and answered, and an estimate for the pool needs at least 10: ask for more, with a random part above 0`,
};

/** Fewer say next to nothing. */
export const FEWEST_DRAWN = 10;
const FOLDS = 5;

export interface EstimateInput extends RunOptions {
  readonly features: FeatureMatrix;
  readonly target: PoolLabel;
  /** The first sensitive attribute, where there is one. */
  readonly sensitive: PoolLabel | undefined;
  /** Rows that were labelled before anything was asked. */
  readonly initial: Int32Array;
  /** All that were asked for, in that order. */
  readonly asked: readonly AskedRow[];
  readonly isRefused: (row: number) => boolean;
  /** How many could be asked for at the start. */
  readonly pool: number;
  readonly learner: Learner;
  readonly weights?: Float64Array | undefined;
  /** Whether the model of the target learns from reweighed rows (no). */
  readonly reweigh?: boolean | undefined;
  readonly stream: RandomStream;
}

/** How one set of models is fitted, each on what is not in its fold. */
export interface FoldedFit {
  readonly folds: readonly Int32Array[];
  readonly stream: RandomStream;
  readonly pace: Pacer;
  /** Which rows may be learnt from, wherever they are; all unless given. */
  readonly mayLearn?: ((row: number) => boolean) | undefined;
}

export interface JudgedAcquisition {
  /** Asked for and answered, in that order; their rows, and how many of them were drawn at random. */
  readonly acquired: readonly AskedRow[];
  readonly rows: Int32Array;
  readonly drawn: number;
  /** What is learnt from: the initial labels, then `rows`. */
  readonly known: Int32Array;
  /** For how many rows of the pool each counts, and its group, -1 where it is not known; [acquired]. */
  readonly inclusion: Float64Array;
  readonly groupOf: Int32Array;
  readonly groupClasses: number;
  /** Whether two groups or more are among them. */
  readonly several: boolean;
  /** The known rows dealt into folds. */
  dealt(stream: RandomStream): readonly Int32Array[];
  /** P(class) of the target or the attribute, [acquired, classes]. */
  predict(name: "target" | "sensitive", fit: FoldedFit): Promise<Float64Array>;
}

export const answeredOf = ({
  target,
  asked,
  isRefused,
}: Pick<EstimateInput, "target" | "asked" | "isRefused">) =>
  asked.filter(({ row }) => target.labels[row] >= 0 && !isRefused(row));

export const drawnOf = (acquired: readonly AskedRow[]): number =>
  acquired.filter(({ probability }) => probability !== undefined).length;

/** Throws where fewer than {@link FEWEST_DRAWN} were drawn at random and answered. */
export const judgedAcquisition = (input: EstimateInput): JudgedAcquisition => {
  const { features, target, sensitive, initial, learner, weights } = input;
  const acquired = answeredOf(input);
  const drawn = drawnOf(acquired);
  if (drawn < FEWEST_DRAWN) throw new InputError("few-drawn", estimateTexts.few(drawn));
  const rows = Int32Array.from(acquired, ({ row }) => row);
  const known = Int32Array.from([...initial, ...rows]).filter((row) => target.labels[row] >= 0);
  const groups = sensitive ?? { labels: new Int32Array(features.rows).fill(-1), classes: 1 };
  const joint = jointLabel(target, groups).labels;
  const groupOf = rows.map((row) => groups.labels[row]);
  return {
    acquired,
    rows,
    drawn,
    known,
    inclusion: inclusionWeights(acquired),
    groupOf,
    groupClasses: groups.classes,
    several: sensitive !== undefined && new Set(groupOf.filter((group) => group >= 0)).size > 1,
    dealt: (stream) => stratifiedFolds(known, (row) => joint[row], Math.min(FOLDS, known.length), stream),
    async predict(name, { folds, stream, pace, mayLearn }) {
      const label = name === "target" ? target : groups;
      const learntFrom = (others: Int32Array): LearntLabel => {
        const own = mayLearn === undefined ? others : others.filter(mayLearn);
        return {
          features,
          ...label,
          rows: own,
          weights:
            name === "target" && input.reweigh === true && sensitive !== undefined
              ? reweighedRows({ rows: own, labels: target.labels, groups: groups.labels, weights })
              : weights,
          learner,
        };
      };
      const said = await outOfFold(folds, learntFrom, stream, pace);
      const place = new Map(Array.from(joinRows(folds), (row, at) => [row, at]));
      const { classes } = label;
      const out = new Float64Array(rows.length * classes);
      rows.forEach((row, i) => {
        const at = place.get(row) ?? 0;
        out.set(said.subarray(at * classes, (at + 1) * classes), i * classes);
      });
      return out;
    },
  };
};
