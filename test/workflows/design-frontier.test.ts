/** The frontier against beta: points as they come, the same as single policies, and how it stops. */
import { describe, expect, test } from "vitest";
import { add, mul } from "../../src/compute/index.js";
import { normal } from "../../src/design/distribution.js";
import { defineModel, real, sensitive, target } from "../../src/design/model.js";
import {
  type DesignFrontierPoint,
  designFrontier,
  designFrontierTexts,
} from "../../src/workflows/design-frontier.js";
import { trainPolicy } from "../../src/workflows/train-policy.js";

/** y = x (theta + phi) + noise: what x tells about theta grows more slowly than what it gives away given theta. */
const model = defineModel({
  name: "sum",
  parameters: { theta: target(normal(0, 1)), phi: sensitive(normal(0, 1)) },
  design: { x: real({ low: 0, high: 5 }) },
  outcome: ({ theta, phi }, { x }) => normal(mul(x, add(theta, phi)), 1),
});
const SETTINGS = {
  horizon: 1,
  steps: 150,
  starts: 2,
  sizes: { outer: 50, contrastive: 100, marginal: 100 },
  evaluation: { exact: true },
} as const;

describe("designFrontier", () => {
  test("each point comes as it is found, is the policy for its beta, and leakage falls with beta", async () => {
    const told: DesignFrontierPoint[] = [];
    let shown: number[][] | undefined;
    let share = 0;
    const points = await designFrontier(model, {
      ...SETTINGS,
      betas: [0, 0.3, 0.9],
      onPoint: (point) => told.push(point),
      onProgress: ({ done, total, designs }) => {
        expect(done / total).toBeGreaterThanOrEqual(share);
        share = done / total;
        shown = designs?.() ?? shown;
      },
    });
    expect(told).toEqual(points);
    expect(points.map(({ beta }) => beta)).toEqual([0, 0.3, 0.9]);
    const alone = await trainPolicy(model, { ...SETTINGS, beta: 0.3 });
    expect(points[1].policy).toEqual(alone);
    const [free, , dear] = points;
    // The variance of y is 1 + 2 x^2, given theta 1 + x^2, and given both 1.
    const [[x]] = free.designs;
    expect(free.target.lower).toBeCloseTo(0.5 * Math.log((1 + 2 * x * x) / (1 + x * x)), 6);
    expect(free.sensitiveGivenTarget.upper).toBeCloseTo(0.5 * Math.log1p(x * x), 6);
    expect(dear.sensitiveGivenTarget.upper).toBeLessThan(free.sensitiveGivenTarget.lower);
    expect(shown === undefined || (shown.length === 1 && shown[0].length === 1)).toBe(true);
  });

  test("it stops between points and steps, and refuses betas that are none", async () => {
    const controller = new AbortController();
    const told: DesignFrontierPoint[] = [];
    const stopped = designFrontier(model, {
      ...SETTINGS,
      betas: [0, 0.5],
      signal: controller.signal,
      onPoint: (point) => {
        told.push(point);
        controller.abort();
      },
    });
    await expect(stopped).rejects.toThrow();
    expect(told.length).toBe(1);
    await expect(designFrontier(model, { betas: [] })).rejects.toThrow(designFrontierTexts.betas);
    await expect(designFrontier(model, { ...SETTINGS, betas: [0, -1] })).rejects.toThrow("beta");
  });
});
