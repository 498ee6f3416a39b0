/** Settings of a running campaign as fields of a form: what each shows, and the change that its text asks for. */
import {
  type ChangeableSettings,
  requireChange,
  type SettingsChange,
  settingsTexts,
} from "../../../campaign/settings.js";
import { shortest } from "../../../core/number-text.js";
import { collectTexts, withDot } from "./collect-texts.js";

export interface SettingField {
  readonly name: string;
  readonly label: string;
  readonly meaning: string;
  /** As it stands; empty where there is no limit. */
  shown(settings: ChangeableSettings): string;
  change(text: string, settings: ChangeableSettings): SettingsChange;
  /** Why a text cannot be set, where the campaign's own words are not of this field. */
  wrong(text: string): string;
}

/** Digits that a number of a form has at most. */
const DIGITS = 12;
const HOUR = 3600;

const numberText = (value: number | null): string => (value === null ? "" : shortest(value, DIGITS));
const numberOrNull = (text: string): number | null => (text === "" ? null : Number(text));
/** Nothing typed is no number where there has to be one. */
const numberIn = (text: string): number => (text === "" ? Number.NaN : Number(text));
const orNothing = (text: string): string => (text === "" ? "empty" : text);

export const BUDGET: SettingField = {
  name: "budget",
  label: "Labels to pay for",
  meaning: "",
  shown: ({ budget }) => numberText(budget),
  change: (text) => ({ budget: numberOrNull(text) }),
  wrong: (text) => settingsTexts.whole("the number of labels to pay for", text),
};

export const OTHER_SETTINGS: readonly SettingField[] = [
  {
    name: "opinions",
    label: "People who answer each",
    meaning: "More than one shows how far they agree. Each answer costs a label's price.",
    shown: ({ opinions }) => numberText(opinions),
    change: (text) => ({ opinions: numberIn(text) }),
    wrong: (text) => settingsTexts.whole("the number of people who answer each", orNothing(text)),
  },
  {
    name: "opinionsPart",
    label: "Part that several answer",
    meaning: "From 0 to 1: with 0.3, three records in ten.",
    shown: ({ opinionsPart }) => numberText(opinionsPart),
    change: (text) => ({ opinionsPart: numberIn(text) }),
    wrong: (text) => settingsTexts.share("the part that several answer", orNothing(text)),
  },
  {
    name: "lease",
    label: "Hours to answer in",
    meaning: "Until then nobody else is asked the same.",
    shown: ({ lease }) => numberText(lease / HOUR),
    change: (text) => ({ lease: numberIn(text) * HOUR }),
    wrong: (text) => collectTexts.hours(orNothing(text)),
  },
  {
    name: "costPerLabel",
    label: "Price of a label",
    meaning: "Empty: it has none. A column of prices in the table comes first.",
    shown: ({ costPerLabel }) => numberText(costPerLabel),
    change: (text) => ({ costPerLabel: numberOrNull(text) }),
    wrong: (text) => settingsTexts.amount("the price of a label", text),
  },
  {
    name: "costBudget",
    label: "What all may cost",
    meaning: "Empty: no limit.",
    shown: ({ costBudget }) => numberText(costBudget),
    change: (text) => ({ costBudget: numberOrNull(text) }),
    wrong: (text) => settingsTexts.amount("what all may cost", text),
  },
  {
    name: "requirement",
    label: "How alike groups are to be treated",
    meaning: "The lowest selection rate of a group over the highest, at most 1. Empty: not asked for.",
    shown: ({ requirement }) => numberText(requirement?.level ?? null),
    change: (text, { requirement }) => {
      const level = numberOrNull(text);
      return { requirement: level === null ? null : { metric: requirement?.metric ?? "dp", level } };
    },
    wrong: settingsTexts.level,
  },
];

/** The change that a text asks for, or the sentence that says why it cannot be set. The rules are the campaign's. */
export const changeIn = (
  field: SettingField,
  text: string,
  settings: ChangeableSettings,
): { readonly change: SettingsChange } | { readonly problem: string } => {
  const change = field.change(text.trim(), settings);
  try {
    requireChange(settings, change);
    return { change };
  } catch {
    return { problem: withDot(field.wrong(text.trim())) };
  }
};
