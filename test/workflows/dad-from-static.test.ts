import { describe, expect, test } from "vitest";
import { linearGaussian } from "../../src/design/models/linear-gaussian.js";
import { locationFinding } from "../../src/design/models/location.js";
import { pharmacokinetics } from "../../src/design/models/pharmacokinetics.js";
import { decodePolicy, encodePolicy, policyFileTexts } from "../../src/design/policy-file.js";
import type { PolicyCheckpoint } from "../../src/workflows/policy-checkpoint.js";
import { policySettingsTexts } from "../../src/workflows/policy-settings.js";
import { runPolicy } from "../../src/workflows/run-policy.js";
import { type TrainPolicyOptions, trainPolicy } from "../../src/workflows/train-policy.js";

const SIZES = { outer: 20, contrastive: 40, marginal: 40 };
const QUICK = { horizon: 2, steps: 30, starts: 2, sizes: SIZES, seed: 3, evaluation: false } as const;
const DESIGNS = [
  [0.7, 3],
  [5.4, 3],
];

describe("a dad policy that starts from static designs", () => {
  test("starts from those that are found with the same settings, bit for bit", async () => {
    const model = locationFinding();
    const whole = await trainPolicy(model, { ...QUICK, kind: "dad", start: "static" });
    const fixed = await trainPolicy(model, { ...QUICK, kind: "static" });
    const { designs } = fixed.kind === "static" ? fixed : { designs: [] };
    expect(whole.settings).toMatchObject({ start: "static", starts: 2, decay: true, startDesigns: designs });
    // A policy as it is, or its designs alone.
    for (const start of [fixed, { designs }]) {
      const given = await trainPolicy(model, {
        ...QUICK,
        kind: "dad",
        start: start as { designs: number[][] },
      });
      expect(given).toMatchObject({ kind: "dad", network: whole.kind === "dad" ? whole.network : {} });
      expect(given.settings?.start).toEqual({ designs });
    }
  });

  test("is used as any other, from its file too", async () => {
    const model = locationFinding();
    const policy = await trainPolicy(model, { ...QUICK, kind: "dad", start: { designs: DESIGNS } });
    const session = runPolicy(model, decodePolicy(encodePolicy(policy)));
    const first = await session.next();
    // Thirty steps at a rate of 0.001 move no design far.
    expect(first.x).toBeCloseTo(0.7, 0);
    expect(first.y).toBeCloseTo(3, 0);
    session.tell(0.4);
    expect((await session.next()).x).toBeCloseTo(5.4, 0);
  });

  test("has as many observations as there are designs", async () => {
    const { horizon: _, ...options } = QUICK;
    const policy = await trainPolicy(locationFinding(), {
      ...{ ...options, kind: "dad", start: { designs: DESIGNS }, steps: 1 },
    });
    expect(policy.horizon).toBe(2);
  });

  test("goes on from JSON in either search, and ends as one that was not interrupted", async () => {
    const options = { ...QUICK, kind: "dad", start: "static", steps: 150 } as const;
    const taken: PolicyCheckpoint[] = [];
    const whole = await trainPolicy(pharmacokinetics(), {
      ...options,
      onProgress: ({ checkpoint, done, total }) => {
        expect(done).toBeLessThanOrEqual(total);
        if (checkpoint !== undefined) taken.push(JSON.parse(JSON.stringify(checkpoint())));
      },
    });
    const hasDesigns = ({ state }: PolicyCheckpoint) => "designs" in (state as object);
    for (const which of [true, false]) {
      const own = taken.filter((each) => hasDesigns(each) === which);
      expect(own.length).toBeGreaterThan(0);
      const resume = own[Math.floor(own.length / 2)];
      expect(await trainPolicy(pharmacokinetics(), { ...options, resume })).toEqual(whole);
    }
  }, 60_000);

  test("keeps within a leakage budget", async () => {
    const options = { ...QUICK, kind: "dad", start: "static", steps: 10, leakageBudget: 5 } as const;
    const policy = await trainPolicy(linearGaussian(), options);
    expect(policy.kind === "dad" && policy.network.base).toHaveLength(2);
  }, 60_000);
});

test("static designs can start from given ones", async () => {
  const options = { ...QUICK, steps: 1, starts: 1, rate: 1e-9 };
  const policy = await trainPolicy(locationFinding(), { ...options, start: { designs: DESIGNS } });
  const found = policy.kind === "static" ? policy.designs.flat() : [];
  expect(found).toHaveLength(4);
  found.forEach((value, i) => {
    expect(value).toBeCloseTo(DESIGNS.flat()[i], 6);
  });
});

test("a start that cannot be is one sentence", async () => {
  const train = (options: TrainPolicyOptions) => trainPolicy(locationFinding(), options);
  const normal = { mean: 0, sd: 1 };
  await expect(train({ kind: "dad", start: normal })).rejects.toThrow(
    policySettingsTexts.start("dad", normal),
  );
  await expect(train({ kind: "static", start: "static" })).rejects.toThrow(
    policySettingsTexts.start("static", "static"),
  );
  await expect(train({ kind: "random", start: "static" })).rejects.toThrow(
    policySettingsTexts.start("random", "static"),
  );
  await expect(train({ kind: "dad", horizon: 3, start: { designs: DESIGNS } })).rejects.toThrow(
    policySettingsTexts.startLength(2, 3),
  );
  await expect(train({ kind: "dad", start: { designs: [[1]] } })).rejects.toThrow(
    policyFileTexts.width("the policy to start from", 1, 1, ["x", "y"]),
  );
});
