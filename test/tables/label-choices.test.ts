/** What a menu offers of a column: every choice is one that the table takes, and is about that column. */
import { expect, test } from "vitest";
import { chooseLabel, columnOfChoice } from "../../src/tables/label.js";
import { labelChoices } from "../../src/tables/label-choices.js";
import { tableOf } from "../../src/tables/table-of.js";

const ODD = "eingestellt? <b>ja</b>";
const table = tableOf(
  Array.from({ length: 400 }, (_, i) => ({
    balance: i === 0 ? 100_000 : (i * 37) % 900,
    grade: i % 4,
    job: `job ${i % 12}`,
    words: ['a "q", b0', "b=c", "d>=5"][i % 3],
    rare: i < 2 ? "one of a kind" : i % 2 === 0 ? "x" : "y",
    [ODD]: i % 2 === 0 ? "ja" : "nein",
    empty: null,
    same: 1,
  })),
);
const choicesOf = (name: string) =>
  labelChoices(table.columns.find((column) => column.name === name) as never);

test("a quantity is parted in its middle and at its quarters, whatever its range", () => {
  const thresholds = choicesOf("balance").map((choice) => Number(choice.split(">=")[1]));
  expect(thresholds).toHaveLength(3);
  expect(thresholds[0]).toBeGreaterThan(300);
  expect(thresholds[0]).toBeLessThan(600);
  expect(thresholds[1]).toBeCloseTo(225, -2);
  expect(thresholds[2]).toBeCloseTo(675, -2);
});

test("values are whole, all of them are there, and those of few rows are not named", () => {
  expect(choicesOf("job")).toHaveLength(13);
  expect(choicesOf("words")).toEqual(['words=a "q", b0', "words=b=c", "words=d>=5", "words"]);
  expect(choicesOf("grade")).toEqual(["grade=0", "grade=1", "grade=2", "grade=3", "grade"]);
  expect(choicesOf("rare").join()).not.toContain("one of a kind");
  expect(choicesOf("empty")).toEqual([]);
});

test("every choice is about its own column and is one that the table takes", () => {
  const names = new Set(table.columns.map(({ name }) => name));
  for (const column of table.columns.filter(({ name }) => name !== "same")) {
    for (const choice of labelChoices(column)) {
      expect(columnOfChoice(choice, names)).toBe(column.name);
      expect(chooseLabel(table, choice).rule).toMatchObject({ column: column.name });
    }
  }
});
