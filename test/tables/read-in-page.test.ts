import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pageTexts, readTable } from "../../src/tables/read-in-page.js";

describe("readTable in a page", () => {
  let server: Server;
  let root = "";
  beforeAll(async () => {
    server = createServer(({ url }, response) => {
      if (url === "/people.csv") response.end("\ufeffid;age\n007;31\n008;NA\n");
      else if (url === "/people.parquet") response.end(Buffer.from("PAR1…"));
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

  test("says what a page cannot do", async () => {
    await expect(readTable(`${root}/people.csv`, { query: "SELECT 1" })).rejects.toThrow(pageTexts.query);
    const parquet = `${root}/people.parquet`;
    await expect(readTable(parquet)).rejects.toThrow(pageTexts.kind(parquet));
    const none = `${root}/nobody.csv`;
    await expect(readTable(none)).rejects.toThrow(pageTexts.unreachable(none, "status 404"));
    await expect(readTable("http://127.0.0.1:1/x.csv")).rejects.toThrow("could not be fetched");
  });
});
