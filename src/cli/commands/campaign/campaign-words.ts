/** What the commands of campaigns say in the same words. */
import type { RankingAge } from "../../../campaign/campaign.js";
import { durationInWords } from "./duration-option.js";

/** `1 label`, `2 labels`. */
export const counted = (count: number, one: string, several = `${one}s`): string =>
  `${count} ${count === 1 ? one : several}`;

/** An ISO time to the minute. */
export const atMinute = (iso: string): string => `${iso.slice(0, 16).replace("T", " ")} UTC`;

/** How old the ranking is that questions come from. */
export const rankingInWords = (ranking: RankingAge | null): string => {
  if (ranking === null) return "There is no ranking now: questions are drawn at random.";
  const age = `The ranking is ${durationInWords(ranking.seconds)} old and knows`;
  return ranking.answersSince === 0
    ? `${age} all answers.`
    : `${age} all answers but the last ${ranking.answersSince === 1 ? "one" : ranking.answersSince}.`;
};

/** Shells need quotes around anything but plain words. */
export const shellWord = (text: string): string =>
  /^[\w.:@%+/=-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
