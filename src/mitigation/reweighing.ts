/**
 * Reweighing (Kamiran and Calders, "Data preprocessing techniques for classification without discrimination", 2012):
 * rows count so that outcome and group are independent, by the weights P(y) P(g) / P(y, g) of their cell.
 */
import { InputError } from "../core/errors.js";
import { mitigationTexts } from "./groups.js";

/** Outcomes and groups of the rows that a model is to learn from. */
export interface ReweighingRows {
  /** The class of each row, from 0; -1 is missing. [rows] */
  readonly labels: ArrayLike<number>;
  /** The group of each row, from 0; -1 is unknown. [rows] */
  readonly groups: ArrayLike<number>;
  /** How much each row counted before, which its weight is then multiplied by; 1 unless given. [rows] */
  readonly weights?: ArrayLike<number> | undefined;
}

/** The rows with one outcome in one group. */
export interface ReweighedCell {
  readonly label: number;
  readonly group: number;
  readonly rows: number;
  /** What each of its rows counts (times what it counted before); undefined where there are none. */
  readonly weight: number | undefined;
}

export interface ReweighedRows {
  /** For the `weights` of any learner, [rows]. A row without outcome or group keeps the weight it had. */
  readonly weights: Float64Array;
  /** Every outcome that occurs with every group that occurs, outcome by outcome. */
  readonly cells: readonly ReweighedCell[];
  /** Rows without outcome or group. */
  readonly unknown: number;
  /** Sentences for a person: cells without rows, which no weights can fill. */
  readonly warnings: readonly string[];
}

export const reweighingTexts = {
  number: (what: "label" | "group", row: number) =>
    `the ${what} of row ${row} is no whole number of at least -1: number them from 0, with -1 where it is missing`,
  weight: (row: number) => `the weight of row ${row} is negative or not finite: weights are 0 or more`,
  nobody: "no row has both an outcome and a group, and a weight: give rows that have them",
  empty: (label: number, group: number) =>
    `no row of group ${group} has outcome ${label}, so outcome and group stay dependent whatever the weights: give rows of that kind, or merge groups`,
};

const checked = (values: ArrayLike<number>, what: "label" | "group"): Int32Array => {
  for (let row = 0; row < values.length; row++)
    if (!Number.isInteger(values[row]) || values[row] < -1)
      throw new InputError(what, reweighingTexts.number(what, row));
  return Int32Array.from(values);
};

const countOf = (values: Int32Array): number => values.reduce((most, each) => Math.max(most, each + 1), 0);

/**
 * The weights under which outcome and group are independent: P(y) P(g) / P(y, g), times the weights given. The sums of
 * the rows of each outcome and of each group stay as they were where every cell has rows.
 *
 * @example
 * ```ts
 * import { reweigh } from "fairbed/mitigation";
 *
 * const { weights } = reweigh({ labels: [1, 1, 1, 0, 1, 0, 0, 0], groups: [1, 1, 1, 1, 0, 0, 0, 0] });
 * console.log(weights[0].toFixed(3), weights[3], weights[4]); // 0.667 2 2
 * ```
 */
export const reweigh = ({ labels, groups, weights }: ReweighingRows): ReweighedRows => {
  const rows = labels.length;
  for (const [what, given] of [
    ["groups", groups],
    ["weights", weights],
  ] as const)
    if (given !== undefined && given.length !== rows)
      throw new InputError("shape", mitigationTexts.lengths(what, given.length, rows));
  const y = checked(labels, "label");
  const g = checked(groups, "group");
  const before = weights === undefined ? new Float64Array(rows).fill(1) : Float64Array.from(weights);
  before.forEach((weight, row) => {
    if (!(weight >= 0 && weight < Number.POSITIVE_INFINITY))
      throw new InputError("weight", reweighingTexts.weight(row));
  });
  const groupCount = countOf(g);
  const ofLabel = new Float64Array(countOf(y));
  const ofGroup = new Float64Array(groupCount);
  const ofCell = new Float64Array(ofLabel.length * groupCount);
  const rowsOfCell = new Int32Array(ofCell.length);
  let whole = 0;
  let unknown = 0;
  for (let row = 0; row < rows; row++) {
    if (y[row] < 0 || g[row] < 0) {
      unknown++;
      continue;
    }
    ofLabel[y[row]] += before[row];
    ofGroup[g[row]] += before[row];
    ofCell[y[row] * groupCount + g[row]] += before[row];
    rowsOfCell[y[row] * groupCount + g[row]]++;
    whole += before[row];
  }
  if (whole === 0) throw new InputError("no-rows", reweighingTexts.nobody);
  const factors = ofCell.map((sum, cell) => {
    const label = Math.floor(cell / groupCount);
    return sum === 0 ? 0 : (ofLabel[label] * ofGroup[cell % groupCount]) / (whole * sum);
  });
  const cells = Array.from(factors, (factor, cell) => {
    const label = Math.floor(cell / groupCount);
    const weight = ofCell[cell] === 0 ? undefined : factor;
    return { label, group: cell % groupCount, rows: rowsOfCell[cell], weight };
  }).filter(({ label, group }) => ofLabel[label] > 0 && ofGroup[group] > 0);
  return {
    weights: before.map((weight, row) =>
      y[row] < 0 || g[row] < 0 ? weight : weight * factors[y[row] * groupCount + g[row]],
    ),
    cells,
    unknown,
    warnings: cells
      .filter(({ weight }) => weight === undefined)
      .map(({ label, group }) => reweighingTexts.empty(label, group)),
  };
};
