/** The kernels in a page, on Chromium's software GPU: Node's numbers. */
import { chromium } from "playwright-core";
import { describe, expect, test } from "vitest";
import { linearGaussian } from "../../../src/design/models/linear-gaussian.js";
import { trainStatic } from "../../../src/design/train-static.js";
import { findChromium, serve } from "../../setup/chromium.js";
import { needsDist, ROOT } from "../../setup/dist.js";

needsDist();

const FLAGS = [
  "--no-sandbox",
  "--no-first-run",
  "--disable-background-networking",
  "--enable-unsafe-webgpu",
  "--use-webgpu-adapter=swiftshader",
  "--enable-features=Vulkan",
];

const search = findChromium();
const skipped = "skip" in search ? ` (skipped: ${search.skip})` : "";

describe.skipIf("skip" in search)(`a GPU in Chromium${skipped}`, () => {
  test("static designs are those of the processor", async () => {
    if ("skip" in search) return;
    const options = { horizon: 1, steps: 8, starts: 1, sizes: { outer: 5, contrastive: 20, marginal: 20 } };
    const server = await serve({
      isolated: false,
      folder: ROOT,
      handlers: { "/": () => "<!doctype html><title>GPU</title>" },
    });
    const browser = await chromium.launch({ executablePath: search.executable, args: FLAGS });
    try {
      const page = await browser.newPage();
      await page.goto(`${server.url}/`);
      const found = (await page.evaluate(`(async () => {
        const { openGpu } = await import("/dist/compute/index.js");
        const { trainStaticOnGpu } = await import("/dist/design/gpu/train-static.js");
        const { linearGaussian } = await import("/dist/design/index.js");
        const gpu = await openGpu();
        const [{ designs, objective }] = await trainStaticOnGpu(gpu, linearGaussian(), {
          ...${JSON.stringify(options)}, runs: [{ beta: 0.5, seed: 2 }],
        });
        gpu.dispose();
        return { software: gpu.info.software, designs: [...designs], mean: objective.mean };
      })()`)) as { software: boolean; designs: number[]; mean: number };
      expect(found.software).toBe(true);
      const cpu = await trainStatic(linearGaussian(), { ...options, beta: 0.5, seed: 2, threads: 1 });
      found.designs.forEach((value, i) => {
        expect(Math.abs(value - cpu.designs[i])).toBeLessThan(1e-4);
      });
      expect(found.mean).toBeCloseTo(cpu.objective.mean, 4);
    } finally {
      await browser.close();
      await server.close();
    }
  });
});
