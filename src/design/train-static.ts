/**
 * Static designs by stochastic ascent from several starts.
 *
 * The landscape has many local optima, so the starts are spread over where the prior has the parameters (or over the
 * bounds), climb for a while, and the better ones climb on (successive halving). Between rounds, designs that no
 * longer inform (which drifted to where the objective does not feel them) are moved to the best of some random places.
 * Every step has its own random stream, so a run that was interrupted and resumed ends as one that was not.
 */
import { type AdamState, adam, Workspace, type WorkspaceOptions } from "../compute/index.js";
import { InputError } from "../core/errors.js";
import { type RandomStream, randomStream } from "../core/random.js";
import { type MeanEstimate, meanEstimate } from "../core/stats.js";
import type { Model } from "./model.js";
import { type Noise, PAPER_SIZES, type SampleSizes } from "./objective.js";
import { drawOuter } from "./policy.js";
import type { ObjectiveKind } from "./quantity.js";
import { staticObjective } from "./static-objective.js";

export interface TrainStaticOptions extends WorkspaceOptions {
  readonly objective?: ObjectiveKind | undefined;
  readonly beta?: number | undefined;
  /** Further models that the data must not leak under: the leakage is the largest of theirs and the model's own. */
  readonly against?: readonly Model[] | undefined;
  readonly horizon?: number | undefined;
  /** Steps that the best start takes in all, or at most with `settled`. */
  readonly steps?: number | undefined;
  /** How many starts. */
  readonly starts?: number | undefined;
  readonly seed?: number | undefined;
  /** How far a step moves a design at first, in units of the prior's spread; it decays to a hundredth unless `decay` is off. */
  readonly rate?: number | undefined;
  readonly decay?: boolean | undefined;
  /** Ends every climb once its designs have settled, before its steps are over; needs `decay` to be off. */
  readonly settled?: SettledRule | undefined;
  /** Where starts are drawn from, instead of from all over the prior: N(mean, sd^2) in every variable. */
  readonly start?: { readonly mean: number; readonly sd: number } | undefined;
  /** Designs [horizon, variables] that the first start begins at. */
  readonly from?: Float64Array | undefined;
  readonly sizes?: SampleSizes | undefined;
  /** Called after every step. */
  readonly onProgress?: ((progress: TrainingProgress) => void | Promise<void>) | undefined;
  /** Continues a run from where a checkpoint was taken. */
  readonly resume?: StaticCheckpoint | undefined;
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

export interface TrainingProgress {
  readonly step: number;
  /** How many there are at most. */
  readonly steps: number;
  /** The bound at this step's samples. */
  readonly value: number;
  /** Everything that `resume` needs, made only when it is asked for. */
  checkpoint(): StaticCheckpoint;
}

interface Climb {
  designs: number[];
  adam: { step: number; mean: number[]; meanSquare: number[] };
  score: number;
  settling?: Settling | undefined;
}

/** What is known of whether a climb has settled: [horizon, variables] each, in units of the prior's spread. */
interface Settling {
  /** The sum of the designs in this window. */
  sum: number[];
  /** Their means in the window before; empty in the first. */
  before: number[];
  /** Windows running that moved little. */
  calm: number;
}

/** A run in the middle, as plain data. */
export interface StaticCheckpoint {
  readonly round: number;
  readonly index: number;
  readonly step: number;
  readonly total: number;
  readonly climbs: readonly Climb[];
}

export interface TrainedStatic {
  /** [horizon, variables] */
  readonly designs: Float64Array;
  /** The lower bound at fresh samples, in nats. */
  readonly objective: MeanEstimate;
  /** Steps that led to the designs. */
  readonly steps: number;
  /** The scores of all starts in each round, best first. */
  readonly rounds: readonly (readonly number[])[];
}

export const trainTexts = {
  whole: (name: string, given: unknown) => `${name} was ${String(given)}: give a whole number of at least 1`,
  beta: (given: unknown) => `beta was ${String(given)}: give a number from 0, such as 0.8`,
  speed: (given: unknown) =>
    `the speed below which designs have settled was ${String(given)}: give a share above 0 and below 1, such as 0.03`,
  decay:
    "designs cannot be seen to settle while the rate decays, since they slow down with it: turn decay off, or leave out settled",
};

/** A design whose removal costs less than this many nats does not inform. */
const IDLE = 0.005;
/** Places that an idle design is tried at, and batches that they are compared on, all on the same samples. */
const PLACES = 12;
const COMPARING = 4;
/** Batches that a score is the mean of. */
const SCORING = 12;
const FINAL_SCORING = 60;

/** The noise of the same experiments without observation t. */
const withoutObservation = (noise: Noise, t: number, horizon: number): Noise =>
  noise.map((byOutcome) =>
    Object.fromEntries(
      Object.entries(byOutcome).map(([name, all]) => [name, all.filter((_, k) => k % horizon !== t)]),
    ),
  );

/** Steps and survivors of each round: a third of the climbs go on each time, for longer. */
const planRounds = (starts: number, steps: number): { readonly steps: number; readonly keep: number }[] => {
  if (starts === 1) return [{ steps, keep: 1 }];
  const rounds: { steps: number; keep: number }[] = [];
  let alive = starts;
  let left = steps;
  while (alive > 1) {
    const keep = Math.max(1, Math.ceil(alive / 4));
    const share = Math.max(1, Math.round(left * (keep === 1 ? 0.35 : 0.15)));
    rounds.push({ steps: share, keep });
    left -= share;
    alive = keep;
  }
  rounds.push({ steps: Math.max(1, left), keep: 1 });
  return rounds;
};

export const trainStatic = async (model: Model, options: TrainStaticOptions = {}): Promise<TrainedStatic> => {
  const {
    objective = "conditional",
    beta = 0.8,
    against = [],
    horizon = 10,
    steps = 6000,
    starts = 24,
    seed = 0,
    rate = 0.05,
    decay = true,
    settled,
    sizes = PAPER_SIZES,
    onProgress,
    resume,
  } = options;
  const { window = 1, times = 1 } = settled ?? {};
  for (const [name, value] of Object.entries({ horizon, steps, starts, window, times })) {
    if (!Number.isInteger(value) || value < 1) throw new InputError(name, trainTexts.whole(name, value));
  }
  if (!(beta >= 0 && beta < Infinity)) throw new InputError("beta", trainTexts.beta(beta));
  if (settled !== undefined) {
    if (!(settled.speed > 0 && settled.speed < 1)) {
      throw new InputError("settled", trainTexts.speed(settled.speed));
    }
    if (decay) throw new InputError("settled", trainTexts.decay);
  }
  const stream = randomStream(seed).split("static");
  const workspace = new Workspace(options);
  const objectiveFor = (observations: number) =>
    staticObjective({ model, against, objective, beta, horizon: observations, sizes, workspace });
  const bound = objectiveFor(horizon);
  const without = horizon > 1 ? objectiveFor(horizon - 1) : undefined;
  const reach = reachOf(model, stream.split("reach"));
  const drawPlace = (from: RandomStream, centre: readonly number[], width: number): number[] =>
    model.design.map((variable, d) => {
      if (variable.values !== undefined) return variable.values[from.integer(variable.values.length)];
      return clip(centre[d] + width * reach[d].spread * from.normal(), variable.low, variable.high);
    });
  const drawStart = (from: RandomStream): number[] => {
    if (options.start !== undefined) {
      const { mean, sd } = options.start;
      return Array.from({ length: horizon }, () =>
        model.design.map(({ low, high }) => clip(from.normal(mean, sd), low, high)),
      ).flat();
    }
    // Together around some place or all over: widths from narrow to wide.
    const centre = drawPlace(
      from,
      reach.map(({ middle }) => middle),
      2,
    );
    const width = [0.3, 0.8, 1.5, 2.5][from.integer(4)];
    return Array.from({ length: horizon }, () => drawPlace(from, centre, width)).flat();
  };
  const score = (designs: Float64Array, from: RandomStream, batches: number): MeanEstimate =>
    meanEstimate(Array.from({ length: batches }, (_, i) => bound.evaluate(designs, from.split(i))));

  try {
    const rounds = planRounds(starts, steps);
    const scores: number[][] = [];
    let climbs: Climb[] =
      resume !== undefined
        ? structuredClone([...resume.climbs])
        : Array.from({ length: starts }, (_, k) => ({
            designs:
              k === 0 && options.from !== undefined
                ? [...options.from]
                : drawStart(stream.split("start").split(k)),
            adam: { step: 0, mean: [], meanSquare: [] },
            score: -Infinity,
          }));
    let total = resume?.total ?? 0;
    const wanted = rounds.reduce(
      ({ alive, sum }, { steps: each, keep }) => ({ alive: keep, sum: sum + alive * each }),
      { alive: starts, sum: 0 },
    ).sum;
    const spreads = Float64Array.from(
      { length: horizon * model.design.length },
      (_, i) => reach[i % reach.length].spread,
    );
    for (let round = resume?.round ?? 0; round < rounds.length; round++) {
      const before = rounds.slice(0, round).reduce((sum, each) => sum + each.steps, 0);
      const optimiser = adam({
        rate: (at) => (decay ? rate * 0.01 ** (Math.min(at, steps) / steps) : rate),
      });
      const first = round === (resume?.round ?? 0) ? (resume?.index ?? 0) : 0;
      for (let index = first; index < climbs.length; index++) {
        const climb = climbs[index];
        // In units of the prior's spread, so that one rate suits every variable.
        const scaled = Float64Array.from(climb.designs, (value, i) => value / spreads[i]);
        const state: AdamState =
          climb.adam.step === 0
            ? optimiser.init(scaled)
            : {
                step: climb.adam.step,
                mean: Float64Array.from(climb.adam.mean),
                meanSquare: Float64Array.from(climb.adam.meanSquare),
              };
        const store = () => {
          climb.designs = Array.from(scaled, (value, i) => value * spreads[i]);
          climb.adam = { step: state.step, mean: [...state.mean], meanSquare: [...state.meanSquare] };
        };
        const resumes = round === resume?.round && index === resume.index;
        if (settled !== undefined && !(resumes && climb.settling !== undefined)) {
          climb.settling = { sum: Array.from(scaled, () => 0), before: [], calm: 0 };
        }
        const { settling } = climb;
        for (let step = resumes ? resume.step : 0; step < rounds[round].steps; step++) {
          if (settling !== undefined && settling.calm >= times) break;
          const here = scaled.map((value, i) => value * spreads[i]);
          const value = bound.evaluate(here, stream.split(round).split(before + step));
          optimiser.update(
            scaled,
            bound.gradient.map((derivative, i) => -derivative * spreads[i]),
            state,
          );
          project(model, scaled, spreads);
          if (settled !== undefined && settling !== undefined) {
            watch(settling, scaled, step + 1, settled, rate);
          }
          total++;
          await onProgress?.({
            step: total,
            steps: wanted,
            value,
            checkpoint: () => {
              store();
              return structuredClone({ round, index, step: step + 1, total, climbs });
            },
          });
        }
        store();
        if (without !== undefined && (starts > 1 || round < rounds.length - 1)) {
          moveIdle(climb, stream.split("idle").split(round).split(index));
        }
        climb.score = score(
          Float64Array.from(climb.designs),
          stream.split("score").split(round),
          SCORING,
        ).mean;
      }
      climbs.sort((a, b) => b.score - a.score);
      scores.push(climbs.map((climb) => climb.score));
      climbs = climbs.slice(0, rounds[round].keep);
    }
    const designs = Float64Array.from(climbs[0].designs);
    return {
      designs,
      objective: score(designs, stream.split("final"), FINAL_SCORING),
      steps: climbs[0].adam.step,
      rounds: scores,
    };
  } finally {
    bound.dispose();
    without?.dispose();
    workspace.dispose();
  }

  /** Moves designs that inform hardly at all, each to the best of some random places. */
  function moveIdle(climb: Climb, from: RandomStream): void {
    if (without === undefined) return;
    const variables = model.design.length;
    const streams = Array.from({ length: COMPARING }, (_, i) => from.split("compare").split(i));
    const noises = streams.map((each) => bound.noise(each));
    const value = (designs: Float64Array) =>
      streams.reduce((sum, each, i) => sum + bound.evaluate(designs, each, "lower", noises[i]), 0) /
      COMPARING;
    /** The same experiments without observation t: the difference is what the observation is worth. */
    const valueWithout = (designs: Float64Array, t: number) => {
      const others = designs.filter((_, i) => Math.floor(i / variables) !== t);
      const total = streams.reduce((sum, each, i) => {
        return sum + without.evaluate(others, each, "lower", withoutObservation(noises[i], t, horizon));
      }, 0);
      return total / COMPARING;
    };
    for (let t = 0; t < horizon; t++) {
      const all = Float64Array.from(climb.designs);
      let best = value(all);
      if (best - valueWithout(all, t) >= IDLE) continue;
      for (let k = 0; k < PLACES; k++) {
        const near = from.split("place").split(t).split(k);
        // Half of the places are near another design, half anywhere.
        const other = near.integer(horizon);
        const place =
          k % 2 === 0
            ? drawPlace(near, [...all.subarray(other * variables, (other + 1) * variables)], 0.3)
            : drawPlace(
                near,
                reach.map(({ middle }) => middle),
                2,
              );
        const tried = all.slice();
        tried.set(place, t * variables);
        const there = value(tried);
        if (there <= best) continue;
        best = there;
        climb.designs = [...tried];
        // What Adam remembers of a design that moved is about another place.
        for (let d = 0; d < variables; d++) climb.adam.mean[t * variables + d] = 0;
      }
    }
  }
};

const clip = (value: number, low: number, high: number): number => Math.min(high, Math.max(low, value));

/** Takes in the designs after a step of a climb, which are numbered from 1. */
const watch = (
  settling: Settling,
  scaled: Float64Array,
  step: number,
  { window, speed }: SettledRule,
  rate: number,
): void => {
  const { sum, before } = settling;
  for (let i = 0; i < sum.length; i++) sum[i] += scaled[i];
  if (step % window !== 0) return;
  const means = sum.map((value) => value / window);
  if (before.length > 0) {
    const square = means.reduce((total, mean, i) => total + (mean - before[i]) ** 2, 0) / means.length;
    settling.calm = Math.sqrt(square) < speed * rate * window ? settling.calm + 1 : 0;
  }
  settling.before = means;
  sum.fill(0);
};

/** Back inside the bounds; a variable with finitely many values goes to the nearest. */
const project = (model: Model, scaled: Float64Array, spreads: Float64Array): void => {
  for (let i = 0; i < scaled.length; i++) {
    const { low, high } = model.design[i % model.design.length];
    scaled[i] = clip(scaled[i] * spreads[i], low, high) / spreads[i];
  }
};

/** The middle and spread of where a design variable may matter: its bounds, or where the target's prior is. */
const reachOf = (
  model: Model,
  stream: RandomStream,
): readonly { readonly middle: number; readonly spread: number }[] => {
  const drawn = drawOuter(model, 256, stream);
  const values = model.parameters
    .filter(({ role }) => role !== "nuisance")
    .flatMap(({ name }) => [...drawn[name]]);
  const { mean } = meanEstimate(values);
  const spread = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length) || 1;
  return model.design.map(({ low, high }) =>
    Number.isFinite(low) && Number.isFinite(high)
      ? { middle: (low + high) / 2, spread: powerOfTwo((high - low) / 4) }
      : { middle: mean, spread: powerOfTwo(spread) },
  );
};

/** The nearest power of two: scaling by it rounds nothing, so that a checkpoint holds a run exactly. */
const powerOfTwo = (value: number): number => 2 ** Math.round(Math.log2(value));
