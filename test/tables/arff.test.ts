import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { InputError } from "../../src/core/errors.js";
import { readTable } from "../../src/sources/source.js";
import { arffTexts } from "../../src/tables/arff.js";
import { dialectTexts } from "../../src/tables/dialect.js";
import { parseTable } from "../../src/tables/parse-table.js";
import { contents, temporaryFolder } from "../sources/files.js";

const { file } = temporaryFolder();

const HEADER = `% A comment
@RELATION "people of 'here'"

@attribute age NUMERIC
@ATTRIBUTE 'marital status' {married, 'never married', "it\\'s\\\\open"}
@attribute	born date "yyyy-MM-dd"
@attribute code{0,1}
@attribute note string
@data
`;

const both = async (text: string) => {
  const read = await readTable(file("t.arff", text), { name: "t" });
  expect(await parseTable(text, { name: "t" })).toEqual(read);
  expect(contents(await readTable(file("t.arff.gz", gzipSync(text))))).toEqual(contents(read));
  return contents(read);
};

describe("ARFF", () => {
  it("has quoted names, lists, dates, what is missing, comments and any end of line", async () => {
    const rows = `31, 'never married', 2020-01-05, 1, 'a, b'
% another comment

?,married,?,0,?
-2.5e1 ,"it's\\\\open",1970-01-02,?,NA
`;
    const expected = {
      age: [31, null, -25],
      "marital status": ["never married", "married", "it's\\open"],
      born: [18266, null, 1],
      // Declared as a list, so it is one, whatever its values look like.
      code: ["1", "0", null],
      // A mark of what is missing in CSV, and a text here.
      note: ["a, b", null, "NA"],
    };
    expect(await both(HEADER + rows)).toEqual(expected);
    expect(await both((HEADER + rows).replaceAll("\n", "\r\n"))).toEqual(expected);
    expect(await both(`\ufeff${HEADER}${rows}`)).toEqual(expected);
  });

  it("may be sparse: what is left out is 0, or the first of its list", async () => {
    const rows = "{0 5, 1 'never married', 3 1}\n{ 4 'x, y' }\n{}\n";
    expect(await both(HEADER + rows)).toEqual({
      age: [5, 0, 0],
      "marital status": ["never married", "married", "married"],
      born: [null, null, null],
      code: ["1", "0", "0"],
      note: [null, "x, y", null],
    });
  });

  it("keeps ids as text, and takes other marks for missing where they are said", async () => {
    const text = "@relation r\n@attribute id numeric\n@attribute v numeric\n@data\n007,-9\n8,3\n";
    const table = await parseTable(text, { asText: ["id"], missing: ["-9"] });
    expect(contents(table)).toEqual({ id: ["007", "8"], v: [null, 3] });
  });

  it.each<[string, string, (name: string) => string]>([
    [
      "a line of the header that is none",
      "@relation r\nage numeric\n@data\n1\n",
      (t) => arffTexts.header(t, 2),
    ],
    ["a type that is none", "@relation r\n@attribute a thing\n@data\n1\n", (t) => arffTexts.attribute(t, 2)],
    [
      "a table in a table",
      "@relation r\n@attribute a relational\n@data\n1\n",
      (t) => arffTexts.attribute(t, 2),
    ],
    ["no attribute", "@relation r\n@data\n1\n", arffTexts.noData],
    ["no data", "@relation r\n@attribute a numeric\n", arffTexts.noData],
    ["too many values", `${HEADER}1,married,?,0,x,Jane\n`, (t) => dialectTexts.ragged(t, 10, 6, 5)],
    ["quotes that do not match", `${HEADER}1,married,?,0,'Jane\n`, (t) => arffTexts.quote(t, 10)],
    ["a text for a number", `${HEADER}Jane,married,?,0,x\n`, (t) => arffTexts.value(t, 10, "age")],
    ["a value that no list has", `${HEADER}1,Jane,?,0,x\n`, (t) => arffTexts.value(t, 10, "marital status")],
    ["a place that is none", `${HEADER}{9 Jane}\n`, (t) => arffTexts.sparse(t, 10)],
    ["a place twice", `${HEADER}{0 1, 0 2}\n`, (t) => arffTexts.sparse(t, 10)],
    ["a list that does not end", `${HEADER}{0 1\n`, (t) => arffTexts.sparse(t, 10)],
  ])("%s is refused", async (_, text, message) => {
    const read = readTable(file("bad.arff", text), { name: "t" });
    await expect(read).rejects.toThrow(
      new InputError((await read.catch((error) => error)).code, message("t")),
    );
    await expect(parseTable(text, { name: "t" })).rejects.toThrow(message("t"));
    await expect(parseTable(text, { name: "t" })).rejects.not.toThrow(/Jane/);
  });
});
