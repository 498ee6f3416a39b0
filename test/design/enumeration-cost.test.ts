/** Yes-no outcomes are gone through only where that is cheaper than sampling. */
import { afterAll, expect, test } from "vitest";
import { Workspace } from "../../src/compute/index.js";
import { seededStream } from "../../src/core/random.js";
import { canEnumerateCheaply } from "../../src/design/enumerated-objective.js";
import { exactInformation } from "../../src/design/estimate.js";
import { enumerationCost, quadratureCost, worthEnumerating } from "../../src/design/exact/cost.js";
import { psychometric } from "../../src/design/models/psychometric.js";
import { PAPER_SIZES } from "../../src/design/objective.js";
import { type Policy, staticPolicy } from "../../src/design/policy.js";
import { GIVEN, INFORMATION_NAMES } from "../../src/design/quantity.js";
import { trainStatic } from "../../src/design/train-static.js";

const workspace = new Workspace({ threads: 1 });
afterAll(() => workspace.dispose());
const model = psychometric();

/** Intensities spread over the bounds, with the shift at half weight. */
const fixed = (horizon: number): Policy =>
  staticPolicy(
    Float64Array.from({ length: 2 * horizon }, (_, i) => (i % 2 === 0 ? Math.sin(i) : 0.5)),
    2,
  );

/** The same designs, by a policy that could look at outcomes. */
const adaptive = (horizon: number): Policy => {
  const { next } = fixed(horizon);
  return { kind: "dad", horizon, next };
};

test("the cost of going through outcomes grows with their sequences, that of sampling with the horizon", () => {
  const ratio = (of: (policy: Policy) => number) => of(fixed(12)) / of(fixed(11));
  expect(ratio((policy) => enumerationCost(model, policy, GIVEN))).toBeCloseTo(2, 1);
  expect(ratio((policy) => quadratureCost(model, policy, GIVEN, 800))).toBeCloseTo(12 / 11, 6);
});

test("an estimate goes through few outcomes, and samples where there are many", () => {
  for (const policy of [fixed(1), fixed(6), fixed(10), adaptive(6)]) {
    expect(worthEnumerating(model, policy, GIVEN, 800)).toBe(true);
  }
  for (const policy of [fixed(14), adaptive(12)])
    expect(worthEnumerating(model, policy, GIVEN, 800)).toBe(false);
  // As many experiments as sequences are no cheaper than the sequences.
  expect(worthEnumerating(model, fixed(14), GIVEN, 1e5)).toBe(true);
});

test("training goes through few outcomes, and samples at horizon 10", () => {
  expect(canEnumerateCheaply(model, 4, PAPER_SIZES)).toBe(true);
  expect(canEnumerateCheaply(model, 10, PAPER_SIZES)).toBe(false);
});

test("a sampled estimate agrees with the enumeration where both can be had", async () => {
  const stream = seededStream("both ways");
  const [all, sampled] = [
    await exactInformation(model, fixed(6), { workspace, stream, exact: "enumeration" }),
    await exactInformation(model, fixed(6), { workspace, stream, exact: "quadrature", batches: 20 }),
  ];
  for (const name of INFORMATION_NAMES) {
    const { lower, upper, standardError } = sampled[name];
    expect(Math.abs((lower + upper) / 2 - all[name].lower)).toBeLessThan(3.5 * standardError + 1e-6);
  }
});

test("an adaptive policy of horizon 12 is estimated, and horizon 10 trained, in seconds", async () => {
  const started = performance.now();
  const estimate = await exactInformation(model, adaptive(12), {
    workspace,
    stream: seededStream(2),
    outer: 50,
    batches: 2,
  });
  expect(estimate.method).toBe("quadrature of sampled experiments");
  const { designs } = await trainStatic(model, { horizon: 10, steps: 20, starts: 1, threads: 1 });
  expect(designs).toHaveLength(20);
  // Going through all outcomes takes many times as long for either.
  expect(performance.now() - started).toBeLessThan(60_000);
}, 120_000);
