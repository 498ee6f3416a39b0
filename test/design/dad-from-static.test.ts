import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { add, mul } from "../../src/compute/index.js";
import { seededStream } from "../../src/core/random.js";
import {
  type DadCheckpoint,
  dadTexts,
  refineDad,
  type TrainDadOptions,
  trainDad,
} from "../../src/design/dad.js";
import { type DadNetwork, dadNetworkTexts, dadPolicy } from "../../src/design/dad-network.js";
import { normal } from "../../src/design/distribution.js";
import { estimatePolicy } from "../../src/design/estimate.js";
import { defineModel, type Model, oneOf, real, sensitive, target } from "../../src/design/model.js";
import { locationFinding } from "../../src/design/models/location.js";
import { pharmacokinetics } from "../../src/design/models/pharmacokinetics.js";
import { staticPolicy } from "../../src/design/policy.js";
import { decodePolicy, encodePolicy, policyOf } from "../../src/design/policy-file.js";

const location = locationFinding();
const SMALL = {
  horizon: 3,
  sizes: { outer: 16, contrastive: 40, marginal: 30 },
  widths: { encoder: [5], encoding: 3, emitter: [4] },
  rate: 1e-3,
  seed: 9,
} as const;

/** One design variable of every kind that a network knows. */
const everyKind = defineModel({
  name: "every kind",
  parameters: { theta: target(normal(0, 1)), phi: sensitive(normal(0, 1)) },
  design: {
    free: real(),
    between: real({ low: -1, high: 9 }),
    above: real({ low: 2 }),
    below: real({ high: -3 }),
    values: oneOf([0, 1, 5]),
  },
  outcome: ({ theta, phi }, { free, between, above, below, values }) =>
    normal(add(mul(theta, add(free, add(between, above))), mul(phi, add(below, values))), 10),
});

/** The network as it starts: a step of no length changes nothing. */
const untrained = (model: Model, startDesigns: readonly number[], options: TrainDadOptions = {}) =>
  trainDad(model, { ...SMALL, ...options, startDesigns, steps: 1, rate: 0 });

describe("before training, a network that starts from static designs", () => {
  const history = (
    steps: number,
    designs: readonly number[],
    outcomes: readonly number[],
    width: number,
  ) => ({
    outer: 1,
    steps,
    designs: Float64Array.from(designs.slice(0, steps * width)),
    outcomes: Float64Array.from(outcomes.slice(0, steps)),
  });
  const within = (low: number, high: number) =>
    fc.double({ min: low, max: high, noNaN: true, noDefaultInfinity: true });
  const outcomes = fc.array(within(-50, 50), { minLength: 3, maxLength: 3 });

  test("makes them, whatever was seen", async () => {
    const row = fc.tuple(within(-20, 20), within(-0.98, 8.98), within(2.1, 30), within(-30, -3.1));
    const rows = fc.array(
      fc.tuple(row, fc.constantFrom(0, 1, 5)).map(([real, value]) => [...real, value]),
      { minLength: 3, maxLength: 3 },
    );
    await fc.assert(
      fc.asyncProperty(rows, outcomes, async (designs, seen) => {
        const policy = await untrained(everyKind, designs.flat());
        const fixed = staticPolicy(Float64Array.from(designs.flat()), 5);
        for (let t = 0; t < 3; t++) {
          const past = history(t, designs.flat(), seen, 5);
          const [next, wanted] = [
            policy.next(past, seededStream(0)),
            await fixed.next(past, seededStream(0)),
          ];
          // Outputs are single floats, and the range of a bounded design is 10.
          next.forEach((value, d) => {
            expect(Math.abs(value - wanted[d])).toBeLessThan(1e-5 * (1 + Math.abs(wanted[d])));
          });
        }
      }),
      { numRuns: 15 },
    );
  });

  test("begins just inside a bound, where it can still move", async () => {
    const [next] = [
      ...(await untrained(everyKind, [0, 9, 2, -3, 1], { horizon: 1 }))
        .next(history(0, [], [], 5), seededStream(0))
        .subarray(1, 2),
    ];
    expect(next).toBeLessThan(9);
    expect(next).toBeGreaterThan(8.98);
  });
});

test("the gradient goes through the whole experiment, by the slope of a bounded design where the base has it", async () => {
  const stream = seededStream("network");
  // encoder 2-5-3, emitter 3-4-1
  const count = 2 * 5 + 5 + 5 * 3 + 3 + (3 * 4 + 4 + 4 + 1);
  const parameters = Float32Array.from({ length: count }, () => stream.normal(0.2, 0.6));
  const networkAt = (values: Float32Array): DadNetwork => ({
    widths: SMALL.widths,
    designs: [{ kind: "between", low: 0.1, high: 24 }],
    outcomes: [{ centre: 0, unit: 1 }],
    base: [[-2], [-1], [1.5]],
    parameters: values,
  });
  const firstStep = async (values: Float32Array) => {
    let value = 0;
    let saved: DadCheckpoint | undefined;
    await trainDad(pharmacokinetics(), {
      ...{ ...SMALL, steps: 1, from: networkAt(values) },
      onProgress(progress) {
        value = progress.value;
        saved = progress.checkpoint();
      },
    });
    return { value, gradient: Float64Array.from(saved?.mean ?? [], (mean) => -10 * mean) };
  };
  const { gradient } = await firstStep(parameters);
  const scale = Math.max(...gradient.map(Math.abs));
  for (let i = 0; i < count; i += 2) {
    const at = async (shift: number) => (await firstStep(parameters.with(i, parameters[i] + shift))).value;
    const difference = ((await at(2e-3)) - (await at(-2e-3))) / 4e-3;
    expect(Math.abs(difference - gradient[i]), `parameter ${i}`).toBeLessThan(0.01 * scale + 1e-3);
  }
});

test("trained, it is worth no less than the designs it started from, exactly evaluated, and adapts", async () => {
  const designs = Float64Array.of(0.7, 3, 5.4, 3);
  const policy = await trainDad(location, {
    ...{ horizon: 2, startDesigns: designs, steps: 300, rate: 2e-3, decay: true, clip: 1, seed: 1 },
    sizes: { outer: 50, contrastive: 200, marginal: 200 },
    widths: { encoder: [16], encoding: 8, emitter: [16] },
  });
  expect(policy.warnings).toEqual([]);
  const worth = async (of: Parameters<typeof estimatePolicy>[1]) => {
    const options = { exact: true, outer: 4000, batches: 1, stream: seededStream(5), threads: 1 };
    const { lower, upper, standardError } = (await estimatePolicy(location, of, options)).objective(
      "conditional",
      0.8,
    );
    return { mean: (lower + upper) / 2, standardError };
  };
  const [fixed, adaptive] = [await worth(staticPolicy(designs, 2)), await worth(policy)];
  const error = Math.hypot(fixed.standardError, adaptive.standardError);
  expect(adaptive.mean - fixed.mean).toBeGreaterThan(-2 * error);
  const after = (outcome: number) =>
    policy.next(
      { outer: 1, steps: 1, designs: designs.slice(0, 2), outcomes: Float64Array.of(outcome) },
      seededStream(0),
    );
  expect([...after(2)]).not.toEqual([...after(-2)]);
}, 60_000);

test("where training makes it worse, the designs it started from are kept, and it says so", async () => {
  const startDesigns = [0.7, 3, 5.4, 3, 0.4, 3];
  const policy = await trainDad(location, { ...SMALL, startDesigns, steps: 15, rate: 3 });
  expect(policy.warnings).toHaveLength(1);
  const [, gain, error] = /was (.+) nats worse.*error of (\d\.\d+)/.exec(policy.warnings[0]) ?? [];
  expect(policy.warnings).toEqual([dadTexts.startKept(-Number(gain), Number(error), 15)]);
  const first = policy.next(
    { outer: 1, steps: 0, designs: new Float64Array(0), outcomes: new Float64Array(0) },
    seededStream(0),
  );
  expect([...first]).toEqual([Math.fround(0.7), 3]);
});

test("resumed it ends as if it had not been interrupted, and not from other designs", async () => {
  const startDesigns = [0.7, 3, 5.4, 3, 0.4, 3];
  const options = { ...SMALL, startDesigns, steps: 10, decay: true };
  const whole = await trainDad(location, options);
  let saved: DadCheckpoint | undefined;
  const stopped = trainDad(location, {
    ...options,
    onProgress({ done, checkpoint }) {
      if (done !== 4) return;
      saved = JSON.parse(JSON.stringify(checkpoint())) as DadCheckpoint;
      throw new Error("stopped");
    },
  });
  await expect(stopped).rejects.toThrow("stopped");
  const resumed = await trainDad(location, { ...options, resume: saved });
  expect(resumed.network.parameters).toEqual(whole.network.parameters);
  const others = trainDad(location, { ...options, startDesigns: startDesigns.with(0, 0.8), resume: saved });
  await expect(others).rejects.toThrow(/the checkpoint was made with base/);
});

test("its file has the base and gives the same designs; one that leaves it out is of the first format", async () => {
  const { network } = await trainDad(location, {
    ...SMALL,
    startDesigns: [0.7, 3, 5.4, 3, 0.4, 3],
    steps: 2,
  });
  const file = { kind: "dad", horizon: 3, network } as const;
  const bytes = encodePolicy(file);
  expect(decodePolicy(bytes)).toEqual(file);
  const seen = { outer: 1, steps: 1, designs: Float64Array.of(1, 2), outcomes: Float64Array.of(0.3) };
  expect(policyOf(decodePolicy(bytes), location).next(seen, seededStream(0))).toEqual(
    dadPolicy(location, 3, network).next(seen, seededStream(0)),
  );
  const versionOf = (each: Uint8Array) => Number(/"version":(\d)/.exec(new TextDecoder().decode(each))?.[1]);
  expect(versionOf(bytes)).toBe(2);
  const { base: _, ...plain } = network;
  expect(versionOf(encodePolicy({ ...file, network: plain }))).toBe(1);
  const damaged = encodePolicy({ ...file, network: { ...network, base: [[1, 2], [3]] } });
  expect(() => decodePolicy(damaged, "p")).toThrow(/network\.base must be 3 lists of 2 numbers/);
});

test("refined on what was seen, it keeps its base", async () => {
  const policy = await trainDad(location, { ...SMALL, startDesigns: [0.7, 3, 5.4, 3, 0.4, 3], steps: 2 });
  const history = { outer: 1, steps: 1, designs: Float64Array.of(0.7, 3), outcomes: Float64Array.of(-0.5) };
  const { sizes, rate } = SMALL;
  const refined = await refineDad(location, policy, history, { sizes, rate, steps: 2, particles: 200 });
  expect(refined.network.base).toEqual(policy.network.base);
  expect(refined.next(history, seededStream(0))[0]).toBeCloseTo(5.4, 1);
});

test("what cannot work is one sentence", async () => {
  const startDesigns = [0.7, 3, 5.4, 3];
  await expect(trainDad(location, { ...SMALL, startDesigns })).rejects.toThrow(
    dadTexts.start(4, 3, ["x", "y"]),
  );
  const { network } = await untrained(location, startDesigns, { horizon: 2 });
  expect(() => dadPolicy(location, 3, network)).toThrow(dadNetworkTexts.horizon(2, 3));
  await expect(trainDad(location, { ...SMALL, from: network })).rejects.toThrow(
    dadTexts.otherNetwork("observations"),
  );
});
