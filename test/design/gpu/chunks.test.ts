/** How many steps are submitted before it is known how long one takes: a page's GPU ends what takes longer than seconds. */
import { expect, test } from "vitest";
import type { Gpu } from "../../../src/compute/webgpu/device.js";
import { trainDadOnGpu } from "../../../src/design/gpu/train-dad.js";
import { trainStaticOnGpu } from "../../../src/design/gpu/train-static.js";
import { linearGaussian } from "../../../src/design/models/linear-gaussian.js";
import { describeOnGpu, standingIn } from "../../setup/gpu.js";

const STOPPED = new Error("nothing is to be run");
const RUNS = [
  { beta: 0.8, seed: 0 },
  { beta: 0.8, seed: 1 },
];
const COMMON = { horizon: 1, steps: 100, runs: RUNS };
const SMALL = { outer: 5, contrastive: 10, marginal: 10 };
const LARGE = { outer: 60_000, contrastive: 2000, marginal: 2000 };

describeOnGpu("the first steps on a GPU", (gpu) => {
  /** Kernels of the first submission, which is not run: one for the keys of all steps, then those of every step. */
  const firstKernels = async (train: (gpu: Gpu) => Promise<unknown>): Promise<number> => {
    let kernels = 0;
    const watched = standingIn(gpu(), {
      async submit(dispatches) {
        kernels = dispatches.length;
        throw STOPPED;
      },
    });
    await expect(train(watched)).rejects.toBe(STOPPED);
    return kernels;
  };

  // Two evidences: 60,000 experiments of one observation with 4000 inner samples in all are 2.4e8 points.
  test.each([
    [8, 1, SMALL],
    [5, 8, LARGE],
    [1, 40, LARGE],
  ])("are %s of two runs of designs with %s starts and %o", async (steps, starts, sizes) => {
    const options = { ...COMMON, starts, sizes };
    expect(await firstKernels((own) => trainStaticOnGpu(own, linearGaussian(), options))).toBe(1 + 3 * steps);
  });

  test.each([
    [4, 2, SMALL, 8],
    [2, 30, LARGE, 2],
    // A million weights for each of 5000 observations.
    [2, 2, { outer: 5000, contrastive: 10, marginal: 10 }, 700],
  ])("are %s of %s networks with %o and layers of %s", async (steps, count, sizes, width) => {
    const widths = { encoder: [width, width], encoding: 2, emitter: [width, width] };
    const runs = Array.from({ length: count }, (_, seed) => ({ beta: 0.8, seed }));
    const shape = { ahead: 1, together: 1 } as const;
    const options = { ...COMMON, runs, widths, sizes, shape };
    expect(await firstKernels((own) => trainDadOnGpu(own, linearGaussian(), options))).toBe(1 + 7 * steps);
  });
});
