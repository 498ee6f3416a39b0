/** From a score for each candidate to a batch of them. */
import { InputError } from "../core/errors.js";
import { log } from "../core/math.js";
import type { RandomStream } from "../core/random.js";
import type { ScoreParts } from "./fairbed.js";
import { type Constraints, createAllowance } from "./quotas.js";
import { descending } from "./ranking.js";
import { defaultTies, type RowKeys } from "./ties.js";

export const batchTexts = {
  method: (given: unknown) =>
    `the batch method was ${JSON.stringify(given)}: choose "top", "softmax" or "rank"`,
  scores: (part: string, given: number, rows: number) =>
    `there are ${given} values of ${part} for ${rows} scores: give one for each candidate`,
  empty: "there are no scores, so no candidate can be chosen: score at least one",
  value: (row: number) =>
    `the score of row ${row} is not a finite number: a batch needs one for every candidate`,
  temperature: (given: unknown) =>
    `the temperature was ${String(given)}: give a finite number above 0, in the unit of the scores for "softmax"`,
  stream: (method: string) =>
    `the batch method "${method}" draws and was given no random stream: pass one as \`stream\``,
  costs: (row: number) => `the cost of row ${row} is not a finite number of at least 0: give costs that are`,
  costWeight: (given: unknown) =>
    `costWeight was ${String(given)} with costs given: give what a unit of cost is worth in nats, a finite number of at least 0`,
};

/** One of a batch, with why. */
export interface Selected {
  /** The candidate's row in the pool. */
  readonly row: number;
  /** Its acquisition score, without cost: target - beta * leakage. */
  readonly score: number;
  readonly target: number;
  readonly leakage: number;
  /** What its label costs; 0 unless given. */
  readonly cost: number;
  /** 1 for the first that was chosen. */
  readonly rank: number;
}

export interface Costs {
  /** What each candidate's label costs, [pool rows]. */
  readonly costs?: ArrayLike<number> | undefined;
  /**
   * What a unit of cost is worth, in nats: candidates compete by score - costWeight * cost. (Not by score / cost:
   * scores may be negative, and a negative one divided by a higher cost would win.)
   */
  readonly costWeight?: number | undefined;
}

export interface BatchOptions extends Constraints, Costs {
  /**
   * How the candidates compete, u being score - costWeight * cost and G standard Gumbel noise; the largest win:
   *
   * - "top" (unless given): u.
   * - "softmax": u / temperature + G, which draws without replacement with p proportional to exp(u / temperature).
   * - "rank": -log(r) / temperature + G, r = 1 being the candidate with the largest u: p proportional to
   *   r^(-1 / temperature), whatever the scale of the scores. (Powers of the score itself have no meaning here, as it
   *   may be negative.)
   *
   * Ties are broken by `ties`.
   */
  readonly method?: "top" | "softmax" | "rank" | undefined;
  /** Needed for "softmax"; 1 for "rank" unless given. */
  readonly temperature?: number | undefined;
  readonly stream?: RandomStream | undefined;
  /** Decides between equals, by row; from the stream unless given, or the same for all where there is none. */
  readonly ties?: RowKeys | undefined;
}

const requireScores = ({ score, target, leakage }: ScoreParts): void => {
  if (score.length === 0) throw new InputError("empty-pool", batchTexts.empty);
  for (const [name, part] of Object.entries({ target, leakage })) {
    if (part.length !== score.length) {
      throw new InputError("scores", batchTexts.scores(name, part.length, score.length));
    }
  }
  for (let row = 0; row < score.length; row++) {
    if (!Number.isFinite(score[row])) throw new InputError("scores", batchTexts.value(row));
  }
};

/** The cost of a row, once all are checked, and what it takes from the score. */
export const readCosts = (
  rows: number,
  { costs, costWeight }: Costs,
): { cost(row: number): number; weight: number } => {
  if (costs === undefined) return { cost: () => 0, weight: 0 };
  if (costs.length !== rows) throw new InputError("costs", batchTexts.scores("cost", costs.length, rows));
  for (let row = 0; row < rows; row++) {
    if (!(costs[row] >= 0 && costs[row] < Number.POSITIVE_INFINITY)) {
      throw new InputError("costs", batchTexts.costs(row));
    }
  }
  if (costWeight === undefined || !(costWeight >= 0 && costWeight < Number.POSITIVE_INFINITY)) {
    throw new InputError("cost-weight", batchTexts.costWeight(costWeight));
  }
  return { cost: (row) => costs[row], weight: costWeight };
};

/** Noise is drawn for every row, excluded or not, so that an exclusion does not change the others' noise. */
const withNoise = (
  utilities: Float64Array,
  { method = "top", temperature, stream }: BatchOptions,
  ties: RowKeys,
): Float64Array => {
  if (method === "top") return utilities;
  if (method !== "softmax" && method !== "rank") throw new InputError("method", batchTexts.method(method));
  const heat = temperature ?? (method === "rank" ? 1 : undefined);
  if (heat === undefined || !(heat > 0 && heat < Number.POSITIVE_INFINITY)) {
    throw new InputError("temperature", batchTexts.temperature(heat));
  }
  if (stream === undefined) throw new InputError("stream", batchTexts.stream(method));
  const keys = utilities.slice();
  if (method === "rank") {
    let rank = 1;
    for (const row of descending(utilities, ties)) keys[row] = -log(rank++);
  }
  return keys.map((key) => key / heat - log(-log(stream.uniform())));
};

/**
 * The batch in the order in which it was chosen.
 *
 * @example
 * ```ts
 * import { selectBatch } from "fairbed/active";
 *
 * const score = Float64Array.of(0.3, 0.1, 0.2);
 * const parts = { score, target: score, leakage: new Float64Array(3) };
 * console.log(selectBatch(parts, { size: 2 }).map(({ row }) => row)); // [ 0, 2 ]
 * console.log(selectBatch(parts, { size: 1, costs: [1, 1, 0], costWeight: 0.2 })[0].row); // 2
 * ```
 */
export const selectBatch = (parts: ScoreParts, options: BatchOptions): Selected[] => {
  requireScores(parts);
  const { score, target, leakage } = parts;
  const allowance = createAllowance(score.length, options);
  const { cost, weight } = readCosts(score.length, options);
  const utilities = weight === 0 ? score : score.map((value, row) => value - weight * cost(row));
  const ties = options.ties ?? defaultTies(options.stream);
  const chosen: Selected[] = [];
  // One pass is enough: a row that quotas refuse now is refused later too, since a full group stays full, and once
  // all places are owed to other groups they stay so.
  for (const row of descending(withNoise(utilities, options, ties), ties)) {
    if (chosen.length === allowance.size) break;
    if (!allowance.allows(row)) continue;
    allowance.take(row);
    const rank = chosen.length + 1;
    chosen.push({
      row,
      score: score[row],
      target: target[row],
      leakage: leakage[row],
      cost: cost(row),
      rank,
    });
  }
  return chosen;
};
