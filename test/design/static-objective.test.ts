import { describe, expect, test } from "vitest";
import { Workspace } from "../../src/compute/index.js";
import { seededStream } from "../../src/core/random.js";
import { trainDad } from "../../src/design/dad.js";
import { canEnumerateCheaply, EnumeratedObjective } from "../../src/design/enumerated-objective.js";
import { estimatePolicy } from "../../src/design/estimate.js";
import { enumerate } from "../../src/design/exact/enumeration.js";
import { fairness, fairnessTexts } from "../../src/design/fairness-measures.js";
import type { Model } from "../../src/design/model.js";
import { linearGaussian } from "../../src/design/models/linear-gaussian.js";
import { locationFinding } from "../../src/design/models/location.js";
import { psychometric } from "../../src/design/models/psychometric.js";
import { PAPER_SIZES } from "../../src/design/objective.js";
import { staticPolicy } from "../../src/design/policy.js";
import { GIVEN, type Given, type ObjectiveKind, objectiveQuantity } from "../../src/design/quantity.js";
import { staticObjective } from "../../src/design/static-objective.js";
import { trainStatic } from "../../src/design/train-static.js";

const SIZES = { outer: 200, contrastive: 300, marginal: 300 };

describe("an enumerated objective", () => {
  const model = psychometric();
  const start = [0.8, 0.3, -0.6, 0.9, 1.4, 0];
  const exact = async (designs: readonly number[], kind: ObjectiveKind, beta: number): Promise<number> => {
    const policy = staticPolicy(Float64Array.from(designs), 2);
    const { expected } = await enumerate({ model, policy, given: GIVEN, tolerance: 1e-9 });
    const quantity = Object.entries(objectiveQuantity(kind, beta)) as [Given, number][];
    return quantity.reduce((sum, [given, c]) => sum + c * (expected[given] ?? 0), 0);
  };

  test.each([
    ["conditional", 0.8],
    ["conditional", 0],
    ["unconditional", 0.5],
    ["unconditional", 3],
  ] as const)(
    "%s, beta %d: the value and the slopes are those of the exact objective",
    async (kind, beta) => {
      const objective = new EnumeratedObjective(model, objectiveQuantity(kind, beta), 3);
      const value = objective.evaluate(Float64Array.from(start));
      expect(value).toBeCloseTo(await exact(start, kind, beta), 4);
      for (const [i, at] of start.entries()) {
        const h = 1e-3;
        const moved = (by: number) =>
          exact(
            start.map((each, k) => (k === i ? at + by : each)),
            kind,
            beta,
          );
        expect(objective.gradient[i]).toBeCloseTo(((await moved(h)) - (await moved(-h))) / (2 * h), 4);
      }
      objective.dispose();
    },
  );

  test("is used where it is no dearer than sampling", () => {
    expect(canEnumerateCheaply(model, 4, PAPER_SIZES)).toBe(true);
    expect(canEnumerateCheaply(model, 12, PAPER_SIZES)).toBe(false);
    expect(canEnumerateCheaply(locationFinding(), 2, PAPER_SIZES)).toBe(false);
  });

  test("trains designs that beat the best of many random ones", async () => {
    const { designs, objective } = await trainStatic(model, {
      horizon: 3,
      steps: 150,
      starts: 4,
      objective: "conditional",
      beta: 0.8,
    });
    expect(objective.standardError).toBe(0);
    const stream = seededStream("places");
    const scorer = new EnumeratedObjective(model, objectiveQuantity("conditional", 0.8), 3);
    const random = Array.from({ length: 300 }, () =>
      scorer.evaluate(
        Float64Array.from({ length: 6 }, (_, i) => (i % 2 ? stream.uniform() : stream.normal())),
      ),
    );
    expect(scorer.evaluate(designs)).toBeGreaterThan(Math.max(...random));
    scorer.dispose();
  });
});

describe("the worst case over models", () => {
  const model = linearGaussian();
  // Less noise: the data tell more, and leak more.
  const sharper = linearGaussian({ noise: 0.3 });
  const designs = Float64Array.from([0.4, -1, 1.3, 0.2, -0.7, 0.9]);
  const make = (against: readonly Model[], workspace: Workspace) =>
    staticObjective({
      model,
      against,
      objective: "conditional",
      beta: 0.8,
      horizon: 3,
      sizes: SIZES,
      workspace,
    });

  test("is EIG_theta of the first less beta times the largest leakage, in closed form", async () => {
    const workspace = new Workspace({ threads: 1 });
    const objective = make([sharper], workspace);
    const policy = staticPolicy(designs, 2);
    const stream = seededStream("worst");
    const exact = (of: Model) => estimatePolicy(of, policy, { exact: true, stream });
    const leakages = [await exact(model), await exact(sharper)].map(
      (each) => each.sensitiveGivenTarget.lower,
    );
    expect(leakages[1]).toBeGreaterThan(leakages[0] + 0.1);
    const expected = (await exact(model)).target.lower - 0.8 * leakages[1];
    const mean = (bound: "lower" | "upper") =>
      Array.from({ length: 30 }, (_, i) => objective.evaluate(designs, stream.split(i), bound)).reduce(
        (sum, value) => sum + value / 30,
        0,
      );
    expect(mean("lower")).toBeLessThan(expected + 0.02);
    expect(mean("upper")).toBeGreaterThan(expected - 0.02);
    expect(mean("upper") - mean("lower")).toBeLessThan(0.5);
    objective.dispose();
    workspace.dispose();
  });

  test("has the slopes of the worst model", () => {
    const workspace = new Workspace({ threads: 1 });
    const objective = make([sharper], workspace);
    const stream = seededStream("slopes");
    objective.evaluate(designs, stream);
    const gradient = objective.gradient.slice();
    designs.forEach((at, i) => {
      const moved = (by: number) => {
        const there = designs.slice();
        there[i] = at + by;
        return objective.evaluate(there, stream);
      };
      const h = 2e-3;
      expect(gradient[i]).toBeCloseTo((moved(h) - moved(-h)) / (2 * h), 1);
    });
    objective.dispose();
    workspace.dispose();
  });

  test("training against a model that sees more leaks less under it", async () => {
    const own = locationFinding();
    const other = locationFinding({ priorMean: [3, 1] });
    const common = { horizon: 3, steps: 400, starts: 4, beta: 2, sizes: SIZES, seed: 3 };
    const [alone, guarded] = [
      await trainStatic(own, common),
      await trainStatic(own, { ...common, against: [other] }),
    ];
    const worst = async (found: Float64Array) =>
      (
        await fairness({
          models: { own, other },
          policy: staticPolicy(found, 2),
          kind: "conditional",
          stream: seededStream("fair"),
          exact: true,
          outer: 400,
          batches: 2,
        })
      ).leakage.upper;
    expect(await worst(guarded.designs)).toBeLessThan(0.8 * (await worst(alone.designs)));
  });

  test("a network trains against several models, the same on one and two threads", async () => {
    const settings = {
      horizon: 2,
      steps: 12,
      sizes: { outer: 20, contrastive: 50, marginal: 50 },
      widths: { encoder: [8], encoding: 4, emitter: [8] },
      against: [locationFinding({ noise: 0.2 })],
    };
    const [one, two] = [
      await trainDad(locationFinding(), { ...settings, threads: 1 }),
      await trainDad(locationFinding(), { ...settings, threads: 2 }),
    ];
    const alone = await trainDad(locationFinding(), { ...settings, against: [] });
    expect(two.network.parameters).toEqual(one.network.parameters);
    expect(alone.network.parameters).not.toEqual(one.network.parameters);
  });

  test("models with other designs are refused", async () => {
    await expect(trainStatic(model, { against: [psychometric()], steps: 1 })).rejects.toThrow(
      fairnessTexts.variables("x", ["x"], "x", ["x"]).slice(-70),
    );
  });
});
