/** All files of the page and its campaigns as one, step by step. */
import type { Place } from "../campaigns/campaign-client.js";
import { commandsOf, type Exported } from "../exported.js";
import { campaignCopyTexts, campaignFiles } from "./campaign-copies.js";
import { archiveBytes } from "./export-archive.js";
import {
  auditFiles,
  type ExportFile,
  modelFile,
  planFiles,
  policyFile,
  recipeFile,
  tableFile,
} from "./export-files.js";
import type { TaskRun } from "./task.js";

export interface Everything {
  readonly exported: Exported;
  readonly place: Place;
  /** What the folder in the file is called. */
  readonly folder: string;
}

export interface EverythingPacked {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** What could not be written, and why. */
  readonly leftOut: readonly string[];
}

export interface ExportProgress {
  readonly done: number;
  readonly total: number;
  readonly label: string;
}

export const everythingTexts = {
  report: "writing the report",
  plan: "writing the plan",
  campaign: (name: string) => `auditing the labels of ${name}`,
  packing: "packing the files",
};

/** A part of the whole: how long it takes beside the others, and what it gives. */
interface Step {
  readonly label: string;
  readonly weight: number;
  make(onShare: (share: number) => void): Promise<readonly ExportFile[]>;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const projectSteps = (
  { table, audit, plan, recipe, model, design }: Exported,
  run: TaskRun,
): readonly Step[] => {
  const step = (label: string, weight: number, make: Step["make"]): Step => ({ label, weight, make });
  const designs =
    design === undefined ? [] : [step(everythingTexts.packing, 1, async () => [policyFile(design.policy)])];
  if (table === undefined) return designs;
  return [
    ...(table.source === "example"
      ? [step(everythingTexts.packing, 1, async () => [tableFile(await run.table())])]
      : []),
    ...(audit === undefined
      ? []
      : [step(everythingTexts.report, 3, async () => auditFiles(await run.table(), table.source, audit))]),
    ...(plan === undefined ? [] : [step(everythingTexts.plan, 3, () => planFiles(table.name, plan, recipe))]),
    ...(recipe === undefined ? [] : [step(everythingTexts.packing, 1, async () => [recipeFile(recipe)])]),
    ...(model === undefined ? [] : [step(everythingTexts.packing, 1, async () => [modelFile(model.text)])]),
    ...designs,
  ];
};

/** A zip file of all that there is. What cannot be had of a campaign is left out, and the file says so. */
export const packEverything = async (
  { exported, place, folder }: Everything,
  run: TaskRun,
): Promise<EverythingPacked> => {
  const { table, campaigns } = exported;
  const leftOut: string[] = [];
  const restorable: string[] = [];
  /** None where it cannot be had, unless all was stopped. */
  const orNone = async (
    files: Promise<readonly ExportFile[]>,
    inWords: (reason: string) => string,
  ): Promise<readonly ExportFile[]> => {
    try {
      return await files;
    } catch (error) {
      run.signal.throwIfAborted();
      leftOut.push(inWords(messageOf(error)));
      return [];
    }
  };
  const campaignStep = (name: string): Step => ({
    label: everythingTexts.campaign(name),
    weight: 24,
    async make(onShare) {
      const of = (part: "data" | "card" | "backup") =>
        campaignFiles(place, name, part, {
          signal: run.signal,
          onProgress: ({ done, total }) => onShare(done / Math.max(1, total)),
        });
      const copied = await orNone(
        of("data").then(async (data) => [...data, ...(await of("card"))]),
        (reason) => campaignCopyTexts.noCampaign(name, reason),
      );
      if (copied.length === 0) return [];
      const backup = await orNone(of("backup"), (reason) => campaignCopyTexts.noBackup(name, reason));
      if (backup.length > 0) restorable.push(name);
      return [...copied, ...backup];
    },
  });
  const steps = [...projectSteps(exported, run), ...campaigns.map(campaignStep)];
  const total = steps.reduce((sum, { weight }) => sum + weight, 1);
  const files: ExportFile[] = [];
  let before = 0;
  const tell = (label: string, done: number): void =>
    run.emit({ done, total, label } satisfies ExportProgress);
  for (const { label, weight, make } of steps) {
    run.signal.throwIfAborted();
    tell(label, before);
    files.push(...(await make((share) => tell(label, before + weight * share))));
    before += weight;
  }
  tell(everythingTexts.packing, before);
  const archive = {
    name:
      table?.name ?? (campaigns.length > 0 ? campaigns.join(", ") : (exported.design?.choice.model ?? "")),
    hasTable: table === undefined ? undefined : table.source === "example",
    files,
    commands: commandsOf({ ...exported, campaigns: restorable }),
    leftOut,
  };
  return { bytes: archiveBytes(archive, folder), leftOut };
};
