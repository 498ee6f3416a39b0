/** The cells of a sweep as jobs. */
import { EnvironmentError } from "../../../core/errors.js";
import { contentKey } from "../../../jobs/content-key.js";
import type { JobKind } from "../../../jobs/job.js";
import type { StoredJob } from "../../../jobs/job-store.js";
import { isFile, type LoadedModel } from "./load-model.js";
import type { SweepCell, SweepResult } from "./sweep-cell.js";

export const sweepJobTexts = {
  otherModel: (path: string) =>
    `the model in ${path} is not the one that was asked for here: give every machine the same file`,
};

/** Raised by hand when policies would come out differently. */
const VERSION = 1;
const QUEUE = `sweep-${VERSION}`;
/** Rough seconds for a step and an observation of those policies that are trained. */
const STEP_SECONDS: Readonly<Record<string, number>> = { static: 4e-4, dad: 1e-3 };

export const sweepJobs: JobKind<SweepCell, SweepResult> = {
  name: "sweep",
  // Wherever the model's file lies.
  key: ({ fingerprint, settings, evaluation, device }) =>
    contentKey({ fingerprint, settings, evaluation, version: VERSION, ...(device ? { device } : {}) }),
  describe: ({ source, settings: { kind, objective, beta, horizon, seed } }) => {
    const group = `${source.model} ${kind} ${objective} beta ${beta} T ${horizon}, swept`;
    return { group, name: `${group}, seed ${seed}` };
  },
  estimate: ({ settings: { kind, steps = 0, horizon } }) => 1 + steps * horizon * (STEP_SECONDS[kind] ?? 0),
  // A model of one's own is run by those who have its file.
  queue: ({ source: { model } }) => (isFile(model) ? `${QUEUE}-${contentKey(model).slice(0, 12)}` : QUEUE),
  queues: () => [QUEUE],
  files: ({ source: { model } }) => (isFile(model) ? [{ what: "model", path: model }] : []),
  run: async (cell, { threads }) => {
    const { loadModel } = await import("./load-model.js");
    const { runSweepCell } = await import("./sweep-cell.js");
    const loaded = await loadModel(cell.source);
    if (loaded.identity.fingerprint !== cell.fingerprint) {
      throw new EnvironmentError("no-file", sweepJobTexts.otherModel(cell.source.model));
    }
    return runSweepCell(loaded, cell, { threads });
  },
};

export const sweepJob = (
  { source, identity: { fingerprint } }: LoadedModel,
  cell: Pick<SweepCell, "settings" | "evaluation" | "device">,
) => ({ kind: sweepJobs, input: { fingerprint, source, ...cell } });

export type SweepJob = ReturnType<typeof sweepJob>;

/** Whether a stored line holds what a cell gives: others may have written the file. */
export const isSweepResult = ({ kind, result }: StoredJob): boolean => {
  const { report, designs, policy } = result as Partial<SweepResult>;
  const isRows = Array.isArray(designs) && designs.every((row) => Array.isArray(row));
  const parts = [report?.target, report?.sensitive, report?.sensitiveGivenTarget, report?.objectives];
  const isReport = parts.every((part) => typeof part === "object" && part !== null);
  return kind === sweepJobs.name && isRows && isReport && typeof policy === "string";
};

/** A file's name: readable, and different for different settings. */
export const sweepCellName = (cell: SweepCell): string => {
  const { kind, horizon, beta, seed } = cell.settings;
  return `${kind}-T${horizon}-beta${beta}-seed${seed}-${sweepJobs.key(cell).slice(0, 10)}`;
};
