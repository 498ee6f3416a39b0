import { expect, test } from "vitest";
import { leftOutInWords } from "../../src/report/not-drawn.js";

const GROUPS = [
  { attribute: "race", name: "Asian", rows: 32, reason: "fewer than 50 rows" },
  { attribute: "race", name: "Native American", rows: 1, reason: "fewer than 50 rows" },
  { attribute: "sex", name: "x", rows: 7, reason: "fewer than 50 rows" },
];

test("the line below a picture names the groups of its attribute that the result leaves out", () => {
  expect(leftOutInWords(GROUPS, "race")).toBe(
    " Left out: Asian (32 rows; fewer than 50 rows). Left out: Native American (1 row; fewer than 50 rows).",
  );
  expect(leftOutInWords(GROUPS, "age")).toBe("");
});

test("many are counted", () => {
  const many = Array.from({ length: 45 }, (_, i) => ({ ...GROUPS[0], name: `group ${i}` }));
  expect(leftOutInWords(many, "race")).toMatch(/ 5 more are left out\.$/);
});
