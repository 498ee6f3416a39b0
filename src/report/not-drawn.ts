/** What a picture does not show, said beside it and in it. */
import type { LeftOutGroup } from "../core/left-out.js";
import { shortNames } from "./short-names.js";

/** More names than this are counted. */
const MOST_NAMES = 40;

export interface NotDrawn {
  readonly names: readonly string[];
  /** As in "too few rows to tell". */
  readonly why: string;
}

const groups = (count: number): string => (count === 1 ? "1 group is" : `${count} groups are`);

/** For the picture itself, where there is room for a number. */
export const notDrawnInPicture = (notDrawn: NotDrawn | undefined): string[] =>
  notDrawn === undefined || notDrawn.names.length === 0
    ? []
    : [`${groups(notDrawn.names.length)} left out: ${notDrawn.why}`];

/** For the line below it, which names them. */
export const notDrawnInWords = ({ names, why }: NotDrawn): string => {
  if (names.length === 0) return "";
  const named = shortNames(names).slice(0, MOST_NAMES).join(", ");
  const more = names.length > MOST_NAMES ? ` and ${names.length - MOST_NAMES} more` : "";
  return ` Left out (${why}): ${named}${more}.`;
};

/** For the line below a picture: groups that the result itself does not cover, with their reasons. */
export const leftOutInWords = (groups: readonly LeftOutGroup[], attribute: string): string => {
  const own = groups.filter((group) => group.attribute === attribute);
  const names = shortNames(own.map(({ name }) => name));
  return own
    .slice(0, MOST_NAMES)
    .map(
      ({ rows, reason }, at) => ` Left out: ${names[at]} (${rows} row${rows === 1 ? "" : "s"}; ${reason}).`,
    )
    .concat(own.length > MOST_NAMES ? [` ${own.length - MOST_NAMES} more are left out.`] : [])
    .join("");
};

/** The `most` of them that come first by `rank`, in their own order, and the others. */
export const mostImportant = <Each>(
  all: readonly Each[],
  most: number,
  rank: (each: Each) => number,
): { readonly shown: readonly Each[]; readonly others: readonly Each[] } => {
  if (all.length <= most) return { shown: all, others: [] };
  const places = [...all.keys()].toSorted((a, b) => rank(all[b]) - rank(all[a]) || a - b);
  const kept = new Set(places.slice(0, most));
  return {
    shown: all.filter((_, at) => kept.has(at)),
    others: all.filter((_, at) => !kept.has(at)),
  };
};
