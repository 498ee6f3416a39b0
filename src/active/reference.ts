/** sum_t w_t H[J[n, t]] in float64 as the formula reads: what the kernels are measured against, and small inputs. */
import { xlogx } from "./entropy.js";
import { type Members, readRow } from "./members.js";

/**
 * J[n, t, c, d] = sum_k v_k P[n, k, c] T[t, k, d], v being the weights of the members; returns sum_t w_t H[J[n, t]],
 * [pool rows]. Every cell is a sum of products that are not negative, so that no rounding makes one negative.
 */
export const referenceJointEntropies = (
  pool: Members,
  targets: Members,
  weights: Float64Array,
  memberWeights?: Float64Array,
): Float64Array => {
  const { rows, members, classes } = pool;
  const { classes: targetClasses } = targets;
  const size = members * targetClasses;
  const all = new Float64Array(targets.rows * size);
  for (let t = 0; t < targets.rows; t++) readRow(targets, t, all.subarray(t * size, (t + 1) * size));
  // Equal members are divided by once and at the end, so that counts of votes stay exact.
  const divisor = memberWeights === undefined ? members : 1;
  if (memberWeights !== undefined) {
    for (let i = 0; i < all.length; i++) all[i] *= memberWeights[Math.floor(i / targetClasses) % members];
  }
  const one = new Float64Array(members * classes);
  const joint = new Float64Array(classes * targetClasses);
  const entropies = new Float64Array(rows);
  for (let n = 0; n < rows; n++) {
    readRow(pool, n, one);
    let total = 0;
    for (let t = 0; t < targets.rows; t++) {
      joint.fill(0);
      for (let k = 0, p = 0, q = t * size; k < members; k++, q += targetClasses) {
        for (let c = 0, cell = 0; c < classes; c++, p++) {
          for (let d = 0; d < targetClasses; d++) joint[cell++] += one[p] * all[q + d];
        }
      }
      let sum = 0;
      for (let cell = 0; cell < joint.length; cell++) sum += xlogx(joint[cell] / divisor);
      total -= weights[t] * sum;
    }
    entropies[n] = total;
  }
  return entropies;
};
