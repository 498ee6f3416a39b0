/** From rows that are asked for to candidates that a person sees, and from their ids back to rows. */
import { informationParts, type StrategyName } from "../active/strategy-names.js";
import { InputError } from "../core/errors.js";
import { columnCell, columnNamed } from "../tables/table.js";
import type { Task } from "../tables/task.js";
import type { AskedRow } from "./row-session.js";

/** One to be asked for, with why. */
export interface Candidate {
  /** From the id column, else the number of the row. */
  readonly id: string | number;
  /** Its row in the table, from 0. */
  readonly row: number;
  /** What candidates are chosen by, without cost: target - beta * leakage for the methods of FairBED. */
  readonly score: number;
  /** In nats, what the label tells about the target; null where the method's score is no information. */
  readonly target: number | null;
  /** In nats, what it gives away; null where the method does not look at it. */
  readonly leakage: number | null;
  /** What its label costs; 0 unless costs are given. */
  readonly cost: number;
  /** 1 for the first that was ever asked for. */
  readonly rank: number;
  /** Why it is asked for: by its score, or drawn at random. */
  readonly reason: "score" | "random";
  /** With which it was drawn among all that were left; null where it was chosen. */
  readonly probability: number | null;
  /** Its features, by column; null where missing. */
  readonly values: Readonly<Record<string, string | number | null>>;
}

export const candidateTexts = {
  id: "there is no row with the id that was given: give the id of a candidate, or of a row of the table",
};

/** From an id as anyone may write it to its row, and back. */
const rowFinder = ({
  table,
  id,
}: Task): { idOf(row: number): string | number; rowOf(id: string | number): number } => {
  if (id === undefined) {
    return {
      idOf: (row) => row,
      rowOf: (given) => (String(given).trim() === "" ? -1 : Number(given)),
    };
  }
  const cell = columnCell(columnNamed(table, id));
  const rows = new Map(Array.from({ length: table.rows }, (_, row) => [String(cell(row)), row]));
  return { idOf: (row) => cell(row) ?? row, rowOf: (given) => rows.get(String(given)) ?? -1 };
};

export interface CandidateReader {
  candidateOf(asked: AskedRow): Candidate;
  /** The row of a candidate or an id; throws where there is none. */
  rowOf(given: Candidate | string | number): number;
}

export const candidateReader = (task: Task, method: StrategyName): CandidateReader => {
  const { table } = task;
  const { idOf, rowOf } = rowFinder(task);
  const features = task.features.map((name) => [name, columnCell(columnNamed(table, name))] as const);
  return {
    candidateOf: ({ drawn, row, ...each }) => ({
      id: idOf(row),
      row,
      score: each.score,
      ...informationParts(drawn ? "random" : method, each),
      cost: each.cost,
      rank: each.rank,
      reason: drawn || method === "random" ? "random" : "score",
      probability: each.probability ?? null,
      values: Object.fromEntries(features.map(([name, cell]) => [name, cell(row) ?? null])),
    }),
    rowOf: (given) => {
      const row = typeof given === "object" ? given.row : rowOf(given);
      if (!Number.isInteger(row) || row < 0 || row >= table.rows) {
        throw new InputError("id", candidateTexts.id);
      }
      return row;
    },
  };
};
