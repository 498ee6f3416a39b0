/** The kinds of option a command may have. Each checks its text at once and says what it expected. */
import { InputError } from "../core/errors.js";
import type { ArgumentDescription, OptionDescription, Options } from "./command.js";

export interface Range {
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  /** A bound that is itself not allowed. */
  readonly above?: number | undefined;
}

/** Of things that are counted, which are held in memory, or done one after the other; a seed counts nothing. */
const MOST_COUNTED = 100_000_000;

/** A number of at least one counts something. */
const boundedCount = (range: Range): Range =>
  range.min !== undefined && range.min >= 1 && range.max === undefined
    ? { ...range, max: MOST_COUNTED }
    : range;

export const optionText = {
  wrongValue: (flags: string, text: string, expected: string) => `${flags} takes ${expected}, not "${text}".`,
};

export const argument = (summary: string): ArgumentDescription => ({ summary });

/** One that may be left out. */
export const optionalArgument = (summary: string): ArgumentDescription & { readonly optional: true } => ({
  summary,
  optional: true,
});

/** As many words as are given, none included. */
export const argumentList = (summary: string): ArgumentDescription & { readonly variadic: true } => ({
  summary,
  variadic: true,
});

/** The same options under a heading of their own in the help, after those without one. */
export const grouped = <O extends Options>(group: string, options: O): O =>
  Object.fromEntries(Object.entries(options).map(([name, option]) => [name, { ...option, group }])) as O;

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

/** A file that the command writes, and those that it writes beside it. */
export function outFile(
  flags: string,
  summary: string,
  more?: { readonly beside?: (path: string) => readonly string[] },
): OptionDescription<string | undefined>;
export function outFile(
  flags: string,
  summary: string,
  more: { readonly fallback: string; readonly beside?: (path: string) => readonly string[] },
): OptionDescription<string>;
export function outFile(
  flags: string,
  summary: string,
  {
    fallback,
    beside,
  }: { readonly fallback?: string; readonly beside?: (path: string) => readonly string[] } = {},
): OptionDescription<string | undefined> {
  return { flags, summary, parse: (given) => given, fallback, choices: undefined, writes: "file", beside };
}

/** A folder that the command writes to, and makes where there is none. */
export function outFolder(flags: string, summary: string): OptionDescription<string | undefined>;
export function outFolder(flags: string, summary: string, fallback: string): OptionDescription<string>;
export function outFolder(
  flags: string,
  summary: string,
  fallback?: string,
): OptionDescription<string | undefined> {
  return { flags, summary, parse: (given) => given, fallback, choices: undefined, writes: "folder" };
}

/** A text that may be left out: true where the option is given without it, undefined where it is not given. */
export const textOrAlone = (
  flags: string,
  summary: string,
): OptionDescription<string | true | undefined> => ({
  flags,
  summary,
  parse: (given) => given,
  fallback: undefined,
  choices: undefined,
});

/**
 * Texts with commas between them; the option may be given again for more. A text with a comma in it is put in quotes as in
 * CSV, or its comma is written twice.
 */
export const texts = (flags: string, summary: string): OptionDescription<readonly string[] | undefined> => ({
  flags,
  summary,
  parse: (given, former) => {
    const more = splitTexts(given);
    if (more.length === 0) throw wrongValue(flags, given, "texts with commas between them");
    return [...(Array.isArray(former) ? former : []), ...more];
  },
  fallback: undefined,
  choices: undefined,
});

/** A text in quotes, in which quotes are written twice, or one without, in which commas are; and the comma after it. */
const LISTED = /\s*(?:"((?:[^"]|"")*)"\s*(?=,|$)|((?:,,|[^,])*))(?:,|$)/gy;

const splitTexts = (given: string): readonly string[] =>
  Array.from(given.matchAll(LISTED), ([, quoted, plain = ""]) =>
    (quoted?.replaceAll('""', '"') ?? plain.replaceAll(",,", ",")).trim(),
  ).filter((each) => each !== "");

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

/** Some of a few words, with commas between them. */
export const choices = <Word extends string>(
  flags: string,
  summary: string,
  words: readonly Word[],
  fallback: readonly Word[],
): OptionDescription<readonly Word[]> => {
  const one = choice(flags, summary, words, fallback[0]);
  return {
    ...one,
    parse: (given) => splitTexts(given).map((each) => one.parse?.(each) ?? fallback[0]),
    fallback,
  };
};

/** A whole number. */
export const integer = (flags: string, summary: string, fallback: number, range: Range = {}) =>
  numeric(flags, summary, fallback, range, "a whole number", Number.isSafeInteger, boundedCount(range));

/** Any finite number. */
export const real = (flags: string, summary: string, fallback: number, range: Range = {}) =>
  numeric(flags, summary, fallback, range, "a number", Number.isFinite);

/** A number that has no fallback: undefined when it is not given. */
export const optionalReal = (
  flags: string,
  summary: string,
  range: Range = {},
): OptionDescription<number | undefined> => ({ ...real(flags, summary, 0, range), fallback: undefined });

/** Whole, and without a fallback: for a command that has one for each of its ways. */
export const optionalInteger = (
  flags: string,
  summary: string,
  range: Range = {},
): OptionDescription<number | undefined> => ({ ...integer(flags, summary, 0, range), fallback: undefined });

/** Numbers with commas between them: `3,3`. */
export function reals(
  flags: string,
  summary: string,
  fallback: readonly number[],
  range?: Range,
): OptionDescription<readonly number[]>;
export function reals(
  flags: string,
  summary: string,
  fallback: undefined,
  range?: Range,
): OptionDescription<readonly number[] | undefined>;
export function reals(
  flags: string,
  summary: string,
  fallback: readonly number[] | undefined,
  range: Range = {},
): OptionDescription<readonly number[] | undefined> {
  return list(flags, summary, fallback, range, "numbers", Number.isFinite);
}

/** Whole numbers with commas between them: `5,10`. */
export function integers(
  flags: string,
  summary: string,
  fallback: readonly number[],
  range?: Range,
): OptionDescription<readonly number[]>;
export function integers(
  flags: string,
  summary: string,
  fallback: undefined,
  range?: Range,
): OptionDescription<readonly number[] | undefined>;
export function integers(
  flags: string,
  summary: string,
  fallback: readonly number[] | undefined,
  range: Range = {},
): OptionDescription<readonly number[] | undefined> {
  return list(flags, summary, fallback, boundedCount(range), "whole numbers", Number.isSafeInteger);
}

const list = <Fallback extends readonly number[] | undefined>(
  flags: string,
  summary: string,
  fallback: Fallback,
  range: Range,
  kind: string,
  isOne: (value: number) => boolean,
): OptionDescription<readonly number[] | Fallback> => ({
  flags,
  summary,
  parse: (given) => {
    const values = given.split(",").map((each) => (each.trim() === "" ? Number.NaN : Number(each)));
    if (values.every((value) => isOne(value) && isInside(value, range))) return values;
    throw wrongValue(flags, given, `${kind}${rangeInWords(range)} with commas between them`);
  },
  fallback,
  choices: undefined,
});

const numeric = (
  flags: string,
  summary: string,
  fallback: number,
  range: Range,
  kind: string,
  isOne: (value: number) => boolean,
  bounded: Range = range,
): OptionDescription<number> => ({
  flags,
  summary,
  parse: (given) => {
    const value = given.trim() === "" ? Number.NaN : Number(given);
    if (isOne(value) && isInside(value, bounded)) return value;
    // A bound that only a mistake meets is said to those who make it.
    throw wrongValue(flags, given, kind + rangeInWords(value > MOST_COUNTED ? bounded : range));
  },
  fallback,
  choices: undefined,
});

const isInside = (value: number, { min = -Infinity, max = Infinity, above = -Infinity }: Range): boolean =>
  value >= min && value <= max && value > above;

const rangeInWords = ({ min, max, above }: Range): string => {
  if (above !== undefined) return ` above ${above}${max === undefined ? "" : ` and at most ${max}`}`;
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`;
  if (min !== undefined) return ` of at least ${min}`;
  return max === undefined ? "" : ` of at most ${max}`;
};

const wrongValue = (flags: string, given: string, expected: string) =>
  new InputError("option-value", optionText.wrongValue(flags, given, expected));
