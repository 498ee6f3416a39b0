/** The reject option where some groups are not known. */
import { applyRejectOption, type RejectOptionRule } from "../mitigation/reject-option.js";

/** By group near the threshold, and by the threshold alone where the group is not known (-1): 1 or 0 of each. */
export const rejectRows = (
  { threshold, margin }: RejectOptionRule,
  scores: Float64Array,
  privileged: Int32Array,
): Int32Array => {
  const byGroup = applyRejectOption(
    { threshold, margin },
    scores,
    privileged.map((group) => Math.max(0, group)),
  );
  return byGroup.map((decided, i) => (privileged[i] < 0 ? Number(scores[i] > threshold) : decided));
};
