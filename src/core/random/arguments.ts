import { InputError } from "../errors.js";

export const drawArgumentText = (draw: string, name: string, given: unknown, expected: string): string =>
  `${draw} got ${name} = ${String(given)}, but ${name} must be ${expected}; check the value passed in.`;

/** Throws unless `valid`; the text names the draw, its argument, what was given and what was expected. */
export const requireArgument = (
  valid: boolean,
  draw: string,
  name: string,
  given: unknown,
  expected: string,
): void => {
  if (!valid) throw new InputError("draw-argument", drawArgumentText(draw, name, given, expected));
};
