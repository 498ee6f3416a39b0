/** The options of `fit` about unfairness, and what they ask `fitModel` for. */
import { InputError } from "../../../core/errors.js";
import type { MitigationChoices } from "../../../workflows/fit-mitigations.js";
import type { RuleCounting } from "../../../workflows/tune-rule.js";
import { TUNE_RULE_DEFAULTS } from "../../../workflows/tune-rule-defaults.js";
import type { OptionValues } from "../../command.js";
import { choice, flag, optionalReal, text } from "../../options.js";

export const mitigationChoiceTexts = {
  noRule: (option: string) =>
    `${option} is about the fair rule, and none is asked for: add --rule dp, or leave it out`,
};

export const mitigationChoiceOptions = {
  reweigh: flag("--reweigh", "learn from rows that count so that outcome and group are independent"),
  rule: choice<"none" | "dp" | "eopp">(
    "--rule <metric>",
    "decide by the fair rule: equal selection rates (dp) or true positive rates (eopp)",
    ["none", "dp", "eopp"],
    "none",
  ),
  parity: optionalReal(
    "--parity <ratio>",
    `the least ratio of the lowest to the highest rate that the rule is to reach (${TUNE_RULE_DEFAULTS.level})`,
    { above: 0, max: 1 },
  ),
  ruleBy: choice<RuleCounting>(
    "--rule-by <way>",
    "choose the rule by predicted groups (soft), true ones of labelled rows, or both",
    ["soft", "true", "both"],
    TUNE_RULE_DEFAULTS.by,
  ),
  selectionRate: optionalReal(
    "--selection-rate <share>",
    "how many the rule selects; as many as is most accurate",
    {
      above: 0,
      max: 1,
    },
  ),
  unlabelled: text("--unlabelled <file>", "more rows, which need no labels, to choose the rule on"),
  probability: text(
    "--probability <column>",
    "column with the probability of each row that was drawn at random, empty for the others; unless given, all rows were",
  ),
  represent: choice<"none" | "lfr">(
    "--represent <how>",
    "replace the features by a learned fair representation (lfr)",
    ["none", "lfr"],
    "none",
  ),
  decide: choice<"class" | "reject-option">(
    "--decide <how>",
    "by the likelier class, or by group near the threshold (needs the group in predict)",
    ["class", "reject-option"],
    "class",
  ),
  privileged: text(
    "--privileged <group>",
    "of lfr and the reject option; the group with the most favourable outcomes unless given",
  ),
};

/** What is asked for; an option of the rule without one is refused. */
export const mitigationChoicesOf = ({
  reweigh,
  rule,
  parity,
  ruleBy,
  selectionRate,
  represent,
  decide,
  privileged,
}: Omit<OptionValues<typeof mitigationChoiceOptions>, "unlabelled" | "probability">): MitigationChoices => {
  if (rule === "none")
    for (const [option, given] of [
      ["--parity", parity !== undefined],
      ["--rule-by", ruleBy !== TUNE_RULE_DEFAULTS.by],
      ["--selection-rate", selectionRate !== undefined],
    ] as const)
      if (given) throw new InputError("no-rule", mitigationChoiceTexts.noRule(option));
  return {
    reweigh,
    rule: rule === "none" ? undefined : { metric: rule, level: parity, selectionRate, by: ruleBy },
    represent: represent === "none" ? undefined : represent,
    rejectOption: decide === "reject-option" ? true : undefined,
    privileged,
  };
};
