/**
 * Tests on a GPU: in Node on the software GPU that Chromium brings, or on the machine's own with FAIRBED_GPU=1; or the
 * reason why there is none.
 */
import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe } from "vitest";
import { findProgram, programs } from "../../scripts/system-programs.mjs";
import type { Adapter, AdapterInfo, Device, Limits, WebGpu } from "../../src/compute/webgpu/api.js";
import { type Gpu, openGpu, openGpuOf } from "../../src/compute/webgpu/device.js";

const ICD = "vk_swiftshader_icd.json";
/** Debian's launcher is a script beside the folder with the program. */
const FOLDERS = ["/usr/lib/chromium", "/usr/lib/chromium-browser", "/opt/google/chrome"];

/** The file that tells Vulkan of the software GPU, or why there is none. */
export const findSoftwareGpu = (): { readonly icd: string } | { readonly skip: string } => {
  if (findProgram(programs.vulkan) === undefined) return { skip: "no Vulkan loader: install libvulkan1" };
  const chromium = findProgram(programs.chromium);
  const own = chromium === undefined ? [] : [dirname(realpathSync(chromium))];
  const icd = [...own, ...FOLDERS].map((folder) => join(folder, ICD)).find((path) => existsSync(path));
  return icd === undefined ? { skip: `no software GPU: install chromium, which brings ${ICD}` } : { icd };
};

/** A suite with one GPU for all its tests, skipped by name where there is none. */
export const describeOnGpu = (name: string, suite: (gpu: () => Gpu) => void): void => {
  const search = process.env.FAIRBED_GPU === undefined ? findSoftwareGpu() : { icd: undefined };
  if ("skip" in search) {
    describe.skip(`${name} (skipped: ${search.skip})`, () => suite(unavailable));
    return;
  }
  describe(name, () => {
    let gpu: Gpu | undefined;
    beforeAll(async () => {
      if (search.icd !== undefined) process.env.VK_ICD_FILENAMES = search.icd;
      gpu = await openGpu();
    });
    afterAll(() => gpu?.dispose());
    suite(() => gpu ?? unavailable());
  });
};

/** What WebGPU promises of every adapter. */
export const DEFAULT_LIMITS: Limits = {
  maxBufferSize: 2 ** 28,
  maxStorageBufferBindingSize: 2 ** 27,
  maxComputeWorkgroupStorageSize: 16_384,
  maxComputeInvocationsPerWorkgroup: 256,
  maxComputeWorkgroupSizeX: 256,
  maxComputeWorkgroupsPerDimension: 65_535,
  maxStorageBuffersPerShaderStage: 8,
};

/** Kept for as long as the tests run: a device does not outlive what it came from. */
let instance: WebGpu | undefined;

interface OwnGpu {
  readonly info?: AdapterInfo;
  readonly limits?: Limits;
  readonly as?: (device: Device) => Device;
  readonly open?: typeof openGpuOf;
}

/**
 * A GPU of a test's own: its adapter may say other things of itself, `as` may stand in for its device, and `open` comes
 * from `dist/` where what ships is tested.
 */
export const openGpuWith = async ({
  info,
  limits,
  as = (device) => device,
  open = openGpuOf,
}: OwnGpu = {}): Promise<Gpu> => {
  const name = "webgpu";
  const { create } = (await import(name)) as { create(options: readonly string[]): WebGpu };
  instance ??= create([]);
  const adapter = await instance.requestAdapter();
  if (adapter === null) throw new Error("there is a GPU");
  const named: Adapter = {
    info: info ?? adapter.info,
    features: adapter.features,
    limits: limits ?? adapter.limits,
    requestDevice: async (options) => as(await adapter.requestDevice(options)),
  };
  const page: WebGpu = { requestAdapter: async () => named };
  return open({ page, load: undefined, present: () => undefined });
};

/** In larger workgroups, what imitates a GPU takes minutes. */
const SMALL: Limits = { ...DEFAULT_LIMITS, maxComputeInvocationsPerWorkgroup: 32 };

/** The same GPU under another name, so that it is not known as software and `auto` takes it. */
export const openAsHardware = ({ as = (device) => device, ...given }: OwnGpu = {}): Promise<Gpu> =>
  openGpuWith({
    info: { vendor: "test", architecture: "", device: "", description: "a GPU" },
    as: (device) => (given.limits === undefined ? standingIn(as(device), { limits: SMALL }) : as(device)),
    ...given,
  });

/** The same object, of which some properties are others. */
export const standingIn = <T extends object>(whole: T, own: Partial<T>): T =>
  new Proxy(whole, {
    get(target, name) {
      const value: unknown = Reflect.get(Object.hasOwn(own, name) ? own : target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });

/** Calls this before the device is given work. */
export const watchSubmissions = (device: Device, submits: () => unknown): Device => {
  const queue = new Proxy(device.queue, {
    get(target, name) {
      if (name === "submit") submits();
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  return standingIn(device, { queue });
};

/** A device that goes away when it is given work for the last time. */
export const lostAfter =
  (submissions: number) =>
  (device: Device): Device => {
    let left = submissions;
    return watchSubmissions(device, () => {
      left -= 1;
      if (left === 0) device.destroy();
    });
  };

const unavailable = (): never => {
  throw new Error("the GPU is there only while a test runs");
};
