/** Gradient descent with step sizes of each parameter's own (Kingma and Ba 2015, algorithm 1), as PyTorch has it. */
import { InputError } from "../core/errors.js";
import { log, wholePower } from "../core/math.js";

/** Numbers in single or double precision. */
export type Floats = Float32Array | Float64Array;

/** A way to improve parameters, as two functions and a state that is plain data: copy it, store it, go on from it. */
export interface Optimiser<State> {
  /** The state before the first step. */
  init(parameters: Floats): State;
  /** One step down the gradient: changes `parameters` and `state` in place. To ascend, give the negative gradient. */
  update(parameters: Floats, gradient: ArrayLike<number>, state: State): void;
}

export interface AdamOptions {
  /** How far a step moves a parameter at most, about: a number, or a function of the step's number from 1 on. */
  readonly rate?: number | ((step: number) => number) | undefined;
  /** How much of the running mean of the gradient each step keeps; 0 <= beta1 < 1. */
  readonly beta1?: number | undefined;
  /** The same for its square. */
  readonly beta2?: number | undefined;
  /** Added to the root of the mean square, in the units of the gradient; positive. */
  readonly epsilon?: number | undefined;
}

/** As many entries as there are parameters, of the same kind of float. */
export interface AdamState {
  /** Steps taken. */
  step: number;
  /** Running mean of the gradient, m. */
  readonly mean: Floats;
  /** Running mean of its square, v. */
  readonly meanSquare: Floats;
}

export const adamTexts = {
  rate: (given: unknown) =>
    `rate was ${String(given)}: give a finite number from 0, or a function of the step that returns one`,
  beta: (name: string, given: unknown) =>
    `${name} was ${String(given)}: give a number from 0 and below 1, such as 0.9`,
  epsilon: (given: unknown) => `epsilon was ${String(given)}: give a positive number, such as 1e-8`,
  length: (what: string, length: number, wanted: number) =>
    `the ${what} has ${length} entries for ${wanted} parameters: give one for each`,
};

/** What Adam has that is told nothing else, on the processor as in kernels. */
export const ADAM_DEFAULTS = { beta1: 0.9, beta2: 0.999, epsilon: 1e-8 };

/** Of rates that fall, the last is a hundredth of the first. */
export const LOG_LAST_RATE = log(0.01);

/**
 * With g the gradient at step t (from 1):
 *
 *     m = beta1 m + (1 - beta1) g,   v = beta2 v + (1 - beta2) g^2,
 *     parameters -= rate m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + epsilon),
 *
 * in float64, rounded to the arrays' floats where it is stored.
 */
export const adam = ({
  rate = 1e-3,
  beta1 = ADAM_DEFAULTS.beta1,
  beta2 = ADAM_DEFAULTS.beta2,
  epsilon = ADAM_DEFAULTS.epsilon,
}: AdamOptions = {}): Optimiser<AdamState> => {
  const requireRate = (given: number): number => {
    if (!(given >= 0 && given < Number.POSITIVE_INFINITY))
      throw new InputError("rate", adamTexts.rate(given));
    return given;
  };
  if (typeof rate !== "function") requireRate(rate);
  for (const [name, beta] of Object.entries({ beta1, beta2 })) {
    if (!(beta >= 0 && beta < 1)) throw new InputError("beta", adamTexts.beta(name, beta));
  }
  if (!(epsilon > 0 && epsilon < Number.POSITIVE_INFINITY)) {
    throw new InputError("epsilon", adamTexts.epsilon(epsilon));
  }
  return {
    init: (parameters) => ({
      step: 0,
      mean: zerosLike(parameters),
      meanSquare: zerosLike(parameters),
    }),
    update(parameters, gradient, state) {
      const count = parameters.length;
      const { mean, meanSquare } = state;
      for (const [what, { length }] of Object.entries({ gradient, "optimiser's state": mean })) {
        if (length !== count) throw new InputError("length", adamTexts.length(what, length, count));
      }
      const step = state.step + 1;
      const size =
        requireRate(typeof rate === "function" ? rate(step) : rate) / (1 - wholePower(beta1, step));
      const scale = 1 / Math.sqrt(1 - wholePower(beta2, step));
      for (let i = 0; i < count; i++) {
        const g = gradient[i];
        const m = beta1 * mean[i] + (1 - beta1) * g;
        const v = beta2 * meanSquare[i] + (1 - beta2) * g * g;
        mean[i] = m;
        meanSquare[i] = v;
        parameters[i] -= (size * m) / (Math.sqrt(v) * scale + epsilon);
      }
      state.step = step;
    },
  };
};

const zerosLike = (array: Floats): Floats =>
  array instanceof Float64Array ? new Float64Array(array.length) : new Float32Array(array.length);
