/** What is said where there is no GPU, or it goes away; and what the software GPU tells of itself. */
import { describe, expect, test } from "vitest";
import { add } from "../../../src/compute/index.js";
import type { Adapter, AdapterInfo, Device, WebGpu } from "../../../src/compute/webgpu/api.js";
import { openGpu, openGpuOf } from "../../../src/compute/webgpu/device.js";
import type { GpuHost } from "../../../src/compute/webgpu/host.js";
import { mapOnGpu } from "../../../src/compute/webgpu/map.js";
import { gpuTexts, NVIDIA_ICD } from "../../../src/compute/webgpu/texts.js";
import { kernelText } from "../../../src/compute/webgpu/wgsl/module.js";
import { reduceText, scratchWords } from "../../../src/compute/webgpu/wgsl/reduce.js";
import { DEFAULT_LIMITS, describeOnGpu, openGpuWith, standingIn } from "../../setup/gpu.js";

const withAdapter = (adapter: Adapter | null): WebGpu => ({ requestAdapter: async () => adapter });
const host = (over: Partial<GpuHost>): GpuHost => ({
  page: undefined,
  load: undefined,
  present: () => undefined,
  ...over,
});

describe("no GPU", () => {
  test.each<[string, GpuHost, string, string]>([
    [
      "the package is missing",
      host({
        load: () =>
          Promise.reject(new Error("Cannot find package 'webgpu' imported from /opt/my tools/host.js")),
      }),
      "gpu-package",
      gpuTexts.package("Cannot find package 'webgpu'"),
    ],
    ["a browser without WebGPU", host({}), "gpu-browser", gpuTexts.browser],
    ["no adapter", host({ page: withAdapter(null) }), "gpu-adapter", gpuTexts.noAdapter],
    [
      "a GPU that Vulkan does not show",
      host({ load: async () => withAdapter(null), present: () => "/dev/nvidia0" }),
      "gpu-hidden",
      gpuTexts.hidden("/dev/nvidia0"),
    ],
    [
      "an adapter that gives no device",
      host({
        page: withAdapter({
          info: {},
          features: { has: () => false },
          limits: {} as Adapter["limits"],
          requestDevice: () => Promise.reject(new Error("busy")),
        }),
      }),
      "gpu-refused",
      gpuTexts.refused("busy"),
    ],
  ])("%s", async (_, given, code, message) => {
    await expect(openGpuOf(given)).rejects.toMatchObject({ code, message });
  });

  test("what to set is a file that can be pasted", () => {
    expect(JSON.parse(NVIDIA_ICD).ICD.library_path).toBe("libEGL_nvidia.so.0");
    expect(gpuTexts.hidden("/dev/nvidia0")).toContain("VK_ICD_FILENAMES");
  });
});

/** As browsers have it: what an adapter says of itself are getters of its class. */
class BrowserInfo {
  readonly #given: AdapterInfo;
  constructor(given: AdapterInfo) {
    this.#given = given;
  }
  get vendor(): string {
    return this.#given.vendor ?? "";
  }
  get architecture(): string {
    return this.#given.architecture ?? "";
  }
  get description(): string {
    return this.#given.description ?? "";
  }
  get subgroupMinSize(): number {
    return 4;
  }
  get subgroupMaxSize(): number {
    return 128;
  }
  get isFallbackAdapter(): boolean {
    return this.#given.isFallbackAdapter ?? false;
  }
}

describe("what a browser's adapter says of itself", () => {
  test.each<[string, AdapterInfo, string, boolean]>([
    ["a program that only its flag tells of", { vendor: "some", isFallbackAdapter: true }, "unnamed", true],
    [
      "WARP by its description",
      { vendor: "microsoft", description: "Microsoft Basic Render Driver" },
      "Microsoft Basic Render Driver",
      true,
    ],
    ["WARP by its name", { vendor: "microsoft", architecture: "warp" }, "warp", true],
    ["a GPU", { vendor: "nvidia", architecture: "hopper" }, "hopper", false],
  ])("%s", async (_, given, name, software) => {
    const device: Partial<Device> = { lost: new Promise(() => {}) };
    const adapter: Adapter = {
      info: new BrowserInfo(given),
      features: { has: (feature) => feature === "subgroups" },
      limits: DEFAULT_LIMITS,
      requestDevice: async () => device as Device,
    };
    const { info } = await openGpuOf(host({ page: withAdapter(adapter) }));
    expect(info).toEqual({
      vendor: given.vendor,
      name,
      subgroups: { least: 4, most: 128 },
      software,
    });
  });
});

describeOnGpu("a GPU", (gpu) => {
  test("says what it is", async () => {
    const { vendor, name } = gpu().info;
    expect(vendor.length + name.length).toBeGreaterThan(0);
    const size = await gpu().orderedSubgroup();
    expect(size === undefined || Number.isInteger(Math.log2(size))).toBe(true);
  });

  test.each(["sum", "max"] as const)(
    "the %s over a workgroup, by subgroups and by shared memory",
    async (kind) => {
      const workgroup = 64;
      const values = Float32Array.from({ length: 2 * workgroup }, (_, i) => ((i * 37) % 101) - 50);
      const expected = [0, 1].map((k) => {
        const own = [...values.subarray(k * workgroup, (k + 1) * workgroup)];
        return kind === "max" ? Math.max(...own) : own.reduce((sum, value) => sum + value, 0);
      });
      const buffers = await gpu().allocate({ given: values.length, result: values.length });
      gpu().write(buffers.given, values);
      for (const leastSubgroup of [undefined, await gpu().orderedSubgroup()]) {
        const reducing = { workgroup, leastSubgroup };
        const kernel = await gpu().kernel(
          kernelText({
            buffers: [
              { name: "given", type: "array<f32>" },
              { name: "result", type: "array<f32>", write: true },
            ],
            workgroup,
            subgroups: leastSubgroup !== undefined,
            declarations: `var<workgroup> scratch: array<f32, ${scratchWords(reducing, 2)}>;`,
            body: `var a = given[lane]; var b = given[${workgroup}u + lane];
${reduceText(kind, ["a", "b"], reducing)}
result[lane] = a; result[${workgroup}u + lane] = b;`,
          }),
          [buffers.given, buffers.result],
        );
        await gpu().submit([{ kernel, workgroups: [1] }]);
        const found = await gpu().readFloats(buffers.result, values.length);
        // Whole numbers: every order of adding them gives the same.
        expect([...found]).toEqual([...values].map((_, i) => expected[Math.floor(i / workgroup)]));
      }
    },
  );

  test("numbers for more workgroups than a dimension has are mapped", async () => {
    const x = Float32Array.from({ length: 64 * 65_535 + 100 }, (_, i) => i % 1000);
    const { value } = await mapOnGpu(gpu(), ({ x: one }) => add(one, 1), { x });
    expect(value.every((each, i) => each === x[i] + 1)).toBe(true);
  });

  test("what the order of threads was not found out from for want of room is tried again", async () => {
    let full = true;
    const own = await openGpuWith({
      as: (device) =>
        standingIn(device, {
          popErrorScope: async () => {
            const error = await device.popErrorScope();
            return full ? { message: "no room" } : error;
          },
        }),
    });
    if (own.info.subgroups !== undefined) {
      await expect(own.orderedSubgroup()).rejects.toMatchObject({ code: "gpu-memory" });
    }
    full = false;
    expect(await own.orderedSubgroup()).toBe(await gpu().orderedSubgroup());
    own.dispose();
  });

  test("an array that is too large, and a device that is lost, end in a sentence", async () => {
    await expect(gpu().allocate({ huge: 2 ** 40 })).rejects.toMatchObject({ code: "gpu-memory" });
    const other = await openGpu();
    const buffers = await other.allocate({ some: 4 });
    other.dispose();
    await expect(other.read({ buffer: buffers.some, words: 4 })).rejects.toMatchObject({ code: "gpu-lost" });
  });
});
