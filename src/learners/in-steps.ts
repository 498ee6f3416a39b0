/**
 * Learning and predicting in pieces, so that whoever walks them can let go of the thread or stop after each; the answers
 * are those of `fit` and `predict`, bit for bit.
 */
import { unpaced } from "../core/options.js";
import type { RandomStream } from "../core/random.js";
import type { Classifier, FeatureMatrix, Learner, TrainingSet } from "./classifier.js";

/** A learner of that name from what it does in pieces. */
export const steppedLearner = <Fitted extends Classifier>(
  name: string,
  fitSteps: (training: TrainingSet, stream: RandomStream) => Generator<unknown, Fitted>,
) => ({
  name,
  fitSteps,
  fit: (training: TrainingSet, stream: RandomStream): Fitted => unpaced(fitSteps(training, stream)),
});

/** Walks a learner's fit; one that knows no pieces is one piece. */
export function* fitInSteps(
  learner: Learner,
  training: TrainingSet,
  stream: RandomStream,
): Generator<unknown, Classifier> {
  if (learner.fitSteps === undefined) return learner.fit(training, stream);
  return yield* learner.fitSteps(training, stream);
}

/** About how long a piece takes: whoever waits between pieces can then keep to 50 ms. */
const PIECE_MS = 15;
const FIRST_ROWS = 128;

/** How much is done at a time, so that a piece takes about as long as it should; the answer must not depend on it. */
export class PieceSize {
  #size: number;
  readonly #least: number;
  #started = performance.now();

  constructor(least = 1, first = least) {
    this.#least = least;
    this.#size = first;
  }

  /** For the next piece, which starts now. */
  next(): number {
    this.#started = performance.now();
    return this.#size;
  }

  /** The piece is done. */
  done(): void {
    const taken = performance.now() - this.#started;
    if (taken < PIECE_MS / 2) this.#size *= 2;
    else if (taken > PIECE_MS) this.#size = Math.max(this.#least, Math.floor(this.#size / 2));
  }
}

/** What a classifier says of the given rows (all unless given), some rows at a time. */
export function* predictInSteps(
  classifier: Classifier,
  features: FeatureMatrix,
  rows?: Int32Array,
): Generator<unknown, Float64Array> {
  if (classifier.predictSteps !== undefined) return yield* classifier.predictSteps(features, rows);
  const total = rows?.length ?? features.rows;
  if (total <= FIRST_ROWS) return classifier.predict(features, rows);
  const all = rows ?? Int32Array.from({ length: total }, (_, i) => i);
  const out = new Float64Array(total * classifier.classes);
  const size = new PieceSize(FIRST_ROWS);
  for (let from = 0; from < total; ) {
    const to = Math.min(total, from + size.next());
    out.set(classifier.predict(features, all.subarray(from, to)), from * classifier.classes);
    size.done();
    from = to;
    yield;
  }
  return out;
}
