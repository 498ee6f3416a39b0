import { describe, expect, test } from "vitest";
import { linearGaussian } from "../../src/design/models/linear-gaussian.js";
import { locationFinding, locationTexts } from "../../src/design/models/location.js";
import { pharmacokinetics } from "../../src/design/models/pharmacokinetics.js";
import { psychometric } from "../../src/design/models/psychometric.js";

const logNormalDensity = (value: number, mean: number, sd: number) =>
  -0.5 * ((value - mean) / sd) ** 2 - Math.log(sd * Math.sqrt(2 * Math.PI));

describe("location finding", () => {
  test("is the paper's with its default settings", () => {
    const model = locationFinding();
    expect(model.parameters.map(({ name, role }) => [name, role])).toEqual([
      ["theta", "target"],
      ["phi", "sensitive"],
    ]);
    const mu = 0.1 + 1 / (1e-4 + 1 + 4);
    expect(model.logLikelihood({ theta: 3, phi: 2 }, { x: 2, y: 4 }, { outcome: -1 })).toBeCloseTo(
      logNormalDensity(-1, Math.log(mu), 0.5),
      10,
    );
  });

  test("has the printed signal on request", () => {
    const model = locationFinding({ signal: "printed", offset: 0.5 });
    const mu = 0.1 + 1 / (0.5 + Math.sqrt(5)) ** 2;
    expect(model.logLikelihood({ theta: 3, phi: 2 }, { x: 2, y: 4 }, { outcome: -1 })).toBeCloseTo(
      logNormalDensity(-1, Math.log(mu), 0.5),
      10,
    );
  });

  test("has several sources, any dimensions, and the roles asked for", () => {
    const model = locationFinding({
      sources: 2,
      dimensions: 3,
      targets: [0, 3],
      sensitives: [5],
      priorMean: [1, 2, 3],
    });
    expect(model.parameters.map(({ role }) => role)).toEqual([
      "target",
      "nuisance",
      "nuisance",
      "target",
      "nuisance",
      "sensitive",
    ]);
    expect(model.design.map(({ name }) => name)).toEqual(["x", "y", "z"]);
    const at = Object.fromEntries(model.parameters.map(({ name }, k) => [name, k]));
    const mu = 0.1 + 1 / (1e-4 + 0 + 1 + 4) + 1 / (1e-4 + 9 + 16 + 25);
    expect(model.logLikelihood(at, { x: 0, y: 0, z: 0 }, { outcome: 0 })).toBeCloseTo(
      logNormalDensity(0, Math.log(mu), 0.5),
      10,
    );
  });

  test("refuses what does not fit", () => {
    expect(() => locationFinding({ priorMean: [1, 2, 3] })).toThrow(locationTexts.priorMean(3, 2));
    expect(() => locationFinding({ targets: [2] })).toThrow(locationTexts.coordinate(2, 2));
  });
});

test("the linear-Gaussian model is a weighted sum", () => {
  const at = [{ theta: 2, phi: -1, shift: 0.5 }, { x: 3, y: 4 }, { outcome: 1 }] as const;
  expect(linearGaussian({ noise: 2 }).logLikelihood(...at)).toBeCloseTo(logNormalDensity(1, 2, 2), 12);
  expect(linearGaussian({ noise: 2, offset: true }).logLikelihood(...at)).toBeCloseTo(
    logNormalDensity(1, 2.5, 2),
    12,
  );
});

test("the psychometric function is a logistic one", () => {
  const model = psychometric({ slope: 3 });
  const p = 1 / (1 + Math.exp(-3 * (1 - 0.2 - 0.5 * 0.6)));
  expect(
    model.logLikelihood({ threshold: 0.2, shift: 0.6 }, { intensity: 1, context: 0.5 }, { outcome: 1 }),
  ).toBeCloseTo(Math.log(p), 10);
  expect(model.reparameterised).toBe(false);
});

test("pharmacokinetics solves its differential equation", () => {
  // dG/dt = -ka G, dC/dt = ka G / V - ke C, with G(0) = dose and C(0) = 0, by small steps.
  const [clearance, volume, genotype] = [4.5, 18, 0.3];
  const ke = clearance / volume;
  const ka = ke + 1.5 * Math.exp(genotype);
  let gut = 400;
  let concentration = 0;
  const h = 1e-4;
  for (let i = 0; i < 3 / h; i++) {
    const half = gut * Math.exp((-ka * h) / 2);
    concentration +=
      h *
      ((ka * half) / volume - ke * (concentration + (h / 2) * ((ka * gut) / volume - ke * concentration)));
    gut *= Math.exp(-ka * h);
  }
  const model = pharmacokinetics();
  const value = model.logLikelihood(
    { logClearance: Math.log(clearance), logVolume: Math.log(volume), genotype },
    { time: 3 },
    { outcome: Math.log(concentration) },
  );
  // At its mean the density is 1 / (0.2 sqrt(2 pi)).
  expect(value).toBeCloseTo(logNormalDensity(0, 0, 0.2), 6);
});
