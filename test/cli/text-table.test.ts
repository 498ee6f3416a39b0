import { expect, test } from "vitest";
import { byGroups, cut } from "../../src/cli/text-table.js";

const rows = (groups: number) => [
  ["by race", ...Array.from({ length: groups }, (_, g) => `group number ${g}`)],
  ["the pool", ...Array.from({ length: groups }, () => "5 %")],
];

test("groups are columns where they have room, else rows", () => {
  expect(byGroups(rows(3))).toHaveLength(2);
  const many = byGroups(rows(40));
  expect(many).toHaveLength(41);
  expect(Math.max(...many.map((line) => line.length))).toBeLessThanOrEqual(120);
  for (let g = 0; g < 40; g++) expect(many.some((line) => line.startsWith(`group number ${g} `))).toBe(true);
});

test("a name of a hundred characters does not move the table apart", () => {
  expect(cut("W".repeat(100))).toHaveLength(32);
  expect(cut("short")).toBe("short");
  expect(cut("😀".repeat(40))).toBe(`${"😀".repeat(31)}…`);
});
