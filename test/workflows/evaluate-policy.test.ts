import { describe, expect, test } from "vitest";
import type { Progress } from "../../src/core/options.js";
import { seededStream } from "../../src/core/random.js";
import { estimatePolicy } from "../../src/design/estimate.js";
import { linearGaussian } from "../../src/design/models/linear-gaussian.js";
import { locationFinding } from "../../src/design/models/location.js";
import { randomPolicy, staticPolicy } from "../../src/design/policy.js";
import type { PolicyFile } from "../../src/design/policy-file.js";
import { evaluatePolicy } from "../../src/workflows/evaluate-policy.js";

/** theta is seen once and phi once, both N(0, 1) with noise N(0, 1): half of log 2 nats each. */
const APART: PolicyFile = {
  kind: "static",
  horizon: 2,
  designs: [
    [1, 0],
    [0, 1],
  ],
};
const ONCE = 0.5 * Math.log(2);

test("plain data and a policy that can be asked give the same, by closed form", async () => {
  const model = linearGaussian();
  const report = await evaluatePolicy(model, APART, { exact: true, beta: 0.5 });
  expect(report.target.lower).toBeCloseTo(ONCE, 9);
  expect(report.joint.upper).toBeCloseTo(2 * ONCE, 9);
  expect(report.objectives.conditional.lower).toBeCloseTo(0.5 * ONCE, 9);
  const asked = staticPolicy(Float64Array.of(1, 0, 0, 1), 2);
  expect(await evaluatePolicy(model, asked, { exact: true, beta: 0.5 })).toEqual(report);
});

test("beta is the policy's own unless given", async () => {
  const made = { ...APART, settings: { beta: 0.25 } };
  const beta = async (policy: PolicyFile, given?: number) =>
    (await evaluatePolicy(linearGaussian(), policy, { exact: true, beta: given })).beta;
  expect(await beta(made)).toBe(0.25);
  expect(await beta(made, 0.5)).toBe(0.5);
  expect(await beta(APART)).toBe(0.8);
});

test("nested samples are those of estimatePolicy", async () => {
  const model = locationFinding();
  const policy = randomPolicy(model, 2);
  const sizes = { outer: 20, batches: 2 };
  const report = await evaluatePolicy(model, policy, { ...sizes, inner: 50, seed: 7 });
  const { target, sensitive } = await estimatePolicy(model, policy, {
    ...sizes,
    contrastive: 50,
    marginal: 50,
    stream: seededStream(7).split("evaluate"),
  });
  expect({ target: report.target, sensitive: report.sensitive }).toEqual({ target, sensitive });
  expect(report.samples).toEqual({ outer: 20, inner: 50, batches: 2, seed: 7 });
});

test("the worst leakage over a class of models", async () => {
  const against = { quiet: linearGaussian({ noise: 0.5 }), loud: linearGaussian({ noise: 2 }) };
  const { fairness } = await evaluatePolicy(linearGaussian(), APART, { exact: true, against });
  // One observation: 0.5 log(1 + 1 / noise^2).
  expect(fairness?.unconditional).toMatchObject({ worst: "quiet" });
  expect(fairness?.conditional.leakage.upper).toBeCloseTo(0.5 * Math.log(5), 9);
});

describe("demographic parity", () => {
  const parity = { outer: 40, inner: 300, particles: 300 };

  test("holds where the sensitive part is never looked at", async () => {
    const blind: PolicyFile = { kind: "static", horizon: 1, designs: [[1, 0]] };
    const report = await evaluatePolicy(linearGaussian(), blind, { exact: true, parity });
    expect(report.parity).toMatchObject({ verdict: "holds", reasons: [] });
  });

  test("fails where it is mixed with the target", async () => {
    const mixed: PolicyFile = { kind: "static", horizon: 1, designs: [[1, 2]] };
    const report = await evaluatePolicy(linearGaussian(), mixed, { exact: true, parity });
    expect(report.parity).toMatchObject({ verdict: "fails", reasons: ["leakage"] });
    // F_c = -0.5 log(1 + 4), up to sampling error.
    expect(report.parity?.fairness.lower).toBeLessThan(-0.5 * Math.log(5) + 0.2);
  });

  test("is not looked at unless asked for", async () => {
    expect(await evaluatePolicy(linearGaussian(), APART, { exact: true })).not.toHaveProperty("parity");
  });
});

test("progress goes from start to end, changes nothing, and a signal stops it", async () => {
  const model = locationFinding();
  const options = { outer: 30, inner: 3000, batches: 6, against: { other: locationFinding({ noise: 0.3 }) } };
  const seen: Progress[] = [];
  const policy = randomPolicy(model, 3);
  const watched = await evaluatePolicy(model, policy, { ...options, onProgress: (each) => seen.push(each) });
  expect(await evaluatePolicy(model, policy, options)).toEqual(watched);
  expect(seen.every(({ done, total }) => done >= 0 && done <= total)).toBe(true);
  expect(seen.map(({ done }) => done)).toEqual(seen.map(({ done }) => done).sort((a, b) => a - b));
  const reason = new Error("enough");
  await expect(evaluatePolicy(model, policy, { ...options, signal: AbortSignal.abort(reason) })).rejects.toBe(
    reason,
  );
});
