/** Stored results against what the same cells give now: every number that is stored, and every row that was labelled. */
import type { Cell, CellResult } from "./cell.js";
import { compactFields } from "./compact-results.js";
import type { StoredCell } from "./store.js";

/** What cells are told apart by in a sample: the method, policy or model that they try. */
const sortOf = (cell: Cell): string => {
  switch (cell.kind) {
    case "acquire":
      return `acquire ${cell.task} ${cell.settings.method}`;
    case "design":
      return `design ${cell.policy} ${cell.objective}${cell.bestStatic === undefined ? "" : ", best found"}`;
    case "generalize":
      return `generalize ${cell.model}`;
    default:
      return cell.kind;
  }
};

/** So many of them: the fastest of every sort, then the second of every sort, and so on. */
export const sampleCells = (stored: readonly StoredCell[], count: number): readonly StoredCell[] => {
  const sorts = new Map<string, StoredCell[]>();
  for (const each of [...stored].sort((a, b) => a.seconds - b.seconds)) {
    const sort = sortOf(each.cell);
    sorts.set(sort, [...(sorts.get(sort) ?? []), each]);
  }
  const rounds = Math.max(0, ...[...sorts.values()].map(({ length }) => length));
  return Array.from({ length: rounds }, (_, round) =>
    [...sorts.values()].flatMap((own) => own.slice(round, round + 1)),
  )
    .flat()
    .slice(0, count);
};

/** Whether a result is the stored one, to the six digits that are stored; what is not stored was not measured then. */
export const isSameResult = ({ cell, result: stored }: StoredCell, result: CellResult): boolean => {
  const fields = (of: CellResult) => compactFields(cell.kind, of);
  const now = fields(JSON.parse(JSON.stringify(result)));
  return Object.entries(fields(stored)).every(([name, text]) => now[name] === text);
};
