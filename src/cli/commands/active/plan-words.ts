/** A plan for a person: what to do, what it reaches, and the recipes that were compared to the end. */
import { type InformationUnit, summaryIn } from "../../../core/information-unit.js";
import { fixed, percent } from "../../../core/number-text.js";
import type { ParityPlan } from "../../../workflows/parity-plan.js";
import { estimateInWords } from "../../../workflows/plan-answer.js";
import type { PlannedRecipe } from "../../../workflows/planned-recipe.js";
import { byGroups, cut, rightAligned } from "../../text-table.js";

/** Those that were tried out on all labels: the others were dropped on fewer. */
const MOST = 8;

const rowOf = ({ name, labels, seeds, fit, outer }: PlannedRecipe): string[] => [
  name,
  String(labels),
  String(seeds),
  fit.rule === undefined ? "-" : fixed(fit.rule.level, 2),
  estimateInWords(outer.accuracy),
  estimateInWords(outer.parity),
];

/** Lines. */
export const planInWords = (plan: ParityPlan, table: string, unit: InformationUnit): string[] => {
  const { answer, recipes, rows, requirement, sets, composition, rounds, target, sensitive } = plan;
  const shown = recipes.filter(({ round }) => round === recipes[0].round).slice(0, MOST);
  return [
    ...(answer.unmet === null ? [] : [answer.unmet]),
    `${table}: target ${target}, parity of ${sensitive}; ${rows.pool} candidates a seed, chosen on ${rows.inner} rows, reported on ${rows.outer} others`,
    ...plan.notes.map((note) => `Note: ${note.replace(/\.$/, "")}.`),
    "",
    `Recommended: ${answer.recommendation}`,
    answer.reached,
    answer.labels,
    answer.random,
    ...answer.warnings.map((warning) => `Warning: ${warning}`),
    "",
    ...rightAligned([
      ["recipe", "labels", "seeds", "rule set to", "accuracy", `parity (${requirement.metric})`],
      ...shown.map(rowOf),
    ]),
    `${rounds.map(({ recipes: count, seeds, labels }) => `${count} recipes on ${seeds} seeds with ${labels} labels`).join(", then ")}; 95 % intervals on rows that no choice saw.`,
    "",
    ...byGroups([
      [
        "whom they asked",
        ...composition.groups.map(({ group }) => cut(group)),
        `leakage (${unit.name})`,
        "guessed (AUC)",
      ],
      ["all candidates", ...composition.groups.map(({ population }) => percent(population)), "", ""],
      ...sets.map(({ name, composition: { groups }, leakage }) => [
        name,
        ...groups.map(({ acquired: { mean } }) => (mean === null ? "none" : percent(mean))),
        estimateInWords(summaryIn(leakage.nats, unit)),
        estimateInWords(leakage.auc),
      ]),
    ]),
    ...sets.flatMap(({ name, warnings }) => warnings.map((warning) => `Warning: ${name}: ${warning}.`)),
  ];
};
