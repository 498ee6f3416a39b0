/** From trees and features to what every tree says, by whichever way is faster: the answers are the same. */
import type { Lacking } from "./condition-sets.js";
import type { Asked, PackedTrees } from "./packed-trees.js";
import { predictByRows } from "./predict-rows.js";
import { areAscending, predictByBriefSets, predictByKeptSets } from "./predict-sets.js";
import { treeCount } from "./trees.js";

/** About how many nanoseconds things take. */
const COST = {
  /** Row by row: a step from a split to a child, and a value of a row to be copied. */
  step: 2.5,
  copy: 1,
  /** By sets: a row at a split, and a row's probabilities of a tree. */
  split: 0.03,
  leaf: 6,
  /** A set to be made and a row of it; a row of a column that is looked at. */
  set: 1000,
  setRow: 0.15,
  columnRow: 4,
};

/** Sends every row down every tree, part by part. */
export function* predictParts(packed: PackedTrees, asked: Asked): Generator<unknown, void> {
  const { features, rows } = asked;
  const { trees, votes, meanLevels } = packed;
  const total = rows?.length ?? features.rows;
  const count = treeCount(trees);
  const byRows = total * (count * meanLevels * COST.step + features.columns * COST.copy);
  const splits = (trees.feature.length - count) / 2;
  const bySets = features.rows * splits * COST.split + (votes ? 0 : total * count * COST.leaf);
  if (bySets < byRows && (rows === undefined || areAscending(rows))) {
    const isWorth = ({ unknown, sets }: Lacking): boolean =>
      sets * COST.set + features.rows * (sets * COST.setRow + unknown * COST.columnRow) < byRows - bySets;
    // Sets that are kept are everybody's, and may be gone after a pause: what is done with them is one piece.
    if (predictByKeptSets(packed, asked, isWorth) || (yield* predictByBriefSets(packed, asked, isWorth)))
      return;
  }
  yield* predictByRows(packed, asked);
}
