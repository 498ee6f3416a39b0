/** The kinds of option a command may have. Each checks its text at once and says what it expected. */
import { InputError } from "../core/errors.js";
import type { ArgumentDescription, OptionDescription } from "./command.js";

export interface Range {
  readonly min?: number;
  readonly max?: number;
}

export const optionText = {
  wrongValue: (flags: string, text: string, expected: string) => `${flags} takes ${expected}, not "${text}".`,
};

export const argument = (summary: string): ArgumentDescription => ({ summary });

/** A switch: `--verbose`. */
export const flag = (flags: string, summary: string): OptionDescription<boolean> => ({
  flags,
  summary,
  parse: undefined,
  fallback: false,
  choices: undefined,
});

/** Any text; undefined when it is not given and has no fallback. */
export function text(flags: string, summary: string): OptionDescription<string | undefined>;
export function text(flags: string, summary: string, fallback: string): OptionDescription<string>;
export function text(
  flags: string,
  summary: string,
  fallback?: string,
): OptionDescription<string | undefined> {
  return { flags, summary, parse: (given) => given, fallback, choices: undefined };
}

/** One of a few words. */
export const choice = <Word extends string>(
  flags: string,
  summary: string,
  choices: readonly Word[],
  fallback: Word,
): OptionDescription<Word> => ({
  flags,
  summary,
  parse: (given) => {
    const word = choices.find((candidate) => candidate === given);
    if (word === undefined) throw wrongValue(flags, given, `one of ${choices.join(", ")}`);
    return word;
  },
  fallback,
  choices,
});

/** A whole number. */
export const integer = (flags: string, summary: string, fallback: number, range: Range = {}) =>
  numeric(flags, summary, fallback, range, "a whole number", Number.isSafeInteger);

/** Any finite number. */
export const real = (flags: string, summary: string, fallback: number, range: Range = {}) =>
  numeric(flags, summary, fallback, range, "a number", Number.isFinite);

const numeric = (
  flags: string,
  summary: string,
  fallback: number,
  { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY }: Range,
  kind: string,
  isOne: (value: number) => boolean,
): OptionDescription<number> => ({
  flags,
  summary,
  parse: (given) => {
    const value = given.trim() === "" ? Number.NaN : Number(given);
    if (isOne(value) && value >= min && value <= max) return value;
    throw wrongValue(flags, given, kind + rangeInWords(min, max));
  },
  fallback,
  choices: undefined,
});

const rangeInWords = (min: number, max: number): string => {
  if (Number.isFinite(min) && Number.isFinite(max)) return ` from ${min} to ${max}`;
  if (Number.isFinite(min)) return ` of at least ${min}`;
  return Number.isFinite(max) ? ` of at most ${max}` : "";
};

const wrongValue = (flags: string, given: string, expected: string) =>
  new InputError("option-value", optionText.wrongValue(flags, given, expected));
