/**
 * Deep adaptive design (Foster et al. 2021; the paper's tables in appendix F.1): a network that chooses the next design
 * from everything seen (`dad-network.ts`), trained by ascending a bound of the objective through the whole simulated
 * experiment (`dad-rollout.ts`).
 */
import { type AdamState, adam, Workspace, type WorkspaceOptions } from "../compute/index.js";
import { InputError } from "../core/errors.js";
import { pacer } from "../core/options.js";
import { randomStream } from "../core/random.js";
import {
  DadLayers,
  type DadNetwork,
  type DadPolicy,
  type DadShape,
  type DadWidths,
  dadPolicy,
  PAPER_WIDTHS,
} from "./dad-network.js";
import { type DrawParameters, Rollout } from "./dad-rollout.js";
import { type DesignScale, designScales, outcomeScales } from "./design-scale.js";
import type { Model } from "./model.js";
import { PAPER_SIZES, type SampleSizes } from "./objective.js";
import { drawOuter, type History } from "./policy.js";
import { particlesGiven } from "./posterior.js";
import { INFORMATION, leakageCost, type ObjectiveKind, objectiveQuantity } from "./quantity.js";
import { requireNamedModels } from "./static-objective.js";
import {
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
  /** A network to go on from, instead of a random one. */
  readonly from?: DadNetwork | undefined;
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

export interface TrainedDad extends DadPolicy {
  /** What a user should know, such as that nothing was learned; each is a sentence. */
  readonly warnings: readonly string[];
}

export const dadTexts = {
  history: (given: number, horizon: number) =>
    `the history has ${given} observations and the policy makes ${horizon}: give one experiment with at least 1 and fewer than ${horizon}`,
  otherNetwork: (what: string) =>
    `the network to go on from has other ${what} than this model and these settings: give one that was trained for them, or leave out from`,
};

/** Everything that a step needs, which is thrown away at the end. */
interface Trainee {
  readonly layers: DadLayers;
  /** Of the information about the target, or of the whole objective where there are no costs of their own. */
  readonly gain: Rollout;
  /** Of the leakage under each model, where there are several. */
  readonly costs: readonly Rollout[];
}

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
    objective = "conditional",
    beta = 0.8,
    against = [],
    horizon = 10,
    steps = 10_000,
    rate = 5e-5,
    seed = 0,
    sizes = PAPER_SIZES,
    clip = Infinity,
    from,
    signal,
    onProgress,
    resume,
  } = options;
  requireTrainable({ horizon, steps }, beta);
  if (against.length > 0) requireNamedModels(model, against);
  const shape = shapeFor(model, options);
  const settings = settingsOf(model, options, shape);
  if (resume !== undefined) requireResumable(resume, settings);
  const pace = pacer({ signal });
  const stream = randomStream(seed).split("dad");
  const workspace = new Workspace(options);
  const trainee = traineeFor(
    model,
    { ...options, objective, beta, against, horizon, sizes },
    shape,
    workspace,
  );
  const { layers } = trainee;
  try {
    const parameters = new Float32Array(layers.count);
    if (from !== undefined) {
      if (from.parameters.length !== layers.count) throw otherNetwork("widths");
      parameters.set(from.parameters);
    } else {
      layers.encoder.initialise(stream.split("encoder"));
      layers.emitter.initialise(stream.split("emitter"));
      parameters.set(layers.parameters());
    }
    const optimiser = adam({ rate });
    let state: AdamState = optimiser.init(parameters);
    let taken = 0;
    const values = [...(resume?.values ?? [])];
    if (resume !== undefined) {
      for (const field of ["parameters", "mean", "meanSquare"] as const) {
        requireNumbers(resume[field], layers.count, field);
      }
      requireNumbers(resume.values, resume.step, "values");
      parameters.set(resume.parameters);
      state = {
        step: resume.step,
        mean: Float32Array.from(resume.mean),
        meanSquare: Float32Array.from(resume.meanSquare),
      };
      taken = resume.step;
    }
    const checkpoint = (): DadCheckpoint => ({
      kind: "dad",
      settings,
      step: state.step,
      parameters: [...parameters],
      mean: [...state.mean],
      meanSquare: [...state.meanSquare],
      values: values.slice(0, state.step),
    });
    const gradient = new Float32Array(parameters.length);
    const good = new LastGood(parameters, state);
    for (; taken < steps; taken++) {
      layers.load(parameters);
      const value = valueAndGradient(trainee, stream.split("step").split(taken), gradient);
      const norm = normOf(gradient);
      if (!Number.isFinite(value) || !Number.isFinite(norm)) {
        const [what, given] = Number.isFinite(value) ? ["gradient's norm", norm] : ["objective", value];
        good.restore(parameters, state);
        throw new TrainingError(
          trainTexts.notFinite(taken + 1, what as string, given as number),
          checkpoint(),
        );
      }
      good.keep(parameters, state);
      // Ascent, clipped to a norm.
      const scale = -Math.min(1, clip / (norm || 1));
      for (let i = 0; i < gradient.length; i++) gradient[i] *= scale;
      optimiser.update(parameters, gradient, state);
      values.push(value);
      await onProgress?.({ done: taken + 1, total: steps, value, checkpoint });
      await pace.pause();
    }
    // A network that was trained before may have nothing left to learn.
    const warnings = from === undefined ? warningsOf(values) : [];
    const network: DadNetwork = { ...shape, parameters: parameters.slice() };
    return { ...dadPolicy(model, horizon, network), warnings };
  } finally {
    for (const each of [trainee.gain, ...trainee.costs]) each.dispose();
    layers.dispose();
    workspace.dispose();
  }
};

/** What makes a network fit a model; one to go on from keeps its units. */
const shapeFor = (model: Model, { from, widths }: TrainDadOptions): DadShape => {
  const designs = designScales(model);
  const outcomes = outcomeScales(model);
  if (from === undefined) return { widths: widths ?? PAPER_WIDTHS, designs, outcomes };
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
  return { widths: from.widths, designs: from.designs, outcomes: from.outcomes };
};

const otherNetwork = (what: string) => new InputError("network", dadTexts.otherNetwork(what));

/** What must be the same for a run to go on: everything but the number of steps, their rate and the threads. */
const settingsOf = (
  model: Model,
  {
    objective = "conditional",
    beta = 0.8,
    against = [],
    horizon = 10,
    seed = 0,
    sizes = PAPER_SIZES,
    history,
  }: TrainDadOptions,
  { widths }: DadShape,
): TrainingSettings => ({
  ...modelSettings(model, against),
  objective,
  beta,
  horizon,
  seed,
  sizes,
  widths,
  history: history === undefined ? null : { designs: [...history.designs], outcomes: [...history.outcomes] },
});

const requireResumable = (resume: DadCheckpoint, settings: TrainingSettings): void => {
  if (resume.kind !== "dad") throw new InputError("checkpoint", trainTexts.damaged("kind"));
  requireSameSettings(resume.settings, settings);
};

const traineeFor = (
  model: Model,
  {
    objective,
    beta,
    against,
    horizon,
    sizes,
    history,
    drawParameters = (outer, stream) => drawOuter(model, outer, stream),
  }: TrainDadOptions & {
    readonly objective: ObjectiveKind;
    readonly beta: number;
    readonly against: readonly Model[];
    readonly horizon: number;
    readonly sizes: SampleSizes;
  },
  shape: DadShape,
  workspace: Workspace,
): Trainee => {
  const layers = new DadLayers(workspace, shape, sizes.outer * horizon);
  const common = { workspace, layers, shape, horizon, sizes, history };
  const own = { ...common, model, drawParameters };
  if (against.length === 0) {
    const gain = new Rollout({ ...own, quantity: objectiveQuantity(objective, beta) });
    return { layers, gain, costs: [] };
  }
  const quantity = leakageCost(objective, beta);
  return {
    layers,
    gain: new Rollout({ ...own, quantity: INFORMATION.target }),
    costs: [
      new Rollout({ ...own, quantity }),
      ...against.map(
        (other) =>
          new Rollout({
            ...common,
            model: other,
            quantity,
            drawParameters: (count, stream) => drawOuter(other, count, stream),
          }),
      ),
    ],
  };
};

/** The objective on a batch, and its gradient: the leakage is that of the model that is worst on this batch. */
const valueAndGradient = (
  { layers, gain, costs }: Trainee,
  stream: ReturnType<typeof randomStream>,
  gradient: Float32Array,
): number => {
  const value = gain.run(stream);
  layers.gradient(gradient);
  if (costs.length === 0) return value;
  const part = new Float32Array(gradient.length);
  let worst = Infinity;
  for (const each of costs) {
    const leaked = each.run(stream);
    if (leaked >= worst) continue;
    worst = leaked;
    layers.gradient(part);
  }
  for (let i = 0; i < gradient.length; i++) gradient[i] += part[i];
  return value + worst;
};

const normOf = (gradient: Float32Array): number => {
  let square = 0;
  for (const derivative of gradient) square += derivative * derivative;
  return Math.sqrt(square);
};

/** The latest parameters, with Adam's memory, whose objective was finite: those to begin with until there are any. */
class LastGood {
  readonly #parameters: Float32Array;
  readonly #mean: Float32Array;
  readonly #meanSquare: Float32Array;
  #step: number;

  constructor(parameters: Float32Array, { step, mean, meanSquare }: AdamState) {
    this.#parameters = parameters.slice();
    this.#mean = Float32Array.from(mean);
    this.#meanSquare = Float32Array.from(meanSquare);
    this.#step = step;
  }

  keep(parameters: Float32Array, { step, mean, meanSquare }: AdamState): void {
    this.#parameters.set(parameters);
    this.#mean.set(mean);
    this.#meanSquare.set(meanSquare);
    this.#step = step;
  }

  restore(parameters: Float32Array, state: AdamState): void {
    parameters.set(this.#parameters);
    state.mean.set(this.#mean);
    state.meanSquare.set(this.#meanSquare);
    state.step = this.#step;
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
  policy: DadPolicy,
  history: History,
  { particles = 4000, ...options }: RefineDadOptions = {},
): Promise<TrainedDad> => {
  if (history.outer !== 1 || history.steps < 1 || history.steps >= policy.horizon) {
    throw new InputError("history", dadTexts.history(history.steps, policy.horizon));
  }
  const stream = randomStream(options.seed ?? 0).split("refine");
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
