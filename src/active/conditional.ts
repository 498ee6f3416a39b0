/** The conditional objective, where one model predicts both labels together. */
import { InputError } from "../core/errors.js";
import type { DenseMembers } from "../learners/classifier.js";
import { epig } from "./epig.js";
import { combineParts, type Prediction, requireBeta, type ScoreParts } from "./fairbed.js";
import { type ExactMembers, type Members, readRow, requireSameMembers } from "./members.js";
import { normalisedWeights } from "./weights.js";

export const conditionalTexts = {
  classes: (classes: number, sensitive: unknown) =>
    `the joint model has ${classes} classes and the sensitive label ${String(sensitive)}: give a joint model whose classes are all pairs of a target and a sensitive class`,
  partners: (given: unknown, targets: number) =>
    `partners was ${String(given)} for ${targets} targets: give "all" or a whole number from 1 to ${Math.max(1, targets - 1)}`,
};

export interface ConditionalOptions {
  readonly beta: number;
  /** How many classes the sensitive label has: class c of the joint model is (c / it, c % it) = (target, sensitive). */
  readonly sensitiveClasses: number;
  /**
   * With how many other targets each target is paired: the input of the sensitive prediction is a draw of its own.
   * "all" pairs every target with every one, itself included, which is the exact mean over two independent draws
   * from the target set; a number takes that many of the targets that follow it, unbiased for the distribution
   * that the target set was drawn from. At most 4 unless given.
   */
  readonly partners?: number | "all" | undefined;
}

type DenseValues = ExactMembers | DenseMembers;

/** Float64 for members that are in float64, and float32, which kernels compute with, for others. */
const emptyLike = (given: Members, length: number): Float32Array | Float64Array =>
  given.kind === "dense" && given.values instanceof Float64Array
    ? new Float64Array(length)
    : new Float32Array(length);

const dense = (
  rows: number,
  members: number,
  classes: number,
  values: Float32Array | Float64Array,
): DenseValues => {
  const sizes = { kind: "dense", rows, members, classes } as const;
  return values instanceof Float64Array ? { ...sizes, values } : { ...sizes, values };
};

/** Of the joint label (target, sensitive) the one alone: P[n, k, c] summed over the other. */
export const marginalMembers = (
  given: Members,
  sensitiveClasses: number,
  label: "target" | "sensitive",
): DenseValues => {
  const { rows, members } = given;
  const classes = label === "target" ? given.classes / sensitiveClasses : sensitiveClasses;
  const values = emptyLike(given, rows * members * classes);
  const row = new Float64Array(members * given.classes);
  for (let n = 0, to = 0; n < rows; n++) {
    readRow(given, n, row);
    for (let k = 0; k < members; k++, to += classes) {
      for (let c = 0; c < given.classes; c++) {
        const part = label === "target" ? Math.floor(c / sensitiveClasses) : c % sensitiveClasses;
        values[to + part] += row[k * given.classes + c];
      }
    }
  }
  return dense(rows, members, classes, values);
};

/** T_k(z_theta | t) T_k(z_phi | t') for the given pairs (t, t'), as members over the pair of labels. */
const pairMembers = (
  target: DenseValues,
  sensitive: DenseValues,
  pairs: readonly [number, number][],
): DenseValues => {
  const { members } = target;
  const classes = target.classes * sensitive.classes;
  const values = emptyLike(target, pairs.length * members * classes);
  let to = 0;
  for (const [t, other] of pairs) {
    for (let k = 0; k < members; k++) {
      for (let c = 0; c < target.classes; c++) {
        const left = target.values[(t * members + k) * target.classes + c];
        for (let d = 0; d < sensitive.classes; d++) {
          values[to++] = left * sensitive.values[(other * members + k) * sensitive.classes + d];
        }
      }
    }
  }
  return dense(pairs.length, members, classes, values);
};

const pairsOf = (targets: number, partners: number | "all"): [number, number][] => {
  const shifts = partners === "all" ? targets : partners;
  const first = partners === "all" ? 0 : 1;
  return Array.from({ length: targets * shifts }, (_, i) => {
    const t = i % targets;
    return [t, (t + first + Math.floor(i / targets)) % targets];
  });
};

/**
 * The paper's conditional objective (appendix C) with D = (x, y_theta, y_phi), theta = (x*, z_theta) and
 * phi = (x*', z_phi), x* and x*' being independent draws from the target inputs:
 *
 *     R_c(x) = E_x* I(y_theta, y_phi; z_theta | x, x*) - beta E_x*,x*' I(y_theta, y_phi; z_phi | z_theta, x, x*, x*')
 *
 * under one ensemble of both labels, p(y, z_theta, z_phi) = mean_k P_k(y | x) T_k(z_theta | x*) T_k(z_phi | x*'). The
 * query reveals both labels, and what they say of z_phi counts only where z_theta does not say it already. By the
 * chain rule the second information is I(y; z_theta, z_phi) - I(y; z_theta), two EPIGs. With two separate models,
 * whose members are independent, this is FairBED-EPIG; use `fairbedEpig` then.
 *
 * @example
 * ```ts
 * import { conditionalFairbedEpig } from "fairbed/active";
 *
 * // Classes are the pairs (target, group) = (0, 0), (0, 1), (1, 0), (1, 1); two members.
 * const joint = (rows: number[][][]) => ({
 *   kind: "dense" as const,
 *   rows: rows.length,
 *   members: 2,
 *   classes: 4,
 *   values: Float64Array.from(rows.flat(2)),
 * });
 * const pool = joint([
 *   [[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]], // says which member is right about the target
 *   [[0.25, 0.25, 0.25, 0.25], [0.25, 0.25, 0.25, 0.25]], // says nothing
 * ]);
 * const { target, leakage } = conditionalFairbedEpig({ pool, targets: pool }, { beta: 1, sensitiveClasses: 2, partners: "all" });
 * console.log(target[0] > 0.3, target[1].toFixed(3), leakage[0] < 1e-12); // true 0.000 true
 * ```
 */
export const conditionalFairbedEpig = (
  { pool, targets, weights: given, ...epigOptions }: Prediction,
  { beta, sensitiveClasses, partners }: ConditionalOptions,
): ScoreParts => {
  requireBeta(beta);
  requireSameMembers(pool, targets);
  const { classes } = targets;
  if (
    !Number.isInteger(sensitiveClasses) ||
    sensitiveClasses < 1 ||
    classes % sensitiveClasses !== 0 ||
    pool.classes !== classes
  ) {
    throw new InputError("classes", conditionalTexts.classes(classes, sensitiveClasses));
  }
  const count = targets.rows;
  const wanted = partners ?? (count === 1 ? "all" : Math.min(4, count - 1));
  if (wanted !== "all" && !(Number.isInteger(wanted) && wanted >= 1 && wanted < count)) {
    throw new InputError("partners", conditionalTexts.partners(partners, count));
  }
  const weights = normalisedWeights(count, given);
  const ofTarget = marginalMembers(targets, sensitiveClasses, "target");
  const ofSensitive = marginalMembers(targets, sensitiveClasses, "sensitive");
  const pairs = pairsOf(count, wanted);
  const pairWeights = pairs.map(([t, other]) => weights[t] * weights[other]);
  // z_theta alone is averaged over the same pairs, so that the chain rule holds for each of them.
  const alone = new Float64Array(count);
  pairs.forEach(([t], i) => {
    alone[t] += pairWeights[i];
  });
  const target = epig(pool, ofTarget, { ...epigOptions, weights });
  const both = epig(pool, pairMembers(ofTarget, ofSensitive, pairs), {
    ...epigOptions,
    weights: pairWeights,
  });
  const known = epig(pool, ofTarget, { ...epigOptions, weights: alone });
  return combineParts(
    target,
    both.map((value, n) => value - known[n]),
    beta,
  );
};
