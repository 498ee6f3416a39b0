/** Where this program looks for a GPU: in its page, or in Node in the package `webgpu`. */
import { builtin } from "../features.js";
import type { WebGpu } from "./api.js";

/** Where a GPU is looked for, so that a test can stand in for the machine. */
export interface GpuHost {
  /** `navigator.gpu` of a page. */
  readonly page: WebGpu | undefined;
  /** In Node, the package `webgpu`. */
  readonly load: (() => Promise<WebGpu>) | undefined;
  /** A GPU that the machine has, whether or not Vulkan shows it, by the name of its device file. */
  readonly present: () => string | undefined;
}

/** Device files of Linux by which a GPU is known to be there. */
const DEVICE_FILES = ["/dev/nvidia0", "/dev/dri/renderD128", "/dev/kfd"];

interface WebGpuPackage {
  create(options: readonly string[]): WebGpu;
}

/** Kernels here reach for nothing outside of their buffers: looking after every index again costs a fifth of the time. */
const OPTIONS = ["enable-dawn-features=disable_robustness"];

/** A bundler must not look for a package that a page never loads. */
const PACKAGE = "webgpu";

/** Kept for as long as the process runs: a device does not outlive what it came from. */
let loaded: WebGpu | undefined;

export const thisHost = (): GpuHost => {
  const inNode = builtin("node:fs") !== undefined;
  return {
    page: (globalThis as { navigator?: { gpu?: WebGpu } }).navigator?.gpu,
    load: inNode
      ? async () => {
          if (loaded !== undefined) return loaded;
          const { create } = (await import(
            /* @vite-ignore */ /* webpackIgnore: true */ PACKAGE
          )) as WebGpuPackage;
          loaded = create(OPTIONS);
          return loaded;
        }
      : undefined,
    present: () => {
      const files = builtin<{ existsSync(path: string): boolean }>("node:fs");
      return DEVICE_FILES.find((path) => files?.existsSync(path) === true);
    },
  };
};
