import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { csvText, parseCsv, toCsv } from "../../src/tables/csv.js";
import { parseTable } from "../../src/tables/parse-table.js";
import { ROOT } from "../setup/dist.js";

describe("what is written as CSV", () => {
  it("is quoted as RFC 4180 says", () => {
    expect(
      csvText([
        ["a", "b c", 'say "so"'],
        ["x,y", "two\nlines", "r\rs"],
        [1, -2.5, null],
      ]),
    ).toBe('a,b c,"say ""so"""\n"x,y","two\nlines","r\rs"\n1,-2.5,\n');
  });

  // The beginnings that OWASP names under "CSV injection".
  it.each(["=1+1", "+1+1", "-1+cmd|' /C calc'!A0", "@SUM(A1)", "\t=1", "\r=1", "=", "-a", "- 1 x"])(
    "is no formula: %j",
    (text) => {
      const [[cell]] = parseCsv(csvText([[text, "x"]]));
      expect(cell).toBe(`'${text}`);
    },
  );

  it.each(["-1.5", "+3", "-1.5 2 -3", "-", "- - 1", "-1;2", "1e-5", "a=b", " =1"])(
    "stays as it is: %j",
    (text) => {
      expect(csvText([[text]])).toBe(`${text}\n`);
    },
  );

  it("stays a number where it is one", () => {
    expect(csvText([[-1.5, 1e21, -0, true]])).toBe("-1.5,1e+21,0,true\n");
  });

  it("has a row for every row, even one with nothing in it", async () => {
    const table = await parseTable('a\nx\n""\ny\n');
    expect(toCsv(table)).toBe('a\nx\n""\ny\n');
  });

  it("any text survives commas, quotes and ends of lines", () => {
    const field = fc.string({ unit: fc.constantFrom("a", ",", '"', "\n", " ", "é") });
    const rows = fc.array(fc.array(field, { minLength: 2, maxLength: 4 }), { minLength: 1 });
    fc.assert(
      fc.property(rows, (given) => {
        expect(parseCsv(csvText(given))).toEqual(given);
      }),
    );
  });

  it.each(readdirSync(join(ROOT, "results")).filter((name) => name.endsWith(".csv")))(
    "is what is committed: results/%s",
    (name) => {
      const text = readFileSync(join(ROOT, "results", name), "utf8");
      expect(csvText(parseCsv(text)) === text).toBe(true);
    },
  );
});

describe("toCsv", () => {
  it("is read back as the same table", async () => {
    const text =
      'id,age,when,note\n007,31,2020-01-05,"a, ""b"""\n8,,2020-02-29 10:30:15.25,\n9,-2.5,,"two\nlines"\n';
    const table = await parseTable(text, { asText: ["id"] });
    expect(await parseTable(toCsv(table), { asText: ["id"] })).toEqual(table);
    expect(toCsv(table)).toBe(text.replace("15.25", "15.250"));
  });
});
