/**
 * Demographic parity of what is learnt from the data (paper, section 4 and appendix A).
 *
 * Predictions p(z | phi, D) = int p(z | theta) p(theta | D, phi) dtheta do not depend on phi, whatever D and the
 * predictor, if (i) the policy has F_c = -EIG_{phi|theta} = 0, (ii) the prior is p(theta) p(phi), and (iii) the
 * predictor, averaged over covariates x that it reads, is p(z | theta). {@link checkParity} checks the three, and
 * measures on simulated data how far posterior and predictions do depend on phi.
 */
import { add, compile, logsumexp, type Program, sum, type Value, Workspace } from "../compute/index.js";
import { InputError } from "../core/errors.js";
import { exp, normalQuantile } from "../core/math.js";
import { type Pacer, pacer, type RunOptions } from "../core/options.js";
import { type RandomStream, randomStream } from "../core/random.js";
import { meanEstimate, quantile, quantiles } from "../core/stats.js";
import { fromBaseNoise } from "./base-noise.js";
import { drawNoise } from "./distribution.js";
import { drawParameters, type Model, type Prior, type Role } from "./model.js";
import { Nested } from "./nested.js";
import { drawOuter, type Policy, type Simulation, simulate } from "./policy.js";
import { distributionOf } from "./priors.js";
import { INFORMATION } from "./quantity.js";

type Values = Readonly<Record<string, Value>>;
type Numbers = Readonly<Record<string, number>>;
type Inputs = Record<string, readonly string[]>;

/** p(z = 1 | theta, x): the probability of the downstream event given the targets and, where there are any, covariates. */
export type Predictor = (targets: Numbers, covariates: Numbers) => number;

export interface ParityOptions extends RunOptions {
  readonly seed?: number | undefined;
  /** Simulated data sets. */
  readonly outer?: number | undefined;
  /** Inner samples for p(D | theta) in F_c. */
  readonly inner?: number | undefined;
  /** Draws of theta that stand for its posterior. */
  readonly particles?: number | undefined;
  /** What is predicted; whether the first target is above its prior median unless given. */
  readonly predictor?: Predictor | undefined;
  /**
   * One draw of the predictor's covariates, x ~ p(x | theta, phi), given targets and sensitive parameters. A draw that
   * reads no sensitive parameter is invariant (appendix A, conditions 1 and 2).
   */
  readonly covariates?: ((parameters: Numbers, stream: RandomStream) => Numbers) | undefined;
  /**
   * What counts as zero, in nats and in probability. By Pinsker's inequality a leakage of eps nats moves p(D | theta)
   * by a total variation of at most sqrt(eps / 2), on average.
   */
  readonly tolerance?: number | undefined;
}

/** An average over simulated data sets. */
export interface Measured {
  readonly mean: number;
  readonly standardError: number;
}

export type ParityReason = "leakage" | "prior" | "covariates";

export interface Parity {
  /**
   * "holds": the conditions do. "fails": one of them does not, and predictions differ by more than the error.
   * "undecided": F_c or the part of covariates cannot be told from 0, or predictions cannot be told apart although a
   * condition fails.
   */
  readonly verdict: "holds" | "fails" | "undecided";
  /** The verdict and why, for a person. */
  readonly sentence: string;
  /** Which conditions fail. */
  readonly reasons: readonly ParityReason[];
  /** F_c = -EIG_{phi|theta} in nats, between two bounds. */
  readonly fairness: { readonly lower: number; readonly upper: number; readonly standardError: number };
  /** The values of the sensitive parameters that are compared. */
  readonly values: readonly Numbers[];
  /** Total variation between p(theta | phi) before any data, the largest over pairs of values. */
  readonly prior: number;
  /** The same for p(theta | D, phi). */
  readonly posterior: Measured;
  /** Largest less smallest p(z = 1 | phi, D). */
  readonly prediction: Measured;
  /** Root mean square difference of p(z = 1 | theta, phi) at the same theta; 0 without covariates. */
  readonly covariates: Measured;
  /** How many independent draws of theta the weighted ones are worth, on average. */
  readonly effectiveSampleSize: number;
}

const number = (value: number): string => (Math.abs(value) < 5e-4 ? "0" : value.toFixed(3));

export const parityTexts = {
  whole: (name: string, given: number, least: number) =>
    `${name} was ${given}: give a whole number of at least ${least}`,
  tolerance: (given: number) => `tolerance was ${given}: give a finite number of at least 0`,
  order: (name: string, read: string) =>
    `the prior of "${name}" depends on "${read}": for parity, targets come first, sensitive parameters may depend on targets, and a nuisance on both`,
  probability: (given: number) =>
    `the predictor returned ${given}: it must return a probability, from 0 to 1`,
  predictor: "covariates were given without a predictor: give the predictor that reads them",
  values: (given: number) =>
    `the sensitive parameters have ${given} combinations of values to compare: at most ${MOST_VALUES} are possible`,
  reasons: {
    leakage: (fairness: number) =>
      `the data say something about phi given theta (F_c = ${number(fairness)} nats)`,
    prior: () => "the prior is not factorised: theta and phi depend on each other before any data",
    covariates: () => "the predictor reads covariates that depend on phi",
  },
  differ: (prediction: Measured) =>
    `predictions of z differ by ${number(prediction.mean)} ± ${number(prediction.standardError)} between values of phi`,
  holds: (differ: string) =>
    `demographic parity holds, since F_c = 0, the prior is factorised and the predictor does not depend on phi: ${differ}`,
  fails: (reasons: readonly string[], differ: string) =>
    `demographic parity fails, since ${reasons.join("; and ")}: ${differ}`,
  notSeen: (reasons: readonly string[], differ: string) =>
    `demographic parity is not guaranteed, since ${reasons.join("; and ")}, but no violation was measured: ${differ}`,
  untold: (lower: number, upper: number, error: number) =>
    `it cannot be told whether demographic parity holds, since F_c is between ${lower.toPrecision(2)} and ${upper.toPrecision(2)} ± ${error.toPrecision(1)} nats: use more outer and inner samples`,
  untoldCovariates: (possibly: number) =>
    `it cannot be told whether demographic parity holds, since covariates could make predictions of z differ by up to ${possibly.toPrecision(2)} between values of phi: use more particles, or draw covariates that do not read phi`,
  unexpected: (differ: string) =>
    `the conditions of demographic parity hold, but ${differ}: use more particles, or a smaller tolerance`,
};

/** Checks the conditions of the proposition of section 4 and measures how far it is from holding. */
export const checkParity = async (
  model: Model,
  policy: Policy,
  options: ParityOptions = {},
): Promise<Parity> => {
  const {
    seed = 0,
    outer = 200,
    inner = 2000,
    particles = 2000,
    predictor,
    covariates,
    tolerance = 1e-3,
  } = options;
  for (const [name, given, least] of [
    ["outer", outer, 2],
    ["inner", inner, 1],
    ["particles", particles, 2],
  ] as const) {
    if (!Number.isInteger(given) || given < least) {
      throw new InputError(name, parityTexts.whole(name, given, least));
    }
  }
  if (!(tolerance >= 0 && tolerance < Infinity)) {
    throw new InputError("tolerance", parityTexts.tolerance(tolerance));
  }
  if (covariates !== undefined && predictor === undefined) {
    throw new InputError("predictor", parityTexts.predictor);
  }
  checkOrder(model);
  const stream = randomStream(seed).split("parity");
  const workspace = new Workspace({ threads: 1 });
  const pace = pacer(options);
  try {
    const data = await simulate(model, policy, {
      outer,
      stream: stream.split("data"),
      workspace,
      signal: options.signal,
    });
    const fairness = isInvariant(model, policy.horizon, data, stream.split("invariance"))
      ? { lower: 0, upper: 0, standardError: 0 }
      : await fairnessOf(model, policy.horizon, data, inner, stream.split("fairness"), workspace, pace);
    const values = sensitiveValues(model, stream.split("values"));
    const pool = drawTargets(model, particles, stream.split("targets"));
    const table = predictions(
      pool,
      values,
      predictor ?? aboveMedian(model, stream.split("median")),
      covariates,
      stream.split("covariates"),
    );
    const logPriors = values.map((value) => pool.map((targets) => logSensitivePrior(model, targets, value)));
    const posteriors = await measure(model, policy.horizon, data, {
      pool,
      values,
      logPriors,
      table,
      stream: stream.split("nuisance"),
      workspace,
      pace,
    });
    const difference = covariateDifference(table);
    const found = {
      fairness,
      values,
      prior: largestDistance(logPriors.map(normalised)),
      ...posteriors,
      covariates: difference.covariates,
    };
    return { ...judge(found, difference, tolerance), ...found };
  } finally {
    workspace.dispose();
  }
};

/** How many standard errors away from a limit counts as beyond it. */
const CONFIDENCE = 3;

const judge = (
  { fairness, prior, prediction }: Pick<Parity, "fairness" | "prior" | "prediction">,
  { surely, possibly }: CovariateDifference,
  tolerance: number,
): Pick<Parity, "verdict" | "sentence" | "reasons"> => {
  const { lower, upper, standardError } = fairness;
  const error = CONFIDENCE * standardError;
  const leaks = upper + error < -tolerance;
  const tight = lower - error >= -tolerance;
  const texts = parityTexts.reasons;
  const failed: [ParityReason, string][] = [];
  if (leaks) failed.push(["leakage", texts.leakage((lower + upper) / 2)]);
  if (prior > tolerance) failed.push(["prior", texts.prior()]);
  if (surely > tolerance) failed.push(["covariates", texts.covariates()]);
  const reasons = failed.map(([reason]) => reason);
  const why = failed.map(([, text]) => text);
  const differ = parityTexts.differ(prediction);
  const differs = prediction.mean - CONFIDENCE * prediction.standardError > tolerance;
  if (reasons.length > 0) {
    return differs
      ? { verdict: "fails", reasons, sentence: parityTexts.fails(why, differ) }
      : { verdict: "undecided", reasons, sentence: parityTexts.notSeen(why, differ) };
  }
  if (!tight) {
    return { verdict: "undecided", reasons, sentence: parityTexts.untold(lower, upper, standardError) };
  }
  if (possibly > tolerance) {
    return { verdict: "undecided", reasons, sentence: parityTexts.untoldCovariates(possibly) };
  }
  // A leakage below the tolerance can still move predictions by its root (Pinsker).
  return differs && prediction.mean > Math.sqrt(tolerance / 2)
    ? { verdict: "undecided", reasons, sentence: parityTexts.unexpected(differ) }
    : { verdict: "holds", reasons, sentence: parityTexts.holds(differ) };
};

/** F_c = -EIG_{phi|theta}: its lower bound is the upper bound of the leakage. */
const fairnessOf = async (
  model: Model,
  horizon: number,
  { parameters, designs, outcomes }: Simulation,
  inner: number,
  stream: RandomStream,
  workspace: Workspace,
  pace: Pacer,
): Promise<Parity["fairness"]> => {
  const [{ length: outer }] = Object.values(parameters);
  const nested = new Nested({
    model,
    workspace,
    outer,
    horizon,
    contrastive: inner,
    marginal: inner,
    designs: "perOuter",
    given: ["target", "both"],
    gradients: false,
  });
  try {
    nested.drawInner(stream, parameters);
    nested.setData(parameters, designs, outcomes);
    const estimate = await nested.evaluateInPieces(pace.pause);
    const bound = (side: "lower" | "upper") =>
      meanEstimate(nested.combine(estimate, INFORMATION.sensitiveGivenTarget, side));
    const [least, most] = [bound("lower"), bound("upper")];
    return {
      lower: -most.mean,
      upper: -least.mean,
      standardError: Math.max(least.standardError, most.standardError),
    };
  } finally {
    nested.dispose();
  }
};

const INVARIANCE_DRAWS = 64;
/** Rounding of a log-likelihood in float64, with room. */
const ROUNDING = 1e-9;

/**
 * Whether the likelihood of every data set is the same for all draws of phi, everything else held: then F_c = 0
 * exactly, without the error of a nested estimate, which a nuisance would leave.
 */
const isInvariant = (
  model: Model,
  horizon: number,
  { parameters, designs, outcomes }: Simulation,
  stream: RandomStream,
): boolean => {
  const [{ length: outer }] = Object.values(parameters);
  const names = ofRole(model, "sensitive").map(({ name }) => name);
  const values = drawParameters(model.parameters, stream.split("trial"));
  // A nuisance that depends on phi carries it into the data.
  if (
    ofRole(model, "nuisance").some(({ prior }) => readBy(prior, values).some((read) => names.includes(read)))
  ) {
    return false;
  }
  const observed = { ...designs, ...outcomes };
  const program: Program<Inputs> = compile(
    (at: Values) => add(at.each, sum("observation", model.logLikelihood(at, at, at))),
    {
      backend: "js",
      inputs: {
        each: ["outer", "inner"],
        ...Object.fromEntries(
          model.parameters.map(({ name }) => [name, names.includes(name) ? ["inner"] : ["outer"]]),
        ),
        ...Object.fromEntries(Object.keys(observed).map((name) => [name, ["outer", "observation"]])),
      },
    },
  );
  program.resize({ outer, inner: INVARIANCE_DRAWS, observation: horizon });
  const draws = drawOuter(model, INVARIANCE_DRAWS, stream.split("draws"));
  for (const [name, all] of Object.entries({ ...parameters, ...observed })) {
    program.input(name).set(names.includes(name) ? draws[name] : all);
  }
  program.run();
  const likelihoods = program.output();
  program.dispose();
  return likelihoods.every((value, i) => {
    const first = likelihoods[i - (i % INVARIANCE_DRAWS)];
    return Math.abs(value - first) <= ROUNDING * (1 + Math.abs(first));
  });
};

/* Parameters by role */

const ofRole = (model: Model, ...roles: readonly Role[]) =>
  model.parameters.filter(({ role }) => roles.includes(role));

/** Which parameters a prior reads, found by calling it. */
const readBy = (prior: Prior, values: Numbers): readonly string[] => {
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
const checkOrder = (model: Model): void => {
  const roles = new Map(model.parameters.map(({ name, role }) => [name, role]));
  const values = drawParameters(model.parameters, randomStream("parity order"));
  for (const { name, role, prior } of ofRole(model, "target", "sensitive")) {
    for (const read of readBy(prior, values)) {
      const allowed: readonly Role[] = role === "target" ? ["target"] : ["target", "sensitive"];
      if (!allowed.includes(roles.get(read) ?? "nuisance")) {
        throw new InputError("prior", parityTexts.order(name, read));
      }
    }
  }
};

const QUANTILES = [0.1, 0.9];
const QUANTILE_DRAWS = 4096;
const MOST_VALUES = 64;

/** Every combination of the values of discrete sensitive parameters and the 10 % and 90 % quantiles of others. */
const sensitiveValues = (model: Model, stream: RandomStream): readonly Numbers[] => {
  const draws = drawOuter(model, QUANTILE_DRAWS, stream);
  const first = Object.fromEntries(model.parameters.map(({ name }) => [name, draws[name][0]]));
  const all = ofRole(model, "sensitive").reduce<Record<string, number>[]>(
    (rows, { name, prior }) => {
      const values = distributionOf(prior, first).support ?? quantiles(draws[name], QUANTILES);
      return rows.flatMap((row) => values.map((value) => ({ ...row, [name]: value })));
    },
    [{}],
  );
  if (all.length > MOST_VALUES) throw new InputError("values", parityTexts.values(all.length));
  return all;
};

/**
 * Draws of the targets from their prior: every coordinate's noise in equal strata of probability, in random order, so
 * that sums over the draws of a single target are a quadrature.
 */
const drawTargets = (model: Model, count: number, stream: RandomStream): readonly Numbers[] => {
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
const logSensitivePrior = (model: Model, targets: Numbers, value: Numbers): number => {
  const before = { ...targets, ...value };
  return ofRole(model, "sensitive").reduce(
    (total, { name, prior }) => total + (distributionOf(prior, before).logDensity(value[name]) as number),
    0,
  );
};

/* Predictions */

/** 1 where the first target is above its prior median; above its mean where it is discrete. */
const aboveMedian = (model: Model, stream: RandomStream): Predictor => {
  const [{ name, prior }] = ofRole(model, "target");
  const draws = drawTargets(model, QUANTILE_DRAWS, stream).map((row) => row[name]);
  const discrete = distributionOf(prior, {}).fromNoise === undefined;
  const threshold = discrete
    ? draws.reduce((total, value) => total + value, 0) / draws.length
    : quantile(draws, 0.5);
  return (targets) => Number(targets[name] > threshold);
};

/** Covariates drawn for every theta and value of phi, in each of two halves. */
const COVARIATE_DRAWS = 16;

/**
 * p(z = 1 | theta_s, phi_v) = int p(z | x, theta) p(x | theta, phi) dx (appendix A), [half][value][particle]: two
 * independent estimates, the same where there are no covariates. All values of phi share their random numbers.
 */
const predictions = (
  pool: readonly Numbers[],
  values: readonly Numbers[],
  predictor: Predictor,
  covariates: ParityOptions["covariates"],
  stream: RandomStream,
): readonly (readonly Float64Array[])[] => {
  const probability = (targets: Numbers, x: Numbers): number => {
    const p = predictor(targets, x);
    if (!(p >= 0 && p <= 1)) throw new InputError("predictor", parityTexts.probability(p));
    return p;
  };
  if (covariates === undefined) {
    const invariant = Float64Array.from(pool, (targets) => probability(targets, {}));
    const half = values.map(() => invariant);
    return [half, half];
  }
  return [0, 1].map((half) =>
    values.map((value) =>
      Float64Array.from(pool, (targets, s) => {
        const own = stream.split(half).split(s);
        let total = 0;
        for (let r = 0; r < COVARIATE_DRAWS; r++) {
          total += probability(targets, covariates({ ...targets, ...value }, own));
        }
        return total / COVARIATE_DRAWS;
      }),
    ),
  );
};

/**
 * The root of E (p(z | theta, phi_1) - p(z | theta, phi_2))^2 over the prior of theta, the largest over pairs. The
 * product of the differences in two independent halves has that square as its expectation, without the noise of x.
 */
const covariateDifference = ([a, b]: readonly (readonly Float64Array[])[]): CovariateDifference => {
  let largest: CovariateDifference = { covariates: { mean: 0, standardError: 0 }, surely: 0, possibly: 0 };
  for (let v = 0; v < a.length; v++) {
    for (let w = 0; w < v; w++) {
      const products = a[v].map((value, s) => (value - a[w][s]) * (b[v][s] - b[w][s]));
      const { mean, standardError } = meanEstimate(products);
      const root = Math.sqrt(Math.max(0, mean));
      // Of a root: half its relative error; of one that is nearly 0, the root of the error.
      const error = Math.min(Math.sqrt(standardError), root > 0 ? standardError / (2 * root) : Infinity);
      const surely = Math.sqrt(Math.max(0, mean - CONFIDENCE * standardError));
      const possibly = Math.sqrt(Math.max(0, mean) + CONFIDENCE * standardError);
      if (root >= largest.covariates.mean) {
        largest = {
          covariates: { mean: root, standardError: error },
          surely,
          possibly,
        };
      }
    }
  }
  return largest;
};

interface CovariateDifference {
  readonly covariates: Measured;
  /** What the difference is at least and at most: the root of the mean square less and plus its error. */
  readonly surely: number;
  readonly possibly: number;
}

/* Posteriors */

/** Weights with sum 1, from their logarithms. */
const normalised = (logs: ArrayLike<number>): Float64Array => {
  let most = -Infinity;
  for (let s = 0; s < logs.length; s++) if (logs[s] > most) most = logs[s];
  const weights = Float64Array.from(logs, (value) => (most > -Infinity ? exp(value - most) : 1));
  const total = weights.reduce((sofar, weight) => sofar + weight, 0);
  return weights.map((weight) => weight / total);
};

/** The largest total variation between two of these, which are weights of the same draws. */
const largestDistance = (weights: readonly Float64Array[]): number => {
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
const measure = async (
  model: Model,
  horizon: number,
  { designs, outcomes }: Simulation,
  { pool, values, logPriors, table: [a, b], stream, workspace, pace }: MeasureOptions,
): Promise<Pick<Parity, "posterior" | "prediction" | "effectiveSampleSize">> => {
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
