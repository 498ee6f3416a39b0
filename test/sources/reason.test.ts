import { describe, expect, test } from "vitest";
import { reasonOf } from "../../src/sources/reason.js";

describe("what a database complains about, without what stands in the table", () => {
  // As DuckDB, SQLite, PostgreSQL and Arrow word it.
  test.each([
    `Invalid Input Error: CSV Error on Line: 602\nOriginal Line: Jane Doe,0612345,HIV\nExpected Number of Columns: 2 Found: 3`,
    `Conversion Error: Could not convert string 'Jane Doe' to INT32 when casting from source column name`,
    `Invalid Input Error: Malformed JSON in file "Jane.json", at byte 13 in line 2: unexpected character. `,
    `Invalid Input Error: JSON transform error in file "x", in record/value 2: Could not cast "Jane Doe" to DOUBLE`,
    `invalid input syntax for type integer: "Jane Doe"`,
    `malformed JSON near Jane Doe`,
    `INTERNAL Error: Jane Doe`,
    `Jane Doe`,
  ])("%s", (message) => {
    expect(reasonOf(new Error(message))).not.toMatch(/Jane|Doe|0612345|HIV/);
    expect(reasonOf(new Error(message))).toMatch(/^(it|a value|what)[a-z ]+(, at [a-z]+ \d+)*$/);
  });

  test("says where, as long as no cell was repeated before", () => {
    expect(
      reasonOf(new Error("Invalid Input Error: CSV Error on Line: 602\nOriginal Line: a line 7")),
    ).toMatch(/, at line 602$/);
    expect(reasonOf(new Error(`Could not convert 'row 12' to INT32`))).not.toMatch(/12/);
  });
});
