import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { numbersOf, suppliedMembers, suppliedTexts } from "../../src/sources/supplied-members.js";
import { columnOfNumbers, tableOfColumns } from "../../src/tables/table.js";
import { defineTask } from "../../src/tables/task.js";
import { tinyEnsemble } from "./tiny-network.js";

const folder = mkdtempSync(join(tmpdir(), "fairbed-members-"));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string, contents: string | Uint8Array): string => {
  writeFileSync(join(folder, name), contents);
  return join(folder, name);
};

const table = tableOfColumns([
  columnOfNumbers("a", [0, 1, 2]),
  columnOfNumbers("b", [1, 1, 3]),
  columnOfNumbers("y", [0, 1, 1]),
  columnOfNumbers("s", [1, 0, 1]),
]);
const task = defineTask(table, { target: "y=1", sensitive: ["s=1"] });
const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));

test("an ONNX network on the encoded features", async () => {
  const weights = [
    [1, -1, 0],
    [0, 2, 0.5],
  ];
  const path = file("ensemble.onnx", tinyEnsemble(2, weights));
  const { members, rows, values } = await suppliedMembers(path, task, 2);
  expect([members, rows]).toEqual([3, 3]);
  const features = [
    [0, 1],
    [1, 1],
    [2, 3],
  ];
  features.forEach(([a, b], row) => {
    weights[0].forEach((_, k) => {
      const p = sigmoid(a * weights[0][k] + b * weights[1][k]);
      expect(values[2 * (3 * row + k) + 1]).toBeCloseTo(p, 6);
      expect(values[2 * (3 * row + k)]).toBeCloseTo(1 - p, 6);
    });
  });
});

describe("a table", () => {
  test("a column is a member", async () => {
    const { values } = await suppliedMembers(file("m.csv", "m1,m2\n0.25,1\n0.5,0\n0,0.75\n"), task, 2);
    expect([...values]).toEqual([0.75, 0.25, 0, 1, 0.5, 0.5, 1, 0, 1, 0, 0.25, 0.75]);
  });

  test.each([
    ["rows.csv", "m1,m2\n0.1,0.2\n", 2, (path: string) => suppliedTexts.rows(path, 1, 3)],
    ["one.csv", "m1\n0.1\n0.2\n0.3\n", 2, suppliedTexts.oneMember],
    ["text.csv", "m1,m2\n0.1,a\n0.2,b\n0.3,c\n", 2, (path: string) => suppliedTexts.text(path, "m2")],
    ["big.csv", "m1,m2\n0.1,0.2\n0.1,1.2\n0.3,0\n", 2, (path: string) => suppliedTexts.probability(path, 1)],
    ["many.csv", "m1,m2\n0.1,0.2\n0.1,0.2\n0.3,0\n", 3, (path: string) => suppliedTexts.classes(path, 3)],
  ])("%s is refused", async (name, contents, classes, text) => {
    const path = file(name, contents);
    await expect(suppliedMembers(path, task, classes)).rejects.toThrow(text(path));
  });

  test("what is no network is refused", async () => {
    await expect(suppliedMembers(file("bad.onnx", "nothing"), task, 2)).rejects.toThrow("could not be run");
  });
});

test("costs are numbers", () => {
  expect([...numbersOf(table, "b")]).toEqual([1, 1, 3]);
  const gaps = tableOfColumns([columnOfNumbers("c", [1, Number.NaN])]);
  expect(() => numbersOf(gaps, "c")).toThrow(suppliedTexts.numbers("c"));
});
