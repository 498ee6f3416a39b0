/** Files as a page has them: read piece by piece, with the same result as their text at once. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EnvironmentError } from "../../src/core/errors.js";
import type { Progress } from "../../src/core/options.js";
import { toCsv } from "../../src/tables/csv.js";
import { dialectTexts } from "../../src/tables/dialect.js";
import { parseTable } from "../../src/tables/parse-table.js";
import { readTableFile, type TableFile, tableFileTexts } from "../../src/tables/read-table-file.js";
import { columnNamed } from "../../src/tables/table.js";
import { tableOf } from "../../src/tables/table-of.js";

/** More than is looked at first, and than is fetched at once. */
const LONG = 6 * 1024 * 1024;

/** Two bytes a letter, as Windows writes them, or the other way round. */
const utf16 = (text: string, isBigEndian = false): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(2 * text.length);
  const view = new DataView(bytes.buffer);
  for (let at = 0; at < text.length; at++) view.setUint16(2 * at, text.charCodeAt(at), !isBigEndian);
  return bytes;
};

describe("a file that is read piece by piece", () => {
  test("has quotes, ends of lines and letters of several bytes across the borders of pieces", async () => {
    // Records of 4 to 40 bytes, so that the borders fall everywhere.
    const notes = ['a "b"', "two\r\nlines", "naïve 漢 \u{1f600}", "x;y,z", ""];
    const rows = Array.from({ length: 12_000 }, (_, i) => ({
      id: `p${i}`,
      note: `${notes[i % 5]}${"é".repeat((i * 7) % 13)}`,
      size: i / 8,
    }));
    const text = toCsv(tableOf(rows)).replaceAll(/\r?\n(?=p)/g, "\r\n");
    const file = new File([text], "notes.csv");
    expect(file.size).toBeGreaterThan(4 * 64 * 1024);
    expect(await readTableFile(file)).toEqual(await parseTable(text, { name: "notes.csv" }));
  });

  test("whatever its texts are, in any encoding that says which it is", async () => {
    const cell = fc.string({ unit: fc.constantFrom("a", '"', ",", "\n", "\r", "é", "漢", "\u{1f600}", " ") });
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(cell, cell), { minLength: 1, maxLength: 20 }),
        fc.constantFrom("utf-8", "utf-16le", "utf-16be"),
        async (rows, encoding) => {
          const text = toCsv(tableOf(rows.map(([one, other]) => ({ one: `x${one}`, other: `y${other}` }))));
          const marked = `\ufeff${text}`;
          const parts = encoding === "utf-8" ? marked : utf16(marked, encoding === "utf-16be");
          expect(await readTableFile(new Blob([parts]))).toEqual(await parseTable(text));
        },
      ),
      { numRuns: 60 },
    );
  });

  test("is UTF-16 over many pieces", async () => {
    const lines = Array.from({ length: 60_000 }, (_, i) => `${i},\u{1f600}${"é".repeat(i % 5)}`);
    const text = `id,face\n${lines.join("\n")}\n`;
    expect(text.length).toBeGreaterThan(512 * 1024);
    const table = await readTableFile(new Blob([utf16(`\ufeff${text}`)]));
    expect(table).toEqual(await parseTable(text));
    // A letter that is cut in half is no text.
    const broken = utf16(`\ufeff${text}`).subarray(0, -1);
    await expect(readTableFile(new Blob([broken]))).rejects.toThrow(
      tableFileTexts.encoding("the table", "utf-16le"),
    );
  });

  test("turns out to be Windows-1252 far down", async () => {
    const head = `id,town\n${"1,Bonn\n".repeat(LONG / 7)}`;
    const file = new File([head, Uint8Array.of(0x32, 0x2c, 0x4b, 0xf6, 0x6c, 0x6e, 0x0a)], "towns.csv");
    const table = await readTableFile(file);
    expect(columnNamed(table, "town")).toMatchObject({ levels: ["Bonn", "Köln"] });
    expect(table.notes).toEqual([dialectTexts.encoding("windows-1252")]);
    await expect(readTableFile(file, { encoding: "utf-8" })).rejects.toThrow(
      tableFileTexts.encoding("towns.csv", "utf-8"),
    );
    await expect(readTableFile(file, { encoding: "klingon" })).rejects.toThrow(
      tableFileTexts.encoding("towns.csv", "klingon"),
    );
  });

  test("is ragged, has a quote that is not closed, or numbers that are none, far down", async () => {
    const head = `id,age\n${"1,31\n".repeat(LONG / 5)}`;
    const line = head.split("\n").length;
    await expect(readTableFile(new File([head, "2,3,4\n"], "a.csv"))).rejects.toThrow(
      dialectTexts.ragged("a.csv", line, 3, 2),
    );
    await expect(readTableFile(new File([head, '2,"3\n'], "a.csv"))).rejects.toThrow(
      dialectTexts.quote("a.csv", line),
    );
    const table = await readTableFile(new File([head, "2,old\n"], "a.csv"));
    expect(columnNamed(table, "age")).toMatchObject({ kind: "categorical", levels: ["31", "old"] });
  });

  test("is empty, blank, or no text", async () => {
    for (const text of ["", "\ufeff", " \n\n"]) {
      await expect(readTableFile(new File([text], "none.csv"))).rejects.toThrow(
        dialectTexts.empty("none.csv"),
      );
    }
    for (const bytes of [
      Uint8Array.of(0x50, 0x4b, 3, 4),
      Uint8Array.of(0x1f, 0x8b, 8),
      Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13),
    ]) {
      await expect(readTableFile(new File([bytes], "x.csv"))).rejects.toThrow(tableFileTexts.kind("x.csv"));
    }
  });

  test("can no longer be read half-way", async () => {
    const blob = new Blob([`id,age\n${"1,31\n".repeat(LONG / 5)}`]);
    const file: TableFile = {
      size: blob.size,
      name: "gone.csv",
      slice: (start, end) => {
        if (start > 0) throw new DOMException("the file is gone", "NotReadableError");
        return blob.slice(start, end);
      },
    };
    const text = tableFileTexts.unreadable("gone.csv", "NotReadableError");
    await expect(readTableFile(file)).rejects.toThrow(new EnvironmentError("unreadable-file", text));
  });

  test("is ARFF", async () => {
    const text = "@relation r\n@attribute a {x,y}\n@attribute b numeric\n@data\ny,1\nx,?\n";
    expect(await readTableFile(new Blob([text]))).toEqual(await parseTable(text));
  });

  test("of a million rows is read, says how many bytes are done, and can be stopped", async () => {
    const part = Array.from(
      { length: 10_000 },
      (_, i) => `${i},${i % 90},${i % 2 === 0 ? "f" : "m"},"town, ${i % 300}",${i % 7 === 0 ? "" : i / 8}\n`,
    ).join("");
    const file = new File(["id,age,sex,town,score\n", ...Array.from({ length: 100 }, () => part)], "m.csv");
    const seen: Progress[] = [];
    const table = await readTableFile(file, { onProgress: (progress) => seen.push(progress) });
    expect(table.rows).toBe(1_000_000);
    const age = columnNamed(table, "age");
    expect(age.kind === "numeric" && age.values.reduce((sum, value) => sum + value, 0)).toBe(
      100 * Array.from({ length: 10_000 }, (_, i) => i % 90).reduce((sum, value) => sum + value, 0),
    );
    expect(columnNamed(table, "town")).toMatchObject({ kind: "categorical" });
    expect(seen.length).toBeGreaterThan(1);
    for (const [at, { done, total, label }] of seen.entries()) {
      expect({ total, label }).toEqual({ total: file.size, label: tableFileTexts.reading });
      expect(done).toBeGreaterThan(at === 0 ? 0 : seen[at - 1].done - 1);
      expect(done).toBeLessThanOrEqual(total);
    }
    const stop = new AbortController();
    const stopped = readTableFile(file, { signal: stop.signal, onProgress: () => stop.abort() });
    await expect(stopped).rejects.toThrow(expect.objectContaining({ name: "AbortError" }));
    await expect(readTableFile(file, { signal: AbortSignal.abort() })).rejects.toThrow("abort");
  }, 60_000);
});
