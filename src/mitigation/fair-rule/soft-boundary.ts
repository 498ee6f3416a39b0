/**
 * The fair decision rule that is expected to reach a level on unlabelled rows: rates are counted by the probabilities of
 * the groups, as many rows are selected as the scores expect to be favourable, and the multipliers are the smallest that
 * reach the level. A quick search, for the boundary itself; `fitFairRule` is for decisions.
 */
import { InputError } from "../../core/errors.js";
import type { FairRule } from "../fair-rule.js";
import { ratioOfRates } from "./cuts.js";
import { fairScores, groupWeights } from "./multipliers.js";
import { type BlindRows, checkBlindRows } from "./rule-rows.js";

export const softBoundaryTexts = {
  level: (given: unknown) =>
    `the level was ${String(given)}: give a ratio above 0 and at most 1, such as 0.8`,
};

/** Halvings of the interval that the smallest multiplier lies in. */
const HALVINGS = 20;
/** Doublings before the level counts as out of reach. */
const DOUBLINGS = 12;
/** Steps towards equal rates of more than two groups. */
const STEPS = 60;

/**
 * A rule for {@link fairMargins}, for demographic parity. Scores are [rows], group probabilities [rows, groups]. Where no
 * multipliers reach the level, those that come nearest are taken.
 *
 * @example
 * ```ts
 * import { softFairRule } from "fairbed/mitigation";
 *
 * const scores = [0.9, 0.8, 0.7, 0.3, 0.6, 0.45, 0.4, 0.1];
 * const second = [0.9, 0.9, 0.8, 0.8, 0.1, 0.2, 0.1, 0.2]; // P(group 1 | x)
 * const rule = softFairRule({ scores, groupProbabilities: second.flatMap((p) => [1 - p, p]) }, { level: 0.9 });
 * // The second group is selected less than by the scores alone.
 * console.log(rule.multipliers[1] > 0); // true
 * ```
 */
export const softFairRule = (
  rows: BlindRows,
  { level = 0.8 }: { readonly level?: number | undefined } = {},
): FairRule => {
  if (!(level > 0 && level <= 1)) throw new InputError("level", softBoundaryTexts.level(level));
  const { eta, probabilities, rows: count, groups } = checkBlindRows(rows);
  const totals = new Float64Array(groups);
  probabilities.forEach((p, at) => {
    totals[at % groups] += p;
  });
  const shares = Array.from(totals, (total) => total / count);
  const w = groupWeights(eta, probabilities, shares, "dp");
  const selected = Math.min(count - 1, Math.round(eta.reduce((sum, each) => sum + each, 0)));
  const tryOut = (multipliers: readonly number[]) => {
    const scores = fairScores(eta, w, multipliers);
    // Between the last that is selected and the first that is not.
    const sorted = scores.slice().sort();
    const last = sorted[count - selected] ?? sorted[count - 1] + 2;
    const threshold = (sorted[count - selected - 1] + last) / 2;
    const chosen = new Float64Array(groups);
    scores.forEach((score, row) => {
      if (score > threshold) for (let g = 0; g < groups; g++) chosen[g] += probabilities[row * groups + g];
    });
    return { multipliers, threshold, chosen, ratio: ratioOfRates(chosen, totals) };
  };
  type Tried = ReturnType<typeof tryOut>;
  const ruleOf = ({ multipliers, threshold }: Tried): FairRule => ({
    metric: "dp",
    multipliers,
    shares,
    threshold,
  });
  const none = tryOut(shares.map(() => 0));
  const present = shares.flatMap((share, g) => (share > 0 ? [g] : []));
  if (none.ratio >= level || present.length < 2) return ruleOf(none);
  const rateOf = ({ chosen }: Tried, g: number) => chosen[g] / totals[g];
  if (present.length > 2) return ruleOf(towardsEqualRates());
  const [first, second] = present;
  const sign = rateOf(none, second) > rateOf(none, first) ? 1 : -1;
  const at = (size: number) =>
    tryOut(shares.map((_, g) => (g === first ? -sign * size : g === second ? sign * size : 0)));
  const [behind, ahead] = sign === 1 ? [first, second] : [second, first];
  // Rises with the multiplier, past 1 where it is too large: the ratio itself would fall again there.
  const reaches = (tried: Tried) => rateOf(tried, behind) >= level * rateOf(tried, ahead);
  let [low, high] = [0, 0.01];
  let best = at(high);
  for (let k = 0; k < DOUBLINGS && !reaches(best); k++) {
    [low, high] = [high, 2 * high];
    best = at(high);
  }
  if (!reaches(best)) return ruleOf(best);
  for (let k = 0; k < HALVINGS; k++) {
    const middle = (low + high) / 2;
    const tried = at(middle);
    if (reaches(tried)) {
      high = middle;
      best = tried;
    } else low = middle;
  }
  return ruleOf(best);

  /** Steps along the gaps between the rates, ever shorter, until the level is reached. */
  function towardsEqualRates(): Tried {
    let now = none;
    let nearest = none;
    for (let step = 0; step < STEPS && now.ratio < level; step++) {
      const all = now.chosen.reduce((sum, each) => sum + each, 0) / count;
      if (all === 0) break;
      now = tryOut(
        now.multipliers.map((each, g) =>
          totals[g] > 0 ? each + ((0.05 / Math.sqrt(step + 1)) * (rateOf(now, g) - all)) / all : each,
        ),
      );
      if (now.ratio > nearest.ratio) nearest = now;
    }
    return nearest;
  }
};
