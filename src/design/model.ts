/**
 * Bayesian models with roles: parameters with priors, some of them the target (theta), some sensitive (phi), some a
 * nuisance; design variables (xi); and how an outcome (y) arises. Written once, on traced values: samples, densities,
 * gradients and kernels follow from it.
 */
import { add, compile, type Value } from "../compute/index.js";
import { type RandomStream, seededStream } from "../core/random.js";
import { quantiles } from "../core/stats.js";
import {
  checkDefinition,
  checkNames,
  checkRoles,
  mistake,
  modelTexts,
  requireDrawable,
  requirePrior,
  triedOutcome,
  triedPrior,
} from "./definition-checks.js";
import { isDistribution } from "./describe-value.js";
import type { DesignVariable } from "./design-variable.js";
import { type Distribution, draw } from "./distribution.js";

export { modelTexts } from "./definition-checks.js";
export { type DesignVariable, oneOf, real } from "./design-variable.js";

export type Role = "target" | "sensitive" | "nuisance";
/** Traced values or numbers by name: parameters, designs or outcomes. */
export type Values = Readonly<Record<string, Value>>;

/** A prior, or a prior given the parameters named before it (phi | theta). */
export type Prior = Distribution | ((before: Values) => Distribution);

export interface Parameter {
  readonly role: Role;
  readonly prior: Prior;
}

const roleOf =
  (role: Role) =>
  (prior: Prior): Parameter => {
    requirePrior(role, prior);
    return { role, prior };
  };

/**
 * What the data should tell about (theta).
 *
 * @example
 * ```ts
 * import { normal, target } from "fairbed/design";
 *
 * console.log(target(normal(0, 1)).role); // target
 * ```
 */
export const target: (prior: Prior) => Parameter = roleOf("target");

/**
 * What the data should not give away (phi). Its prior may depend on the parameters named before it.
 *
 * @example
 * ```ts
 * import { normal, sensitive } from "fairbed/design";
 *
 * console.log(sensitive(({ theta }) => normal(theta, 1)).role); // sensitive
 * ```
 */
export const sensitive: (prior: Prior) => Parameter = roleOf("sensitive");

/**
 * What is unknown and of no interest.
 *
 * @example
 * ```ts
 * import { normal, nuisance } from "fairbed/design";
 *
 * console.log(nuisance(normal(0, 1)).role); // nuisance
 * ```
 */
export const nuisance: (prior: Prior) => Parameter = roleOf("nuisance");

export interface ModelDefinition<P extends string, D extends string> {
  /** What the model is called in files and messages; "unnamed" unless given. */
  readonly name?: string | undefined;
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

/** The name of the outcome of a model that has one. */
const SINGLE_OUTCOME = "outcome";

const named = <T>(record: Readonly<Record<string, T>>): readonly (T & { readonly name: string })[] =>
  Object.entries(record).map(([name, value]) => ({ ...value, name }));

/**
 * Checks a definition and makes a model of it: the outcome is tried out on draws from the prior, and its gradient
 * compared with differences. Whatever is wrong is one sentence, with the line where the platform tells it.
 *
 * @example
 * ```ts
 * import { add, defineModel, mul, normal, real, sensitive, target } from "fairbed/design";
 *
 * const model = defineModel({
 *   parameters: { theta: target(normal(0, 1)), phi: sensitive(normal(0, 1)) },
 *   design: { dose: real({ low: 0, high: 10 }) },
 *   outcome: ({ theta, phi }, { dose }) => normal(add(mul(theta, dose), phi), 0.5),
 * });
 * console.log(model.outcomes[0]); // outcome
 * ```
 */
export const defineModel = <P extends string, D extends string>(definition: ModelDefinition<P, D>): Model => {
  checkDefinition(definition);
  const { name = "unnamed", outcome } = definition;
  const parameters = named<Parameter>(definition.parameters);
  const design = named<DesignVariable>(definition.design);
  checkRoles(name, parameters, design.length);
  checkNames([...parameters, ...design].map((each) => each.name));
  const stream = seededStream("defineModel").split(name);
  const trial = triedOutcome(outcome, drawTrial(parameters, stream), middleOf(design), SINGLE_OUTCOME);
  const outcomes = Object.keys(trial);
  checkNames([...[...parameters, ...design].map((each) => each.name), ...outcomes]);
  const distributions = (given: Values, at: Values): Readonly<Record<string, Distribution>> => {
    const returned = outcome(given as Readonly<Record<P, Value>>, at as Readonly<Record<D, Value>>);
    return isDistribution(returned) ? { [SINGLE_OUTCOME]: returned } : returned;
  };
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
    const distribution = triedPrior(name, prior, drawn);
    if (distribution.logged === true) throw mistake(modelTexts.loggedPrior(name));
    if (distribution.problem !== undefined) throw mistake(distribution.problem);
    const value = draw(distribution, stream);
    if (!Number.isFinite(value)) throw mistake(modelTexts.priorDraw(name, value));
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
    drawn[name] = given[name] ?? drawFrom(name, prior, drawn, stream);
  }
  return drawn;
};

const drawFrom = (
  name: string,
  prior: Prior,
  before: Readonly<Record<string, number>>,
  stream: RandomStream,
): number => {
  if (typeof prior !== "function") return draw(prior, stream);
  const distribution = prior(before);
  requireDrawable(distribution, `the prior of "${name}"`, before, () => prior(before));
  return draw(distribution, stream);
};

/** Draws of all outcomes, one after the other. */
const drawOutcomes = (
  model: Model,
  parameters: Readonly<Record<string, number>>,
  design: Readonly<Record<string, number>>,
  stream: RandomStream,
): Record<string, number> => {
  const make = () => model.distributions(parameters, design);
  const by = make();
  const values = { ...parameters, ...design };
  return Object.fromEntries(
    model.outcomes.map((name) => {
      requireDrawable(by[name], `the outcome of the model "${model.name}"`, values, make);
      return [name, draw(by[name], stream)];
    }),
  );
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
    const observed = drawOutcomes(model, parameters, design, stream);
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
        throw mistake(modelTexts.gradient(name, analytic, numeric));
      }
    }
  }
  program.dispose();
};

/**
 * 5 %, 50 % and 95 % quantiles of every outcome at a design, over draws of the parameters and the outcome.
 *
 * @example
 * ```ts
 * import { linearGaussian, priorPredictive } from "fairbed/design";
 *
 * const { outcome } = priorPredictive(linearGaussian(), { x: 0, y: 0 });
 * console.log(outcome.length); // 3
 * ```
 */
export const priorPredictive = (
  model: Model,
  design: Readonly<Record<string, number>>,
  {
    draws = 1000,
    seed = 0,
  }: { readonly draws?: number | undefined; readonly seed?: number | undefined } = {},
): Readonly<Record<string, readonly number[]>> => {
  const stream = seededStream(seed).split("prior predictive");
  const seen: Record<string, number[]> = Object.fromEntries(model.outcomes.map((name) => [name, []]));
  for (let i = 0; i < draws; i++) {
    const observed = drawOutcomes(model, drawParameters(model.parameters, stream), design, stream);
    for (const name of model.outcomes) seen[name].push(observed[name]);
  }
  return Object.fromEntries(model.outcomes.map((name) => [name, quantiles(seen[name], [0.05, 0.5, 0.95])]));
};
