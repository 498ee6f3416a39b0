/** The head of a campaign's log as an entity tag: what somebody saw, and whether it is still so. */
import { Problem } from "./problem.js";

export const tagTexts = {
  needed:
    "this changes a campaign and needs If-Match with the ETag of its status: get the status first, so that nobody's change is lost",
  changed: "the campaign has changed since it was looked at: get its status again and decide anew",
};

export const tagOf = (hash: string): string => `"${hash}"`;

const tagsIn = (header: string): readonly string[] => header.split(",").map((each) => each.trim());

/** Whether somebody has seen this head already. */
export const isSeen = (ifNoneMatch: string | undefined, hash: string): boolean =>
  ifNoneMatch !== undefined &&
  tagsIn(ifNoneMatch).some((tag) => tag === "*" || tag.replace(/^W\//, "") === tagOf(hash));

/** The heads under which a change is wanted; undefined where any will do. */
export const wantedHeads = (ifMatch: string | undefined): readonly string[] | undefined => {
  if (ifMatch === undefined) throw new Problem(428, "if-match", tagTexts.needed);
  const tags = tagsIn(ifMatch);
  return tags.includes("*") ? undefined : tags.map((tag) => tag.replace(/^"|"$/g, ""));
};

export const requireHead = (heads: readonly string[] | undefined, hash: string): void => {
  if (heads !== undefined && !heads.includes(hash)) {
    throw new Problem(412, "head-changed", tagTexts.changed);
  }
};
