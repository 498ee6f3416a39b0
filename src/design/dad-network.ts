/**
 * The network of deep adaptive design: an encoder reads every past (design, outcome) pair, the encodings are added up,
 * and an emitter gives the next design from the sum; the first design is emitted from zeros. A network that was started
 * from static designs adds what it emits to their outputs (`base-outputs.ts`).
 */
import { createDense, type Dense, Workspace } from "../compute/index.js";
import { InputError } from "../core/errors.js";
import type { RandomStream } from "../core/random.js";
import { type DesignScale, designFrom, likeliest, outputsOf, readingOf, type Scale } from "./design-scale.js";
import type { Model } from "./model.js";
import { type History, nearestAllowed, type Policy, requireObservationLeft } from "./policy.js";

/** Hidden widths of the encoder, the width of an encoding, hidden widths of the emitter. */
export interface DadWidths {
  readonly encoder: readonly number[];
  readonly encoding: number;
  readonly emitter: readonly number[];
}

/** The layers of the paper's networks. */
export const PAPER_WIDTHS: DadWidths = { encoder: [64, 256], encoding: 16, emitter: [128, 16] };

/** A trained network as plain data. */
export interface DadNetwork {
  readonly widths: DadWidths;
  /** How its outputs become designs, one for each design variable. */
  readonly designs: readonly DesignScale[];
  /** The units in which it reads outcomes, one for each. */
  readonly outcomes: readonly Scale[];
  /** Added to the emitter's outputs before each observation, [horizon][outputs]; nothing unless given. */
  readonly base?: readonly (readonly number[])[] | undefined;
  /** The parameters of the encoder, then those of the emitter. */
  readonly parameters: Float32Array;
}

/** A network without its parameters. */
export type DadShape = Omit<DadNetwork, "parameters">;

/** Inputs, hidden layers and outputs of both networks. */
export const layerWidths = ({
  widths: { encoder, encoding, emitter },
  designs,
  outcomes,
}: DadShape): { readonly encoder: readonly number[]; readonly emitter: readonly number[] } => ({
  encoder: [designs.length + outcomes.length, ...encoder, encoding],
  emitter: [encoding, ...emitter, designs.reduce((sum, scale) => sum + outputsOf(scale), 0)],
});

/** The network in a workspace: rows are (observation, outer sample), observation by observation. */
export class DadLayers {
  readonly encoder: Dense;
  readonly emitter: Dense;
  /** Outputs of the emitter for one design, and where those of each variable begin. */
  readonly outputs: number;
  readonly firstOutput: readonly number[];
  readonly #encoding: number;
  readonly #base: DadShape["base"];
  /** Networks that have read their parameters since `load`. */
  readonly #read = new Set<Dense>();

  constructor(workspace: Workspace, shape: DadShape, rows: number) {
    const { encoder, emitter } = layerWidths(shape);
    this.#encoding = shape.widths.encoding;
    this.#base = shape.base;
    this.outputs = emitter[emitter.length - 1];
    this.firstOutput = shape.designs.map((_, d) =>
      shape.designs.slice(0, d).reduce((sum, scale) => sum + outputsOf(scale), 0),
    );
    this.encoder = createDense(workspace, { widths: encoder, rows });
    this.emitter = createDense(workspace, { widths: emitter, rows });
  }

  get count(): number {
    return this.encoder.parameters.length + this.emitter.parameters.length;
  }

  /** All parameters, copied. */
  parameters(): Float32Array {
    const all = new Float32Array(this.count);
    all.set(this.encoder.parameters);
    all.set(this.emitter.parameters, this.encoder.parameters.length);
    return all;
  }

  load(parameters: Float32Array): void {
    const first = this.encoder.parameters.length;
    this.encoder.parameters.set(parameters.subarray(0, first));
    this.emitter.parameters.set(parameters.subarray(first));
    this.#read.clear();
  }

  #forward(network: Dense, first: number, count: number): void {
    network.forward({ first, count, sameParameters: this.#read.has(network) });
    this.#read.add(network);
  }

  gradient(into: Float32Array): void {
    into.set(this.encoder.gradient);
    into.set(this.emitter.gradient, this.encoder.gradient.length);
  }

  /** The outputs before observation t of `count` rows from `first` on, from the sum of encodings in the emitter's input. */
  emit(first: number, count: number, t: number): Float32Array {
    const { outputs } = this;
    this.#forward(this.emitter, first, count);
    const emitted = this.emitter.output.subarray(first * outputs, (first + count) * outputs);
    // The last layer is linear: its gradients do not depend on what it puts out.
    const base = this.#base?.[t];
    if (base !== undefined) for (let i = 0; i < emitted.length; i++) emitted[i] += base[i % outputs];
    return emitted;
  }

  /** Makes the emitter put out nothing but the base, whatever it reads, once these parameters are loaded. */
  silence(): void {
    const last = this.emitter.widths.length - 2;
    this.emitter.weights(last).fill(0);
    this.emitter.biases(last).fill(0);
  }

  /** Encodes `count` rows from `first` on, and adds them to the emitter's inputs of the rows that come `count` later. */
  encode(first: number, count: number): void {
    const width = this.#encoding;
    this.#forward(this.encoder, first, count);
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

export const dadNetworkTexts = {
  horizon: (base: number, horizon: number) =>
    `the network was started from ${base} static designs and the policy makes ${horizon} observations: give a horizon of ${base}`,
};

/** A policy that a network makes; the same history gives the same design. */
export interface NetworkPolicy extends Policy {
  readonly kind: "dad";
  readonly network: DadNetwork;
  /** At once: no promise. */
  next(history: History, stream: RandomStream): Float64Array;
}

/**
 * The policy of a trained network: xi_t from the sum of the encodings of (xi_1, y_1), ..., (xi_{t-1}, y_{t-1}) (Foster et
 * al. 2021). The network is compiled when it is first used, and kept. Designs are always allowed by the model, also where
 * it is not the one that the network was trained for.
 *
 * @example
 * ```ts
 * import { dadPolicy, pharmacokinetics, seededStream, trainDad } from "fairbed/design";
 *
 * const model = pharmacokinetics();
 * const sizes = { outer: 16, contrastive: 16, marginal: 16 };
 * const { network } = await trainDad(model, { horizon: 2, steps: 5, sizes });
 * const policy = dadPolicy(model, 2, network);
 * const nothing = { outer: 1, steps: 0, designs: new Float64Array(0), outcomes: new Float64Array(0) };
 * const [time] = policy.next(nothing, seededStream(0));
 * console.log(time >= 0.1 && time <= 24); // true
 * ```
 */
export const dadPolicy = (model: Model, horizon: number, network: DadNetwork): NetworkPolicy => {
  const { widths, designs: scales, outcomes: outcomeScales, base, parameters } = network;
  if (base !== undefined && base.length !== horizon) {
    throw new InputError("horizon", dadNetworkTexts.horizon(base.length, horizon));
  }
  const variables = scales.length;
  const outcomes = outcomeScales.length;
  const inputs = variables + outcomes;
  const readings = scales.map(readingOf);
  let compiled: DadLayers | undefined;
  const layersFor = (): DadLayers => {
    if (compiled === undefined) {
      compiled = new DadLayers(new Workspace({ threads: 1 }), network, 1);
      compiled.load(parameters);
    }
    return compiled;
  };
  return {
    kind: "dad",
    horizon,
    network,
    next({ outer, steps, designs, outcomes: seen }: History) {
      requireObservationLeft(steps, horizon);
      const layers = layersFor();
      const { encoder, emitter, outputs, firstOutput } = layers;
      const sums = new Float32Array(outer * widths.encoding);
      if (steps > 0) {
        if (encoder.rows !== outer * steps) encoder.resizeRows(outer * steps);
        const pairs = encoder.input;
        for (let i = 0; i < outer * steps; i++) {
          for (let d = 0; d < variables; d++) {
            const { centre, unit } = readings[d];
            pairs[i * inputs + d] = (designs[i * variables + d] - centre) / unit;
          }
          for (let k = 0; k < outcomes; k++) {
            const { centre, unit } = outcomeScales[k];
            pairs[i * inputs + variables + k] = (seen[i * outcomes + k] - centre) / unit;
          }
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
      const emitted = layers.emit(0, outer, steps);
      return Float64Array.from({ length: outer * variables }, (_, i) => {
        const d = i % variables;
        const scale = scales[d];
        const first = Math.floor(i / variables) * outputs + firstOutput[d];
        const design =
          scale.kind === "values"
            ? scale.values[likeliest(emitted, first, scale.values.length)]
            : designFrom(scale, emitted[first]);
        return nearestAllowed(model.design[d], design);
      });
    },
  };
};
