/** What an audit is told where nothing else is; read by itself where only the defaults are shown. */
import { LEAKAGE_DEFAULTS } from "../fairness/leakage/defaults.js";

export const AUDIT_DEFAULTS = {
  bins: 4,
  level: LEAKAGE_DEFAULTS.level,
  permutations: LEAKAGE_DEFAULTS.permutations,
  plants: LEAKAGE_DEFAULTS.plants,
  seed: 0,
} as const;

/** Those that look for a leak, unless some of them are named. */
export const ADVERSARY_NAMES = ["logistic", "forest", "boosting", "mlp", "svm", "lookup"] as const;
