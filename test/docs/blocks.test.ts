/** How the code blocks of a page are read, run and compared. */
import { describe, expect, test } from "vitest";
import { agrees, blocksOf, simpleWords } from "../../scripts/docs/blocks.mjs";
import { runPage } from "../../scripts/docs/run-page.mjs";
import { needsDist } from "../setup/dist.js";

needsDist();

const page = (...lines: string[]) => lines.join("\n");

describe("a block and what it prints", () => {
  test("spaces do not count, … stands for anything in a line, a line of it for any lines", () => {
    expect(agrees("a   b\n  c", "a b\nc\n")).toBe(true);
    expect(agrees("took … s", "took 3.2 s")).toBe(true);
    expect(agrees("first\n…\nlast", "first\n1\n2\nlast")).toBe(true);
    expect(agrees("first\n…\nlast", "first\nlast")).toBe(true);
    expect(agrees("took … s", "took\n3 s")).toBe(false);
    expect(agrees("0.25", "0.26")).toBe(false);
    expect(agrees("0.2", "0x2")).toBe(false);
    expect(agrees("one", "one\ntwo")).toBe(false);
  });

  test("is right behind it, whatever is not shown stands between", () => {
    const [block, other] = blocksOf(
      page(
        "<!-- given",
        "x",
        "-->",
        "```sh",
        "a",
        "```",
        "",
        "```text",
        "b",
        "```",
        "words",
        "```text",
        "c",
        "```",
      ),
    );
    expect(block).toMatchObject({ line: 4, code: "a", marks: { given: "x" }, output: { text: "b" } });
    expect(other).toMatchObject({ code: "c", output: undefined });
  });

  test("the words of a command, where no shell is needed", () => {
    expect(simpleWords("fairbed audit 'my file.csv' --target=\"a b\" -q # a remark")).toEqual([
      "fairbed",
      "audit",
      "my file.csv",
      "--target=a b",
      "-q",
    ]);
    for (const line of ["a | b", "a > b", "a && b", "echo $HOME", "ls *.csv"])
      expect(simpleWords(line)).toBeUndefined();
  });
});

describe("a page", () => {
  const problems = async (...lines: string[]) => {
    const { ran, unmarked, notRun } = await runPage(page(...lines));
    return { problems: ran.map(({ problem }) => problem), unmarked: unmarked.length, notRun: notRun.length };
  };

  test("runs in order in one folder: files, commands, shells and programs", async () => {
    expect(
      await problems(
        "<!-- file: small.csv -->",
        "```csv",
        "id,a",
        "1,x",
        "```",
        "```sh",
        "cat small.csv | wc -l # lines",
        "```",
        "```text",
        "2",
        "```",
        "```ts",
        'import { readTable } from "fairbed";',
        'const table = await readTable("small.csv");',
        "console.log(table.rows); // 1",
        "```",
        "<!-- continues -->",
        "```ts",
        "console.log(table.rows + 1);",
        "```",
        "```text",
        "2",
        "```",
      ),
    ).toEqual({ problems: [undefined, undefined, undefined], unmarked: 0, notRun: 0 });
  });

  test("is wrong where an output, a comment, a command or a program is", async () => {
    const { problems: found } = await problems(
      ...["```sh", "echo 0.25", "```", "```text", "0.26", "```"],
      ...["```sh", "fairbed audit nothing.csv --target a --sensitive b", "```"],
      ...["```ts", "console.log(0.25); // 0.26", "```"],
      ...["```ts", "console.log(1);", "```", "```text", "2", "```"],
      ...["```ts", "missing();", "```"],
    );
    expect(found).toEqual([
      "prints\n0.25",
      expect.stringContaining("nothing.csv"),
      "prints 0.25 instead of 0.26",
      "prints\n1",
      expect.stringContaining("missing is not defined"),
    ]);
  });

  test("says of every block whether it runs", async () => {
    expect(
      await problems(
        ...["<!-- not run: installs -->", "```sh", "npm install pg", "```"],
        ...["```", "neither", "```", "```json", "{}", "```"],
      ),
    ).toEqual({ problems: [], unmarked: 2, notRun: 1 });
  });
});
