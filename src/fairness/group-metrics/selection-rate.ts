/** Predictions at a chosen selection rate, so that methods are compared where they select equally many. */
import { InputError } from "../../core/errors.js";
import { type RandomStream, seededStream } from "../../core/random.js";
import { groupTexts } from "./group-labels.js";

export interface Selection {
  /** 1 for the selected rows, else 0. */
  readonly predicted: Int32Array;
  readonly selected: number;
  /** The lowest score selected; undefined where nothing is. */
  readonly threshold: number | undefined;
  /** Rows at the threshold, and how many of them were selected. */
  readonly tied: { readonly rows: number; readonly selected: number };
}

/**
 * Selects the round(rate * rows) rows with the highest scores. Rows with equal scores at the threshold are chosen in
 * an order drawn from `stream`, not in the order of the table: that may go by group. The same scores and stream give
 * the same selection. `scores` is [rows], and so are the predictions.
 *
 * @example
 * ```ts
 * import { atSelectionRate } from "fairbed/fairness";
 *
 * const { predicted } = atSelectionRate(Float64Array.of(0.9, 0.2, 0.6, 0.4), 0.5);
 * console.log([...predicted]); // [ 1, 0, 1, 0 ]
 * ```
 */
export const atSelectionRate = (
  scores: Float64Array,
  rate: number,
  stream: RandomStream = seededStream("ties at the threshold"),
): Selection => {
  if (!(rate >= 0 && rate <= 1)) throw new InputError("selection-rate", groupTexts.selectionRate(rate));
  if (scores.length === 0) throw new InputError("selection-rate", groupTexts.noScores);
  const notANumber = scores.findIndex(Number.isNaN);
  if (notANumber >= 0) {
    throw new InputError("group-score", groupTexts.score(notANumber, scores[notANumber]));
  }
  const predicted = new Int32Array(scores.length);
  const selected = Math.round(rate * scores.length);
  if (selected === 0) return { predicted, selected, threshold: undefined, tied: { rows: 0, selected: 0 } };
  const threshold = scores.toSorted()[scores.length - selected];
  let above = 0;
  const atThreshold: number[] = [];
  scores.forEach((score, row) => {
    if (score > threshold) {
      predicted[row] = 1;
      above++;
    } else if (score === threshold) atThreshold.push(row);
  });
  for (const at of stream.choice(atThreshold.length, selected - above)) predicted[atThreshold[at]] = 1;
  return { predicted, selected, threshold, tied: { rows: atThreshold.length, selected: selected - above } };
};
