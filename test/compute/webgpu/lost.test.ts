/** A GPU that goes away, has no room, or is asked for what no adapter has: one sentence, and a checkpoint to go on from. */
import { expect, test } from "vitest";
import { describeFailure } from "../../../src/cli/failure.js";
import type { Device } from "../../../src/compute/webgpu/api.js";
import { shapeTexts } from "../../../src/compute/webgpu/nested/shape.js";
import { gpuTexts } from "../../../src/compute/webgpu/texts.js";
import { EnvironmentError } from "../../../src/core/errors.js";
import { type GpuStaticCheckpoint, trainStaticOnGpu } from "../../../src/design/gpu/train-static.js";
import { linearGaussian } from "../../../src/design/models/linear-gaussian.js";
import { TrainingError } from "../../../src/design/training.js";
import { designFrontier } from "../../../src/workflows/design-frontier.js";
import { deviceTexts, sharedGpu, shareGpu } from "../../../src/workflows/device.js";
import { evaluatePolicy } from "../../../src/workflows/evaluate-policy.js";
import { openScores } from "../../../src/workflows/score-device.js";
import { trainPolicy } from "../../../src/workflows/train-policy.js";
import { DEFAULT_LIMITS, describeOnGpu, openAsHardware, openGpuWith, standingIn } from "../../setup/gpu.js";

const OPTIONS = {
  horizon: 1,
  steps: 40,
  starts: 2,
  sizes: { outer: 6, contrastive: 20, marginal: 20 },
  runs: [{ beta: 0.5, seed: 4 }],
} as const;

/** A device that has no room for anything larger. */
const withRoomFor =
  (bytes: number) =>
  (device: Device): Device => {
    let refused = false;
    const own: Partial<Device> = {
      createBuffer(options) {
        refused ||= options.size > bytes;
        return device.createBuffer(options);
      },
      async popErrorScope() {
        const error = await device.popErrorScope();
        const message = refused ? { message: "no room" } : error;
        refused = false;
        return message;
      },
    };
    return standingIn(device, own);
  };

describeOnGpu("a GPU that fails", (gpu) => {
  test("one that is lost in the middle of training leaves a checkpoint, from which another goes on", {
    timeout: 180_000,
  }, async () => {
    const [expected] = await trainStaticOnGpu(gpu(), linearGaussian(), OPTIONS);
    const devices: Device[] = [];
    const broken = await openGpuWith({
      as(device) {
        devices.push(device);
        return device;
      },
    });
    const failed = trainStaticOnGpu(broken, linearGaussian(), {
      ...OPTIONS,
      onProgress: ({ done }) => {
        if (done > 20) devices[0].destroy();
      },
    });
    const error = await failed.then(
      () => undefined,
      (reason: unknown) => reason as TrainingError<GpuStaticCheckpoint>,
    );
    expect(error).toBeInstanceOf(TrainingError);
    expect(error?.message).toContain("the GPU was lost (");
    expect(error?.cause).toMatchObject({ code: "gpu-lost" });
    const resume = JSON.parse(JSON.stringify(error?.checkpoint)) as GpuStaticCheckpoint;
    expect(resume.total).toBeGreaterThan(20);
    const [resumed] = await trainStaticOnGpu(gpu(), linearGaussian(), { ...OPTIONS, resume });
    expect(resumed).toEqual(expected);
  });

  test("one without room says so, with a checkpoint", async () => {
    const small = await openGpuWith({ as: withRoomFor(256) });
    await expect(small.allocate({ some: 100 })).rejects.toMatchObject({
      code: "gpu-memory",
      message: gpuTexts.memory(1),
    });
    const tight = await openGpuWith({ as: withRoomFor(4096) });
    const failed = trainStaticOnGpu(tight, linearGaussian(), OPTIONS);
    await expect(failed).rejects.toMatchObject({ cause: { code: "gpu-memory" } });
    await expect(failed).rejects.toBeInstanceOf(TrainingError);
    for (const each of [small, tight]) each.dispose();
  });

  test("what is too large to be read at once is named, and not taken for a loss", async () => {
    const own = await openGpuWith({ limits: DEFAULT_LIMITS });
    const words = 24 * 2 ** 20;
    const buffers = await own.allocate({ a: words, b: words, c: words });
    const all = Object.values(buffers).map((buffer) => ({ buffer, words }));
    await expect(own.read(...all)).rejects.toMatchObject({
      code: "gpu-memory",
      message: gpuTexts.tooLarge(288, 256),
    });
    own.dispose();
  });

  test("one that refuses to answer before it says that it is lost is lost", async () => {
    const silent = (device: Device): Device =>
      standingIn(device, { popErrorScope: () => Promise.reject(new Error("instance dropped")) });
    const own = await openGpuWith({ as: silent });
    const lost = { code: "gpu-lost", message: gpuTexts.lost("instance dropped") };
    await expect(own.allocate({ some: 4 })).rejects.toMatchObject(lost);
    await expect(own.submit([])).rejects.toMatchObject(lost);
    own.dispose();
  });

  test.each([
    ["inner samples", { inner: 1e9, outer: 4, batches: 1 }, "an array of"],
    ["experiments", { inner: 10, outer: 1e6, batches: 1 }, shapeTexts.outer(1e6, 65535)],
  ])("more %s than any GPU takes are refused in a sentence", async (_, sizes, text) => {
    const policy = { kind: "static", horizon: 1, designs: [[1, 0.5]] } as const;
    await expect(evaluatePolicy(linearGaussian(), policy, { ...sizes, device: "gpu" })).rejects.toThrow(text);
  });

  test("auto goes on on the processor, and the next training has a GPU again", async () => {
    // So many steps that some of them are told of on any machine.
    const settings = { horizon: 1, steps: 2000, starts: 1, sizes: OPTIONS.sizes, evaluation: false } as const;
    const shared = await openAsHardware();
    shareGpu(shared);
    const found = await trainPolicy(linearGaussian(), {
      ...settings,
      device: "auto",
      onProgress: () => shared.dispose(),
    });
    const device = found.settings?.device;
    expect(device).toMatchObject({ asked: "auto", used: "cpu", note: expect.stringContaining("was lost") });
    expect(deviceTexts.used({ asked: "auto", used: "cpu", note: "x" })).toContain("because x");
    const plain = await trainPolicy(linearGaussian(), settings);
    expect({ ...found, settings: { ...found.settings, device: undefined } }).toEqual({
      ...plain,
      settings: { ...plain.settings, device: undefined },
    });
    const again = await trainPolicy(linearGaussian(), { ...settings, steps: 40, device: "gpu" });
    expect(again.settings?.device).toMatchObject({ used: "gpu" });
  });

  test("one that is lost between trainings is not missed", async () => {
    const settings = { horizon: 1, steps: 10, starts: 1, sizes: OPTIONS.sizes, evaluation: false } as const;
    const before = await sharedGpu();
    before.dispose();
    // Of several that ask at the same time, one opens another GPU, for all.
    const [one, other] = await Promise.all([sharedGpu(), sharedGpu()]);
    expect(one).not.toBe(before);
    expect(other).toBe(one);
    const found = await trainPolicy(linearGaussian(), { ...settings, device: "gpu" });
    expect(found.settings?.device).toMatchObject({ used: "gpu" });
    expect(await sharedGpu()).toBe(one);
  });

  test("auto evaluates on the processor what a GPU is too small for", async () => {
    shareGpu(await openAsHardware());
    const settings = {
      ...{ horizon: 1, steps: 10, starts: 1, sizes: OPTIONS.sizes, device: "auto" as const },
      evaluation: { outer: 70_000, inner: 4, batches: 1 },
    } as const;
    await expect(trainPolicy(linearGaussian(), { ...settings, device: "gpu" })).rejects.toThrow(
      shapeTexts.outer(70_000, 65_535),
    );
    const found = await trainPolicy(linearGaussian(), settings);
    expect(found.settings?.device).toMatchObject({ used: "gpu" });
    expect(found.bounds?.objective.lower).toBeTypeOf("number");
    const [point] = await designFrontier(linearGaussian(), { ...settings, betas: [0] });
    expect(point.policy.settings?.device).toMatchObject({ used: "gpu" });
    expect(point.objective.lower).toBeTypeOf("number");
  });

  test("auto leaves a GPU alone that is a program on the processor", async () => {
    shareGpu(gpu());
    const settings = { horizon: 1, steps: 5, starts: 1, sizes: OPTIONS.sizes, evaluation: false } as const;
    const found = await trainPolicy(linearGaussian(), { ...settings, device: "auto" });
    const note = deviceTexts.software(gpu().info.name);
    expect(found.settings?.device).toEqual({ asked: "auto", used: "cpu", note });
    const work = { method: "fairbed", candidates: 1e9, targets: 1000, members: 100, times: 2 } as const;
    expect((await openScores("auto", work)).used()).toEqual({ asked: "auto", used: "cpu", note });
  });

  test("a listener's error is its own, and not the GPU's", async () => {
    shareGpu(await openAsHardware());
    const full = new EnvironmentError("write-refused", "the disk is full");
    for (const device of ["gpu", "auto"] as const) {
      const failed = trainPolicy(linearGaussian(), {
        ...{ horizon: 1, steps: 2000, starts: 1, sizes: OPTIONS.sizes, evaluation: false, device },
        onProgress: () => {
          throw full;
        },
      });
      await expect(failed).rejects.toBe(full);
    }
  });

  test("a training that lost it says so by its code, and is no wrong use of a command", async () => {
    const shared = await openAsHardware();
    shareGpu(shared);
    const failed = trainPolicy(linearGaussian(), {
      ...{ horizon: 1, steps: 2000, starts: 1, sizes: OPTIONS.sizes, evaluation: false, device: "gpu" },
      onProgress: () => shared.dispose(),
    });
    const error = await failed.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(TrainingError);
    expect(error).toMatchObject({ code: "gpu-lost" });
    expect(describeFailure(error)).toMatchObject({ code: "gpu-lost", exitCode: 1 });
  });
});
