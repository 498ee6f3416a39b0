/** Log-likelihoods that are no numbers: they are seen on a GPU, whose min, max and clamp leave them out, as on the processor. */
import { expect, test } from "vitest";
import { add, log, mul, sqrt } from "../../../src/compute/index.js";
import { NestedBounds, NestedEvidences } from "../../../src/compute/webgpu/nested/values.js";
import { seededStream } from "../../../src/core/random.js";
import { bernoulli, normal } from "../../../src/design/distribution.js";
import { evidenceTexts } from "../../../src/design/evidence-samples.js";
import { describeNested, integrated } from "../../../src/design/gpu/describe.js";
import { coefficientsOf } from "../../../src/design/gpu/static-values.js";
import { defineModel, type Model, real, sensitive, target } from "../../../src/design/model.js";
import { objectiveQuantity } from "../../../src/design/quantity.js";
import { evaluatePolicy } from "../../../src/workflows/evaluate-policy.js";
import { describeOnGpu } from "../../setup/gpu.js";

/** Of two hundred thetas one is below 0, where there is no root. */
const rooted = defineModel({
  parameters: { theta: target(normal(2, 0.75)), phi: sensitive(normal(0, 1)) },
  design: { x: real() },
  outcome: ({ theta, phi }, { x }) => normal(add(mul(x, phi), sqrt(theta)), 0.5),
});

/** A prior that depends on theta beside it, so that evidences are weighted. */
const leaning = defineModel({
  parameters: {
    theta: target(normal(2, 0.75)),
    phi: sensitive(({ theta }) => bernoulli({ logit: theta })),
  },
  design: { x: real() },
  outcome: ({ theta, phi }, { x }) => normal(add(mul(x, phi), log(theta)), 0.5),
});

const DESIGNS = { kind: "static", horizon: 2, designs: [[1], [0.5]] } as const;
const SIZES = { outer: 4, contrastive: 3000, marginal: 3000 };

describeOnGpu("a log-likelihood that is no number on a GPU", (gpu) => {
  test.each<[string, Model]>([
    ["of a root", rooted],
    ["of a logarithm, with weights", leaning],
  ])("ends an evaluation, in the processor's words: %s", { timeout: 60_000 }, async (_, model) => {
    const options = { outer: SIZES.outer, inner: 3000, batches: 1, seed: 1 };
    const messages = await Promise.all(
      (["cpu", "gpu"] as const).map((device) =>
        evaluatePolicy(model, DESIGNS, { ...options, device }).catch((error: Error) => error.message),
      ),
    );
    expect(messages).toEqual([evidenceTexts.noNumber("none"), evidenceTexts.noNumber("none")]);
  });

  test.each(["conditional", "unconditional"] as const)(
    "reaches bounds without gradients: %s",
    async (kind) => {
      const given = ["none", "target", "sensitive"] as const;
      const quantity = objectiveQuantity(kind, 0.8);
      const description = describeNested(rooted, given, 2, SIZES);
      const bounds = await NestedBounds.create(gpu(), description, 1);
      const row = {
        key: seededStream(1).key,
        number: 0,
        designs: [1, 0.5],
        coefficients: coefficientsOf(integrated(rooted, given), given, quantity),
      };
      expect(await bounds.evaluate([row])).toEqual([Number.NaN]);
      bounds.dispose();
    },
  );

  test("stays with what it belongs to: the generating theta of p(D | theta) is a number", async () => {
    const values = await NestedEvidences.create(
      gpu(),
      describeNested(rooted, ["none", "target"], 2, SIZES),
      1,
    );
    const [{ fresh, own }] = await values.evaluate([
      { key: seededStream(1).key, number: 0, designs: [1, 0.5] },
    ]);
    values.dispose();
    expect(own.every(Number.isFinite)).toBe(true);
    expect(fresh[0].every(Number.isNaN)).toBe(true);
    expect(fresh[1].every(Number.isFinite)).toBe(true);
  });
});
