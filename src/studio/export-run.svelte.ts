/** What the export screen makes: a model that is kept in this browser, files, and all of them as one. */
import type { Recipe } from "../workflows/recipe.js";
import type { AskedAudit } from "./audit-run.svelte.js";
import { sayingsOf } from "./campaigns/outbox.js";
import { placeKey, placeNow } from "./campaigns/place.js";
import { designRun } from "./design-run.svelte.js";
import { saveBytes, saveText } from "./downloads.js";
import { engine, isStopped } from "./engine-client.js";
import type { Exported, FittedHere } from "./exported.js";
import { kept } from "./kept.js";
import type { OpenTable } from "./open-table.js";
import type { AskedPlan } from "./plan-run.svelte.js";
import { project } from "./project.svelte.js";
import { running } from "./running.svelte.js";
import type { CampaignPart } from "./worker/campaign-copies.js";
import type { ExportFile } from "./worker/export-files.js";
import type { exportTasks } from "./worker/export-tasks.js";

export const exportRunTexts = {
  saved: (names: readonly string[]) => `Saved ${names.join(" and ")}: look among your downloads.`,
  fitted: "The model is fitted and kept in this browser.",
  stopped: "Stopped: nothing was saved.",
};

const MODEL = "export model";

interface Job {
  /** The part of the screen that it belongs to. */
  readonly of: string;
  readonly label: string;
  readonly done: number;
  readonly total: number;
}

const nameOf = (exported: Exported): string =>
  (exported.table?.name ?? exported.campaigns[0] ?? "fairbed").replace(/\.[^.]*$/, "");

const worker = () => engine<typeof exportTasks>("export");

class ExportRun {
  model = $state.raw<FittedHere | undefined>();
  campaigns = $state.raw<readonly string[]>([]);
  /** Of each campaign how many answers wait in this browser and are not part of it yet. */
  waiting = $state.raw<Readonly<Record<string, number>>>({});
  /** Why campaigns cannot be listed. */
  noCampaigns = $state("");
  job = $state.raw<Job | undefined>();
  /** How the last job of a part ended. */
  ended = $state.raw<
    { readonly of: string; readonly failure?: string; readonly words?: string } | undefined
  >();
  #stop = new AbortController();
  #table: OpenTable | undefined;

  /** All that there is to save now. */
  get exported(): Exported {
    const plan = project.results.plan as AskedPlan | undefined;
    return {
      table: project.table,
      audit: project.results.audit as AskedAudit | undefined,
      plan,
      recipe: (project.results.recipe as Recipe | undefined) ?? plan?.plan.recipe,
      model: this.model,
      design: designRun.found,
      campaigns: this.campaigns,
    };
  }

  /** Looks at what is kept of the table that is open, and which campaigns there are. */
  async look(): Promise<void> {
    await designRun.restore();
    const { table } = project;
    if (table !== this.#table) {
      this.#table = table;
      this.model = undefined;
      this.ended = undefined;
      const found = table === undefined ? undefined : await kept<FittedHere>(MODEL).catch(() => undefined);
      if (table === this.#table && this.model === undefined) this.model = found;
    }
    const place = placeNow();
    try {
      this.campaigns = await worker().call("campaigns", { place });
      this.noCampaigns = "";
      const counted = this.campaigns.map(
        async (name) => [name, (await sayingsOf(placeKey(place), name)).length] as const,
      );
      this.waiting = Object.fromEntries(await Promise.all(counted).catch(() => []));
    } catch (error) {
      this.campaigns = [];
      this.noCampaigns = error instanceof Error ? error.message : String(error);
    }
  }

  stop(): void {
    this.#stop.abort();
  }

  fit(recipe: Recipe | undefined): Promise<void> {
    return this.#do("model", "fitting", async (options) => {
      const model = await worker().call("fit", { roles: project.roles, recipe, seed: 0 }, options);
      this.model = model;
      project.keep(MODEL, model);
      return exportRunTexts.fitted;
    });
  }

  saveTable(): Promise<void> {
    return this.#save("table", "writing the table", () => worker().call("table", undefined));
  }

  saveAudit(name: string): Promise<void> {
    const { table, audit } = this.exported;
    if (table === undefined || audit === undefined) return Promise.resolve();
    const { source } = table;
    return this.#save(
      "audit",
      "writing the report",
      () => worker().call("audit", { asked: audit, source }),
      name,
    );
  }

  savePlan(name: string): Promise<void> {
    const { table, plan, recipe } = this.exported;
    if (table === undefined || plan === undefined) return Promise.resolve();
    const input = { asked: plan, name: table.name, recipe };
    return this.#save("plan", "writing the plan", () => worker().call("plan", input), name);
  }

  saveRecipe(): Promise<void> {
    const { recipe } = this.exported;
    if (recipe === undefined) return Promise.resolve();
    return this.#save("plan", "writing the recipe", () => worker().call("recipe", { recipe }));
  }

  saveDesign(): Promise<void> {
    const { design } = this.exported;
    if (design === undefined) return Promise.resolve();
    return this.#save("design", "writing the policy", () => worker().call("design", { design }));
  }

  saveModel(name: string): void {
    if (this.model === undefined) return;
    saveText(name, this.model.text);
    this.ended = { of: "model", words: exportRunTexts.saved([name]) };
  }

  saveCampaign(campaign: string, part: CampaignPart, name?: string): Promise<void> {
    const input = { place: placeNow(), name: campaign, part };
    const label = part === "card" ? "auditing the labels" : "writing";
    return this.#save(
      `campaign ${campaign}`,
      label,
      (options) => worker().call("campaign", input, options),
      name,
    );
  }

  everything(): Promise<void> {
    const { exported } = this;
    const folder = `fairbed-${nameOf(exported)}`;
    return this.#do("everything", "writing the files", async (options) => {
      const input = { exported, place: placeNow(), folder };
      const { bytes, leftOut } = await worker().call("everything", input, options);
      saveBytes(`${folder}.zip`, bytes);
      return [exportRunTexts.saved([`${folder}.zip`]), ...leftOut].join(" ");
    });
  }

  /** Of the files that are made the one of this name, or all. */
  #save(
    of: string,
    label: string,
    make: (options: CallOptionsHere) => Promise<readonly ExportFile[]>,
    name?: string,
  ): Promise<void> {
    return this.#do(of, label, async (options) => {
      const files = (await make(options)).filter((file) => name === undefined || file.name === name);
      for (const file of files) saveText(file.name, file.text);
      return exportRunTexts.saved(files.map((file) => file.name));
    });
  }

  async #do(of: string, label: string, make: (options: CallOptionsHere) => Promise<string>): Promise<void> {
    this.#stop.abort();
    const stop = new AbortController();
    this.#stop = stop;
    const tell = (job: Job): void => {
      if (stop !== this.#stop) return;
      this.job = job;
      running.set("export", { ...job, stop: () => stop.abort() });
    };
    tell({ of, label, done: 0, total: 1 });
    this.ended = undefined;
    try {
      const words = await make({
        signal: stop.signal,
        onPartial: ({ done, total, label: own }) => tell({ of, label: own ?? label, done, total }),
      });
      if (stop === this.#stop) this.ended = { of, words };
    } catch (error) {
      if (stop !== this.#stop) return;
      const failure = error instanceof Error ? error.message : String(error);
      this.ended = isStopped(error) ? { of, words: exportRunTexts.stopped } : { of, failure };
    } finally {
      if (stop === this.#stop) {
        this.job = undefined;
        running.set("export", undefined);
      }
    }
  }
}

interface CallOptionsHere {
  readonly signal: AbortSignal;
  readonly onPartial: (partial: {
    readonly done: number;
    readonly total: number;
    readonly label?: string;
  }) => void;
}

export const exportRun = new ExportRun();
