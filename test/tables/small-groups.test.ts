import { describe, expect, test } from "vitest";
import { leftOutTexts } from "../../src/core/left-out.js";
import { applyRule, mergesGroups } from "../../src/tables/label.js";
import { smallGroupTexts } from "../../src/tables/small-groups.js";
import { tableOf } from "../../src/tables/table-of.js";
import { defineTask, intersectionOf } from "../../src/tables/task.js";

/** a: 60, b: 40, c: 8, d: 6, e: 2 rows. */
const groups = [..."a".repeat(60), ..."b".repeat(40), ..."c".repeat(8), ..."d".repeat(6), ..."e".repeat(2)];
const table = tableOf(
  groups.map((race, i) => ({ race, sex: i % 2 === 0 ? "f" : "m", x: i % 7, y: i % 3 === 0 ? "yes" : "no" })),
);
const roles = { target: "y=yes", sensitive: ["race"], features: ["x"] };
const countOf = (labels: Int32Array, place: number) => labels.filter((label) => label === place).length;

describe("groups of fewer rows than were asked for", () => {
  test("are all kept where nothing was asked for", () => {
    const task = defineTask(table, roles);
    expect(task.sensitive[0].classes).toEqual(["a", "b", "c", "d", "e"]);
    expect(task.leftOut).toEqual([]);
  });

  test("are merged, and the names of rare ones stay hidden", () => {
    const task = defineTask(table, { ...roles, minGroup: 10 });
    const [{ classes, labels, rule }] = task.sensitive;
    expect(classes).toEqual(["a", "b", "other"]);
    expect([0, 1, 2].map((place) => countOf(labels, place))).toEqual([60, 40, 16]);
    expect(task.leftOut).toEqual([]);
    expect(task.notes).toContain(smallGroupTexts.merged("race", ["c", "d"], 3, 10, "other"));
    expect(task.notes.join()).not.toContain('"e"');
    expect(mergesGroups(rule)).toBe(true);
    // A group that the table did not have is an other one, what is missing stays so.
    expect([...applyRule(rule, tableOf([{ race: "z" }, { race: null }, { race: "a" }]))]).toEqual([2, -1, 0]);
  });

  test("are left out with their names, rows and reason, those of rare ones together", () => {
    const task = defineTask(table, { ...roles, minGroup: 10, smallGroups: "leave-out" });
    const [{ classes, labels }] = task.sensitive;
    expect(classes).toEqual(["a", "b"]);
    expect(labels.filter((label) => label < 0)).toHaveLength(16);
    const reason = leftOutTexts.fewerThan(10);
    expect(task.leftOut).toEqual([
      { attribute: "race", name: "c", rows: 8, reason },
      { attribute: "race", name: "d", rows: 6, reason },
      { attribute: "race", name: "a group of fewer than 5 rows", rows: 2, reason },
    ]);
    for (const each of task.leftOut) expect(task.notes).toContain(leftOutTexts.note(each));
  });

  test("are left out where even together they are too few, or there is only one", () => {
    expect(defineTask(table, { ...roles, minGroup: 20 }).leftOut).toHaveLength(3);
    expect(defineTask(table, { ...roles, minGroup: 5 }).leftOut).toHaveLength(1);
  });

  test("an existing group called other keeps its name", () => {
    const named = tableOf(
      groups.map((race, i) => ({ race: race === "a" ? "other" : race, x: i % 7, y: i % 3 })),
    );
    const task = defineTask(named, { ...roles, target: "y=1", minGroup: 10 });
    expect(task.sensitive[0].classes).toEqual(["b", "other", "other groups"]);
  });

  test("fewer than two that are large enough is one sentence", () => {
    for (const minGroup of [61, 50])
      expect(() => defineTask(table, { ...roles, minGroup, smallGroups: "leave-out" })).toThrow(
        smallGroupTexts.fewGroups("race", minGroup),
      );
    expect(() => defineTask(table, { ...roles, sensitive: ["race=a"], minGroup: 58 })).toThrow(
      smallGroupTexts.fewGroups("race=a", 58),
    );
    for (const minGroup of [0, 1.5, Number.NaN])
      expect(() => defineTask(table, { ...roles, minGroup })).toThrow(smallGroupTexts.minGroup(minGroup));
  });

  test("the intersection of attributes has groups of that size too", () => {
    const task = defineTask(table, { ...roles, sensitive: ["race", "sex"], minGroup: 9 });
    const all = intersectionOf(task);
    expect(all?.label.classes).toEqual(["a and f", "a and m", "b and f", "b and m", "other"]);
    expect(countOf(all?.label.labels ?? new Int32Array(), 4)).toBe(16);
  });
});
