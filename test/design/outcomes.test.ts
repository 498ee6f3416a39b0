import { afterAll, expect, test } from "vitest";
import { add, mul, Workspace } from "../../src/compute/index.js";
import { seededStream } from "../../src/core/random.js";
import { bernoulli, categorical, normal, poisson, studentT } from "../../src/design/distribution.js";
import { defineModel, real, sensitive, target } from "../../src/design/model.js";
import { locationFinding } from "../../src/design/models/location.js";
import { Outcomes } from "../../src/design/outcomes.js";
import { CHI_SQUARE_LIMIT, chiSquare } from "../core/goodness.js";

const workspace = new Workspace({ threads: 1 });
afterAll(() => workspace.dispose());

const parameters = { theta: target(normal(0, 1)), phi: sensitive(normal(0, 1)) };
const constant = (length: number, value: number) => new Float64Array(length).fill(value);

test("a model of outcomes of several kinds is simulated by each one's distribution", () => {
  const model = defineModel({
    name: "several",
    parameters,
    design: { x: real() },
    outcome: ({ theta, phi }, { x }) => ({
      reading: normal(add(theta, x), 0.5),
      heavy: studentT({ freedom: 5, location: phi, scale: 1 }),
      alarm: bernoulli({ logit: phi }),
      colour: categorical({ logits: [theta, mul(theta, x), 0] }),
      count: poisson({ logRate: 7 }),
    }),
  });
  const outer = 4000;
  const horizon = 2;
  const n = outer * horizon;
  const outcomes = new Outcomes({ model, workspace, outer, horizon, designs: "shared" });
  const [theta, phi] = [0.7, -0.4];
  const x = Float64Array.of(1, 1);
  const seen = outcomes.simulate(
    { theta: constant(outer, theta), phi: constant(outer, phi) },
    { x },
    outcomes.drawNoise(seededStream("several")),
  );
  for (const name of model.outcomes) {
    expect(seen[name]).toHaveLength(n);
    expect(seen[name].every(Number.isFinite)).toBe(true);
  }
  const mean = (name: string) => seen[name].reduce((sum, value) => sum + value, 0) / n;
  expect(Math.abs(mean("reading") - 1.7)).toBeLessThan((4 * 0.5) / Math.sqrt(n));
  expect(Math.abs(mean("heavy") - phi)).toBeLessThan((4 * Math.sqrt(5 / 3)) / Math.sqrt(n));
  // Far beyond where e^-rate underflows.
  const rate = Math.exp(7);
  expect(Math.abs(mean("count") - rate)).toBeLessThan(4 * Math.sqrt(rate / n));
  const by = model.distributions({ theta, phi }, { x: 1 });
  for (const name of ["alarm", "colour"]) {
    const support = by[name].support ?? [];
    const counts = support.map((value) => seen[name].filter((each) => each === value).length);
    const probabilities = support.map((value) => Math.exp(by[name].logDensity(value) as number));
    expect(chiSquare(counts, probabilities, n)).toBeLessThan(CHI_SQUARE_LIMIT);
  }
  outcomes.dispose();
});

test("outcomes that do not depend on the design differ between observations all the same", () => {
  const model = defineModel({
    name: "fixed",
    parameters,
    design: { x: real() },
    outcome: ({ theta }) => bernoulli({ logit: theta }),
  });
  const outcomes = new Outcomes({ model, workspace, outer: 50, horizon: 40, designs: "perOuter" });
  // Half of the experiments never, half of them always say 1.
  const theta = Float64Array.from({ length: 50 }, (_, b) => (b < 25 ? -40 : 40));
  const { outcome } = outcomes.simulate(
    { theta, phi: constant(50, 0) },
    { x: constant(2000, 0) },
    outcomes.drawNoise(seededStream(1)),
  );
  expect(outcome).toEqual(Float64Array.from({ length: 2000 }, (_, i) => (i < 1000 ? 0 : 1)));
  outcomes.dispose();
});

test("the pullback is the derivative of the outcomes", () => {
  const model = locationFinding();
  const [outer, horizon] = [3, 2];
  const outcomes = new Outcomes({ model, workspace, outer, horizon, designs: "shared" });
  const stream = seededStream("pullback");
  const given = {
    theta: Float64Array.from({ length: outer }, () => stream.normal(3, 1)),
    phi: Float64Array.from({ length: outer }, () => stream.normal(3, 1)),
  };
  const designs = { x: Float64Array.of(1, 2), y: Float64Array.of(1.5, 0) };
  const noise = outcomes.drawNoise(stream.split("noise"));
  const adjoint = Float64Array.from({ length: outer * horizon }, () => stream.normal());
  const into = { x: new Float64Array(horizon), y: new Float64Array(horizon) };
  outcomes.addPullback({ outcome: adjoint }, { parameters: given, designs, noise }, into);
  const value = (moved: typeof designs) =>
    outcomes.simulate(given, moved, noise).outcome.reduce((sum, each, i) => sum + adjoint[i] * each, 0);
  for (const name of ["x", "y"] as const) {
    for (let t = 0; t < horizon; t++) {
      const h = 1e-2;
      const by = (step: number) => {
        const moved = { x: designs.x.slice(), y: designs.y.slice() };
        moved[name][t] += step;
        return value(moved);
      };
      expect(into[name][t]).toBeCloseTo((by(h) - by(-h)) / (2 * h), 3);
    }
  }
  outcomes.dispose();
});
