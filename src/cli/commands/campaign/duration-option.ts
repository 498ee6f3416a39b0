/** A time span as people write it: `90`, `15m`, `2h`, `30d`. */
import { InputError } from "../../../core/errors.js";
import type { OptionDescription } from "../../command.js";
import { optionText } from "../../options.js";

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** In seconds; undefined where it is not given. */
export const duration = (flags: string, summary: string): OptionDescription<number | undefined> => ({
  flags,
  summary,
  parse: (given) => {
    const [, number, unit] = /^\s*(\d+(?:\.\d+)?)\s*([smhd]?)\s*$/.exec(given) ?? [];
    const seconds = Number(number) * SECONDS[unit || "s"];
    if (seconds > 0 && seconds < Number.POSITIVE_INFINITY) return seconds;
    const expected = "seconds above 0, or a time such as 15m, 2h or 30d";
    throw new InputError("option-value", optionText.wrongValue(flags, given, expected));
  },
  fallback: undefined,
  choices: undefined,
});

/** The other way round: `2 hours`, `90 s`. */
export const durationInWords = (seconds: number): string => {
  const units = [
    ["day", 86_400],
    ["hour", 3600],
    ["minute", 60],
  ] as const;
  const [name, size] = units.find(([, each]) => seconds >= 2 * each || seconds === each) ?? ["s", 1];
  const count = Math.round(seconds / size);
  return name === "s" ? `${count} s` : `${count} ${name}${count === 1 ? "" : "s"}`;
};
