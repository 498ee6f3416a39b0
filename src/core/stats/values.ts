import { InputError } from "../errors.js";

export const fewValuesText = (what: string, needed: number, given: number): string =>
  `${what} needs at least ${needed} ${needed === 1 ? "value" : "values"}, but got ${given}; collect more values first.`;
export const badValueText = (what: string, value: number, index: number): string =>
  `${what} got ${value} at index ${index}, but needs finite numbers; remove or repair that value first.`;
export const badLevelText = (level: number): string =>
  `An interval got the level ${level}, but a level lies strictly between 0 and 1; give for example 0.95.`;

/** Throws unless there are at least `needed` values, all finite. */
export const requireValues = (what: string, values: ArrayLike<number>, needed: number): void => {
  if (values.length < needed) throw new InputError("few-values", fewValuesText(what, needed, values.length));
  for (let i = 0; i < values.length; i++) {
    if (!Number.isFinite(values[i])) throw new InputError("bad-value", badValueText(what, values[i], i));
  }
};

/** Throws unless 0 < level < 1. */
export const requireLevel = (level: number): void => {
  if (!(level > 0 && level < 1)) throw new InputError("level", badLevelText(level));
};
