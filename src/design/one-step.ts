/**
 * The information in one further observation, under the particles of a posterior.
 *
 * Given theta, the next outcome has density p(y | theta, h) = E over p(phi | theta, h) of p(y | theta, phi), and joint
 * draws (theta_i, phi_i) hold no second phi for the same theta. So every theta_i is paired with every phi_m, weighted
 * by an estimate of p(theta_i, phi_m | h) / (p(theta_i | h) p(phi_m | h)): the likelihood of the history at the pair,
 * scaled by rows and columns until both have mean 1 (Sinkhorn), as that ratio has under independent draws of the two.
 */

import {
  add,
  compile,
  compileLogMeanExp,
  type LogMeanExp,
  type Pause,
  type Program,
  sum,
  type Value,
  Workspace,
} from "../compute/index.js";
import { exp, log } from "../core/math.js";
import type { RandomStream } from "../core/random.js";
import type { Model, Values } from "./model.js";
import { logMeanWithOwn } from "./nested.js";
import { Outcomes } from "./outcomes.js";
import type { History } from "./policy.js";
import { held } from "./priors.js";
import { GIVEN, type Given, includesOwn, type Quantity } from "./quantity.js";

type Inputs = Record<string, readonly string[]>;
type Particles = Readonly<Record<string, Float64Array>>;

export interface OneStepOptions {
  readonly model: Model;
  readonly particles: number;
  /** Which evidences are wanted. */
  readonly given: readonly Given[];
}

/** An evidence log p(y | g, h): inner draws of what g does not hold, weighted for every outer draw of what it does. */
interface Evidence {
  readonly given: Given;
  readonly program: LogMeanExp<Inputs>;
  /** log p(h | outer, inner) for every pair; nothing where g holds nothing. */
  readonly history: Program<Inputs> | undefined;
  /** The log density of the priors that depend on other parameters, for every pair; nothing where none does. */
  readonly links: Program<Inputs> | undefined;
  /** How many inner draws of equal weight each outer draw's weighted ones are worth: [outer]. */
  readonly effective: Float64Array;
}

/** Outcomes with at most this many joint values are summed over instead of drawn. */
const MOST_ENUMERATED = 16;
const SINKHORN_SWEEPS = 30;

/** The information in one further observation, for any design, under equally weighted particles. */
export class OneStep {
  readonly #model: Model;
  readonly #evidences: readonly Evidence[];
  readonly #own: Program<Inputs>;
  readonly #outcomes: Outcomes | undefined;
  /** All joint values of discrete outcomes, or one entry that stands for the drawn one. */
  readonly #values: readonly Readonly<Record<string, number>>[];
  readonly #outer: number;
  readonly #inner: number;
  #generating: Particles = {};
  #noise: Readonly<Record<string, Float64Array>> = {};

  constructor({ model, particles, given }: OneStepOptions) {
    this.#model = model;
    this.#outer = Math.floor(particles / 4);
    this.#inner = particles - this.#outer;
    const workspace = new Workspace({ threads: 1, relaxed: false });
    const enumerated = jointValues(model);
    this.#values = enumerated ?? [{}];
    const outer = this.#outer * this.#values.length;
    if (enumerated === undefined) {
      this.#outcomes = new Outcomes({ model, workspace, outer, horizon: 1, designs: "shared" });
    }
    const designNames = model.design.map(({ name }) => name);
    const common: Inputs = {
      ...Object.fromEntries(designNames.map((name) => [name, ["observation"]])),
      ...Object.fromEntries(model.outcomes.map((name) => [name, ["outer", "observation"]])),
    };
    const logLikelihood = (at: Values) => model.logLikelihood(at, at, at);
    this.#own = compile((at: Values) => add(at.each, sum("observation", logLikelihood(at))), {
      workspace,
      inputs: {
        each: ["outer"],
        ...Object.fromEntries(model.parameters.map(({ name }) => [name, ["outer"]])),
        ...common,
      },
    });
    this.#own.resize({ outer, observation: 1 });
    this.#evidences = GIVEN.filter((each) => given.includes(each) && restOf(model, each).length > 0).map(
      (each) => {
        const rest = restOf(model, each);
        const axes: Inputs = {
          // Named first, so that arrays are [outer, inner]; and every pair has a value even where none depends on it.
          logWeight: ["outer", "inner"],
          ...Object.fromEntries(
            model.parameters.map(({ name }) => [name, rest.includes(name) ? ["inner"] : ["outer"]]),
          ),
        };
        const program = compileLogMeanExp((at: Values) => add(logLikelihood(at), at.logWeight), {
          workspace,
          inputs: { ...axes, ...common },
        }) as LogMeanExp<Inputs>;
        program.resize({ outer, inner: this.#inner, observation: 1 });
        const effective = new Float64Array(outer).fill(this.#inner);
        if (each === "none") return { given: each, program, history: undefined, links: undefined, effective };
        const observed = [...designNames, ...model.outcomes];
        const history = compile((at: Values) => add(at.logWeight, sum("observation", logLikelihood(at))), {
          workspace,
          inputs: { ...axes, ...Object.fromEntries(observed.map((name) => [name, ["observation"]])) },
        });
        const links = model.dependentPriors
          ? compile((at: Values) => add(at.logWeight, logPriorLinks(model, at)), { workspace, inputs: axes })
          : undefined;
        links?.resize({ outer: this.#outer, inner: this.#inner });
        return { given: each, program, history, links, effective };
      },
    );
  }

  /** Takes over the posterior: [particles] by parameter, which must be draws of equal weight given the history. */
  async condition(
    particles: Particles,
    history: History,
    stream: RandomStream,
    pause: Pause = async () => undefined,
  ): Promise<void> {
    const { parameters } = this.#model;
    const copies = this.#values.length;
    // A random split: neighbours in the array may be copies of one particle.
    const [first] = Object.values(particles);
    const order = stream.split("order").permutation(first.length);
    const pick = (name: string, from: number, count: number, times: number) =>
      Float64Array.from(
        { length: count * times },
        (_, i) => particles[name][order[from + Math.floor(i / times)]],
      );
    const outer = Object.fromEntries(parameters.map(({ name }) => [name, pick(name, 0, this.#outer, 1)]));
    const inner = Object.fromEntries(
      parameters.map(({ name }) => [name, pick(name, this.#outer, this.#inner, 1)]),
    );
    this.#generating = Object.fromEntries(
      parameters.map(({ name }) => [name, pick(name, 0, this.#outer, copies)]),
    );
    for (const { name } of parameters) this.#own.input(name).set(this.#generating[name]);
    if (this.#outcomes !== undefined) this.#noise = this.#outcomes.drawNoise(stream.split("noise"));
    for (const evidence of this.#evidences) {
      const rest = restOf(this.#model, evidence.given);
      for (const { name } of parameters) {
        evidence.program.input(name).set(rest.includes(name) ? inner[name] : this.#generating[name]);
      }
      // Enumerated outcomes are the same whatever the design.
      if (this.#outcomes === undefined) this.#setOutcomes(evidence.program, this.#enumerated());
      if (evidence.given === "none") evidence.program.input("logWeight").fill(0);
      else this.#weigh(evidence, outer, inner, history);
      await pause();
    }
    if (this.#outcomes === undefined) this.#setOutcomes(this.#own, this.#enumerated());
  }

  /** The estimate of the quantity for one further observation at this design, in nats. */
  value(design: ArrayLike<number>, quantity: Quantity): number {
    const model = this.#model;
    const at = Object.fromEntries(model.design.map(({ name }, d) => [name, [design[d]]]));
    const programs = [this.#own, ...this.#evidences.map(({ program }) => program)];
    for (const program of programs) {
      for (const { name } of model.design) program.input(name)[0] = at[name][0];
    }
    if (this.#outcomes !== undefined) {
      const seen = this.#outcomes.simulate(this.#generating, at, this.#noise);
      for (const program of programs) this.#setOutcomes(program, seen);
    }
    this.#own.run();
    const own = Float64Array.from(this.#own.output());
    // sum_g c_g log p(y | g, h), with the generating draw among the inner ones where its coefficient is negative: the
    // recipe of the lower bounds (quantity.ts), so that few particles never make a design look better.
    const total = new Float64Array(own.length);
    for (const given of GIVEN) {
      const coefficient = quantity[given] ?? 0;
      if (coefficient === 0) continue;
      const evidence = this.#evidences.find((each) => each.given === given);
      if (evidence === undefined) {
        for (let i = 0; i < total.length; i++) total[i] += coefficient * own[i];
        continue;
      }
      evidence.program.run();
      const include = includesOwn(coefficient, "lower");
      for (let i = 0; i < total.length; i++) {
        const fresh = evidence.program.value[i];
        total[i] += coefficient * (include ? logMeanWithOwn(fresh, evidence.effective[i], own[i]) : fresh);
      }
    }
    let mean = 0;
    for (let i = 0; i < total.length; i++) {
      const weight = this.#outcomes === undefined ? exp(own[i]) : 1;
      // An outcome of probability 0 has no part in the mean.
      if (weight > 0) mean += weight * total[i];
    }
    return mean / this.#outer;
  }

  #enumerated(): Readonly<Record<string, Float64Array>> {
    const values = this.#values;
    return Object.fromEntries(
      this.#model.outcomes.map((name) => [
        name,
        Float64Array.from({ length: this.#outer * values.length }, (_, i) => values[i % values.length][name]),
      ]),
    );
  }

  #setOutcomes(program: Program<Inputs> | LogMeanExp<Inputs>, seen: Readonly<Record<string, Float64Array>>) {
    for (const name of this.#model.outcomes) program.input(name).set(seen[name]);
  }

  /** The weights of inner draws for every outer one, from the likelihood of the history at every pair. */
  #weigh(evidence: Evidence, outer: Particles, inner: Particles, history: History): void {
    const { program, history: pairs, links, effective } = evidence;
    const { design, outcomes, parameters } = this.#model;
    const { steps } = history;
    const rest = restOf(this.#model, evidence.given);
    const logDensity = new Float64Array(this.#outer * this.#inner);
    const addPairs = (of: Program<Inputs>): void => {
      for (const { name } of parameters) of.input(name).set(rest.includes(name) ? inner[name] : outer[name]);
      of.run();
      of.output().forEach((value, i) => {
        logDensity[i] += value;
      });
    };
    if (links !== undefined) addPairs(links);
    if (pairs !== undefined && steps > 0) {
      pairs.resize({ outer: this.#outer, inner: this.#inner, observation: steps });
      const column = (all: Float64Array, width: number, k: number) =>
        Float64Array.from({ length: steps }, (_, t) => all[t * width + k]);
      for (const [d, { name }] of design.entries()) {
        pairs.input(name).set(column(history.designs, design.length, d));
      }
      for (const [k, name] of outcomes.entries()) {
        pairs.input(name).set(column(history.outcomes, outcomes.length, k));
      }
      addPairs(pairs);
    }
    const weights = doublyScaled(logDensity, this.#outer, this.#inner);
    // Taken after `resize`, which can move the memory.
    const logWeight = program.input("logWeight");
    const copies = this.#values.length;
    for (let i = 0; i < this.#outer; i++) {
      const row = weights.subarray(i * this.#inner, (i + 1) * this.#inner);
      const squares = row.reduce((total, weight) => total + weight * weight, 0);
      for (let copy = 0; copy < copies; copy++) {
        const at = i * copies + copy;
        effective[at] = this.#inner ** 2 / squares;
        // Far below all others, and still a float32.
        for (let m = 0; m < this.#inner; m++) {
          logWeight[at * this.#inner + m] = Math.max(-80, log(row[m]));
        }
      }
    }
  }
}

/** The names of the parameters that are integrated over. */
const restOf = (model: Model, given: Given): readonly string[] => {
  const roles = held(given);
  return model.parameters.filter(({ role }) => !roles.includes(role)).map(({ name }) => name);
};

/** The log density of the priors that depend on other parameters; the others scale away by rows and columns. */
const logPriorLinks = (model: Model, at: Values): Value =>
  model.parameters.reduce<Value>(
    (total, { name, prior }) =>
      typeof prior === "function" ? add(total, prior(at).logDensity(at[name])) : total,
    0,
  );

/** All joint values of the outcomes, where they are discrete and few. */
const jointValues = (model: Model): Record<string, number>[] | undefined => {
  // Any numbers do: the values an outcome can take do not depend on them.
  const ones = Object.fromEntries([...model.parameters, ...model.design].map(({ name }) => [name, 1]));
  const by = model.distributions(ones, ones);
  let values: Record<string, number>[] = [{}];
  for (const name of model.outcomes) {
    const { support } = by[name];
    if (support === undefined) return undefined;
    values = values.flatMap((before) => support.map((value) => ({ ...before, [name]: value })));
  }
  return values.length <= MOST_ENUMERATED ? values : undefined;
};

/**
 * e^logs [rows, columns], scaled by rows and columns until all of them have mean 1 (Sinkhorn and Knopp, Pacific J.
 * Math. 21, 1967); the rows exactly.
 */
const doublyScaled = (logs: Float64Array, rows: number, columns: number): Float64Array => {
  const scaled = new Float64Array(logs.length);
  for (let i = 0; i < rows; i++) {
    let most = -Infinity;
    for (let m = 0; m < columns; m++) most = Math.max(most, logs[i * columns + m]);
    for (let m = 0; m < columns; m++) {
      // Where nothing fits this row, all fit alike.
      scaled[i * columns + m] = most > -Infinity ? exp(logs[i * columns + m] - most) : 1;
    }
  }
  const totals = new Float64Array(columns);
  const scaleRows = () => {
    for (let i = 0; i < rows; i++) {
      const row = scaled.subarray(i * columns, (i + 1) * columns);
      let total = 0;
      for (let m = 0; m < columns; m++) total += row[m];
      for (let m = 0; m < columns; m++) row[m] *= columns / total;
    }
  };
  for (let sweep = 0; sweep < SINKHORN_SWEEPS; sweep++) {
    scaleRows();
    totals.fill(0);
    for (let i = 0; i < rows; i++) for (let m = 0; m < columns; m++) totals[m] += scaled[i * columns + m];
    for (let i = 0; i < rows; i++) {
      // A draw that fits no outer one keeps its little weight instead of being blown up.
      for (let m = 0; m < columns; m++) scaled[i * columns + m] *= rows / Math.max(totals[m], 1e-9 * rows);
    }
  }
  scaleRows();
  return scaled;
};
