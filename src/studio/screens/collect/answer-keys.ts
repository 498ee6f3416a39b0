/** Which key stands for which label: its number, and its first letter where no other has it. */
import type { LabelValue } from "../../../workflows/told-values.js";

/** Undo, skip, refused. */
export const RESERVED = ["u", "s", "r"] as const;

export interface AnswerKey {
  readonly value: LabelValue;
  /** "1" to "9"; none beyond. */
  readonly digit: string | undefined;
  readonly letter: string | undefined;
}

const initialOf = (value: LabelValue): string => String(value).trim().charAt(0).toLowerCase();

export const answerKeys = (values: readonly LabelValue[]): readonly AnswerKey[] => {
  const initials = values.map(initialOf);
  return values.map((value, at) => {
    const own = initials[at];
    const isFree = /^\p{L}$/u.test(own) && !RESERVED.some((key) => key === own);
    return {
      value,
      digit: at < 9 ? String(at + 1) : undefined,
      letter: isFree && initials.indexOf(own) === initials.lastIndexOf(own) ? own : undefined,
    };
  });
};
