import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readTable } from "../../src/sources/source.js";
import { dialectTexts } from "../../src/tables/dialect.js";
import { type ParseTableOptions, parseTable } from "../../src/tables/parse-table.js";
import { temporaryFolder } from "../sources/files.js";

const { file } = temporaryFolder();

/** Both readers on the same text: the table of each, or what each throws. */
const both = async (text: string, options: ParseTableOptions = {}, name = "a.csv") => {
  const settled = [
    parseTable(text, { ...options, name: "t" }),
    readTable(file(name, text), { ...options, name: "t" }),
  ].map((table) => table.catch((error: Error) => ({ error: error.message })));
  return Promise.all(settled);
};

const many = (row: (i: number) => string, rows = 700): string =>
  Array.from({ length: rows }, (_, i) => row(i)).join("\n");

const TEXTS: Readonly<Record<string, string | readonly [string, ParseTableOptions]>> = {
  plain: "a,b\n1,x\n2,y\n",
  "no end of line": "a,b\n1,x\n2,y",
  "byte order mark": "\ufeffa,b\n1,x\n2,y\n",
  "quoted names after a byte order mark": '\ufeff"a","b"\n1,x\n2,y\n',
  "carriage returns": "a,b\r\n1,x\r\n2,y\r\n",
  "quotes, commas and ends of lines in quotes": 'a,b\n1,"x, ""y"""\n2,"two\nlines"\n3,""\n',
  "single quotes": "a,b\n1,'x,y'\n2,'z'\n",
  "backslashes before quotes": 'a,b\n1,"x \\"y\\", z"\n2,"w"\n',
  semicolons: "a;b;c\n1;x;2.5\n2;y;3\n",
  "decimal commas": "a;b\n1,5;x\n2;y\n-3,25;z\n",
  tabs: "a\tb\n1\tx\n2\t\n",
  bars: "a|b\n1|x\n2|y\n",
  spaces: "a b c\n1 2 x\n3 4 y\n",
  "comma and space before quotes": 'a, b\n"x, y", "z"\n"u", "v, w"\n',
  "a separator that is said": ["a:b\n1:x\n2:y\n", { delimiter: ":" }],
  "no header": "1,x\n2,y\n3,z\n",
  "a header that is said": ["x,y\na,b\nc,d\n", { header: false }],
  "lines to skip": ["a remark\nanother\na,b\n1,x\n2,y\n", { skipLines: 2 }],
  "names twice and none": "a,a,\n1,2,3\n4,5,6\n",
  "what is missing": "a,b,c\n1,x,\nNA,?,3\nnull,N/A, NA\n4,NaN,  NA  \n",
  "marks that are said": ["a,b\n1,x\n-99,-\n3,y\n", { missing: ["-99", "-"] }],
  "a mark that is a number": ["a\n1\n9\n2\n9\n", { missing: ["9.0"] }],
  "all missing": "a,b\n,1\nNA,2\n",
  "ids with leading zeros": ["id,v\n007,1\n7,2\n08,3\n", { asText: ["id"] }],
  "leading zeros as numbers": "id,v\n007,1\n08,3\n",
  "long numbers": "id,v\n12345678901234567,1\n12345678901234568,2\n",
  "long numbers further down": `id,v\n${many((i) => (i < 650 ? `${i},1` : `12345678901234567${i},1`))}`,
  "text further down": `a,b\n${many((i) => (i === 690 ? "other,1" : `${i},1`))}`,
  "a missing mark further down": `a,b\n${many((i) => (i === 690 ? "  NA ,1" : `${i}.5,1`))}`,
  dates: "d,v\n2020-01-05,1\n1969-12-31,2\n0099-03-01,3\n",
  "dates and times": "d\n2020-01-05 10:30\n2020-02-29T23:59:59.123456\n1900-01-01 24:00:00\n",
  "dates that are none": "d,v\n2020-01-05,1\n2019-02-29,2\n",
  booleans: "a,b\ntrue,1\nfalse,0\n,1\n",
  numbers: "a\n1\n-2.5\n+3\n.5\n6.\n1e3\n-1E-2\n 7 \n",
  infinities: "a,b\ninf,1\n-Infinity,2\n3,4\n",
  "numbers to JavaScript alone": "a,b\n0x10,1\n0b1,2\n",
  "one column": "a\n1\n2\n",
  "one column of words": "name\nx\ny\n",
  "spaces around": "a , b\n 1 , x \n2,  y\n",
  "spaces that do not break": "a,b\n\u00a01,x\n2,\u00a0y\n",
  unicode: "näme,größe\nJosé,1\nJose\u0301,2\n😀,3\n\ue000,4\n",
  "empty lines": "a,b\n1,x\n\n2,y\n\n",
  "empty lines at the start": "\n\na,b\n1,x\n",
  "empty lines in one column": "a\n1\n\n2\n\n",
  "quoted nothing in one column": 'a\n1\n""\n2\n',
  "lines of spaces": "a,b\n1,x\n  \n2,y\n",
  "a separator at the end of every line": "a,b,\n1,x,\n2,y,\n",
  "columns that are asked for": ["a,b,c\n1,x,2\n3,y,4\n", { columns: ["c", "a"] }],
  "a column that is not there": ["alpha,b\n1,2\n", { columns: ["alpa"] }],
  "an apostrophe inside": "a,b\nit's,1\nthat's,2\n",
  "quotes inside a cell": 'a,b\n5" pipe,1\n6" pipe,2\n',
  "nearly numeric": `a,b\n${many((i) => `${i % 20 === 0 ? "unknown" : i},x`, 100)}`,
  "header alone": "a,b\n",
  empty: " \n",
  ragged: "a,b\n1,2\n1,2,3\n4,5\n6,7\n",
};

describe("parseTable reads a text as readTable reads a file", () => {
  it.each(Object.entries(TEXTS))("%s", async (_, given) => {
    const [text, options] = typeof given === "string" ? [given, {}] : given;
    const [parsed, read] = await both(text, options);
    expect(parsed).toEqual(read);
  });

  it("any table of plain, quoted and missing cells", async () => {
    const plain = fc.constantFrom(
      "x",
      "y z",
      "0",
      "7",
      "-1.5",
      "007",
      "NA",
      "",
      "2020-01-05",
      "é",
      "true",
      "1e3",
    );
    const cell = fc.oneof(
      { weight: 4, arbitrary: plain },
      fc.constantFrom('"a,b"', '"say ""so"""', '"1;2"', '"two\nlines"', '" 5 "'),
    );
    const table = fc
      .tuple(fc.integer({ min: 2, max: 4 }), fc.constantFrom(",", ";", "\t"), fc.constantFrom("\n", "\r\n"))
      .chain(([columns, separator, end]) =>
        fc
          .array(fc.array(cell, { minLength: columns, maxLength: columns }), { minLength: 1, maxLength: 8 })
          .map((rows) => {
            const names = Array.from({ length: columns }, (_, i) => `c${i}`);
            return [names, ...rows].map((row) => row.join(separator)).join(end);
          }),
      );
    await fc.assert(
      fc.asyncProperty(table, async (text) => {
        const [parsed, read] = await both(text, {}, "any.csv");
        expect(parsed).toEqual(read);
      }),
      { numRuns: 60 },
    );
  });
});

describe("parseTable", () => {
  it("takes time that grows with the text, whatever stands in it", async () => {
    const long = 1_000_000;
    const texts = [
      `a,b\n${"x".repeat(long)},1\n`,
      `a,b\n"${'""'.repeat(long / 2)}",1\n`,
      `a\tb\n1\t${" ".repeat(long)}\n`,
      `a\tb\n${"\t\n".repeat(long / 4)}`,
      `a,b\n${"'x,".repeat(2)}${"y".repeat(long)}\n1,2\n1,2\n`,
    ];
    for (const text of texts) await parseTable(text).catch(() => {});
    const rows = many((i) => `${i},"v ${i}",${i % 7 === 0 ? "NA" : i / 4}`, 200_000);
    const table = await parseTable(`a,b,c\n${rows}`);
    expect(table.rows).toBe(200_000);
  }, 20_000);

  it("says which quotes do not match, and which line is ragged", async () => {
    await expect(parseTable('a,b\n1,"x\n2,y\n', { name: "t" })).rejects.toThrow(dialectTexts.quote("t", 2));
    await expect(parseTable('a,b\n1,"x"z\n2,y\n', { name: "t" })).rejects.toThrow(dialectTexts.quote("t", 2));
    await expect(parseTable("a,b\n1,2\n3,4\n5\n6,7\n", { name: "t" })).rejects.toThrow(
      dialectTexts.ragged("t", 4, 1, 2),
    );
  });

  it("stops when it is told to", async () => {
    const text = `a,b\n${many((i) => `${i},1`, 100_000)}`;
    await expect(parseTable(text, { signal: AbortSignal.abort("stop") })).rejects.toBe("stop");
  });
});
