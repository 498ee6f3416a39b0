/** A process that opens the GPU, tells its parent what it is or why there is none, and ends. */
import { type GpuInfo, openGpu } from "../compute/webgpu/device.js";
import { FairbedError } from "../core/errors.js";

/** The GPU, or why none can be used, with the name of that error. */
export type FoundGpu =
  | { readonly gpu: GpuInfo }
  | { readonly gpu: null; readonly gpuNote: string; readonly gpuCode: string };

const found = async (): Promise<FoundGpu> => {
  try {
    const gpu = await openGpu();
    const { info } = gpu;
    gpu.dispose();
    return { gpu: info };
  } catch (error) {
    if (!(error instanceof FairbedError)) throw error;
    return { gpu: null, gpuNote: error.message, gpuCode: error.code };
  }
};

process.send?.(await found(), () => process.exit());
