/** How far what is learnt about the targets depends on the value of the sensitive part, over simulated data. */

import { add, compile, logsumexp, type Program, sum, type Workspace } from "../../compute/index.js";
import { exp } from "../../core/math.js";
import type { Pacer } from "../../core/options.js";
import type { RandomStream } from "../../core/random.js";
import { meanEstimate } from "../../core/stats.js";
import type { Values } from "../model.js";
import { drawParameters, type Model } from "../model.js";
import type { Simulation } from "../policy.js";
import { type Numbers, ofRole } from "./by-role.js";

type Inputs = Record<string, readonly string[]>;

/** An average over simulated data sets. */
export interface Measured {
  readonly mean: number;
  readonly standardError: number;
}

export interface PosteriorDifferences {
  /** Total variation between p(theta | D, phi), the largest over pairs of values of phi. */
  readonly posterior: Measured;
  /** Largest less smallest p(z = 1 | phi, D). */
  readonly prediction: Measured;
  /** How many independent draws of theta the weighted ones are worth, on average. */
  readonly effectiveSampleSize: number;
}

/** Weights with sum 1, from their logarithms. */
export const normalised = (logs: ArrayLike<number>): Float64Array => {
  let most = -Infinity;
  for (let s = 0; s < logs.length; s++) if (logs[s] > most) most = logs[s];
  const weights = Float64Array.from(logs, (value) => (most > -Infinity ? exp(value - most) : 1));
  const total = weights.reduce((sofar, weight) => sofar + weight, 0);
  return weights.map((weight) => weight / total);
};

/** The largest total variation between two of these, which are weights of the same draws. */
export const largestDistance = (weights: readonly Float64Array[]): number => {
  let largest = 0;
  for (let v = 0; v < weights.length; v++) {
    for (let w = 0; w < v; w++) {
      const distance =
        0.5 * weights[v].reduce((total, weight, s) => total + Math.abs(weight - weights[w][s]), 0);
      largest = Math.max(largest, distance);
    }
  }
  return largest;
};

const NUISANCE_DRAWS = 128;

interface MeasureOptions {
  readonly pool: readonly Numbers[];
  readonly values: readonly Numbers[];
  /** log p(phi_v | theta_s): [value][particle]. */
  readonly logPriors: readonly (readonly number[])[];
  readonly table: readonly (readonly Float64Array[])[];
  readonly stream: RandomStream;
  readonly workspace: Workspace;
  readonly pace: Pacer;
}

/** How far p(theta | D, phi) and p(z | phi, D) depend on phi, over the data sets. */
export const posteriorDifferences = async (
  model: Model,
  horizon: number,
  { designs, outcomes }: Simulation,
  { pool, values, logPriors, table: [a, b], stream, workspace, pace }: MeasureOptions,
): Promise<PosteriorDifferences> => {
  const program = compileEvidence(model, pool, values, horizon, stream, workspace);
  const observed = { ...designs, ...outcomes };
  const [{ length }] = Object.values(designs);
  const distances: number[] = [];
  const differences: number[] = [];
  let effective = 0;
  for (let from = 0; from < length; from += horizon) {
    for (const [name, all] of Object.entries(observed)) {
      program.input(name).set(all.subarray(from, from + horizon));
    }
    program.run();
    const evidence = program.output();
    const weights = values.map((_, v) =>
      normalised(logPriors[v].map((prior, s) => prior + evidence[v * pool.length + s])),
    );
    const predicted = weights.map((each, v) =>
      each.reduce((total, weight, s) => total + (weight * (a[v][s] + b[v][s])) / 2, 0),
    );
    distances.push(largestDistance(weights));
    differences.push(Math.max(...predicted) - Math.min(...predicted));
    await pace.step({ done: from / horizon + 1, total: length / horizon, label: "data sets" });
    for (const each of weights) effective += 1 / each.reduce((total, weight) => total + weight * weight, 0);
  }
  program.dispose();
  const measured = (all: readonly number[]): Measured => {
    const { mean, standardError } = meanEstimate(all);
    return { mean, standardError };
  };
  return {
    posterior: measured(distances),
    prediction: measured(differences),
    effectiveSampleSize: effective / (distances.length * values.length),
  };
};

/** log p(D | theta_s, phi_v), up to a constant, for all values and particles: [value, particle]. */
const compileEvidence = (
  model: Model,
  pool: readonly Numbers[],
  values: readonly Numbers[],
  horizon: number,
  stream: RandomStream,
  workspace: Workspace,
): Program<Inputs> => {
  const nuisances = ofRole(model, "nuisance").map(({ name }) => name);
  const observed = [...model.design.map(({ name }) => name), ...model.outcomes];
  // Where priors depend on each other, a nuisance has its own draws for every pair.
  const own = model.dependentPriors ? ["pair", "inner"] : ["inner"];
  const inputs: Inputs = {
    // There so that every pair has a value even where the likelihood does not depend on it.
    each: ["pair"],
    ...Object.fromEntries(
      model.parameters.map(({ name }) => [name, nuisances.includes(name) ? own : ["pair"]]),
    ),
    ...Object.fromEntries(observed.map((name) => [name, ["observation"]])),
  };
  const program: Program<Inputs> = compile(
    (at: Values) => {
      const logLikelihood = sum("observation", model.logLikelihood(at, at, at));
      return add(at.each, nuisances.length > 0 ? logsumexp("inner", logLikelihood) : logLikelihood);
    },
    { workspace, inputs },
  );
  const pairs = values.length * pool.length;
  program.resize({ pair: pairs, observation: horizon, inner: NUISANCE_DRAWS });
  const arrays = new Map(model.parameters.map(({ name }) => [name, program.input(name)]));
  for (const [v, value] of values.entries()) {
    for (const [s, targets] of pool.entries()) {
      const held = { ...targets, ...value };
      const at = v * pool.length + s;
      for (const [name, each] of Object.entries(held)) arrays.get(name)?.fill(each, at, at + 1);
      if (nuisances.length === 0 || (at > 0 && !model.dependentPriors)) continue;
      // The same random numbers for every value of phi and every theta.
      const draws = stream.split("draws");
      for (let r = 0; r < NUISANCE_DRAWS; r++) {
        const drawn = drawParameters(model.parameters, draws, held);
        const place = at * NUISANCE_DRAWS + r;
        for (const name of nuisances) arrays.get(name)?.fill(drawn[name], place, place + 1);
      }
    }
  }
  return program;
};
