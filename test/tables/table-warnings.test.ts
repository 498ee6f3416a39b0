import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { seededStream } from "../../src/core/random.js";
import { examplePeople } from "../../src/tables/example-people.js";
import { tableOf } from "../../src/tables/table-of.js";
import { tableWarnings, tableWarningTexts } from "../../src/tables/table-warnings.js";
import { defineTask } from "../../src/tables/task.js";
import { tellingTexts } from "../../src/tables/telling-columns.js";

type Cells = Record<string, string | number | null>;

const people = (rows: number, more: (i: number, y: number, s: number) => Cells) => {
  const stream = seededStream(5);
  return tableOf(
    Array.from({ length: rows }, (_, i) => {
      const y = stream.uniform() < 0.4 ? 1 : 0;
      const s = stream.uniform() < 0.5 ? 1 : 0;
      return { x: stream.integer(9), y, s: s === 1 ? "f" : "m", ...more(i, y, s) };
    }),
  );
};
const roles = { target: "y=1", sensitive: ["s"] };

describe("warnings about a table", () => {
  test("are none where all is well", () => {
    const { table, settings } = examplePeople();
    expect(tableWarnings(table, settings)).toEqual([]);
    expect(
      tableWarnings(
        people(400, () => ({})),
        roles,
      ),
    ).toEqual([]);
  });

  test("name columns that nearly are the target or an attribute, as the notes of a task do", () => {
    const table = people(400, (_, y, s) => ({ again: y, title: s === 1 ? "Ms" : "Mr" }));
    const { notes, target, sensitive } = defineTask(table, roles);
    const most = (labels: Int32Array) => {
      const ones = labels.filter((label) => label === 1).length / labels.length;
      return { right: 1, mostFrequent: Math.max(ones, 1 - ones) };
    };
    const [outcome, attribute] = [most(target.labels), most(sensitive[0].labels)];
    expect(notes).toEqual([
      tellingTexts.target("again", "y=1", outcome),
      tellingTexts.sensitive("title", "s", attribute),
    ]);
    const warnings = tableWarnings(table, roles);
    expect(warnings).toEqual([
      {
        column: "again",
        kind: "nearly-target",
        text: tableWarningTexts.nearlyTarget("again", "y=1", outcome),
      },
      {
        column: "title",
        kind: "nearly-sensitive",
        text: tableWarningTexts.nearlySensitive("title", "s", attribute),
      },
    ]);
    // A page has no options to give.
    for (const { text } of warnings) expect(text).not.toContain("--");
  });

  test("name small groups, unless so few people have them that it would say who they are", () => {
    const race = (i: number) => (i < 12 ? "Other" : i < 15 ? "Rare" : i < 17 ? "Rarer" : i % 2 ? "A" : "B");
    const table = people(400, (i) => ({ race: race(i), age: i < 20 ? 80 : 30 + (i % 30) }));
    const warnings = tableWarnings(table, { target: "y=1", sensitive: ["race", "age>=70"] });
    expect(warnings).toEqual([
      { column: "race", kind: "small-group", text: tableWarningTexts.smallGroup("race = Other", 12) },
      { column: "race", kind: "small-group", text: tableWarningTexts.rareGroups("race", 2) },
      { column: "age", kind: "small-group", text: tableWarningTexts.smallGroup("age >=70", 20) },
    ]);
    expect(warnings[0].text).toMatch(/^only 12 rows have race = Other: /);
    expect(JSON.stringify(warnings)).not.toContain("Rare");
  });

  test("and values of the target that are", () => {
    const table = people(200, (i) => ({ won: i < 12 ? "yes" : "no", lost: i < 2 ? "yes" : "no" }));
    expect(tableWarnings(table, { target: "won=yes", sensitive: ["s"] })).toEqual([
      { column: "won", kind: "small-group", text: tableWarningTexts.smallClass("won = yes", 12) },
    ]);
    expect(tableWarnings(table, { target: "lost=yes", sensitive: ["s"] })).toEqual([
      { column: "lost", kind: "small-group", text: tableWarningTexts.rareClasses("lost=yes", 1) },
    ]);
  });

  test("say where many values are missing", () => {
    const table = people(400, (i, y, s) => ({
      y: i % 2 === 0 ? null : y,
      s: i % 4 === 0 ? null : s === 1 ? "f" : "m",
      town: i % 3 === 0 ? null : `town ${i % 20}`,
      size: i % 6 === 0 ? null : i % 50,
      pay: i % 5 === 0 ? null : i % 50,
    }));
    expect(tableWarnings(table, roles)).toEqual([
      { column: "y", kind: "missing", text: tableWarningTexts.missingTarget("y", 200, 400) },
      { column: "s", kind: "missing", text: tableWarningTexts.missingSensitive("s", 100, 400) },
      { column: "town", kind: "missing", text: tableWarningTexts.missingFeature("town", 134, 400) },
      { column: "pay", kind: "missing", text: tableWarningTexts.missingFeature("pay", 80, 400) },
    ]);
  });

  test("say which columns are of no use, and which nearly name the row", () => {
    const table = people(400, (i) => ({
      land: "Norway",
      nothing: null,
      comment: `so many words ${i}`,
      id: `p${i}`,
    }));
    const useless = [
      { column: "land", kind: "one-value", text: tableWarningTexts.constant("land") },
      { column: "nothing", kind: "one-value", text: tableWarningTexts.empty("nothing") },
    ];
    const text = tableWarningTexts.ownTextsLeftOut("comment", 400, 400);
    expect(tableWarnings(table, { ...roles, id: "id" })).toEqual([
      ...useless,
      { column: "comment", kind: "free-text", text },
    ]);
    const used = tableWarningTexts.ownTextsUsed("comment", 400, 400);
    expect(tableWarnings(table, { ...roles, id: "id", keep: ["comment"] })).toContainEqual({
      column: "comment",
      kind: "free-text",
      text: used,
    });
    expect(tableWarnings(table, { ...roles, exclude: ["comment", "id"] })).toEqual(useless);
    expect(tableWarnings(table, { ...roles, features: ["x"] })).toEqual([]);
  });

  test("throw where the roles do not fit the table", () => {
    const table = people(100, () => ({}));
    expect(() => tableWarnings(table, { ...roles, target: "z" })).toThrow('no column "z"');
  });

  test("are sentences about columns that are there, and name no value of few rows", () => {
    const word = fc.constantFrom("alpha", "beta", "gamma", "delta", null);
    fc.assert(
      fc.property(fc.array(fc.tuple(word, word, word), { minLength: 2, maxLength: 120 }), (rows) => {
        const table = tableOf(
          rows.map(([one, other, third], i) => ({ x: i % 7, one, other, third, y: i % 2, s: i % 3 })),
        );
        for (const { column, text } of tableWarnings(table, { target: "y=1", sensitive: ["s"] })) {
          expect(table.columns.map(({ name }) => name)).toContain(column);
          expect(text).toMatch(/^\S.*\.$/);
        }
        const count = (name: string) => rows.filter(([one]) => one === name).length;
        const there = ["alpha", "beta", "gamma", "delta"].filter((name) => count(name) > 0);
        if (there.length < 2) return;
        const texts = JSON.stringify(tableWarnings(table, { target: "y=1", sensitive: ["one"] }));
        for (const name of there) if (count(name) < 5) expect(texts).not.toContain(name);
      }),
    );
  });
});
