/**
 * Bayesian models with roles: parameters with priors, some of them the target (theta), some sensitive (phi), some a
 * nuisance; design variables (xi); and how an outcome (y) arises. Written once, on traced values: samples, densities,
 * gradients and kernels follow from it.
 */
import { add, compile, type Value } from "../compute/index.js";
import { InputError } from "../core/errors.js";
import { type RandomStream, randomStream } from "../core/random.js";
import { quantiles } from "../core/stats.js";
import { type Distribution, draw, requireDistribution } from "./distribution.js";

export type Role = "target" | "sensitive" | "nuisance";
type Values = Readonly<Record<string, Value>>;

/** A prior, or a prior given the parameters named before it (phi | theta). */
export type Prior = Distribution | ((before: Values) => Distribution);

export interface Parameter {
  readonly role: Role;
  readonly prior: Prior;
}

/** What the data should tell about. */
export const target = (prior: Prior): Parameter => ({ role: "target", prior });
/** What the data should not give away. */
export const sensitive = (prior: Prior): Parameter => ({ role: "sensitive", prior });
/** What is unknown and of no interest. */
export const nuisance = (prior: Prior): Parameter => ({ role: "nuisance", prior });

/** A design variable: a real number, between bounds where they are given, or one of finitely many values. */
export interface DesignVariable {
  readonly low: number;
  readonly high: number;
  readonly values?: readonly number[] | undefined;
}

export const real = ({ low = -Infinity, high = Infinity } = {}): DesignVariable => ({ low, high });
export const oneOf = (values: readonly number[]): DesignVariable => ({
  low: Math.min(...values),
  high: Math.max(...values),
  values,
});

export interface ModelDefinition<P extends string, D extends string> {
  readonly name: string;
  readonly parameters: Readonly<Record<P, Parameter>>;
  readonly design: Readonly<Record<D, DesignVariable>>;
  /** The distribution of the outcome, or of several outcomes by name. */
  readonly outcome: (
    parameters: Readonly<Record<P, Value>>,
    design: Readonly<Record<D, Value>>,
  ) => Distribution | Readonly<Record<string, Distribution>>;
}

export interface Model {
  readonly name: string;
  /** In the order of their definition: a prior may depend on the parameters before. */
  readonly parameters: readonly (Parameter & { readonly name: string })[];
  readonly design: readonly (DesignVariable & { readonly name: string })[];
  readonly outcomes: readonly string[];
  /** The distribution of every outcome. */
  distributions(parameters: Values, design: Values): Readonly<Record<string, Distribution>>;
  /** log p(outcomes | parameters, design). */
  logLikelihood(parameters: Values, design: Values, outcomes: Values): Value;
  /** Whether every outcome follows from noise by a formula, so that gradients go through it. */
  readonly reparameterised: boolean;
  /** Whether a prior depends on other parameters. */
  readonly dependentPriors: boolean;
}

export const modelTexts = {
  noTarget: (name: string) =>
    `the model "${name}" has no target: give at least one parameter the role target(...)`,
  noSensitive: (name: string) =>
    `the model "${name}" has no sensitive parameter: give at least one the role sensitive(...)`,
  noDesign: (name: string) => `the model "${name}" has no design variable: name at least one in design`,
  sameName: (name: string) =>
    `"${name}" names two things in the model: give every parameter, design variable and outcome its own name`,
  bounds: (name: string) => `the design variable "${name}" has no value between its bounds: give low < high`,
  noDistribution: (name: string) =>
    `the outcome "${name}" is not a distribution: return normal(...), bernoulli(...) or another one`,
  loggedPrior: (name: string) =>
    `the prior of "${name}" is log-normal, whose values are recorded by their logarithm: give it normal(...) and take exp(...) of it in the outcome`,
  priorDraw: (name: string, drawn: number) =>
    `the prior of "${name}" drew ${drawn}: a prior may use only the parameters named before it, and must have finite numbers`,
  gradient: (name: string, analytic: number, numeric: number) =>
    `the gradient in "${name}" is ${analytic} where differences say ${numeric}: the outcome must be smooth in its design`,
};

const isDistribution = (value: unknown): value is Distribution =>
  typeof value === "object" && value !== null && typeof (value as Distribution).logDensity === "function";

/** The name of the outcome of a model that has one. */
const SINGLE_OUTCOME = "outcome";

/** Checks a definition and makes a model of it: shapes and the outcome are tried out on draws from the prior. */
export const defineModel = <P extends string, D extends string>(definition: ModelDefinition<P, D>): Model => {
  const { name } = definition;
  const parameters = Object.entries<Parameter>(definition.parameters).map(([key, parameter]) => ({
    ...parameter,
    name: key,
  }));
  const design = Object.entries<DesignVariable>(definition.design).map(([key, variable]) => ({
    ...variable,
    name: key,
  }));
  if (!parameters.some(({ role }) => role === "target"))
    throw new InputError("model", modelTexts.noTarget(name));
  if (!parameters.some(({ role }) => role === "sensitive")) {
    throw new InputError("model", modelTexts.noSensitive(name));
  }
  if (design.length === 0) throw new InputError("model", modelTexts.noDesign(name));
  for (const variable of design) {
    if (!(variable.low < variable.high)) throw new InputError("model", modelTexts.bounds(variable.name));
  }
  const distributions = (given: Values, at: Values): Readonly<Record<string, Distribution>> => {
    const returned = definition.outcome(
      given as Readonly<Record<P, Value>>,
      at as Readonly<Record<D, Value>>,
    );
    const byName = isDistribution(returned) ? { [SINGLE_OUTCOME]: returned } : returned;
    for (const [key, value] of Object.entries(byName ?? {})) {
      if (!isDistribution(value)) throw new InputError("model", modelTexts.noDistribution(key));
    }
    return byName;
  };
  const stream = randomStream("defineModel").split(name);
  const drawn = drawTrial(parameters, stream);
  const trial = distributions(drawn, middleOf(design));
  for (const distribution of Object.values(trial)) requireDistribution(distribution);
  const outcomes = Object.keys(trial);
  if (outcomes.length === 0) throw new InputError("model", modelTexts.noDistribution(SINGLE_OUTCOME));
  const names = [...parameters.map((each) => each.name), ...design.map((each) => each.name), ...outcomes];
  const twice = names.find((each, i) => names.indexOf(each) !== i);
  if (twice !== undefined) throw new InputError("model", modelTexts.sameName(twice));
  const model: Model = {
    name,
    parameters,
    design,
    outcomes,
    distributions,
    logLikelihood(given, at, observed) {
      const by = distributions(given, at);
      const [first, ...rest] = outcomes.map((key) => by[key].logDensity(observed[key]));
      return rest.reduce((sum, term) => add(sum, term), first);
    },
    reparameterised: Object.values(trial).every(({ fromNoise }) => fromNoise !== undefined),
    dependentPriors: parameters.some(({ prior }) => typeof prior === "function"),
  };
  checkGradient(model, stream);
  return model;
};

/** A draw of all parameters, with every prior checked. */
const drawTrial = (parameters: Model["parameters"], stream: RandomStream): Record<string, number> => {
  const drawn: Record<string, number> = {};
  for (const { name, prior } of parameters) {
    // What was not drawn yet is not a number: arithmetic with it must not fail before the check below names it.
    const before = new Proxy(drawn, { get: (values, key) => values[String(key)] ?? Number.NaN });
    const distribution = typeof prior === "function" ? prior(before) : prior;
    if (distribution.logged === true) throw new InputError("model", modelTexts.loggedPrior(name));
    const value = draw(distribution, stream);
    if (!Number.isFinite(value)) throw new InputError("model", modelTexts.priorDraw(name, value));
    drawn[name] = value;
  }
  return drawn;
};

/** A draw of all parameters, as numbers by name. */
export const drawParameters = (
  parameters: Model["parameters"],
  stream: RandomStream,
  given: Readonly<Record<string, number>> = {},
): Record<string, number> => {
  const drawn: Record<string, number> = {};
  for (const { name, prior } of parameters) {
    drawn[name] = given[name] ?? draw(typeof prior === "function" ? prior(drawn) : prior, stream);
  }
  return drawn;
};

/** A design that is surely allowed: a value, the middle of the bounds, or 1 where there are none. */
const middleOf = (design: Model["design"]): Record<string, number> =>
  Object.fromEntries(
    design.map(({ name, low, high, values }) => {
      if (values !== undefined) return [name, values[0]];
      const middle = (low + high) / 2;
      return [
        name,
        Number.isFinite(middle)
          ? middle
          : Number.isFinite(low)
            ? low + 1
            : Number.isFinite(high)
              ? high - 1
              : 1,
      ];
    }),
  );

const CHECKS = 4;

/** The compiled gradient of the log-likelihood in the design against differences, on a few draws. */
const checkGradient = (model: Model, stream: RandomStream): void => {
  const continuous = model.design.filter(({ values }) => values === undefined).map(({ name }) => name);
  const inputs = Object.fromEntries(
    [...model.parameters, ...model.design, ...model.outcomes.map((name) => ({ name }))].map(({ name }) => [
      name,
      [],
    ]),
  );
  const program = compile((at: Values) => model.logLikelihood(at, at, at), {
    inputs,
    gradients: continuous,
    backend: "js",
  });
  program.resize({});
  for (let round = 0; round < CHECKS; round++) {
    const parameters = drawParameters(model.parameters, stream);
    const design = middleOf(model.design);
    const by = model.distributions(parameters, design);
    const observed = Object.fromEntries(model.outcomes.map((name) => [name, draw(by[name], stream)]));
    const point: Record<string, number> = { ...parameters, ...design, ...observed };
    for (const [name, value] of Object.entries(point)) program.input(name)[0] = value;
    program.run();
    for (const name of continuous) {
      const analytic = program.gradient(name)[0];
      const h = 1e-5 * Math.max(1, Math.abs(point[name]));
      const at = (value: number) => {
        const moved = { ...point, [name]: value };
        return model.logLikelihood(moved, moved, moved) as number;
      };
      const numeric = (at(point[name] + h) - at(point[name] - h)) / (2 * h);
      if (!(Math.abs(analytic - numeric) <= 1e-3 * (1 + Math.abs(numeric)))) {
        throw new InputError("model", modelTexts.gradient(name, analytic, numeric));
      }
    }
  }
  program.dispose();
};

/** 5 %, 50 % and 95 % quantiles of every outcome at a design, over draws of the parameters and the outcome. */
export const priorPredictive = (
  model: Model,
  design: Readonly<Record<string, number>>,
  {
    draws = 1000,
    seed = 0,
  }: { readonly draws?: number | undefined; readonly seed?: number | undefined } = {},
): Readonly<Record<string, readonly number[]>> => {
  const stream = randomStream(seed).split("prior predictive");
  const seen: Record<string, number[]> = Object.fromEntries(model.outcomes.map((name) => [name, []]));
  for (let i = 0; i < draws; i++) {
    const by = model.distributions(drawParameters(model.parameters, stream), design);
    for (const name of model.outcomes) seen[name].push(draw(by[name], stream));
  }
  return Object.fromEntries(model.outcomes.map((name) => [name, quantiles(seen[name], [0.05, 0.5, 0.95])]));
};
