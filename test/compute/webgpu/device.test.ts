/** What is said where there is no GPU, or it goes away; and what the software GPU tells of itself. */
import { describe, expect, test } from "vitest";
import type { Adapter, WebGpu } from "../../../src/compute/webgpu/api.js";
import { type GpuHost, openGpu, openGpuOf } from "../../../src/compute/webgpu/device.js";
import { gpuTexts, NVIDIA_ICD } from "../../../src/compute/webgpu/texts.js";
import { kernelText } from "../../../src/compute/webgpu/wgsl/module.js";
import { reduceText, scratchWords } from "../../../src/compute/webgpu/wgsl/reduce.js";
import { describeOnGpu } from "../../setup/gpu.js";

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
      host({ load: () => Promise.reject(new Error("Cannot find package 'webgpu'")) }),
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

  test("an array that is too large, and a device that is lost, end in a sentence", async () => {
    await expect(gpu().allocate({ huge: 2 ** 40 })).rejects.toMatchObject({ code: "gpu-memory" });
    const other = await openGpu();
    const buffers = await other.allocate({ some: 4 });
    other.dispose();
    await expect(other.read({ buffer: buffers.some, words: 4 })).rejects.toMatchObject({ code: "gpu-lost" });
  });
});
