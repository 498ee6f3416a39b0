/** Static policies for many betas and seeds at the same time, which is how a GPU is kept busy. */
import type { Gpu } from "../compute/index.js";
import { type Progress, pacer, type RunOptions } from "../core/options.js";
import type { Model } from "../design/model.js";
import { identityOf } from "../design/model-catalogue.js";
import type { PolicyFile } from "../design/policy-file.js";
import { storedDevice, type UsedDevice } from "./device.js";
import { defined, type FullSettings, hasDesigns } from "./policy-settings.js";
import { staticPolicyFile } from "./search-policy.js";
import type { TrainPolicyOptions } from "./train-policy.js";

export interface TrainPoliciesRun extends Pick<TrainPolicyOptions, "source"> {
  readonly gpu: Gpu;
  readonly device: UsedDevice;
  readonly signal?: RunOptions["signal"];
  readonly onProgress?: ((progress: Progress) => unknown) | undefined;
}

/** What must be the same for trainings to run together. */
const togetherKey = ({ beta: _, seed: __, ...rest }: FullSettings): string => JSON.stringify(rest);

/** A policy for each of the settings, in their order, without what they reach. */
export const trainPoliciesOnGpu = async (
  model: Model,
  settings: readonly FullSettings[],
  { gpu, device, source, signal, onProgress }: TrainPoliciesRun,
): Promise<PolicyFile[]> => {
  const { trainStaticOnGpu } = await import("../design/gpu/train-static.js");
  const groups = new Map<string, number[]>();
  for (const [index, each] of settings.entries()) {
    const key = togetherKey(each);
    groups.set(key, [...(groups.get(key) ?? []), index]);
  }
  const identity = { ...identityOf(model, source?.options), ...defined({ file: source?.file }) };
  const policies: PolicyFile[] = [];
  const pace = pacer({ signal, onProgress });
  for (const [number, indices] of [...groups.values()].entries()) {
    const { objective, horizon, start, steps, starts, rate, decay, settled, sizes } = settings[indices[0]];
    const trained = await trainStaticOnGpu(gpu, model, {
      ...{ objective, horizon, steps, starts, rate, decay, settled, sizes, signal },
      start: typeof start === "object" && "mean" in start ? start : undefined,
      from: start !== undefined && hasDesigns(start) ? Float64Array.from(start.designs.flat()) : undefined,
      runs: indices.map((index) => ({ beta: settings[index].beta, seed: settings[index].seed })),
      onProgress: ({ done, total }) =>
        pace.step({ done: number + done / total, total: groups.size, label: "training" }),
    });
    for (const [i, index] of indices.entries()) {
      const own = settings[index];
      const found = staticPolicyFile(model, own, trained[i]);
      policies[index] = {
        ...found,
        model: identity,
        settings: { ...own, ...found.settings, ...storedDevice(device) },
      };
    }
  }
  return policies;
};
