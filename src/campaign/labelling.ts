/** What whoever answers has to know: what is asked, and what may be told. Nothing of anybody. */
import { columnNamed } from "../tables/table.js";
import { type SingleRule, singleRules } from "../workflows/told-log.js";
import { type TellableValues, tellableValues } from "../workflows/told-values.js";
import type { LoadedCampaign } from "./loaded-campaign.js";

/** A column that is asked for, and what may be told of it. */
export interface AskedColumn {
  readonly column: string;
  readonly answer: TellableValues;
}

export interface PoolLabelling extends AskedColumn {
  readonly kind: "pool";
  /** As the campaign names it: `hired=yes`. */
  readonly target: string;
  /** How many annotators answer an item. */
  readonly opinions: number;
  /** Sensitive columns that may be told beside the label; empty where they are none of the annotator's business. */
  readonly sensitive: readonly AskedColumn[];
}

export interface DesignLabelling {
  readonly kind: "design";
  /** The model whose outcomes are observed, and what they are called: each is a number. */
  readonly target: string;
  readonly outcomes: readonly string[];
  /** How many observations a participant makes. */
  readonly observations: number;
}

export type Labelling = PoolLabelling | DesignLabelling;

export const labellingOf = (
  { content, settings }: Pick<LoadedCampaign, "content" | "settings">,
  { tellsSensitive }: { readonly tellsSensitive: boolean },
): Labelling => {
  if (content.kind === "design") {
    const { model, policy } = content;
    return {
      kind: "design",
      target: model.name,
      outcomes: model.outcomes,
      observations: policy.horizon,
    };
  }
  const { table, task, sensitive } = content;
  const asked = (rule: SingleRule): AskedColumn => ({
    column: rule.column,
    answer: tellableValues(rule, columnNamed(table, rule.column)),
  });
  const [target] = singleRules(task.target.rule);
  const told = tellsSensitive ? sensitive.flatMap(({ rule }) => singleRules(rule)) : [];
  const byColumn = new Map(told.map((rule) => [rule.column, rule]));
  return {
    kind: "pool",
    target: task.target.name,
    ...asked(target),
    opinions: settings.opinions,
    sensitive: [...byColumn.values()].map(asked),
  };
};
