/** What a fit is asked to do about unfairness: checked, with defaults. */
import { InputError } from "../core/errors.js";
import type { FairMetric } from "../mitigation/fair-rule.js";
import type { RepresentationOptions } from "../mitigation/learned-fair-representation.js";
import type { RejectOptionOptions } from "../mitigation/reject-option.js";
import type { Label } from "../tables/label.js";
import { intersectionOf, type Task } from "../tables/task.js";
import { mitigationSplitTexts } from "./mitigation-split.js";
import type { RuleCounting } from "./tune-rule.js";
import { TUNE_RULE_DEFAULTS } from "./tune-rule-defaults.js";

/** Decisions by the fair rule instead of the likelier class. */
export interface RuleOptions {
  /** What is to be equal: selection rates ("dp", unless given) or true positive rates ("eopp"). */
  readonly metric?: FairMetric | undefined;
  /** The least ratio of the lowest to the highest rate of a group (0.8). */
  readonly level?: number | undefined;
  /** The share of rows to select; that of the most accurate rule unless given. */
  readonly selectionRate?: number | undefined;
  /** By what the rates are counted that choose it ("soft"). */
  readonly by?: RuleCounting | undefined;
}

/** What may be done about unfairness in a fit; all of it goes by the sensitive attribute, several as one. */
export interface MitigationChoices {
  /** Rows count so that outcome and group are independent (false). */
  readonly reweigh?: boolean | undefined;
  /** Replaces the features by a learned fair representation: "lfr", or its settings. None unless given. */
  readonly represent?: "lfr" | RepresentationOptions | undefined;
  /** Decides by the fair rule: true, or its settings. Nothing at prediction needs the attribute. */
  readonly rule?: true | RuleOptions | undefined;
  /** Decides near the threshold by group: true, or its settings. The attribute must then be there at prediction. */
  readonly rejectOption?: true | RejectOptionOptions | undefined;
  /** The privileged group of a representation and a reject option; the one with the most favourable outcomes unless given. */
  readonly privileged?: string | undefined;
}

export interface Mitigations {
  readonly reweigh: boolean;
  readonly represent: RepresentationOptions | undefined;
  readonly rule: (RuleOptions & { readonly metric: FairMetric; readonly level: number }) | undefined;
  readonly rejectOption: RejectOptionOptions | undefined;
  readonly privileged: string | undefined;
  /** What the groups are: undefined where nothing is asked for. */
  readonly attribute: Label | undefined;
}

export const fitMitigationTexts = {
  noSensitive: (what: string) =>
    `${what} goes by a sensitive attribute, and none is given: name one, as in sensitive: ["sex"]`,
  twoDecisions:
    "the fair rule and the reject option both decide, and only one of them can: the rule needs no attribute at prediction, the reject option does; choose one",
  unusedPrivileged:
    "a privileged group is named, and neither a representation nor a reject option is asked for: leave it out, or ask for one of them",
};

const allOf = <Options extends object>(given: true | "lfr" | Options | undefined): Options | undefined =>
  given === undefined ? undefined : typeof given === "object" ? given : ({} as Options);

/** Throws one sentence where the choices do not go together, or do not fit the task. */
export const mitigationsOf = (task: Task, choices: MitigationChoices): Mitigations => {
  const { reweigh = false } = choices;
  const rule = allOf<RuleOptions>(choices.rule);
  const represent = allOf<RepresentationOptions>(choices.represent);
  const rejectOption = allOf<RejectOptionOptions>(choices.rejectOption);
  const asked = [
    ...(reweigh ? ["reweighing"] : []),
    ...(represent === undefined ? [] : ["a fair representation"]),
    ...(rule === undefined ? [] : ["the fair rule"]),
    ...(rejectOption === undefined ? [] : ["the reject option"]),
  ];
  if (rule !== undefined && rejectOption !== undefined)
    throw new InputError("two-decisions", fitMitigationTexts.twoDecisions);
  if (choices.privileged !== undefined && represent === undefined && rejectOption === undefined)
    throw new InputError("privileged", fitMitigationTexts.unusedPrivileged);
  if (asked.length > 0 && task.sensitive.length === 0)
    throw new InputError("no-sensitive", fitMitigationTexts.noSensitive(asked[0]));
  const privileged = choices.privileged ?? task.referenceGroup;
  const { name, classes } = task.target;
  if ((rule ?? represent ?? rejectOption) !== undefined && classes.length !== 2)
    throw new InputError("outcomes", mitigationSplitTexts.outcomes(name, classes.length));
  const { metric = TUNE_RULE_DEFAULTS.metric, level = TUNE_RULE_DEFAULTS.level } = rule ?? {};
  return {
    reweigh,
    represent,
    rule: rule === undefined ? undefined : { ...rule, metric, level },
    rejectOption,
    privileged,
    attribute: asked.length === 0 ? undefined : attributeOf(task),
  };
};

const attributeOf = (task: Task): Label => intersectionOf(task)?.label ?? task.sensitive[0];
