/** Where the fair decision rule would be undecided: what `epig-boundary` aims its questions at. */
import type { BoundaryWeights } from "../active/step.js";
import { exp } from "../core/math.js";
import { softFairRule } from "../mitigation/fair-rule/soft-boundary.js";
import { fairMargins } from "../mitigation/fair-rule.js";

/** The level that the rule is to reach, how far from its boundary rows count, and the least that any row counts. */
const BOUNDARY = { level: 0.85, width: 0.1, least: 0.001 } as const;

/** exp(-z^2 / (2 h^2)) and a little more, z being how far a row is from the boundary. */
export const fairBoundaryWeights: BoundaryWeights = (rows) =>
  fairMargins(softFairRule(rows, { level: BOUNDARY.level }), rows).map(
    (z) => exp((-z * z) / (2 * BOUNDARY.width * BOUNDARY.width)) + BOUNDARY.least,
  );
