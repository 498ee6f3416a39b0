/** What the export screen says first: what can be saved by now. */
import { listed } from "../../../core/list-in-words.js";
import type { Exported } from "../../exported.js";

export const exportAnswerTexts = {
  ready: (what: string, of: string, one: boolean) =>
    `${what.charAt(0).toUpperCase()}${what.slice(1)}${of} ${one ? "is" : "are"} ready to save, with the commands that make ${one ? "it" : "them"} again.`,
  none: (table: string) =>
    `Nothing has been made of ${table} yet: look at what it gives away, plan a collection, or fit a model here.`,
  campaigns: (count: number) => (count === 1 ? "the campaign" : `${count} campaigns`),
};

/** What there is, in words. */
export const thingsOf = ({ audit, plan, recipe, model, design, campaigns }: Exported): readonly string[] => [
  ...(audit === undefined ? [] : ["the audit report"]),
  ...(plan === undefined ? (recipe === undefined ? [] : ["the recipe"]) : ["the plan with its recipe"]),
  ...(model === undefined ? [] : ["the model"]),
  ...(design === undefined ? [] : ["the designs"]),
  ...(campaigns.length === 0 ? [] : [exportAnswerTexts.campaigns(campaigns.length)]),
];

export const exportAnswer = (exported: Exported): string => {
  const things = thingsOf(exported);
  const { table, campaigns } = exported;
  if (things.length === 0) return exportAnswerTexts.none(table?.name ?? "");
  const isOfTable = table !== undefined && campaigns.length === 0 && exported.design === undefined;
  const one = things.length === 1 && campaigns.length < 2 && exported.design === undefined;
  return exportAnswerTexts.ready(listed(things), isOfTable ? ` of ${table.name}` : "", one);
};
