/** Every CSV file that a command writes: nothing in it is run by a spreadsheet, and ids come back as they were. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { readTableWithIds } from "../../src/sources/read-task.js";
import { csvText, parseCsv, withoutGuard } from "../../src/tables/csv.js";
import { idReader } from "../../src/tables/ids.js";
import { columnNamed } from "../../src/tables/table.js";
import { needsDist } from "../setup/dist.js";
import { runInProcess } from "./in-process.js";

needsDist();
const folder = mkdtempSync(join(tmpdir(), "fairbed-csv-"));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string) => join(folder, name);

/** Beginnings of ids that a spreadsheet would run, or that look like what is written for such. */
const STARTS = ["=HYPERLINK(1)", "+cmd", "-x", "@sum", '=,"', "plain", "-7", "'", "a'=1"];
const ids = Array.from({ length: 120 }, (_, i) => `${STARTS[i % STARTS.length]}#${i}`);
const people = (labelled: boolean, prefix: string) => [
  ["person", "skill", "=town", ...(labelled ? ["sex", "hired"] : [])],
  ...ids.map((id, i) => [
    `${id}${prefix}`,
    (i * 7) % 11,
    i % 3 === 0 ? "=north" : "@south",
    ...(labelled ? [i % 2 === 0 ? "+f" : "-m", (i * 7) % 11 > 5 ? "@yes" : "no"] : []),
  ]),
];
const quoted = (cell: string | number): string =>
  /[",]/.test(String(cell)) ? `"${String(cell).replaceAll('"', '""')}"` : String(cell);
/** As another program would write it: nothing before what a spreadsheet would run. */
const plainCsv = (rows: readonly (readonly (string | number)[])[]): string =>
  rows.map((row) => row.map(quoted).join(",")).join("\n");
writeFileSync(at("labelled.csv"), plainCsv(people(true, "L")));
writeFileSync(at("pool.csv"), plainCsv(people(false, "P")));

const ROLES = ["--target", "hired=@yes", "--sensitive", "sex", "--id", "person"];
const isNumber = (cell: string) => /^[-+]?\d+(\.\d+)?(e[-+]?\d+)?$/i.test(cell);

/** Every field of a file, none of which may be run. */
const fieldsOf = (file: string) => {
  const rows = parseCsv(readFileSync(at(file), "utf8"));
  for (const cell of rows.flat()) if (!isNumber(cell)) expect(cell).not.toMatch(/^[=+\-@\t\r]/);
  return rows;
};

const idsIn = async (file: string, column: string): Promise<(string | undefined)[]> => {
  const table = await readTableWithIds(at(file), column);
  return Array.from({ length: table.rows }, (_, row) => idReader(columnNamed(table, column))(row));
};

const run = async (...words: string[]) => {
  const { failure } = await runInProcess(words);
  expect(failure).toBeUndefined();
};

describe("what a command writes as CSV", () => {
  test("rank", async () => {
    const words = ["rank", at("pool.csv"), "--labelled", at("labelled.csv"), ...ROLES, "--trees", "5"];
    await run(...words, "--top", "60", "--out", at("rank.csv"));
    expect(fieldsOf("rank.csv")).toHaveLength(61);
    const back = await idsIn("rank.csv", "id");
    expect(new Set(back).size).toBe(60);
    const known = new Set(ids.map((id) => `${id}P`));
    expect(back.filter((id) => id === undefined || !known.has(id))).toEqual([]);
  });

  test("who comes back labelled in such a file is not asked again", async () => {
    // The file of the candidates, with labels filled in by hand.
    const [head, ...rows] = people(true, "P");
    const answered = rows.map((row) => row.map((cell) => (cell === "@yes" ? "yes" : cell)));
    writeFileSync(at("answers.csv"), csvText([head, ...answered]));
    const roles = ["--target", "hired=yes", "--sensitive", "sex", "--id", "person"];
    const words = ["rank", at("pool.csv"), "--labelled", at("answers.csv"), ...roles, "--trees", "5"];
    expect(await runInProcess(words)).toMatchObject({ code: "all-labelled" });
  });

  test("predict", async () => {
    await run("fit", at("labelled.csv"), ...ROLES, "--learner", "logistic", "--out", at("model.json"));
    await run("predict", at("model.json"), at("pool.csv"), "--id", "person", "--out", at("predicted.csv"));
    expect(fieldsOf("predicted.csv")).toHaveLength(121);
    expect(await idsIn("predicted.csv", "person")).toEqual(ids.map((id) => `${id}P`));
    const { printed } = await runInProcess(["predict", at("model.json"), at("pool.csv"), "--id", "person"]);
    writeFileSync(at("printed.csv"), printed ?? "");
    expect(fieldsOf("printed.csv").length).toBeGreaterThan(100);
  });

  test.each([
    ["lfr", ["--steps", "5", "--restarts", "1", "--trees", "3"]],
    ["roc", ["--trees", "3"]],
    ["rule", ["--trees", "3"]],
    ["reweigh", ["--trees", "3"]],
  ])("mitigate %s", async (name, more) => {
    await run("mitigate", name, at("labelled.csv"), ...ROLES, ...more, "--out", at(`${name}.csv`));
    fieldsOf(`${name}.csv`);
    const known = new Set(ids.map((id) => `${id}L`));
    const back = await idsIn(`${name}.csv`, "person");
    expect(back.length).toBeGreaterThan(20);
    expect(back.filter((id) => id === undefined || !known.has(id))).toEqual([]);
  });
});

test("every text comes back from what was written, and numbers have no apostrophe", () => {
  for (const text of [...STARTS, "", "'a", "''", "=", "'=1", "''@x", "\t1", "-", "a=b", "'''+"]) {
    const [[cell]] = parseCsv(csvText([[text, "x"]]));
    expect(withoutGuard(cell)).toBe(text);
  }
  expect(csvText([[-1.5, "-1.5"]])).toBe("-1.5,-1.5\n");
});
