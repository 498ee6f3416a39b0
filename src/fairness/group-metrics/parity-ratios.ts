/** The paper's fairness numbers of one classifier, without intervals: what a simulation computes at each checkpoint. */
import { requireLabels, requireLength } from "./group-labels.js";

/**
 * Ratios are min over groups / max over groups of hard-label rates. A number is undefined where it has no value:
 * fewer than two groups have the rate, or it is 0 in all of them and 0 / 0 says nothing.
 */
export interface ParityRatioValues {
  /** P(predicted positive), all rows whose group is known. */
  readonly selectionRate: number | undefined;
  readonly accuracy: number | undefined;
  /** max - min of the groups' selection rates: it stays comparable where the ratio rises with the selection rate. */
  readonly dpDifference: number | undefined;
  readonly dpRatio: number | undefined;
  readonly tprRatio: number | undefined;
  readonly fprRatio: number | undefined;
  /** rate of group 1 / rate of group 0, where there are two groups: which of them is favoured. */
  readonly dpSigned: number | undefined;
  readonly tprSigned: number | undefined;
  readonly fprSigned: number | undefined;
}

const share = (part: number, whole: number): number | undefined => (whole === 0 ? undefined : part / whole);

const isDefined = (rate: number | undefined): rate is number => rate !== undefined;

const minOverMax = (rates: readonly (number | undefined)[]): number | undefined => {
  const defined = rates.filter(isDefined);
  return defined.length < 2 ? undefined : share(Math.min(...defined), Math.max(...defined));
};

const signedRatio = (rates: readonly (number | undefined)[]): number | undefined => {
  const [reference, other] = rates;
  if (rates.length !== 2 || reference === undefined || other === undefined) return undefined;
  return share(other, reference);
};

export interface ParityRatioOptions {
  /** The class that counts as positive; 1 unless given. */
  readonly positive?: number | undefined;
  /** How much each row counts, [rows]; 1 unless given. */
  readonly weights?: Float64Array | undefined;
}

/**
 * Demographic parity and equalised odds of hard predictions; each array has one entry per row. Group -1 is unknown
 * and left out, and a group without rows (or without the rows a rate is about) does not count.
 *
 * @example
 * ```ts
 * import { parityRatios } from "fairbed/fairness";
 *
 * const predicted = Int32Array.of(1, 1, 0, 0, 1, 0, 0, 0);
 * const actual = Int32Array.of(1, 0, 1, 0, 1, 1, 0, 0);
 * const groups = Int32Array.of(0, 0, 0, 0, 1, 1, 1, 1);
 * console.log(parityRatios(predicted, actual, groups).dpRatio); // 0.5
 * ```
 */
export const parityRatios = (
  predicted: Int32Array,
  actual: Int32Array,
  groups: Int32Array,
  { positive = 1, weights }: ParityRatioOptions = {},
): ParityRatioValues => {
  requireLength("actual", actual, predicted.length);
  requireLength("groups", groups, predicted.length);
  requireLength("weights", weights, predicted.length);
  const count = groups.reduce((most, group) => Math.max(most, group + 1), 0);
  requireLabels(groups, count);
  // Per group: negatives, negatives predicted positive, positives, positives predicted positive.
  const cells = new Float64Array(4 * count);
  let rows = 0;
  let right = 0;
  for (let row = 0; row < predicted.length; row++) {
    const group = groups[row];
    if (group < 0) continue;
    const at = 4 * group + (actual[row] === positive ? 2 : 0);
    const weight = weights?.[row] ?? 1;
    cells[at] += weight;
    if (predicted[row] === positive) cells[at + 1] += weight;
    rows += weight;
    if (predicted[row] === actual[row]) right += weight;
  }
  const selection: (number | undefined)[] = [];
  const tpr: (number | undefined)[] = [];
  const fpr: (number | undefined)[] = [];
  let selected = 0;
  for (let at = 0; at < cells.length; at += 4) {
    const [negatives, falsePositives, positives, truePositives] = cells.subarray(at, at + 4);
    selected += falsePositives + truePositives;
    selection.push(share(falsePositives + truePositives, negatives + positives));
    fpr.push(share(falsePositives, negatives));
    tpr.push(share(truePositives, positives));
  }
  const present = selection.filter(isDefined);
  return {
    selectionRate: share(selected, rows),
    accuracy: share(right, rows),
    dpDifference: present.length < 2 ? undefined : Math.max(...present) - Math.min(...present),
    dpRatio: minOverMax(selection),
    tprRatio: minOverMax(tpr),
    fprRatio: minOverMax(fpr),
    dpSigned: signedRatio(selection),
    tprSigned: signedRatio(tpr),
    fprSigned: signedRatio(fpr),
  };
};
