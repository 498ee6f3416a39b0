/**
 * Where a computation runs. The processor is the default and the reference: the same seed gives the same answer on every
 * machine there. A GPU has to be asked for; its answers differ in the last digits from machine to machine.
 */
import { type Gpu, openGpu } from "../compute/index.js";
import { EnvironmentError, FairbedError, InputError } from "../core/errors.js";

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
  /** Why it was not the GPU, where `auto` was asked for. */
  readonly note?: string | undefined;
}

export const deviceTexts = {
  unknown: (given: unknown) =>
    `the device was ${JSON.stringify(given)}: the devices are ${DEVICES.join(", ")}`,
  used: ({ used, name, note }: UsedDevice) =>
    used === "gpu"
      ? `On the GPU: ${name ?? "unnamed"}.`
      : note === undefined
        ? "On the CPU."
        : `On the CPU, because ${note}.`,
};

/** One for all that this process does: what was compiled for it stays. */
let shared: Promise<Gpu> | undefined;

/** The GPU that is shared, opened when it is first asked for. */
export const sharedGpu = (): Promise<Gpu> => {
  shared ??= openGpu().catch((error: unknown) => {
    shared = undefined;
    throw error;
  });
  return shared;
};

const isLost = (error: unknown): boolean =>
  error instanceof EnvironmentError || (error instanceof Error && error.cause instanceof EnvironmentError);

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
    const { name } = gpu.info;
    return { result: await on(gpu), device: { asked, used: "gpu", name } };
  } catch (error) {
    // A GPU that was lost is opened anew the next time.
    if (isLost(error)) shared = undefined;
    const forGpu = error instanceof FairbedError && (error.code.startsWith("gpu-") || isLost(error));
    if (asked === "gpu" || !forGpu) throw error;
    return { result: await on(undefined), device: { asked, used: "cpu", note: error.message } };
  }
};

/** What is stored with a result: nothing where nothing but the processor was asked for, as before there were others. */
export const storedDevice = (device: UsedDevice): { readonly device?: UsedDevice } =>
  device.asked === "cpu" ? {} : { device };
