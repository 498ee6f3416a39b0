/** All kernels on a GPU that has no more than WebGPU promises, and that is no program: its workgroups are large. */
import { expect, test } from "vitest";
import { epigOnGpu } from "../../../src/active/gpu/epig-on-gpu.js";
import type { Members } from "../../../src/active/members.js";
import type { Gpu } from "../../../src/compute/webgpu/device.js";
import { type GpuDadCheckpoint, trainDadOnGpu } from "../../../src/design/gpu/train-dad.js";
import { trainStaticOnGpu } from "../../../src/design/gpu/train-static.js";
import { linearGaussian } from "../../../src/design/models/linear-gaussian.js";
import { locationFinding } from "../../../src/design/models/location.js";
import { DEFAULT_LIMITS, describeOnGpu, openAsHardware, openGpuWith, standingIn } from "../../setup/gpu.js";

const RUNS = [{ beta: 0.8, seed: 0 }];

/** Two halves that agree: one bit of information, as far as four members tell. */
const members = (rows: number): Members => ({
  kind: "dense",
  rows,
  members: 4,
  classes: 2,
  values: Float32Array.from({ length: 8 * rows }, (_, i) => [1, 0, 1, 0, 0, 1, 0, 1][i % 8]),
});

/** The parameters of a network after some steps of training. */
const parametersOn = async (gpu: Gpu): Promise<readonly number[]> => {
  let last: GpuDadCheckpoint | undefined;
  await trainDadOnGpu(gpu, linearGaussian(), {
    horizon: 2,
    steps: 2,
    rate: 0.01,
    // More records than are in shared memory at a time, and not a multiple of them.
    sizes: { outer: 19, contrastive: 8, marginal: 8 },
    widths: { encoder: [8], encoding: 4, emitter: [8] },
    runs: RUNS,
    shape: { ahead: 1, tile: 1, workgroup: 64, together: 1, splits: 1 },
    onProgress: ({ checkpoint }) => {
      last = checkpoint();
    },
  });
  return last?.runs[0].parameters ?? [];
};

describeOnGpu("a GPU with the limits that every GPU has", (gpu) => {
  test("trains designs and networks and scores candidates", { timeout: 180_000 }, async () => {
    const small = await openAsHardware({ limits: DEFAULT_LIMITS });
    expect(small.info.software).toBe(false);
    const sizes = { outer: 4, contrastive: 20, marginal: 20 };
    const options = { horizon: 2, steps: 2, starts: 1, sizes, runs: RUNS };
    const [designs] = await trainStaticOnGpu(small, locationFinding(), options);
    const [same] = await trainStaticOnGpu(gpu(), locationFinding(), options);
    designs.designs.forEach((value, i) => {
      expect(value).toBeCloseTo(same.designs[i], 4);
    });
    const scores = await epigOnGpu(small, members(3), members(2));
    expect(scores[0]).toBeCloseTo(Math.log(2), 5);
    expect((await parametersOn(small)).every(Number.isFinite)).toBe(true);
    small.dispose();
  });

  test("trains networks to the same bits with less shared memory", { timeout: 180_000 }, async () => {
    const { maxComputeWorkgroupStorageSize } = DEFAULT_LIMITS;
    expect(gpu().limits.maxComputeWorkgroupStorageSize).toBeGreaterThan(maxComputeWorkgroupStorageSize);
    const small = await openGpuWith({
      limits: standingIn(gpu().limits, { maxComputeWorkgroupStorageSize }),
    });
    const found = await parametersOn(small);
    expect(found.length).toBeGreaterThan(0);
    expect(found).toEqual(await parametersOn(gpu()));
    small.dispose();
  });
});
