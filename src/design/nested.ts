/**
 * Nested estimates of log evidences and their gradients, for any model: log p(D | g) for every outer sample b, by
 * inner samples that the batch shares, compiled to fused kernels.
 */

import {
  type Adjoint,
  add,
  compile,
  compileLogMeanExp,
  div,
  type LogMeanExp,
  mul,
  type Pause,
  type Program,
  sum,
  type Value,
  type Workspace,
} from "../compute/index.js";
import { InputError } from "../core/errors.js";
import { exp, log } from "../core/math.js";
import { fillNormal, type RandomStream } from "../core/random.js";
import { quantile } from "../core/stats.js";
import { fillNoise } from "./distribution.js";
import type { Values } from "./model.js";
import { drawParameters, type Model } from "./model.js";
import { dependsOnFree, fromUniform, held, logPriorOfHeld, parametersFromNoise, trialOf } from "./priors.js";
import { type Bound, evidencesOf, GIVEN, type Given, includesOwn, type Quantity } from "./quantity.js";

type Inputs = Record<string, readonly string[]>;
/** Arrays by the name of a parameter, design variable or outcome. */
export type Arrays = Readonly<Record<string, ArrayLike<number>>>;

const BATCH = ["outer", "observation"] as const;

export const nestedTexts = {
  count: (name: string) =>
    `the prior of "${name}" is Poisson, which cannot be among priors that depend on each other: give it finitely many values, or make them independent`,
  notAsked: (given: Given) =>
    `the quantity needs p(D | ${given}), which is not among the evidences: name it in the option given`,
};

/** Refuses counts among priors that depend on each other, on which nothing can be integrated. */
export const requireNoDependentCount = (model: Model): void => {
  const count = model.parameters.find(({ name }) => trialOf(model, name).rate !== undefined);
  if (model.dependentPriors && count !== undefined) {
    throw new InputError("prior", nestedTexts.count(count.name));
  }
};

export interface NestedOptions {
  readonly model: Model;
  readonly workspace: Workspace;
  /** Outer samples and observations. */
  readonly outer: number;
  readonly horizon: number;
  /** Inner samples for log p(D) (contrastive), and for the evidences with something held (marginalisation). */
  readonly contrastive: number;
  readonly marginal: number;
  /** Designs [observation], the same for the whole batch, or [outer, observation]. */
  readonly designs: "shared" | "perOuter";
  /** Which evidences are wanted. */
  readonly given: readonly Given[];
  /** Whether gradients in designs and outcomes are wanted. */
  readonly gradients: boolean;
}

/**
 * One evidence. Where the prior of a held part g depends on parameters that are integrated over,
 * p(D | g) = E[p(g | rest) p(D | g, rest)] / E[p(g | rest)], the rest drawn in the order of definition: `program`
 * estimates the numerator and `normaliser` the denominator.
 */
interface Evidence {
  readonly given: Given;
  readonly program: LogMeanExp<Inputs>;
  readonly normaliser: LogMeanExp<Inputs> | undefined;
  readonly inner: number;
  /** The log-likelihood of one observation that `program` was compiled from. */
  readonly traced: (at: Values) => Value;
  readonly inputs: Inputs;
}

/**
 * What inner samples are: values where priors are independent; else noise, from which values follow by the priors in
 * the order of definition. Either is shared by the batch.
 */
type InnerSamples = "values" | "noise";

/** One of something for each evidence that is needed. */
export type ByGiven<T> = Partial<Record<Given, T>>;

export interface PriorWeight {
  readonly own: Float64Array;
  readonly fresh: Float64Array;
}

export interface NestedEstimate {
  /** log p(D | all parameters) of the generating sample, [outer]. */
  readonly own: Float64Array;
  /** log mean over fresh inner samples, [outer], for every evidence that was asked for. */
  readonly fresh: Readonly<Partial<Record<Given, Float64Array>>>;
  /** log p(held parts | rest) of the generating sample and its log mean over fresh ones, where they are dependent. */
  readonly prior: Readonly<ByGiven<PriorWeight>>;
}

/** Log evidences of a batch of simulated experiments. */
export class Nested {
  readonly #options: NestedOptions;
  readonly #evidences: readonly Evidence[];
  readonly #own: Program<Inputs>;
  readonly #ownGradient: Program<Inputs> | undefined;
  readonly #names: { readonly design: readonly string[]; readonly parameters: readonly string[] };
  readonly #samples: InnerSamples;
  /** log p(held parts | rest) of the generating samples. */
  readonly #ownPrior: Partial<Record<Given, Float64Array>> = {};
  #estimate: NestedEstimate = { own: new Float64Array(0), fresh: {}, prior: {} };
  /** The bound of every outer sample, after `bound`: [outer]. */
  perOuter: Float64Array = new Float64Array(0);

  constructor(options: NestedOptions) {
    const { model, workspace, outer, horizon, given, gradients, designs } = options;
    this.#options = options;
    this.#names = {
      design: model.design.map(({ name }) => name),
      parameters: model.parameters.map(({ name }) => name),
    };
    const designAxes = designs === "shared" ? (["observation"] as const) : BATCH;
    const common: Inputs = {
      ...Object.fromEntries(this.#names.design.map((name) => [name, designAxes])),
      ...Object.fromEntries(model.outcomes.map((name) => [name, BATCH])),
    };
    const wanted = gradients ? [...this.#names.design, ...model.outcomes] : [];
    const logLikelihood = (at: Values) => model.logLikelihood(at, at, at);

    const outerParameters = Object.fromEntries(this.#names.parameters.map((name) => [name, ["outer"]]));
    this.#own = compile((at: Values) => sum("observation", logLikelihood(at)), {
      workspace,
      checked: true,
      inputs: { ...outerParameters, ...common },
    });
    this.#own.resize({ outer, observation: horizon });
    if (gradients) {
      const inputs: Inputs = { ...outerParameters, ...common, adjoint: ["outer"] };
      this.#ownGradient = compile((at: Values) => mul(at.adjoint, logLikelihood(at)), {
        workspace,
        checked: true,
        inputs,
        gradients: wanted,
      });
      this.#ownGradient.resize({ outer, observation: horizon });
    }
    this.#samples = model.dependentPriors ? "noise" : "values";
    requireNoDependentCount(model);
    this.#evidences = GIVEN.filter((each) => given.includes(each) && this.#integrates(each)).map((each) => {
      const inner = each === "none" ? options.contrastive : options.marginal;
      const roles = held(each);
      const weighted = dependsOnFree(model, roles);
      const parametersOf = (at: Values): Values =>
        this.#samples === "noise" ? parametersFromNoise(model, roles, at, fromUniform) : at;
      const traced = (at: Values): Value => {
        const parameters = parametersOf(at);
        const one = model.logLikelihood(parameters, at, at);
        // The kernel adds up observations: each carries its share of the weight.
        return weighted ? add(one, div(logPriorOfHeld(model, roles, parameters), horizon)) : one;
      };
      const axes = this.#innerAxes(each);
      const inputs = { ...axes, ...common };
      const program = compileLogMeanExp(traced, {
        workspace,
        checked: true,
        inputs,
        gradients: wanted,
      }) as LogMeanExp<Inputs>;
      program.resize({ outer, inner, observation: horizon });
      let normaliser: LogMeanExp<Inputs> | undefined;
      if (weighted) {
        normaliser = compileLogMeanExp((at: Values) => logPriorOfHeld(model, roles, parametersOf(at)), {
          workspace,
          checked: true,
          inputs: axes,
        }) as LogMeanExp<Inputs>;
        normaliser.resize({ outer, inner, observation: 1 });
      }
      return { given: each, program, normaliser, inner, traced, inputs };
    });
  }

  /** Whether parameters are left to integrate over; without a nuisance nothing is when both parts are held. */
  #integrates(given: Given): boolean {
    const roles = held(given);
    return this.#options.model.parameters.some(({ role }) => !roles.includes(role));
  }

  /** The axes of the parameters: held ones vary with the outer sample, others with the inner one. */
  #innerAxes(given: Given): Inputs {
    const roles = held(given);
    return Object.fromEntries(
      this.#options.model.parameters.map(({ name, role }) => [
        name,
        [roles.includes(role) ? "outer" : "inner"],
      ]),
    );
  }

  /** Draws the inner samples, fresh for every evidence. */
  drawInner(stream: RandomStream, generating: Arrays): void {
    const { model } = this.#options;
    for (const { given, program, normaliser } of this.#evidences) {
      const own = stream.split(given);
      const roles = held(given);
      const free = model.parameters.filter(({ role }) => !roles.includes(role));
      for (const { name, role } of model.parameters) {
        if (roles.includes(role)) program.input(name).set(generating[name]);
      }
      for (const parameter of free) {
        const fill = this.#samples === "values" ? fillPrior : fillFor(model);
        fill(parameter, own.split(parameter.name), program.input(parameter.name));
      }
      if (normaliser !== undefined) {
        for (const name of this.#names.parameters) normaliser.input(name).set(program.input(name));
      }
    }
  }

  /** Sets the inner samples to given ones: for every evidence, the parameters that are not held, by name. */
  setInner(samples: Readonly<Partial<Record<Given, Arrays>>>, generating: Arrays): void {
    for (const { given, program } of this.#evidences) {
      const roles = held(given);
      for (const { name, role } of this.#options.model.parameters) {
        const values = roles.includes(role) ? generating[name] : samples[given]?.[name];
        if (values !== undefined) program.input(name).set(values);
      }
    }
  }

  /** Sets the data: generating parameters [outer], designs, outcomes [outer, observation]. */
  setData(generating: Arrays, designs: Arrays, outcomes: Arrays): void {
    const programs = [...this.#evidences.map(({ program }) => program), this.#own];
    if (this.#ownGradient !== undefined) programs.push(this.#ownGradient);
    for (const program of programs) {
      for (const name of this.#names.design) program.input(name).set(designs[name]);
      for (const name of this.#options.model.outcomes) program.input(name).set(outcomes[name]);
    }
    for (const program of programs.slice(this.#evidences.length)) {
      for (const name of this.#names.parameters) program.input(name).set(generating[name]);
    }
    for (const { given, normaliser } of this.#evidences) {
      if (normaliser === undefined) continue;
      const { model, outer } = this.#options;
      this.#ownPrior[given] = Float64Array.from({ length: outer }, (_, b) => {
        const at = Object.fromEntries(this.#names.parameters.map((name) => [name, generating[name][b]]));
        return logPriorOfHeld(model, held(given), at) as number;
      });
    }
  }

  /** The log evidences, without gradients. */
  evaluate(): NestedEstimate {
    this.#run(() => undefined);
    return this.#estimate;
  }

  /** `evaluate`, the same to the bit, with `pause` awaited between pieces of some milliseconds. */
  async evaluateInPieces(pause: Pause): Promise<NestedEstimate> {
    const { fresh, prior } = this.#begin();
    for (const evidence of this.#evidences) {
      const { given, program, normaliser } = evidence;
      await normaliser?.runInPieces(pause);
      this.#takePrior(evidence, prior);
      await program.runInPieces(pause);
      fresh[given] = program.value.slice();
    }
    return this.#estimate;
  }

  /**
   * The mean over the batch of a bound of the quantity; afterwards `addGradient` has its derivatives in designs and
   * outcomes, each held fixed while the other varies. Where outcomes do not follow from noise by a formula, the
   * derivative in the designs has the score-function term too, (A_b - mean of the others) d log p(D_b | own) / d design
   * with A_b the bound of outer sample b: leaving b out of the baseline keeps it unbiased.
   */
  bound(quantity: Quantity, bound: Bound): number {
    const { outer } = this.#options;
    const ownAdjoint = new Float64Array(outer);
    this.#run(({ given, inner }) => (values) => {
      const coefficient = quantity[given] ?? 0;
      const include = includesOwn(coefficient, bound);
      const { own, prior } = this.#estimate;
      return values.map((value, b) => {
        const share = include ? shareOfFresh(value, inner, own[b] + (prior[given]?.own[b] ?? 0)) : 1;
        ownAdjoint[b] += (coefficient * (1 - share)) / outer;
        return (coefficient * share) / outer;
      });
    });
    if (!this.#integrates("both")) {
      for (let b = 0; b < outer; b++) ownAdjoint[b] += (quantity.both ?? 0) / outer;
    }
    const values = this.combine(this.#estimate, quantity, bound);
    this.perOuter = values;
    const total = values.reduce((sofar, value) => sofar + value, 0);
    if (!this.#options.model.reparameterised && outer > 1) {
      for (let b = 0; b < outer; b++)
        ownAdjoint[b] += (values[b] - (total - values[b]) / (outer - 1)) / outer;
    }
    if (this.#ownGradient !== undefined) {
      this.#ownGradient.input("adjoint").set(ownAdjoint);
      this.#ownGradient.run();
    }
    return total / outer;
  }

  /** The bound for every outer sample. */
  combine(estimate: NestedEstimate, quantity: Quantity, bound: Bound): Float64Array {
    const missing = evidencesOf(quantity).find(
      (given) => estimate.fresh[given] === undefined && this.#integrates(given),
    );
    if (missing !== undefined) throw new InputError("evidence", nestedTexts.notAsked(missing));
    return boundOf(estimate, quantity, bound, this.#options);
  }

  /**
   * (sum w)^2 / sum w^2 of the fresh inner samples of every evidence, w their likelihoods: the median over the
   * outer samples. With f the log-likelihood, log mean w and log mean w^2 are the log mean of e^f and e^2f.
   */
  async effectiveSamples(pause: Pause): Promise<Partial<Record<Given, number>>> {
    const { workspace } = this.#options;
    const effective: Partial<Record<Given, number>> = {};
    for (const { given, program, inner, traced, inputs } of this.#evidences) {
      const squared = compileLogMeanExp((at: Values) => mul(2, traced(at)), {
        workspace,
        checked: true,
        inputs,
      }) as LogMeanExp<Inputs>;
      squared.resize(program.sizes);
      for (const name of Object.keys(inputs)) squared.input(name).set(program.input(name));
      await program.runInPieces(pause);
      await squared.runInPieces(pause);
      const each = program.value.map((value, b) => inner * exp(2 * value - squared.value[b]));
      effective[given] = quantile(each, 0.5);
      squared.dispose();
    }
    return effective;
  }

  #run(adjoint: (evidence: Evidence) => Adjoint | undefined): void {
    const { fresh, prior } = this.#begin();
    for (const evidence of this.#evidences) {
      evidence.normaliser?.run();
      this.#takePrior(evidence, prior);
      evidence.program.run(adjoint(evidence));
      fresh[evidence.given] = evidence.program.value.slice();
    }
  }

  /** An estimate that has the generating samples' likelihoods, and room for the rest. */
  #begin(): { readonly fresh: ByGiven<Float64Array>; readonly prior: ByGiven<PriorWeight> } {
    this.#own.run();
    const own = new Float64Array(this.#own.output());
    const fresh: ByGiven<Float64Array> = {};
    const prior: ByGiven<PriorWeight> = {};
    this.#estimate = { own, fresh, prior };
    return { fresh, prior };
  }

  #takePrior({ given, normaliser }: Evidence, prior: ByGiven<PriorWeight>): void {
    const own = this.#ownPrior[given];
    if (normaliser !== undefined && own !== undefined)
      prior[given] = { own, fresh: normaliser.value.slice() };
  }

  /** d(mean bound)/d(design variable or outcome), after `bound`: added to `into`. */
  addGradient(name: string, into: Float64Array): void {
    const parts = [...this.#evidences.map(({ program }) => program), this.#ownGradient];
    for (const program of parts) {
      const part = program?.gradient(name);
      if (part !== undefined) for (let i = 0; i < into.length; i++) into[i] += part[i];
    }
  }

  dispose(): void {
    for (const { program, normaliser } of this.#evidences) {
      program.dispose();
      normaliser?.dispose();
    }
    this.#own.dispose();
    this.#ownGradient?.dispose();
  }
}

/** A bound for every outer sample; an evidence with nothing to integrate over is that of the generating sample. */
export const boundOf = (
  { own, fresh, prior }: NestedEstimate,
  quantity: Quantity,
  bound: Bound,
  { contrastive, marginal }: Pick<NestedOptions, "contrastive" | "marginal">,
): Float64Array =>
  own.map((ownLog, b) => {
    let total = 0;
    for (const [given, coefficient] of Object.entries(quantity) as [Given, number][]) {
      if (coefficient === 0) continue;
      const inner = given === "none" ? contrastive : marginal;
      const include = includesOwn(coefficient, bound);
      const value = fresh[given]?.[b];
      if (value === undefined) {
        total += coefficient * ownLog;
        continue;
      }
      const weight = prior[given];
      const ownWeight = weight?.own[b] ?? 0;
      total += coefficient * (include ? logMeanWithOwn(value, inner, ownLog + ownWeight) : value);
      if (weight === undefined) continue;
      // The denominator counts against the evidence: it takes the other side.
      const normaliser = weight.fresh[b];
      total -= coefficient * (include ? normaliser : logMeanWithOwn(normaliser, inner, ownWeight));
    }
    return total;
  });

/** log((n e^value + e^own) / (n + 1)): the mean with the generating sample among the fresh ones. */
export const logMeanWithOwn = (value: number, n: number, own: number): number => {
  const others = value + log(n);
  const most = Math.max(others, own);
  return most + log(exp(others - most) + exp(own - most)) - log(n + 1);
};

/** n e^value / (n e^value + e^own). */
const shareOfFresh = (value: number, n: number, own: number): number => 1 / (1 + exp(own - value - log(n)));

/** Fills with the noise that `parametersFromNoise` takes. */
const fillFor =
  (model: Model) =>
  ({ name }: Model["parameters"][number], stream: RandomStream, out: Float32Array | Float64Array): void => {
    const { noise, support } = trialOf(model, name);
    fillNoise(support === undefined ? (noise ?? { kind: "normal" }) : undefined, stream, out);
  };

/** Independent draws from a prior that depends on no other parameter. */
export const fillPrior = (
  { prior, name }: Model["parameters"][number],
  stream: RandomStream,
  out: Float32Array | Float64Array,
): void => {
  if (typeof prior !== "function" && prior.name === "normal" && prior.fromNoise !== undefined) {
    const mean = prior.fromNoise(0) as number;
    const sd = (prior.fromNoise(1) as number) - mean;
    fillNormal(stream, out);
    for (let i = 0; i < out.length; i++) out[i] = mean + sd * out[i];
    return;
  }
  for (let i = 0; i < out.length; i++) {
    out[i] = drawParameters([{ name, prior, role: "nuisance" }], stream)[name];
  }
};
