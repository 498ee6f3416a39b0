/** What was acquired is frozen, and something else is made of it: another model, or a mitigation (section 6.4). */
import { unpaced } from "../core/options.js";
import { seededStream } from "../core/random.js";
import { parityRatios } from "../fairness/group-metrics.js";
import { learnerNamed } from "../learners/by-name.js";
import type { Learner } from "../learners/classifier.js";
import { applyRepresentation, learnFairRepresentation } from "../mitigation/learned-fair-representation.js";
import { stratify } from "../mitigation/stratify.js";
import type { Task } from "../tables/task.js";
import { evaluate } from "../workflows/evaluation.js";
import { judgeLearner } from "../workflows/generalization.js";
import { favourableScoreSteps, rejectRows } from "../workflows/mitigate.js";
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
  readonly onProgress: (done: number) => unknown;
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
    forest: learnerNamed("forest", { ...settings.forest, ...(threads === undefined ? {} : { threads }) }),
    seed,
    onProgress,
  };
  if (cell.kind === "generalize") return generalized(cell, frozen);
  return cell.kind === "reject-option" ? rejected(cell, frozen) : represented(cell, frozen);
};

const generalized = (
  { model }: GeneralizeCell,
  { prepared, labelled, weights, forest: own, seed }: Frozen,
): JudgeResult => {
  const learner = model === "forest" ? own : learnerNamed(model);
  const { test } = prepared.split;
  const metrics = judgeLearner({ ...prepared, test }, labelled, weights, { name: model, learner }, seed);
  return { metrics };
};

/** The rule is fitted on rows that the forest has not seen; both are of what was acquired (appendix on ROC). */
const rejected = (
  { validationFraction, band }: RejectOptionCell,
  { prepared: { features, target, split }, labelled, weights, privileged, forest: learner, seed }: Frozen,
): JudgeResult => {
  const stream = seededStream(seed).split("reject option");
  const { labels } = target;
  const { rest, part } = stratify(
    labelled,
    labels,
    privileged,
    validationFraction,
    stream.split("validation"),
  );
  const { test } = split;
  const rows = { learnFrom: rest, fitOn: part, test, labels, privileged };
  const scoresOf = unpaced(favourableScoreSteps(features, rows, learner, weights, stream.split("forest")));
  const { rule, decided } = rejectRows(scoresOf, rows, { band });
  const of = (all: Int32Array) => test.map((row) => all[row]);
  const { accuracy, dpRatio, tprRatio, fprRatio, dpDifference, selectionRate } = parityRatios(
    decided,
    of(labels),
    of(privileged),
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
  const stream = seededStream(seed).split("representation");
  const representation = await learnFairRepresentation(
    {
      features,
      rows: labelled,
      labels: labelled.map((row) => target.labels[row]),
      privileged: labelled.map((row) => privileged[row]),
    },
    stream.split("learning"),
    {
      prototypes,
      reconstruction,
      prediction,
      parity,
      maxSteps: steps,
      restarts,
      onProgress: ({ done, total }) => onProgress(done / total),
    },
  );
  const metrics = evaluate({
    features: applyRepresentation(representation, features),
    target,
    sensitive: sensitive[0],
    labelled,
    test: split.test,
    weights,
    learner,
    sensitiveLearner: learner,
    stream: stream.split("evaluation"),
  });
  return { metrics, warning: representation.collapse };
};

const privilegedIn = ({ target, sensitive: [{ classes, labels: groups }] }: Task): Int32Array => {
  const rates = classes.map((_, group) => {
    const own = target.labels.filter((label, row) => label >= 0 && groups[row] === group);
    return own.reduce((sum, label) => sum + label, 0) / Math.max(1, own.length);
  });
  const best = rates.indexOf(Math.max(...rates));
  return groups.map((group) => Number(group === best));
};
