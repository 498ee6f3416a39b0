/** Shares of groups by their names, as the acquisition keeps to them. */
import { normalisedShares } from "../active/shares.js";
import { InputError } from "../core/errors.js";
import type { SharesChoice } from "./acquisition-settings.js";
import type { SharesOfAcquired } from "./row-session.js";

export const acquiredShareTexts = {
  // Says how many groups there are and not which: names may be of a few people.
  group: (given: string, attribute: string) =>
    `a share was given for "${given}", which is no group of ${attribute}: give shares of its groups, or "population", "equal" or "none"`,
  share: (given: unknown) =>
    `a share was ${String(given)}: give numbers of at least 0, of which at least one is above it`,
};

/** `known` is the group of each row where it is known before the row is asked, else -1. [all rows] */
export const sharesOf = (
  choice: SharesChoice | undefined,
  attribute: { readonly name: string; readonly classes: readonly string[] } | undefined,
  known: Int32Array,
): SharesOfAcquired | undefined => {
  if (choice === undefined || choice === "none" || attribute === undefined) return undefined;
  if (choice === "population") return { of: choice, known };
  if (choice === "equal") return { of: attribute.classes.map(() => 1), known };
  for (const [group, share] of Object.entries(choice)) {
    if (!attribute.classes.includes(group)) {
      throw new InputError("shares", acquiredShareTexts.group(group, attribute.name));
    }
    if (!(share >= 0 && share < Number.POSITIVE_INFINITY)) {
      throw new InputError("shares", acquiredShareTexts.share(share));
    }
  }
  const of = attribute.classes.map((group) => (Object.hasOwn(choice, group) ? choice[group] : 0));
  if (of.every((share) => share === 0)) throw new InputError("shares", acquiredShareTexts.share(0));
  return { of: normalisedShares(of), known };
};
