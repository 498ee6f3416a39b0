/** The command lines with which a plan goes on. */
import type { ParityPlan } from "../workflows/parity-plan.js";
import { listWord, shellWord as word } from "./command-lines.js";

/** What was on the command line of the plan. */
export interface PlanSources {
  readonly table: string;
  readonly target: string | undefined;
  readonly sensitive: readonly string[] | undefined;
  /** Where the recipe was written. */
  readonly recipe: string | undefined;
}

export const commandLines = (
  { labelsNeeded, requirement, target, sensitive, recommended }: ParityPlan,
  sources: PlanSources,
): readonly { readonly line: string; readonly description: string }[] => {
  const recipe = word(sources.recipe ?? "recipe.json");
  const names = listWord(sources.sensitive ?? [sensitive]);
  const roles = `--target ${word(sources.target ?? target)} --sensitive ${word(names)} --recipe ${recipe}`;
  const labels = labelsNeeded.labels ?? requirement.labels;
  const { acquisition, fit } = recommended;
  // What the rule was chosen by in the simulation: candidates without labels, and the labels that were drawn at random.
  const rule = [
    ...(fit.rule === undefined ? [] : ["--unlabelled pool.csv"]),
    ...(fit.rule === undefined || acquisition.method === "random" ? [] : ["--probability probability"]),
  ];
  return [
    {
      line: `fairbed rank pool.csv --labelled labelled.csv ${roles}`,
      description: `whom to ask next, of those in pool.csv, until about ${labels} are labelled`,
    },
    {
      line: ["fairbed fit labelled.csv", roles, ...rule, "--out model.json"].join(" "),
      description: `the model${fit.rule === undefined ? "" : " and its fair rule"}, from the labels that were collected${rule.length > 1 ? " (rank --out writes the column probability)" : ""}`,
    },
    {
      line: `fairbed acquire ${word(sources.table)} ${roles} --budget ${labels} --seeds 8`,
      description: "the same acquisition once more on the pilot table, in more detail",
    },
  ];
};
