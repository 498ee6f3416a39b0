/** What `campaign create` and `campaign configure` both say: limits, opinions, and whom to ask. */
import { InputError } from "../../../core/errors.js";
import type { OptionDescription } from "../../command.js";
import { integer, optionalInteger, optionalReal, optionText, type Range, real } from "../../options.js";
import { duration } from "./duration-option.js";

export const opinionOptions = {
  opinions: optionalInteger("--opinions <number>", "how many annotators answer an item (1)", {
    min: 1,
    max: 100,
  }),
  opinionsPart: optionalReal("--opinions-part <share>", "the share of items that so many answer (1)", {
    min: 0,
    max: 1,
  }),
};

export const leaseOption = duration(
  "--lease <time>",
  "for how long a question waits for its answer before it may be asked again: 90, 15m, 2h, 3d (1d)",
);

export const batchOption = optionalInteger("--batch <number>", "answers between two fits", { min: 1 });

const NONE = "none";

const limit = (option: OptionDescription<number>): OptionDescription<number | typeof NONE | undefined> => ({
  ...option,
  parse: (given) => {
    if (given === NONE) return NONE;
    try {
      return option.parse?.(given);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      throw new InputError("option-value", optionText.wrongValue(option.flags, given, "a number, or none"));
    }
  },
  fallback: undefined,
});

/** As the settings say it. */
export const limitOf = (given: number | typeof NONE | undefined): number | null | undefined =>
  given === NONE ? null : given;

/** A limit that may be taken away again: a number, or `none`. */
export const limitedInteger = (flags: string, summary: string, range: Range) =>
  limit(integer(flags, summary, 0, range));
export const limitedReal = (flags: string, summary: string, range: Range) =>
  limit(real(flags, summary, 0, range));
