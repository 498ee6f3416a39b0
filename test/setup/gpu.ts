/**
 * Tests on a GPU: in Node on the software GPU that Chromium brings, or on the machine's own with FAIRBED_GPU=1; or the
 * reason why there is none.
 */
import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe } from "vitest";
import { findProgram, programs } from "../../scripts/system-programs.mjs";
import { type Gpu, openGpu } from "../../src/compute/webgpu/device.js";

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

const unavailable = (): never => {
  throw new Error("the GPU is there only while a test runs");
};
