/**
 * The mode of penalised logistic regression where the Hessian is too large to be made: Newton's steps by conjugate
 * gradients (Nocedal and Wright, Numerical Optimization, algorithm 7.1), shaped by its diagonal blocks. The logits of a
 * step come with it, so that how far to go along it is tried without looking at the features again.
 *
 * Of a softmax the parameters of each column sum to 0 over the classes, at the mode and everywhere on the way.
 */
import { log } from "../../core/math.js";
import { type Shape, shapeCost, shapeSteps, stepCost } from "./curvature.js";
import { lossOf, probabilitiesOf } from "./newton.js";
import { gatherSteps, logitSteps, type SparseProblem } from "./sparse-problem.js";

/**
 * The last step is one that lowers the objective by no more than this, in nats over all rows: of many rows, by as much
 * as changes the mean loss in its ninth digit.
 */
const DONE = 1e-5;
const DONE_PER_ROW = 1e-9;
const MOST_STEPS = 200;
/** Of a row's slope, what its curvature counts as at least. */
const WRONG = 0.03;
const MOST_INNER = 250;

export interface SparseMode {
  /** [width, vectors], the intercepts last. */
  readonly parameters: Float64Array;
  /** P(class of each vector) of every row, [rows, vectors]. */
  readonly probabilities: Float64Array;
}

/** Takes the mean over the vectors from each column's parameters. */
const centre = (parameters: Float64Array, vectors: number): void => {
  for (let at = 0; vectors > 1 && at < parameters.length; at += vectors) {
    let sum = 0;
    for (let k = 0; k < vectors; k++) sum += parameters[at + k];
    for (let k = 0; k < vectors; k++) parameters[at + k] -= sum / vectors;
  }
};

const product = (a: Float64Array, b: Float64Array): number => {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
};

/** p of each vector's class; for two classes, of the second. */
const probabilities = (
  { rows, classes, vectors }: SparseProblem,
  logits: Float64Array,
  out: Float64Array,
): void => {
  const own = new Float64Array(vectors);
  const p = new Float64Array(classes);
  const first = classes - vectors;
  for (let i = 0; i < rows.length; i++) {
    for (let k = 0; k < vectors; k++) own[k] = logits[i * vectors + k];
    probabilitiesOf(own, classes, p);
    for (let k = 0; k < vectors; k++) out[i * vectors + k] = p[k + first];
  }
};

/** The objective where the logits are `logits + length * change`, and the penalised parameters likewise. */
const objectiveAt = (
  { rows, labels, weights, classes, vectors, width, l2 }: SparseProblem,
  logits: Float64Array,
  change: Float64Array,
  parameters: Float64Array,
  step: Float64Array,
  length: number,
): number => {
  const own = new Float64Array(vectors);
  let loss = 0;
  for (let i = 0; i < rows.length; i++) {
    for (let k = 0, at = i * vectors; k < vectors; k++, at++) own[k] = logits[at] + length * change[at];
    loss += weights[i] * lossOf(own, labels[i], classes);
  }
  let squares = 0;
  for (let i = 0; i < (width - 1) * vectors; i++) squares += (parameters[i] + length * step[i]) ** 2;
  return loss + (l2 / 2) * squares;
};

/** d(loss) / d(logits), the rows' weights in it. */
const residuals = (
  { rows, labels, weights, classes, vectors }: SparseProblem,
  p: Float64Array,
  out: Float64Array,
): void => {
  const first = classes - vectors;
  for (let i = 0, at = 0; i < rows.length; i++)
    for (let k = 0; k < vectors; k++, at++)
      out[at] = weights[i] * (p[at] - (labels[i] === k + first ? 1 : 0));
};

/** out = the Hessian of a row's loss in its logits, times the row's change: w (p d - p (p . d)). */
const bend = (
  { rows, weights, vectors }: SparseProblem,
  p: Float64Array,
  change: Float64Array,
  out: Float64Array,
): void => {
  for (let i = 0; i < rows.length; i++) {
    const from = i * vectors;
    if (vectors === 1) {
      out[i] = weights[i] * p[i] * (1 - p[i]) * change[i];
      continue;
    }
    let mean = 0;
    for (let k = 0; k < vectors; k++) mean += p[from + k] * change[from + k];
    for (let k = 0; k < vectors; k++) out[from + k] = weights[i] * p[from + k] * (change[from + k] - mean);
  }
};

/** From the probabilities p, or the base rates: w p (1 - p) of every row and vector. */
export const curvaturesOf = ({ weights, vectors }: SparseProblem, p: Float64Array): Float64Array =>
  p.map((each, at) => weights[Math.floor(at / vectors)] * each * (1 - each));

/** Adds factor * from. */
const add = (to: Float64Array, factor: number, from: Float64Array): void => {
  for (let i = 0; i < to.length; i++) to[i] += factor * from[i];
};

/** A step and what it changes of the logits. */
interface Step {
  readonly step: Float64Array;
  readonly change: Float64Array;
  /** How many products with the Hessian it took. */
  readonly inner: number;
  /** By how much the objective would fall if it were as curved everywhere as it is at the start. */
  readonly promised: number;
  /** How long the step is in the norm of the shape, and whether it was cut off there. */
  readonly size: number;
  readonly cut: boolean;
}

/**
 * H step = -gradient, until what is left is less than `forcing` of it or the step is as long as `most`, both in the norm
 * of the shape (Steihaug 1983).
 */
function* solveSteps(
  problem: SparseProblem,
  gradient: Float64Array,
  p: Float64Array,
  shape: Shape,
  forcing: number,
  most: number,
): Generator<unknown, Step> {
  const { vectors, width, l2 } = problem;
  const size = width * vectors;
  const step = new Float64Array(size);
  const change = new Float64Array(p.length);
  const left = gradient.map((each) => -each);
  const shaped = new Float64Array(size);
  const reshape = () => {
    shape(left, shaped);
    centre(shaped, vectors);
  };
  reshape();
  const direction = shaped.slice();
  const logits = new Float64Array(p.length);
  const bent = new Float64Array(p.length);
  const curved = new Float64Array(size);
  let norm = product(left, shaped);
  const enough = forcing * forcing * norm;
  let inner = 0;
  // Squares and the product of the step and the direction, in the norm of the shape.
  let [ofStep, ofBoth, ofDirection] = [0, 0, norm];
  let cut = false;
  while (norm > enough && inner < MOST_INNER) {
    yield* logitSteps(problem, direction, logits);
    bend(problem, p, logits, bent);
    yield* gatherSteps(problem, bent, curved);
    for (let i = 0; i < (width - 1) * vectors; i++) curved[i] += l2 * direction[i];
    centre(curved, vectors);
    const curvature = product(direction, curved);
    inner++;
    if (!(curvature > 0)) break; // flat but for rounding
    let length = norm / curvature;
    let reached = ofStep + 2 * length * ofBoth + length * length * ofDirection;
    cut = reached >= most * most;
    if (cut) {
      length = (Math.sqrt(ofBoth * ofBoth + ofDirection * (most * most - ofStep)) - ofBoth) / ofDirection;
      reached = most * most;
    }
    add(step, length, direction);
    add(change, length, logits);
    add(left, -length, curved);
    ofStep = reached;
    if (cut) break;
    reshape();
    const next = product(left, shaped);
    const turn = next / norm;
    for (let i = 0; i < size; i++) direction[i] = shaped[i] + turn * direction[i];
    ofBoth = turn * (ofBoth + length * ofDirection);
    ofDirection = next + turn * turn * ofDirection;
    norm = next;
  }
  const promised = (product(step, left) - product(step, gradient)) / 2;
  return { step, change, inner, promised, size: Math.sqrt(ofStep), cut };
}

/** The parameters that say the base rates of every row. */
const baseRates = ({ rows, labels, weights, classes, vectors, width }: SparseProblem): Float64Array => {
  const base = new Float64Array(classes);
  for (let i = 0; i < rows.length; i++) base[labels[i]] += weights[i];
  const parameters = new Float64Array(width * vectors);
  const logs = vectors === 1 ? [log(base[1] / base[0])] : Array.from(base, (count) => log(count));
  parameters.set(logs, (width - 1) * vectors);
  centre(parameters, vectors);
  return parameters;
};

/** The minimum, from `start` or from the base rates. */
export function* sparseModeSteps(
  problem: SparseProblem,
  start?: Float64Array,
): Generator<unknown, SparseMode> {
  const { rows, vectors, width, l2 } = problem;
  const size = width * vectors;
  const parameters = start?.slice() ?? baseRates(problem);
  const logits = new Float64Array(rows.length * vectors);
  yield* logitSteps(problem, parameters, logits);
  const p = new Float64Array(logits.length);
  const r = new Float64Array(logits.length);
  const gradient = new Float64Array(size);
  const none = new Float64Array(logits.length);
  let objective = objectiveAt(problem, logits, none, parameters, gradient, 0);
  let shape: Shape | undefined;
  let spent = 0;
  let forcing = 0.1;
  let most = Number.POSITIVE_INFINITY;
  const done = Math.max(DONE, DONE_PER_ROW * rows.length);
  for (let steps = 0; ; steps++) {
    probabilities(problem, logits, p);
    residuals(problem, p, r);
    yield* gatherSteps(problem, r, gradient);
    for (let i = 0; i < (width - 1) * vectors; i++) gradient[i] += l2 * parameters[i];
    centre(gradient, vectors);
    if (shape === undefined || spent > shapeCost(problem)) {
      // A row that is sure and wrong has a slope but no curvature, and would throw the step anywhere.
      const curvatures = curvaturesOf(problem, p).map((each, at) => Math.max(each, WRONG * Math.abs(r[at])));
      shape = yield* shapeSteps(problem, curvatures);
      spent = 0;
    }
    const found = yield* solveSteps(problem, gradient, p, shape, forcing, most);
    const { step, change, promised } = found;
    spent += found.inner * stepCost(problem);
    if (promised <= done && !found.cut) {
      add(parameters, 1, step);
      add(logits, 1, change);
      probabilities(problem, logits, p);
      return { parameters, probabilities: p };
    }
    let length = 1;
    let reached = objectiveAt(problem, logits, change, parameters, step, length);
    yield;
    const kept = (objective - reached) / promised;
    while (!(reached < objective) && length > 1e-8) {
      length /= 4;
      reached = objectiveAt(problem, logits, change, parameters, step, length);
      yield;
    }
    if (!(reached < objective) || steps === MOST_STEPS) return { parameters, probabilities: p };
    objective = reached;
    add(parameters, length, step);
    add(logits, length, change);
    // As far as the objective was what its curvature promised, the next step may be longer.
    if (kept > 0.75) most = Math.max(most, 2 * found.size);
    else if (!(kept > 0.25)) most = Math.min(most, length < 1 ? length * found.size : found.size / 4);
    // Closer steps as the end is near: each then squares what is left, or nearly so.
    forcing = Math.min(0.1, Math.max(1e-3, 0.1 * Math.sqrt(promised)));
  }
}
