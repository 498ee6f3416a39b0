/** What a fitted model is worth, in sentences: on all rows that it had not seen, and in every group. */
import { listed } from "../core/list-in-words.js";
import { percent } from "../core/number-text.js";
import type { FittedModel, HeldOutGroups, HeldOutRate } from "../workflows/fitted-model.js";
import { shortName } from "./short-names.js";

export const modelWorthTexts = {
  unknown: "What it is worth is not known: too few rows have a label to hold any out.",
  overall: (share: string) => `On rows that it had not seen it is right for ${share}.`,
  overallClass: (share: string, positive: string) =>
    `On rows that it had not seen it is right for ${share} as to whether they are ${positive}.`,
  groups: (attribute: string, accuracies: string) => `By ${attribute} it is right for ${accuracies}.`,
  selected: (positive: string, shares: string) => `It says ${positive} of ${shares}.`,
};

/** More groups are told by the lowest and the highest. */
const MOST_GROUPS = 4;

const shareInWords = ({ value, interval }: HeldOutRate): string | undefined => {
  if (value === undefined) return undefined;
  if (interval === undefined) return percent(value);
  return `${percent(value)} (${percent(interval[0]).replace(" %", "")} to ${percent(interval[1]).replace(" %", "")})`;
};

type RateOf = (group: HeldOutGroups["groups"][number]) => HeldOutRate;

/** Every group with its share, or of many those with the lowest and the highest. */
const sharesOf = ({ groups }: HeldOutGroups, rateOf: RateOf): string | undefined => {
  const known = groups.flatMap((group) => {
    const rate = rateOf(group);
    const words = shareInWords(rate);
    return words === undefined || rate.value === undefined
      ? []
      : [{ name: group.name, value: rate.value, words }];
  });
  if (known.length === 0) return undefined;
  const sorted = [...known].sort((a, b) => a.value - b.value);
  const shown = known.length <= MOST_GROUPS ? known : [sorted[0], sorted[sorted.length - 1]];
  const told = listed(shown.map(({ name, words }) => `${words} of ${shortName(name)}`));
  return known.length <= MOST_GROUPS ? told : `between ${told}`;
};

const groupSentences = (groups: HeldOutGroups): string[] => {
  const { sensitive, positive } = groups;
  const accuracies = sharesOf(groups, ({ rates }) => rates.accuracy);
  const selected = sharesOf(groups, ({ rates }) => rates.selectionRate);
  return [
    ...(accuracies === undefined ? [] : [modelWorthTexts.groups(shortName(sensitive), accuracies)]),
    ...(selected === undefined ? [] : [modelWorthTexts.selected(shortName(positive), selected)]),
  ];
};

/** One sentence each, the whole first; nothing but a reason where no rows were held out. */
export const modelWorth = ({ heldOut, target }: Pick<FittedModel, "heldOut" | "target">): string[] => {
  if (heldOut === undefined) return [modelWorthTexts.unknown];
  const isBinary = target.classes.length === 2;
  return heldOut.overall.flatMap(({ positive, rates }) => {
    const share = shareInWords(rates.accuracy);
    const own = heldOut.groups.filter((groups) => groups.positive === positive);
    const whole = (words: string): string =>
      isBinary ? modelWorthTexts.overall(words) : modelWorthTexts.overallClass(words, shortName(positive));
    return [...(share === undefined ? [] : [whole(share)]), ...own.flatMap(groupSentences)];
  });
};
