/** The climb of static designs by Adam, in units of the prior's spread so that one rate suits every variable. */

import { type AdamState, adam, type Optimiser } from "../compute/index.js";
import type { Model } from "./model.js";
import { nearestAllowed } from "./policy.js";
import type { Reach } from "./static-starts.js";
import { decayingRate } from "./training.js";

/** One start on its way, as plain JSON data. */
export interface Climb {
  /** [horizon, variables] */
  designs: number[];
  adam: { step: number; mean: number[]; meanSquare: number[] };
  /** Steps taken, of Adam or exchanges. */
  taken: number;
  /** The mean objective at the end of the last round; none before the first. */
  score?: number | undefined;
  settling?: Settling | undefined;
  /** Observations in a row whose values were already the best. */
  unchanged?: number | undefined;
}

/**
 * Designs have settled when their means over a window of steps are nearly those over the window before, several times
 * running. Adam moves a design about as fast where the objective is nearly flat as where it is steep, as long as noise
 * does not hide the way up: designs that cross a plateau are seen to move, while the value of the objective stands still.
 */
export interface SettledRule {
  /** Steps in a window. */
  readonly window: number;
  /** How far the means have moved at most, as a share of what the rate allows: root mean square over the designs. */
  readonly speed: number;
  /** How many times running: once or twice can be chance. */
  readonly times: number;
}

/** What is known of whether a climb has settled: [horizon, variables] each, in units of the prior's spread. */
export interface Settling {
  /** The sum of the designs in this window. */
  sum: number[];
  /** Their means in the window before; empty in the first. */
  before: number[];
  /** Windows running that moved little. */
  calm: number;
}

export interface AscentOptions {
  readonly model: Model;
  readonly horizon: number;
  readonly reach: readonly Reach[];
  /** How far a step moves a design at first, in spreads. */
  readonly rate: number;
  /** Whether it decays to a hundredth over `steps`. */
  readonly decay: boolean;
  readonly steps: number;
}

export class Ascent {
  readonly #model: Model;
  readonly #rate: number;
  readonly #optimiser: Optimiser<AdamState>;
  /** Powers of two: scaling rounds nothing. [horizon, variables] */
  readonly #spreads: Float64Array;

  constructor({ model, horizon, reach, rate, decay, steps }: AscentOptions) {
    this.#model = model;
    this.#rate = rate;
    this.#optimiser = adam({ rate: decay ? decayingRate(rate, steps) : rate });
    this.#spreads = Float64Array.from(
      { length: horizon * reach.length },
      (_, i) => reach[i % reach.length].spread,
    );
  }

  /** One step up the gradient [horizon, variables], back inside the bounds; variables with values stay. */
  step(climb: Climb, gradient: Float64Array): void {
    const { design } = this.#model;
    const spreads = this.#spreads;
    const scaled = this.#scaled(climb);
    const state: AdamState =
      climb.adam.step === 0
        ? this.#optimiser.init(scaled)
        : {
            step: climb.adam.step,
            mean: Float64Array.from(climb.adam.mean),
            meanSquare: Float64Array.from(climb.adam.meanSquare),
          };
    const descent = gradient.map((derivative, i) =>
      design[i % design.length].values === undefined ? -derivative * spreads[i] : 0,
    );
    this.#optimiser.update(scaled, descent, state);
    climb.designs = Array.from(scaled, (value, i) =>
      nearestAllowed(design[i % design.length], value * spreads[i]),
    );
    climb.adam = { step: state.step, mean: [...state.mean], meanSquare: [...state.meanSquare] };
  }

  /** What Adam remembers of observation t, which moved, is about another place. */
  forget(climb: Climb, t: number): void {
    const variables = this.#model.design.length;
    if (climb.adam.mean.length === 0) return;
    for (let d = 0; d < variables; d++) climb.adam.mean[t * variables + d] = 0;
  }

  /** Takes in the designs after a step of a climb, which are numbered from 1. */
  watch({ settling, ...climb }: Climb, step: number, { window, speed }: SettledRule): void {
    if (settling === undefined) return;
    const { sum, before } = settling;
    const scaled = this.#scaled(climb);
    for (let i = 0; i < sum.length; i++) sum[i] += scaled[i];
    if (step % window !== 0) return;
    const means = sum.map((value) => value / window);
    if (before.length > 0) {
      const square = means.reduce((total, mean, i) => total + (mean - before[i]) ** 2, 0) / means.length;
      settling.calm = Math.sqrt(square) < speed * this.#rate * window ? settling.calm + 1 : 0;
    }
    settling.before = means;
    sum.fill(0);
  }

  #scaled({ designs }: Pick<Climb, "designs">): Float64Array {
    return Float64Array.from(designs, (value, i) => value / this.#spreads[i]);
  }
}
