/**
 * Deep adaptive design on a GPU: the training of dad.ts, with all runs (seeds, betas) at the same time. Samples come from the
 * same streams, in float32; networks, experiments, gradients and Adam stay on the GPU, and bounds and parameters are read
 * back a few times a second.
 */
import { Workspace } from "../../compute/index.js";
import type { Gpu } from "../../compute/webgpu/device.js";
import { firstSteps, pointsOf } from "../../compute/webgpu/nested/row-program.js";
import { PolicyClimb, type PolicyShapeGiven, type PolicyState } from "../../compute/webgpu/policy/climb.js";
import { InputError } from "../../core/errors.js";
import { type Pacer, pacer } from "../../core/options.js";
import { type RandomStream, seededStream } from "../../core/random.js";
import { meanEstimate } from "../../core/stats.js";
import {
  comparedBatches,
  dadTexts,
  firstParameters,
  shapeFor,
  type TrainDadOptions,
  type TrainedDad,
} from "../dad.js";
import { DadLayers, type DadNetwork, type DadShape, dadPolicy } from "../dad-network.js";
import type { Model } from "../model.js";
import { requireNoDependentCount } from "../nested.js";
import { PAPER_SIZES, type SampleSizes } from "../objective.js";
import { evidencesOf, GIVEN, objectiveQuantity, type Quantity } from "../quantity.js";
import {
  modelSettings,
  requireNumbers,
  requireSameSettings,
  requireTrainable,
  type TrainingProgress,
  type TrainingSettings,
  trainTexts,
  warningsOf,
} from "../training.js";
import { TRAINING_DEFAULTS } from "../training-defaults.js";
import { gpuModelTexts, integrated } from "./describe.js";
import { describePolicy } from "./describe-policy.js";
import { coefficientsOf } from "./static-values.js";
import { BrokenRunsError, type GpuRun, runTraining, stepsNext } from "./training-run.js";

/** One of several trainings that run at the same time. */
export interface DadRunOptions extends GpuRun, Pick<TrainDadOptions, "from" | "startDesigns"> {}

const GPU_CHECKPOINT = "dad on a GPU";

/** Several runs in the middle, as plain JSON data. */
export interface GpuDadCheckpoint {
  readonly kind: typeof GPU_CHECKPOINT;
  /** What must be the same for the runs to go on. */
  readonly settings: TrainingSettings;
  /** Steps taken. */
  readonly step: number;
  readonly runs: readonly {
    readonly parameters: readonly number[];
    readonly mean: readonly number[];
    readonly meanSquare: readonly number[];
    /** The bound at the samples of every step. */
    readonly values: readonly number[];
  }[];
}

export interface TrainDadOnGpuOptions
  extends Pick<
    TrainDadOptions,
    "objective" | "against" | "horizon" | "steps" | "rate" | "sizes" | "widths" | "clip" | "decay" | "signal"
  > {
  readonly runs: readonly DadRunOptions[];
  readonly onProgress?: ((progress: TrainingProgress<GpuDadCheckpoint>) => unknown) | undefined;
  readonly resume?: GpuDadCheckpoint | undefined;
  /** How the work is cut up; what suits the GPU unless given. */
  readonly shape?: Partial<PolicyShapeGiven> | undefined;
}

export const gpuDadTexts = {
  units: "the networks to go on from read and write in different units: train each by itself",
};

/** Steps that are submitted at a time: few enough to be heard and stopped, many enough to keep the GPU busy. */
const FIRST_CHUNK = 4;
const MOST_CHUNK = 512;
const CHUNK_MS = 250;

/**
 * A policy for every run, in their order. A number that is not finite ends training with a {@link BrokenRunsError}, and a GPU
 * that is lost with a {@link TrainingError}; both have the last state that was read back.
 */
export const trainDadOnGpu = async (
  gpu: Gpu,
  model: Model,
  options: TrainDadOnGpuOptions,
): Promise<TrainedDad[]> => runTraining(new GpuDadTraining(gpu, model, options));

interface Run {
  readonly options: DadRunOptions;
  readonly shape: DadShape;
  readonly quantity: Quantity;
  readonly stream: RandomStream;
  readonly first: Float32Array;
  state: PolicyState;
  readonly values: number[];
}

class GpuDadTraining {
  readonly #gpu: Gpu;
  readonly #model: Model;
  readonly #options: TrainDadOnGpuOptions;
  readonly #horizon: number;
  readonly #steps: number;
  readonly #sizes: SampleSizes;
  readonly #settings: TrainingSettings;
  readonly #runs: readonly Run[];
  /** Lets go of the thread between chunks, and hears that it is to stop. */
  readonly #pace: Pacer;
  #climb: PolicyClimb | undefined;
  #step: number;
  /** Steps that are submitted next, once it is known how long they take. */
  #chunk: number | undefined;

  constructor(gpu: Gpu, model: Model, options: TrainDadOnGpuOptions) {
    const {
      objective = TRAINING_DEFAULTS.objective,
      against = [],
      horizon = TRAINING_DEFAULTS.horizon,
      steps = TRAINING_DEFAULTS.dad.steps,
      sizes = PAPER_SIZES,
      runs,
      resume,
    } = options;
    for (const { beta } of runs) requireTrainable({ horizon, steps }, beta);
    if (against.length > 0) throw new InputError("gpu-against", gpuModelTexts.against);
    requireNoDependentCount(model);
    this.#pace = pacer({ signal: options.signal });
    this.#gpu = gpu;
    this.#model = model;
    this.#options = options;
    this.#horizon = horizon;
    this.#steps = steps;
    this.#sizes = sizes;
    const shapes = runs.map((run) => shapeFor(model, { ...run, widths: options.widths }, horizon));
    const units = new Set(shapes.map(({ base: _, ...shape }) => JSON.stringify(shape)));
    if (units.size > 1) throw new InputError("network", gpuDadTexts.units);
    this.#settings = {
      ...modelSettings(model, []),
      objective,
      runs: runs.map(({ beta, seed }) => ({ beta, seed })),
      horizon,
      sizes,
      widths: shapes[0].widths,
      base: shapes.map(({ base }) => base ?? null),
      device: "gpu",
    };
    this.#runs = runs.map((run, r) => this.#newRun(run, shapes[r]));
    this.#step = 0;
    if (resume !== undefined) this.#goOn(resume);
  }

  #newRun(options: DadRunOptions, shape: DadShape): Run {
    const { objective = TRAINING_DEFAULTS.objective } = this.#options;
    const stream = seededStream(options.seed).split("dad");
    const workspace = new Workspace({ threads: 1 });
    const layers = new DadLayers(workspace, shape, 1);
    const first = firstParameters(layers, stream, options.from, shape.base).slice();
    layers.dispose();
    workspace.dispose();
    const nothing = () => new Float32Array(first.length);
    return {
      options,
      shape,
      quantity: objectiveQuantity(objective, options.beta),
      stream,
      first,
      state: { parameters: first, mean: nothing(), meanSquare: nothing() },
      values: [],
    };
  }

  #goOn({ kind, settings, step, runs }: GpuDadCheckpoint): void {
    if (kind !== GPU_CHECKPOINT) throw new InputError("checkpoint", trainTexts.otherDevice("gpu"));
    requireSameSettings(settings, this.#settings);
    if (!Array.isArray(runs) || runs.length !== this.#runs.length) {
      throw new InputError("checkpoint", trainTexts.damaged("runs"));
    }
    this.#step = step;
    for (const [r, run] of this.#runs.entries()) {
      const { parameters, mean, meanSquare, values } = runs[r];
      for (const [field, numbers] of Object.entries({ parameters, mean, meanSquare })) {
        requireNumbers(numbers, run.first.length, field);
      }
      requireNumbers(values, step, "values");
      run.state = {
        parameters: Float32Array.from(parameters),
        mean: Float32Array.from(mean),
        meanSquare: Float32Array.from(meanSquare),
      };
      run.values.push(...values);
    }
  }

  async run(): Promise<TrainedDad[]> {
    const { rate = TRAINING_DEFAULTS.dad.rate, decay = false, clip = Infinity } = this.#options;
    const given = GIVEN.filter((each) =>
      this.#runs.some(({ quantity }) => evidencesOf(quantity).includes(each)),
    );
    const names = integrated(this.#model, given);
    const [{ shape, first: parameters }] = this.#runs;
    const description = describePolicy(this.#model, shape, given, this.#horizon, this.#sizes);
    const climb = await PolicyClimb.create(this.#gpu, description, {
      rows: this.#runs.map((run) => ({
        key: run.stream.split("step").key,
        coefficients: coefficientsOf(names, given, run.quantity),
        base: run.shape.base?.flat(),
      })),
      steps: Math.min(MOST_CHUNK, this.#steps),
      settings: { rate, decaySteps: decay ? this.#steps : 0, clip },
      shape: this.#options.shape,
    });
    this.#climb = climb;
    climb.load(this.#runs.map(({ state }) => state));
    // Of a network, every weight counts as a point for every observation.
    const weights = this.#sizes.outer * this.#horizon * parameters.length;
    const first = firstSteps(this.#runs.length * (pointsOf(description.nested) + weights), FIRST_CHUNK);
    while (this.#step < this.#steps) {
      await this.#takeChunk(climb, this.#chunk ?? first);
    }
    return this.#results(climb);
  }

  async #takeChunk(climb: PolicyClimb, most: number): Promise<void> {
    const { onProgress } = this.#options;
    const count = Math.min(most, this.#steps - this.#step);
    const began = performance.now();
    const { values, broken } = await climb.run(this.#step, count);
    if (broken.length > 0) this.#refuse(broken, this.#brokenAt(values, broken[0]));
    const states = await climb.states();
    this.#chunk = stepsNext(count, performance.now() - began, CHUNK_MS, MOST_CHUNK);
    const rows = this.#runs.length;
    for (const [r, run] of this.#runs.entries()) {
      run.state = states[r];
      for (let s = 0; s < count; s++) run.values.push(values[s * rows + r]);
    }
    this.#step += count;
    await onProgress?.({
      done: this.#step,
      total: this.#steps,
      value: this.#runs.reduce((sum, { values: own }) => sum + own[this.#step - 1], 0) / rows,
      checkpoint: () => this.checkpoint(),
    });
    await this.#pace.pause();
  }

  /** At which step of a chunk a row met a number that is none. */
  #brokenAt(values: Float32Array, row: number): string {
    const rows = this.#runs.length;
    const own = values.filter((_, i) => i % rows === row);
    const wrong = own.findIndex((value) => !Number.isFinite(value));
    return wrong < 0
      ? trainTexts.notFinite(this.#step + 1, "gradient's norm", Number.NaN)
      : trainTexts.notFinite(this.#step + wrong + 1, "objective", own[wrong]);
  }

  /** Ends training where runs met a number that is none; the sentence is about the first of them. */
  #refuse(broken: readonly number[], sentence: string): never {
    throw new BrokenRunsError(this.#options.runs, broken, sentence, this.checkpoint());
  }

  async #results(climb: PolicyClimb): Promise<TrainedDad[]> {
    const compare = this.#runs.some(
      ({ shape, options }) => shape.base !== undefined && options.from === undefined,
    );
    const gains = compare ? await this.#gains(climb) : [];
    const broken = gains.flatMap((each, r) => (each.every(Number.isFinite) ? [] : [r]));
    if (broken.length > 0) this.#refuse(broken, trainTexts.notFinite(this.#step, "objective", Number.NaN));
    return this.#runs.map((run, r) => {
      const { shape, options, state, first, values } = run;
      const trained = (parameters: Float32Array, warnings: readonly string[]): TrainedDad => {
        const network: DadNetwork = { ...shape, parameters: parameters.slice() };
        return { ...dadPolicy(this.#model, this.#horizon, network), warnings };
      };
      // A network that was trained before may have nothing left to learn.
      if (options.from !== undefined) return trained(state.parameters, []);
      if (shape.base === undefined) return trained(state.parameters, warningsOf(values));
      const { mean, standardError } = meanEstimate(gains[r]);
      return mean > 0
        ? trained(state.parameters, [])
        : trained(first, [dadTexts.startKept(mean, standardError, this.#steps)]);
    });
  }

  /** How much larger the bound is with the trained parameters than with the first, on the same fresh batches. */
  async #gains(climb: PolicyClimb): Promise<number[][]> {
    const keys = this.#runs.map(({ stream }) => stream.split("compare").key);
    const count = comparedBatches(this.#steps);
    const values = async (states: readonly PolicyState[]): Promise<Float64Array[]> => {
      climb.load(states);
      const found: Float64Array[] = [];
      for (let i = 0; i < count; i++) {
        await this.#pace.pause();
        found.push(await climb.values(keys, i));
      }
      return found;
    };
    const trained = await values(this.#runs.map(({ state }) => state));
    const first = await values(this.#runs.map(({ state, first: parameters }) => ({ ...state, parameters })));
    return this.#runs.map((_, r) => trained.map((each, i) => each[r] - first[i][r]));
  }

  checkpoint(): GpuDadCheckpoint {
    return {
      kind: GPU_CHECKPOINT,
      settings: this.#settings,
      step: this.#step,
      runs: this.#runs.map(({ state, values }) => ({
        parameters: [...state.parameters],
        mean: [...state.mean],
        meanSquare: [...state.meanSquare],
        values: values.slice(0, this.#step),
      })),
    };
  }

  dispose(): void {
    this.#climb?.dispose();
  }
}
