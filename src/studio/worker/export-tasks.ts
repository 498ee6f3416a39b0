/** Tasks of the export screen: files of all that was found, a model, and all of it as one file. */
import { modelWorth } from "../../report/model-worth.js";
import { FIT_DEFAULTS } from "../../workflows/fit-defaults.js";
import { fitModel } from "../../workflows/fit-model.js";
import type { Recipe } from "../../workflows/recipe.js";
import type { AskedAudit } from "../audit-run.svelte.js";
import type { Place } from "../campaigns/campaign-client.js";
import type { FoundPolicy } from "../design-run.svelte.js";
import type { FittedHere } from "../exported.js";
import type { OpenTable } from "../open-table.js";
import type { AskedPlan } from "../plan-run.svelte.js";
import { taskOf } from "../roles.js";
import { type CampaignPart, campaignFiles, campaignNames } from "./campaign-copies.js";
import { type Everything, type EverythingPacked, packEverything } from "./export-everything.js";
import { auditFiles, type ExportFile, planFiles, policyFile, recipeFile, tableFile } from "./export-files.js";
import type { TaskRun } from "./task.js";

export interface AuditExport {
  readonly asked: AskedAudit;
  readonly source: OpenTable["source"];
}

export interface PlanExport {
  readonly asked: AskedPlan;
  /** What the table is called. */
  readonly name: string;
  readonly recipe: Recipe | undefined;
}

export interface CampaignExport {
  readonly place: Place;
  readonly name: string;
  readonly part: CampaignPart;
}

export const exportTasks = {
  /** The open table; only of the example, which has no file. */
  async table(_: undefined, run: TaskRun): Promise<readonly ExportFile[]> {
    return [tableFile(await run.table())];
  },

  async audit({ asked, source }: AuditExport, run: TaskRun): Promise<readonly ExportFile[]> {
    return auditFiles(await run.table(), source, asked);
  },

  plan: ({ asked, name, recipe }: PlanExport): Promise<readonly ExportFile[]> =>
    planFiles(name, asked, recipe),

  recipe: ({ recipe }: { readonly recipe: Recipe }): readonly ExportFile[] => [recipeFile(recipe)],

  design: ({ design }: { readonly design: FoundPolicy }): readonly ExportFile[] => [
    policyFile(design.policy),
  ],

  /** As `fairbed fit` does with the same recipe and seed. */
  async fit(
    { roles, recipe, seed }: Pick<FittedHere, "roles" | "recipe" | "seed">,
    run: TaskRun,
  ): Promise<FittedHere> {
    const { learner = FIT_DEFAULTS.learner, reweigh = false, rule } = recipe?.fit ?? {};
    const model = await fitModel(await run.table(), {
      ...taskOf(roles),
      learner,
      reweigh,
      rule,
      seed,
      signal: run.signal,
      onProgress: run.emit,
    });
    const text = `${JSON.stringify(model)}\n`;
    return { roles, recipe, seed, text, worth: modelWorth(model), notes: model.notes };
  },

  campaigns: ({ place }: { readonly place: Place }): Promise<readonly string[]> => campaignNames(place),

  campaign: ({ place, name, part }: CampaignExport, run: TaskRun): Promise<readonly ExportFile[]> =>
    campaignFiles(place, name, part, { signal: run.signal, onProgress: run.emit }),

  everything: (input: Everything, run: TaskRun): Promise<EverythingPacked> => packEverything(input, run),
};
