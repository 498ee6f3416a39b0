/**
 * The closed form of models that are linear and Gaussian: normal priors whose means are affine in the parameters
 * before, normal outcomes whose means are affine in the parameters, fixed standard deviations. For designs that are
 * fixed in advance, D given g is normal with covariance A Cov(psi | g) A' + S, so that
 *
 *     E log p(D | g) = -1/2 log det(A Cov(psi | g) A' + S) - n/2 (1 + log 2 pi)
 *
 * and every information is a difference of log-determinants.
 */

import { factorise } from "../../core/math/cholesky.js";
import { log } from "../../core/math.js";
import { type RandomStream, seededStream } from "../../core/random.js";
import type { Distribution } from "../distribution.js";
import { drawParameters, type Model } from "../model.js";
import { distributionOf, held } from "../priors.js";
import { GIVEN, type Given } from "../quantity.js";

type Numbers = Readonly<Record<string, number>>;
type Matrix = readonly Float64Array[];

interface Affine {
  readonly constant: number;
  readonly slopes: Float64Array;
  readonly sd: number;
}

const PROBES = 6;

/** Mean and standard deviation of a normal distribution with number parameters. */
const meanAndSd = ({ name, fromNoise }: Distribution): readonly [number, number] | undefined => {
  if ((name !== "normal" && name !== "log-normal") || fromNoise === undefined) return undefined;
  const mean = fromNoise(0) as number;
  return [mean, (fromNoise(1) as number) - mean];
};

/** The mean as an affine function of the parameters, if it is one and the standard deviation is fixed. */
const affine = (
  names: readonly string[],
  at: (parameters: Numbers) => Distribution,
  points: readonly Numbers[],
): Affine | undefined => {
  const zeros = Object.fromEntries(names.map((name) => [name, 0]));
  const base = meanAndSd(at(zeros));
  if (base === undefined) return undefined;
  const [constant, sd] = base;
  const slopes = Float64Array.from(
    names,
    (name) => (meanAndSd(at({ ...zeros, [name]: 1 }))?.[0] ?? Number.NaN) - constant,
  );
  for (const point of points) {
    const there = meanAndSd(at(point));
    if (there === undefined) return undefined;
    const predicted = names.reduce((sum, name, k) => sum + slopes[k] * point[name], constant);
    const scale = 1 + Math.abs(predicted) + Math.abs(constant);
    // Differences of the mean carry rounding errors of this size.
    const same = Math.abs(there[0] - predicted) <= 1e-9 * scale && Math.abs(there[1] - sd) <= 1e-9 * scale;
    if (!same) return undefined;
  }
  return { constant, slopes, sd };
};

/**
 * E log p(D | g) of designs [horizon, variables] for every g, or nothing where the model is not linear and Gaussian.
 * That is found out by evaluating its distributions at a few points.
 */
export const closedForm = (
  model: Model,
  designs: Float64Array,
): Readonly<Record<Given, number>> | undefined => {
  const names = model.parameters.map(({ name }) => name);
  const stream: RandomStream = seededStream("closed form").split(model.name);
  const points = Array.from({ length: PROBES }, () => drawParameters(model.parameters, stream));
  // psi = constants + factor z, row by row: psi_k = constant + sum_{j<k} slope_j psi_j + sd z_k.
  const factor: Float64Array[] = [];
  for (const [k, { prior }] of model.parameters.entries()) {
    const part = affine(names, (at) => distributionOf(prior, at), points);
    if (part === undefined) return undefined;
    const row = new Float64Array(names.length);
    for (let j = 0; j < k; j++) for (let i = 0; i <= j; i++) row[i] += part.slopes[j] * factor[j][i];
    row[k] = part.sd;
    factor.push(row);
  }
  const covariance = timesTransposed(factor, factor);
  const loadings: Float64Array[] = [];
  const noise: number[] = [];
  const variables = model.design.length;
  for (let t = 0; t < designs.length / variables; t++) {
    const at = Object.fromEntries(model.design.map(({ name }, d) => [name, designs[t * variables + d]]));
    for (const outcome of model.outcomes) {
      const part = affine(names, (parameters) => model.distributions(parameters, at)[outcome], points);
      if (part === undefined) return undefined;
      loadings.push(part.slopes);
      noise.push(part.sd ** 2);
    }
  }
  const expected = (given: Given): number => {
    const roles = held(given);
    const isHeld = model.parameters.map(({ role }) => roles.includes(role));
    const conditional = conditionalCovariance(covariance, isHeld);
    const data = timesTransposed(times(loadings, conditional), loadings);
    for (let i = 0; i < data.length; i++) data[i][i] += noise[i];
    return -0.5 * logDeterminant(data) - 0.5 * data.length * (1 + log(2 * Math.PI));
  };
  return Object.fromEntries(GIVEN.map((given) => [given, expected(given)])) as Record<Given, number>;
};

const times = (a: Matrix, b: Matrix): Matrix =>
  a.map((row) => Float64Array.from(b[0], (_, j) => row.reduce((sum, value, k) => sum + value * b[k][j], 0)));

const timesTransposed = (a: Matrix, b: Matrix): Matrix =>
  a.map((left) => Float64Array.from(b, (right) => left.reduce((sum, value, k) => sum + value * right[k], 0)));

/** Cov(psi | held): the held parameters are swept out one by one, cov - c c' / variance. */
const conditionalCovariance = (covariance: Matrix, isHeld: readonly boolean[]): Matrix =>
  isHeld.reduce<Matrix>((matrix, holds, k) => {
    if (!holds || matrix[k][k] <= 0) return matrix;
    const column = matrix.map((row) => row[k]);
    return matrix.map((row, i) => row.map((value, j) => value - (column[i] * column[j]) / column[k]));
  }, covariance);

/** log det of a positive definite matrix, by Cholesky's factor; not a number where it is none. */
const logDeterminant = (matrix: Matrix): number => {
  const n = matrix.length;
  const factor = Float64Array.from(matrix.flatMap((row) => [...row]));
  if (!factorise(factor, n)) return Number.NaN;
  let total = 0;
  for (let i = 0; i < n; i++) total += 2 * log(factor[i * n + i]);
  return total;
};
