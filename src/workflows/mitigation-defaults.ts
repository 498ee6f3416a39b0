/** What mitigations are told where nothing else is; read by itself where only the defaults are shown. */
import { FAIR_RULE_DEFAULTS } from "../mitigation/fair-rule-defaults.js";
import { REJECT_OPTION_DEFAULTS } from "../mitigation/reject-option-defaults.js";
import { REPRESENTATION_DEFAULTS } from "../mitigation/representation-defaults.js";

export const MITIGATION_DEFAULTS = {
  testFraction: 0.3,
  trees: 100,
  seed: 0,
  /** What learns, where it can be chosen. */
  learner: "forest",
  /** The share of the rows that are not tested on which a rule is fitted on, and its models are not. */
  validationFraction: 0.3,
  representation: REPRESENTATION_DEFAULTS,
  fairRule: FAIR_RULE_DEFAULTS,
  rejectOption: REJECT_OPTION_DEFAULTS,
} as const;
