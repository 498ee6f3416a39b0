import { expect, test } from "vitest";
import { nearestName } from "../../src/core/nearest-name.js";

const names = ["age", "income", "marital status", "Country of Birth", "sex"];

test.each([
  ["agee", "age"],
  ["incme", "income"],
  ["Income", "income"],
  ["maritl statsu", "marital status"],
  ["country of birth", "Country of Birth"],
  ["marital", "marital status"],
  [" sex ", "sex"],
  ["zzzzzzzz", undefined],
  ["", undefined],
  ["s", undefined],
  ["six", "sex"],
  ["ids", undefined],
])("%j is most likely %j", (given, expected) => {
  expect(nearestName(given, names)).toBe(expected);
});

test("the nearest of several wins, and no names have none", () => {
  expect(nearestName("column12", ["column1", "column13", "column12a"])).toBe("column1");
  expect(nearestName("column13x", ["column1", "column13"])).toBe("column13");
  expect(nearestName("x", [])).toBeUndefined();
});
