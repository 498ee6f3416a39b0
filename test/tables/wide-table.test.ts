import { expect, test } from "vitest";
import { describeTable } from "../../src/tables/describe-table.js";
import { fitEncoder } from "../../src/tables/encoder.js";
import { appendRows, columnOfNumbers, columnOfTexts, tableOfColumns } from "../../src/tables/table.js";
import { defineTask } from "../../src/tables/task.js";

/** To look for each of so many columns among all would take a hundred times as long as this limit is far away. */
const COLUMNS = 40_000;
const LIMIT_MS = 10_000;

test("the work on a wide table grows with its columns, not with their square", () => {
  const wide = tableOfColumns([
    ...Array.from({ length: COLUMNS }, (_, c) =>
      columnOfNumbers(`a column with the number ${c}`, [c, 1, 2, 3]),
    ),
    columnOfTexts("sex", ["f", "m", "m", "f"]),
    columnOfTexts("y", ["no", "yes", "yes", "no"]),
  ]);
  const started = performance.now();
  const task = defineTask(appendRows(wide, wide), { target: "y=yes", sensitive: ["sex"] });
  expect(fitEncoder(task).encode(task.table).columns).toBe(task.features.length);
  expect(describeTable(task.table).columns).toHaveLength(COLUMNS + 2);
  expect(performance.now() - started).toBeLessThan(LIMIT_MS);
});
