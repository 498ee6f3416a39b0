/** Policies for many betas and seeds at the same time, which is how a GPU is kept busy. */
import type { Gpu } from "../compute/index.js";
import { FairbedError, InputError } from "../core/errors.js";
import { type Progress, pacer, type RunOptions } from "../core/options.js";
import { BrokenRunsError } from "../design/gpu/training-run.js";
import type { Model } from "../design/model.js";
import { identityOf } from "../design/model-catalogue.js";
import type { PolicyFile } from "../design/policy-file.js";
import { storedDevice, type UsedDevice } from "./device.js";
import type { PolicyKind } from "./policy-defaults.js";
import { defined, type FullSettings, hasDesigns, staticStartSettings } from "./policy-settings.js";
import { dadPolicyFile, staticPolicyFile } from "./search-policy.js";
import { type TrainPolicyOptions, trainPolicyTexts } from "./train-policy.js";

export interface TrainPoliciesRun extends Pick<TrainPolicyOptions, "source"> {
  readonly gpu: Gpu;
  readonly device: UsedDevice;
  readonly signal?: RunOptions["signal"];
  readonly onProgress?: ((progress: Progress) => unknown) | undefined;
  /**
   * Told what has been trained together, by its places among the settings, before anything else is trained; what it returns
   * is waited for.
   */
  readonly onTrained?: ((policies: ReadonlyMap<number, PolicyFile>) => unknown) | undefined;
}

export const trainPoliciesTexts = {
  /** `sentence` is about the first of them, and names it. */
  broken: (broken: readonly Pick<FullSettings, "beta" | "seed">[], all: number, sentence: string) =>
    broken.length === 1
      ? sentence
      : `${broken.length} of ${all} policies could not be trained (${broken
          .map(({ beta, seed }) => `beta ${beta} and seed ${seed}`)
          .join(", ")}): ${sentence}`,
};

/** Trains what differs in beta, seed and start alone; told how far it is, from 0 to 1. */
type TrainTogether<Result = PolicyFile> = (
  gpu: Gpu,
  model: Model,
  settings: readonly FullSettings[],
  run: { readonly signal: RunOptions["signal"]; readonly onShare: (share: number) => unknown },
) => Promise<Result[]>;

/** What must be the same for trainings to run together. */
const togetherKey = ({ beta: _, seed: __, start, ...rest }: FullSettings): string =>
  JSON.stringify([rest, rest.kind === "static" ? start : start === "static"]);

/** Networks at a time: more of them keep no GPU busier, and each takes megabytes. */
const MOST_NETWORKS = 64;

const NO_ROOM = ["gpu-memory", "gpu-rows"];

const hasNoRoom = (error: unknown): boolean => error instanceof FairbedError && NO_ROOM.includes(error.code);

/** What each of several trainings gave: its policy, or why it has none. */
type Trained = PolicyFile | BrokenRunsError<unknown>;

/** Again without those that met a number that is none, which is no fault of the others. */
const withoutBroken =
  (together: TrainTogether): TrainTogether<Trained> =>
  async (gpu, model, all, run) => {
    try {
      return await together(gpu, model, all, run);
    } catch (error) {
      if (!(error instanceof BrokenRunsError)) throw error;
      const rest = all.filter((_, i) => !error.broken.includes(i));
      const found = rest.length === 0 ? [] : await withoutBroken(together)(gpu, model, rest, run);
      let at = 0;
      return all.map((_, i) => (error.broken.includes(i) ? error : found[at++]));
    }
  };

/** In halves where the GPU has no room for all at the same time: what each becomes depends on the others by rounding alone. */
const withinRoom =
  <Result>(together: TrainTogether<Result>): TrainTogether<Result> =>
  async (gpu, model, all, run) => {
    try {
      return await together(gpu, model, all, run);
    } catch (error) {
      if (all.length === 1 || !hasNoRoom(error)) throw error;
      const middle = Math.ceil(all.length / 2);
      const halves = [all.slice(0, middle), all.slice(middle)];
      const found: Result[] = [];
      for (const [h, half] of halves.entries()) {
        const onShare = (share: number) => run.onShare((h + share) / 2);
        found.push(...(await withinRoom(together)(gpu, model, half, { ...run, onShare })));
      }
      return found;
    }
  };

/**
 * A policy for each of the settings, in their order, without what they reach. Where some meet a number that is none, the
 * others are trained, and told of, all the same before that is an error.
 */
export const trainPoliciesOnGpu = async (
  model: Model,
  settings: readonly FullSettings[],
  { gpu, device, source, signal, onProgress, onTrained }: TrainPoliciesRun,
): Promise<PolicyFile[]> => {
  const groups = new Map<string, number[]>();
  for (const [index, each] of settings.entries()) {
    const key = togetherKey(each);
    groups.set(key, [...(groups.get(key) ?? []), index]);
  }
  const parts = [...groups.values()].flatMap((indices) => {
    const size = settings[indices[0]].kind === "dad" ? MOST_NETWORKS : indices.length;
    return Array.from({ length: Math.ceil(indices.length / size) }, (_, k) =>
      indices.slice(k * size, (k + 1) * size),
    );
  });
  const identity = { ...identityOf(model, source?.options), ...defined({ file: source?.file }) };
  const policies: PolicyFile[] = [];
  const broken = new Map<number, Error>();
  const pace = pacer({ signal, onProgress });
  for (const [number, indices] of parts.entries()) {
    const own = indices.map((index) => settings[index]);
    const { [own[0].kind]: together } = TRAINERS;
    const found = await withinRoom(withoutBroken(together))(gpu, model, own, {
      signal,
      onShare: (share) => pace.step({ done: number + share, total: parts.length, label: "training" }),
    });
    const told = new Map<number, PolicyFile>();
    for (const [i, index] of indices.entries()) {
      const each = found[i];
      if (each instanceof Error) {
        broken.set(index, each);
        continue;
      }
      policies[index] = {
        ...each,
        model: identity,
        settings: { ...own[i], ...each.settings, ...storedDevice(device) },
      };
      told.set(index, policies[index]);
    }
    if (told.size > 0) await onTrained?.(told);
  }
  const [first] = broken.values();
  if (first !== undefined) {
    const text = trainPoliciesTexts.broken(
      [...broken.keys()].map((index) => settings[index]),
      settings.length,
      first.message,
    );
    throw new InputError("not-finite", text, { cause: first });
  }
  return policies;
};

const trainDesigns: TrainTogether = async (gpu, model, all, { signal, onShare }) => {
  const { trainStaticOnGpu } = await import("../design/gpu/train-static.js");
  const [{ objective, horizon, start, steps, starts, rate, decay, settled, sizes }] = all;
  const trained = await trainStaticOnGpu(gpu, model, {
    ...{ objective, horizon, steps, starts, rate, decay, settled, sizes, signal },
    start: typeof start === "object" && "mean" in start ? start : undefined,
    from: start !== undefined && hasDesigns(start) ? Float64Array.from(start.designs.flat()) : undefined,
    runs: all.map(({ beta, seed }) => ({ beta, seed })),
    onProgress: ({ done, total }) => onShare(done / total),
  });
  return trained.map((each, i) => staticPolicyFile(model, all[i], each));
};

const trainNetworks: TrainTogether = async (gpu, model, all, { signal, onShare }) => {
  const { trainDadOnGpu } = await import("../design/gpu/train-dad.js");
  const [{ objective, horizon, start, steps, rate, decay, clip, sizes, widths }] = all;
  const first =
    start === "static"
      ? await trainDesigns(gpu, model, all.map(staticStartSettings), {
          signal,
          onShare: (share) => onShare(share / 2),
        })
      : undefined;
  const startOf = (i: number): readonly (readonly number[])[] | undefined => {
    const found = first?.[i];
    if (found?.kind === "static") return found.designs;
    const own = all[i].start;
    return own !== undefined && hasDesigns(own) ? own.designs : undefined;
  };
  const trained = await trainDadOnGpu(gpu, model, {
    ...{ objective, horizon, steps, rate, decay, clip, sizes, widths, signal },
    runs: all.map(({ beta, seed }, i) => ({ beta, seed, startDesigns: startOf(i)?.flat() })),
    onProgress: ({ done, total }) => onShare(first === undefined ? done / total : (1 + done / total) / 2),
  });
  return trained.map((each, i) => ({
    ...dadPolicyFile(all[i], each),
    // As when each is trained by itself: what it began at is kept.
    ...(first === undefined ? {} : { settings: { startDesigns: startOf(i) } }),
  }));
};

/** What is not trained: drawn when it is used. */
const takeAsTheyAre: TrainTogether = async (_gpu, _model, all) =>
  all.map(({ horizon, seed, distribution }) => ({ kind: "random", horizon, seed, distribution }));

const TRAINERS: Readonly<Record<PolicyKind, TrainTogether>> = {
  static: trainDesigns,
  dad: trainNetworks,
  random: takeAsTheyAre,
  greedy: () => {
    throw new InputError("gpu-kind", trainPolicyTexts.gpuKind("greedy"));
  },
};
