/**
 * Information quantities as sums of log evidences. With theta the target, phi the sensitive part and D the data,
 * every quantity of the paper is sum_g c_g E log p(D | g), where g says which parts are held at the values that
 * generated D:
 *
 *     EIG_theta        = E log p(D | theta)      - log p(D)
 *     EIG_phi          = E log p(D | phi)        - log p(D)
 *     EIG_{phi|theta}  = E log p(D | theta, phi) - log p(D | theta)
 *     joint            = E log p(D | theta, phi) - log p(D)
 *     R_c              = EIG_theta - beta EIG_{phi|theta}
 *     R_u              = EIG_theta - beta EIG_phi
 *
 * An evidence is the mean likelihood over inner samples of the rest. Fresh samples alone underestimate its logarithm,
 * and with the generating sample among them it is overestimated, both in expectation. So a lower bound takes fresh
 * samples where the coefficient is positive and includes the generating one where it is negative; an upper bound the
 * reverse.
 */

/** Which parts of the parameters are held: a nuisance never is. */
export type Given = "none" | "target" | "sensitive" | "both";
export const GIVEN = ["none", "target", "sensitive", "both"] as const satisfies readonly Given[];

export type Quantity = Readonly<Partial<Record<Given, number>>>;
export type Bound = "lower" | "upper";

/** The four informations, by the names of the command line's answer. */
export const INFORMATION = {
  target: { target: 1, none: -1 },
  sensitive: { sensitive: 1, none: -1 },
  sensitiveGivenTarget: { both: 1, target: -1 },
  joint: { both: 1, none: -1 },
} as const satisfies Record<string, Quantity>;

export type InformationName = keyof typeof INFORMATION;
export const INFORMATION_NAMES = Object.keys(INFORMATION) as readonly InformationName[];

export type ObjectiveKind = "conditional" | "unconditional";

/**
 * R_c or R_u as coefficients of E log p(D | g), by g.
 *
 * @example
 * ```ts
 * import { objectiveQuantity } from "fairbed/design";
 *
 * const { target, both, none } = objectiveQuantity("conditional", 0.5);
 * console.log(target, both, none); // 1.5 -0.5 -1
 * ```
 */
export const objectiveQuantity = (kind: ObjectiveKind, beta: number): Quantity =>
  kind === "conditional"
    ? { target: 1 + beta, both: -beta, none: -1 }
    : { target: 1, sensitive: -beta, none: beta - 1 };

/** -beta times the leakage: what the objective has beside EIG_theta. */
export const leakageCost = (kind: ObjectiveKind, beta: number): Quantity =>
  kind === "conditional" ? { both: -beta, target: beta } : { sensitive: -beta, none: beta };

/** The evidences that a quantity needs. */
export const evidencesOf = (quantity: Quantity): Given[] =>
  GIVEN.filter((given) => (quantity[given] ?? 0) !== 0);

/** Whether an evidence with this coefficient includes the generating sample. */
export const includesOwn = (coefficient: number, bound: Bound): boolean =>
  bound === "lower" ? coefficient < 0 : coefficient > 0;
