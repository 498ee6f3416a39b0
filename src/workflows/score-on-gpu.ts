/**
 * Scores of candidates on a GPU. It takes EPIG of members with any probabilities; votes, which are exact by counting, and
 * everything else stay on the processor, and so does the choice among the best.
 */
import { strategies } from "../active/strategies.js";
import { detectFeatures } from "../compute/features.js";
import { isGpuFailure } from "../compute/webgpu/failure.js";
import { gpuReason } from "../compute/webgpu/texts.js";
import { FairbedError, InputError } from "../core/errors.js";
import type { RunOptions } from "../core/options.js";
import { type ComputeDevice, requireWorthwhile, sharedGpu } from "./device.js";
import type { ScoreDevice, ScoreWork } from "./score-device.js";

export const scoreDeviceTexts = {
  method: (method: string) =>
    `the method ${method} computes no EPIG, which is what a GPU is for here: choose the device "cpu"`,
  small:
    'scores of so many candidates are there sooner than a GPU is open and has their members: choose the device "gpu" to use it all the same',
  votes: "all members vote, and votes are counted on the processor, exactly",
  nothing: "there was nothing to score on a GPU",
  rest: (reason: string) => `the rest on the CPU, because ${reason}`,
  some: "members that vote are counted on the processor, exactly",
};

/** Seconds, as measured: a pair of a candidate and a target for each member on one core, and what goes with a pair. */
const PER_MEMBER = 1.3e-10;
const PER_PAIR = 50;
/** Opening a GPU and compiling for it; what a score takes there however small it is; bytes that reach it in a second. */
const OPENING = 0.5;
const EACH = 5e-3;
const BYTES = 1e9;

/**
 * Whether `auto` takes the GPU: where the products would keep all cores busy for twice as long as it takes to open a GPU
 * and to copy the members there, for what the GPU computes itself is nothing beside it. Twice, since the processor is the
 * reference, and finds the best few without the scores of all.
 */
export const worthGpu = (
  { candidates, targets, members, times }: ScoreWork,
  cores = detectFeatures().cores,
): boolean => {
  const here = (times * candidates * targets * (members + PER_PAIR) * PER_MEMBER) / cores;
  const there = OPENING + times * (EACH + (candidates * members * 8) / BYTES);
  return here > 2 * there;
};

/** The GPU, open; `gpu` fails where there is none, and `auto` says why it is the processor. */
export const openScoresOnGpu = async (
  asked: Exclude<ComputeDevice, "cpu">,
  work: ScoreWork,
  run: Pick<RunOptions, "signal">,
): Promise<ScoreDevice> => {
  const onCpu = (note: string): ScoreDevice => ({
    elsewhere: undefined,
    used: () => ({ asked, used: "cpu", note }),
  });
  if (!strategies[work.method].uses.targets) {
    const text = scoreDeviceTexts.method(work.method);
    if (asked === "auto") return onCpu(text);
    throw new InputError("gpu-method", text);
  }
  if (asked === "auto" && !worthGpu(work)) return onCpu(scoreDeviceTexts.small);
  try {
    const gpu = await sharedGpu();
    requireWorthwhile(asked, gpu);
    return await onGpu(asked, gpu, run);
  } catch (error) {
    if (asked === "gpu" || !(error instanceof FairbedError)) throw error;
    return onCpu(gpuReason(error.message));
  }
};

const onGpu = async (
  asked: ComputeDevice,
  gpu: Awaited<ReturnType<typeof sharedGpu>>,
  run: Pick<RunOptions, "signal">,
): Promise<ScoreDevice> => {
  const { epigsOnGpu } = await import("../active/gpu/epig-on-gpu.js");
  const compute = epigsOnGpu(gpu, run);
  let [there, here] = [0, 0];
  let lost: string | undefined;
  return {
    async elsewhere(...part) {
      if (lost !== undefined) return undefined;
      try {
        const found = await compute(...part);
        if (found === undefined) here += 1;
        else there += 1;
        return found;
      } catch (error) {
        if (asked === "gpu" || !isGpuFailure(error)) throw error;
        lost = gpuReason(error.message);
        return undefined;
      }
    },
    used() {
      const { name } = gpu.info;
      if (lost !== undefined && there === 0) return { asked, used: "cpu", note: lost };
      if (lost !== undefined) return { asked, used: "gpu", name, note: scoreDeviceTexts.rest(lost) };
      if (there === 0) {
        return { asked, used: "cpu", note: here > 0 ? scoreDeviceTexts.votes : scoreDeviceTexts.nothing };
      }
      return { asked, used: "gpu", name, ...(here === 0 ? {} : { note: scoreDeviceTexts.some }) };
    },
  };
};
