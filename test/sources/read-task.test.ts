import { describe, expect, it } from "vitest";
import { readTask, readTaskTexts, readWithRoles } from "../../src/sources/read-task.js";
import { columnNamed } from "../../src/tables/table.js";
import { temporaryFolder } from "./files.js";

const { file } = temporaryFolder();

const people = file(
  "people.csv",
  "id,age,sex,site,pay,w\n007,20,f,a,1,1\n7,31,m,b,0,2\n9007199254740993,42,f,b,1,3\n9007199254740992,53,m,a,0,4\n",
);
const roles = { target: "pay=1", sensitive: ["sex"], id: "id", weights: "w" };

describe("readTask", () => {
  it("keeps ids as they are written, and weights and ids out of the features", async () => {
    const { task, name, testFrom } = await readTask(people, roles);
    const ids = columnNamed(task.table, "id");
    expect(ids.kind === "categorical" && Array.from(ids.codes, (code) => ids.levels[code])).toEqual([
      "007",
      "7",
      "9007199254740993",
      "9007199254740992",
    ]);
    expect(task.features).toEqual(["age", "site"]);
    expect(task.weights).toEqual(Float64Array.of(1, 2, 3, 4));
    expect([name, testFrom]).toEqual([people, undefined]);
  });

  it("puts a test table below, and says where it begins", async () => {
    const test = file("test.csv", "id,age,sex,site,pay,w\nx,1,m,a,1,1\ny,2,f,b,0,1\n");
    const { task, testFrom } = await readTask(people, roles, { test });
    expect([testFrom, task.table.rows]).toEqual([4, 6]);
    expect([...task.target.labels]).toEqual([1, 0, 1, 0, 1, 0]);
  });

  it("makes one attribute of several", async () => {
    const { task } = await readTask(people, {
      ...roles,
      sensitive: ["sex", "site"],
      combineSensitive: true,
    });
    expect(task.sensitive.map(({ name, classes }) => [name, classes.length])).toEqual([["sex and site", 4]]);
  });

  it("leaves the table as it is where roles alone are asked for", async () => {
    const { table, roles: given } = await readWithRoles(people, { ...roles, sensitive: ["age"] });
    expect([table.columns.length, given.sensitive]).toEqual([6, ["age"]]);
  });

  it.each([
    [undefined, {}, {}, readTaskTexts.noTable],
    [people, { sensitive: ["sex"] }, {}, readTaskTexts.noTarget],
    [people, { target: "pay" }, {}, readTaskTexts.noSensitive],
    [people, { task: "students" }, {}, readTaskTexts.tableAndTask],
    [undefined, { task: "students", weights: "w" }, {}, readTaskTexts.taskHasRole("weights")],
    [undefined, { task: "students", combineSensitive: true }, {}, readTaskTexts.taskHasRole("intersect")],
    [undefined, { task: "students" }, { test: people }, readTaskTexts.testWithTask],
  ])("refuses what does not go together: %#", async (source, given, options, text) => {
    await expect(readTask(source, given, options)).rejects.toThrow(text);
  });
});
