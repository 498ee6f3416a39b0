/** A fitted model as plain data: what {@link fitModel} returns, a file holds and {@link predict} reads. */
import { InputError } from "../core/errors.js";
import type { LeftOutGroup } from "../core/left-out.js";
import type { Interval } from "../core/stats.js";
import type { RateName } from "../fairness/group-metrics.js";
import {
  LEARNER_NAMES,
  type LearnerName,
  type LearnerOptions,
  loadClassifier,
  type SavedClassifier,
} from "../learners/by-name.js";
import type { Classifier, FeatureMatrix } from "../learners/classifier.js";
import { applyFairRule, type FairRule } from "../mitigation/fair-rule.js";
import type { GroupCalibration } from "../mitigation/group-calibration.js";
import { applyRepresentation, type FairRepresentation } from "../mitigation/learned-fair-representation.js";
import { applyRejectOption, type RejectOptionRule } from "../mitigation/reject-option.js";
import {
  type Encoder,
  type EncoderRules,
  loadEncoder,
  needsLaterEncoder,
  saveEncoder,
} from "../tables/encoder.js";
import { columnsOfRule, type LabelRule, mergesGroups } from "../tables/label.js";
import type { Table } from "../tables/table.js";
import type { AgainstReference } from "./against-reference.js";
import type { GroupModel } from "./group-model.js";
import type { RuleCounting } from "./tune-rule.js";

export const MODEL_FORMAT = "fairbed-model-1";
/** Of a model whose classes are not simply the most probable ones of its features: versions that know no rule refuse it. */
export const MITIGATED_FORMAT = "fairbed-model-2";
/** Of a model whose columns or groups are read in a way that versions which write only the two above do not know. */
export const RECODED_FORMAT = "fairbed-model-3";

const FORMATS: readonly string[] = [MODEL_FORMAT, MITIGATED_FORMAT, RECODED_FORMAT];

/** The oldest format that says all of a model, so that old versions read what they can. */
export const modelFormat = ({
  encoder,
  representation,
  rule,
  rejectOption,
}: Pick<FittedModel, "encoder" | "representation" | "rule" | "rejectOption">): FittedModel["format"] => {
  if (needsLaterEncoder(encoder)) return RECODED_FORMAT;
  if (rejectOption !== undefined && mergesGroups(rejectOption.attribute)) return RECODED_FORMAT;
  const isMitigated = [representation, rule, rejectOption].some((each) => each !== undefined);
  return isMitigated ? MITIGATED_FORMAT : MODEL_FORMAT;
};

/** A share with its interval; left out where there is nothing to take a share of, and `reason` says so. */
export interface HeldOutRate {
  readonly value?: number | undefined;
  readonly interval?: Interval | undefined;
  readonly reason?: string | undefined;
}

export type HeldOutRates = Readonly<Record<RateName, HeldOutRate>>;

/** How one class, the positive one, fares against all others in every group of an attribute. */
export interface HeldOutGroups {
  /** The sensitive attribute; several also together, as the last. */
  readonly sensitive: string;
  readonly positive: string;
  readonly groups: readonly {
    readonly name: string;
    readonly rows: number;
    readonly rates: HeldOutRates;
  }[];
  /** Largest difference and smallest ratio between the groups that are large enough to compare. */
  readonly gaps: Readonly<
    Record<
      "demographicParity" | "equalisedOdds" | "equalOpportunity" | "predictiveParity",
      { readonly difference: HeldOutRate; readonly ratio: HeldOutRate }
    >
  >;
  /** Every group held against the one that was named for it; absent where none was. */
  readonly against?: AgainstReference | undefined;
  /** Groups that are not compared, because they are too small; absent in files of versions that did not say. */
  readonly leftOut?: readonly LeftOutGroup[] | undefined;
}

/** What the model is worth, from rows that the models that judged them had not seen. */
export interface HeldOutMetrics {
  /** Every row once by a model of the other folds, or one part of the rows by a model of the rest. */
  readonly method: "cross-validation" | "test-fraction";
  readonly folds?: number | undefined;
  readonly testFraction?: number | undefined;
  /** Rows judged. */
  readonly rows: number;
  /** Of the intervals. */
  readonly level: number;
  /** For two classes those of the positive one, else one entry for each class against all others. */
  readonly overall: readonly { readonly positive: string; readonly rates: HeldOutRates }[];
  /** By attribute, and by class where there are more than two; none without a sensitive column. */
  readonly groups: readonly HeldOutGroups[];
}

/** The fair rule of a model: what decides, without the attribute. */
export interface ModelRule extends FairRule {
  /** The sensitive attribute, several as one, and its groups in the order of multipliers and shares. */
  readonly attribute: string;
  readonly groups: readonly string[];
  /** The ratio that was asked for. */
  readonly level: number;
  /** The model of the group: none where only one group, `only`, was there. */
  readonly groupModel: {
    readonly fitted?: SavedClassifier | undefined;
    readonly only: number;
    readonly calibration: GroupCalibration;
  };
  /** What it was chosen on, and the ratio there: how many labelled rows (by models that had not seen them) and others. */
  readonly chosenOn: {
    readonly by: RuleCounting | "attributes";
    readonly labelled: number;
    readonly unlabelled: number;
    readonly ratio: number;
    readonly interval: Interval;
  };
  /** The ratio on rows that such rules were neither learnt from nor chosen on; absent where none were held out. */
  readonly heldOut?: HeldOutRate | undefined;
  readonly warnings: readonly string[];
}

/** The reject option of a model, which needs the attribute. */
export interface ModelRejectOption extends RejectOptionRule {
  /** How a table says the group of a row, and the class of that which is privileged. */
  readonly attribute: LabelRule;
  readonly privileged: number;
  /** Rows it was chosen on, by models that had not seen them, and the difference of the selection rates there. */
  readonly rows: number;
  readonly difference: number;
}

/**
 * Plain data: `JSON.stringify` writes it, {@link readModel} reads and checks it. It holds no row of the table, except
 * with the learner `svm`, whose state is the rows that decide; the levels of the categorical columns and the thresholds
 * of trees are values of the table.
 */
export interface FittedModel {
  readonly format: typeof MODEL_FORMAT | typeof MITIGATED_FORMAT | typeof RECODED_FORMAT;
  /** Of the library that wrote it. */
  readonly version: string;
  /** What is predicted; of two classes the second is the positive one. */
  readonly target: { readonly name: string; readonly classes: readonly string[] };
  /** Names of the sensitive attributes that it was judged by, and does not read unless they are among the columns. */
  readonly sensitive: readonly string[];
  /** The columns that a table must have, and what they hold. */
  readonly columns: readonly { readonly name: string; readonly kind: "numeric" | "categorical" }[];
  readonly encoder: EncoderRules;
  readonly learner: {
    readonly name: LearnerName;
    readonly options: LearnerOptions[LearnerName];
    readonly fitted: SavedClassifier;
  };
  /** Its rows counted so that outcome and group were independent. */
  readonly reweighed?: true | undefined;
  /** What the learner reads instead of the encoded columns. */
  readonly representation?: FairRepresentation | undefined;
  /** What decides instead of the most probable class. */
  readonly rule?: ModelRule | undefined;
  readonly rejectOption?: ModelRejectOption | undefined;
  readonly seed: number;
  /** Rows that it was fitted on: all whose label is known. */
  readonly rows: number;
  /** Absent where too few rows have a label to hold any out; a note says so. */
  readonly heldOut?: HeldOutMetrics | undefined;
  /** What was left out, and why: one sentence each. */
  readonly notes: readonly string[];
}

export const modelTexts = {
  notJson: "this is no model file, since it is not JSON: give a file that fairbed fit wrote",
  notModel: `this is no model file, since its format is not ${MODEL_FORMAT}: give a file that fairbed fit wrote`,
  otherFormat: (given: string, version: string) =>
    `this model has the format ${given}${version === "" ? "" : ` of version ${version}`}, and this version reads ${FORMATS.join(", ")}: fit it again, or use the version that wrote it`,
  damaged: (part: string) =>
    `this model file is damaged (its ${part} cannot be read): fit the model again, or fetch the file again`,
};

/** A model and what it is made of, ready to answer. */
export interface LoadedModel {
  readonly model: FittedModel;
  readonly encoder: Encoder;
  /** What the classifier reads of rows of a table. */
  readonly encode: (table: Table, rows?: ArrayLike<number>) => FeatureMatrix;
  readonly classifier: Classifier;
  readonly rule?: { readonly rule: FairRule; readonly groupModel: GroupModel } | undefined;
  readonly rejectOption?:
    | {
        readonly rule: RejectOptionRule;
        readonly attribute: LabelRule;
        readonly privileged: number;
      }
    | undefined;
}

const loaded = new WeakMap<FittedModel, LoadedModel>();

/**
 * A model that was written as JSON, from its text or its parsed value; anything else is refused with one sentence.
 *
 * @example
 * ```ts
 * import { fitModel, readModel, tableOf } from "fairbed";
 *
 * const people = Array.from({ length: 40 }, (_, i) => ({ skill: i % 8, hired: i % 8 > 3 ? "yes" : "no" }));
 * const model = await fitModel(tableOf(people), { target: "hired=yes" });
 * const again = readModel(JSON.stringify(model));
 * console.log(again.columns); // [ { name: 'skill', kind: 'numeric' } ]
 * ```
 */
export const readModel = (given: string | FittedModel): FittedModel => loadModel(parsed(given)).model;

const parsed = (given: string | FittedModel): FittedModel => {
  if (typeof given !== "string") return given;
  try {
    return JSON.parse(given);
  } catch {
    // The parser's words quote the text, which may be anything.
    throw new InputError("model-file", modelTexts.notJson);
  }
};

/** Checked and loaded once for each model value. */
export const loadModel = (model: FittedModel): LoadedModel => {
  const known = typeof model === "object" && model !== null ? loaded.get(model) : undefined;
  if (known !== undefined) return known;
  requireFormat(model);
  const encoder = part("encoder", () => encoderOf(model.encoder));
  const classifier = part("learner", () => {
    if (!LEARNER_NAMES.includes(model.learner.name)) throw new TypeError("an unknown learner");
    return loadClassifier(model.learner.fitted);
  });
  part("target", () => {
    const { name, classes } = model.target;
    const right = typeof name === "string" && classes.length === classifier.classes && classes.every(isText);
    if (!right) throw new TypeError("other classes than the learner's");
  });
  part("columns", () => {
    const names = encoder.rules.columns.map((rule) => `${rule.name} ${rule.kind}`).join("\n");
    if (model.columns.map(({ name, kind }) => `${name} ${kind}`).join("\n") !== names)
      throw new TypeError("other columns than the encoder's");
  });
  part("notes", () => {
    if (!model.notes.every(isText)) throw new TypeError("not texts");
  });
  const { representation } = model;
  if (representation !== undefined)
    part("representation", () => checkRepresentation(representation, encoder));
  const ready = {
    model,
    encoder,
    encode: (table: Table, rows?: ArrayLike<number>): FeatureMatrix => {
      const features = encoder.encode(table, rows);
      return representation === undefined ? features : applyRepresentation(representation, features);
    },
    classifier,
    rule: part("rule", () => ruleOf(model)),
    rejectOption: part("reject option", () => rejectOptionOf(model)),
  };
  loaded.set(model, ready);
  return ready;
};

const finite = (values: readonly unknown[]): boolean =>
  values.every((value) => typeof value === "number" && Number.isFinite(value));

const checkRepresentation = (
  { weights, prototypes, standardisation }: FairRepresentation,
  encoder: Encoder,
) => {
  const columns = encoder.featureNames.length;
  const scaling = standardisation === undefined ? [] : [standardisation.means, standardisation.scales];
  const right =
    weights.length === prototypes.length &&
    finite(weights) &&
    [...prototypes, ...scaling].every((each) => each.length === columns && finite(each));
  if (!right) throw new TypeError("other columns than the encoder's");
};

const ruleOf = ({ rule: saved, target }: FittedModel): LoadedModel["rule"] => {
  if (saved === undefined) return undefined;
  const { metric, multipliers, shares, threshold, groups, groupModel } = saved;
  const { fitted, only, calibration } = groupModel;
  const rule: FairRule = { metric, multipliers, shares, threshold };
  const { strength, shifts, slopes } = calibration;
  const count = shares.length;
  const classifier = fitted === undefined ? undefined : loadClassifier(fitted);
  const right =
    target.classes.length === 2 &&
    finite([strength, ...shifts, ...slopes]) &&
    [shifts, slopes].every((each) => each.length === count) &&
    (classifier?.classes ?? count) === count &&
    groups.length <= count &&
    groups.every(isText) &&
    Number.isInteger(only) &&
    only >= 0 &&
    only < count;
  if (!right) throw new TypeError("other groups than the rule's");
  // Throws where the rule itself is none.
  const even = Array.from({ length: count }, () => 1 / count);
  applyFairRule(rule, { scores: [0.5], groupProbabilities: even });
  return { rule, groupModel: { classifier, only, groups: count, calibration } };
};

const rejectOptionOf = ({ rejectOption: saved, target }: FittedModel): LoadedModel["rejectOption"] => {
  if (saved === undefined) return undefined;
  const { threshold, margin, attribute, privileged } = saved;
  const rule = { threshold, margin };
  applyRejectOption(rule, [0.5], [1]);
  const right =
    target.classes.length === 2 &&
    columnsOfRule(attribute).every(isText) &&
    attribute.classes.every(isText) &&
    Number.isInteger(privileged) &&
    privileged >= 0 &&
    privileged < attribute.classes.length;
  if (!right) throw new TypeError("no attribute");
  return { rule, attribute, privileged };
};

const isText = (given: unknown): given is string => typeof given === "string";

const requireFormat = (model: Partial<FittedModel> | null | undefined): void => {
  const format: unknown = model?.format;
  if (typeof format === "string" && FORMATS.includes(format)) return;
  if (typeof format === "string" && format.startsWith("fairbed-model-")) {
    const text = modelTexts.otherFormat(format, typeof model?.version === "string" ? model.version : "");
    throw new InputError("model-format", text);
  }
  throw new InputError("model-file", modelTexts.notModel);
};

/** One sentence names the part, whatever it was that could not be read. */
const part = <Value>(name: string, read: () => Value): Value => {
  try {
    return read();
  } catch (cause) {
    throw new InputError("model-damaged", modelTexts.damaged(name), { cause });
  }
};

/** The encoder of rules that were read from a file, checked. */
const encoderOf = (rules: EncoderRules): Encoder =>
  loadEncoder(saveEncoder({ rules, featureNames: [], sourceColumns: [], encode: unused }));

const unused = (): never => {
  throw new TypeError("only its rules are read");
};
