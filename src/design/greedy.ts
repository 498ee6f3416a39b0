/**
 * The greedy adaptive policy: after every outcome, the design whose single next observation has the largest
 * incremental objective under the current posterior,
 *
 *     R_c(xi | h) = EIG_theta(xi | h) - beta EIG_{phi|theta}(xi | h),   R_u with EIG_phi in place of EIG_{phi|theta},
 *
 * all expectations under p(psi | h), which is represented by particles (`posterior.ts`).
 *
 * Given theta, the next outcome has density p(y | theta, h) = E over p(phi | theta, h) of p(y | theta, phi), and joint
 * draws (theta_i, phi_i) hold no second phi for the same theta. So every theta_i is paired with every phi_m, weighted
 * by an estimate of p(theta_i, phi_m | h) / (p(theta_i | h) p(phi_m | h)): the likelihood of the history at the pair,
 * scaled by rows and columns until both have mean 1 (Sinkhorn), as that ratio has under independent draws of the two.
 *
 * Cost of a decision with the defaults, on one core: 0.1 to 0.5 s, about 200 designs at B (M + L) likelihoods each
 * (B = particles / 4 outer, M = L = 3/4 particles inner), and the posterior, which grows with the square of the
 * number of steps.
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
import { InputError } from "../core/errors.js";
import { exp, log } from "../core/math.js";
import { type Filled, type Pacer, pacer, type RunOptions } from "../core/options.js";
import { type RandomStream, randomStream } from "../core/random.js";
import { momentsOf } from "../core/stats.js";
import type { Model } from "./model.js";
import { logMeanWithOwn } from "./nested.js";
import { experimentOf } from "./one-experiment.js";
import { Outcomes } from "./outcomes.js";
import { drawOuter, type History, type Policy } from "./policy.js";
import { type PosteriorOptions, posteriorSampler } from "./posterior.js";
import { held } from "./priors.js";
import {
  GIVEN,
  type Given,
  includesOwn,
  type ObjectiveKind,
  objectiveQuantity,
  type Quantity,
} from "./quantity.js";

type Values = Readonly<Record<string, Value>>;
type Inputs = Record<string, readonly string[]>;
type Particles = Readonly<Record<string, Float64Array>>;
/** A lowest and a highest value. */
export type Range = readonly [low: number, high: number];

export interface GreedyOptions extends PosteriorOptions {
  readonly horizon: number;
  readonly objective?: ObjectiveKind | undefined;
  readonly beta?: number | undefined;
  /** Designs tried at every step before the best are refined. */
  readonly candidates?: number | undefined;
  /**
   * Where designs are looked for, one range per design variable: the bounds unless given, and where a variable has
   * none, four standard deviations of the prior around the means of the parameters.
   */
  readonly search?: readonly Range[] | undefined;
}

export interface GreedyPolicy extends Policy {
  readonly kind: "greedy";
  /** All options, with their defaults: what it takes to make the same policy again. */
  readonly settings: Filled<GreedyOptions>;
}

export const greedyTexts = {
  horizon: (given: number) => `horizon was ${given}: give a whole number of at least 1`,
  beta: (given: number) => `beta was ${given}: give a finite number of at least 0`,
  particles: (given: number) =>
    `the greedy policy was given ${given} particles: give a whole number of at least ${LEAST_PARTICLES}`,
  candidates: (given: number) => `candidates was ${given}: give a whole number of at least 1`,
  ranges: (given: number, expected: number) =>
    `search has ${given} ranges and the model ${expected} design variables: give one [low, high] for each`,
  range: (name: string) =>
    `the search range of "${name}" is not inside its bounds: give [low, high] with low < high, both finite`,
  over: (steps: number, horizon: number) =>
    `the history has ${steps} observations and the policy a horizon of ${horizon}: there is no next design`,
};

const LEAST_PARTICLES = 16;

/** The greedy policy. It depends on the history and the stream alone; see the top of this file for its cost. */
export const greedyPolicy = (
  model: Model,
  {
    horizon,
    objective = "conditional",
    beta = 0,
    particles = 512,
    resampleBelow = 0.5,
    sweeps = 5,
    candidates = 128,
    search = searchRanges(model),
  }: GreedyOptions,
): GreedyPolicy => {
  if (!Number.isInteger(horizon) || horizon < 1)
    throw new InputError("horizon", greedyTexts.horizon(horizon));
  if (!(beta >= 0 && beta < Infinity)) throw new InputError("beta", greedyTexts.beta(beta));
  if (!Number.isInteger(particles) || particles < LEAST_PARTICLES) {
    throw new InputError("particles", greedyTexts.particles(particles));
  }
  if (!Number.isInteger(candidates) || candidates < 1) {
    throw new InputError("candidates", greedyTexts.candidates(candidates));
  }
  checkSearch(model, search);
  const quantity = objectiveQuantity(objective, beta);
  const sampler = posteriorSampler(model, { particles, resampleBelow, sweeps });
  // Compiled at the first decision. One thread and no fused multiply-add: the same design on every machine.
  let oneStep: OneStep | undefined;
  const decide = async (history: History, stream: RandomStream, run: RunOptions): Promise<Float64Array> => {
    const pace = pacer(run);
    oneStep ??= new OneStep({ model, particles, given: GIVEN.filter((each) => (quantity[each] ?? 0) !== 0) });
    const now = await sampler.particles(history, stream.split("posterior"), { signal: run.signal });
    const step = oneStep;
    await step.condition(now, history, stream.split("one step"), pace.pause);
    const value = (design: Float64Array) => step.value(design, quantity);
    return best(
      model,
      search,
      drawCandidates(model, search, now, candidates, stream.split("candidates")),
      value,
      pace,
    );
  };
  return {
    kind: "greedy",
    horizon,
    settings: { horizon, objective, beta, particles, resampleBelow, sweeps, candidates, search },
    next: async (history, stream, run = {}) => {
      const { outer, steps } = history;
      if (steps >= horizon) throw new InputError("history", greedyTexts.over(steps, horizon));
      const width = model.design.length;
      const all = new Float64Array(outer * width);
      // Before the first outcome all experiments are the same.
      const first = steps === 0 ? await decide(experimentOf(history, 0), stream.split(0), run) : undefined;
      for (let b = 0; b < outer; b++) {
        all.set(first ?? (await decide(experimentOf(history, b), stream.split(b), run)), b * width);
      }
      return all;
    },
  };
};

/* Information of one further observation */

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

/* The search over designs */

const PRIOR_DRAWS = 512;
const PRIOR_DEVIATIONS = 4;

/** The default of {@link GreedyOptions.search}. */
export const searchRanges = (model: Model): readonly Range[] => {
  const prior = drawOuter(model, PRIOR_DRAWS, randomStream("search ranges"));
  const around = Object.values(prior).map((draws) => {
    const { mean, m2, n } = momentsOf(draws);
    const reach = PRIOR_DEVIATIONS * Math.sqrt(m2 / n);
    return [mean - reach, mean + reach] as const;
  });
  const low = Math.min(...around.map(([from]) => from));
  const high = Math.max(...around.map(([, to]) => to));
  return model.design.map((variable) => {
    const from = Number.isFinite(variable.low) ? variable.low : Math.min(low, variable.high - (high - low));
    const to = Number.isFinite(variable.high) ? variable.high : Math.max(high, from + (high - low));
    return [from, to];
  });
};

const checkSearch = (model: Model, search: readonly Range[]): void => {
  if (search.length !== model.design.length) {
    throw new InputError("search", greedyTexts.ranges(search.length, model.design.length));
  }
  for (const [d, [low, high]] of search.entries()) {
    const { name, ...bounds } = model.design[d];
    const inside = low >= bounds.low && high <= bounds.high && low < high && high - low < Infinity;
    if (!inside) throw new InputError("search", greedyTexts.range(name));
  }
};

/** Finite design variables with at most this many combinations are tried in all of them. */
const MOST_COMBINATIONS = 512;

/**
 * Designs to try. Where every variable is finite, all of them; else points that fill the search ranges evenly (a Latin
 * hypercube) and, in variables without bounds, which are taken to be on the scale of the parameters, as many around
 * values of the posterior.
 */
const drawCandidates = (
  model: Model,
  search: readonly Range[],
  particles: Particles,
  count: number,
  stream: RandomStream,
): Float64Array[] => {
  const finite = model.design.map(({ values }, d) =>
    values?.filter((value) => value >= search[d][0] && value <= search[d][1]),
  );
  const combinations = finite.reduce<number>((n, values) => n * (values?.length ?? 1), 1);
  if (finite.every((values) => values !== undefined) && combinations <= MOST_COMBINATIONS) {
    return finite
      .reduce<number[][]>(
        (rows, values) => rows.flatMap((row) => (values ?? []).map((v) => [...row, v])),
        [[]],
      )
      .map((row) => Float64Array.from(row));
  }
  const columns = model.design.map((variable, d) => {
    const own = stream.split(d);
    const order = own.permutation(count);
    const [low, high] = search[d];
    const values = finite[d];
    const near = nearParticles(particles, own.split("posterior"));
    const unbounded = !Number.isFinite(variable.low) || !Number.isFinite(variable.high);
    return Array.from({ length: count }, (_, i) => {
      const place = (order[i] + own.uniform()) / count;
      if (values !== undefined) return values[Math.floor(place * values.length)];
      if (unbounded && i % 2 === 1) return Math.min(high, Math.max(low, near()));
      return low + (high - low) * place;
    });
  });
  return Array.from({ length: count }, (_, i) => Float64Array.from(columns, (column) => column[i]));
};

/** Values of a random parameter of a random particle, moved by its posterior standard deviation. */
const nearParticles = (particles: Particles, stream: RandomStream): (() => number) => {
  const all = Object.values(particles).map((values) => {
    const { m2, n } = momentsOf(values);
    return { values, sd: Math.sqrt(m2 / n) };
  });
  return () => {
    const { values, sd } = all[stream.integer(all.length)];
    return stream.normal(values[stream.integer(values.length)], sd);
  };
};

const REFINED = 3;
const REFINING_EVALUATIONS = 40;
const FIRST_STEP = 1 / 16;
const LAST_STEP = 1 / 2048;

/** The best candidate, after a compass search from the best few: finite variables try all their values. */
const best = async (
  model: Model,
  search: readonly Range[],
  candidates: readonly Float64Array[],
  value: (design: Float64Array) => number,
  pace: Pacer,
): Promise<Float64Array> => {
  const total = candidates.length + REFINED * REFINING_EVALUATIONS;
  let done = 0;
  const worth = async (design: Float64Array): Promise<number> => {
    const found = value(design);
    await pace.step({ done: ++done, total, label: "designs" });
    // A design at which nothing can be computed is never chosen.
    return Number.isNaN(found) ? -Infinity : found;
  };
  const ranked: { readonly design: Float64Array; readonly value: number }[] = [];
  for (const design of candidates) ranked.push({ design, value: await worth(design) });
  ranked.sort((a, b) => b.value - a.value);
  let winner = ranked[0];
  for (const start of ranked.slice(0, REFINED)) {
    let here = start;
    let left = REFINING_EVALUATIONS;
    let step = FIRST_STEP;
    while (step >= LAST_STEP && left > 0) {
      let improved = false;
      for (const [d, { values }] of model.design.entries()) {
        const [low, high] = search[d];
        const reach = step * (high - low);
        const moves =
          values === undefined
            ? [here.design[d] - reach, here.design[d] + reach]
            : // Once, at the first step: they have no scale.
              step === FIRST_STEP
              ? values.filter((each) => each >= low && each <= high)
              : [];
        for (const to of moves) {
          const moved = here.design.slice();
          moved[d] = Math.min(high, Math.max(low, to));
          if (moved[d] === here.design[d]) continue;
          left--;
          const found = await worth(moved);
          if (found > here.value) {
            here = { design: moved, value: found };
            improved = true;
          }
        }
      }
      if (!improved) step /= 2;
    }
    if (here.value > winner.value) winner = here;
  }
  return winner.design;
};
