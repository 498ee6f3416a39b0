/**
 * Static designs by stochastic ascent on a GPU: the algorithm of train-static.ts, with all starts of all runs (seeds, betas)
 * climbing at the same time. Samples come from the same streams, in float32; designs, gradients and Adam stay on the
 * GPU, and bounds and designs are read back every few hundred milliseconds.
 */
import type { Gpu } from "../../compute/webgpu/device.js";
import { momentWords, NOT_FINITE, RUNNING } from "../../compute/webgpu/nested/ascent-kernel.js";
import { type ClimbRow, NestedClimb } from "../../compute/webgpu/nested/climb.js";
import { firstSteps, pointsOf } from "../../compute/webgpu/nested/row-program.js";
import { InputError } from "../../core/errors.js";
import { type Pacer, pacer } from "../../core/options.js";
import { type RandomStream, seededStream } from "../../core/random.js";
import { type EstimatedMean, meanEstimate } from "../../core/stats.js";
import type { Model } from "../model.js";
import { requireNoDependentCount } from "../nested.js";
import { PAPER_SIZES, type SampleSizes } from "../objective.js";
import { nearestAllowed } from "../policy.js";
import {
  evidencesOf,
  GIVEN,
  type Given,
  type ObjectiveKind,
  objectiveQuantity,
  type Quantity,
} from "../quantity.js";
import { allDesigns, EXCHANGE_EVERY } from "../static-moves.js";
import { FINAL_SCORING, planRounds, type Round, SCORING, stepsIn } from "../static-rounds.js";
import { drawStart, type Reach, reachOf } from "../static-starts.js";
import { requireRule, type TrainedStatic, type TrainStaticOptions } from "../train-static.js";
import {
  modelSettings,
  requireNumbers,
  requireSameSettings,
  requireTrainable,
  type TrainingProgress,
  type TrainingSettings,
  trainTexts,
} from "../training.js";
import { TRAINING_DEFAULTS } from "../training-defaults.js";
import { describeNested, gpuModelTexts, integrated } from "./describe.js";
import { exchangeStarts } from "./exchange-moves.js";
import { moveIdleStarts } from "./idle-moves.js";
import { atRoundStart, climbState, type GpuClimb, plainClimb, withMoved } from "./static-climb.js";
import { coefficientsOf, StaticValues, type ValueRow } from "./static-values.js";
import { BrokenRunsError, type GpuRun, runTraining, stepsNext } from "./training-run.js";

/** One of several trainings that run at the same time. */
export type StaticRun = GpuRun;

/** Several runs in the middle, as plain JSON data. */
export interface GpuStaticCheckpoint {
  readonly kind: "static on a GPU";
  /** What must be the same for the runs to go on. */
  readonly settings: TrainingSettings;
  /** Steps of the round that were done. */
  readonly round: number;
  readonly step: number;
  /** Steps of all climbs. */
  readonly total: number;
  readonly climbs: readonly (readonly GpuClimb[])[];
  /** The scores of the rounds that are over, for each run. */
  readonly scores: readonly (readonly (readonly number[])[])[];
}

export interface TrainStaticOnGpuOptions
  extends Omit<TrainStaticOptions, "beta" | "seed" | "resume" | "onProgress" | "threads"> {
  readonly runs: readonly StaticRun[];
  readonly onProgress?: ((progress: TrainingProgress<GpuStaticCheckpoint>) => unknown) | undefined;
  readonly resume?: GpuStaticCheckpoint | undefined;
}

/** Steps that are submitted at a time: few enough to be heard and stopped, many enough to keep the GPU busy. */
const FIRST_CHUNK = 8;
const MOST_CHUNK = 512;
const CHUNK_MS = 200;
/** So many steps of all climbs: each has keys of its own in memory. */
const MOST_ROW_STEPS = 2 ** 20;

/**
 * The designs of every run, in their order. A number that is not finite ends training with a {@link BrokenRunsError},
 * and a GPU that is lost with a {@link TrainingError}; both have the last good state.
 */
export const trainStaticOnGpu = async (
  gpu: Gpu,
  model: Model,
  options: TrainStaticOnGpuOptions,
): Promise<TrainedStatic[]> => runTraining(new GpuStaticTraining(gpu, model, options));

type TrainingState = Omit<GpuStaticCheckpoint, "kind" | "settings">;

interface Run {
  readonly quantity: Quantity;
  readonly stream: RandomStream;
  readonly reach: readonly Reach[];
  climbs: GpuClimb[];
  scores: (readonly number[])[];
}

/** A number that is none, and the climb that met it after so many steps. */
interface Broken {
  readonly run: Run;
  readonly climb: GpuClimb;
  readonly what: string;
  readonly value: number;
}

const NO_GRADIENT = { what: "gradient", value: Number.NaN };
const objectiveOf = (value: number) => ({ what: "objective", value });

class GpuStaticTraining {
  readonly #gpu: Gpu;
  readonly #model: Model;
  readonly #options: TrainStaticOnGpuOptions;
  readonly #settings: TrainingSettings;
  readonly #horizon: number;
  readonly #sizes: SampleSizes;
  readonly #rate: number;
  readonly #steps: number;
  readonly #rounds: readonly Round[];
  /** Whether a gradient moves anything, and whether there are values to exchange. */
  readonly #climbs: boolean;
  readonly #exchanges: boolean;
  /** Every set of designs, where they are few. */
  readonly #listed: readonly number[][] | undefined;
  readonly #starts: number;
  readonly #runs: readonly Run[];
  readonly #given: readonly Given[];
  /** Lets go of the thread between chunks, and hears that it is to stop. */
  readonly #paced: Pacer;
  #values: StaticValues | undefined;
  #round: number;
  #step: number;
  #total: number;
  /** Steps that are submitted next, once it is known how long they take. */
  #chunk: number | undefined;
  /** What a checkpoint has: the state of which all that was begun since is done again. */
  #kept: TrainingState;

  constructor(gpu: Gpu, model: Model, options: TrainStaticOnGpuOptions) {
    const {
      objective = TRAINING_DEFAULTS.objective,
      against = [],
      horizon = TRAINING_DEFAULTS.horizon,
      steps = TRAINING_DEFAULTS.static.steps,
      starts = TRAINING_DEFAULTS.static.starts,
      rate = TRAINING_DEFAULTS.static.rate,
      decay = true,
      settled,
      sizes = PAPER_SIZES,
      runs,
      resume,
    } = options;
    this.#paced = pacer({ signal: options.signal });
    const { window = 1, times = 1 } = settled ?? {};
    for (const { beta } of runs) requireTrainable({ horizon, steps, starts, window, times }, beta);
    if (settled !== undefined) requireRule(settled, decay);
    if (against.length > 0) throw new InputError("gpu-against", gpuModelTexts.against);
    requireNoDependentCount(model);
    this.#settings = {
      ...modelSettings(model, []),
      objective,
      runs,
      horizon,
      sizes,
      steps,
      starts,
      device: "gpu",
    };
    if (resume !== undefined) requireResumable(resume, this.#settings, horizon * model.design.length);
    this.#climbs = model.design.some(({ values }) => values === undefined);
    this.#exchanges = model.design.some(({ values }) => values !== undefined);
    this.#listed = allDesigns(model, horizon);
    this.#gpu = gpu;
    this.#model = model;
    this.#options = options;
    this.#horizon = horizon;
    this.#sizes = sizes;
    this.#rate = rate;
    this.#steps = decay ? steps : 0;
    this.#starts = this.#listed?.length ?? starts;
    this.#rounds = planRounds(this.#starts, this.#listed === undefined ? steps : 1);
    this.#runs = runs.map(({ beta, seed }, r) => this.#newRun(objective, beta, seed, resume, r));
    this.#given = GIVEN.filter((given) =>
      this.#runs.some(({ quantity }) => evidencesOf(quantity).includes(given)),
    );
    this.#round = resume?.round ?? 0;
    this.#step = resume?.step ?? 0;
    this.#total = resume?.total ?? 0;
    this.#kept = this.#state();
  }

  #newRun(
    objective: ObjectiveKind,
    beta: number,
    seed: number,
    resume: GpuStaticCheckpoint | undefined,
    r: number,
  ): Run {
    const stream = seededStream(seed).split("static");
    const reach = reachOf(this.#model, stream.split("reach"));
    return {
      quantity: objectiveQuantity(objective, beta),
      stream,
      reach,
      climbs: resume === undefined ? this.#firstClimbs(stream, reach) : [...resume.climbs[r]],
      scores: [...(resume?.scores[r] ?? [])],
    };
  }

  #firstClimbs(stream: RandomStream, reach: readonly Reach[]): GpuClimb[] {
    const { from, start } = this.#options;
    const { design } = this.#model;
    const size = this.#size;
    const designsOf = (k: number): number[] => {
      if (this.#listed !== undefined) return [...this.#listed[k]];
      if (k === 0 && from !== undefined) {
        return Array.from(from, (value, i) => nearestAllowed(design[i % design.length], value));
      }
      return drawStart(this.#model, reach, this.#horizon, stream.split("start").split(k), start);
    };
    return Array.from({ length: this.#starts }, (_, k) => ({
      designs: designsOf(k),
      moments: Array.from({ length: momentWords(size) }, () => 0),
      steps: 0,
      roundSteps: 0,
      stopped: RUNNING,
    }));
  }

  get #size(): number {
    return this.#horizon * this.#model.design.length;
  }

  async run(): Promise<TrainedStatic[]> {
    for (; this.#round < this.#rounds.length; this.#round++, this.#step = 0) {
      if (this.#step === 0) {
        for (const run of this.#runs) run.climbs = run.climbs.map((climb) => atRoundStart(climb, this.#size));
      }
      if (this.#listed !== undefined) this.#pass();
      else if (this.#climbs) await this.#climb();
      else await this.#exchangeAlone();
      const last = this.#round === this.#rounds.length - 1;
      if (this.#listed === undefined && !(this.#starts === 1 && last)) await this.#moveIdle();
      await this.#score();
      const { keep } = this.#rounds[this.#round];
      for (const run of this.#runs) {
        run.climbs.sort((a, b) => (b.score ?? -Infinity) - (a.score ?? -Infinity));
        run.scores.push(run.climbs.map(({ score = -Infinity }) => score));
        run.climbs = run.climbs.slice(0, keep);
      }
      this.#kept = { ...this.#state(), round: this.#round + 1, step: 0 };
    }
    return this.#results();
  }

  async #results(): Promise<TrainedStatic[]> {
    const best = this.#runs.map(({ climbs: [climb] }) => climb);
    const reached = await this.#scores(
      this.#runs.map((run, r) => ({ run, climb: best[r], from: run.stream.split("final") })),
      FINAL_SCORING,
    );
    return this.#runs.map((run, r) => {
      const { mean, standardError } = reached[r];
      return {
        designs: Float64Array.from(best[r].designs),
        objective: reached[r],
        steps: best[r].steps,
        rounds: run.scores,
        warnings: mean > 2 * standardError ? [] : [trainTexts.nothingReached(mean, standardError)],
      };
    });
  }

  get #all(): { readonly run: Run; readonly climb: GpuClimb; readonly index: number }[] {
    return this.#runs.flatMap((run) => run.climbs.map((climb, index) => ({ run, climb, index })));
  }

  /** All steps of a round, of all climbs at the same time. */
  async #climb(): Promise<void> {
    const { settled, signal } = this.#options;
    const { steps } = this.#rounds[this.#round];
    const before = this.#rounds.slice(0, this.#round).reduce((sum, each) => sum + each.steps, 0);
    const description = describeNested(this.#model, this.#given, this.#horizon, this.#sizes);
    const names = integrated(this.#model, this.#given);
    const first = firstSteps(this.#all.length * pointsOf(description), FIRST_CHUNK);
    const climb = await NestedClimb.create(this.#gpu, description, {
      rows: this.#all.length,
      steps: this.#mostChunk,
      variables: this.#model.design,
      settings: {
        rate: this.#rate,
        decaySteps: this.#steps,
        window: settled?.window ?? 0,
        speed: settled?.speed ?? 0,
        times: settled?.times ?? 0,
      },
    });
    try {
      while (this.#step < steps && this.#all.some(({ climb: { stopped } }) => stopped === RUNNING)) {
        signal?.throwIfAborted();
        if (this.#exchanges && this.#step % EXCHANGE_EVERY === 0) {
          const t = Math.floor(this.#step / EXCHANGE_EVERY) % this.#horizon;
          await this.#exchange(t, ({ stopped }) => stopped === RUNNING);
        }
        const count = Math.min(
          this.#chunk ?? first,
          this.#mostChunk,
          steps - this.#step,
          this.#exchanges ? EXCHANGE_EVERY - (this.#step % EXCHANGE_EVERY) : Infinity,
        );
        const rows = this.#all.map(
          ({ run, climb: each }): ClimbRow => ({
            ...climbState(each),
            key: run.stream.split(this.#round).key,
            number: before + this.#step,
            spreads: run.reach.map(({ spread }) => spread),
            coefficients: coefficientsOf(names, this.#given, run.quantity),
          }),
        );
        const began = performance.now();
        const { states, values } = await climb.run(rows, count);
        this.#chunk = stepsNext(count, performance.now() - began, CHUNK_MS, this.#mostChunk);
        const after = states.map(plainClimb);
        this.#requireFinite(after, values);
        const taken = this.#take(after);
        this.#step += count;
        this.#total += taken;
        this.#kept = this.#state();
        await this.#report(values.slice(-rows.length));
      }
    } finally {
      climb.dispose();
    }
    if (!this.#exchanges) return;
    for (let t = 0; t < this.#horizon; t++) await this.#exchange(t);
  }

  /** The steps of a round in which nothing moves, since all sets of designs are there. */
  #pass(): void {
    const { steps } = this.#rounds[this.#round];
    for (const run of this.#runs) {
      run.climbs = run.climbs.map((climb) => ({ ...climb, steps: climb.steps + steps }));
    }
    this.#step = steps;
    this.#total += steps * this.#all.length;
  }

  /** The steps of a round in which observations take turns with the best of their values, until none changes any more. */
  async #exchangeAlone(): Promise<void> {
    const { steps } = this.#rounds[this.#round];
    const moves = ({ unchanged = 0 }: GpuClimb): boolean => unchanged < this.#horizon;
    while (this.#step < steps && this.#all.some(({ climb }) => moves(climb))) {
      this.#options.signal?.throwIfAborted();
      const values = await this.#exchange(this.#step % this.#horizon, moves);
      this.#step++;
      this.#total += values.length;
      this.#kept = this.#state();
      await this.#report(values);
    }
  }

  /**
   * Gives observation t of the climbs that move the best of its values, on the same samples throughout a round, so that an
   * observation whose values are the best keeps them; the values of those.
   */
  async #exchange(t: number, moves: (climb: GpuClimb) => boolean = () => true): Promise<Float32Array> {
    const variables = this.#model.design.length;
    const moving = this.#all.filter(({ climb }) => moves(climb));
    const exchanged = await exchangeStarts(
      await this.#valuesOnce(),
      this.#model,
      moving.map(({ run, climb }) => ({
        designs: climb.designs,
        quantity: run.quantity,
        from: run.stream.split("exchange").split(this.#round),
      })),
      t,
    );
    this.#refuse(
      moving.flatMap((each, i) =>
        Number.isFinite(exchanged[i].value) ? [] : [{ ...each, ...objectiveOf(exchanged[i].value) }],
      ),
    );
    const after = new Map(
      moving.map(({ climb }, i) => {
        const { designs, changed } = exchanged[i];
        const { unchanged = 0, steps } = climb;
        const moved = changed ? withMoved(climb, designs, [t], variables) : climb;
        const alone = this.#climbs ? {} : { unchanged: changed ? 0 : unchanged + 1, steps: steps + 1 };
        return [climb, { ...moved, ...alone }] as const;
      }),
    );
    for (const run of this.#runs) run.climbs = run.climbs.map((climb) => after.get(climb) ?? climb);
    return Float32Array.from(exchanged, ({ value }) => value);
  }

  get #mostChunk(): number {
    return Math.max(1, Math.min(MOST_CHUNK, Math.floor(MOST_ROW_STEPS / this.#all.length)));
  }

  /** The climbs after some steps, and how many of those they took. */
  #take(states: readonly GpuClimb[]): number {
    const { design } = this.#model;
    let at = 0;
    let taken = 0;
    for (const run of this.#runs) {
      run.climbs = run.climbs.map((climb) => {
        const state = states[at++];
        taken += state.steps - climb.steps;
        // A bound or a value of a list may lie between two numbers of the GPU.
        const designs = state.designs.map((value, i) => nearestAllowed(design[i % design.length], value));
        return { ...state, designs, ...(climb.score === undefined ? {} : { score: climb.score }) };
      });
    }
    return taken;
  }

  /** Refuses steps in which a climb met a number that is none, before anything of them is kept. */
  #requireFinite(states: readonly GpuClimb[], values: Float32Array): void {
    this.#refuse(
      this.#all.flatMap(({ run, climb }, i): Broken[] => {
        if (states[i].stopped !== NOT_FINITE) return [];
        // It has taken no further step.
        const value = values[(states[i].steps - climb.steps) * states.length + i];
        return [{ run, climb: states[i], ...(Number.isFinite(value) ? NO_GRADIENT : objectiveOf(value)) }];
      }),
    );
  }

  /** Ends training where a climb met a number that is none. */
  #refuse(broken: readonly Broken[]): void {
    if (broken.length === 0) return;
    const [{ climb, what, value }] = broken;
    const runs = [...new Set(broken.map(({ run }) => this.#runs.indexOf(run)))];
    const sentence = trainTexts.notFinite(climb.steps + 1, what, value);
    throw new BrokenRunsError(this.#options.runs, runs, sentence, this.checkpoint());
  }

  async #report(values: Float32Array): Promise<void> {
    const { onProgress } = this.#options;
    const running = [...values].reduce((sum, value) => sum + value, 0) / values.length;
    await onProgress?.({
      done: this.#total,
      total: this.#runs.length * stepsIn(this.#rounds, this.#starts),
      value: running,
      checkpoint: () => this.checkpoint(),
      designs: () => this.#leading(),
    });
    await this.#paced.pause();
  }

  #leading(): number[][] {
    const variables = this.#model.design.length;
    const { designs } = this.#all.reduce(
      (best, { climb }) => ((climb.score ?? -Infinity) > (best.score ?? -Infinity) ? climb : best),
      this.#all[0].climb,
    );
    return Array.from({ length: this.#horizon }, (_, t) => [
      ...designs.slice(t * variables, (t + 1) * variables),
    ]);
  }

  async #moveIdle(): Promise<void> {
    const values = await this.#valuesOnce();
    const all = this.#all;
    const moved = await moveIdleStarts(
      values,
      { model: this.#model, horizon: this.#horizon, reach: all.map(({ run }) => run.reach) },
      all.map(({ run, climb, index }) => ({
        designs: climb.designs,
        quantity: run.quantity,
        from: run.stream.split("idle").split(this.#round).split(index),
      })),
    );
    const variables = this.#model.design.length;
    const after = all.map(({ climb }, i) => withMoved(climb, moved[i].designs, moved[i].moved, variables));
    let at = 0;
    for (const run of this.#runs) run.climbs = run.climbs.map(() => after[at++]);
  }

  async #score(): Promise<void> {
    const all = this.#all;
    const scores = await this.#scores(
      all.map(({ run, climb }) => ({ run, climb, from: run.stream.split("score").split(this.#round) })),
      SCORING,
    );
    let at = 0;
    for (const run of this.#runs) {
      run.climbs = run.climbs.map((climb) => ({ ...climb, score: scores[at++].mean }));
    }
  }

  async #scores(
    list: readonly { readonly run: Run; readonly climb: GpuClimb; readonly from: RandomStream }[],
    batches: number,
  ): Promise<EstimatedMean[]> {
    const values = await this.#valuesOnce();
    const rows = list.flatMap(({ run, climb, from }) =>
      Array.from(
        { length: batches },
        (_, number): ValueRow => ({ designs: climb.designs, quantity: run.quantity, key: from.key, number }),
      ),
    );
    const found = await values.lower(rows);
    this.#refuse(
      found.flatMap((value, i) =>
        Number.isFinite(value) ? [] : [{ ...list[Math.floor(i / batches)], ...objectiveOf(value) }],
      ),
    );
    return list.map((_, i) => meanEstimate(found.slice(i * batches, (i + 1) * batches)));
  }

  async #valuesOnce(): Promise<StaticValues> {
    this.#values ??= await StaticValues.create(
      this.#gpu,
      this.#model,
      this.#given,
      this.#horizon,
      this.#sizes,
      this.#paced,
    );
    return this.#values;
  }

  /** Climbs and scores are replaced, never changed; their lists are changed. */
  #state(): TrainingState {
    return {
      round: this.#round,
      step: this.#step,
      total: this.#total,
      climbs: this.#runs.map(({ climbs }) => [...climbs]),
      scores: this.#runs.map(({ scores }) => [...scores]),
    };
  }

  checkpoint(): GpuStaticCheckpoint {
    return structuredClone({ kind: "static on a GPU", settings: this.#settings, ...this.#kept });
  }

  dispose(): void {
    this.#values?.dispose();
  }
}

const requireResumable = (resume: GpuStaticCheckpoint, settings: TrainingSettings, length: number): void => {
  if (resume.kind !== "static on a GPU") throw new InputError("checkpoint", trainTexts.otherDevice("gpu"));
  requireSameSettings(resume.settings, settings);
  for (const { designs, moments, stopped } of resume.climbs.flat()) {
    // One that has met such a number never goes on: nothing would say that its designs are those of before.
    if (stopped === NOT_FINITE) throw new InputError("checkpoint", trainTexts.damaged("stopped"));
    requireNumbers(designs, length, "designs");
    requireNumbers(moments, momentWords(length), "moments");
  }
};
