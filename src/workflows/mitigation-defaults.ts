/** What mitigations are told where nothing else is; read by itself where only the defaults are shown. */
import { REJECT_OPTION_DEFAULTS } from "../mitigation/reject-option-defaults.js";
import { REPRESENTATION_DEFAULTS } from "../mitigation/representation-defaults.js";

export const MITIGATION_DEFAULTS = {
  testFraction: 0.3,
  trees: 100,
  seed: 0,
  /** The share of the rows that are not tested on which the reject option is fitted on, and its forest is not. */
  validationFraction: 0.3,
  representation: REPRESENTATION_DEFAULTS,
  rejectOption: REJECT_OPTION_DEFAULTS,
} as const;
