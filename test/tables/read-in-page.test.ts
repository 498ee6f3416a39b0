import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { dialectTexts } from "../../src/tables/dialect.js";
import { pageTexts, readTable } from "../../src/tables/read-in-page.js";
import { tableFileTexts } from "../../src/tables/read-table-file.js";

describe("readTable in a page", () => {
  let server: Server;
  let root = "";
  beforeAll(async () => {
    server = createServer(({ url }, response) => {
      if (url === "/people.csv") response.end("\ufeffid;age\n007;31\n008;NA\n");
      else if (url === "/latin.csv") response.end(Buffer.from("a,b\ncaf\xe9,1\n", "latin1"));
      else if (url === "/wide.csv") response.end(Buffer.from("\ufeffa,b\ncafé,1\n", "utf16le"));
      else if (url === "/t.arff") response.end("@relation r\n@attribute a {x,y}\n@data\ny\n");
      else if (url === "/people.xlsx") response.end(Buffer.from("PK…"));
      else {
        response.statusCode = 404;
        response.end();
      }
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    root = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => server.close());

  test("fetches an address and reads it as CSV, with the options of Node's", async () => {
    const table = await readTable(`${root}/people.csv`, { asText: ["id"] });
    expect(table.name).toBe(`${root}/people.csv`);
    expect(table.columns).toMatchObject([
      { kind: "categorical", levels: ["007", "008"] },
      { kind: "numeric", values: Float64Array.of(31, Number.NaN) },
    ]);
    expect((await readTable(`${root}/people.csv`, { columns: ["age"], name: "people" })).name).toBe("people");
  });

  test("finds the encoding of a text, and reads ARFF", async () => {
    const latin = await readTable(`${root}/latin.csv`);
    expect(latin.columns[0]).toMatchObject({ levels: ["café"] });
    expect(latin.notes).toEqual([dialectTexts.encoding("windows-1252")]);
    expect((await readTable(`${root}/wide.csv`)).columns[0]).toMatchObject({ levels: ["café"] });
    expect((await readTable(`${root}/t.arff`)).columns[0]).toMatchObject({ name: "a", levels: ["y"] });
    const mac = await readTable(`${root}/latin.csv`, { encoding: "macintosh" });
    expect(mac.columns[0]).toMatchObject({ levels: ["cafÈ"] });
    await expect(readTable(`${root}/latin.csv`, { encoding: "utf-8" })).rejects.toThrow(
      tableFileTexts.encoding(`${root}/latin.csv`, "utf-8"),
    );
  });

  test("reads a file that somebody chose, under its own name", async () => {
    const file = new File(["\ufeffid;age\n007;31\n008;NA\n"], "people.csv");
    const table = await readTable(file, { asText: ["id"] });
    expect(table.name).toBe("people.csv");
    expect(table.columns).toEqual((await readTable(`${root}/people.csv`, { asText: ["id"] })).columns);
    await expect(readTable(file, { query: "SELECT 1" })).rejects.toThrow(pageTexts.query);
  });

  test("says what a page cannot do", async () => {
    await expect(readTable(`${root}/people.csv`, { query: "SELECT 1" })).rejects.toThrow(pageTexts.query);
    const workbook = `${root}/people.xlsx`;
    await expect(readTable(workbook)).rejects.toThrow(tableFileTexts.kind(workbook));
    const none = `${root}/nobody.csv`;
    await expect(readTable(none)).rejects.toThrow(pageTexts.unreachable(none, "status 404"));
    await expect(readTable("http://127.0.0.1:1/x.csv")).rejects.toThrow("could not be fetched");
  });
});
