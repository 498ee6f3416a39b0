/** Committed results, computed again: `node scripts/verify-results.mjs 100` does more of it, and takes longer. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { reproductionsNamed } from "../../src/reproduce/catalogue.js";
import { acquisitionOf, type Cell, type CellKind } from "../../src/reproduce/cell.js";
import { cellJobs } from "../../src/reproduce/cell-jobs.js";
import { runCell } from "../../src/reproduce/run-cell.js";
import { ResultStore, type StoredCell } from "../../src/reproduce/store.js";
import { isSameResult, sampleCells } from "../../src/reproduce/verify-cells.js";
import { describeWithData } from "../setup/data.js";
import { ROOT } from "../setup/dist.js";

const LONG = 240_000;
const store = ResultStore.read(join(ROOT, "results"));

const storedOf = (names: readonly string[], which: (cell: Cell) => boolean): readonly StoredCell[] => {
  const cells = reproductionsNamed(names).flatMap((each) => each.cells({ quick: false }));
  return cells.filter(which).flatMap((cell) => store.find(cell) ?? []);
};
const nameOf = ({ cell }: StoredCell): string => `${cell.kind}, ${cellJobs.describe(cell).name}`;
/** The fastest of each model or method. */
const fastest = (names: readonly string[], count: number, which: (cell: Cell) => boolean) =>
  sampleCells(storedOf(names, which), count).map((stored) => [nameOf(stored), stored] as const);
const ofKind = (kind: CellKind) => (cell: Cell) => cell.kind === kind;

const again = (cell: Cell, root?: string) => {
  const before = acquisitionOf(cell);
  const acquired = before === undefined ? undefined : store.get(before);
  return runCell(cell, { acquired, root });
};

describe("a stored design", () => {
  const cells = fastest(["table-location"], 1, ofKind("design"));
  test.each(cells)(
    "%s, comes out the same",
    async (_, stored) => {
      expect(isSameResult(stored, await again(stored.cell))).toBe(true);
    },
    LONG,
  );

  test("is not the same where one number is another", async () => {
    const [[, stored]] = cells;
    const { target, ...rest } = store.get(stored.cell as Extract<Cell, { kind: "design" }>) ?? {
      target: [0, 0] as const,
    };
    const changed = { ...rest, target: [target[0] * (1 + 1e-5), target[1]] } as typeof stored.result;
    expect(isSameResult(stored, stored.result)).toBe(true);
    expect(isSameResult(stored, changed)).toBe(false);
  });
});

describeWithData("stored results", ["students-dropout", "census-income-kdd"], (data) => {
  const judged = [
    ...fastest(["fig-generalization-students"], 4, ofKind("generalize")),
    ...fastest(["fig-lfr-students"], 1, ofKind("representation")),
    ...fastest(["table-roc-census"], 1, ofKind("reject-option")),
  ];
  const students = (cell: Cell) => cell.kind === "acquire" && cell.task === "students";
  const [random, ...others] = fastest(["table-ratios"], 5, students);

  test("have one of every kind among them", () => {
    expect(judged).toHaveLength(6);
    expect(random[0]).toMatch(/students random/);
    expect(others).toHaveLength(4);
  });

  test.each([...judged, random, ...others])(
    "%s, comes out the same",
    async (_, stored) => {
      expect(isSameResult(stored, await again(stored.cell, data))).toBe(true);
    },
    LONG,
  );
});
