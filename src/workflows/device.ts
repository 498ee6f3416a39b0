/**
 * Where a computation runs. The processor is the default and the reference: the same seed gives the same answer on every
 * machine there. A GPU has to be asked for; its answers differ in the last digits from machine to machine.
 */
import type { Gpu } from "../compute/index.js";
import { isGpuFailure } from "../compute/webgpu/failure.js";
import { gpuReason } from "../compute/webgpu/texts.js";
import { FairbedError, InputError } from "../core/errors.js";
import type { PolicyFile } from "../design/policy-file.js";

export const DEVICES = ["cpu", "gpu", "auto"] as const;

/** `gpu` uses the GPU or says why it cannot; `auto` then goes on on the processor, with a note. */
export type ComputeDevice = (typeof DEVICES)[number];

export const DEFAULT_DEVICE: ComputeDevice = "cpu";

/** What was asked for and what was used, as plain data. */
export interface UsedDevice {
  readonly asked: ComputeDevice;
  readonly used: "cpu" | "gpu";
  /** What the GPU is called. */
  readonly name?: string | undefined;
  /** Why it was not the GPU, or what was not. */
  readonly note?: string | undefined;
}

export const deviceTexts = {
  unknown: (given: unknown) =>
    `the device was ${JSON.stringify(given)}: the devices are ${DEVICES.join(", ")}`,
  software: (name: string) =>
    `the GPU here (${name}) is a program on the processor, and slower than it: choose the device "gpu" to use it all the same`,
  used: ({ used, name, note }: UsedDevice) =>
    used === "gpu"
      ? `On the GPU: ${name ?? "unnamed"}${note === undefined ? "" : `; ${note}`}.`
      : note === undefined
        ? "On the CPU."
        : `On the CPU, because ${note}.`,
};

/** One for all that this process does: what was compiled for it stays. */
let shared: Promise<Gpu> | undefined;

/** Fails where there is no GPU to be opened. */
let lookFirst = async (): Promise<void> => {};

/**
 * @internal For a program that can look for a GPU elsewhere than in its own process, where a driver writes and may crash:
 * `look` fails where there is none, and nothing is opened then.
 */
export const lookBeforeOpening = (look: () => Promise<void>): void => {
  lookFirst = look;
};

/** Loaded when a GPU is asked for. */
const openShared = async (): Promise<Gpu> => {
  await lookFirst();
  return (await import("../compute/webgpu/device.js")).openGpu();
};

/** What will not be otherwise the next time: every search costs time, and drivers write warnings. */
const ABSENT = ["gpu-package", "gpu-browser", "gpu-adapter", "gpu-hidden", "gpu-driver"];

/** The GPU that is shared, opened when it is first asked for, and anew where it was lost. */
export const sharedGpu = async (): Promise<Gpu> => {
  const before = shared;
  const gpu = await before;
  if (gpu !== undefined && !gpu.isGone) return gpu;
  // Unless another caller, who waited beside this one, has opened it.
  if (shared === before) {
    shared = openShared().catch((error: unknown) => {
      if (!(error instanceof FairbedError && ABSENT.includes(error.code))) shared = undefined;
      throw error;
    });
  }
  return shared ?? sharedGpu();
};

/** @internal For tests: a GPU that all share from now on, as if it had been found. */
export const shareGpu = (gpu: Gpu): void => {
  shared = Promise.resolve(gpu);
};

/** Refuses for `auto` a GPU that is slower than the processor. */
export const requireWorthwhile = (asked: ComputeDevice, { info: { software, name } }: Gpu): void => {
  if (asked === "auto" && software) throw new InputError("gpu-software", deviceTexts.software(name));
};

/**
 * Runs on the device that was asked for: `on(gpu)`, with undefined for the processor. `refuse` throws where the GPU
 * cannot do it, before anything is opened.
 */
export const onDevice = async <Result>(
  asked: ComputeDevice,
  refuse: () => void,
  on: (gpu: Gpu | undefined) => Promise<Result>,
): Promise<{ readonly result: Result; readonly device: UsedDevice }> => {
  if (!DEVICES.includes(asked)) throw new InputError("device", deviceTexts.unknown(asked));
  if (asked === "cpu") return { result: await on(undefined), device: { asked, used: "cpu" } };
  try {
    refuse();
    const gpu = await sharedGpu();
    requireWorthwhile(asked, gpu);
    const { name } = gpu.info;
    return { result: await on(gpu), device: { asked, used: "gpu", name } };
  } catch (error) {
    const isRefused = error instanceof InputError && error.code.startsWith("gpu-");
    if (asked === "gpu" || !(isRefused || isGpuFailure(error))) throw error;
    return { result: await on(undefined), device: { asked, used: "cpu", note: gpuReason(error.message) } };
  }
};

/** What is used where this is asked for: the GPU, if it is wanted, is opened. `refuse` as for {@link onDevice}. */
export const usedDevice = async (asked: ComputeDevice, refuse: () => void = () => {}): Promise<UsedDevice> =>
  (await onDevice(asked, refuse, async () => undefined)).device;

/** What is stored with a result: nothing where nothing but the processor was asked for, as before there were others. */
export const storedDevice = (device: UsedDevice): { readonly device?: UsedDevice } =>
  device.asked === "cpu" ? {} : { device };

/** What a policy says that it was trained on; undefined where nothing but the processor was asked for. */
export const trainedOn = ({ settings }: Pick<PolicyFile, "settings">): UsedDevice | undefined =>
  settings?.device as UsedDevice | undefined;

/**
 * Where a policy is evaluated: where it was trained, since what the processor did exactly is not sampled afterwards. `auto`
 * goes on on the processor here too, where the GPU fails only now.
 */
export const evaluatedOn = (policy: PolicyFile, asked: ComputeDevice): ComputeDevice =>
  trainedOn(policy)?.used === "gpu" ? asked : "cpu";
