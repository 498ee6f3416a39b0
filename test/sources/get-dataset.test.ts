import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { EnvironmentError, InputError } from "../../src/core/errors.js";
import { archiveTexts, filesInArchive } from "../../src/sources/archive.js";
import { DATASETS, type Dataset, datasetNamed, datasetTexts } from "../../src/sources/catalogue.js";
import { dataFolder, dataFolderTexts, requireFile } from "../../src/sources/data-folder.js";
import { downloadTexts } from "../../src/sources/download.js";
import { getDataset, getTexts } from "../../src/sources/get-dataset.js";
import { npyTexts, readNpy } from "../../src/sources/npy.js";
import { temporaryFolder, unpacked } from "./files.js";

const { folder, at, file } = temporaryFolder();

/** By Python's zipfile: sub/data.csv deflated, stored.txt stored, inner.tar.gz with folder/inner.txt, and more.gz. */
const ZIP = Buffer.from(
  "UEsDBBQAAAAIAAAAIVAAAAAAAgAAAAAAAAAEAAAAc3ViLwMAUEsDBBQAAAAIAAAAIVD344GuCwAAAMwAAAAMAAAAc3ViL2RhdGEuY3N2S9RJ4jLUMRoWGABQSwMEFAAAAAAAAAAhULMkTpYIAAAACAAAAAoAAABzdG9yZWQudHh0YXMgaXQgaXNQSwMEFAAAAAgAAAAhUDCym1x5AAAAeQAAAAwAAABpbm5lci50YXIuZ3qT7+ZgaEz7lcX0/+1FQ65DDgKsF9bauvoJmKdc/MyxTsGj5SyX5T5vFu5q3UfVZ+X/iQSfeVpn/XzTfr9gvdrYrB9NN2SCojb/PGPR9/7uavm2Cp+F3Q/Z5Yptp5bZ/Vn+9WPsWe+7uXk8DDAg/Y3lml5HDYMGAwMAUEsDBBQAAAAIAAAAIVB34EeeGgAAABwAAAAHAAAAbW9yZS5nepPv5mAAASZm7bPaHj7n/HwZGaYl6Z8CiQIAUEsBAhQDFAAAAAgAAAAhUAAAAAACAAAAAAAAAAQAAAAAAAAAAAAAAIABAAAAAHN1Yi9QSwECFAMUAAAACAAAACFQ9+OBrgsAAADMAAAADAAAAAAAAAAAAAAAgAEkAAAAc3ViL2RhdGEuY3N2UEsBAhQDFAAAAAAAAAAhULMkTpYIAAAACAAAAAoAAAAAAAAAAAAAAIABWQAAAHN0b3JlZC50eHRQSwECFAMUAAAACAAAACFQMLKbXHkAAAB5AAAADAAAAAAAAAAAAAAAgAGJAAAAaW5uZXIudGFyLmd6UEsBAhQDFAAAAAgAAAAhUHfgR54aAAAAHAAAAAcAAAAAAAAAAAAAAIABLAEAAG1vcmUuZ3pQSwUGAAAAAAUABQATAQAAawEAAAAA",
  "base64",
);
const DATA = `a,b\n${"1,2\n".repeat(50)}`;
const INNER = "inner text\n".repeat(20);

describe("an archive", () => {
  test("gives its files, also those of archives in it", () => {
    const files = filesInArchive("download.zip", ZIP).map(({ name, contents }) => [
      name,
      contents.toString(),
    ]);
    expect(Object.fromEntries(files)).toEqual({
      "data.csv": DATA,
      "stored.txt": "as it is",
      "inner.txt": INNER,
      more: "unpacked",
    });
  });

  test.each([0, 10, 300, 659])("cut after %i bytes is refused", (length) => {
    expect(() => filesInArchive("download.zip", ZIP.subarray(0, length))).toThrow(
      archiveTexts.broken("download.zip"),
    );
  });
});

describe("an archive that unpacks to far more than data does", () => {
  const zeros = Buffer.alloc(2 ** 27);
  const small = gzipSync(zeros);
  const large = (name: string, bytes: Buffer) =>
    archiveTexts.large(name, Math.round((64 * 2 ** 20 + 200 * bytes.length) / 2 ** 20));

  test("is refused, itself and inside another", () => {
    expect(() => filesInArchive("bomb.csv.gz", small)).toThrow(large("bomb.csv.gz", small));
    const twice = gzipSync(small);
    expect(() => filesInArchive("bomb.csv.gz.gz", twice)).toThrow(large("bomb.csv.gz.gz", twice));
    let deep = gzipSync("a");
    for (let depth = 0; depth < 6; depth++) deep = gzipSync(deep);
    expect(() => filesInArchive(`deep${".gz".repeat(7)}`, deep)).toThrow(
      archiveTexts.broken(`deep${".gz".repeat(7)}`),
    );
  });

  test("as many entries of a zip that share one body", () => {
    const body = Buffer.alloc(2 ** 20);
    const local = Buffer.alloc(30);
    const entry = Buffer.alloc(47);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt32LE(body.length, 20);
    entry.writeUInt16LE(1, 28);
    entry.write("a", 46);
    const end = Buffer.alloc(22);
    end.writeUInt32LE(0x06054b50, 0);
    end.writeUInt16LE(60_000, 10);
    end.writeUInt32LE(local.length + body.length, 16);
    const zip = Buffer.concat([local, body, ...Array.from({ length: 60_000 }, () => entry), end]);
    expect(() => filesInArchive("shared.zip", zip)).toThrow(large("shared.zip", zip));
  });
});

const dataset = (archive: string): Dataset => ({
  name: "students",
  title: "a test",
  folder: "test-data",
  page: "https://example.org",
  archive,
  licence: "none",
  citation: "none",
  files: [
    {
      name: "data.csv",
      bytes: 204,
      sha256: "40abd395af41663299544b4c5df3de9d1b1da962773f9a8cee12e04c386c4d42",
    },
    {
      name: "inner.txt",
      bytes: 220,
      sha256: "5afd349684c77a6606b01a3cd239db9268abaafade383993976a51cb2ca86dd9",
    },
  ],
});

describe("a dataset from its site", () => {
  let server: Server;
  let address = "";
  /** What the next answers do: break off after so many bytes. */
  let breakAfter: number[] = [];
  let version = '"v1"';
  let ranges: (string | undefined)[] = [];
  let supportsRanges = true;
  beforeAll(async () => {
    server = createServer((request, response) => {
      if (request.url !== "/data.zip") {
        response.writeHead(404).end();
        return;
      }
      const { range, "if-range": ifRange } = request.headers;
      ranges.push(range);
      const from =
        supportsRanges && range !== undefined && ifRange === version ? Number(/\d+/.exec(range)?.[0]) : 0;
      const body = ZIP.subarray(from);
      response.writeHead(from > 0 ? 206 : 200, { "content-length": body.length, etag: version });
      const stop = breakAfter.shift();
      if (stop === undefined) response.end(body);
      else response.write(body.subarray(0, stop), () => setTimeout(() => response.destroy(), 20));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/data.zip`;
  });
  afterAll(() => server.close());
  let root = "";
  let runs = 0;
  beforeEach(() => {
    breakAfter = [];
    version = '"v1"';
    ranges = [];
    supportsRanges = true;
    runs += 1;
    root = at(`root${runs}`);
  });

  const whole = () => {
    expect(readdirSync(join(root, "test-data")).sort()).toEqual(["data.csv", "inner.txt"]);
    expect(readFileSync(join(root, "test-data", "data.csv"), "utf8")).toBe(DATA);
    expect(readFileSync(join(root, "test-data", "inner.txt"), "utf8")).toBe(INNER);
  };

  test("is downloaded, checked, unpacked, and not downloaded again", async () => {
    const seen: [number, number | undefined][] = [];
    const got = await getDataset(dataset(address), { root, onProgress: (...each) => seen.push(each) });
    whole();
    expect(got.map(({ name, had }) => [name, had])).toEqual([
      ["data.csv", false],
      ["inner.txt", false],
    ]);
    expect(seen.at(-1)).toEqual([ZIP.length, ZIP.length]);
    const again = await getDataset(dataset(address), { root });
    expect(again.every(({ had }) => had)).toBe(true);
    expect(ranges).toHaveLength(1);
  });

  test("goes on where it stopped", async () => {
    breakAfter = [100, 200];
    await expect(getDataset(dataset(address), { root })).rejects.toThrow(downloadTexts.stopped(address, 100));
    await expect(getDataset(dataset(address), { root })).rejects.toThrow(EnvironmentError);
    await getDataset(dataset(address), { root });
    whole();
    expect(ranges).toEqual([undefined, "bytes=100-", "bytes=300-"]);
  });

  test("starts anew where the file has changed, or where there are no parts to be had", async () => {
    breakAfter = [100];
    await expect(getDataset(dataset(address), { root })).rejects.toThrow(EnvironmentError);
    version = '"v2"';
    await getDataset(dataset(address), { root });
    whole();
    root = at("root-without-ranges");
    breakAfter = [100];
    supportsRanges = false;
    await expect(getDataset(dataset(address), { root })).rejects.toThrow(EnvironmentError);
    await getDataset(dataset(address), { root });
    whole();
  });

  test("is refused with another checksum, and nothing is kept", async () => {
    const { files, ...rest } = dataset(address);
    const wrong = { ...rest, files: [files[0], { ...files[1], sha256: "0".repeat(64) }] };
    await expect(getDataset(wrong, { root })).rejects.toThrow(
      getTexts.wrongContents(`inner.txt from ${address}`, files[1].sha256, "0".repeat(64)),
    );
    expect(existsSync(join(root, "test-data"))).toBe(false);
  });

  test("without an archive, or without a file in it, says what to do", async () => {
    const { archive: _, ...byHand } = dataset(address);
    const celeba = { ...byHand, byHand: "ask for it" };
    await expect(getDataset(celeba, { root })).rejects.toThrow(
      getTexts.byHand("students", "https://example.org", "ask for it"),
    );
    const { files, ...rest } = dataset(address);
    const more = { ...rest, files: [...files, { name: "third.txt", bytes: 1, sha256: "1" }] };
    await expect(getDataset(more, { root })).rejects.toThrow(getTexts.notIn("third.txt", address));
    const lost = dataset(address.replace("data.zip", "other.zip"));
    await expect(getDataset(lost, { root })).rejects.toThrow(InputError);
  });
});

describe("a dataset from files at hand", () => {
  const wanted = dataset("http://127.0.0.1:9/never-asked");

  test.each<[string, (from: string) => void]>([
    [
      "plain",
      (from) => {
        writeFileSync(join(from, "data.csv"), DATA);
        writeFileSync(join(from, "inner.txt"), INNER);
      },
    ],
    [
      "gzipped, in the folder of its name",
      (from) => {
        mkdirSync(join(from, "test-data"));
        writeFileSync(join(from, "test-data", "data.csv.gz"), gzipSync(DATA));
        writeFileSync(join(from, "test-data", "inner.txt.gz"), gzipSync(INNER));
      },
    ],
    ["in the archive", (from) => writeFileSync(join(from, "as downloaded.zip"), ZIP)],
  ])("%s", async (name, prepare) => {
    const [from, root] = [at(`from ${name}`), at(`to ${name}`)];
    mkdirSync(from);
    prepare(from);
    const got = await getDataset(wanted, { from, root });
    expect(got).toHaveLength(2);
    for (const { path } of got) expect(existsSync(path)).toBe(true);
    expect((await getDataset(wanted, { root })).every(({ had }) => had)).toBe(true);
    expect(readdirSync(join(root, "test-data")).filter((each) => each.endsWith(".tmp"))).toEqual([]);
  });

  test("is refused where it is wrong or not there", async () => {
    const [from, root] = [at("wrong"), at("wrong root")];
    mkdirSync(from);
    await expect(getDataset(wanted, { from: at("no folder"), root })).rejects.toThrow(
      getTexts.noFolder(at("no folder")),
    );
    await expect(getDataset(wanted, { from, root })).rejects.toThrow(getTexts.notIn("data.csv", from));
    writeFileSync(join(from, "data.csv"), `${DATA}3,4\n`);
    writeFileSync(join(from, "inner.txt"), INNER);
    await expect(getDataset(wanted, { from, root })).rejects.toThrow(/is not the published file/);
    expect(existsSync(root)).toBe(false);
  });
});

describe("the catalogue", () => {
  test("knows its names", () => {
    expect(DATASETS.map(({ name }) => name)).toEqual([
      "students",
      "census",
      "adult",
      "german",
      "bank",
      "celeba",
    ]);
    expect(() => datasetNamed("student")).toThrow(datasetTexts.unknown("student", "students", []));
    for (const { files } of DATASETS)
      for (const { sha256 } of files) expect(sha256).toMatch(/^[0-9a-f]{64}$/);
  });

  test("looks where it is told, or in the user's cache", () => {
    expect(dataFolder({ FAIRBED_DATA: "/data", XDG_CACHE_HOME: "/cache" })).toBe("/data");
    expect(dataFolder({ XDG_CACHE_HOME: "/cache" })).toBe(join("/cache", "fairbed", "data"));
    expect(dataFolder({ FAIRBED_DATA: "" })).toMatch(/fairbed.data$/);
    const german = datasetNamed("german");
    expect(() => requireFile(german, "german.data", folder)).toThrow(dataFolderTexts.notHere(german, folder));
  });
});

describe("a NumPy file", () => {
  /** np.array([[1.5, -2], [3, 4.25], [5, 6]], "<f4") and np.array([1, 2], "<i8"), gzipped. */
  const FLOATS =
    "H4sIAAAAAAACA5vsF+obEMnIUMZQrZ6SWpxcpG6loG6TZqKuo6Cell9UUpSYF59flJIKEndLzClOBYoXZyQWpAL5GsY6CkaaOgq1CmQDLgaGA/YMQIKBwcGBgaEDiBcA8QEHACQXV1aYAAAA";
  const INTEGERS =
    "H4sIAAAAAAACA5vsF+obEMnIUMZQrZ6SWpxcpG6loG6TaaGuo6Cell9UUpSYF59flJIKEndLzClOBYoXZyQWpAL5GkY6mjoKtQoUAC5GBghggtIADPwc6ZAAAAA=";

  test("is read, gzipped or not", async () => {
    const expected = { rows: 3, columns: 2, values: Float32Array.of(1.5, -2, 3, 4.25, 5, 6) };
    expect(await readNpy(file("floats.npy.gz", Buffer.from(FLOATS, "base64")))).toEqual(expected);
    expect(await readNpy(file("floats.npy", unpacked(FLOATS)))).toEqual(expected);
  });

  test("of another kind is refused", async () => {
    const integers = file("integers.npy", unpacked(INTEGERS));
    await expect(readNpy(integers)).rejects.toThrow(npyTexts.notRead(integers, "its type is <i8"));
    const none = file("none.npy", "text");
    await expect(readNpy(none)).rejects.toThrow(npyTexts.notRead(none, "it is none"));
    const short = file("short.npy", unpacked(FLOATS).subarray(0, 140));
    await expect(readNpy(short)).rejects.toThrow(npyTexts.notRead(short, "it is cut short"));
    const bomb = file("bomb.npy.gz", gzipSync(Buffer.concat([unpacked(FLOATS), Buffer.alloc(2 ** 24)])));
    await expect(readNpy(bomb)).rejects.toThrow(
      npyTexts.notRead(bomb, "it unpacks to far more than numbers do"),
    );
  });

  test("cut anywhere is refused", async () => {
    const whole = unpacked(FLOATS);
    for (let length = 0; length < whole.length; length++) {
      const cut = file("cut.npy", whole.subarray(0, length));
      await expect(readNpy(cut), `${length} bytes`).rejects.toThrow(InputError);
    }
  });
});
