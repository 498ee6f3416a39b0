/** Simulated outcomes of a model: from noise by a formula that gradients go through, or drawn from a discrete support. */

import { add, compile, mul, type Program, type Value, type Workspace } from "../compute/index.js";
import { exp, lgamma, log } from "../core/math.js";
import type { RandomStream } from "../core/random.js";
import { type Distribution, fillNoise } from "./distribution.js";
import type { Model, Values } from "./model.js";
import type { Arrays } from "./nested.js";

type Inputs = Record<string, readonly string[]>;

const noiseOf = (outcome: string): string => `noise of ${outcome}`;
/** An output has only the axes that it varies along: adding an array of zeros gives it those of the batch. */
const ZERO = "zero";
const adjointOf = (outcome: string): string => `adjoint of ${outcome}`;

export interface OutcomesOptions {
  readonly model: Model;
  readonly workspace: Workspace;
  readonly outer: number;
  /** Observations that are simulated together; 1 for a policy that must see one before it chooses the next. */
  readonly horizon: number;
  readonly designs: "shared" | "perOuter";
}

/** What outcomes follow from: parameters [outer], designs, and noise as from `drawNoise`. */
export interface OutcomeInputs {
  readonly parameters: Arrays;
  readonly designs: Arrays;
  readonly noise: Arrays;
}

/** Outcomes [outer, observation] for parameters [outer] and designs. */
export class Outcomes {
  readonly #model: Model;
  readonly #forward: Program<Inputs>;
  readonly #pullback: Program<Inputs> | undefined;
  readonly #trial: Readonly<Record<string, Distribution>>;
  readonly #length: number;

  constructor({ model, workspace, outer, horizon, designs }: OutcomesOptions) {
    this.#model = model;
    this.#length = outer * horizon;
    const batch = ["outer", "observation"];
    const inputs: Inputs = {
      ...Object.fromEntries(model.parameters.map(({ name }) => [name, ["outer"]])),
      ...Object.fromEntries(
        model.design.map(({ name }) => [name, designs === "shared" ? ["observation"] : batch]),
      ),
    };
    const noise = Object.fromEntries(model.outcomes.map((name) => [noiseOf(name), batch]));
    // Any numbers do: which noise and support an outcome has does not depend on them.
    const ones = Object.fromEntries(Object.keys(inputs).map((name) => [name, 1]));
    this.#trial = model.distributions(ones, ones);
    if (model.reparameterised) {
      const value = (at: Values, name: string): Value => {
        const distribution = model.distributions(at, at)[name];
        return distribution.fromNoise?.(at[noiseOf(name)]) ?? 0;
      };
      this.#forward = compile(
        (at: Values) => Object.fromEntries(model.outcomes.map((name) => [name, value(at, name)])),
        {
          workspace,
          checked: true,
          inputs: { ...inputs, ...noise },
        },
      );
      const adjoints = Object.fromEntries(model.outcomes.map((name) => [adjointOf(name), batch]));
      const everything: Inputs = { ...inputs, ...noise, ...adjoints };
      this.#pullback = compile(
        (at: Values) =>
          model.outcomes
            .map((name) => mul(at[adjointOf(name)], value(at, name)))
            .reduce((total, term) => add(total, term)),
        { workspace, checked: true, inputs: everything, gradients: model.design.map(({ name }) => name) },
      );
    } else {
      // The log probability of every value, the rate of a count, or the value itself where it has a formula.
      this.#forward = compile(
        (at: Values) => {
          const by = model.distributions(at, at);
          const outputs: Record<string, Value> = {};
          for (const name of model.outcomes) {
            const { support, rate, logDensity, fromNoise } = by[name];
            if (fromNoise !== undefined) outputs[name] = fromNoise(at[noiseOf(name)]);
            if (rate !== undefined) outputs[`${name} rate`] = add(rate, at[ZERO]);
            for (const [k, value] of (support ?? []).entries()) {
              outputs[`${name} ${k}`] = add(logDensity(value), at[ZERO]);
            }
          }
          return outputs;
        },
        { workspace, inputs: { ...inputs, ...noise, [ZERO]: batch } },
      );
    }
    for (const program of [this.#forward, this.#pullback]) program?.resize({ outer, observation: horizon });
  }

  /** Draws noise for reparameterised outcomes. */
  drawNoise(stream: RandomStream): Record<string, Float64Array> {
    return Object.fromEntries(
      this.#model.outcomes.map((name) => {
        const values = new Float64Array(this.#length);
        fillNoise(this.#trial[name].noise, stream.split(name), values);
        return [name, values];
      }),
    );
  }

  /** Outcomes by name; `noise` as from `drawNoise` (for a discrete outcome, uniforms). */
  simulate(parameters: Arrays, designs: Arrays, noise: Arrays): Record<string, Float64Array> {
    this.#setInputs(this.#forward, { parameters, designs, noise });
    this.#forward.run();
    return Object.fromEntries(
      this.#model.outcomes.map((name) => [
        name,
        this.#trial[name].fromNoise === undefined
          ? this.#choose(name, noise[name])
          : new Float64Array(this.#forward.output(name)),
      ]),
    );
  }

  #setInputs(program: Program<Inputs>, { parameters, designs, noise }: OutcomeInputs): void {
    const model = this.#model;
    for (const { name } of model.parameters) program.input(name).set(parameters[name]);
    for (const { name } of model.design) program.input(name).set(designs[name]);
    for (const name of model.outcomes) program.input(noiseOf(name)).set(noise[name]);
  }

  /** Discrete outcomes by inversion of uniforms. */
  #choose(name: string, uniforms: ArrayLike<number>): Float64Array {
    const { support, rate } = this.#trial[name];
    if (rate !== undefined) {
      const rates = this.#forward.output(`${name} rate`);
      return Float64Array.from({ length: this.#length }, (_, i) => poissonQuantile(uniforms[i], rates[i]));
    }
    const values = support ?? [];
    const logs = values.map((_, k) => this.#forward.output(`${name} ${k}`));
    return Float64Array.from({ length: this.#length }, (_, i) => {
      let left = uniforms[i];
      for (let k = 0; k < values.length - 1; k++) {
        left -= exp(logs[k][i]);
        if (left < 0) return values[k];
      }
      return values[values.length - 1];
    });
  }

  /** Adds sum over outcomes of adjoint * d(outcome)/d(design), at what was simulated, to the gradients by name. */
  addPullback(
    adjoints: Arrays,
    simulated: OutcomeInputs,
    into: Readonly<Record<string, Float64Array>>,
  ): void {
    const program = this.#pullback;
    if (program === undefined) return;
    this.#setInputs(program, simulated);
    for (const name of this.#model.outcomes) program.input(adjointOf(name)).set(adjoints[name]);
    program.run();
    for (const { name } of this.#model.design) {
      const part = program.gradient(name);
      const total = into[name];
      for (let i = 0; i < total.length; i++) total[i] += part[i];
    }
  }

  dispose(): void {
    this.#forward.dispose();
    this.#pullback?.dispose();
  }
}

/** The smallest count whose distribution function reaches u. */
const poissonQuantile = (u: number, rate: number): number => {
  // Below this count there is less than 1e-20 of the probability; for a large rate the terms from 0 on underflow.
  let count = Math.max(0, Math.floor(rate - 10 * Math.sqrt(rate)));
  let term = exp(count * log(rate) - rate - lgamma(count + 1));
  let below = term;
  const most = Math.ceil(rate + 20 * Math.sqrt(rate) + 20);
  while (below < u && count < most) {
    count++;
    term *= rate / count;
    below += term;
  }
  return count;
};
