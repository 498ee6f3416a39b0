import { describe, expect, test } from "vitest";
import { repeatedIds, repeatedIdTexts } from "../../src/tables/repeated-ids.js";
import { tableOf } from "../../src/tables/table-of.js";
import { defineTask, taskTexts } from "../../src/tables/task.js";
import { rankTexts } from "../../src/workflows/rank-plan.js";
import { rankPool } from "../../src/workflows/rank-pool.js";

const person = (id: string, i: number, y: string | null) => ({
  id,
  x: i % 7,
  sex: i % 2 === 0 ? "f" : "m",
  y,
});
const labelled = Array.from({ length: 40 }, (_, i) => person(`p${i}`, i, i % 3 === 0 ? "yes" : "no"));
const pool = Array.from({ length: 20 }, (_, i) => person(`q${i}`, i, null));
const roles = { target: "y=yes", sensitive: ["sex"], id: "id" };
const ranking = (rows: typeof labelled) => ({
  ...roles,
  labelled: tableOf(rows),
  top: 3,
  forest: { trees: 5 },
});

describe("an id that is labelled twice", () => {
  const other = (i: number) => ({ ...labelled[i], y: labelled[i].y === "yes" ? "no" : "yes" });
  const twoWays = [...labelled, other(3), other(4), other(4), labelled[5]];

  test("is counted, by whether the labels differ", () => {
    const table = tableOf(twoWays);
    const { target } = defineTask(table, { ...roles, id: undefined, exclude: ["id"] });
    expect(repeatedIds(table, "id", target.labels)).toEqual({ repeated: 3, conflicting: 2 });
  });

  test("in two ways is refused wherever rows have ids, by how many they are and not by name", async () => {
    const text = repeatedIdTexts.conflict("id", 2, "y=yes");
    expect(text).not.toContain("p3");
    expect(() => defineTask(tableOf(twoWays), roles)).toThrow(text);
    await expect(rankPool(tableOf(pool), ranking(twoWays))).rejects.toThrow(text);
  });

  test("in the same way is said by a ranking, and refused where a row is a person", async () => {
    const again = [...labelled, labelled[5], { ...labelled[6], y: null }];
    const { notes } = await rankPool(tableOf(pool), ranking(again));
    expect(notes).toContain(repeatedIdTexts.repeated("id", 2));
    expect(() => defineTask(tableOf(again), roles)).toThrow(taskTexts.idTwice("id", 5, 40));
  });
});

test("a pool that labels a labelled person otherwise is said to", async () => {
  const both = [
    ...pool,
    { ...labelled[1], y: "yes" },
    { ...labelled[3], y: "yes" },
    { ...labelled[2], y: null },
  ];
  const { notes } = await rankPool(tableOf(both), ranking(labelled));
  expect(notes.slice(0, 2)).toEqual([rankTexts.done(3), rankTexts.otherLabel(1, "y=yes")]);
});
