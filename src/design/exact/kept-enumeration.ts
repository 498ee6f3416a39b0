/**
 * Enumeration (enumeration.ts) for designs that are moved and asked about again and again: the grid and the compiled
 * probabilities are kept, and one pass over the grid gives all evidences at once, so that a move takes milliseconds.
 *
 * The same pass has the grid of every second point. The trapezoidal rule converges exponentially, so that the finer
 * grid is far nearer to the truth than to the coarser one: how far the two are apart is more than what is wrong.
 */
import { compile, type Program } from "../../compute/index.js";
import { exp, log, wholePower } from "../../core/math.js";
import type { Model, Values } from "../model.js";
import { held, parametersFromNoise } from "../priors.js";
import { GIVEN, type Given } from "../quantity.js";
import { outcomeCombinations } from "./enumeration.js";
import { canEnumerateModel } from "./exact.js";
import { asIs, axisOf, isContinuous, tensor } from "./grid.js";

type Inputs = Record<string, readonly string[]>;

/** Points along a continuous parameter: an odd number, so that every second one reaches both ends. */
const POINTS = 33;
/** Probabilities of sequences at points of the grid that a move may compute: about 100 ms of one core. */
const MOST_WORK = 2 ** 22;

/** E log p(D | g) by g, and how far the largest of them is from that of half as fine a grid, in nats. */
export interface KeptEvidences {
  readonly expected: Readonly<Record<Given, number>>;
  readonly discretisation: number;
}

/** Points of a grid that share the held parameters, for one evidence. */
interface Groups {
  readonly given: Given;
  /** Which group a point of the grid belongs to. */
  readonly group: Int32Array;
  /** The weight of a group, and of a point within its group. */
  readonly groupWeights: Float64Array;
  readonly weights: Float64Array;
}

/** A grid as far as it is made of points of the kept one. */
interface Level {
  /** Which of the kept points it has, each with its weight in `Groups`. */
  readonly points: readonly number[];
  readonly groups: readonly Groups[];
}

const gridSize = (model: Model): number =>
  model.parameters.reduce((product, { name }) => product * axisOf(model, name, POINTS).points.length, 1);

/** Whether all outcomes can be gone through at every move. */
export const canKeepEnumerating = (model: Model, horizon: number): boolean =>
  canEnumerateModel(model, horizon) &&
  gridSize(model) * wholePower(outcomeCombinations(model)?.length ?? Infinity, horizon) <= MOST_WORK;

export class KeptEnumeration {
  readonly #model: Model;
  readonly #horizon: number;
  readonly #grid: number;
  readonly #levels: readonly Level[];
  /** For every combination of outcome values, its log probability [grid, observation]. */
  readonly #programs: readonly Program<Inputs>[];

  constructor(model: Model, horizon: number) {
    this.#model = model;
    this.#horizon = horizon;
    const axes = model.parameters.map(({ name }) => axisOf(model, name, POINTS));
    const { points, logWeights } = tensor(axes);
    this.#grid = logWeights.length;
    this.#levels = [1, 2].map((stride) => levelOf(model, stride));
    const values = Array.from({ length: this.#grid }, (_, i) => {
      const at = Object.fromEntries(Object.entries(points).map(([name, each]) => [name, each[i]]));
      return parametersFromNoise(model, [], at, asIs) as Readonly<Record<string, number>>;
    });
    const inputs: Inputs = {
      ...Object.fromEntries(model.parameters.map(({ name }) => [name, ["grid"]])),
      ...Object.fromEntries(model.design.map(({ name }) => [name, ["grid", "observation"]])),
    };
    this.#programs = (outcomeCombinations(model) ?? []).map((combination) => {
      const observed = Object.fromEntries(model.outcomes.map((name, k) => [name, combination[k]]));
      const program = compile((at: Values) => model.logLikelihood(at, at, observed), {
        inputs,
        backend: "js",
      }) as Program<Inputs>;
      program.resize({ grid: this.#grid, observation: horizon });
      for (const { name } of model.parameters) {
        const into = program.input(name);
        for (let i = 0; i < this.#grid; i++) into[i] = values[i][name];
      }
      return program;
    });
  }

  /** The evidences of designs [horizon, variables]. */
  evaluate(designs: Float64Array): KeptEvidences {
    const [horizon, grid] = [this.#horizon, this.#grid];
    const variables = this.#model.design.length;
    for (const program of this.#programs) {
      for (const [d, { name }] of this.#model.design.entries()) {
        const into = program.input(name);
        for (let i = 0; i < grid * horizon; i++) into[i] = designs[(i % horizon) * variables + d];
      }
      program.run();
    }
    const probabilities = this.#programs.map((program) => Float64Array.from(program.output(), exp));
    const [fine, coarse] = this.#levels.map((level) => this.#expected(level, probabilities));
    const discretisation = Math.max(...GIVEN.map((given) => Math.abs(fine[given] - coarse[given])));
    return { expected: fine, discretisation };
  }

  #expected({ points, groups }: Level, probabilities: readonly Float64Array[]): Record<Given, number> {
    const horizon = this.#horizon;
    const choices = probabilities.length;
    const sequences = wholePower(choices, horizon);
    const evidences = groups.map(({ groupWeights }) => new Float64Array(groupWeights.length * sequences));
    const row = new Float64Array(sequences);
    const certain = this.#model.parameters.every(({ role }) => role !== "nuisance");
    let allHeld = 0;
    points.forEach((i, at) => {
      row[0] = 1;
      let entropy = 0;
      for (let t = 0, count = 1; t < horizon; t++, count *= choices) {
        // From the back, so that what is still to be read is not yet overwritten.
        for (let prefix = count - 1; prefix >= 0; prefix--) {
          const before = row[prefix];
          for (let c = choices - 1; c >= 0; c--) {
            row[prefix * choices + c] = before * probabilities[c][i * horizon + t];
          }
        }
        for (const each of probabilities) {
          const p = each[i * horizon + t];
          if (p > 0) entropy += p * log(p);
        }
      }
      groups.forEach(({ given, group, weights, groupWeights }, k) => {
        // Without a nuisance the outcomes are independent once both parts are held: no sequence is needed.
        if (given === "both" && certain) {
          allHeld += groupWeights[group[at]] * weights[at] * entropy;
          return;
        }
        const into = evidences[k];
        const from = group[at] * sequences;
        const weight = weights[at];
        for (let s = 0; s < sequences; s++) into[from + s] += weight * row[s];
      });
    });
    return Object.fromEntries(
      groups.map(({ given, groupWeights }, k) => {
        if (given === "both" && certain) return [given, allHeld];
        let total = 0;
        const evidence = evidences[k];
        for (let h = 0; h < groupWeights.length; h++) {
          let inner = 0;
          for (let s = h * sequences; s < (h + 1) * sequences; s++) {
            if (evidence[s] > 0) inner += evidence[s] * log(evidence[s]);
          }
          total += groupWeights[h] * inner;
        }
        return [given, total];
      }),
    ) as Record<Given, number>;
  }

  dispose(): void {
    for (const program of this.#programs) program.dispose();
  }
}

/** The grid of every point, or of every second one along continuous parameters, with weights of its own. */
const levelOf = (model: Model, stride: number): Level => {
  const axes = model.parameters.map(({ name, role }) => {
    const { points } = axisOf(model, name, POINTS);
    const own = isContinuous(model, name) ? stride : 1;
    const size = (points.length - 1) / own + 1;
    return { role, all: points.length, own, size, logWeights: axisOf(model, name, size).logWeights };
  });
  const count = axes.reduce((product, { size }) => product * size, 1);
  const places = Array.from({ length: count }, (_, i) => {
    let rest = count;
    return axes.map(({ size }) => {
      rest /= size;
      return Math.floor(i / rest) % size;
    });
  });
  return {
    points: places.map((at) => at.reduce((index, place, k) => index * axes[k].all + place * axes[k].own, 0)),
    groups: GIVEN.map((given) => {
      const roles = held(given);
      const isHeld = axes.map(({ role }) => roles.includes(role));
      const groups = axes.reduce((product, { size }, k) => (isHeld[k] ? product * size : product), 1);
      const group = new Int32Array(count);
      const groupWeights = new Float64Array(groups);
      const weights = new Float64Array(count);
      places.forEach((at, i) => {
        let [index, logHeld, logFree] = [0, 0, 0];
        for (const [k, { size, logWeights }] of axes.entries()) {
          if (isHeld[k]) {
            index = index * size + at[k];
            logHeld += logWeights[at[k]];
          } else logFree += logWeights[at[k]];
        }
        group[i] = index;
        groupWeights[index] = exp(logHeld);
        weights[i] = exp(logFree);
      });
      return { given, group, groupWeights, weights };
    }),
  };
};
