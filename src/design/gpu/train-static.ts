/**
 * Static designs by stochastic ascent on a GPU: the algorithm of train-static.ts, with all starts of all runs (seeds, betas)
 * climbing at the same time. Samples come from the same streams, in float32; designs, gradients and Adam stay on the
 * GPU, and bounds and designs are read back every few hundred milliseconds.
 */
import type { Gpu } from "../../compute/webgpu/device.js";
import { NOT_FINITE, RUNNING } from "../../compute/webgpu/nested/ascent-kernel.js";
import { type ClimbRow, NestedClimb } from "../../compute/webgpu/nested/climb.js";
import { EnvironmentError, InputError } from "../../core/errors.js";
import { pacer } from "../../core/options.js";
import { type RandomStream, seededStream } from "../../core/random.js";
import { type EstimatedMean, meanEstimate } from "../../core/stats.js";
import type { Model } from "../model.js";
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
import { FINAL_SCORING, planRounds, type Round, SCORING, stepsIn } from "../static-rounds.js";
import { drawStart, type Reach, reachOf } from "../static-starts.js";
import { requireRule, type TrainedStatic, type TrainStaticOptions } from "../train-static.js";
import {
  modelSettings,
  requireNumbers,
  requireSameSettings,
  requireTrainable,
  TrainingError,
  type TrainingProgress,
  type TrainingSettings,
  trainTexts,
} from "../training.js";
import { TRAINING_DEFAULTS } from "../training-defaults.js";
import { describeNested, gpuModelTexts, integrated, requireGpuModel } from "./describe.js";
import { moveIdleStarts } from "./idle-moves.js";
import { atRoundStart, climbState, type GpuClimb, plainClimb, withMoved } from "./static-climb.js";
import { coefficientsOf, StaticValues, type ValueRow } from "./static-values.js";

/** One of several trainings that run at the same time. */
export interface StaticRun {
  readonly beta: number;
  readonly seed: number;
}

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

export const gpuTrainTexts = {
  stopped: (reason: string) => `${reason}; the error's checkpoint is the state before it`,
};

/** Steps that are submitted at a time: few enough to be heard and stopped, many enough to keep the GPU busy. */
const FIRST_CHUNK = 8;
const MOST_CHUNK = 512;
const CHUNK_MS = 200;

/**
 * The designs of every run, in their order. A number that is not finite ends training with a {@link TrainingError}, and so
 * does a GPU that is lost; both have the last good state.
 */
export const trainStaticOnGpu = async (
  gpu: Gpu,
  model: Model,
  options: TrainStaticOnGpuOptions,
): Promise<TrainedStatic[]> => {
  const training = new GpuStaticTraining(gpu, model, options);
  try {
    return await training.run();
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error;
    throw new TrainingError(gpuTrainTexts.stopped(error.message), training.checkpoint(), { cause: error });
  } finally {
    training.dispose();
  }
};

interface Run {
  readonly quantity: Quantity;
  readonly stream: RandomStream;
  readonly reach: readonly Reach[];
  climbs: GpuClimb[];
  scores: (readonly number[])[];
}

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
  readonly #starts: number;
  readonly #runs: readonly Run[];
  readonly #given: readonly Given[];
  #values: StaticValues | undefined;
  #round: number;
  #step: number;
  #total: number;
  #chunk = FIRST_CHUNK;

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
    const { window = 1, times = 1 } = settled ?? {};
    for (const { beta } of runs) requireTrainable({ horizon, steps, starts, window, times }, beta);
    if (settled !== undefined) requireRule(settled, decay);
    if (against.length > 0) throw new InputError("gpu-against", gpuModelTexts.against);
    requireGpuModel(model);
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
    this.#gpu = gpu;
    this.#model = model;
    this.#options = options;
    this.#horizon = horizon;
    this.#sizes = sizes;
    this.#rate = rate;
    this.#steps = decay ? steps : 0;
    this.#starts = starts;
    this.#rounds = planRounds(starts, steps);
    this.#runs = runs.map(({ beta, seed }, r) => this.#newRun(objective, beta, seed, resume, r));
    this.#given = GIVEN.filter((given) =>
      this.#runs.some(({ quantity }) => evidencesOf(quantity).includes(given)),
    );
    this.#round = resume?.round ?? 0;
    this.#step = resume?.step ?? 0;
    this.#total = resume?.total ?? 0;
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
    return Array.from({ length: this.#starts }, (_, k) => ({
      designs:
        k === 0 && from !== undefined
          ? Array.from(from, (value, i) => nearestAllowed(design[i % design.length], value))
          : drawStart(this.#model, reach, this.#horizon, stream.split("start").split(k), start),
      moments: Array.from({ length: 4 * size + 2 }, () => 0),
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
      await this.#climb();
      const last = this.#round === this.#rounds.length - 1;
      if (!(this.#starts === 1 && last)) await this.#moveIdle();
      await this.#score();
      const { keep } = this.#rounds[this.#round];
      for (const run of this.#runs) {
        run.climbs.sort((a, b) => (b.score ?? -Infinity) - (a.score ?? -Infinity));
        run.scores.push(run.climbs.map(({ score = -Infinity }) => score));
        run.climbs = run.climbs.slice(0, keep);
      }
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
    const climb = await NestedClimb.create(this.#gpu, description, {
      rows: this.#all.length,
      steps: MOST_CHUNK,
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
        const count = Math.min(this.#chunk, steps - this.#step);
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
        this.#pace(performance.now() - began, count);
        const taken = this.#take(states.map((state) => plainClimb(state)));
        this.#step += count;
        this.#total += taken;
        this.#requireFinite(values.slice(-rows.length));
        await this.#report(values.slice(-rows.length));
      }
    } finally {
      climb.dispose();
    }
  }

  /** Keeps a submission at about the same time. */
  #pace(milliseconds: number, count: number): void {
    const wanted = (count * CHUNK_MS) / Math.max(1, milliseconds);
    this.#chunk = Math.max(1, Math.min(MOST_CHUNK, Math.round(wanted), 4 * count));
  }

  /** The climbs after some steps, and how many of those they took. */
  #take(states: readonly GpuClimb[]): number {
    let at = 0;
    let taken = 0;
    for (const run of this.#runs) {
      run.climbs = run.climbs.map((climb) => {
        const state = states[at++];
        taken += state.steps - climb.steps;
        return { ...state, ...(climb.score === undefined ? {} : { score: climb.score }) };
      });
    }
    return taken;
  }

  #requireFinite(values: Float32Array): void {
    const wrong = this.#all.findIndex(({ climb: { stopped } }) => stopped === NOT_FINITE);
    if (wrong < 0) return;
    const what = Number.isFinite(values[wrong]) ? "gradient" : "objective";
    const found = Number.isFinite(values[wrong]) ? Number.NaN : values[wrong];
    throw new TrainingError(trainTexts.notFinite(this.#total + 1, what, found), this.checkpoint());
  }

  async #report(values: Float32Array): Promise<void> {
    const { onProgress, signal } = this.#options;
    const running = [...values].reduce((sum, value) => sum + value, 0) / values.length;
    await onProgress?.({
      done: this.#total,
      total: this.#runs.length * stepsIn(this.#rounds, this.#starts),
      value: running,
      checkpoint: () => this.checkpoint(),
      designs: () => this.#leading(),
    });
    // A task of its own, so that a page or Ctrl-C is heard.
    await pacer({ signal }).pause();
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
    const wrong = found.findIndex((value) => !Number.isFinite(value));
    if (wrong >= 0) {
      throw new TrainingError(
        trainTexts.notFinite(this.#total + 1, "objective", found[wrong]),
        this.checkpoint(),
      );
    }
    return list.map((_, i) => meanEstimate(found.slice(i * batches, (i + 1) * batches)));
  }

  async #valuesOnce(): Promise<StaticValues> {
    this.#values ??= await StaticValues.create(
      this.#gpu,
      this.#model,
      this.#given,
      this.#horizon,
      this.#sizes,
    );
    return this.#values;
  }

  checkpoint(): GpuStaticCheckpoint {
    return structuredClone({
      kind: "static on a GPU",
      settings: this.#settings,
      round: this.#round,
      step: this.#step,
      total: this.#total,
      climbs: this.#runs.map(({ climbs }) => climbs),
      scores: this.#runs.map(({ scores }) => scores),
    });
  }

  dispose(): void {
    this.#values?.dispose();
  }
}

const requireResumable = (resume: GpuStaticCheckpoint, settings: TrainingSettings, length: number): void => {
  if (resume.kind !== "static on a GPU") throw new InputError("checkpoint", trainTexts.damaged("kind"));
  requireSameSettings(resume.settings, settings);
  for (const { designs, moments } of resume.climbs.flat()) {
    requireNumbers(designs, length, "designs");
    requireNumbers(moments, 4 * length + 2, "moments");
  }
};
