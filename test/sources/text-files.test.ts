/** How text is written: its letters, its quotes, and files that are too much of something. */
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.js";
import { fileTexts } from "../../src/sources/file-kind.js";
import { readTable, streamTable } from "../../src/sources/source.js";
import { encodingTexts } from "../../src/sources/text-encoding.js";
import { dialectTexts, MOST_COLUMNS } from "../../src/tables/dialect.js";
import { parseTable } from "../../src/tables/parse-table.js";
import { contents, temporaryFolder } from "./files.js";

const { at, file } = temporaryFolder();

describe("encodings", () => {
  const TOWNS = { town: ["Zürich", "“Œuf”", "10 €"], n: [1, 2, 3] };
  const windows = Buffer.concat([
    Buffer.from("town,n\nZ\xfcrich,1\n", "latin1"),
    // What Latin-1 has not: quotes, a ligature and the euro.
    Buffer.from([0x93, 0x8c, 0x75, 0x66, 0x94, 0x2c, 0x32, 0x0a, 0x31, 0x30, 0x20, 0x80, 0x2c, 0x33, 0x0a]),
  ]);
  const text = "town,n\nZürich,1\n“Œuf”,2\n10 €,3\n";
  const swapped = Buffer.from(`\ufeff${text}`, "utf16le").swap16();

  test.each<[string, Uint8Array, readonly string[]]>([
    ["Windows-1252", windows, [dialectTexts.encoding("windows-1252")]],
    ["Windows-1252, packed", gzipSync(windows), [dialectTexts.encoding("windows-1252")]],
    ["UTF-8", Buffer.from(text), []],
    ["UTF-8 with a byte order mark", Buffer.from(`\ufeff${text}`), []],
    ["UTF-16, little end first", Buffer.from(`\ufeff${text}`, "utf16le"), []],
    ["UTF-16, big end first", swapped, []],
  ])("%s", async (_, bytes, notes) => {
    const table = await readTable(file("towns.csv", bytes));
    expect(contents(table)).toEqual(TOWNS);
    expect(table.notes).toEqual(notes);
  });

  test("a letter that is no UTF-8 beyond the part that is looked at first", async () => {
    const head = Buffer.from(`a,b\n${"1,some text that fills the file\n".repeat(150_000)}`);
    const path = file("far.csv", Buffer.concat([head, Buffer.from("2,caf\xe9\n", "latin1")]));
    const table = await readTable(path);
    expect(table.rows).toBe(150_001);
    expect(table.columns[1]).toMatchObject({ levels: ["café", "some text that fills the file"] });
    expect(table.notes).toEqual([dialectTexts.encoding("windows-1252")]);
    let rows = 0;
    for await (const part of streamTable(path)) rows += part.rows;
    expect(rows).toBe(150_001);
  });

  test("that are said", async () => {
    const path = file("said.csv", Buffer.from("a,b\n\x8a\xe0,1\n", "latin1"));
    expect(contents(await readTable(path, { encoding: "macintosh" }))).toEqual({ a: ["ä‡"], b: [1] });
    const without = file("without.csv", Buffer.from(text, "utf16le"));
    expect(contents(await readTable(without, { encoding: "UTF-16LE" }))).toEqual(TOWNS);
    await expect(readTable(without)).rejects.toThrow(fileTexts.noTable(without, "binary data"));
    await expect(readTable(path, { encoding: "utf-8" })).rejects.toThrow(encodingTexts.not(path, "utf-8"));
    await expect(readTable(path, { encoding: "klingon" })).rejects.toThrow(encodingTexts.unknown("klingon"));
  });

  test("of JSON is UTF-8", async () => {
    const path = file("latin.jsonl", Buffer.from('{"a": "caf\xe9"}\n', "latin1"));
    await expect(readTable(path)).rejects.toThrow(fileTexts.notUtf8(path));
  });
});

describe("quotes and backslashes", () => {
  const both = async (text: string, options = {}) => {
    const read = await readTable(file("quotes.csv", text), { ...options, name: "t" });
    expect(await parseTable(text, { ...options, name: "t" })).toEqual(read);
    return read;
  };

  test("a backslash before a closing quote is a character like any other", async () => {
    const paths = 'path,n\n"C:\\a\\",1\n"D:\\b ""c""\\",2\n';
    expect(contents(await both(paths))).toEqual({ path: ["C:\\a\\", 'D:\\b "c"\\'], n: [1, 2] });
  });

  test("it escapes the quote where the table cannot be read otherwise, which is said", async () => {
    const escaped = 'id,note\n1,"a \\"b\\", c\\\\"\n2,"d"\n';
    const table = await both(escaped);
    expect(contents(table)).toEqual({ id: [1, 2], note: ['a "b", c\\', "d"] });
    expect(table.notes).toEqual([dialectTexts.backslash]);
    const late = `id,note\n${"1,x\n".repeat(5000)}2,"say \\"so\\""\n`;
    const read = await both(late);
    expect(read.columns[1]).toMatchObject({ levels: ['say "so"', "x"] });
    expect(read.notes).toEqual([dialectTexts.backslash]);
    let rows = 0;
    for await (const part of streamTable(file("late.csv", late), { chunkRows: 1000 })) rows += part.rows;
    expect(rows).toBe(5001);
  });

  test("what is said holds", async () => {
    const paths = 'path,n\n"C:\\a\\",1\n"D:\\",2\n';
    await expect(both(paths, { escape: "backslash" })).rejects.toThrow(InputError);
    const escaped = 'id,note\n1,"a \\"b\\", c"\n2,"d"\n';
    await expect(both(escaped, { escape: "quote" })).rejects.toThrow(InputError);
    const table = await both(escaped, { escape: "backslash" });
    expect(contents(table)).toEqual({ id: [1, 2], note: ['a "b", c', "d"] });
    expect(table.notes).toEqual([]);
    await expect(both(paths, { escape: "slash" })).rejects.toThrow(dialectTexts.escape("slash"));
  });
});

describe("what cannot be a table is refused in one sentence", () => {
  test("without a row of it", async () => {
    const rows = "Jane Doe,0612345,HIV\n".repeat(20_000);
    for (const text of [
      `name,number,ill\n${rows}Jane Doe,0612345\n`,
      `name,number,ill\n${rows}"Jane Doe,0612345,HIV\n`,
      `name,number,ill\n${rows}"Jane" Doe,0612345,HIV\n`,
      `name,number,ill\nJane Doe,0612345\nJane Doe\n`,
    ]) {
      const error = await readTable(file("secret.csv", text)).catch((error) => error);
      expect(error).toBeInstanceOf(InputError);
      // Nor in what a program prints that shows the whole error.
      expect(`${error.message} ${error.cause} ${JSON.stringify(error)}`).not.toMatch(/Jane|Doe|0612345|HIV/);
    }
  });

  test("a separator that separates nothing", async () => {
    const path = file("plain.csv", "a,b\n1,2\n");
    for (const delimiter of ["", "\n", '"']) {
      await expect(readTable(path, { delimiter })).rejects.toThrow(
        new InputError("delimiter", dialectTexts.delimiter(delimiter)),
      );
    }
  });

  test("more columns than any table has", async () => {
    const path = file("commas.csv", `${",".repeat(150_000)}\n${"1,".repeat(150_000)}\n`);
    await expect(readTable(path)).rejects.toThrow(dialectTexts.tooWide(path, 1, 150_001));
    const wide = Array.from({ length: MOST_COLUMNS }, (_, column) => `c${column}`).join();
    expect((await readTable(file("wide.csv", `${wide}\n${wide}\n`))).columns).toHaveLength(MOST_COLUMNS);
  });

  test("a packed file that unpacks to hundreds of times its size", async () => {
    const path = file("bomb.csv.gz", gzipSync(`a\n${`${"x".repeat(9999)}\n`.repeat(8000)}`));
    await expect(readTable(path)).rejects.toThrow(new InputError("broken-gzip", encodingTexts.bomb(path)));
  });

  test("no name, one that is too long, a folder", async () => {
    await expect(readTable("")).rejects.toThrow(InputError);
    const long = at(`${"n".repeat(250)}/${"m".repeat(300)}.csv`);
    await expect(readTable(long)).rejects.toThrow(/^(there is no file|the name of a file is longer)/);
    await expect(readTable(at(`${"m".repeat(300)}.csv`))).rejects.toThrow(
      fileTexts.nameTooLong(at(`${"m".repeat(300)}.csv`)),
    );
    await expect(readTable(at("."))).rejects.toThrow(fileTexts.folder(at(".")));
  });
});
