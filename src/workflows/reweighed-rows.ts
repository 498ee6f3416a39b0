/** Weights of the rows of a table under which outcome and group are independent among those that are learnt from. */
import { reweigh } from "../mitigation/reweighing.js";

export interface RowsToReweigh {
  /** Those that are learnt from. */
  readonly rows: Int32Array;
  /** [all rows], -1 where it is not known. */
  readonly labels: Int32Array;
  readonly groups: Int32Array;
  /** How much each row counted before; 1 unless given. [all rows] */
  readonly weights?: Float64Array | undefined;
}

/** [all rows]: 0 for rows that are not learnt from. Where no row has both an outcome and a group, as before. */
export const reweighedRows = ({ rows, labels, groups, weights }: RowsToReweigh): Float64Array => {
  const own = (of: Int32Array) => rows.map((row) => of[row]);
  const before = Float64Array.from(rows, (row) => weights?.[row] ?? 1);
  const known = rows.some((row) => labels[row] >= 0 && groups[row] >= 0 && (weights?.[row] ?? 1) > 0);
  const now = known ? reweigh({ labels: own(labels), groups: own(groups), weights: before }).weights : before;
  const all = new Float64Array(labels.length);
  rows.forEach((row, i) => {
    all[row] = now[i];
  });
  return all;
};
