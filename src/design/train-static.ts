/**
 * Static designs by stochastic ascent from several starts.
 *
 * The landscape has many local optima, so the starts are spread over where the prior has the parameters (or over the
 * bounds), climb for a while, and the better ones climb on (successive halving). Between rounds, designs that no
 * longer inform (which drifted to where the objective does not feel them) are moved to the best of some random places.
 * Every step has its own random stream, so a run that was interrupted and resumed ends as one that was not.
 *
 * A design variable with finitely many values is never moved by a gradient: every few steps the values of one
 * observation are exchanged for the best ones, on the same samples. Where all variables are such, that is all there is to
 * a step, and a climb ends when no observation has a better value; and where sets of designs are few, each is a start
 * and none moves.
 */
import { Workspace, type WorkspaceOptions } from "../compute/index.js";
import { InputError } from "../core/errors.js";
import { type Pacer, pacer } from "../core/options.js";
import { type RandomStream, seededStream } from "../core/random.js";
import { type EstimatedMean, meanEstimate } from "../core/stats.js";
import type { Model } from "./model.js";
import { type Objective, PAPER_SIZES, type SampleSizes } from "./objective.js";
import { nearestAllowed } from "./policy.js";
import type { ObjectiveKind } from "./quantity.js";
import { Ascent, type Climb, type SettledRule } from "./static-ascent.js";
import { allDesigns, EXCHANGE_EVERY, exchange, moveIdle, type StaticMoves } from "./static-moves.js";
import { staticObjective } from "./static-objective.js";
import { FINAL_SCORING, planRounds, type Round, SCORING, stepsIn } from "./static-rounds.js";
import { drawStart, reachOf } from "./static-starts.js";
import {
  modelSettings,
  requireNumbers,
  requireSameSettings,
  requireTrainable,
  TrainingError,
  type TrainingRunOptions,
  type TrainingSettings,
  trainTexts,
} from "./training.js";
import { TRAINING_DEFAULTS } from "./training-defaults.js";

export interface TrainStaticOptions extends WorkspaceOptions, TrainingRunOptions<StaticCheckpoint> {
  /** Leakage given the target (R_c) or by itself (R_u); "conditional" unless given. */
  readonly objective?: ObjectiveKind | undefined;
  /** What a nat of leakage costs, 0.8 unless given. */
  readonly beta?: number | undefined;
  /** Further models that the data must not leak under: the leakage is the largest of theirs and the model's own. */
  readonly against?: readonly Model[] | undefined;
  /** Observations, 10 unless given. */
  readonly horizon?: number | undefined;
  /** Steps that the best start takes in all, or at most with `settled`; 6000 unless given. */
  readonly steps?: number | undefined;
  /** How many starts, 24 unless given. */
  readonly starts?: number | undefined;
  /** Where the random streams start, 0 unless given. */
  readonly seed?: number | undefined;
  /**
   * How far a step moves a design at first, in units of the prior's spread, 0.05 unless given; it decays to a hundredth
   * unless `decay` is off.
   */
  readonly rate?: number | undefined;
  readonly decay?: boolean | undefined;
  /** Ends every climb once its designs have settled, before its steps are over; needs `decay` to be off. */
  readonly settled?: SettledRule | undefined;
  /** Where starts are drawn from, instead of from all over the prior: N(mean, sd^2) in every variable. */
  readonly start?: { readonly mean: number; readonly sd: number } | undefined;
  /** Designs [horizon, variables] that the first start begins at. */
  readonly from?: Float64Array | undefined;
  /** Samples of a step, the paper's unless given. */
  readonly sizes?: SampleSizes | undefined;
}

/** A run in the middle, as plain JSON data. */
export interface StaticCheckpoint {
  readonly kind: "static";
  /** What must be the same for a run to go on. */
  readonly settings: TrainingSettings;
  /** The climb that was under way in a round, and its steps there. */
  readonly round: number;
  readonly index: number;
  readonly step: number;
  /** Steps of all climbs. */
  readonly total: number;
  readonly climbs: readonly Climb[];
  /** The scores of the rounds that are over. */
  readonly scores: readonly (readonly number[])[];
}

export interface TrainedStatic {
  /** [horizon, variables] */
  readonly designs: Float64Array;
  /** The lower bound at fresh samples, in nats. */
  readonly objective: EstimatedMean;
  /** Steps that led to the designs. */
  readonly steps: number;
  /** The scores of all starts in each round, best first. */
  readonly rounds: readonly (readonly number[])[];
  /** What a user should know, such as that the designs are worth nothing; each is a sentence. */
  readonly warnings: readonly string[];
}

/** A climb before one of its steps. */
interface Good extends Pick<StaticCheckpoint, "round" | "index" | "step" | "total"> {
  readonly climb: Climb;
}

/**
 * Designs [horizon, variables] that make a lower bound of R = EIG_theta - beta leakage large (see `static-objective.ts`),
 * with what they reach.
 *
 * Designs are always allowed: inside their bounds, and among their values where those are finitely many. Any number
 * that is not finite ends training with a {@link TrainingError}, which has the last good state.
 *
 * @example
 * ```ts
 * import { pharmacokinetics, trainStatic } from "fairbed/design";
 *
 * const { designs } = await trainStatic(pharmacokinetics(), {
 *   horizon: 2,
 *   steps: 20,
 *   starts: 2,
 *   sizes: { outer: 20, contrastive: 20, marginal: 20 },
 * });
 * console.log(designs.length, designs.every((time) => time >= 0.1 && time <= 24)); // 2 true
 * ```
 */
export const trainStatic = async (model: Model, options: TrainStaticOptions = {}): Promise<TrainedStatic> => {
  const training = new StaticTraining(model, options);
  try {
    return await training.run();
  } finally {
    training.dispose();
  }
};

class StaticTraining {
  readonly #model: Model;
  readonly #options: TrainStaticOptions;
  readonly #settings: TrainingSettings;
  readonly #stream: RandomStream;
  readonly #workspace: Workspace;
  readonly #pace: Pacer;
  readonly #moves: StaticMoves;
  readonly #ascent: Ascent;
  /** Whether a gradient moves anything, and whether there are values to exchange. */
  readonly #climbs: boolean;
  readonly #exchanges: boolean;
  /** Every set of designs, where they are few. */
  readonly #listed: readonly number[][] | undefined;
  readonly #starts: number;
  readonly #rounds: readonly Round[];
  #without: Objective | undefined;
  #alive: Climb[] = [];
  #scores: (readonly number[])[] = [];
  #total = 0;
  /** The latest state of a climb whose objective was finite. */
  #good: Good | undefined;

  constructor(model: Model, options: TrainStaticOptions) {
    const {
      objective = TRAINING_DEFAULTS.objective,
      beta = TRAINING_DEFAULTS.beta,
      against = [],
      horizon = TRAINING_DEFAULTS.horizon,
      steps = TRAINING_DEFAULTS.static.steps,
      starts = TRAINING_DEFAULTS.static.starts,
      seed = TRAINING_DEFAULTS.seed,
      rate = TRAINING_DEFAULTS.static.rate,
      decay = true,
      settled,
      sizes = PAPER_SIZES,
      resume,
    } = options;
    const { window = 1, times = 1 } = settled ?? {};
    requireTrainable({ horizon, steps, starts, window, times }, beta);
    if (settled !== undefined) requireRule(settled, decay);
    const models = modelSettings(model, against);
    this.#settings = { ...models, objective, beta, horizon, seed, sizes, steps, starts };
    if (resume !== undefined) requireResumable(resume, this.#settings, horizon * model.design.length);
    this.#model = model;
    this.#options = options;
    this.#stream = seededStream(seed).split("static");
    this.#pace = pacer({ signal: options.signal });
    const workspace = new Workspace(options);
    this.#workspace = workspace;
    const objectiveFor = (observations: number): Objective =>
      staticObjective({ model, against, objective, beta, horizon: observations, sizes, workspace });
    const reach = reachOf(model, this.#stream.split("reach"));
    this.#moves = {
      model,
      horizon,
      bound: objectiveFor(horizon),
      without: () => {
        if (horizon > 1) this.#without ??= objectiveFor(horizon - 1);
        return this.#without;
      },
      reach,
      pace: this.#pace,
    };
    this.#ascent = new Ascent({ model, horizon, reach, rate, decay, steps });
    this.#climbs = model.design.some(({ values }) => values === undefined);
    this.#exchanges = model.design.some(({ values }) => values !== undefined);
    this.#listed = allDesigns(model, horizon);
    this.#starts = this.#listed?.length ?? starts;
    this.#rounds = planRounds(this.#starts, this.#listed === undefined ? steps : 1);
  }

  async run(): Promise<TrainedStatic> {
    const { resume } = this.#options;
    this.#alive = resume === undefined ? this.#firstClimbs() : structuredClone([...resume.climbs]);
    this.#scores = [...(resume?.scores ?? [])];
    this.#total = resume?.total ?? 0;
    await this.#pace.pause();
    for (let round = resume?.round ?? 0; round < this.#rounds.length; round++) {
      const resumed = round === resume?.round ? resume : undefined;
      const from = this.#stream.split("score").split(round);
      for (let index = resumed?.index ?? 0; index < this.#alive.length; index++) {
        await this.#climb(round, index, index === resumed?.index ? resumed.step : undefined);
        const climb = this.#alive[index];
        climb.score = (await this.#score(climb.designs, from, SCORING, round, index)).mean;
      }
      this.#alive.sort((a, b) => (b.score ?? -Infinity) - (a.score ?? -Infinity));
      this.#scores.push(this.#alive.map(({ score = -Infinity }) => score));
      this.#alive = this.#alive.slice(0, this.#rounds[round].keep);
    }
    const [{ designs, taken }] = this.#alive;
    const last = this.#rounds.length - 1;
    const objective = await this.#score(designs, this.#stream.split("final"), FINAL_SCORING, last, 0);
    const { mean, standardError } = objective;
    return {
      designs: Float64Array.from(designs),
      objective,
      steps: taken,
      rounds: this.#scores,
      warnings: mean > 2 * standardError ? [] : [trainTexts.nothingReached(mean, standardError)],
    };
  }

  #firstClimbs(): Climb[] {
    const { from, start } = this.#options;
    const { reach, horizon } = this.#moves;
    const { design } = this.#model;
    const designsOf = (k: number): number[] => {
      if (this.#listed !== undefined) return [...this.#listed[k]];
      if (k === 0 && from !== undefined) {
        return Array.from(from, (value, i) => nearestAllowed(design[i % design.length], value));
      }
      return drawStart(this.#model, reach, horizon, this.#stream.split("start").split(k), start);
    };
    return Array.from({ length: this.#starts }, (_, k) => ({
      designs: designsOf(k),
      adam: { step: 0, mean: [], meanSquare: [] },
      taken: 0,
    }));
  }

  /** The steps of one climb in a round, from the first or from where a checkpoint was taken. */
  async #climb(round: number, index: number, resumedAt: number | undefined): Promise<void> {
    const { settled } = this.#options;
    const { horizon } = this.#moves;
    const climb = this.#alive[index];
    if (resumedAt === undefined) {
      climb.unchanged = 0;
      climb.settling = undefined;
    }
    if (settled !== undefined) climb.settling ??= { sum: climb.designs.map(() => 0), before: [], calm: 0 };
    const before = this.#rounds.slice(0, round).reduce((sum, each) => sum + each.steps, 0);
    for (let step = resumedAt ?? 0; step < this.#rounds[round].steps; step++) {
      if (climb.settling !== undefined && climb.settling.calm >= (settled?.times ?? 1)) break;
      if ((climb.unchanged ?? 0) >= horizon) break;
      const own = this.#stream.split(round).split(before + step);
      const value = await this.#step(climb, round, index, step, own);
      climb.taken++;
      this.#total++;
      await this.#options.onProgress?.({
        done: this.#total,
        total: stepsIn(this.#rounds, this.#starts),
        value,
        checkpoint: () => this.#checkpoint(round, index, step + 1),
        designs: () => this.#leading(index),
      });
      await this.#pace.pause();
    }
    if (this.#listed !== undefined) return;
    if (this.#climbs && this.#exchanges) {
      for (let t = 0; t < horizon; t++) await this.#exchange(climb, round, t);
    }
    if (this.#starts === 1 && round === this.#rounds.length - 1) return;
    const idle = this.#stream.split("idle").split(round).split(index);
    const designs = Float64Array.from(climb.designs);
    const moved = await moveIdle(this.#moves, designs, idle);
    climb.designs = [...designs];
    for (const t of moved) this.#ascent.forget(climb, t);
  }

  /** One step of a climb: of Adam, an exchange of the values of one observation, or nothing where all sets are listed. */
  async #step(climb: Climb, round: number, index: number, step: number, own: RandomStream): Promise<number> {
    const { bound, horizon } = this.#moves;
    if (!this.#climbs && this.#listed === undefined) {
      const { value, changed } = await this.#exchange(climb, round, step % horizon);
      climb.unchanged = changed ? 0 : (climb.unchanged ?? 0) + 1;
      this.#requireFinite([value], round, index, step);
      return value;
    }
    if (this.#climbs && this.#exchanges && step % EXCHANGE_EVERY === 0) {
      await this.#exchange(climb, round, Math.floor(step / EXCHANGE_EVERY) % horizon);
    }
    const value = bound.evaluate(Float64Array.from(climb.designs), own);
    this.#requireFinite([value, ...(this.#climbs ? bound.gradient : [])], round, index, step);
    this.#good = { round, index, step, total: this.#total, climb: structuredClone(climb) };
    if (this.#climbs) {
      this.#ascent.step(climb, bound.gradient);
      if (this.#options.settled !== undefined) this.#ascent.watch(climb, step + 1, this.#options.settled);
    }
    return value;
  }

  /** On the same samples throughout a round, so that an observation whose values are the best keeps them. */
  async #exchange(climb: Climb, round: number, t: number): Promise<{ value: number; changed: boolean }> {
    const designs = Float64Array.from(climb.designs);
    const exchanged = await exchange(this.#moves, designs, t, this.#stream.split("exchange").split(round));
    if (exchanged.changed) {
      climb.designs = [...designs];
      this.#ascent.forget(climb, t);
    }
    return exchanged;
  }

  async #score(
    designs: readonly number[],
    from: RandomStream,
    batches: number,
    round: number,
    index: number,
  ): Promise<EstimatedMean> {
    const at = Float64Array.from(designs);
    const values: number[] = [];
    for (let i = 0; i < batches; i++) {
      values.push(this.#moves.bound.evaluate(at, from.split(i)));
      await this.#pace.pause();
    }
    this.#requireFinite(values, round, index, this.#rounds[round].steps);
    return meanEstimate(values);
  }

  #requireFinite(values: readonly number[], round: number, index: number, step: number): void {
    const wrong = values.findIndex((value) => !Number.isFinite(value));
    if (wrong < 0) return;
    const what = wrong === 0 || step === this.#rounds[round].steps ? "objective" : "gradient";
    const text = trainTexts.notFinite(this.#total + 1, what, values[wrong]);
    const good = this.#good;
    const checkpoint = this.#checkpoint(round, index, step);
    if (good === undefined || good.round !== round || good.index !== index) {
      throw new TrainingError(text, checkpoint);
    }
    const climbs = checkpoint.climbs.map((climb, i) => (i === index ? good.climb : climb));
    throw new TrainingError(text, { ...checkpoint, step: good.step, total: good.total, climbs });
  }

  /** The designs of the climb with the best score so far; before there is one, of the climb that is under way. */
  #leading(index: number): number[][] {
    const scored = this.#alive.filter(({ score }) => score !== undefined);
    const { designs } = scored.reduce(
      (best, each) => ((each.score ?? -Infinity) > (best.score ?? -Infinity) ? each : best),
      scored[0] ?? this.#alive[index],
    );
    const variables = this.#model.design.length;
    return Array.from({ length: this.#moves.horizon }, (_, t) =>
      designs.slice(t * variables, (t + 1) * variables),
    );
  }

  #checkpoint(round: number, index: number, step: number): StaticCheckpoint {
    return structuredClone({
      kind: "static",
      settings: this.#settings,
      round,
      index,
      step,
      total: this.#total,
      climbs: this.#alive,
      scores: this.#scores,
    });
  }

  dispose(): void {
    this.#moves.bound.dispose();
    this.#without?.dispose();
    this.#workspace.dispose();
  }
}

/** Refuses a rule by which nothing could settle. */
export const requireRule = ({ speed }: SettledRule, decay: boolean): void => {
  if (!(speed > 0 && speed < 1)) throw new InputError("settled", trainTexts.speed(speed));
  if (decay) throw new InputError("settled", trainTexts.decay);
};

const requireResumable = (resume: StaticCheckpoint, settings: TrainingSettings, length: number): void => {
  if (resume.kind !== "static") throw new InputError("checkpoint", trainTexts.otherDevice("cpu"));
  requireSameSettings(resume.settings, settings);
  for (const { designs } of resume.climbs) requireNumbers(designs, length, "designs");
};
