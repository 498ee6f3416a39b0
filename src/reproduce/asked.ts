/** Who was asked in the acquisitions behind a table or figure, where their results say so. */
import { isBelowHalf } from "../fairness/composition.js";
import type { AcquireCell, AcquireResult, Cell, StoredShare } from "./cell.js";
import { describeCell } from "./describe-cell.js";
import type { Results } from "./store.js";
import { meanOverSeeds, type SeedMean } from "./verdict.js";

/** A group, or a group with an outcome: its share over seeds beside that of the candidates. */
export interface AskedShare {
  readonly group: string;
  readonly outcome?: string | undefined;
  readonly share: SeedMean;
  readonly population: number;
  /** Whether it is below half its share, and not by chance: the seeds together. */
  readonly belowHalf: boolean;
}

/** One way of asking on one task, by one attribute. */
export interface Asked {
  /** As in `describeCell`, without the seed. */
  readonly acquisition: string;
  readonly attribute: string;
  readonly groups: readonly AskedShare[];
  readonly cells: readonly AskedShare[];
}

const isAcquire = (cell: Cell): cell is AcquireCell => cell.kind === "acquire";

/** Cells that differ in nothing but their seed. */
const sameBut = ({ seed: _, ...rest }: AcquireCell): string => JSON.stringify(rest);

const total = (shares: readonly StoredShare[]): number => shares.reduce((sum, { count }) => sum + count, 0);

/** The same place of several seeds' shares. */
const overSeeds = (
  seeds: readonly (readonly (StoredShare & { readonly outcome?: string | undefined })[])[],
): readonly AskedShare[] =>
  seeds[0].flatMap(({ group, outcome }, at) => {
    const share = meanOverSeeds(
      seeds.map((own) => (total(own) === 0 ? undefined : own[at].count / total(own))),
    );
    if (share === undefined) return [];
    const population = seeds.reduce((sum, own) => sum + own[at].population / seeds.length, 0);
    const count = seeds.reduce((sum, own) => sum + own[at].count, 0);
    const all = seeds.reduce((sum, own) => sum + total(own), 0);
    return [{ group, outcome, share, population, belowHalf: isBelowHalf(count, all, population) }];
  });

/** Of those cells that are acquisitions and have a result with a composition, in their order. */
export const askedIn = (cells: readonly Cell[], results: Results): readonly Asked[] => {
  const byKind = new Map<string, { readonly cell: AcquireCell; readonly found: AcquireResult[] }>();
  for (const cell of cells.filter(isAcquire)) {
    const result = results.get(cell);
    if (result?.composition === undefined) continue;
    const key = sameBut(cell);
    const own = byKind.get(key) ?? { cell, found: [] };
    own.found.push(result);
    byKind.set(key, own);
  }
  return [...byKind.values()].flatMap(({ cell, found }) =>
    (found[0].composition ?? []).map(({ attribute }, a) => {
      const own = found.flatMap(({ composition }) => composition?.slice(a, a + 1) ?? []);
      return {
        acquisition: describeCell(cell),
        attribute,
        groups: overSeeds(own.map(({ groups }) => groups)),
        cells: overSeeds(own.map((each) => each.cells)),
      };
    }),
  );
};
