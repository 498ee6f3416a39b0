/** Who looks for a leak, unless told otherwise. */
import { learnerNamed } from "../../learners/by-name.js";
import type { Adversary } from "./cross-fit.js";
import { SVM_ROWS } from "./defaults.js";
import { lookup } from "./lookup.js";

/** Learners by name. */
export type Adversaries = Readonly<Record<string, Adversary>>;

/** From so many rows on there is enough to learn from for deeper trees. */
const MANY_ROWS = 20_000;

/**
 * Logistic regression at its mode, a forest whose leaves hold ten rows, boosting in small steps, a small network that
 * stops when rows kept aside say so, a support vector machine, and counting. With many rows boosting has deeper trees.
 * The forest and the network learn from 20,000 rows at most and the machine from 2000; it is also slow to judge, and
 * stays out of tables with more than 5000 rows.
 *
 * @example
 * ```ts
 * import { defaultAdversaries } from "fairbed/fairness";
 *
 * console.log(Object.keys(defaultAdversaries()).join()); // logistic,forest,boosting,mlp,svm,lookup
 * console.log("svm" in defaultAdversaries(50_000)); // false
 * ```
 */
export const defaultAdversaries = (rows = 0): Adversaries => ({
  logistic: learnerNamed("logistic", { ensemble: "mode" }),
  forest: { ...learnerNamed("forest", { trees: 100, minLeaf: 10 }), mostRows: 20_000 },
  boosting: learnerNamed(
    "boosting",
    rows < MANY_ROWS
      ? { rounds: 50, rate: 0.1, maxDepth: 3, fromShares: true }
      : { rounds: 40, rate: 0.2, maxDepth: 6, fromShares: true },
  ),
  mlp: {
    ...learnerNamed("mlp", { hidden: [32], epochs: 30, l2: 0.01, validation: 0.1, patience: 3, clip: 1 }),
    mostRows: 20_000,
  },
  ...(rows > SVM_ROWS ? {} : { svm: { ...learnerNamed("svm"), mostRows: 2000 } }),
  lookup: lookup(),
});
