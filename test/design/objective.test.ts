import { describe, expect, test } from "vitest";
import { Workspace } from "../../src/compute/index.js";
import { seededStream } from "../../src/core/random.js";
import { meanEstimate } from "../../src/core/stats.js";
import { linearGaussian } from "../../src/design/models/linear-gaussian.js";
import { locationFinding } from "../../src/design/models/location.js";
import { pharmacokinetics } from "../../src/design/models/pharmacokinetics.js";
import { psychometric } from "../../src/design/models/psychometric.js";
import { SampledObjective } from "../../src/design/objective.js";
import { type Bound, objectiveQuantity } from "../../src/design/quantity.js";

const SIZES = { outer: 30, contrastive: 60, marginal: 50 };

describe.each([
  ["location", locationFinding(), [2.1, 2.7, 0.4, 3.3, 4.2, 1.9]],
  ["linear-Gaussian with a nuisance", linearGaussian({ offset: true }), [0.4, -1, 1.3, 0.2, -0.7, 0.9]],
  ["pharmacokinetics", pharmacokinetics(), [0.5, 2, 9]],
] as const)("the objective of %s", (_, model, start) => {
  const horizon = start.length / model.design.length;
  const cases: ["conditional" | "unconditional", number, Bound][] = [
    ["conditional", 0.8, "lower"],
    ["conditional", 3, "upper"],
    ["unconditional", 0.5, "lower"],
    ["unconditional", 2, "upper"],
    ["conditional", 0, "lower"],
  ];
  test.each(cases)("%s, beta %d, %s: the gradient is that of the estimate", (kind, beta, bound) => {
    const workspace = new Workspace({ threads: 1 });
    const objective = new SampledObjective(model, objectiveQuantity(kind, beta), horizon, SIZES, workspace);
    const designs = Float64Array.from(start);
    const stream = seededStream("gradient");
    objective.evaluate(designs, stream, bound);
    const gradient = objective.gradient.slice();
    const scale = Math.max(...gradient.map(Math.abs));
    designs.forEach((before, i) => {
      const at = (value: number) => {
        designs[i] = value;
        return objective.evaluate(designs, stream, bound);
      };
      // Wide enough that the rounding of float32 does not show.
      const h = 2e-3;
      const difference = (at(before + h) - at(before - h)) / (2 * h);
      designs[i] = before;
      expect(Math.abs(difference - gradient[i])).toBeLessThan(0.015 * scale + 3e-3);
    });
    objective.dispose();
    workspace.dispose();
  });
});

test("the score function gives the derivative of a discrete objective, on average", () => {
  const model = psychometric();
  const workspace = new Workspace({ threads: 1 });
  const sizes = { outer: 200, contrastive: 200, marginal: 200 };
  const objective = new SampledObjective(model, objectiveQuantity("conditional", 0.5), 2, sizes, workspace);
  const designs = Float64Array.from([0.8, 0.3, -0.6, 0.9]);
  const stream = seededStream("score");
  const batches = 300;
  const slopes = Array.from({ length: batches }, (_, i) => {
    objective.evaluate(designs, stream.split("gradient").split(i));
    return objective.gradient[0];
  });
  // The same expectation by differences, with common random numbers and a wide step.
  const h = 0.15;
  const differences = Array.from({ length: batches }, (_, i) => {
    const at = (x: number) =>
      objective.evaluate(Float64Array.from([x, ...designs.slice(1)]), stream.split("value").split(i));
    return (at(0.8 + h) - at(0.8 - h)) / (2 * h);
  });
  const [analytic, numeric] = [meanEstimate(slopes), meanEstimate(differences)];
  const error = Math.hypot(analytic.standardError, numeric.standardError);
  expect(Math.abs(analytic.mean)).toBeGreaterThan(5 * analytic.standardError);
  expect(Math.abs(analytic.mean - numeric.mean)).toBeLessThan(4 * error + 0.05 * Math.abs(numeric.mean));
  objective.dispose();
  workspace.dispose();
});
