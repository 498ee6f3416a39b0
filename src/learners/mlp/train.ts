/**
 * Adam on mini-batches, with scikit-learn's loss and stopping rule.
 *
 * With p the network's probabilities and w the row's weight, a batch of m rows has the loss
 *
 *     (1/m) (sum over rows of -w log p(label) + (l2 / 2) sum over layers of |W|^2),
 *
 * and an epoch the mean over its rows of their batch's. Training ends after `patience` + 1 epochs in a row whose loss
 * is not at least `tolerance` below the best. With rows kept aside it is their loss that counts, and the network of the
 * epoch where it was least that is the answer: what was learnt by heart after it is not.
 */
import { adam, createDense, type Dense, Workspace } from "../../compute/index.js";
import { log } from "../../core/math.js";
import type { RandomStream } from "../../core/random.js";
import { outputCount, probabilitiesOf } from "./network.js";

export interface TrainingOptions {
  readonly hidden: readonly number[];
  readonly rate: number;
  readonly l2: number;
  readonly batch: number;
  readonly epochs: number;
  readonly tolerance: number;
  readonly patience: number;
  /** The share of the rows that is kept aside; 0 for none. */
  readonly validation: number;
  /** The largest norm of a batch's gradient: a longer one is cut to it. */
  readonly clip: number;
  readonly threads: number | undefined;
}

/** Products in a batch's forward pass: about a millisecond. */
const WORTH_THREADS = 2 ** 21;

export interface TrainingRows {
  /** [rows, columns] */
  readonly x: Float32Array;
  readonly columns: number;
  readonly labels: Int32Array;
  /** Mean 1. */
  readonly weights: Float64Array;
  readonly classes: number;
}

export interface TrainedLayer {
  /** [outputs, inputs] */
  readonly weights: Float32Array;
  readonly biases: Float32Array;
}

export interface Trained {
  readonly layers: readonly TrainedLayer[];
  /** The loss of every epoch. */
  readonly losses: readonly number[];
}

/** Uniform within sqrt(6 / (inputs + outputs)), weights and biases (Glorot and Bengio 2010, equation 16). */
const initialise = (network: Dense, stream: RandomStream): void => {
  for (let l = 0; l + 1 < network.widths.length; l++) {
    const most = Math.sqrt(6 / (network.widths[l] + network.widths[l + 1]));
    const own = stream.split(l);
    for (const array of [network.weights(l), network.biases(l)])
      for (let i = 0; i < array.length; i++) array[i] = own.uniform(-most, most);
  }
};

export function* trainSteps(
  rows: TrainingRows,
  options: TrainingOptions,
  stream: RandomStream,
): Generator<unknown, Trained> {
  const { hidden, rate, epochs, tolerance, patience, validation, clip } = options;
  const { learnt, aside } = keepAside(rows.labels.length, validation, stream);
  const n = learnt.length;
  const batch = Math.min(options.batch, n);
  const widths = [rows.columns, ...hidden, outputCount(rows.classes)];
  // Threads do not change the result; on a small network they would cost more than they give. No fused multiply-add:
  // the same bits on every machine.
  const products = batch * widths.slice(1).reduce((sum, width, l) => sum + width * widths[l], 0);
  const threads = products < WORTH_THREADS ? 1 : options.threads;
  const workspace = new Workspace({ relaxed: false, threads });
  try {
    const network = createDense(workspace, { widths, rows: batch });
    initialise(network, stream.split("weights"));
    const optimiser = adam({ rate });
    const state = optimiser.init(network.parameters);
    const orders = stream.split("order");
    const losses: number[] = [];
    const kept = new Float32Array(aside.length > 0 ? network.parameters.length : 0);
    let best = Number.POSITIVE_INFINITY;
    let idle = 0;
    while (losses.length < epochs && idle <= patience) {
      const order = orders.permutation(n).map((place) => learnt[place]);
      let loss = 0;
      for (let from = 0; from < n; from += batch) {
        const count = Math.min(batch, n - from);
        loss += descend(network, rows, order.subarray(from, from + count), options.l2);
        shorten(network.gradient, clip);
        optimiser.update(network.parameters, network.gradient, state);
        yield;
      }
      loss /= n;
      if (aside.length > 0) {
        loss = yield* lossSteps(network, rows, aside, batch);
        if (loss < best)
          network.parameters.forEach((value, i) => {
            kept[i] = value;
          });
      }
      losses.push(loss);
      idle = loss > best - tolerance ? idle + 1 : 0;
      best = Math.min(best, loss);
      if (!Number.isFinite(loss)) break;
    }
    if (aside.length > 0 && best < Number.POSITIVE_INFINITY) network.parameters.set(kept);
    const layers = widths.slice(1).map((_, l) => ({
      weights: network.weights(l).slice(),
      biases: network.biases(l).slice(),
    }));
    return { layers, losses };
  } finally {
    workspace.dispose();
  }
}

/** Rows to learn from and rows to judge by. */
const keepAside = (
  rows: number,
  share: number,
  stream: RandomStream,
): { readonly learnt: Int32Array; readonly aside: Int32Array } => {
  const all = Int32Array.from({ length: rows }, (_, i) => i);
  // At least one of each, or there is nothing to keep aside.
  const count = Math.min(rows - 1, Math.round(share * rows));
  if (count < 1) return { learnt: all, aside: new Int32Array(0) };
  const order = Int32Array.from(stream.split("aside").permutation(rows));
  return { learnt: order.slice(count).sort(), aside: order.slice(0, count).sort() };
};

/** Cuts a gradient that is longer than `most`. */
const shorten = (gradient: Float32Array, most: number): void => {
  if (most === Number.POSITIVE_INFINITY) return;
  let squares = 0;
  for (let i = 0; i < gradient.length; i++) squares += gradient[i] * gradient[i];
  const factor = most / Math.sqrt(squares);
  if (!(factor < 1)) return;
  for (let i = 0; i < gradient.length; i++) gradient[i] *= factor;
};

/** The mean loss of some rows, without the penalty. */
function* lossSteps(
  network: Dense,
  { x, columns, labels, weights, classes }: TrainingRows,
  which: Int32Array,
  batch: number,
): Generator<unknown, number> {
  const outputs = outputCount(classes);
  const p = new Float64Array(classes);
  let loss = 0;
  let weight = 0;
  for (let from = 0; from < which.length; from += batch) {
    const count = Math.min(batch, which.length - from);
    const { input } = network;
    for (let i = 0; i < count; i++) {
      const row = which[from + i];
      input.set(x.subarray(row * columns, (row + 1) * columns), i * columns);
    }
    network.forward({ count });
    const { output } = network;
    for (let i = 0; i < count; i++) {
      const row = which[from + i];
      probabilitiesOf(output, i * outputs, p);
      loss -= weights[row] * log(Math.max(p[labels[row]], 2.2e-16));
      weight += weights[row];
    }
    yield;
  }
  return loss / weight;
}

/** The gradient of the batch's loss, left in the network; returns the loss times the rows. */
const descend = (
  network: Dense,
  { x, columns, labels, weights, classes }: TrainingRows,
  batch: Uint32Array,
  l2: number,
): number => {
  const count = batch.length;
  const { input } = network;
  for (let i = 0; i < count; i++)
    input.set(x.subarray(batch[i] * columns, (batch[i] + 1) * columns), i * columns);
  network.forward({ count });
  const { output, outputGradient } = network;
  const outputs = outputCount(classes);
  const p = new Float64Array(classes);
  let loss = 0;
  for (let i = 0; i < count; i++) {
    const label = labels[batch[i]];
    const weight = weights[batch[i]];
    probabilitiesOf(output, i * outputs, p);
    // scikit-learn's floor under a probability, so that the loss stays finite.
    loss -= weight * log(Math.max(p[label], 2.2e-16));
    for (let k = 0; k < outputs; k++) {
      const c = outputs === 1 ? 1 : k;
      outputGradient[i * outputs + k] = (weight * (p[c] - (label === c ? 1 : 0))) / count;
    }
  }
  network.backwardInput({ count });
  network.backwardParameters({ count });
  let squares = 0;
  for (let l = 0; l + 1 < network.widths.length; l++) {
    const own = network.weights(l);
    const ownGradient = network.weightGradient(l);
    for (let i = 0; i < own.length; i++) {
      squares += own[i] * own[i];
      ownGradient[i] += (l2 * own[i]) / count;
    }
  }
  return loss + 0.5 * l2 * squares;
};
