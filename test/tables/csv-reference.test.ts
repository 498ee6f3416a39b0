/** Our reader of CSV beside an independent one, csv-parse, on random and on hostile texts. */
import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { withCsvRows } from "../../src/tables/csv-rows.js";
import { recordsOf } from "../../src/tables/records.js";

const STYLE = { delimiter: ",", quote: '"', escape: '"' };

/** The other reader, as strict as it can be; undefined where it refuses the text. */
const theirs = (text: string, delimiter = ","): readonly (readonly string[])[] | undefined => {
  try {
    return parse(text, {
      delimiter,
      bom: true,
      relax_column_count: true,
      record_delimiter: ["\r\n", "\n", "\r"],
      skip_empty_lines: false,
    });
  } catch {
    return undefined;
  }
};

/** Ours, through pieces of any length, without a header and with all as text. */
const ours = async (
  text: string,
  delimiter: string,
  piece: number,
): Promise<readonly (readonly string[])[]> => {
  const pieces = function* () {
    for (let at = 0; at < text.length; at += piece) yield text.slice(at, at + piece);
  };
  const whole = { start: text, whole: true, pieces };
  return withCsvRows("t", whole, { delimiter, header: false, escape: "quote" }, async (rows) => {
    const read: (readonly string[])[] = [];
    for await (const batch of rows.read()) for (const cells of batch) read.push(cells);
    return read;
  });
};

const cell = fc.oneof(
  fc.string({ unit: fc.constantFrom("a", "é", "😀", " ", ",", ";", "\t", '"', "'", "\\", "\n", "\r", "1") }),
  fc.constantFrom("", "NA", "=1+1", "C:\\a\\", '""', "\u2028", "\ufeff", "0", "-1e5", "x".repeat(300)),
);

describe("texts of tables", () => {
  it("are read as csv-parse reads them, and as they were written, in pieces of any length", async () => {
    const given = fc.record({
      delimiter: fc.constantFrom(",", ";", "\t", "|"),
      end: fc.constantFrom("\n", "\r\n", "\r"),
      hasLastEnd: fc.boolean(),
      piece: fc.integer({ min: 1, max: 40 }),
      needless: fc.boolean(),
      rows: fc.integer({ min: 2, max: 5 }).chain((columns) =>
        fc.array(fc.array(cell, { minLength: columns, maxLength: columns }), {
          minLength: 1,
          maxLength: 9,
        }),
      ),
    });
    await fc.assert(
      fc.asyncProperty(given, async ({ delimiter, end, hasLastEnd, piece, needless, rows }) => {
        const written = (text: string) =>
          needless || /^\ufeff|["\r\n]/.test(text) || text.includes(delimiter)
            ? `"${text.replaceAll('"', '""')}"`
            : text;
        const text = rows.map((row) => row.map(written).join(delimiter)).join(end) + (hasLastEnd ? end : "");
        fc.pre(/\S/.test(text));
        // Cells that begin with an apostrophe may be taken as quoted by it, which is a dialect that the reader knows.
        fc.pre(!rows.flat().some((each) => /^\s*'/.test(each)));
        const read = await ours(text, delimiter, piece);
        expect(read).toEqual(rows);
        expect(theirs(text, delimiter)).toEqual(rows);
      }),
      { numRuns: 400, seed: 15 },
    );
  });

  it("that are anything at all: what csv-parse reads is read the same", () => {
    const text = fc.string({
      unit: fc.constantFrom("a", "b", ",", ",", '"', '"', '""', "\n", "\r\n", "\r", " ", "é", "\\"),
      maxLength: 60,
    });
    let compared = 0;
    fc.assert(
      fc.property(text, (given) => {
        const reference = theirs(given);
        const records = [...recordsOf(given, STYLE)];
        if (reference === undefined) {
          // Ours is broken too, or has a quote in the middle of a cell without quotes, which it takes as it stands,
          // or spaces behind a closing quote, which it leaves out.
          const isLenient = /[^,"\r\n]"|" +([,\r\n]|$)/.test(given);
          expect(records.some((record) => record.broken) || isLenient).toBe(true);
          return;
        }
        compared += 1;
        expect(records.map(({ cells }) => cells)).toEqual(reference);
        expect(records.some((record) => record.broken)).toBe(false);
      }),
      { numRuns: 5000, seed: 15 },
    );
    expect(compared).toBeGreaterThan(500);
  });
});
