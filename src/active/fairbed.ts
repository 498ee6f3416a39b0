/** FairBED for a pool: information about the target label less what is given away about the sensitive ones. */
import { InputError } from "../core/errors.js";
import { type EpigOptions, epig } from "./epig.js";
import { type Members, membersTexts } from "./members.js";
import { bald, predictiveEntropy } from "./scores.js";
import { setLeakage } from "./set-leakage.js";

export const fairbedTexts = {
  beta: (given: unknown) =>
    `beta was ${String(given)}: give a finite number of at least 0, where 0 ignores the sensitive labels`,
  noLabelled:
    "a sensitive model was given without its members on what is labelled: pass them as `labelled`, the score looks at the set as a whole",
  noSensitive:
    "no sensitive model was given: give the members of at least one, or use a score without leakage",
  combine: (given: unknown) =>
    `combine was ${JSON.stringify(given)}: choose "sum" or "worst" for several sensitive labels`,
};

/** What one model says of the candidates and of the target inputs, with the same members on both sides. */
export interface Prediction extends EpigOptions {
  readonly pool: Members;
  readonly targets: Members;
  /** Of what is labelled already, for scores that look at the set as a whole. */
  readonly labelled?: Members | undefined;
  /** Of other models of the same sensitive label: what leaks is the most that any of them says (the paper's F_u). */
  readonly alternatives?: readonly Prediction[] | undefined;
}

/** A score and what it is made of, each [pool rows] in nats: score = target - beta * leakage. */
export interface ScoreParts {
  readonly score: Float64Array;
  /** About the target label. */
  readonly target: Float64Array;
  /** About the sensitive labels, combined. */
  readonly leakage: Float64Array;
}

export interface FairnessOptions {
  /** How much leakage counts, at least 0. */
  readonly beta: number;
  /** Of several sensitive labels: the sum of what leaks ("sum", unless given), or the most of any ("worst"). */
  readonly combine?: "sum" | "worst" | undefined;
}

export const requireBeta = (beta: number): void => {
  if (!(beta >= 0 && beta < Number.POSITIVE_INFINITY)) {
    throw new InputError("beta", fairbedTexts.beta(beta));
  }
};

/** One leakage for each candidate from that of each sensitive label; "worst" takes the largest candidate by candidate. */
export const combineLeakages = (
  leakages: readonly Float64Array[],
  combine: FairnessOptions["combine"] = "sum",
): Float64Array => {
  if (combine !== "sum" && combine !== "worst") {
    throw new InputError("combine", fairbedTexts.combine(combine));
  }
  const [first, ...rest] = leakages;
  if (first === undefined) throw new InputError("sensitive", fairbedTexts.noSensitive);
  const all = first.slice();
  for (const each of rest) {
    for (let n = 0; n < all.length; n++) {
      all[n] = combine === "sum" ? all[n] + each[n] : Math.max(all[n], each[n]);
    }
  }
  return all;
};

/** score = target - beta * leakage. */
export const combineParts = (target: Float64Array, leakage: Float64Array, beta: number): ScoreParts => ({
  score: target.map((value, n) => value - beta * leakage[n]),
  target,
  leakage,
});

/** Refuses sensitive models of other candidates, before anything is computed. */
export const requireSameCandidates = (target: Members, sensitive: readonly Members[]): void => {
  if (sensitive.length === 0) throw new InputError("sensitive", fairbedTexts.noSensitive);
  for (const [i, each] of sensitive.entries()) {
    if (each.rows !== target.rows) {
      throw new InputError("members", membersTexts.rows(`sensitive model ${i + 1}`, each.rows, target.rows));
    }
  }
};

const combined = <Given>(
  target: Given,
  sensitive: readonly Given[],
  { beta, combine }: FairnessOptions,
  poolOf: (given: Given) => Members,
  score: (given: Given) => Float64Array,
): ScoreParts => {
  requireBeta(beta);
  requireSameCandidates(poolOf(target), sensitive.map(poolOf));
  return combineParts(score(target), combineLeakages(sensitive.map(score), combine), beta);
};

/**
 * FairBED-EPIG: R(n) = EPIG_theta(n) - beta EPIG_phi(n), the paper's unconditional objective of section 5. The models
 * are separate, each with members and targets of its own; every one may have its own correction. A sensitive label may
 * have several models (`alternatives`): then EPIG_phi is the largest by any of them.
 *
 * @example
 * ```ts
 * import { fairbedEpig } from "fairbed/active";
 *
 * const members = (rows: number[][]) => ({
 *   kind: "dense" as const,
 *   rows: rows.length,
 *   members: rows[0].length,
 *   classes: 2,
 *   values: Float64Array.from(rows.flat().flatMap((p) => [1 - p, p])), // p: of class 1, by each member
 * });
 * const pool = members([[0, 0, 1, 1], [1, 1, 1, 1], [0, 1, 0, 1]]); // three candidates, four members
 * const targets = members([[0, 0, 1, 1], [0, 1, 1, 1]]);
 * const group = {
 *   pool: members([[1, 1, 0, 0], [0, 1, 0, 1], [0, 0, 0, 0]]),
 *   targets: members([[1, 0, 0, 0], [1, 1, 0, 0]]),
 * };
 * const { score, leakage } = fairbedEpig({ pool, targets }, [group], { beta: 10 });
 * console.log([...leakage].map((nats) => nats.toFixed(3)).join(" ")); // 0.454 0.108 0.000
 * console.log([...score].map((nats) => nats.toFixed(3)).join(" ")); // -4.090 -1.079 0.108
 * ```
 */
export const fairbedEpig = (
  target: Prediction,
  sensitive: readonly Prediction[],
  options: FairnessOptions,
): ScoreParts => combined(target, sensitive, options, ({ pool }) => pool, worstEpig);

/** EPIG by one model, or the largest by any of several, candidate by candidate. */
const worstEpig = (prediction: Prediction): Float64Array => {
  const all: readonly Prediction[] = [prediction, ...(prediction.alternatives ?? [])];
  requireSameCandidates(
    prediction.pool,
    all.map(({ pool }) => pool),
  );
  return combineLeakages(
    all.map(({ pool, targets, labelled: _, alternatives: __, ...rest }) => epig(pool, targets, rest)),
    "worst",
  );
};

/**
 * FairBED with how far a candidate's features give the attribute away within the acquired set: R(n) = EPIG_theta(n) - beta KL(p(phi | n) || pbar_S), see
 * `setLeakage`. Not in the paper.
 *
 * @example
 * ```ts
 * import { fairbedSet } from "fairbed/active";
 *
 * const members = (rows: number[][]) => ({
 *   kind: "dense" as const,
 *   rows: rows.length,
 *   members: rows[0].length,
 *   classes: 2,
 *   values: Float64Array.from(rows.flat().flatMap((p) => [1 - p, p])), // p: of class 1, by each member
 * });
 * const pool = members([[0, 0, 1, 1], [1, 1, 1, 1], [0, 1, 0, 1]]); // three candidates, four members
 * const targets = members([[0, 0, 1, 1], [0, 1, 1, 1]]);
 * const group = {
 *   pool: members([[1, 1, 0, 0], [0, 1, 0, 1], [0, 0, 0, 0]]),
 *   targets: members([[1, 0, 0, 0], [1, 1, 0, 0]]),
 * };
 * const labelled = members([[0.25, 0.25, 0.25, 0.25]]); // what the group's model says of what is labelled
 * const { leakage } = fairbedSet({ pool, targets }, [{ ...group, labelled }], { beta: 3 });
 * console.log(leakage.length, leakage[2] > leakage[0]); // 3 true
 * ```
 */
export const fairbedSet = (
  target: Prediction,
  sensitive: readonly Prediction[],
  { beta, combine }: FairnessOptions,
): ScoreParts => {
  requireBeta(beta);
  requireSameCandidates(
    target.pool,
    sensitive.map(({ pool }) => pool),
  );
  const leakages = sensitive.map(({ pool, labelled }) => {
    if (labelled === undefined) throw new InputError("labelled", fairbedTexts.noLabelled);
    return setLeakage(pool, labelled);
  });
  const { pool, targets, labelled: _, ...options } = target;
  return combineParts(epig(pool, targets, options), combineLeakages(leakages, combine), beta);
};

/**
 * FairBED-BALD: BALD_theta(n) - beta BALD_phi(n), information about the models' parameters and not their predictions.
 *
 * @example
 * ```ts
 * import { fairbedBald } from "fairbed/active";
 *
 * const members = (rows: number[][]) => ({
 *   kind: "dense" as const,
 *   rows: rows.length,
 *   members: rows[0].length,
 *   classes: 2,
 *   values: Float64Array.from(rows.flat().flatMap((p) => [1 - p, p])), // p: of class 1, by each member
 * });
 * const target = members([[0, 0, 1, 1], [0, 1, 0, 1]]);
 * const group = members([[1, 1, 0, 0], [0, 0, 0, 0]]);
 * const { score } = fairbedBald(target, [group], { beta: 1 });
 * console.log([...score].map((nats) => nats.toFixed(3)).join(" ")); // 0.000 0.693
 * ```
 */
export const fairbedBald = (
  target: Members,
  sensitive: readonly Members[],
  options: FairnessOptions,
): ScoreParts => combined(target, sensitive, options, (pool) => pool, bald);

/**
 * Heuristic fair entropy, the paper's ablation: H[p(y_theta | n)] - beta H[p(y_phi | n)]. Its `leakage` is the entropy
 * of the sensitive prediction, which is large where the sensitive label is **hard** to tell.
 *
 * @example
 * ```ts
 * import { hfe } from "fairbed/active";
 *
 * const members = (rows: number[][]) => ({
 *   kind: "dense" as const,
 *   rows: rows.length,
 *   members: rows[0].length,
 *   classes: 2,
 *   values: Float64Array.from(rows.flat().flatMap((p) => [1 - p, p])), // p: of class 1, by each member
 * });
 * const { score } = hfe(members([[0, 0, 1, 1]]), [members([[0, 0, 0, 0]])], { beta: 1 });
 * console.log(score[0].toFixed(3)); // 0.693
 * ```
 */
export const hfe = (target: Members, sensitive: readonly Members[], options: FairnessOptions): ScoreParts =>
  combined(target, sensitive, options, (pool) => pool, predictiveEntropy);
