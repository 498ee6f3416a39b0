/** Targets and sensitive parameters apart: what of the first is drawn, and which values of the second are compared. */
import { InputError } from "../../core/errors.js";
import { normalQuantile } from "../../core/math.js";
import { type RandomStream, seededStream } from "../../core/random.js";
import { quantiles } from "../../core/stats.js";
import { fromBaseNoise } from "../base-noise.js";
import { drawNoise } from "../distribution.js";
import { drawParameters, type Model, type Prior, type Role } from "../model.js";
import { drawOuter } from "../policy.js";
import { distributionOf } from "../priors.js";

/** Numbers by the name of a parameter. */
export type Numbers = Readonly<Record<string, number>>;

export const roleTexts = {
  order: (name: string, read: string) =>
    `the prior of "${name}" depends on "${read}": for parity, targets come first, sensitive parameters may depend on targets, and a nuisance on both`,
  values: (given: number) =>
    `the sensitive parameters have ${given} combinations of values to compare: at most ${MOST_VALUES} are possible`,
};

export const ofRole = (model: Model, ...roles: readonly Role[]) =>
  model.parameters.filter(({ role }) => roles.includes(role));

/** Which parameters a prior reads, found by calling it. */
export const readBy = (prior: Prior, values: Numbers): readonly string[] => {
  const read = new Set<string>();
  if (typeof prior !== "function") return [];
  prior(
    new Proxy(values, {
      get: (of, name) => {
        if (typeof name === "string") read.add(name);
        return Reflect.get(of, name);
      },
    }),
  );
  return [...read];
};

/**
 * p(theta | D, phi) is had by weighting draws of theta, so theta must not wait for phi; and a nuisance is integrated
 * out given both.
 */
export const checkOrder = (model: Model): void => {
  const roles = new Map(model.parameters.map(({ name, role }) => [name, role]));
  const values = drawParameters(model.parameters, seededStream("parity order"));
  for (const { name, role, prior } of ofRole(model, "target", "sensitive")) {
    for (const read of readBy(prior, values)) {
      const allowed: readonly Role[] = role === "target" ? ["target"] : ["target", "sensitive"];
      if (!allowed.includes(roles.get(read) ?? "nuisance")) {
        throw new InputError("prior", roleTexts.order(name, read));
      }
    }
  }
};

const QUANTILES = [0.1, 0.9];
export const QUANTILE_DRAWS = 4096;
const MOST_VALUES = 64;

/** Every combination of the values of discrete sensitive parameters and the 10 % and 90 % quantiles of others. */
export const sensitiveValues = (model: Model, stream: RandomStream): readonly Numbers[] => {
  const draws = drawOuter(model, QUANTILE_DRAWS, stream);
  const first = Object.fromEntries(model.parameters.map(({ name }) => [name, draws[name][0]]));
  const all = ofRole(model, "sensitive").reduce<Record<string, number>[]>(
    (rows, { name, prior }) => {
      const values = distributionOf(prior, first).support ?? quantiles(draws[name], QUANTILES);
      return rows.flatMap((row) => values.map((value) => ({ ...row, [name]: value })));
    },
    [{}],
  );
  if (all.length > MOST_VALUES) throw new InputError("values", roleTexts.values(all.length));
  return all;
};

/**
 * Draws of the targets from their prior: every coordinate's noise in equal strata of probability, in random order, so
 * that sums over the draws of a single target are a quadrature.
 */
export const drawTargets = (model: Model, count: number, stream: RandomStream): readonly Numbers[] => {
  const rows: Record<string, number>[] = Array.from({ length: count }, () => ({}));
  for (const { name, prior } of ofRole(model, "target")) {
    const own = stream.split(name);
    const order = own.permutation(count);
    for (const [s, row] of rows.entries()) {
      const noise = distributionOf(prior, row).noise ?? { kind: "normal" };
      const z = noise.kind === "normal" ? normalQuantile((order[s] + 0.5) / count) : drawNoise(noise, own);
      row[name] = fromBaseNoise(prior, z, row);
    }
  }
  return rows;
};

/** log p(phi = value | theta). */
export const logSensitivePrior = (model: Model, targets: Numbers, value: Numbers): number => {
  const before = { ...targets, ...value };
  return ofRole(model, "sensitive").reduce(
    (total, { name, prior }) => total + (distributionOf(prior, before).logDensity(value[name]) as number),
    0,
  );
};
