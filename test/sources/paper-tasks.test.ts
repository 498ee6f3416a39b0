import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.js";
import { loadPaperTask } from "../../src/sources/paper-tasks.js";
import type { Label } from "../../src/tables/label.js";
import { describeWithData } from "../setup/data.js";

/** How many rows each class has. */
const counts = ({ classes, labels }: Label) =>
  Object.fromEntries(classes.map((name, place) => [name, labels.filter((label) => label === place).length]));

describeWithData("students", ["students-dropout/data.csv"], (root) => {
  test("is Graduate against the rest, with Gender sensitive", async () => {
    const { table, task } = await loadPaperTask("students", { root });
    // Counts and rates as published.
    expect([table.rows, table.columns.length]).toEqual([4424, 37]);
    expect(counts(task.target)).toEqual({ "not Graduate": 2215, Graduate: 2209 });
    expect(counts(task.sensitive[0])).toEqual({ "0": 2868, "1": 1556 });
    expect(task.features).toHaveLength(35);
    expect(task.features).toContain("Daytime/evening attendance");
    const rate = (group: number) => {
      const rows = [...task.sensitive[0].labels.keys()].filter(
        (row) => task.sensitive[0].labels[row] === group,
      );
      return rows.reduce((sum, row) => sum + task.target.labels[row], 0) / rows.length;
    };
    expect(rate(1)).toBeCloseTo(0.352, 3);
    expect(rate(0)).toBeCloseTo(0.579, 3);
  });

  test("leaves out what it is told to", async () => {
    const { task } = await loadPaperTask("students", { root, exclude: ["GDP"] });
    expect(task.features).toHaveLength(34);
    const { task: two } = await loadPaperTask("students", { root, features: ["GDP", "Gender"] });
    expect(two.features).toEqual(["Gender", "GDP"]);
  });
});

describeWithData(
  "census",
  ["census-income-kdd/census-income.data.gz", "census-income-kdd/census-income.names"],
  (root) => {
    test("is class-balanced by its seed, without sex and the instance weight", async () => {
      const { table, task } = await loadPaperTask("census", { root, seed: 1 });
      expect(counts(task.target)).toEqual({ "- 50000.": 12382, "50000+.": 12382 });
      expect(task.sensitive[0].classes).toEqual(["Female", "Male"]);
      expect(task.features).toHaveLength(39);
      expect(task.features).not.toContain("sex");
      const names = table.columns.map(({ name }) => name);
      const described = readFileSync(join(root, "census-income-kdd", "census-income.names"), "utf8")
        .split("\n")
        .flatMap((line) => /^([a-z][^|:]*): /.exec(line)?.[1] ?? [])
        .filter((name) => name !== "instance weight");
      expect(names).toEqual([...described, "income"]);
    });
  },
);

describeWithData("adult", ["adult/adult.data.gz", "adult/adult.test.gz"], (root) => {
  test("is both files, with one spelling of the classes", async () => {
    const { task } = await loadPaperTask("adult", { root });
    expect(counts(task.target)).toEqual({ "<=50K": 24720 + 12435, ">50K": 7841 + 3846 });
    expect(counts(task.sensitive[0])).toMatchObject({ Male: 32650 });
    expect(task.features).toHaveLength(12);
    expect(task.features).not.toContain("fnlwgt");
  });
});

describeWithData("german", ["german-credit/german.data"], (root) => {
  test("is good credit, with sex taken from the personal status", async () => {
    const { table, task } = await loadPaperTask("german", { root });
    expect(counts(task.target)).toEqual({ "1": 700, "2": 300 });
    expect(task.target.classes[1]).toBe("1");
    const female = readFileSync(join(root, "german-credit", "german.data"), "utf8").match(
      / A9[25] /g,
    )?.length;
    expect(counts(task.sensitive[0])).toEqual({ female, male: 1000 - (female ?? 0) });
    expect(table.columns.map(({ name }) => name)).not.toContain("personal status and sex");
    expect(task.features).toHaveLength(19);
  });
});

describeWithData("bank", ["bank-marketing/bank-full.csv.gz"], (root) => {
  test("is class-balanced by its seed, with being married sensitive, and knows no duration of the call", async () => {
    const { table, task } = await loadPaperTask("bank", { root, seed: 3 });
    // 5289 answered yes, by the description.
    expect(counts(task.target)).toEqual({ no: 5289, yes: 5289 });
    expect(task.sensitive[0].classes).toEqual(["not married", "married"]);
    expect(task.features).toHaveLength(14);
    for (const name of ["duration", "marital", "y"]) expect(task.features).not.toContain(name);
    // All who answered yes are there: 2755 of them are married, counted in the file with awk.
    const { labels: answers } = task.target;
    const married = task.sensitive[0].labels.filter((label, row) => label === 1 && answers[row] === 1);
    expect(married).toHaveLength(2755);
    const { table: other } = await loadPaperTask("bank", { root, seed: 4 });
    expect(other.columns[0]).not.toEqual(table.columns[0]);
  });
});

describeWithData(
  "celeba",
  ["celeba/list_attr_celeba.txt.gz", "celeba/resnet18-layer3-gap-000001-010000.npy.gz"],
  (root) => {
    test("is Smiling, with Male sensitive, and says that the network is truncated", async () => {
      const { table, task, notes } = await loadPaperTask("celeba", { root });
      expect([table.rows, task.features.length]).toEqual([10_000, 256]);
      expect(counts(task.target).yes / 10_000).toBeCloseTo(0.482, 3);
      expect(counts(task.sensitive[0]).yes / 10_000).toBeCloseTo(0.422, 3);
      expect(notes.join()).toContain("truncated at layer3");
    });
  },
);

describe("a task that is not there", () => {
  test("says how to get it", async () => {
    await expect(loadPaperTask("german", { root: "/nowhere" })).rejects.toThrow(/fairbed data get german/);
    await expect(loadPaperTask("celeba", { root: "/nowhere" })).rejects.toThrow(/--from/);
    await expect(loadPaperTask("germn", { root: "/nowhere" })).rejects.toThrow(InputError);
  });
});
