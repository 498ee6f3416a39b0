/** Nested bounds on a GPU: the CPU's numbers on the same streams, and the exact oracles between them. */
import { expect, test } from "vitest";
import { add, mul, Workspace } from "../../../src/compute/index.js";
import type { BoundShape } from "../../../src/compute/webgpu/nested/bound-kernel.js";
import { NestedClimb } from "../../../src/compute/webgpu/nested/climb.js";
import { NestedBounds, NestedEvidences } from "../../../src/compute/webgpu/nested/values.js";
import { seededStream } from "../../../src/core/random.js";
import { meanEstimate } from "../../../src/core/stats.js";
import {
  bernoulli,
  binomial,
  categorical,
  normal,
  poisson,
  studentT,
  uniform,
} from "../../../src/design/distribution.js";
import { exactInformation } from "../../../src/design/estimate.js";
import { describeNested, integrated } from "../../../src/design/gpu/describe.js";
import { coefficientsOf, estimateOf } from "../../../src/design/gpu/static-values.js";
import {
  defineModel,
  type Model,
  nuisance,
  oneOf,
  real,
  sensitive,
  target,
} from "../../../src/design/model.js";
import { linearGaussian } from "../../../src/design/models/linear-gaussian.js";
import { locationFinding } from "../../../src/design/models/location.js";
import { pharmacokinetics } from "../../../src/design/models/pharmacokinetics.js";
import { boundOf } from "../../../src/design/nested.js";
import { SampledObjective } from "../../../src/design/objective.js";
import {
  evidencesOf,
  INFORMATION,
  INFORMATION_NAMES,
  objectiveQuantity,
  type Quantity,
} from "../../../src/design/quantity.js";
import { DEFAULT_LIMITS, describeOnGpu, openAsHardware } from "../../setup/gpu.js";

/** Whose sensitive part leans on the target: what is held then depends on what is integrated over, or is integrated itself. */
const leaning = (outcome: "yes or no" | "number"): Model =>
  defineModel({
    parameters: {
      theta: target(normal(0, 1)),
      phi: sensitive(({ theta }) => bernoulli({ logit: mul(2, theta) })),
      shift: nuisance(({ phi }) => normal(phi, 0.5)),
    },
    design: { x: real({ low: -4, high: 4 }), kind: oneOf([0, 1]) },
    outcome: ({ theta, phi, shift }, { x, kind }) => {
      const middle = add(mul(x, theta), add(mul(kind, phi), shift));
      return outcome === "number" ? normal(middle, 1) : bernoulli({ logit: middle });
    },
  });

/** Two outcomes at a time, one of them a count, and parameters of every kind. */
const mixed = defineModel({
  parameters: {
    theta: target(categorical({ probabilities: [0.2, 0.5, 0.3] })),
    phi: sensitive(uniform(-1, 1)),
    shift: nuisance(binomial({ trials: 3, probability: 0.4 })),
  },
  design: { x: real({ low: 0, high: 3 }) },
  outcome: ({ theta, phi, shift }, { x }) => ({
    calls: poisson({ logRate: add(mul(0.3, mul(x, theta)), mul(0.2, shift)) }),
    colour: categorical({ logits: [0, mul(x, phi), theta] }),
  }),
});

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
    ["outcomes of several kinds", mixed, objectiveQuantity("unconditional", 0.8), [0.5, 2, 1.2], { tile: 1 }],
    [
      "a yes or no, and priors that depend on each other",
      leaning("yes or no"),
      objectiveQuantity("unconditional", 0.8),
      [0.5, 1, -1, 0, 2, 1],
      { tile: 2 },
    ],
    [
      "a number, and priors that depend on each other",
      leaning("number"),
      objectiveQuantity("unconditional", -0.5),
      [0.5, 1, -1, 0, 2, 1],
      { tile: 2 },
    ],
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
    [
      "the quadrature of a model with heavy tails",
      defineModel({
        parameters: {
          theta: target(normal(0, 1)),
          phi: sensitive(normal(0, 1)),
        },
        design: { x: real() },
        outcome: ({ theta, phi }, { x }) =>
          studentT({ freedom: 1.5, location: add(mul(x, theta), mul(0.5, phi)), scale: 0.5 }),
      }),
      [[1], [0.4]],
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
      const each = boundOf(estimateOf(row, integrated(model, given)), quantity, "lower", sizes);
      expect(together[r]).toBeCloseTo(each.reduce((sum, value) => sum + value, 0) / each.length, 4);
    });
    const exact = await exactInformation(model, designs, { stream: seededStream(2), outer: 100, batches: 4 });
    for (const name of INFORMATION_NAMES) {
      const [lower, upper] = (["lower", "upper"] as const).map((bound) =>
        meanEstimate(
          found.map((row) => {
            const each = boundOf(estimateOf(row, integrated(model, given)), INFORMATION[name], bound, sizes);
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

  test("designs climb alike but for rounding in any company, where the work of more rows is cut up in another way", async () => {
    // A GPU that is no program: its workgroups are many.
    const own = await openAsHardware({ limits: DEFAULT_LIMITS });
    const model = locationFinding();
    const quantity = objectiveQuantity("conditional", 0.8);
    const given = evidencesOf(quantity);
    const description = describeNested(model, given, 2, { outer: 60, contrastive: 20, marginal: 20 });
    const climbed = async (rows: number) => {
      const climb = await NestedClimb.create(own, description, {
        rows,
        steps: 2,
        variables: model.design,
        settings: { rate: 0.01, decaySteps: 0, window: 0, speed: 0, times: 0 },
      });
      const all = Array.from({ length: rows }, (_, r) => ({
        ...climb.fresh([1, 2, 3, -1]),
        key: seededStream(r).key,
        number: 0,
        coefficients: coefficientsOf(integrated(model, given), given, quantity),
        spreads: [1, 1],
      }));
      const { states } = await climb.run(all, 2);
      climb.dispose();
      return { shape: climb.shape, designs: states[0].designs };
    };
    const [alone, together] = [await climbed(1), await climbed(18)];
    expect(together.shape).not.toEqual(alone.shape);
    together.designs.forEach((value, i) => {
      expect(Math.abs(value - alone.designs[i])).toBeLessThan(1e-5);
    });
    own.dispose();
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
