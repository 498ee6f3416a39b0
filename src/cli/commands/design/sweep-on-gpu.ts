/**
 * The cells of a sweep on a GPU: those that are missing are trained together, in this process, and stored as soon as they
 * are finished.
 */
import { relative } from "node:path";
import type { PolicyFile } from "../../../design/policy-file.js";
import type { JobStore } from "../../../jobs/job-store.js";
import { frontierOnGpu } from "../../../workflows/design-frontier.js";
import type { CommandContext } from "../../command.js";
import { jobPlaceTexts } from "../../job-place.js";
import { isFile, type LoadedModel } from "./load-model.js";
import { runSweepCell } from "./sweep-cell.js";
import { type SweepJob, sweepJobs } from "./sweep-jobs.js";

export const runSweepOnGpu = async (
  loaded: LoadedModel,
  jobs: readonly SweepJob[],
  store: JobStore,
  { progress: show, saysHowToGoOn, signal }: Pick<CommandContext, "progress" | "saysHowToGoOn" | "signal">,
): Promise<void> => {
  const pending = jobs.filter(({ input }) => input.device === "gpu" && !store.has(sweepJobs.key(input)));
  if (pending.length === 0) return;
  const device = "gpu";
  const [{ input }] = pending;
  const { source } = input;
  const progress = show("sweeping", 2 * pending.length);
  let [trained, finished] = [0, 0];
  const tell = () =>
    progress.update(
      Math.round(pending.length * trained) + finished,
      finished === 0 ? undefined : `${finished} of ${pending.length} cells done`,
    );
  const finish = async (job: SweepJob, found: PolicyFile, training: number): Promise<void> => {
    signal.throwIfAborted();
    const started = performance.now();
    const result = await runSweepCell(loaded, job.input, { signal, device, found });
    store.append(job, result, training + (performance.now() - started) / 1000);
    finished += 1;
    saysHowToGoOn(jobPlaceTexts.goOn(jobs.length - pending.length + finished, "cells"));
    tell();
  };
  try {
    let began = performance.now();
    await frontierOnGpu(
      loaded.model,
      pending.map(({ input: { settings } }) => settings),
      {
        device,
        evaluation: input.evaluation,
        source: {
          options: source.options,
          file: isFile(source.model) ? relative("", source.model) : undefined,
        },
        signal,
        onProgress: ({ done, total }) => {
          trained = done / total;
          tell();
        },
        async onTrained(policies) {
          const each = (performance.now() - began) / 1000 / policies.size;
          for (const [index, found] of policies) await finish(pending[index], found, each);
          began = performance.now();
        },
      },
    );
  } finally {
    progress.end();
  }
};
