/** The cells of a sweep on a GPU: those that are missing are trained together, in this process. */
import { relative } from "node:path";
import type { JobStore } from "../../../jobs/job-store.js";
import { frontierOnGpu } from "../../../workflows/design-frontier.js";
import type { ComputeDevice } from "../../../workflows/device.js";
import type { CommandContext } from "../../command.js";
import { isFile, type LoadedModel } from "./load-model.js";
import { runSweepCell } from "./sweep-cell.js";
import { type sweepJob, sweepJobs } from "./sweep-jobs.js";

type SweepJob = ReturnType<typeof sweepJob>;

/** How many cells were computed. */
export const runSweepOnGpu = async (
  loaded: LoadedModel,
  jobs: readonly SweepJob[],
  store: JobStore,
  device: ComputeDevice,
  { progress: show, signal }: Pick<CommandContext, "progress" | "signal">,
): Promise<number> => {
  const pending = jobs.filter(({ input }) => !store.has(sweepJobs.key(input)));
  if (pending.length === 0) return 0;
  const [{ input }] = pending;
  const { source } = input;
  const progress = show("sweeping", 2 * pending.length);
  const began = performance.now();
  try {
    const trained = await frontierOnGpu(
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
        onProgress: ({ done, total }) => progress.update(Math.round((pending.length * done) / total)),
      },
    );
    const training = (performance.now() - began) / 1000 / pending.length;
    for (const [i, job] of pending.entries()) {
      signal.throwIfAborted();
      const started = performance.now();
      const result = await runSweepCell(loaded, job.input, { signal, ...trained?.[i] });
      store.append(job, result, training + (performance.now() - started) / 1000);
      progress.update(pending.length + i + 1, `${i + 1} of ${pending.length} cells done`);
    }
    return pending.length;
  } finally {
    progress.end();
  }
};
