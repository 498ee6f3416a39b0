import { expect, test } from "vitest";
import { seededStream } from "../../src/core/random.js";
import { type DadCheckpoint, dadTexts, refineDad, trainDad } from "../../src/design/dad.js";
import { type DadNetwork, dadPolicy } from "../../src/design/dad-network.js";
import { locationFinding } from "../../src/design/models/location.js";

const model = locationFinding();
const SMALL = {
  horizon: 3,
  sizes: { outer: 16, contrastive: 40, marginal: 30 },
  widths: { encoder: [5], encoding: 3, emitter: [4] },
  rate: 1e-3,
  seed: 9,
} as const;
/** encoder 3-5-3, emitter 3-4-2 */
const COUNT = 3 * 5 + 5 + 5 * 3 + 3 + (3 * 4 + 4 + 4 * 2 + 2);

const PLAIN = { kind: "free", centre: 0, unit: 1 } as const;
const network = (parameters: Float32Array): DadNetwork => ({
  widths: SMALL.widths,
  designs: [PLAIN, PLAIN],
  outcomes: [{ centre: 0, unit: 1 }],
  parameters,
});

/** The bound at these parameters, and its gradient: Adam's first running mean is a tenth of the descent direction. */
const firstStep = async (parameters: Float32Array) => {
  let value = 0;
  let saved: DadCheckpoint | undefined;
  await trainDad(model, {
    ...SMALL,
    steps: 1,
    from: network(parameters),
    onProgress(progress) {
      value = progress.value;
      saved = progress.checkpoint();
    },
  });
  return { value, gradient: Float64Array.from(saved?.mean ?? [], (mean) => -10 * mean) };
};

test("the gradient goes through the whole experiment", async () => {
  const stream = seededStream("network");
  const parameters = Float32Array.from({ length: COUNT }, () => stream.normal(0.2, 0.6));
  const { gradient } = await firstStep(parameters);
  expect(gradient).toHaveLength(COUNT);
  const scale = Math.max(...gradient.map(Math.abs));
  for (let i = 0; i < COUNT; i += 3) {
    const at = async (shift: number) => {
      const moved = parameters.slice();
      moved[i] += shift;
      return (await firstStep(moved)).value;
    };
    const h = 2e-3;
    const difference = ((await at(h)) - (await at(-h))) / (2 * h);
    expect(Math.abs(difference - gradient[i]), `parameter ${i}`).toBeLessThan(0.02 * scale + 2e-3);
  }
});

test("resumed it ends as if it had not been interrupted, on any number of threads", async () => {
  const whole = await trainDad(model, { ...SMALL, steps: 12, threads: 1 });
  let saved: DadCheckpoint | undefined;
  await expect(
    trainDad(model, {
      ...SMALL,
      steps: 12,
      onProgress({ done, checkpoint }) {
        if (done !== 5) return;
        saved = JSON.parse(JSON.stringify(checkpoint())) as DadCheckpoint;
        throw new Error("stopped");
      },
    }),
  ).rejects.toThrow("stopped");
  if (saved === undefined) throw new Error("no checkpoint");
  const resumed = await trainDad(model, { ...SMALL, steps: 12, threads: 2, resume: saved });
  expect(resumed.network.parameters).toEqual(whole.network.parameters);
});

test("training improves the bound by far more than its noise", async () => {
  const values: number[] = [];
  await trainDad(model, {
    ...SMALL,
    widths: { encoder: [16], encoding: 8, emitter: [16] },
    steps: 250,
    rate: 5e-3,
    onProgress: ({ value }) => {
      values.push(value);
    },
  });
  const mean = (from: number, to: number) =>
    values.slice(from, to).reduce((sum, v) => sum + v, 0) / (to - from);
  expect(mean(200, 250) - mean(0, 20)).toBeGreaterThan(0.1);
});

test("a policy adds up what it saw, whatever the order, and starts from nothing", async () => {
  const stream = seededStream("policy");
  const policy = dadPolicy(model, 3, network(Float32Array.from({ length: COUNT }, () => stream.normal())));
  const empty = { outer: 2, steps: 0, designs: new Float64Array(0), outcomes: new Float64Array(0) };
  const first = await policy.next(empty, stream);
  expect([...first.subarray(0, 2)]).toEqual([...first.subarray(2, 4)]);
  const seen = {
    outer: 1,
    steps: 2,
    designs: Float64Array.of(1, 2, 3, 4),
    outcomes: Float64Array.of(0.5, -0.5),
  };
  const turned = { ...seen, designs: Float64Array.of(3, 4, 1, 2), outcomes: Float64Array.of(-0.5, 0.5) };
  const [a, b] = [await policy.next(seen, stream), await policy.next(turned, stream)];
  a.forEach((value, i) => {
    expect(b[i]).toBeCloseTo(value, 5);
  });
  expect(a[0]).not.toBe(first[0]);
});

test("a policy refined on what was seen does better from there on than the policy it came from", async () => {
  const widths = { encoder: [16], encoding: 8, emitter: [16] };
  const sizes = { outer: 40, contrastive: 200, marginal: 150 };
  const policy = await trainDad(model, { ...SMALL, sizes, widths, steps: 60, rate: 5e-3 });
  const history = { outer: 1, steps: 1, designs: Float64Array.of(2, 3), outcomes: Float64Array.of(1.5) };
  const values: number[] = [];
  const refined = await refineDad(model, policy, history, {
    beta: 0.8,
    sizes,
    steps: 150,
    rate: 3e-3,
    seed: 3,
    onProgress: ({ value }) => {
      values.push(value);
    },
  });
  const mean = (from: number, to: number) =>
    values.slice(from, to).reduce((sum, v) => sum + v, 0) / (to - from);
  expect(mean(100, 150)).toBeGreaterThan(mean(0, 15));
  expect(await refined.next(history, seededStream(1))).not.toEqual(
    await policy.next(history, seededStream(1)),
  );
  const late = { ...history, steps: 3, designs: new Float64Array(6), outcomes: new Float64Array(3) };
  await expect(refineDad(model, policy, late)).rejects.toThrow(dadTexts.history(3, 3));
});
