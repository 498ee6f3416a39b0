/** An id as it is typed: spaces around it and the apostrophe of an exported table are no part of it. */
import type { Campaign } from "../../../campaign/campaign.js";
import { withoutGuard } from "../../../tables/csv.js";

/** As the campaign knows it; as it was given where it knows none of its forms. */
export const givenId = ({ now: { content } }: Campaign, given: string): string => {
  const isKnown = (id: string): boolean =>
    content.kind === "pool"
      ? content.itemOfId(id) !== undefined
      : content.state.participant(id) !== undefined;
  const forms = [given, given.trim(), withoutGuard(given.trim())];
  return forms.find(isKnown) ?? given;
};
