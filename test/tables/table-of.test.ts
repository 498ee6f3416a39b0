import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseTable } from "../../src/tables/parse-table.js";
import { type TableRecord, tableOf, tableOfTexts, toRecords } from "../../src/tables/table-of.js";
import { cells } from "../sources/files.js";

const column = (values: readonly unknown[]) => {
  const [only] = tableOf(values.map((value) => ({ value })) as unknown as TableRecord[]).columns;
  return [only.kind, cells(only)];
};

describe("tableOf", () => {
  it.each([
    ["numbers", [1, -2.5, null, undefined, Number.NaN], ["numeric", [1, -2.5, null, null, null]]],
    ["texts", ["b", " a ", "", null, "007"], ["categorical", ["b", "a", null, null, "007"]]],
    ["booleans", [true, false, null], ["categorical", ["true", "false", null]]],
    ["a mixture", [1, "x", true, null], ["categorical", ["1", "x", "true", null]]],
    ["numbers as text", ["1", "2"], ["categorical", ["1", "2"]]],
    ["integers of any length", [7n, 8n], ["numeric", [7, 8]]],
    ["integers that are too long", [7n, 9007199254740993n], ["categorical", ["7", "9007199254740993"]]],
    ["nothing", [null, undefined], ["numeric", [null, null]]],
    ["infinities", [1, Number.POSITIVE_INFINITY], ["numeric", [1, null]]],
  ])("%s", (_, values, expected) => {
    expect(column(values)).toEqual(expected);
  });

  it("counts dates in days, as a file's", async () => {
    const table = tableOf([{ d: new Date("2020-01-05T12:00:00Z") }, { d: null }]);
    const read = await parseTable("d,x\n2020-01-05 12:00,1\n,2\n", { columns: ["d"] });
    expect(table.columns).toEqual(read.columns);
  });

  it("takes columns in the order in which they are named, and what a record lacks as missing", () => {
    const table = tableOf([{ a: 1 }, { b: "x", a: 2 }]);
    expect(table.columns.map(({ name }) => name)).toEqual(["a", "b"]);
    expect(cells(table.columns[1])).toEqual([null, "x"]);
    // Nothing of what every object has.
    expect(tableOf([{ a: 1 }, { toString: "x" }]).columns.map(cells)).toEqual([
      [1, null],
      [null, "x"],
    ]);
  });

  it("refuses what is no cell, without showing it", () => {
    expect(() => column([1, { secret: 1 }])).toThrow(tableOfTexts.value("value", 1));
    expect(() => tableOf([])).toThrow(tableOfTexts.noRows);
  });

  it("gives back what toRecords gave", () => {
    const value = fc.record({
      a: fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constant(null)),
      b: fc.oneof(fc.constantFrom("x", "y", "007"), fc.constant(null)),
    });
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 20 }), (records) => {
        const table = tableOf(records.map(({ a, b }) => ({ a: a === null ? null : a + 0, b })));
        expect(tableOf(toRecords(table))).toEqual(table);
      }),
    );
  });
});
