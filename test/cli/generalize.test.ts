import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { fileTexts } from "../../src/cli/commands/design/files.js";
import { generalizeTexts } from "../../src/cli/commands/reproduce/generalize.js";
import { learnerTexts } from "../../src/learners/by-name.js";
import { syntheticPool } from "../../src/tables/synthetic.js";
import { asCategorical, columnNames } from "../../src/tables/table.js";
import { defineTask } from "../../src/tables/task.js";
import { acquisitionFileTexts } from "../../src/workflows/acquisition-file.js";
import { generalizationTexts } from "../../src/workflows/generalization.js";
import { prepareSeed } from "../../src/workflows/simulation.js";
import { needsDist } from "../setup/dist.js";
import { invoke } from "./one-process.js";

needsDist();
const folder = mkdtempSync(join(tmpdir(), "fairbed-generalize-"));
afterAll(() => rmSync(folder, { recursive: true }));

const { table } = syntheticPool({ rows: 400, seed: 3, bias: 1 });
const columns = table.columns.map(asCategorical);
const csv = (from: number, to: number): string => {
  const lines = Array.from({ length: to - from }, (_, i) =>
    columns.map(({ codes, levels }) => levels[codes[from + i]]).join(","),
  );
  return [columnNames(table).join(","), ...lines, ""].join("\n");
};
const write = (name: string, contents: string): string => {
  writeFileSync(join(folder, name), contents);
  return join(folder, name);
};
const people = write("people.csv", csv(0, 400));
const { settings } = syntheticPool({ rows: 1 });
const TASK = ["--target", String(settings.target), "--sensitive", settings.sensitive.map(String).join(",")];

test("every model on what acquire chose, on the rows that it held out", async () => {
  const acquired = await invoke([
    ..."acquire --budget 40 --batch 20 --seeds 2 --trees 30 --json --quiet".split(" "),
    people,
    ...TASK,
  ]);
  const answer = write("acquired.json", acquired.stdout);
  const words = ["generalize", answer, "--table", people, "--models", "forest,boosting,mlp,svm,logistic"];
  const { code, stdout, stderr } = await invoke([...words, "--json", "--quiet"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const { models, seeds } = JSON.parse(stdout);
  expect(seeds).toBe(2);
  for (const name of ["forest", "boosting", "mlp", "svm", "logistic"]) {
    expect(models[name].accuracy.mean).toBeGreaterThan(0.5);
    expect(models[name].dpRatio.n).toBe(2);
  }
  const person = await invoke([...words, "--quiet"]);
  expect(person.stdout).toContain("means over 2 seeds");
  const other = write("other.csv", csv(0, 300));
  expect(await invoke(["generalize", answer, "--table", other])).toMatchObject({
    code: 2,
    stderr: `fairbed: ${generalizeTexts.otherTable(answer, "400 rows", other)}\n`,
  });
  // The same rows in another order, and one value that differs.
  const lines = csv(0, 400).trim().split("\n");
  for (const [name, contents] of [
    ["reversed.csv", [lines[0], ...lines.slice(1).reverse()]],
    ["swapped.csv", [lines[0], lines[1], lines[3], lines[2], ...lines.slice(4)]],
  ] as const) {
    const table = write(name, `${contents.join("\n")}\n`);
    expect(await invoke(["generalize", answer, "--table", table])).toMatchObject({
      code: 2,
      stderr: `fairbed: ${generalizeTexts.otherTable(answer, "other values, or the same in another order", table)}\n`,
    });
  }
  const told = JSON.parse(acquired.stdout);
  const changed = (name: string, change: (rows: unknown[], seed: number) => unknown[]) =>
    write(
      name,
      JSON.stringify({
        ...told,
        methods: told.methods.map((each: { acquired: unknown[][] }) => ({
          ...each,
          acquired: each.acquired.map(change),
        })),
      }),
    );
  for (const [name, row] of Object.entries({
    text: "3",
    negative: -1,
    fraction: 1.5,
    nested: [2],
    nothing: null,
  })) {
    const file = changed(`${name}.json`, ([, ...rows]) => [row, ...rows]);
    expect(await invoke(["generalize", file, "--table", people])).toMatchObject({
      code: 2,
      stderr: `fairbed: ${acquisitionFileTexts.rows(file, "acquired rows")}\n`,
    });
  }
  const beyond = changed("beyond.json", ([, ...rows]) => [400, ...rows]);
  expect((await invoke(["generalize", beyond, "--table", people])).stderr).toContain(
    generalizationTexts.row(400, 400),
  );
  // Rows that the seed held out, or that it could not ask for.
  const task = defineTask(table, settings);
  const { split } = prepareSeed(task, told.methods[0].settings, 0);
  for (const rows of [split.test, split.targets]) {
    const held = changed("held.json", (own, seed) => (seed === 0 ? [...rows] : own));
    expect(await invoke(["generalize", held, "--table", people, "--models", "forest"])).toMatchObject({
      code: 2,
      stderr: `fairbed: ${generalizationTexts.tested(rows.length, 0)}\n`,
    });
  }
  const { content: _, ...nameless } = told;
  const old = write("old.json", JSON.stringify(nameless));
  expect(await invoke(["generalize", old, "--table", people])).toMatchObject({
    code: 2,
    stderr: `fairbed: ${acquisitionFileTexts.noContent(old)}\n`,
  });
  const without = await invoke(["generalize", answer]);
  expect(without).toMatchObject({ code: 2, stderr: `fairbed: ${generalizeTexts.tableOfAnswer(answer)}\n` });
});

test("two tables", async () => {
  const [labelled, tested] = [write("labelled.csv", csv(0, 150)), write("test.csv", csv(150, 400))];
  const { stdout } = await invoke([
    "generalize",
    labelled,
    "--test",
    tested,
    ...TASK,
    "--models",
    "forest",
    "--json",
  ]);
  const { models } = JSON.parse(stdout);
  expect(models.forest.accuracy.mean).toBeGreaterThan(0.6);
  expect(await invoke(["generalize", labelled, "--test", labelled, ...TASK])).toMatchObject({
    code: 2,
    stderr: `fairbed: ${generalizationTexts.sameRows(150)}\n`,
  });
  expect(await invoke(["generalize", labelled, ...TASK])).toMatchObject({
    code: 2,
    stderr: `fairbed: ${generalizeTexts.noTest(labelled)}\n`,
  });
  expect(await invoke(["generalize", labelled, ...TASK, "--models", "forrest"])).toMatchObject({
    code: 2,
    stderr: `fairbed: ${learnerTexts.unknown("forrest", "forest")}\n`,
  });
  expect(await invoke(["generalize", labelled, "--table", tested, ...TASK])).toMatchObject({
    code: 2,
    stderr: `fairbed: ${generalizeTexts.onlyAnswer(labelled, "table")}\n`,
  });
  const wrong = write("wrong.json", "{}");
  expect(await invoke(["generalize", wrong])).toMatchObject({
    code: 2,
    stderr: `fairbed: ${acquisitionFileTexts.notAnswer(wrong)}\n`,
  });
  const none = join(folder, "none.json");
  expect(await invoke(["generalize", none])).toMatchObject({
    code: 2,
    stderr: `fairbed: ${fileTexts.missing(none)}\n`,
  });
});
