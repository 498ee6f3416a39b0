/** Nested bounds on a GPU: the CPU's numbers on the same streams, and the exact oracles between them. */
import { expect, test } from "vitest";
import { Workspace } from "../../../src/compute/index.js";
import type { BoundShape } from "../../../src/compute/webgpu/nested/bound-kernel.js";
import { NestedClimb } from "../../../src/compute/webgpu/nested/climb.js";
import { NestedBounds, NestedEvidences } from "../../../src/compute/webgpu/nested/values.js";
import { seededStream } from "../../../src/core/random.js";
import { meanEstimate } from "../../../src/core/stats.js";
import { exactInformation } from "../../../src/design/estimate.js";
import { describeNested, integrated } from "../../../src/design/gpu/describe.js";
import { boundOf, coefficientsOf } from "../../../src/design/gpu/static-values.js";
import type { Model } from "../../../src/design/model.js";
import { linearGaussian } from "../../../src/design/models/linear-gaussian.js";
import { locationFinding } from "../../../src/design/models/location.js";
import { pharmacokinetics } from "../../../src/design/models/pharmacokinetics.js";
import { SampledObjective } from "../../../src/design/objective.js";
import {
  evidencesOf,
  INFORMATION,
  INFORMATION_NAMES,
  objectiveQuantity,
  type Quantity,
} from "../../../src/design/quantity.js";
import { describeOnGpu } from "../../setup/gpu.js";

const SIZES = { outer: 7, contrastive: 50, marginal: 45 };
const HORIZON = 3;

describeOnGpu("nested bounds on a GPU", (gpu) => {
  /** The bound and its gradient: of Adam's first mean, which is a tenth of the gradient with the other sign. */
  const onGpu = async (
    model: Model,
    quantity: Quantity,
    designs: readonly number[],
    shape: Partial<BoundShape>,
  ) => {
    const given = evidencesOf(quantity);
    const climb = await NestedClimb.create(gpu(), describeNested(model, given, HORIZON, SIZES), {
      rows: 2,
      steps: 1,
      variables: model.design,
      settings: { rate: 0.01, decaySteps: 0, window: 0, speed: 0, times: 0 },
      shape,
    });
    try {
      const names = integrated(model, given);
      const row = {
        ...climb.fresh(designs),
        key: seededStream(5).key,
        number: 17,
        coefficients: coefficientsOf(names, given, quantity),
        spreads: model.design.map(() => 1),
      };
      const { states, values } = await climb.run([{ ...row, number: 3 }, row], 1);
      return {
        value: values[1],
        gradient: Array.from(states[1].moments.slice(0, designs.length), (m) => -10 * m),
      };
    } finally {
      climb.dispose();
    }
  };

  test.each<[string, Model, Quantity, number[], Partial<BoundShape>]>([
    [
      "location, R_c, one outer sample to a workgroup",
      locationFinding(),
      objectiveQuantity("conditional", 0.8),
      [2.5, 3.3, 3.9, 2.2, 1, 4],
      { tile: 1 },
    ],
    [
      "location, R_u with a beta above 1, two outer samples, by shared memory",
      locationFinding(),
      objectiveQuantity("unconditional", 1.5),
      [2.5, 3.3, 3.9, 2.2, 1, 4],
      { tile: 2, unroll: 1, leastSubgroup: undefined },
    ],
    [
      "location with a nuisance",
      locationFinding({ dimensions: 3 }),
      objectiveQuantity("conditional", 0.4),
      [2.5, 3.3, 3, 3.9, 2.2, 2.5, 1, 4, 3],
      { tile: 2 },
    ],
    ["pharmacokinetics", pharmacokinetics(), objectiveQuantity("conditional", 0.8), [1, 4, 12], { tile: 1 }],
  ])("%s: the value and gradient of the CPU", async (_, model, quantity, designs, shape) => {
    const workspace = new Workspace({ threads: 1 });
    const cpu = new SampledObjective(model, quantity, HORIZON, SIZES, workspace);
    const value = cpu.evaluate(Float64Array.from(designs), seededStream(5).split(17));
    const found = await onGpu(model, quantity, designs, shape);
    expect(Math.abs(found.value - value)).toBeLessThan(1e-5);
    const largest = cpu.gradient.reduce((most, slope) => Math.max(most, Math.abs(slope)), 0);
    found.gradient.forEach((slope, i) => {
      expect(Math.abs(slope - cpu.gradient[i])).toBeLessThan(5e-5 * largest);
    });
    cpu.dispose();
    workspace.dispose();
  });

  test.each<[string, Model, number[][]]>([
    [
      "the closed form of a linear-Gaussian model",
      linearGaussian(),
      [
        [1.2, 0.3],
        [0.2, -1],
      ],
    ],
    [
      "quadrature of the location model",
      locationFinding(),
      [
        [3, 2.5],
        [2, 3.4],
      ],
    ],
  ])("bounds bracket %s", async (_, model, designs) => {
    const sizes = { outer: 64, contrastive: 200, marginal: 200 };
    const given = ["none", "target", "sensitive", "both"] as const;
    const values = await NestedEvidences.create(
      gpu(),
      describeNested(model, given, designs.length, sizes),
      12,
    );
    const rows = Array.from({ length: 12 }, (_each, number) => ({
      designs: designs.flat(),
      key: seededStream(1).key,
      number,
    }));
    const found = await values.evaluate(rows);
    values.dispose();
    const quantity = objectiveQuantity("conditional", 0.8);
    const bounds = await NestedBounds.create(gpu(), describeNested(model, given, designs.length, sizes), 5);
    const coefficients = coefficientsOf(integrated(model, given), given, quantity);
    const together = await bounds.evaluate(rows.map((row) => ({ ...row, coefficients })));
    bounds.dispose();
    found.forEach((row, r) => {
      const each = boundOf(row, integrated(model, given), quantity, "lower", sizes);
      expect(together[r]).toBeCloseTo(each.reduce((sum, value) => sum + value, 0) / each.length, 4);
    });
    const exact = await exactInformation(model, designs, { stream: seededStream(2), outer: 100, batches: 4 });
    for (const name of INFORMATION_NAMES) {
      const [lower, upper] = (["lower", "upper"] as const).map((bound) =>
        meanEstimate(
          found.map((row) => {
            const each = boundOf(row, integrated(model, given), INFORMATION[name], bound, sizes);
            return each.reduce((sum, value) => sum + value, 0) / each.length;
          }),
        ),
      );
      const truth = (exact[name].lower + exact[name].upper) / 2;
      const error = exact[name].standardError;
      expect(lower.mean - 3 * (lower.standardError + error), name).toBeLessThan(truth);
      expect(upper.mean + 3 * (upper.standardError + error), name).toBeGreaterThan(truth);
      // And they are not far apart: with one evidence left out or counted twice they would be.
      expect(upper.mean - lower.mean, name).toBeLessThan(0.2);
      expect(Math.abs((lower.mean + upper.mean) / 2 - truth), name).toBeLessThan(0.15);
    }
  });

  test("an observation that is skipped is as good as not made", async () => {
    const model = linearGaussian();
    const sizes = { outer: 5, contrastive: 40, marginal: 40 };
    const values = await NestedEvidences.create(gpu(), describeNested(model, ["none"], 2, sizes), 4);
    // The second design sees nothing of the parameters, so its likelihood is the same for all of them.
    const row = { key: seededStream(3).key, number: 0 };
    const [skipped, blind] = await values.evaluate([
      { ...row, designs: [1, 0.5, 7, 7], skip: 1 },
      { ...row, designs: [1, 0.5, 0, 0] },
    ]);
    values.dispose();
    skipped.own.forEach((own, b) => {
      expect(skipped.fresh[0][b] - own).toBeCloseTo(blind.fresh[0][b] - blind.own[b], 5);
    });
  });
});
