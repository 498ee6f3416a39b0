/**
 * Deep adaptive design (Foster et al. 2021; the paper's tables in appendix F.1): a network that reads every past
 * (design, outcome) pair with an encoder, adds the encodings up, and emits the next design from the sum; the first
 * design is emitted from zeros. Trained by ascending a bound of the objective through the whole simulated experiment.
 */
import {
  type AdamState,
  adam,
  createDense,
  type Dense,
  Workspace,
  type WorkspaceOptions,
} from "../compute/index.js";
import { InputError } from "../core/errors.js";
import { type RandomStream, randomStream } from "../core/random.js";
import type { Model } from "./model.js";
import { Nested } from "./nested.js";
import { PAPER_SIZES, type SampleSizes } from "./objective.js";
import { Outcomes } from "./outcomes.js";
import { drawOuter, type History, type Policy } from "./policy.js";
import { particlesGiven } from "./posterior.js";
import {
  evidencesOf,
  INFORMATION,
  leakageCost,
  type ObjectiveKind,
  objectiveQuantity,
  type Quantity,
} from "./quantity.js";
import { requireNamedModels } from "./static-objective.js";
import { trainTexts } from "./train-static.js";

/** Hidden widths of the encoder, the width of an encoding, hidden widths of the emitter. */
export interface DadWidths {
  readonly encoder: readonly number[];
  readonly encoding: number;
  readonly emitter: readonly number[];
}

export const PAPER_WIDTHS: DadWidths = { encoder: [64, 256], encoding: 16, emitter: [128, 16] };

/** A trained network as plain data: the parameters of the encoder, then those of the emitter. */
export interface DadNetwork {
  readonly widths: DadWidths;
  readonly variables: number;
  readonly outcomes: number;
  readonly parameters: Float32Array;
}

export interface TrainDadOptions extends WorkspaceOptions {
  readonly objective?: ObjectiveKind | undefined;
  readonly beta?: number | undefined;
  /** Further models that the data must not leak under: the leakage is the largest of theirs and the model's own. */
  readonly against?: readonly Model[] | undefined;
  readonly horizon?: number | undefined;
  readonly steps?: number | undefined;
  readonly rate?: number | undefined;
  readonly seed?: number | undefined;
  readonly sizes?: SampleSizes | undefined;
  readonly widths?: DadWidths | undefined;
  /** Gradients with a larger norm are scaled down to it. */
  readonly clip?: number | undefined;
  /** A network to go on from, instead of a random one. */
  readonly from?: DadNetwork | undefined;
  /** What was observed already, the same for all simulated experiments; they go on from there. */
  readonly history?: History | undefined;
  /** Where the parameters come from: the prior unless given; with a history, the posterior. */
  readonly drawParameters?:
    | ((outer: number, stream: RandomStream) => Record<string, Float64Array>)
    | undefined;
  /** Called after every step. */
  readonly onProgress?: ((progress: DadProgress) => void | Promise<void>) | undefined;
  readonly resume?: DadCheckpoint | undefined;
}

export interface DadProgress {
  readonly step: number;
  readonly steps: number;
  /** The bound at this step's samples. */
  readonly value: number;
  checkpoint(): DadCheckpoint;
}

/** A run in the middle, as plain data. */
export interface DadCheckpoint {
  readonly step: number;
  readonly parameters: Float32Array;
  readonly mean: Float32Array;
  readonly meanSquare: Float32Array;
}

const encoderWidths = ({ encoder, encoding }: DadWidths, inputs: number) => [inputs, ...encoder, encoding];
const emitterWidths = ({ emitter, encoding }: DadWidths, variables: number) => [
  encoding,
  ...emitter,
  variables,
];

/** The network in a workspace: rows are (observation, outer sample), observation by observation. */
class DadLayers {
  readonly encoder: Dense;
  readonly emitter: Dense;
  readonly #encoding: number;

  constructor(workspace: Workspace, widths: DadWidths, variables: number, outcomes: number, rows: number) {
    this.#encoding = widths.encoding;
    this.encoder = createDense(workspace, { widths: encoderWidths(widths, variables + outcomes), rows });
    this.emitter = createDense(workspace, { widths: emitterWidths(widths, variables), rows });
  }

  get count(): number {
    return this.encoder.parameters.length + this.emitter.parameters.length;
  }

  load(parameters: Float32Array): void {
    const first = this.encoder.parameters.length;
    this.encoder.parameters.set(parameters.subarray(0, first));
    this.emitter.parameters.set(parameters.subarray(first));
  }

  gradient(into: Float32Array): void {
    into.set(this.encoder.gradient);
    into.set(this.emitter.gradient, this.encoder.gradient.length);
  }

  /** Emits the designs of `count` rows from `first` on, from the sum of encodings in the emitter's input. */
  emit(first: number, count: number): Float32Array {
    this.emitter.forward({ first, count });
    const width = this.emitter.output.length / this.emitter.rows;
    return this.emitter.output.subarray(first * width, (first + count) * width);
  }

  /** Encodes `count` rows from `first` on, and adds them to the emitter's inputs of the rows that come `count` later. */
  encode(first: number, count: number, last: boolean): void {
    const width = this.#encoding;
    this.encoder.forward({ first, count });
    if (last) return;
    const encodings = this.encoder.output;
    const sums = this.emitter.input;
    for (let i = first * width; i < (first + count) * width; i++) {
      sums[i + count * width] = sums[i] + encodings[i];
    }
  }

  dispose(): void {
    this.encoder.dispose();
    this.emitter.dispose();
  }
}

/** The policy of a trained network; the network is compiled when it is first used, and kept. */
export const dadPolicy = (
  model: Model,
  horizon: number,
  network: DadNetwork,
): Policy & { readonly network: DadNetwork } => {
  const { widths, variables, outcomes, parameters } = network;
  const inputs = variables + outcomes;
  let compiled: DadLayers | undefined;
  const layersFor = (): DadLayers => {
    if (compiled === undefined) {
      compiled = new DadLayers(new Workspace({ threads: 1 }), widths, variables, outcomes, 1);
      compiled.load(parameters);
    }
    return compiled;
  };
  return {
    kind: "dad",
    horizon,
    network,
    next({ outer, steps, designs, outcomes: seen }: History) {
      const { encoder, emitter } = layersFor();
      const sums = new Float32Array(outer * widths.encoding);
      if (steps > 0) {
        if (encoder.rows !== outer * steps) encoder.resizeRows(outer * steps);
        const pairs = encoder.input;
        for (let i = 0; i < outer * steps; i++) {
          for (let d = 0; d < variables; d++) pairs[i * inputs + d] = designs[i * variables + d];
          for (let k = 0; k < outcomes; k++) pairs[i * inputs + variables + k] = seen[i * outcomes + k];
        }
        encoder.forward();
        const encodings = encoder.output;
        // Summed in the order of training, so that a policy gives what it gave there.
        for (let t = 0; t < steps; t++) {
          for (let b = 0; b < outer; b++) {
            for (let j = 0; j < widths.encoding; j++) {
              sums[b * widths.encoding + j] += encodings[(b * steps + t) * widths.encoding + j];
            }
          }
        }
      }
      if (emitter.rows !== outer) emitter.resizeRows(outer);
      emitter.input.set(sums);
      emitter.forward();
      return Float64Array.from(emitter.output, (value, i) => {
        const { low, high } = model.design[i % variables];
        return Math.min(high, Math.max(low, value));
      });
    },
  };
};

export const trainDad = async (
  model: Model,
  options: TrainDadOptions = {},
): Promise<ReturnType<typeof dadPolicy>> => {
  const {
    objective = "conditional",
    beta = 0.8,
    against = [],
    horizon = 10,
    steps = 10_000,
    rate = 5e-5,
    seed = 0,
    sizes = PAPER_SIZES,
    widths = PAPER_WIDTHS,
    clip = Infinity,
    drawParameters = (outer, stream) => drawOuter(model, outer, stream),
    history,
    onProgress,
    resume,
  } = options;
  const past = history?.steps ?? 0;
  for (const [name, value] of Object.entries({ horizon, steps })) {
    if (!Number.isInteger(value) || value < 1) throw new InputError(name, trainTexts.whole(name, value));
  }
  if (!(beta >= 0 && beta < Infinity)) throw new InputError("beta", trainTexts.beta(beta));
  const stream = randomStream(seed).split("dad");
  const workspace = new Workspace(options);
  const { outer } = sizes;
  const variables = model.design.length;
  const outcomes = model.outcomes.length;
  const inputs = variables + outcomes;
  const rows = outer * horizon;
  if (against.length > 0) requireNamedModels(model, against);
  const layers = new DadLayers(workspace, widths, variables, outcomes, rows);
  const cost = leakageCost(objective, beta);
  const [gain, ...costs] =
    against.length === 0
      ? [rollout(model, objectiveQuantity(objective, beta), drawParameters)]
      : [
          rollout(model, INFORMATION.target, drawParameters),
          rollout(model, cost, drawParameters),
          ...against.map((other) => rollout(other, cost, (count, from) => drawOuter(other, count, from))),
        ];
  try {
    const parameters = new Float32Array(layers.count);
    if (options.from !== undefined) parameters.set(options.from.parameters);
    else {
      layers.encoder.initialise(stream.split("encoder"));
      layers.emitter.initialise(stream.split("emitter"));
      parameters.set(layers.encoder.parameters);
      parameters.set(layers.emitter.parameters, layers.encoder.parameters.length);
    }
    const optimiser = adam({ rate });
    let state: AdamState = optimiser.init(parameters);
    let taken = 0;
    if (resume !== undefined) {
      parameters.set(resume.parameters);
      state = { step: resume.step, mean: resume.mean.slice(), meanSquare: resume.meanSquare.slice() };
      taken = resume.step;
    }
    const gradient = new Float32Array(parameters.length);
    const part = new Float32Array(parameters.length);
    for (; taken < steps; taken++) {
      layers.load(parameters);
      const own = stream.split("step").split(taken);
      let value = gain.run(own);
      layers.gradient(gradient);
      if (costs.length > 0) {
        // The objective has the leakage of the model that is worst on this batch.
        let worst = Infinity;
        for (const each of costs) {
          const leaked = each.run(own);
          if (leaked >= worst) continue;
          worst = leaked;
          layers.gradient(part);
        }
        value += worst;
        for (let i = 0; i < gradient.length; i++) gradient[i] += part[i];
      }
      // Ascent, clipped to a norm.
      let norm = 0;
      for (const derivative of gradient) norm += derivative * derivative;
      const scale = -Math.min(1, clip / Math.sqrt(norm || 1));
      for (let i = 0; i < gradient.length; i++) gradient[i] *= scale;
      optimiser.update(parameters, gradient, state);
      await onProgress?.({
        step: taken + 1,
        steps,
        value,
        checkpoint: () => ({
          step: state.step,
          parameters: parameters.slice(),
          mean: Float32Array.from(state.mean),
          meanSquare: Float32Array.from(state.meanSquare),
        }),
      });
    }
    return dadPolicy(model, horizon, { widths, variables, outcomes, parameters: parameters.slice() });
  } finally {
    for (const each of [gain, ...costs]) each.dispose();
    layers.dispose();
    workspace.dispose();
  }

  /** Batches of experiments simulated by a model: a bound of a quantity, its gradient left in the layers. */
  function rollout(
    model: Model,
    quantity: Quantity,
    drawParameters: NonNullable<TrainDadOptions["drawParameters"]>,
  ): { run(from: RandomStream): number; dispose(): void } {
    const nested = new Nested({
      model,
      workspace,
      horizon,
      ...sizes,
      designs: "perOuter",
      given: evidencesOf(quantity),
      gradients: true,
    });
    const step = new Outcomes({ model, workspace, outer, horizon: 1, designs: "perOuter" });
    const names = model.design.map(({ name }) => name);
    const byName = (list: readonly string[], length: number): Record<string, Float64Array> =>
      Object.fromEntries(list.map((name) => [name, new Float64Array(length)]));
    const designs = byName(names, rows);
    const observed = byName(model.outcomes, rows);
    const designGradients = byName(names, rows);
    const outcomeGradients = byName(model.outcomes, rows);
    const now = byName(names, outer);
    const nowGradients = byName(names, outer);
    const nowAdjoints = byName(model.outcomes, outer);
    const noises: Record<string, Float64Array>[] = [];
    const run = (from: RandomStream): number => {
      const generating = drawParameters(outer, from.split("parameters"));
      const noise = from.split("noise");
      layers.emitter.input.fill(0);
      for (let t = 0; t < horizon; t++) {
        const first = t * outer;
        const emitted = t < past ? repeated(history?.designs, t, variables) : layers.emit(first, outer);
        for (const [d, name] of names.entries()) {
          for (let b = 0; b < outer; b++) {
            const value = emitted[b * variables + d];
            now[name][b] = value;
            designs[name][b * horizon + t] = value;
          }
        }
        noises[t] = step.drawNoise(noise.split(t));
        const seen = t < past ? observedAt(t) : step.simulate(generating, now, noises[t]);
        const pairs = layers.encoder.input;
        for (let b = 0; b < outer; b++) {
          const at = (first + b) * inputs;
          for (let d = 0; d < variables; d++) pairs[at + d] = emitted[b * variables + d];
          for (const [k, name] of model.outcomes.entries()) {
            observed[name][b * horizon + t] = seen[name][b];
            pairs[at + variables + k] = seen[name][b];
          }
        }
        layers.encode(first, outer, t === horizon - 1);
      }
      nested.setData(generating, designs, observed);
      nested.drawInner(from.split("inner"), generating);
      const value = nested.bound(quantity, "lower");
      for (const name of names) nested.addGradient(name, designGradients[name].fill(0));
      for (const name of model.outcomes) nested.addGradient(name, outcomeGradients[name].fill(0));

      // Backwards through the experiment. `later` is the gradient in the sum of encodings that all later designs see.
      const later = new Float32Array(outer * widths.encoding);
      for (let t = horizon - 1; t >= 0; t--) {
        const first = t * outer;
        for (const name of names) {
          for (let b = 0; b < outer; b++) nowGradients[name][b] = designGradients[name][b * horizon + t];
        }
        for (const name of model.outcomes) {
          for (let b = 0; b < outer; b++) nowAdjoints[name][b] = outcomeGradients[name][b * horizon + t];
        }
        const range = { first, count: outer };
        const upstream = layers.encoder.outputGradient;
        upstream.set(later, first * widths.encoding);
        if (t < horizon - 1) layers.encoder.backwardInput(range);
        if (t < past) continue;
        if (t < horizon - 1) {
          const pairs = layers.encoder.inputGradient;
          for (let b = 0; b < outer; b++) {
            const at = (first + b) * inputs;
            for (const [d, name] of names.entries()) nowGradients[name][b] += pairs[at + d];
            for (const [k, name] of model.outcomes.entries())
              nowAdjoints[name][b] += pairs[at + variables + k];
          }
        }
        for (const name of names) {
          for (let b = 0; b < outer; b++) now[name][b] = designs[name][b * horizon + t];
        }
        if (model.reparameterised) {
          step.simulate(generating, now, noises[t]);
          step.addPullback(nowAdjoints, nowGradients);
        }
        const emitted = layers.emitter.outputGradient;
        for (let b = 0; b < outer; b++) {
          for (const [d, name] of names.entries())
            emitted[(first + b) * variables + d] = nowGradients[name][b];
        }
        layers.emitter.backwardInput(range);
        const sums = layers.emitter.inputGradient;
        for (let i = 0; i < later.length; i++) later[i] += sums[first * widths.encoding + i];
      }
      // The last pair is read by nobody.
      if (horizon > 1) layers.encoder.backwardParameters({ count: outer * (horizon - 1) });
      layers.emitter.backwardParameters({ first: past * outer, count: rows - past * outer });
      return value;
    };
    return {
      run,
      dispose() {
        step.dispose();
        nested.dispose();
      },
    };

    /** The design of a past observation, for every simulated experiment. */
    function repeated(values: Float64Array | undefined, t: number, width: number): Float32Array {
      const row = values?.subarray(t * width, (t + 1) * width) ?? new Float64Array(width);
      return Float32Array.from({ length: outer * width }, (_, i) => row[i % width]);
    }

    function observedAt(t: number): Record<string, Float64Array> {
      return Object.fromEntries(
        model.outcomes.map((name, k) => [
          name,
          new Float64Array(outer).fill(history?.outcomes[t * outcomes + k] ?? 0),
        ]),
      );
    }
  }
};

/**
 * A policy trained further on what this experiment has shown: the simulated experiments share its history, their
 * parameters come from the posterior, and the bound is that of the whole, of which the past is a constant.
 */
export const refineDad = async (
  model: Model,
  policy: Policy & { readonly network: DadNetwork },
  history: History,
  {
    particles = 4000,
    ...options
  }: Omit<TrainDadOptions, "from" | "history" | "against"> & { readonly particles?: number | undefined } = {},
): Promise<ReturnType<typeof dadPolicy>> => {
  if (history.outer !== 1 || history.steps < 1 || history.steps >= policy.horizon) {
    throw new InputError("history", dadTexts.history(history.steps, policy.horizon));
  }
  const stream = randomStream(options.seed ?? 0).split("refine");
  const posterior = particlesGiven(model, history, { particles, stream: stream.split("posterior") });
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

export const dadTexts = {
  history: (given: number, horizon: number) =>
    `the history has ${given} observations and the policy makes ${horizon}: give one experiment with at least 1 and fewer than ${horizon}`,
};
