/** What the export screen makes files of, what they are called, and the commands that make them again. */
import {
  auditCommand,
  type CommandLine,
  type CommandTable,
  campaignCommands,
  fitCommand,
  optimizeCommand,
  planCommand,
} from "../report/command-lines.js";
import type { Recipe } from "../workflows/recipe.js";
import type { AskedAudit } from "./audit-run.svelte.js";
import { SEARCHES } from "./design-choice.js";
import type { FoundPolicy } from "./design-run.svelte.js";
import type { OpenTable } from "./open-table.js";
import type { AskedPlan } from "./plan-run.svelte.js";
import type { Roles } from "./roles.js";

/** A model that was fitted here, as text, with what it was asked for. */
export interface FittedHere {
  readonly roles: Roles;
  /** What it was fitted by; a forest and nothing else where there is none. */
  readonly recipe: Recipe | undefined;
  readonly seed: number;
  readonly text: string;
  /** In sentences. */
  readonly worth: readonly string[];
  readonly notes: readonly string[];
}

/** All that there is at the moment. */
export interface Exported {
  readonly table: OpenTable | undefined;
  readonly audit: AskedAudit | undefined;
  readonly plan: AskedPlan | undefined;
  /** The one that was chosen, or else the plan's own. */
  readonly recipe: Recipe | undefined;
  readonly model: FittedHere | undefined;
  /** Designs that were found; they are of no table. */
  readonly design: FoundPolicy | undefined;
  /** Names of campaigns. */
  readonly campaigns: readonly string[];
}

export const FILES = {
  report: "report.html",
  certificate: "report.certificate.json",
  plan: "plan.html",
  recipe: "recipe.json",
  /** Of the plan, where another one was chosen on its frontier. */
  plannedRecipe: "plan.recipe.json",
  model: "model.json",
  policy: "policy.json",
  /** A folder. */
  frontier: "frontier",
  readme: "README.txt",
  commands: "commands.sh",
  commandsOfWindows: "commands.txt",
} as const;

export const campaignFileNames = (name: string) => ({
  data: `${name}.acquired.csv`,
  card: `${name}.card.html`,
  markdown: `${name}.card.md`,
  backup: `${name}.backup.jsonl`,
});

/** A table and its roles as a command line is told of them. */
export const commandTable = (file: string, { target, sensitive, exclude, id }: Roles): CommandTable => ({
  file,
  target,
  sensitive,
  exclude,
  id: id === "" ? undefined : id,
});

/** Whether two things that were made here say the same. */
export const isSame = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** Whether another recipe than the plan's own was chosen on its frontier. */
export const hasOtherRecipe = ({ plan, recipe }: Pick<Exported, "plan" | "recipe">): boolean =>
  plan !== undefined && recipe !== undefined && !isSame(plan.plan.recipe, recipe);

/** Those that make again what there is, in an order in which each finds its files. */
export const commandsOf = (exported: Exported): readonly CommandLine[] => {
  const { table, audit, plan, model, design, campaigns } = exported;
  const file = table?.name ?? "";
  return [
    ...(audit === undefined
      ? []
      : [auditCommand(commandTable(file, audit.roles), audit.audit, FILES.report)]),
    ...(plan === undefined
      ? []
      : [
          planCommand(
            commandTable(file, plan.choice.roles),
            { ...plan.choice, parity: plan.choice.level },
            {
              out: FILES.plan,
              recipe: hasOtherRecipe(exported) ? FILES.plannedRecipe : FILES.recipe,
              cut: plan.plan.cut !== null,
            },
          ),
        ]),
    ...(model === undefined
      ? []
      : [
          fitCommand(
            commandTable(file, model.roles),
            model.recipe === undefined
              ? {}
              : isSame(model.recipe, exported.recipe)
                ? { recipe: FILES.recipe }
                : model.recipe.fit,
            { seed: model.seed, out: FILES.model },
          ),
        ]),
    ...(design === undefined
      ? []
      : [optimizeCommand({ ...design.choice, ...SEARCHES[design.choice.search] }, FILES.policy)]),
    ...campaigns.flatMap((name) => campaignCommands(name, campaignFileNames(name))),
  ];
};
