/**
 * Deep adaptive design (Foster et al. 2021; the paper's tables in appendix F.1): a network that chooses the next design
 * from everything seen (`dad-network.ts`), trained by ascending a bound of the objective through the whole simulated
 * experiment (`dad-rollout.ts`).
 */

import { type AdamState, adam, type Optimiser, Workspace, type WorkspaceOptions } from "../compute/index.js";
import { InputError } from "../core/errors.js";
import { fixed } from "../core/number-text.js";
import { pacer } from "../core/options.js";
import { type RandomStream, seededStream } from "../core/random.js";
import { type EstimatedMean, meanEstimate } from "../core/stats.js";
import { baseOutputs } from "./base-outputs.js";
import {
  DadLayers,
  type DadNetwork,
  type DadShape,
  type DadWidths,
  dadPolicy,
  type NetworkPolicy,
  PAPER_WIDTHS,
} from "./dad-network.js";
import { DadObjective } from "./dad-objective.js";
import type { DrawParameters } from "./dad-rollout.js";
import { type DesignScale, designScales, outcomeScales } from "./design-scale.js";
import type { Model } from "./model.js";
import { PAPER_SIZES, type SampleSizes } from "./objective.js";
import { drawOuter, type History } from "./policy.js";
import { particlesGiven } from "./posterior.js";
import type { ObjectiveKind } from "./quantity.js";
import { requireNamedModels } from "./static-objective.js";
import {
  decayingRate,
  modelSettings,
  requireNumbers,
  requireSameSettings,
  requireTrainable,
  TrainingError,
  type TrainingRunOptions,
  type TrainingSettings,
  trainTexts,
  warningsOf,
} from "./training.js";
import { TRAINING_DEFAULTS } from "./training-defaults.js";

export interface TrainDadOptions extends WorkspaceOptions, TrainingRunOptions<DadCheckpoint> {
  /** Leakage given the target (R_c) or by itself (R_u); "conditional" unless given. */
  readonly objective?: ObjectiveKind | undefined;
  /** What a nat of leakage costs, 0.8 unless given. */
  readonly beta?: number | undefined;
  /** Further models that the data must not leak under: the leakage is the largest of theirs and the model's own. */
  readonly against?: readonly Model[] | undefined;
  /** Observations, 10 unless given. */
  readonly horizon?: number | undefined;
  /** Steps of Adam, 10,000 unless given. */
  readonly steps?: number | undefined;
  /** How far a step moves a parameter, 5e-5 unless given. */
  readonly rate?: number | undefined;
  /** Where the random streams start, 0 unless given. */
  readonly seed?: number | undefined;
  /** Samples of a step, the paper's unless given. */
  readonly sizes?: SampleSizes | undefined;
  /** The network's, the paper's unless given. */
  readonly widths?: DadWidths | undefined;
  /** Gradients with a larger norm are scaled down to it; none are unless given. */
  readonly clip?: number | undefined;
  /** Whether the rate decays to a hundredth over the steps; it is constant unless given, as in the paper. */
  readonly decay?: boolean | undefined;
  /** A network to go on from, instead of a random one. */
  readonly from?: DadNetwork | undefined;
  /**
   * Static designs [horizon, variables] to start from: the network adds to them what it learns, at first nothing. They are
   * kept where training did not improve on them.
   */
  readonly startDesigns?: ArrayLike<number> | undefined;
  /** What was observed already, the same for all simulated experiments; they go on from there. */
  readonly history?: History | undefined;
  /** Where the parameters come from: the prior unless given; with a history, the posterior. */
  readonly drawParameters?: DrawParameters | undefined;
}

/** A run in the middle, as plain JSON data. */
export interface DadCheckpoint {
  readonly kind: "dad";
  /** What must be the same for a run to go on. */
  readonly settings: TrainingSettings;
  /** Steps taken. */
  readonly step: number;
  /** The network's parameters, and Adam's running means of the gradient and its square. */
  readonly parameters: readonly number[];
  readonly mean: readonly number[];
  readonly meanSquare: readonly number[];
  /** The bound at the samples of every step. */
  readonly values: readonly number[];
}

export interface TrainedDad extends NetworkPolicy {
  /** What a user should know, such as that nothing was learned; each is a sentence. */
  readonly warnings: readonly string[];
}

export const dadTexts = {
  history: (given: number, horizon: number) =>
    `the history has ${given} observations and the policy makes ${horizon}: give one experiment with at least 1 and fewer than ${horizon}`,
  otherNetwork: (what: string) =>
    `the network to go on from has other ${what} than this model and these settings: give one that was trained for them, or leave out from`,
  start: (given: number, horizon: number, variables: readonly string[]) =>
    `the static designs to start from have ${given} numbers: give ${horizon} designs of ${variables.join(", ")}, ${horizon * variables.length} numbers in all`,
  startKept: (gain: number, error: number, steps: number) =>
    `after ${steps} steps the network was ${fixed(-gain, 4)} nats worse than the static designs that it started from, with a standard error of ${fixed(error, 4)}: these are kept; give more steps or a smaller rate`,
};

/**
 * A policy trained to make a lower bound of R = EIG_theta - beta leakage large (eqs. of `quantity.ts`), as TrainedDad: with
 * its network, and warnings where it learned nothing.
 *
 * Designs are always allowed: bounds and values are part of the network (`design-scale.ts`). Any number that is not
 * finite ends training with a {@link TrainingError}, which has the last good state.
 *
 * @example
 * ```ts
 * import { pharmacokinetics, trainDad } from "fairbed/design";
 *
 * const { horizon, network } = await trainDad(pharmacokinetics(), {
 *   horizon: 2,
 *   steps: 10,
 *   rate: 1e-3,
 *   sizes: { outer: 16, contrastive: 32, marginal: 32 },
 * });
 * console.log(horizon, network.parameters.every(Number.isFinite)); // 2 true
 * ```
 */
export const trainDad = async (model: Model, options: TrainDadOptions = {}): Promise<TrainedDad> => {
  const {
    objective = TRAINING_DEFAULTS.objective,
    beta = TRAINING_DEFAULTS.beta,
    against = [],
    horizon = TRAINING_DEFAULTS.horizon,
    steps = TRAINING_DEFAULTS.dad.steps,
    rate = TRAINING_DEFAULTS.dad.rate,
    seed = TRAINING_DEFAULTS.seed,
    sizes = PAPER_SIZES,
    clip = Infinity,
    decay = false,
    drawParameters = (outer, stream) => drawOuter(model, outer, stream),
    from,
    history,
    signal,
    onProgress,
    resume,
  } = options;
  requireTrainable({ horizon, steps }, beta);
  if (against.length > 0) requireNamedModels(model, against);
  const shape = shapeFor(model, options, horizon);
  const settings = settingsOf(model, { objective, beta, against, horizon, seed, sizes, history }, shape);
  if (resume !== undefined) requireResumable(resume, settings);
  const pace = pacer({ signal });
  const stream = seededStream(seed).split("dad");
  const workspace = new Workspace(options);
  const layers = new DadLayers(workspace, shape, sizes.outer * horizon);
  const common = { workspace, layers, shape, horizon, sizes, history };
  const batches = new DadObjective({ model, against, objective, beta, drawParameters, common, pace });
  try {
    await pace.pause();
    const first = firstParameters(layers, stream, from, shape.base);
    const run = new DadRun(settings, first.slice(), adam({ rate: decay ? decayingRate(rate, steps) : rate }));
    if (resume !== undefined) run.goOn(resume);
    const gradient = new Float32Array(layers.count);
    while (run.step < steps) {
      const step = run.step + 1;
      layers.load(run.parameters);
      const value = await batches.valueAndGradient(stream.split("step").split(run.step), gradient);
      const norm = normOf(gradient);
      for (const [what, number] of Object.entries({ objective: value, "gradient's norm": norm })) {
        if (Number.isFinite(number)) continue;
        throw new TrainingError(trainTexts.notFinite(step, what, number), run.lastGood());
      }
      // Ascent, clipped to a norm.
      multiply(gradient, -Math.min(1, clip / (norm || 1)));
      run.update(gradient, value);
      await onProgress?.({ done: step, total: steps, value, checkpoint: () => run.checkpoint() });
      await pace.pause();
    }
    const trainedPolicy = (parameters: Float32Array, warnings: readonly string[]): TrainedDad => ({
      ...dadPolicy(model, horizon, { ...shape, parameters: parameters.slice() }),
      warnings,
    });
    if (shape.base !== undefined && from === undefined) {
      const compared = comparedBatches(steps);
      const { mean, standardError } = await gainOf(batches, layers, run.parameters, first, compared, stream);
      return mean > 0
        ? trainedPolicy(run.parameters, [])
        : trainedPolicy(first, [dadTexts.startKept(mean, standardError, steps)]);
    }
    // A network that was trained before may have nothing left to learn.
    return trainedPolicy(run.parameters, from === undefined ? warningsOf(run.values) : []);
  } finally {
    batches.dispose();
    layers.dispose();
    workspace.dispose();
  }
};

const MOST_COMPARED = 200;
const FEWEST_COMPARED = 20;

/** Batches that say whether training improved on where it started: no more than it took, and enough for an error. */
export const comparedBatches = (steps: number): number =>
  Math.max(FEWEST_COMPARED, Math.min(MOST_COMPARED, steps));

/** How much larger the bound is with these parameters than with others, on the same fresh batches. */
const gainOf = async (
  batches: DadObjective,
  layers: DadLayers,
  parameters: Float32Array,
  others: Float32Array,
  count: number,
  stream: RandomStream,
): Promise<EstimatedMean> => {
  const gains: number[] = [];
  for (let i = 0; i < count; i++) {
    const fresh = stream.split("compare").split(i);
    layers.load(parameters);
    const value = await batches.value(fresh);
    layers.load(others);
    gains.push(value - (await batches.value(fresh)));
  }
  return meanEstimate(gains);
};

/**
 * Random ones as PyTorch's `nn.Linear` has them, or those of a network to go on from. With a base the last layer is zero,
 * so that the first policy is that of the base alone.
 */
export const firstParameters = (
  layers: DadLayers,
  stream: RandomStream,
  from: DadNetwork | undefined,
  base: DadShape["base"],
): Float32Array => {
  if (from !== undefined) {
    if (from.parameters.length !== layers.count) throw otherNetwork("widths");
    return Float32Array.from(from.parameters);
  }
  layers.encoder.initialise(stream.split("encoder"));
  layers.emitter.initialise(stream.split("emitter"));
  if (base !== undefined) layers.silence();
  return layers.parameters();
};

/** What makes a network fit a model; one to go on from keeps its units. */
export const shapeFor = (
  model: Model,
  { from, startDesigns, widths }: Pick<TrainDadOptions, "from" | "startDesigns" | "widths">,
  horizon: number,
): DadShape => {
  const designs = designScales(model);
  const outcomes = outcomeScales(model, designs);
  if (from === undefined) {
    const shape = { widths: widths ?? PAPER_WIDTHS, designs, outcomes };
    if (startDesigns === undefined) return shape;
    const { length } = startDesigns;
    if (length !== horizon * designs.length) {
      const variables = model.design.map(({ name }) => name);
      throw new InputError("start", dadTexts.start(length, horizon, variables));
    }
    return { ...shape, base: baseOutputs(designs, startDesigns) };
  }
  if (widths !== undefined && JSON.stringify(widths) !== JSON.stringify(from.widths)) {
    throw otherNetwork("widths");
  }
  const allowed = (scales: readonly DesignScale[]) =>
    JSON.stringify(
      scales.map((scale) => ({ ...scale, ...("unit" in scale ? { unit: 1 } : {}), ...free(scale) })),
    );
  const free = (scale: DesignScale) => (scale.kind === "free" ? { centre: 0 } : {});
  if (allowed(from.designs) !== allowed(designs)) throw otherNetwork("designs");
  if (from.outcomes.length !== outcomes.length) throw otherNetwork("outcomes");
  const { base } = from;
  if (base !== undefined && base.length !== horizon) throw otherNetwork("observations");
  return {
    widths: from.widths,
    designs: from.designs,
    outcomes: from.outcomes,
    ...(base === undefined ? {} : { base }),
  };
};

const otherNetwork = (what: string) => new InputError("network", dadTexts.otherNetwork(what));

/** What must be the same for a run to go on: everything but the number of steps, their rate and the threads. */
const settingsOf = (
  model: Model,
  {
    against,
    history,
    ...given
  }: Required<Pick<TrainDadOptions, "objective" | "beta" | "horizon" | "seed" | "sizes">> & {
    readonly against: readonly Model[];
    readonly history: History | undefined;
  },
  { widths, base }: DadShape,
): TrainingSettings => ({
  ...modelSettings(model, against),
  ...given,
  widths,
  ...(base === undefined ? {} : { base }),
  history: history === undefined ? null : { designs: [...history.designs], outcomes: [...history.outcomes] },
});

const requireResumable = (resume: DadCheckpoint, settings: TrainingSettings): void => {
  if (resume.kind !== "dad") throw new InputError("checkpoint", trainTexts.otherDevice("cpu"));
  requireSameSettings(resume.settings, settings);
};

const normOf = (gradient: Float32Array): number => {
  let square = 0;
  for (let i = 0; i < gradient.length; i++) square += gradient[i] * gradient[i];
  return Math.sqrt(square);
};

const multiply = (gradient: Float32Array, factor: number): void => {
  for (let i = 0; i < gradient.length; i++) gradient[i] *= factor;
};

/** Parameters on their way, with Adam's memory and the bounds so far. */
class DadRun {
  readonly parameters: Float32Array;
  readonly values: number[] = [];
  readonly #settings: TrainingSettings;
  readonly #optimiser: Optimiser<AdamState>;
  #state: AdamState;
  /** The latest parameters whose objective was finite; those to begin with until there are any. */
  #good: { readonly parameters: Float32Array; readonly state: AdamState };

  constructor(settings: TrainingSettings, parameters: Float32Array, optimiser: Optimiser<AdamState>) {
    this.#settings = settings;
    this.parameters = parameters;
    this.#optimiser = optimiser;
    this.#state = optimiser.init(parameters);
    this.#good = this.#copy();
  }

  /** Steps taken. */
  get step(): number {
    return this.#state.step;
  }

  goOn({ step, parameters, mean, meanSquare, values }: DadCheckpoint): void {
    for (const [field, numbers] of Object.entries({ parameters, mean, meanSquare })) {
      requireNumbers(numbers, this.parameters.length, field);
    }
    requireNumbers(values, step, "values");
    this.parameters.set(parameters);
    this.#state = { step, mean: Float32Array.from(mean), meanSquare: Float32Array.from(meanSquare) };
    this.values.push(...values);
    this.#good = this.#copy();
  }

  /** One step down the gradient, from parameters at which the objective had this value. */
  update(gradient: Float32Array, value: number): void {
    const { parameters, state } = this.#good;
    const { step, mean, meanSquare } = this.#state;
    parameters.set(this.parameters);
    state.mean.set(mean);
    state.meanSquare.set(meanSquare);
    state.step = step;
    this.#optimiser.update(this.parameters, gradient, this.#state);
    this.values.push(value);
  }

  checkpoint(): DadCheckpoint {
    return this.#record(this.parameters, this.#state);
  }

  lastGood(): DadCheckpoint {
    return this.#record(this.#good.parameters, this.#good.state);
  }

  #copy(): { readonly parameters: Float32Array; readonly state: AdamState } {
    const { step, mean, meanSquare } = this.#state;
    const state = { step, mean: Float32Array.from(mean), meanSquare: Float32Array.from(meanSquare) };
    return { parameters: this.parameters.slice(), state };
  }

  #record(parameters: Float32Array, { step, mean, meanSquare }: AdamState): DadCheckpoint {
    return {
      kind: "dad",
      settings: this.#settings,
      step,
      parameters: [...parameters],
      mean: [...mean],
      meanSquare: [...meanSquare],
      values: this.values.slice(0, step),
    };
  }
}

/** A policy to refine, and how. */
export interface RefineDadOptions extends Omit<TrainDadOptions, "from" | "history" | "against"> {
  /** Draws of the posterior that parameters are taken from, 4000 unless given. */
  readonly particles?: number | undefined;
}

/**
 * A policy trained further on what this experiment has shown: the simulated experiments share its history, their
 * parameters come from the posterior, and the bound is that of the whole, of which the past is a constant. 500 steps
 * unless given.
 *
 * @example
 * ```ts
 * import { pharmacokinetics, refineDad, trainDad } from "fairbed/design";
 *
 * const model = pharmacokinetics();
 * const sizes = { outer: 16, contrastive: 32, marginal: 32 };
 * const policy = await trainDad(model, { horizon: 2, steps: 5, sizes });
 * const history = { outer: 1, steps: 1, designs: Float64Array.of(2), outcomes: Float64Array.of(2.5) };
 * const refined = await refineDad(model, policy, history, { steps: 5, sizes, particles: 200 });
 * console.log(refined.horizon); // 2
 * ```
 */
export const refineDad = async (
  model: Model,
  policy: NetworkPolicy,
  history: History,
  { particles = 4000, ...options }: RefineDadOptions = {},
): Promise<TrainedDad> => {
  if (history.outer !== 1 || history.steps < 1 || history.steps >= policy.horizon) {
    throw new InputError("history", dadTexts.history(history.steps, policy.horizon));
  }
  const stream = seededStream(options.seed ?? 0).split("refine");
  const posterior = await particlesGiven(model, history, { particles, stream: stream.split("posterior") });
  return trainDad(model, {
    steps: 500,
    ...options,
    horizon: policy.horizon,
    widths: policy.network.widths,
    from: policy.network,
    history,
    drawParameters: (outer, from) => {
      const chosen = Array.from({ length: outer }, () => from.integer(particles));
      return Object.fromEntries(
        Object.entries(posterior).map(([name, values]) => [
          name,
          Float64Array.from(chosen, (i) => values[i]),
        ]),
      );
    },
  });
};
