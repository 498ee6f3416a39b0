/** What was acquired is frozen, and something else is made of it: another model, or a mitigation (section 6.4). */
import { fit } from "../active/pool-models.js";
import { randomStream } from "../core/random.js";
import { parityRatios } from "../fairness/group-metrics.js";
import type { Learner } from "../learners/classifier.js";
import { forest } from "../learners/forest.js";
import { applyRepresentation, fairRepresentationSteps } from "../mitigation/learned-fair-representation.js";
import { applyRejectOption, fitRejectOption } from "../mitigation/reject-option.js";
import { stratify } from "../mitigation/stratify.js";
import type { Task } from "../tables/task.js";
import { evaluate } from "../workflows/evaluation.js";
import { type PreparedSeed, prepareSeed } from "../workflows/simulation.js";
import type {
  AcquireResult,
  GeneralizeCell,
  JudgeResult,
  RejectOptionCell,
  RepresentationCell,
} from "./cell.js";
import { loadTask } from "./load-task.js";
import type { CellRun } from "./run-cell.js";

type JudgeCell = GeneralizeCell | RejectOptionCell | RepresentationCell;

interface Frozen {
  readonly prepared: PreparedSeed;
  readonly labelled: Int32Array;
  readonly weights: Float64Array | undefined;
  /** [all rows]: 1 in the group with the most favourable outcomes. */
  readonly privileged: Int32Array;
  readonly forest: Learner;
  readonly seed: number;
  readonly onProgress: (done: number) => void | Promise<void>;
}

export const runJudge = async (
  cell: JudgeCell,
  acquired: AcquireResult,
  { threads, root, onProgress = () => {} }: CellRun,
): Promise<JudgeResult> => {
  const { task: name, dataSeed, features, settings, seed } = cell.acquisition;
  const task = await loadTask({ name, dataSeed, features, root });
  const frozen: Frozen = {
    prepared: prepareSeed(task, settings, seed),
    labelled: Int32Array.from(acquired.labelled),
    weights: task.weights,
    privileged: privilegedIn(task),
    forest: forest({ ...settings.forest, ...(threads === undefined ? {} : { threads }) }),
    seed,
    onProgress,
  };
  if (cell.kind === "generalize") return generalized(cell, frozen);
  return cell.kind === "reject-option" ? rejected(cell, frozen) : represented(cell, frozen);
};

const learnerOf = async (model: GeneralizeCell["model"], own: Learner): Promise<Learner> => {
  if (model === "boosting") return (await import("../learners/boosting.js")).boosting();
  if (model === "mlp") return (await import("../learners/mlp.js")).mlp();
  return model === "svm" ? (await import("../learners/svm.js")).svm() : own;
};

const generalized = async (
  { model }: GeneralizeCell,
  { prepared: { features, target, sensitive, split }, labelled, weights, forest: own, seed }: Frozen,
): Promise<JudgeResult> => {
  const learner = await learnerOf(model, own);
  const metrics = evaluate({
    features,
    target,
    sensitive: sensitive[0],
    labelled,
    test: split.test,
    weights,
    learner,
    sensitiveLearner: learner,
    stream: randomStream(seed).split("generalization").split(model),
  });
  return { metrics };
};

/** The rule is fitted on rows that the forest has not seen; both are of what was acquired (appendix on ROC). */
const rejected = (
  { validationFraction, band }: RejectOptionCell,
  { prepared: { features, target, split }, labelled, weights, privileged, forest: learner, seed }: Frozen,
): JudgeResult => {
  const stream = randomStream(seed).split("reject option");
  const { labels } = target;
  const { rest, part } = stratify(
    labelled,
    labels,
    privileged,
    validationFraction,
    stream.split("validation"),
  );
  const classifier = fit(learner, { features, ...target, rows: rest, weights }, stream.split("forest"));
  const scoresOf = (rows: Int32Array): Float64Array => {
    const probabilities = classifier.predict(features, rows);
    return Float64Array.from(rows, (_, i) => Math.min(1, probabilities[2 * i + 1]));
  };
  const of = (all: Int32Array, rows: Int32Array) => rows.map((row) => all[row]);
  const rule = fitRejectOption(scoresOf(part), of(labels, part), of(privileged, part), { band });
  const { test } = split;
  const predicted = applyRejectOption(rule, scoresOf(test), of(privileged, test));
  const { accuracy, dpRatio, tprRatio, fprRatio, dpDifference, selectionRate } = parityRatios(
    predicted,
    of(labels, test),
    of(privileged, test),
  );
  return {
    metrics: { accuracy, dpRatio, tprRatio, fprRatio, dpDifference, selectionRate },
    warning: rule.warning,
  };
};

/** Models of the target and of the group read the representation instead of the features (appendix on LFR). */
const represented = async (
  { prototypes, reconstruction, prediction, parity, steps, restarts }: RepresentationCell,
  { prepared, labelled, weights, privileged, forest: learner, seed, onProgress }: Frozen,
): Promise<JudgeResult> => {
  const { features, target, sensitive, split } = prepared;
  const stream = randomStream(seed).split("representation");
  const walk = fairRepresentationSteps(
    {
      features,
      rows: labelled,
      labels: labelled.map((row) => target.labels[row]),
      privileged: labelled.map((row) => privileged[row]),
    },
    stream.split("learning"),
    { prototypes, reconstruction, prediction, parity, maxSteps: steps, restarts },
  );
  let next = walk.next();
  for (; next.done !== true; next = walk.next()) await onProgress(next.value.steps / next.value.mostSteps);
  const metrics = evaluate({
    features: applyRepresentation(next.value, features),
    target,
    sensitive: sensitive[0],
    labelled,
    test: split.test,
    weights,
    learner,
    sensitiveLearner: learner,
    stream: stream.split("evaluation"),
  });
  const { collapse } = next.value;
  return { metrics, warning: collapse };
};

const privilegedIn = ({ target, sensitive: [{ classes, labels: groups }] }: Task): Int32Array => {
  const rates = classes.map((_, group) => {
    const own = target.labels.filter((label, row) => label >= 0 && groups[row] === group);
    return own.reduce((sum, label) => sum + label, 0) / Math.max(1, own.length);
  });
  const best = rates.indexOf(Math.max(...rates));
  return groups.map((group) => Number(group === best));
};
