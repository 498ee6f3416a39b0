import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { examplePeople } from "../../src/tables/example-people.js";
import { suggestedRoleTexts, suggestRoles } from "../../src/tables/suggest-roles.js";
import { columnOfNumbers, columnOfTexts, tableOfColumns } from "../../src/tables/table.js";
import { tableOf } from "../../src/tables/table-of.js";
import { defineTask } from "../../src/tables/task.js";

const rows = (count: number, of: (i: number) => Record<string, string | number | boolean | Date | null>) =>
  tableOf(Array.from({ length: count }, (_, i) => of(i)));

describe("roles that are suggested", () => {
  test("are those of the example", () => {
    const { table, settings } = examplePeople();
    const { reasons, ...roles } = suggestRoles(table);
    expect(roles).toEqual(settings);
    expect(reasons).toEqual([
      suggestedRoleTexts.targetOfTwo("hired"),
      suggestedRoleTexts.sensitiveByName("sex", 2),
      suggestedRoleTexts.idByName("id"),
    ]);
    expect(reasons[0]).toBe("hired looks like the target: it has two values");
  });

  test("of the columns of well-known tables", () => {
    const census = rows(200, (i) => ({
      age: 17 + (i % 60),
      workclass: ["Private", "State-gov"][i % 2],
      fnlwgt: 1000 + ((i * 37) % 150),
      "marital-status": ["Divorced", "Never-married", "Widowed"][i % 3],
      race: ["White", "Black", "Other"][i % 3],
      sex: ["Female", "Male"][i % 2],
      "native-country": ["Cuba", "India"][i % 2],
      income: i % 4 === 0 ? ">50K" : "<=50K",
    }));
    expect(suggestRoles(census)).toMatchObject({
      target: "income=>50K",
      sensitive: ["age>=40", "marital-status", "race", "sex", "native-country"],
      id: undefined,
    });
    const convictions = rows(120, (i) => ({
      id: 100 + ((i * 7) % 120),
      name: `person ${i}`,
      sex: ["Female", "Male"][i % 2],
      age_cat: ["25 - 45", "Greater than 45", "Less than 25"][i % 3],
      race: ["Asian", "Hispanic"][i % 2],
      decile_score: i % 10,
      two_year_recid: i % 3 === 0 ? 1 : 0,
    }));
    expect(suggestRoles(convictions)).toMatchObject({
      target: "two_year_recid=1",
      sensitive: ["sex", "age_cat", "race"],
      id: "id",
    });
    const credit = rows(60, (i) => ({
      duration: i % 30,
      account_age: i % 20,
      PersonalStatus: ["A91", "A92"][i % 2],
      foreignWorker: ["A201", "A202"][i % 2],
      creditRisk: 1 + (i % 2),
    }));
    expect(suggestRoles(credit)).toMatchObject({ target: "creditRisk=2", sensitive: ["foreignWorker"] });
  });

  test("by what is in the columns", () => {
    const plain = rows(80, (i) => ({
      no: i + 1,
      a: i % 40,
      b: ["f", "m", "x"][i % 3],
      c: ["failed", "passed"][i % 2],
    }));
    expect(suggestRoles(plain)).toEqual({
      target: "c=passed",
      sensitive: ["b"],
      id: "no",
      reasons: [
        suggestedRoleTexts.lastOfTwo("c"),
        suggestedRoleTexts.sensitiveByValues("b"),
        suggestedRoleTexts.idByCount("no"),
      ],
    });
    const texts = rows(80, (i) => ({ who: `person ${i}`, grade: i % 5, outcome: ["a", "b", "c"][i % 3] }));
    expect(suggestRoles(texts)).toEqual({
      target: "outcome",
      sensitive: [],
      id: "who",
      reasons: [suggestedRoleTexts.targetOfFew("outcome", 3), suggestedRoleTexts.idByTexts("who")],
    });
    const quantity = rows(80, (i) => ({ sex: i % 2, income: 1000 * i }));
    expect(suggestRoles(quantity)).toMatchObject({ target: "income>=40000", sensitive: ["sex"] });
  });

  test.each([
    ["approved", ["no", "yes"], "approved=yes"],
    ["label", ["yes", "zero"], "label=yes"],
    ["outcome", ["hired", "not hired"], "outcome=hired"],
    ["class", ["bad", "good"], "class=good"],
    ["income", ["- 50000.", "50000+."], "income=50000+."],
    ["default", ["default", "paid"], "default=default"],
    // Neither says which is meant: the rarer one.
    ["result", ["apple", "pear"], "result=pear"],
  ])("%s of %j is %s", (name, [first, second], expected) => {
    const table = rows(60, (i) => ({ x: i % 7, [name]: i % 3 === 0 ? second : first, z: i % 5 }));
    expect(suggestRoles(table).target).toBe(expected);
  });

  test("name no value that few people have, and nothing where nothing looks like it", () => {
    const few = rows(60, (i) => ({ x: i % 7, hired: i < 3 ? "yes" : "no" }));
    expect(suggestRoles(few).target).toBe("hired");
    const none = rows(60, (i) => ({ message: i % 7, percentage: i % 11 }));
    expect(suggestRoles(none)).toEqual({ target: undefined, sensitive: [], id: undefined, reasons: [] });
    expect(suggestRoles(tableOfColumns([]))).toMatchObject({ target: undefined, sensitive: [] });
    // Of one value, all missing, or a date: nothing to part.
    const useless = rows(60, (i) => ({
      sex: "f",
      race: null,
      age: new Date(86_400_000 * i),
      x: i % 9,
      outcome: "yes",
    }));
    expect(suggestRoles(useless)).toMatchObject({ target: undefined, sensitive: [] });
  });

  test("can be given to a task, whatever the table is", () => {
    const name = fc.oneof(
      fc.constantFrom("sex", "age", "race", "hired", "income", "id", "y", "a", "a=b", "hired=yes", "age>=2"),
      fc.string({ maxLength: 6 }),
    );
    const cell = fc.option(
      fc.oneof(fc.constantFrom("yes", "no", "f", "m", "=", ">=1", " x"), fc.string({ maxLength: 4 })),
      { nil: undefined },
    );
    const number = fc.oneof(fc.constantFrom(0, 1, 2, Number.NaN), fc.double({ noDefaultInfinity: true }));
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 60 }).chain((count) => {
          const exactly = { minLength: count, maxLength: count };
          return fc.uniqueArray(
            fc.tuple(name, fc.oneof(fc.array(cell, exactly), fc.array(number, exactly))),
            { selector: ([each]) => each, minLength: 1, maxLength: 6 },
          );
        }),
        (given) => {
          const table = tableOfColumns(
            given.map(([each, cells]) =>
              cells.every((value) => typeof value === "number")
                ? columnOfNumbers(each, cells)
                : columnOfTexts(
                    each,
                    cells.map((value) => (value === undefined ? undefined : String(value))),
                  ),
            ),
          );
          const { target, sensitive, id, reasons } = suggestRoles(table);
          const roles = [target, id].filter((role) => role !== undefined).length + sensitive.length;
          expect(reasons).toHaveLength(roles);
          if (target === undefined) return;
          const extra = columnOfNumbers(
            "one more",
            Array.from({ length: table.rows }, (_, i) => i),
          );
          const columns = [...table.columns, extra];
          const settings = { target, sensitive, id };
          if (table.rows > 1) defineTask({ ...table, columns }, settings, { sensitiveElsewhere: true });
        },
      ),
      { numRuns: 300 },
    );
  });
});
