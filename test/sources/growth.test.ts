/**
 * Time and memory of every reader of text grow with the file: four times the file takes no more than some ten times
 * as long, where a quadratic reader takes sixteen times, and limits in seconds hold with large slack.
 */
import { describe, expect, test } from "vitest";
import { readTable } from "../../src/sources/source.js";
import { parseTable } from "../../src/tables/parse-table.js";
import { temporaryFolder } from "./files.js";
import { sheetRows, workbookParts, zipOf } from "./workbook.js";

const { file } = temporaryFolder();

const wide = (delimiter: string) => (bytes: number) => {
  const columns = Math.ceil(bytes / 120);
  const names = Array.from({ length: columns }, (_, column) => `c${column}`).join(delimiter);
  return `${names}\n${`${"1".repeat(columns).split("").join(delimiter)}\n`.repeat(60)}`;
};
const filled =
  (before: string, unit: string, after = "") =>
  (bytes: number) =>
    before + unit.repeat(Math.ceil(bytes / unit.length)) + after;
const TABLE = "a,b\n1,2\n";

/** What took minutes or gigabytes once, or would in a reader that looks at the rest of the text for every cell. */
const TEXTS: Readonly<Record<string, (bytes: number) => string>> = {
  "blank lines": filled("", "\n"),
  "blank lines before a table": filled("", "\n", TABLE),
  "blank lines below a table": filled(TABLE, "\n"),
  "blank lines of \\r\\n below one column": filled("a\n1\n", "\r\n"),
  "lines of spaces": filled(TABLE, "  \n"),
  "one cell": filled("", "x"),
  "one cell of a table": filled("a,b\n", "x", ",1\n2,3\n"),
  "one cell of digits": filled(`a\n${"1\n".repeat(600)}`, "1", "x\n"),
  "one cell in quotes": filled('a,b\n"', "x\n", '",1\n2,3\n'),
  "one cell of spaces": filled("a,b\n1,", " ", "\n2,3\n"),
  "a quote that is not closed": filled(`${TABLE}"`, "x,y\n"),
  "quotes alone": filled(TABLE, '"'),
  "single quotes": filled("a,b\n", "'x,"),
  "quotes and spaces": filled("", ', "'),
  backslashes: filled('a,b\n"', "\\", '",1\n'),
  "backslashes and quotes": filled('a,b\n"', '\\"', '",1\n'),
  commas: filled("", ","),
  "commas on two lines": (bytes) => `${",".repeat(bytes / 2)}\n${",".repeat(bytes / 2)}\n`,
  // So long that there are fewer columns than a table may have.
  "names that are all the same": filled("", "aaaa,", "a\n"),
  "words between spaces": filled("", "aaaa bbbb "),
  "columns without names": filled("", "    ,", "\n"),
  "one line of quoted cells": filled("", '"a",', '"a"\n'),
  "short lines": filled("a,b\n", "1,x\n"),
  "distinct texts": (bytes) =>
    `a\n${Array.from({ length: bytes / 10 }, (_, row) => `text${row}`).join("\n")}\n`,
  "many columns, commas": wide(","),
  "many columns, semicolons": wide(";"),
  "many columns, tabs": wide("\t"),
  "many columns, bars": wide("|"),
  "many columns, spaces": wide(" "),
  "an ARFF header": filled("@relation r\n", "@attribute a numeric\n", "@data\n1\n"),
  "ARFF comments": filled("", "% remark\n", "@relation r\n@attribute a numeric\n@data\n1\n"),
  "ARFF values": filled("@relation r\n@attribute a {", "x,", "y}\n@data\ny\n"),
  "ARFF quotes": filled("@relation r\n@attribute a string\n@data\n'", "x\\'", "'\n"),
  "a sparse ARFF row": filled("@relation r\n@attribute a numeric\n@data\n{0 1", " ", "}\n"),
};

const outcome = (reading: Promise<{ readonly rows: number }>) =>
  reading.then(
    ({ rows }) => `${rows} rows`,
    (error: Error) => error.name,
  );

const seconds = async (read: () => Promise<unknown>): Promise<number> => {
  const start = performance.now();
  await read();
  return (performance.now() - start) / 1000;
};

/** The better of two: other programs of the machine only ever make it slower. */
const best = async (read: () => Promise<unknown>): Promise<number> =>
  Math.min(await seconds(read), await seconds(read));

const SMALL = 100_000;
/** Under this nothing can be said: starting and cleaning up take as long. */
const NOTICEABLE = 1;
/** For 400 kB: a reader takes a tenth of a second, the quadratic ones took a minute and more for less. */
const SECONDS = 20;
const MEGABYTES = 1000;

const expectLinear = async (small: () => Promise<unknown>, large: () => Promise<unknown>) => {
  const before = process.resourceUsage().maxRSS;
  const slow = await best(large);
  expect(slow).toBeLessThan(SECONDS);
  if (slow > NOTICEABLE) expect(slow).toBeLessThan(10 * Math.max(NOTICEABLE / 4, await best(small)));
  expect((process.resourceUsage().maxRSS - before) / 1024).toBeLessThan(MEGABYTES);
};

describe("four times the file, not sixteen times the time", () => {
  test.each(Object.entries(TEXTS))("%s", async (_, textOf) => {
    const [small, large] = [textOf(SMALL), textOf(4 * SMALL)];
    const [smallFile, largeFile] = [file("small.csv", small), file("large.csv", large)];
    await expectLinear(
      () => outcome(readTable(smallFile)),
      () => outcome(readTable(largeFile)),
    );
    await expectLinear(
      () => outcome(parseTable(small)),
      () => outcome(parseTable(large)),
    );
  });

  test.each<[string, (count: number) => string]>([
    ["many rows", (count) => sheetRows(Array.from({ length: count / 40 }, (_, row) => [row, "text"]))],
    ["one row", (count) => sheetRows([Array.from({ length: Math.min(16_000, count / 40) }, () => "text")])],
    ["one cell", (count) => sheetRows([["a"], ["x".repeat(count)]])],
    ["entities", (count) => `<row><c t="str"><v>${"&#65;".repeat(count / 5)}</v></c></row>`],
    ["an attribute", (count) => `<row a="${"b".repeat(count)}" ${"c".repeat(count)}><c><v>1</v></c></row>`],
    ["deep tags", (count) => `${"<a>".repeat(count / 7)}${"</a>".repeat(count / 7)}`],
  ])("a workbook: %s", async (_, rowsOf) => {
    const at = (count: number) => file(`${count}.xlsx`, zipOf(workbookParts({ a: rowsOf(count) })));
    const [small, large] = [at(SMALL), at(4 * SMALL)];
    await expectLinear(
      () => outcome(readTable(small)),
      () => outcome(readTable(large)),
    );
  });

  test.each<[string, (bytes: number) => string]>([
    ["many lines", filled("", '{"a": 1}\n')],
    ["one long text", filled('{"a": "', "x", '"}\n')],
    ["blank lines", filled('{"a": 1}\n', "\n")],
    ["a line that does not end", filled('{"a": ', "[")],
  ])("JSON: %s", async (_, textOf) => {
    const [small, large] = [file("small.jsonl", textOf(SMALL)), file("large.jsonl", textOf(4 * SMALL))];
    await expectLinear(
      () => outcome(readTable(small)),
      () => outcome(readTable(large)),
    );
  });

  test("ten thousand columns and sixty rows", async () => {
    for (const delimiter of [",", "\t", ";"]) {
      const path = file("wide.csv", wide(delimiter)(1_200_000));
      expect((await readTable(path)).columns).toHaveLength(10_000);
      expect(await best(() => readTable(path))).toBeLessThan(SECONDS);
    }
  });
});
