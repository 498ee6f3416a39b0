import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { FeatureMatrix } from "../../src/learners/classifier.js";
import { encoderTexts, fitEncoder, loadEncoder, saveEncoder } from "../../src/tables/encoder.js";
import { columnOfNumbers, columnOfTexts, tableOfColumns } from "../../src/tables/table.js";

const table = tableOfColumns([
  columnOfNumbers("age", [20, 30, Number.NaN, 50, 60, Number.NaN]),
  columnOfTexts("sex", ["F", "M", undefined, "F", "X", undefined]),
  columnOfNumbers("size", [1, 2, 3, 4, Number.NaN, 1e300]),
]);
const features = ["age", "sex", "size"];
const fitted = [0, 1, 2, 3];

describe("an encoder", () => {
  const encoder = fitEncoder({ table, features }, fitted);

  test("names what it makes", () => {
    expect(encoder.featureNames).toEqual([
      "age",
      "age is missing",
      "sex=F",
      "sex=M",
      "sex is missing",
      "size",
    ]);
    expect(encoder.sourceColumns).toEqual(["age", "age", "sex", "sex", "sex", "size"]);
  });

  test("learns medians and levels from the fitted rows alone", () => {
    const matrix: FeatureMatrix = encoder.encode(table);
    const rows = Array.from({ length: 6 }, (_, row) => [...matrix.values.subarray(6 * row, 6 * row + 6)]);
    // The median of 20, 30 and 50 is 30; X is unknown, so all zero; size was never missing in the fitted rows.
    expect(rows).toEqual([
      [20, 0, 1, 0, 0, 1],
      [30, 0, 0, 1, 0, 2],
      [30, 1, 0, 0, 1, 3],
      [50, 0, 1, 0, 0, 4],
      [60, 0, 0, 0, 0, 2.5],
      [30, 1, 0, 0, 1, Math.fround(3.4028234663852886e38)],
    ]);
    const again = fitEncoder({ table, features }, [3, 1, 0, 2]);
    expect(again.rules).toEqual(encoder.rules);
  });

  test("encodes some rows in any order", () => {
    const { values, rows, columns } = encoder.encode(table, [4, 0]);
    expect({ rows, columns }).toEqual({ rows: 2, columns: 6 });
    expect([...values]).toEqual([60, 0, 0, 0, 0, 2.5, 20, 0, 1, 0, 0, 1]);
  });

  test("gives ordinal places: unknown is -1, missing comes last", () => {
    const ordinal = fitEncoder({ table, features: ["sex"] }, fitted, { categories: "ordinal" });
    expect(ordinal.featureNames).toEqual(["sex"]);
    expect([...ordinal.encode(table).values]).toEqual([0, 1, 2, 0, -1, 2]);
  });

  test("shares its numbers with threads", () => {
    expect(encoder.encode(table).values.buffer).toBeInstanceOf(SharedArrayBuffer);
  });

  test("reads a table whose levels are all numbers", () => {
    const codes = tableOfColumns([columnOfTexts("code", ["1", "2", "a"])]);
    const numbers = tableOfColumns([columnOfNumbers("code", [2, 1, Number.NaN, 7])]);
    const { values } = fitEncoder({ table: codes, features: ["code"] }).encode(numbers);
    expect([...values]).toEqual([0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
  });

  test("is saved without a row, and loaded as it was", () => {
    const text = saveEncoder(encoder);
    const loaded = loadEncoder(text);
    expect(loaded.rules).toEqual(encoder.rules);
    expect(loaded.encode(table)).toEqual(encoder.encode(table));
    // X and 60 stand only in rows that were not fitted.
    expect(text).not.toContain('"X"');
    expect(text).not.toContain("60");
  });

  test.each([
    ["{", "it is no JSON"],
    ["[]", "it says so nowhere"],
    ["null", "it says so nowhere"],
    ['{"format": "fairbed encoder", "version": 3}', "its version is 3, not 1 or 2"],
    ['{"format": "fairbed encoder", "version": 1}', "its categories are not known"],
    [
      '{"format": "fairbed encoder", "version": 1, "categories": "one-hot", "columns": [{}]}',
      "its columns are broken",
    ],
  ])("%s is none", (text, reason) => {
    expect(() => loadEncoder(text)).toThrow(encoderTexts.notAnEncoder(reason));
  });

  test("refuses no rows, another kind of column, and more than there is memory for", () => {
    expect(() => fitEncoder({ table, features }, [])).toThrow(encoderTexts.noRows);
    const text = tableOfColumns([columnOfTexts("age", ["old"])]);
    const ages = fitEncoder({ table, features: ["age"] });
    expect(() => ages.encode(text)).toThrow(encoderTexts.kind("age", "a number"));
    const levels = Array.from({ length: 3000 }, (_, row) => `level ${row}`);
    const wide = fitEncoder({
      table: tableOfColumns([columnOfTexts("wide", levels)]),
      features: ["wide"],
      minLevel: 1,
    });
    const rows = { length: 2 ** 31 } as ArrayLike<number>;
    expect(() => wide.encode(tableOfColumns([columnOfTexts("wide", levels)]), rows)).toThrow(
      encoderTexts.tooLarge(2 ** 31, 3000, "wide", 3000),
    );
  });

  test("has the median of a sort", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -20, max: 20 }), { minLength: 1, maxLength: 30 }), (values) => {
        const sorted = [...values].sort((a, b) => a - b);
        const half = sorted.length / 2;
        const median = (sorted[Math.ceil(half) - 1] + sorted[Math.floor(half)]) / 2;
        const column = tableOfColumns([columnOfNumbers("x", values)]);
        const [rule] = fitEncoder({ table: column, features: ["x"] }).rules.columns;
        expect(rule).toMatchObject({ median });
        expect([...(column.columns[0] as { values: Float64Array }).values]).toEqual(values);
      }),
    );
  });
});
