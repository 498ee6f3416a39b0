/**
 * An objective without sampling, for outcomes with few values: all sequences of outcomes D are gone through and the
 * parameters are integrated out on a grid, as in `exact/enumeration.ts`. With h the grid points of the held
 * parameters, f those of the others and s_t = d log p(y_t | h, f) / d xi_t,
 *
 *     E log p(D | g)            = sum_h w_h sum_D p(D | h) log p(D | h)
 *     d E log p(D | g) / d xi_t = sum_h w_h sum_f w_f sum_D log p(D | h) p(D | h, f) s_t(y_t; h, f)
 *
 * since the derivative of the logarithm itself sums to the derivative of sum_D p(D | h) = 1.
 */

import { compile, type Program } from "../compute/index.js";
import { exp, log, wholePower } from "../core/math.js";
import { enumeratedStepCost, sampledStepCost } from "./exact/cost.js";
import { outcomeCombinations } from "./exact/enumeration.js";
import { canEnumerateModel } from "./exact/exact.js";
import { asIs, axisOf, tensor } from "./exact/grid.js";
import type { Model, Values } from "./model.js";
import type { Objective, SampleSizes } from "./objective.js";
import { held, parametersFromNoise } from "./priors.js";
import { evidencesOf, type Given, type Quantity } from "./quantity.js";

type Numbers = Readonly<Record<string, number>>;
type Inputs = Record<string, readonly string[]>;

/** Points along a continuous parameter; for a psychometric curve of slope 2 the objective is then right to 1e-5. */
const POINTS = 33;

/** Whether an enumerated step takes no longer than a sampled one. */
export const canEnumerateCheaply = (model: Model, horizon: number, sizes: SampleSizes): boolean =>
  canEnumerateModel(model, horizon) &&
  enumeratedStepCost(model, horizon, POINTS) <= sampledStepCost(sizes, horizon);

/** The grid's points that share the held parameters, for one evidence. */
interface Evidence {
  readonly coefficient: number;
  /** Which h a point of the grid belongs to, [grid]. */
  readonly group: Int32Array;
  /** w_h [groups] and w_f [grid]. */
  readonly groupWeights: Float64Array;
  readonly weights: Float64Array;
}

export class EnumeratedObjective implements Objective {
  readonly #model: Model;
  readonly #horizon: number;
  readonly #choices: number;
  readonly #grid: number;
  readonly #evidences: readonly Evidence[];
  /** For every combination of outcome values: its log probability [grid, observation], and the slopes in the designs. */
  readonly #programs: readonly Program<Inputs>[];
  readonly gradient: Float64Array;

  constructor(model: Model, quantity: Quantity, horizon: number) {
    this.#model = model;
    this.#horizon = horizon;
    this.gradient = new Float64Array(horizon * model.design.length);
    const combinations = outcomeCombinations(model) ?? [];
    this.#choices = combinations.length;
    const axes = model.parameters.map(({ name }) => axisOf(model, name, POINTS));
    const { points, logWeights } = tensor(axes);
    this.#grid = logWeights.length;
    this.#evidences = evidencesOf(quantity).map((given) => evidenceOn(model, given, quantity[given] ?? 0));
    const parameters = Array.from({ length: this.#grid }, (_, i) => {
      const at = Object.fromEntries(Object.entries(points).map(([name, values]) => [name, values[i]]));
      return parametersFromNoise(model, [], at, asIs) as Numbers;
    });
    const designs = model.design.map(({ name }) => name);
    const inputs: Inputs = {
      ...Object.fromEntries(model.parameters.map(({ name }) => [name, ["grid"]])),
      ...Object.fromEntries(designs.map((name) => [name, ["grid", "observation"]])),
    };
    this.#programs = combinations.map((values) => {
      const observed = Object.fromEntries(model.outcomes.map((name, k) => [name, values[k]]));
      const program = compile((at: Values) => model.logLikelihood(at, at, observed), {
        inputs,
        gradients: designs,
        backend: "js",
      }) as Program<Inputs>;
      program.resize({ grid: this.#grid, observation: horizon });
      for (const { name } of model.parameters) {
        const into = program.input(name);
        parameters.forEach((each, i) => {
          into[i] = each[name];
        });
      }
      return program;
    });
  }

  /** Nothing is drawn. */
  noise(): readonly [] {
    return [];
  }

  evaluate(designs: Float64Array): number {
    const variables = this.#model.design.length;
    const [horizon, choices, grid] = [this.#horizon, this.#choices, this.#grid];
    for (const program of this.#programs) {
      for (const [d, { name }] of this.#model.design.entries()) {
        const into = program.input(name);
        for (let i = 0; i < grid * horizon; i++) into[i] = designs[(i % horizon) * variables + d];
      }
      program.run();
    }
    const probabilities = this.#programs.map((program) => Float64Array.from(program.output(), exp));
    const sequences = wholePower(choices, horizon);
    // p(D | point) [grid, sequences], the outcome of observation 0 being the most significant digit of D.
    const likelihood = new Float64Array(grid * sequences);
    for (let i = 0; i < grid; i++) {
      const row = likelihood.subarray(i * sequences, (i + 1) * sequences);
      row[0] = 1;
      // From the back, so that what is still to be read is not yet overwritten.
      for (let t = 0, count = 1; t < horizon; t++, count *= choices) {
        for (let prefix = count - 1; prefix >= 0; prefix--) {
          const before = row[prefix];
          for (let c = choices - 1; c >= 0; c--) {
            row[prefix * choices + c] = before * probabilities[c][i * horizon + t];
          }
        }
      }
    }
    // The factor of p(D | point) in the derivative, over all evidences: [grid, sequences].
    const factors = new Float64Array(grid * sequences);
    let total = 0;
    for (const { coefficient, group, groupWeights, weights } of this.#evidences) {
      const evidence = new Float64Array(groupWeights.length * sequences);
      for (let i = 0; i < grid; i++) {
        const to = group[i] * sequences;
        for (let s = 0; s < sequences; s++) evidence[to + s] += weights[i] * likelihood[i * sequences + s];
      }
      for (let h = 0; h < groupWeights.length; h++) {
        for (let s = 0; s < sequences; s++) {
          const p = evidence[h * sequences + s];
          const logP = p > 0 ? log(p) : 0;
          total += coefficient * groupWeights[h] * p * logP;
          evidence[h * sequences + s] = coefficient * groupWeights[h] * logP;
        }
      }
      for (let i = 0; i < grid; i++) {
        const from = group[i] * sequences;
        for (let s = 0; s < sequences; s++) factors[i * sequences + s] += weights[i] * evidence[from + s];
      }
    }
    this.#addSlopes(likelihood, factors, sequences);
    return total;
  }

  #addSlopes(likelihood: Float64Array, factors: Float64Array, sequences: number): void {
    const { design } = this.#model;
    const [horizon, choices] = [this.#horizon, this.#choices];
    this.gradient.fill(0);
    const share = new Float64Array(horizon * choices);
    for (let i = 0; i < this.#grid; i++) {
      share.fill(0);
      for (let s = 0; s < sequences; s++) {
        const term = factors[i * sequences + s] * likelihood[i * sequences + s];
        for (let t = horizon - 1, rest = s; t >= 0; t--, rest = Math.floor(rest / choices)) {
          share[t * choices + (rest % choices)] += term;
        }
      }
      for (const [d, { name }] of design.entries()) {
        for (let c = 0; c < choices; c++) {
          const slopes = this.#programs[c].gradient(name);
          for (let t = 0; t < horizon; t++) {
            this.gradient[t * design.length + d] += share[t * choices + c] * slopes[i * horizon + t];
          }
        }
      }
    }
  }

  dispose(): void {
    for (const program of this.#programs) program.dispose();
  }
}

const evidenceOn = (model: Model, given: Given, coefficient: number): Evidence => {
  const roles = held(given);
  const axes = model.parameters.map(({ name, role }) => ({
    isHeld: roles.includes(role),
    axis: axisOf(model, name, POINTS),
  }));
  const sizes = axes.map(({ axis }) => axis.points.length);
  const grid = sizes.reduce((n, size) => n * size, 1);
  const groups = axes.reduce((n, { isHeld }, k) => (isHeld ? n * sizes[k] : n), 1);
  const group = new Int32Array(grid);
  const groupWeights = new Float64Array(groups).fill(1);
  const weights = new Float64Array(grid);
  for (let i = 0; i < grid; i++) {
    let [h, logHeld, logFree, stride] = [0, 0, 0, grid];
    for (const [k, { isHeld, axis }] of axes.entries()) {
      stride /= sizes[k];
      const at = Math.floor(i / stride) % sizes[k];
      if (isHeld) {
        h = h * sizes[k] + at;
        logHeld += axis.logWeights[at];
      } else logFree += axis.logWeights[at];
    }
    group[i] = h;
    groupWeights[h] = exp(logHeld);
    weights[i] = exp(logFree);
  }
  return { coefficient, group, groupWeights, weights };
};
