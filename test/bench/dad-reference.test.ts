import { expect, test } from "vitest";
import { array, normals } from "../../bench/inputs.mjs";
import { settings } from "../../bench/location.mjs";
import { conditionalStep, dadStep } from "../../bench/reference.mjs";

const [outer, horizon, inner] = [3, 3, 4];

/** Samples and two small networks: 3-5-2 and 2-4-2. */
const smallInputs = () => {
  const normal = normals(7);
  const prior = () => 3 + normal();
  return {
    theta0: array([outer], prior),
    phi0: array([outer], prior),
    eps: array([outer, horizon], normal),
    thetaL: array([inner], prior),
    phiL: array([inner], prior),
    phiM: array([inner], prior),
    "encoder w0": array([5, 3], normal),
    "encoder b0": array([5], normal),
    "encoder w1": array([2, 5], normal),
    "encoder b1": array([2], normal),
    "emitter w0": array([4, 2], normal),
    "emitter b0": array([4], normal),
    "emitter w1": array([2, 4], normal),
    "emitter b1": array([2], normal),
  };
};

test("the reference gradient of a DAD step is the objective's difference quotient in every parameter", () => {
  const { gradient } = dadStep(smallInputs(), settings);
  const inputs = smallInputs();
  const parameters = Object.entries(inputs).filter(([name]) => name.includes(" "));
  const slopes = parameters.flatMap(([name, { shape, data }]) => {
    const h = 1e-5;
    const read = (i: number, move: number): number => {
      const moved = Float64Array.from(data);
      moved[i] += move;
      return dadStep({ ...inputs, [name]: { shape, data: moved } }, settings).objective[0];
    };
    return Array.from(data, (_, i) => (read(i, h) - read(i, -h)) / (2 * h));
  });
  expect(gradient).toHaveLength(slopes.length);
  const largest = Math.max(...slopes.map(Math.abs));
  expect(largest).toBeGreaterThan(0.01);
  for (const [i, slope] of slopes.entries())
    expect(Math.abs(gradient[i] - slope)).toBeLessThan(1e-6 * largest);
});

test("networks that emit fixed designs have the objective of those designs", () => {
  const inputs = smallInputs();
  inputs["emitter w1"].data.fill(0);
  const [x, y] = inputs["emitter b1"].data;
  const xi = array([horizon, 2], (i: number) => (i % 2 === 0 ? x : y));
  expect(dadStep(inputs, settings).objective[0]).toBeCloseTo(
    conditionalStep({ ...inputs, xi }, settings).objective[0],
    12,
  );
});
