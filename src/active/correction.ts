/**
 * What EPIG would be if the members were independent on the two sides: not 0, because there are only K of them.
 *
 * Independent votes of K members give a mean EPIG of about (C - 1)^2 / (2 K): .005 at K = 100, which a factor
 * beta = 10 turns into a penalty on every candidate whose votes are not unanimous. The correction subtracts the
 * mean of the score over all K! ways to pair the members of the pool with those of the targets, which keeps what
 * either side says and removes what they share:
 *
 * - **analytic, votes** (both sides): exact. With p of K votes on one side and q on the other, the number of members
 *   that vote 1 on both is hypergeometric under a random pairing, and the mutual information is a function of it.
 * - **analytic, otherwise**: the second order in J - p q. MI ~ 1/2 sum_cd (J_cd - p_c q_d)^2 / (p_c q_d), and under a
 *   random pairing the variance of J_cd is V_c V_d / (K - 1), V being the variance of a class's probability over the
 *   members. So the mean is s(n) s(t) / (2 (K - 1)) with s = sum_c V_c / p_c (for votes: C - 1).
 * - **permutation**: the mean over pairings that were drawn, unbiased for any members, at the price of as many runs.
 */
import { xlogx } from "./entropy.js";
import { countVotes, type Members, readRow } from "./members.js";

export type Correction = "none" | "analytic" | "permutation";

/** The mean mutual information over all pairings of p votes for class 1 among K with q of them. */
const expectedVoteInformation = (members: number): ((p: number, q: number) => number) => {
  const cells = Float64Array.from({ length: members + 1 }, (_, i) => xlogx(i / members));
  return (p, q) => {
    const low = Math.max(0, p + q - members);
    const high = Math.min(p, q);
    if (low === high) return 0;
    // Hypergeometric weights by their ratios, from the mode outwards, and then divided by their sum: nothing
    // overflows, and what underflows weighs nothing.
    const mode = Math.min(high, Math.max(low, Math.floor(((p + 1) * (q + 1)) / (members + 2))));
    const information = (a: number): number =>
      cells[a] + cells[p - a] + cells[q - a] + cells[members - p - q + a];
    let sum = 1;
    let total = information(mode);
    for (let a = mode, weight = 1; a < high; ) {
      weight *= ((p - a) * (q - a)) / ((a + 1) * (members - p - q + a + 1));
      a++;
      sum += weight;
      total += weight * information(a);
    }
    for (let a = mode, weight = 1; a > low; ) {
      weight *= (a * (members - p - q + a)) / ((p - a + 1) * (q - a + 1));
      a--;
      sum += weight;
      total += weight * information(a);
    }
    return total / sum - cells[p] - cells[members - p] - cells[q] - cells[members - q];
  };
};

/**
 * s(n) = sum_c V_c / pbar_c over the classes with pbar_c > 0, [rows], under weights of the members: C - 1 for votes
 * that are not unanimous.
 */
const relativeSpreads = (given: Members, memberWeights: Float64Array): Float64Array => {
  const { rows, members, classes } = given;
  const spreads = new Float64Array(rows);
  if (given.kind === "dense" && classes === 2) {
    // By far the most frequent, and faster with both classes side by side.
    const { values } = given;
    for (let n = 0, from = 0; n < rows; n++, from += 2 * members) {
      let [mean0, mean1] = [0, 0];
      for (let k = 0, at = from; k < members; k++, at += 2) {
        mean0 += memberWeights[k] * values[at];
        mean1 += memberWeights[k] * values[at + 1];
      }
      let [variance0, variance1] = [0, 0];
      for (let k = 0, at = from; k < members; k++, at += 2) {
        const off0 = values[at] - mean0;
        const off1 = values[at + 1] - mean1;
        variance0 += memberWeights[k] * (off0 * off0);
        variance1 += memberWeights[k] * (off1 * off1);
      }
      if (mean0 !== 0) spreads[n] += variance0 / mean0;
      if (mean1 !== 0) spreads[n] += variance1 / mean1;
    }
    return spreads;
  }
  const row = new Float64Array(members * classes);
  for (let n = 0; n < rows; n++) {
    readRow(given, n, row);
    for (let c = 0; c < classes; c++) {
      let mean = 0;
      for (let k = 0, at = c; k < members; k++, at += classes) mean += memberWeights[k] * row[at];
      if (mean === 0) continue;
      let variance = 0;
      for (let k = 0, at = c; k < members; k++, at += classes) {
        variance += memberWeights[k] * (row[at] - mean) ** 2;
      }
      spreads[n] += variance / mean;
    }
  }
  return spreads;
};

/**
 * The second-order form with members of unequal weights v, [pool rows]: 1 / (K - 1) becomes S / (1 - S) with
 * S = sum_k v_k^2, which is 1 / K where they are equal.
 */
export const expectedUnderWeights = (
  pool: Members,
  targets: Members,
  weights: Float64Array,
  memberWeights: Float64Array,
): Float64Array => {
  const concentration = memberWeights.reduce((sum, weight) => sum + weight * weight, 0);
  // One member alone knows everything: there is nothing left to learn, and nothing to correct.
  if (concentration > 1 - 1e-9) return new Float64Array(pool.rows);
  let mean = 0;
  relativeSpreads(targets, memberWeights).forEach((spread, t) => {
    mean += weights[t] * spread;
  });
  const factor = (0.5 * mean * concentration) / (1 - concentration);
  return relativeSpreads(pool, memberWeights).map((spread) => spread * factor);
};

/** What the analytic correction subtracts from EPIG, [pool rows]. The weights are those of the targets, sum 1. */
export const expectedUnderIndependence = (
  pool: Members,
  targets: Members,
  weights: Float64Array,
): Float64Array => {
  const { members } = pool;
  if (pool.kind === "votes" && targets.kind === "votes") {
    const shares = new Float64Array(members + 1);
    countVotes(targets).forEach((q, t) => {
      shares[q] += weights[t];
    });
    const information = expectedVoteInformation(members);
    const known = new Map<number, number>();
    return Float64Array.from(countVotes(pool), (p) => {
      // Class 0 and class 1 exchanged on one side change nothing: half of the table is enough.
      const fewer = Math.min(p, members - p);
      let mean = known.get(fewer);
      if (mean === undefined) {
        mean = 0;
        for (let q = 0; q <= members; q++) if (shares[q] > 0) mean += shares[q] * information(fewer, q);
        known.set(fewer, mean);
      }
      return mean;
    });
  }
  return expectedUnderWeights(pool, targets, weights, new Float64Array(members).fill(1 / members));
};
