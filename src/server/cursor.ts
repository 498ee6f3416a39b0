/** Lists in parts: where the next part begins, as a text that means nothing to whoever gets it. */
import { InputError } from "../core/errors.js";

export const cursorTexts = {
  wrong: "the cursor is not one that this server gave: leave it out to begin with the first part",
};

export const PAGE_LIMIT = 100;
export const MOST_PER_PAGE = 1000;

export const cursorOf = (place: string | number): string =>
  Buffer.from(String(place), "utf8").toString("base64url");

export const placeOf = (cursor: string): string => {
  const place = Buffer.from(cursor, "base64url").toString("utf8");
  if (cursorOf(place) !== cursor) throw new InputError("cursor", cursorTexts.wrong);
  return place;
};

/** A place that is a number, as those in a log are; 0 before all of them. */
export const numberAt = (cursor: string | undefined): number => {
  if (cursor === undefined) return 0;
  const place = Number(placeOf(cursor));
  if (!Number.isSafeInteger(place) || place < 0) throw new InputError("cursor", cursorTexts.wrong);
  return place;
};
