/** Estimates with exact evidences of sampled experiments are not exact: their name and their interval say so. */
import { afterAll, describe, expect, test } from "vitest";
import { Workspace } from "../../src/compute/index.js";
import { seededStream } from "../../src/core/random.js";
import { exactInformation } from "../../src/design/estimate.js";
import { linearGaussian } from "../../src/design/models/linear-gaussian.js";
import { locationFinding } from "../../src/design/models/location.js";
import { pharmacokinetics } from "../../src/design/models/pharmacokinetics.js";
import { psychometric } from "../../src/design/models/psychometric.js";
import { INFORMATION_NAMES } from "../../src/design/quantity.js";

const workspace = new Workspace({ threads: 1 });
afterAll(() => workspace.dispose());
const small = { workspace, outer: 40, batches: 2 };

describe("a quadrature of sampled experiments", () => {
  test.each([
    ["location finding", locationFinding(), [[2, 2.5]]],
    ["pharmacokinetics", pharmacokinetics(), [[2]]],
  ])("of %s has an interval and says that it is sampled", async (_, model, designs) => {
    const estimate = await exactInformation(model, designs, { ...small, stream: seededStream(1) });
    expect(estimate.method).toBe("quadrature of sampled experiments");
    expect(estimate.exact).toBe(false);
    const quantities = [
      ...INFORMATION_NAMES.map((name) => estimate[name]),
      estimate.objective("conditional", 0.8),
      estimate.objective("unconditional", 0.8),
    ];
    for (const { lower, upper, standardError, interval } of quantities) {
      expect(standardError).toBeGreaterThan(0);
      expect(upper).toBeGreaterThan(lower);
      expect(interval).toEqual([lower, upper]);
      // Student's t with 79 degrees of freedom: 1.990 standard errors either way.
      expect((upper - lower) / (2 * standardError)).toBeCloseTo(1.99, 2);
    }
    expect(estimate.ratios.sensitive.interval[1]).toBeGreaterThan(estimate.ratios.sensitive.interval[0]);
  });

  test("covers the closed form about as often as it says", async () => {
    // EIG_theta = log(5 / 1) / 2 at x = 2, y = 0, and the sensitive part plays no role.
    const truth = 0.5 * Math.log(5);
    let covered = 0;
    const rounds = 60;
    for (let seed = 0; seed < rounds; seed++) {
      const { target } = await exactInformation(linearGaussian(), [[2, 0]], {
        ...small,
        exact: "quadrature",
        stream: seededStream("coverage").split(seed),
      });
      if (target.lower <= truth && truth <= target.upper) covered++;
    }
    // Binomial with p = 0.95: fewer than 51 of 60 has probability 2e-3.
    expect(covered).toBeGreaterThanOrEqual(51);
  });

  test("that is too wide asks for more experiments", async () => {
    const { warnings } = await exactInformation(locationFinding(), [[2, 2.5]], {
      workspace,
      outer: 4,
      batches: 1,
      stream: seededStream(3),
    });
    expect(warnings.join("\n")).toMatch(/the 95 % interval of joint is from .* use more experiments/);
  });
});

test.each([
  ["closed form", linearGaussian(), [[1, 0.5]]],
  ["enumeration", psychometric(), [[0.5, 1]]],
])("%s is exact", async (method, model, designs) => {
  const estimate = await exactInformation(model, designs, { ...small, stream: seededStream(1) });
  expect(estimate.method).toBe(method);
  expect(estimate.exact).toBe(true);
  for (const name of INFORMATION_NAMES) {
    expect(estimate[name].upper).toBe(estimate[name].lower);
    expect(estimate[name].standardError).toBe(0);
  }
});
