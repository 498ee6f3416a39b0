/** Policies that are trained together on a GPU, of which some break. */
import { expect, test } from "vitest";
import type { Gpu } from "../../src/compute/webgpu/device.js";
import { EnvironmentError } from "../../src/core/errors.js";
import { linearGaussian } from "../../src/design/models/linear-gaussian.js";
import type { PolicyFile } from "../../src/design/policy-file.js";
import { policySettings } from "../../src/workflows/policy-settings.js";
import { trainPoliciesOnGpu, trainPoliciesTexts } from "../../src/workflows/train-policies.js";
import { describeOnGpu, standingIn } from "../setup/gpu.js";

const SMALL = {
  horizon: 1,
  steps: 6,
  starts: 1,
  sizes: { outer: 6, contrastive: 20, marginal: 20 },
  rate: 0.01,
} as const;
const WIDTHS = { encoder: [4], encoding: 3, emitter: [5] };
/** No float32 is as large. */
const BREAKS = 1e39;
const LATER = { kind: "static", seed: 3, ...SMALL, horizon: 2 } as const;

describeOnGpu("policies that are trained together, of which some break", (gpu) => {
  const train = async (own: Gpu, all: readonly Parameters<typeof policySettings>[0][]) => {
    const told = new Map<number, PolicyFile>();
    const message = await trainPoliciesOnGpu(linearGaussian(), all.map(policySettings), {
      gpu: own,
      device: { asked: "gpu", used: "gpu", name: "a GPU" },
      onTrained(policies) {
        for (const [index, policy] of policies) told.set(index, policy);
      },
    }).then(
      () => undefined,
      (error: Error) => error.message,
    );
    return { told, message };
  };

  test.each([
    ["static", undefined],
    ["dad", undefined],
    ["dad", "static"],
  ] as const)(
    "the others come as if those had not been there, and the error names them: %s from %s",
    async (kind, start) => {
      const network = kind === "dad" ? { starts: undefined, widths: WIDTHS } : {};
      const of = (beta: number, seed: number) => ({ kind, start, beta, seed, ...SMALL, ...network });
      const { told, message } = await train(gpu(), [of(0.5, 1), of(BREAKS, 2), of(0, 1), LATER]);
      expect(message).toMatch(/^with beta 1e\+39 and seed 2, training stopped at step 1, where /);
      const alone = await train(gpu(), [of(0.5, 1), of(0, 1), LATER]);
      expect(alone.message).toBeUndefined();
      expect([...told.keys()]).toEqual([0, 2, 3]);
      expect([...told.values()]).toEqual([...alone.told.values()]);
    },
    120_000,
  );

  test("several are told of in one sentence, and halves for want of room leave them where they are", async () => {
    const of = (beta: number, seed: number) => ({ kind: "static" as const, beta, seed, ...SMALL });
    let refused = false;
    const narrow = standingIn(gpu(), {
      async allocate(words) {
        if (!refused) {
          refused = true;
          throw new EnvironmentError("gpu-memory", "no room");
        }
        return gpu().allocate(words);
      },
    });
    const { told, message } = await train(narrow, [of(0, 0), of(BREAKS, 1), of(0.5, 2), of(BREAKS, 3)]);
    expect([...told.keys()]).toEqual([0, 2]);
    const broken = [1, 3].map((seed) => ({ beta: BREAKS, seed }));
    const [before] = trainPoliciesTexts.broken(broken, 4, "|").split("|");
    expect(message?.startsWith(`${before}with beta 1e+39 and seed 1, `)).toBe(true);
  });
});
