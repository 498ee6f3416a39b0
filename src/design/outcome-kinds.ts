/** How outcomes are recorded, and which can be: neither depends on parameters or design. */
import type { Distribution } from "./distribution.js";
import type { Model } from "./model.js";

/** The distribution of each outcome at some parameters and design, any of which do. */
export const outcomeKinds = (model: Model): Readonly<Record<string, Distribution>> => {
  const ones = Object.fromEntries([...model.parameters, ...model.design].map(({ name }) => [name, 1]));
  return model.distributions(ones, ones);
};

/** What an outcome can be, in words, where this value of it cannot be. */
export const whyImpossible = ({ support, rate }: Distribution, value: number): string | undefined => {
  const [most, isCount] = [support?.at(-1), rate !== undefined];
  if (most === undefined && !isCount) return undefined;
  if (Number.isInteger(value) && value >= 0 && value <= (most ?? Infinity)) return undefined;
  if (most === undefined) return "a whole number from 0";
  return most === 1 ? "1 or 0" : `a whole number from 0 to ${most}`;
};
