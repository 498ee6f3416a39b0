import { describe, expect, test } from "vitest";
import { randomStream } from "../../src/core/random.js";
import { logMeanExp, logSumExp } from "../../src/core/stats.js";
import { type ConditionalStep, conditionalStep } from "../../src/design/conditional-step.js";
import { LOCATION_DEFAULTS, locationLogLikelihood, logIntensity } from "../../src/design/location.js";

const SIZES = { outer: 6, horizon: 3, contrastive: 41, marginal: 29 } as const;
const BETA = 0.8;

const fill = (step: ConditionalStep) => {
  const stream = randomStream("conditional step");
  for (const [name, array] of Object.entries(step.arrays)) {
    const own = stream.split(name);
    for (let i = 0; i < array.length; i++) array[i] = own.normal(name === "noise" ? 0 : 2, 1);
  }
};

/** The lower bound of R_c written down from its definition, in float64. */
const definition = (arrays: Readonly<Record<string, ArrayLike<number>>>, perOuter: boolean) => {
  const { outer, horizon, contrastive, marginal } = SIZES;
  const { noise: sd, background, offset } = LOCATION_DEFAULTS;
  const { theta0, phi0, noise, thetaL, phiL, phiM, x, y } = arrays;
  const logMu = (theta: number, phi: number, at: number) =>
    Math.log(background + 1 / (offset + (theta - x[at]) ** 2 + (phi - y[at]) ** 2));
  let target = 0;
  let leakage = 0;
  for (let b = 0; b < outer; b++) {
    const place = (t: number) => (perOuter ? b * horizon + t : t);
    const logP = (theta: number, phi: number) => {
      let sum = 0;
      for (let t = 0; t < horizon; t++) {
        const reading = logMu(theta0[b], phi0[b], place(t)) + sd * noise[b * horizon + t];
        const z = (reading - logMu(theta, phi, place(t))) / sd;
        sum += -0.5 * z * z - Math.log(sd * Math.sqrt(2 * Math.PI));
      }
      return sum;
    };
    const own = logP(theta0[b], phi0[b]);
    const givenTarget = logMeanExp(Array.from({ length: marginal }, (_, m) => logP(theta0[b], phiM[m])));
    const others = Array.from({ length: contrastive }, (_, l) => logP(thetaL[l], phiL[l]));
    const evidence = logSumExp([own, ...others]) - Math.log(contrastive + 1);
    target += (givenTarget - evidence) / outer;
    leakage += (own - givenTarget) / outer;
  }
  return { objective: target - BETA * leakage, target, leakage };
};

describe.each(["shared", "perOuter"] as const)("the conditional step, designs %s", (designs) => {
  const build = (threads: number) => {
    const step = conditionalStep({ ...SIZES, beta: BETA, designs, threads });
    fill(step);
    return step;
  };

  test("estimates what the definition says", () => {
    const step = build(2);
    const estimate = step.run();
    const expected = definition(step.arrays, designs === "perOuter");
    for (const name of ["objective", "target", "leakage"] as const) {
      expect(estimate[name]).toBeCloseTo(expected[name], 4);
    }
    step.dispose();
  });

  test("has the gradient of the definition, through the readings too", () => {
    const step = build(1);
    step.run();
    const arrays = Object.fromEntries(
      Object.entries(step.arrays).map(([name, array]) => [name, Float64Array.from(array)]),
    );
    for (const [name, gradient] of [
      ["x", step.gradientX],
      ["y", step.gradientY],
    ] as const) {
      const scale = Math.max(...gradient.map(Math.abs));
      gradient.forEach((derivative, i) => {
        const before = arrays[name][i];
        const at = (value: number) => {
          arrays[name][i] = value;
          return definition(arrays, designs === "perOuter").objective;
        };
        const difference = (at(before + 1e-5) - at(before - 1e-5)) / 2e-5;
        arrays[name][i] = before;
        expect(Math.abs(difference - derivative)).toBeLessThan(2e-4 * scale);
      });
    }
    step.dispose();
  });
});

test("the likelihood is the normal density of the log-intensity", () => {
  const point = { theta: 1.3, phi: -0.4, x: 0.2, y: 0.7 };
  const mu = 0.1 + 1 / (1e-4 + 1.1 ** 2 + 1.1 ** 2);
  expect(logIntensity(point)).toBeCloseTo(Math.log(mu), 12);
  const density = Math.exp(-0.5 * ((0.3 - Math.log(mu)) / 0.5) ** 2) / (0.5 * Math.sqrt(2 * Math.PI));
  expect(locationLogLikelihood({ ...point, reading: 0.3 })).toBeCloseTo(Math.log(density), 12);
});
