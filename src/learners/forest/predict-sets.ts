/** From trees and features to what every tree says, whole blocks of rows at a time: see `sets-kernel.ts`. */
import type { FeatureMatrix } from "../classifier.js";
import { type ConditionSets, type Lacking, MatrixSets, type Splits } from "./condition-sets.js";
import { type Asked, answerWords, type PackedTrees } from "./packed-trees.js";
import { BLOCK_BYTES, BLOCK_ROWS, bitOfRow, SETS, setScratch, wordOfRow } from "./sets-kernel.js";
import { treeCount } from "./trees.js";
import { forestWorkspace } from "./workspace.js";
import { withArrays } from "./workspace-arrays.js";

/** Blocks are done in parts whose answers have about this many bytes, but no fewer than two for each thread. */
const PART_BYTES = 2 ** 21;

/** What sets that are used once may need. */
const BRIEF_BYTES = 2 ** 22;

/** (1 - a, a, 1 - b, b) for the bits a + 2 b. */
const SURE = [0, 1, 2, 3].flatMap((bits) => [1 - (bits & 1), bits & 1, 1 - (bits >> 1), bits >> 1]);

/** Whether every row is after the one before it. */
export const areAscending = (rows: Int32Array): boolean => {
  for (let i = 1; i < rows.length; i++) if (rows[i] <= rows[i - 1]) return false;
  return true;
};

/**
 * The same answers as `predictByRows`, for rows in ascending order, by sets of this matrix that are kept; false, and
 * nothing done, where the sets that are lacking are not worth it or too many.
 */
export const predictByKeptSets = (
  packed: PackedTrees,
  asked: Asked,
  isWorth: (lacking: Lacking) => boolean = () => true,
  conditions: ConditionSets = forestWorkspace(asked.threads).conditions,
): boolean => {
  const splits = conditions.addresses(asked.features, splitsOf(packed), isWorth);
  if (splits === undefined) return false;
  predictBySets(packed, asked, splits);
  return true;
};

/** The same, by sets of a few blocks at a time, which are used once; false where they are not worth it. */
export function* predictByBriefSets(
  packed: PackedTrees,
  { features, rows, threads, take }: Asked,
  isWorth: (lacking: Lacking) => boolean = () => true,
  setBytes = BRIEF_BYTES,
): Generator<unknown, boolean> {
  const { workspace, predictingSets } = forestWorkspace(threads);
  const { columns } = features;
  const splits = splitsOf(packed);
  const none = new MatrixSets(workspace, predictingSets, 0);
  const lacking = none.count(none.look(splits).lacking);
  if (!isWorth(lacking)) return false;
  const ofBlock = lacking.sets * BLOCK_BYTES + lacking.columns * 4 * BLOCK_ROWS;
  const blocks = Math.max(2 * workspace.threads, Math.floor(setBytes / Math.max(1, ofBlock)));
  const most = Math.min(blocks * BLOCK_ROWS, features.rows);
  const total = rows?.length ?? features.rows;
  const sets = new MatrixSets(workspace, predictingSets, most);
  let addresses: Int32Array | undefined;
  try {
    for (let done = 0; done < total; ) {
      const first = rows?.[done] ?? done;
      const end = Math.min(first + most, features.rows);
      let part = 1;
      while (done + part < total && (rows?.[done + part] ?? done + part) < end) part++;
      const values = features.values.subarray(first * columns, end * columns);
      const own: FeatureMatrix = { values, rows: end - first, columns };
      if (addresses === undefined) addresses = sets.addressesOnce(own, splits);
      else sets.refill(own);
      const before = done;
      predictBySets(
        packed,
        {
          features: own,
          rows: rows?.subarray(done, done + part).map((row) => row - first),
          threads,
          take: (answers, from, count) => take(answers, before + from, count),
        },
        addresses,
      );
      done += part;
      yield;
    }
  } finally {
    sets.clear();
  }
  return true;
}

const splitsOf = ({ trees: { feature }, words }: PackedTrees): Splits => ({ feature, words });

/** Walks all trees, given the address of each split's set. */
const predictBySets = (
  packed: PackedTrees,
  { features, rows, threads, take }: Asked,
  splits: Int32Array,
): void => {
  const { workspace, predictingSets } = forestWorkspace(threads);
  const { trees, votes, levels } = packed;
  const { feature, right, starts, probabilities, classes } = trees;
  const count = treeCount(trees);
  const total = rows?.length ?? features.rows;
  const wide = answerWords(packed);
  const blocks = Math.ceil(features.rows / BLOCK_ROWS);
  const partBlocks = Math.min(
    blocks,
    Math.max(2 * workspace.threads, Math.floor(PART_BYTES / (4 * wide * BLOCK_ROWS))),
  );
  const own = setScratch(levels);
  withArrays(
    workspace,
    [
      SETS.bytes,
      8 * feature.length,
      4 * count,
      4 * probabilities.length,
      blocks * BLOCK_BYTES,
      4 * partBlocks * BLOCK_ROWS,
      4 * wide * (partBlocks * BLOCK_ROWS + 1),
      own.bytes * workspace.threads,
    ],
    ([job, nodesAt, rootsAt, probabilitiesAt, askedAt, placesAt, answersAt, scratch]) => {
      const nodes = workspace.words(nodesAt, 2 * feature.length);
      for (let i = 0; i < feature.length; i++) {
        nodes[2 * i] = splits[i];
        if (feature[i] >= 0) nodes[2 * i + 1] = nodesAt + 8 * right[i];
        else nodes[2 * i + 1] = leafAnswer(probabilities, classes, right[i], probabilitiesAt);
      }
      const roots = workspace.words(rootsAt, count);
      for (let t = 0; t < count; t++) roots[t] = nodesAt + 8 * starts[t];
      workspace.floats(probabilitiesAt, probabilities.length).set(probabilities);
      setAsked(workspace.words(askedAt, (blocks * BLOCK_BYTES) / 4), features.rows, rows);
      const description = workspace.words(job, SETS.bytes / 4);
      const set = (field: number, value: number) => {
        description[field / 4] = value;
      };
      set(SETS.trees, count);
      set(SETS.roots, rootsAt);
      set(SETS.asked, askedAt);
      set(SETS.places, placesAt);
      set(SETS.classes, classes);
      set(SETS.scratch, scratch);
      set(SETS.scratchBytes, own.bytes);
      set(SETS.nodeStack, own.nodeStack);
      workspace.floats(job + SETS.sure, SURE.length).set(SURE);
      const places = workspace.words(placesAt, partBlocks * BLOCK_ROWS);
      const answers = workspace.words(answersAt, wide * partBlocks * BLOCK_ROWS);
      // A place for the votes of rows that are not asked for, after all others.
      const nowhere = votes ? answersAt + 4 * answers.length : 0;
      for (let block = 0, done = 0; done < total; block += partBlocks) {
        const first = block * BLOCK_ROWS;
        places.fill(nowhere);
        let part = 0;
        for (; done + part < total; part++) {
          const place = (rows?.[done + part] ?? done + part) - first;
          if (place >= places.length) break;
          places[place] = answersAt + 4 * wide * part;
        }
        if (part === 0) continue;
        set(SETS.firstBlock, block);
        predictingSets.run(votes ? "votes" : "dense", job, Math.min(partBlocks, blocks - block));
        take(answers.subarray(0, part * wide), done, part);
        done += part;
      }
    },
  );
};

/** The class of two that a leaf is sure of, or where its probabilities are. */
const leafAnswer = (
  probabilities: Float32Array,
  classes: number,
  leaf: number,
  probabilitiesAt: number,
): number => {
  const [p0, p1] = [probabilities[classes * leaf], probabilities[classes * leaf + 1]];
  if (classes === 2 && ((p0 === 0 && p1 === 1) || (p0 === 1 && p1 === 0))) return p1;
  return probabilitiesAt + 4 * classes * leaf;
};

const setAsked = (words: Int32Array, total: number, rows: Int32Array | undefined): void => {
  const whole = rows === undefined ? total - (total % 128) : 0;
  words.fill(-1, 0, whole / 32);
  const count = rows?.length ?? total;
  for (let i = whole; i < count; i++) {
    const row = rows?.[i] ?? i;
    words[wordOfRow(row)] |= 1 << bitOfRow(row);
  }
};
