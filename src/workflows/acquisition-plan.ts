/** What a live acquisition stands on: the task of its table, the rows that are asked about, and the models. */
import { fit, type PoolLabel, type SensitiveModel, type SingleModel } from "../active/pool-models.js";
import { strategies } from "../active/strategies.js";
import { InputError } from "../core/errors.js";
import type { Optional } from "../core/options.js";
import { type RandomStream, seededStream } from "../core/random.js";
import type { FeatureMatrix, MemberProbabilities } from "../learners/classifier.js";
import { forest } from "../learners/forest.js";
import { type Encoder, fitEncoder } from "../tables/encoder.js";
import {
  applyRule,
  chooseLabel,
  columnsOfRule,
  combineLabels,
  type Label,
  type LabelChoice,
} from "../tables/label.js";
import { withGroupSizes } from "../tables/small-groups.js";
import { columnNamed, columnNames, type Table } from "../tables/table.js";
import { defineTask, type Task, type TaskSettings, taskTexts } from "../tables/task.js";
import { sharesOf } from "./acquired-shares.js";
import { type AcquisitionSettings, compositionOf, recommendedFor } from "./acquisition-settings.js";
import type { ComputeDevice } from "./device.js";
import { type ColumnQuotas, quotaGroups, requireRoom } from "./groups-by.js";
import { type RowSessionOptions, rowSessionTexts } from "./row-session.js";
import { type RevealedModelName, revealedModel, worstOf } from "./sensitive-models.js";

/** Where the predictions of the sensitive labels come from. */
export type SensitiveModelChoice =
  /** Fitted, before each question, on the sensitive labels of the rows that are labelled. */
  | RevealedModelName
  /** Fitted once on another table that has the sensitive columns: no sensitive label of what is acquired is needed. */
  | { readonly pretrained: Table }
  /** Supplied for every row of the table, one for each sensitive label: [rows, members, classes]. Its column may be empty. */
  | { readonly supplied: readonly MemberProbabilities[] }
  /** Several: the one that finds most leakage counts, candidate by candidate. */
  | readonly (RevealedModelName | { readonly pretrained: Table })[];

/** How an acquisition is told what to do; each has the default of {@link recommendedFor} unless it says otherwise. */
export interface AcquisitionOptions
  extends Optional<Omit<AcquisitionSettings, "goal">>,
    Omit<TaskSettings, "sensitive"> {
  /** Attributes that must not be given away; may be left out for methods that do not look at them. */
  readonly sensitive?: readonly LabelChoice[] | undefined;
  /**
   * Where the scores are computed. Default `cpu`, the reference. On a GPU they are within 1e-6 nats of its; `auto` takes it
   * where a question has so much to score that it pays. Notes say what was used.
   */
  readonly device?: ComputeDevice | undefined;
  /** What a nat of leakage costs (10; 3 with the method fairbed-set). */
  readonly beta?: number | undefined;
  /** What beta is to be found for, instead of giving it. */
  readonly goal?: AcquisitionSettings["goal"] | undefined;
  /** How many labels are to be acquired in all. Needed for a leakage budget and for quotas; no limit unless given. */
  readonly budget?: number | undefined;
  /** A column with what the label of each row costs, which is then no feature. */
  readonly costs?: string | undefined;
  /** What a unit of cost is worth, in nats; costs do not decide unless it is given. */
  readonly costWeight?: number | undefined;
  /** At least and at most so many of all that is acquired, by the values of a column. */
  readonly quotas?: ColumnQuotas | undefined;
  /** Rows that predictions are wanted for; those of the table without a label unless given. */
  readonly targets?: Table | undefined;
  /** (`"revealed"`) */
  readonly sensitiveModel?: SensitiveModelChoice | undefined;
  /** Where the random streams start (0). */
  readonly seed?: number | undefined;
}

export const planTexts = {
  twoGoals: "beta and a goal were both given, and a goal finds beta: give one of them",
  refused:
    'the target column has the value "refused", which stands for an answer that was not given: call it something else',
  costs: (column: string) =>
    `the costs in the column "${column}" are not all numbers of at least 0: give each row one`,
  parity:
    "the goal parityAtLeast needs rows whose sensitive label is known and whose label is not: there are none",
  suppliedTargets: "supplied members are of the rows of the table: leave out `targets`",
  supplied: (given: number, rows: number) =>
    `supplied members are of ${given} rows and the table has ${rows}: give them for each row, in its order`,
  noneLeft: "every row of the table has a label, so there is nothing to ask for: give rows without one",
};

export interface AcquisitionPlan {
  readonly task: Task;
  readonly settings: AcquisitionSettings;
  /** The sensitive labels of every row; those of a pretrained model have a rule of another table. */
  readonly sensitive: readonly Label[];
  readonly rows: RowSessionOptions;
}

/** All that follows from the table and the options. */
export const planAcquisition = (table: Table, options: AcquisitionOptions): AcquisitionPlan => {
  const settings = settingsOf(options);
  const stream = seededStream(options.seed ?? 0)
    .split("acquisition")
    .split("live");
  const { task, sensitive } = acquisitionTask(table, options);
  const encoder = fitEncoder(task, undefined, { categories: settings.categories });
  const features = featuresOf(encoder, table, options.targets);
  const target = labelOf(task.target, features.rows);
  const attributes = sensitive.map((label) => labelOf(label, features.rows));
  const pool = rowsWhere(target.labels.subarray(0, table.rows), (label) => label < 0);
  if (pool.length === 0) throw new InputError("no-pool", planTexts.noneLeft);
  const { weights } = task;
  const parityRows = pool.filter((row) => (attributes[0]?.labels[row] ?? -1) >= 0);
  if ("parityAtLeast" in settings.goal && parityRows.length === 0) {
    throw new InputError("goal", planTexts.parity);
  }
  const quotas = options.quotas === undefined ? undefined : quotaGroups(table, options.quotas);
  if (options.quotas !== undefined) requireRoom(options.quotas, options.budget ?? pool.length);
  return {
    task,
    settings,
    sensitive,
    rows: {
      ...settings,
      features,
      target,
      sensitive: attributes,
      sensitiveModels: modelsOf(options, settings, { table, encoder, sensitive, stream }),
      shares: sharesOf(settings.shares, sensitive[0], attributes[0]?.labels ?? target.labels),
      learner: forest(settings.forest),
      weights,
      initial: rowsWhere(target.labels, (label) => label >= 0),
      pool,
      targets:
        options.targets === undefined
          ? pool
          : Int32Array.from({ length: options.targets.rows }, (_, i) => table.rows + i),
      budget: options.budget,
      costs: options.costs === undefined ? undefined : costsOf(table, options.costs),
      costWeight: options.costs === undefined ? undefined : (options.costWeight ?? 0),
      groups: quotas?.groups,
      quotas: quotas?.quotas,
      parityOf:
        "parityAtLeast" in settings.goal
          ? async (classifier) =>
              (await import("./parity-on.js")).parityOn(
                features,
                target.classes,
                attributes[0].labels,
                parityRows,
                weights,
              )(classifier)
          : undefined,
      stream,
    },
  };
};

/** The options with what is recommended in the place of those that are not given. */
export const settingsOf = (options: AcquisitionOptions): AcquisitionSettings => {
  const { beta, goal } = options;
  if (beta !== undefined && goal !== undefined) throw new InputError("goal", planTexts.twoGoals);
  if ((options.shares ?? "none") !== "none" && (options.sensitive ?? []).length === 0) {
    throw new InputError("shares", rowSessionTexts.noGroups);
  }
  const recommended = recommendedFor(options.method ?? recommendedFor("fairbed").method);
  return {
    method: recommended.method,
    goal: goal ?? (beta === undefined ? recommended.goal : { beta }),
    batch: options.batch ?? recommended.batch,
    batchKind: options.batchKind ?? recommended.batchKind,
    temperature: options.temperature ?? recommended.temperature,
    combine: options.combine ?? recommended.combine,
    targetsPerStep: options.targetsPerStep ?? recommended.targetsPerStep,
    categories: options.categories ?? recommended.categories,
    forest: options.forest ?? recommended.forest,
    correction: options.correction ?? recommended.correction,
    sensitiveForest: options.sensitiveForest ?? recommended.sensitiveForest,
    sensitiveCorrection: options.sensitiveCorrection ?? recommended.sensitiveCorrection,
    ...compositionOf(options, options),
    reweigh: options.reweigh ?? recommended.reweigh,
  };
};

/** The task of the table, with the sensitive labels of wherever they are known: what answers are checked by. */
export const acquisitionTask = (
  table: Table,
  options: AcquisitionOptions,
): Pick<AcquisitionPlan, "task" | "sensitive"> => {
  const { method } = settingsOf(options);
  const { sensitiveModel: model = "revealed", sensitive = [], combineSensitive } = options;
  const { uses } = strategies[method];
  if ((uses.sensitive || uses.joint || uses.groups || uses.boundary) && sensitive.length === 0) {
    throw new InputError("no-sensitive", taskTexts.noSensitive);
  }
  const other = pretrainedOn(model);
  const chosen = other === undefined ? [] : sensitive.map((choice) => chooseLabel(other, choice));
  const whole =
    other !== undefined && combineSensitive && chosen.length > 1 ? [combineLabels(other, chosen)] : chosen;
  const elsewhere =
    other === undefined ? [] : whole.map((label) => withGroupSizes(label, other, options).label);
  const names = new Set(columnNames(table));
  const hidden = elsewhere.flatMap(({ rule }) => columnsOfRule(rule)).filter((name) => names.has(name));
  const task = defineTask(
    table,
    {
      ...options,
      sensitive: other === undefined ? sensitive : [],
      exclude: [
        ...(options.exclude ?? []),
        ...hidden,
        ...(options.costs === undefined ? [] : [options.costs]),
      ],
    },
    { open: true, sensitiveElsewhere: true },
  );
  if (hasValue(table, task.target, "refused")) throw new InputError("refused", planTexts.refused);
  const own = elsewhere.map((label): Label => {
    const known = columnsOfRule(label.rule).every((name) => names.has(name));
    return { ...label, labels: known ? applyRule(label.rule, table) : new Int32Array(table.rows).fill(-1) };
  });
  if (other !== undefined) return { task, sensitive: own };
  return { task, sensitive: task.sensitive };
};

const hasValue = (table: Table, { rule }: Label, value: string): boolean =>
  columnsOfRule(rule).some((name) => {
    const column = columnNamed(table, name);
    return column.kind === "categorical" && column.levels.includes(value);
  });

/** The features of the table, and below them those of the rows that predictions are wanted for. */
const featuresOf = (encoder: Encoder, table: Table, targets: Table | undefined): FeatureMatrix => {
  const own = encoder.encode(table);
  if (targets === undefined) return own;
  const more = encoder.encode(targets);
  const values = new Float32Array(own.values.length + more.values.length);
  values.set(own.values);
  values.set(more.values, own.values.length);
  return { values, rows: own.rows + more.rows, columns: own.columns };
};

/** Unknown for the rows below the table. */
const labelOf = ({ labels, classes }: Label, rows: number): PoolLabel => {
  const all = new Int32Array(rows).fill(-1);
  all.set(labels);
  return { labels: all, classes: classes.length };
};

const rowsWhere = (labels: Int32Array, holds: (label: number) => boolean): Int32Array =>
  Int32Array.from(labels.keys()).filter((row) => holds(labels[row]));

interface ModelContext {
  readonly table: Table;
  readonly encoder: Encoder;
  readonly sensitive: readonly Label[];
  readonly stream: RandomStream;
}

const isList = (model: SensitiveModelChoice): model is Extract<SensitiveModelChoice, readonly unknown[]> =>
  Array.isArray(model);

/** The table that a model is fitted on before the start, where there is one. */
export const pretrainedOn = (model: SensitiveModelChoice | undefined): Table | undefined => {
  if (model === undefined || typeof model === "string") return undefined;
  if (isList(model)) return model.map(pretrainedOn).find((table) => table !== undefined);
  return "pretrained" in model ? model.pretrained : undefined;
};

const modelsOf = (
  { sensitiveModel: model = "revealed", targets }: AcquisitionOptions,
  settings: AcquisitionSettings,
  { table, encoder, sensitive, stream }: ModelContext,
): SensitiveModel[] => {
  if (typeof model === "object" && "supplied" in model) {
    if (targets !== undefined) throw new InputError("targets", planTexts.suppliedTargets);
    const wrong = model.supplied.find(({ rows }) => rows !== table.rows);
    if (wrong !== undefined) throw new InputError("supplied", planTexts.supplied(wrong.rows, table.rows));
    return model.supplied.map((members) => ({ kind: "supplied", members }));
  }
  return sensitive.map(({ rule, classes }, i) => {
    const single = (each: RevealedModelName | { readonly pretrained: Table }): SingleModel => {
      if (typeof each === "string") return revealedModel(each, settings.sensitiveForest);
      const rows = Int32Array.from({ length: each.pretrained.rows }, (_, row) => row);
      const known = {
        features: encoder.encode(each.pretrained),
        labels: applyRule(rule, each.pretrained),
        classes: classes.length,
        rows,
      };
      const own = stream.split("pretrained").split(i);
      return { kind: "fixed", classifier: fit(forest(settings.sensitiveForest), known, own) };
    };
    return worstOf((isList(model) ? model : [model]).map(single));
  });
};

const costsOf = (table: Table, name: string): Float64Array => {
  const column = columnNamed(table, name);
  if (column.kind !== "numeric" || column.values.some((value) => !(value >= 0 && value < Infinity))) {
    throw new InputError("costs", planTexts.costs(name));
  }
  return column.values;
};
