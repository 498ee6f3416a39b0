import { describe, expect, test } from "vitest";
import { tableOf } from "../../src/tables/table-of.js";
import { defineTask } from "../../src/tables/task.js";
import { rejectTable } from "../../src/workflows/mitigate.js";
import { mitigationSplitTexts, privilegedGroup } from "../../src/workflows/mitigation-split.js";

/** `[group, rows, favourable]`: the favourable ones first. */
const people = (groups: readonly (readonly [string, number, number])[]) =>
  tableOf(
    groups.flatMap(([race, rows, favourable]) =>
      Array.from({ length: rows }, (_, i) => ({ race, x: i % 7, good: i < favourable ? "yes" : "no" })),
    ),
  );

const chosen = (groups: readonly (readonly [string, number, number])[], given?: string) => {
  const { target, sensitive } = defineTask(people(groups), { target: "good=yes", sensitive: ["race"] });
  const notes: string[] = [];
  const rows = Int32Array.from(target.labels.keys());
  const place = privilegedGroup(sensitive[0], target.labels, rows, given, notes);
  return { name: sensitive[0].classes[place], notes };
};

describe("the privileged group", () => {
  test("is not one of a few rows, as of 18 in 1218, and that is said", () => {
    const { name, notes } = chosen([
      ["a", 700, 280],
      ["b", 500, 300],
      ["c", 18, 16],
    ]);
    expect(name).toBe("b");
    expect(notes).toEqual([mitigationSplitTexts.passedOver("b", 1)]);
  });

  test("is the most favoured where all are large enough, and nothing is said", () => {
    const { name, notes } = chosen([
      ["a", 700, 280],
      ["b", 500, 300],
      ["c", 100, 90],
    ]);
    expect(name).toBe("c");
    expect(notes).toEqual([]);
  });

  test("is the one that is named, however small", () => {
    expect(
      chosen(
        [
          ["a", 700, 280],
          ["b", 500, 300],
          ["c", 18, 2],
        ],
        "c",
      ),
    ).toEqual({ name: "c", notes: [] });
  });

  test("is one of many small groups where there are no others", () => {
    const many = Array.from({ length: 30 }, (_, g) => [`g${g}`, 20, g === 7 ? 19 : 8] as const);
    expect(chosen(many).name).toBe("g7");
  });

  test("and what was left out is in the result of a mitigation", async () => {
    const table = people([
      ["a", 120, 40],
      ["b", 90, 60],
      ["c", 12, 11],
    ]);
    const roles = { target: "good=yes", sensitive: ["race"], trees: 5, minGroup: 20 };
    const { privileged, leftOut, notes } = await rejectTable(table, roles);
    expect(privileged).toBe("b");
    expect(leftOut).toEqual([{ attribute: "race", name: "c", rows: 12, reason: "fewer than 20 rows" }]);
    expect(notes.join()).toContain("left out of race: c");
  });
});
