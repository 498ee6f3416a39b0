/** The policies of many cells on a GPU: those that differ in beta and seed alone are trained at the same time. */
import { FairbedError } from "../core/errors.js";
import type { RunOptions } from "../core/options.js";
import { locationFinding } from "../design/models/location.js";
import type { PolicyFile } from "../design/policy-file.js";
import { onDevice } from "../workflows/device.js";
import { policySettings, type TrainPolicySettings } from "../workflows/policy-settings.js";
import { trainPoliciesOnGpu } from "../workflows/train-policies.js";
import type { DesignCell, DesignResult } from "./cell.js";
import { judgeDesign, trainingsOf } from "./design-cell.js";

export interface DesignsOnGpuOptions {
  readonly signal?: RunOptions["signal"];
  /** All cores unless given; what is judged by quadrature needs them. */
  readonly threads?: number | undefined;
  /** The share of the work that is done. */
  readonly onProgress?: ((share: number) => unknown) | undefined;
  /** Told every result as it comes; what it returns is waited for. */
  readonly onResult: (cell: DesignCell, result: DesignResult, seconds: number) => unknown;
}

/** Of the work, as far as progress is concerned. */
const TRAINING_SHARE = 0.5;

export const runDesignsOnGpu = async (
  cells: readonly DesignCell[],
  { onProgress, ...options }: DesignsOnGpuOptions,
): Promise<void> => {
  const byModel = new Map<string, DesignCell[]>();
  for (const cell of cells) {
    const key = JSON.stringify(cell.model ?? {});
    byModel.set(key, [...(byModel.get(key) ?? []), cell]);
  }
  let done = 0;
  const broken: FairbedError[] = [];
  for (const own of byModel.values()) {
    await runOfModel(own, broken, {
      ...options,
      onProgress: (share) => onProgress?.((done + share * own.length) / cells.length),
    });
    done += own.length;
  }
  if (broken.length > 0) throw broken[0];
};

/** Errors of cells whose training met a number that is none go to `broken`; all others are run first. */
const runOfModel = async (
  cells: readonly DesignCell[],
  broken: FairbedError[],
  { signal, threads, onProgress, onResult }: DesignsOnGpuOptions,
): Promise<void> => {
  const model = locationFinding(cells[0].model);
  const trainings = cells.map(trainingsOf);
  const found: PolicyFile[] = [];
  const seconds = cells.map(() => 0);
  let [trained, judged] = [0, 0];
  const tell = () => onProgress?.(TRAINING_SHARE * trained + ((1 - TRAINING_SHARE) * judged) / cells.length);
  const judge = async (i: number): Promise<void> => {
    signal?.throwIfAborted();
    const began = performance.now();
    const result = await judgeDesign(cells[i], found[i], { threads, signal });
    await onResult(cells[i], result, seconds[i] + (performance.now() - began) / 1000);
    judged += 1;
    await tell();
  };
  /** Trains for these cells, a share of all training; what then has its policy is judged before anything else is trained. */
  const trainFor = (
    own: readonly number[],
    settingsOf: (i: number) => TrainPolicySettings,
    {
      before,
      share,
      isLast,
    }: { readonly before: number; readonly share: number; isLast(i: number): boolean },
  ) =>
    onDevice(
      "gpu",
      () => {},
      async (gpu) => {
        if (gpu === undefined || own.length === 0) return;
        let began = performance.now();
        await trainPoliciesOnGpu(
          model,
          own.map((i) => policySettings(settingsOf(i))),
          {
            ...{ gpu, device: { asked: "gpu", used: "gpu", name: gpu.info.name }, signal },
            onProgress: ({ done, total }) => {
              trained = before + (share * done) / total;
              return tell();
            },
            async onTrained(policies) {
              const each = (performance.now() - began) / 1000 / policies.size;
              for (const [k, policy] of policies) {
                const i = own[k];
                found[i] = policy;
                seconds[i] += each;
                if (isLast(i)) await judge(i);
              }
              began = performance.now();
            },
          },
        );
      },
    ).catch((error: unknown) => {
      if (!(error instanceof FairbedError && error.code === "not-finite")) throw error;
      broken.push(error);
    });
  const all = cells.map((_, i) => i);
  const starting = all.filter((i) => trainings[i].network !== undefined);
  const share = cells.length / (cells.length + starting.length);
  await trainFor(all, (i) => trainings[i].first, {
    ...{ before: 0, share },
    isLast: (i) => trainings[i].network === undefined,
  });
  await trainFor(
    starting.filter((i) => found[i] !== undefined),
    (i) => trainings[i].network?.(found[i]) ?? trainings[i].first,
    {
      ...{ before: share, share: 1 - share },
      isLast: () => true,
    },
  );
};
