import { readFileSync } from "node:fs";
import * as zlib from "node:zlib";
import { gzipSync } from "node:zlib";
import * as arrow from "apache-arrow";
import { describe, expect, test, vi } from "vitest";
import { EnvironmentError, InputError } from "../../src/core/errors.js";
import { arrowTexts } from "../../src/sources/arrow-relation.js";
import { loadedTexts } from "../../src/sources/loaded-relation.js";
import { decompressLz4, lz4Texts } from "../../src/sources/lz4.js";
import { packageTexts } from "../../src/sources/optional-package.js";
import { readTable, sourceTexts, streamTable } from "../../src/sources/source.js";
import { dialectTexts } from "../../src/tables/dialect.js";
import { cells, contents, temporaryFolder, unpacked } from "./files.js";

const { at, file } = temporaryFolder();

/**
 * 400 rows: n = row % 5, s = "text " repeated row % 4 times, t one of red, green, blue and red again. Written by
 * pyarrow 25 as an Arrow file (Feather 2), which are compressed with LZ4 unless one asks for something else.
 */
const PYARROW = {
  lz4: "H4sIAAAAAAACA92WaWwUZQBAv92d7c7ShS5pkaUUQa6WK6aAHKKhhSJFQlrK0XKWaylEqNJDMIIUEAjhsLii5dBSznBfGm4oEIPcVwioHBIDolwag6II9X2z35TZlRB/M83rezOzc3yzuzObnJGRlpkoRAXTAyGEV8ipivCICOEUOsVk04SGvuQ10g4ogYEQY2zj45URwsVWXpYE92FzynWtIQ40EZxsUAA6f3KprtaVsG+5uh7/LtEXjXmbU+7LF7Z9vjEfPCd5PPPYck4d2+59ynFzjeN6wGUcVy5OUuvl+Heo8cjJw1GDV8Bj7FnYNeM80sWTyToGr7FNHNYqt8lS5xCjrpk5meduXRY+xSsnKDewrLM9ZVuvue/6PXxDkqYyWyTUy3Tj1CrHFfI6Zovy/CNy8vz+3GFjCv2V+5PXQ7c943o4NGNsxc4n5xA+/hLL+Itt/x2/6xnjT1FODVtuzp9Vb2w9dfxEtTzLGfp6c76NZZkj7HzE/5gv8oRctxZkNG9EtE0X0XZwgKYLzS6iEoyLZ04p6aHjigjZz24tuJ+APM0oeFETAfleywO8Rifj7tCfzsajYQI9Cc+ET+nFeKX8ftI78aHg9QlcwNfgV00suy/fU6jGdzkQzeDqQHM6EXeAN+k03A9G0WPxeJhBz8YLYAW9Bm+Dg/RhfAZ+oK/je/CYdtiFqApx9Eu4GbxKd8TdIIsehHPgXfp9PB0+oRfi5bCV3o4PwGn6PL4KdxnM7/gRePgQBqrzdtaGpvTLuD2k0j1wJoyk38KF8CE9CwdgGb0ab4Fy+mt8Cq7QP+I78A/NBROREEvXxU2gHf067gp96QHYDwX0e3gafEx/hstgM/0V3g8n6XP4MtxmML/hh1DFyYooPge1IIFugdvCG3R33AdG0KNxPkylZ+L5sJReiTfBPvoQPgGX6Gv4FvxNV2A3H0EfXQfHQxu6A+4Cvel+eDjk0ePxFCimF+BS2Ehvw3vhOH0Gfw+/MJh7+C/QXayoyhe8JjSmm+FXIIXuhnvBMDoHj4Miejr+CL6gl+MNsIc+gI/Bd/RV/DM8oB9hF3e3F+jauBG0ptvjzpBBZ+Kh8A5diCfDPDqAP4f19Ba8G47Sp/C3cJPB3MF/QoSbFZFuIWpAQ7oJbgWd6K64Jwyh/fht+ICehufCEroMr4Nd9H58BC7Sl/FP8Af9EDt52sbQtXADaEm3xcmQTvfB2ZBL5+NJMIeejxfDWnoT3gnf0CfwBbjBYG7h+6DxWQ64I7ntQH06HidCEt0Fp8FgejgeCxPpKXg2LNJEeSleAzsirfc1c07d12LJ7AL/hALuz5ab4ap0Y5llu6TQ+2Fdees1n3F2t+BOEuVVe4i13kkrgr8X1HM3hmeTbvz68KgnTKp6dmpqXz67ek6q+7r1uSUX6Wp5uVpmHut5/c3TjpXJxm+/fwGyhxbbAgoAAA==",
  zstd: "H4sIAAAAAAACA3MMCvIPN2Rg+A8EPxgYGAQYQICLgYeBjYGVgQPIAgJGFgYWILUFqAZEMwPxDCCOAWIRsB4JoEo2BnagLgGgCMQMRlaQnAkQywAxCwMEMAJxCRBzACFIlAMqNwNoNkhaAUjcAbJvgPmMrCCzJND0F4P5EDeB7IPZDeJB7WYSwGJvHtheHiBmB9sLEnaAyoP8fwDqHxDgAdoKCQEesMkMTCxgd3gwIACyHwTAeuSANAtcTwIQq0Ddz8yADNjAbmCDugFVDhUoQmkNKC2LJMeIYS4s/oDqt+r/VRBohHCYwY5lgHgE5j8kdTyJDAxFqSnpRampeUk5panQ8BBgxBMezCzg8D3AjGwmqv8XIPl/AiNu/7Pj8f9bKP0BTRzGb2eC0BVQd8hBxWegBQyMr4okxozhLsL8Bh5EuCU0cN9lY2jT0G42FNRkAMFwYeIge6EpcVBQmFgj/189QgwMbXSIYGIQ1Dj+mZGbiUOhgQEP4Q70pwsbkn9dWNcKM3yrmKbosKOM+brkjS8scpI3ZhxQZpYWrkhJSGZq37j9TpCX5lIfxgaGCUB46txXK3fuazsDnxuFWrW/mCNv+/zWHOnPT+dMKfbomLO7cJ1rV7HMOc+CAr0DlrLbCk8fY/1sqndtR/CSY5FSxzUu7rB9/GiHJHvanKmaj7t6bjcmz+kqVLDqqTZYx+B3YPNfyc3/q3Qj9b/6Tl/3ouHHn7OnWyynaht+kqnf+EjOj/EQ+5zy/SVns03Xi6yonPRMU8vk/bk95lnPCme6Pz25R+Fz0YUZ6Unz2nk+i52RPlBcHf421jjlfdne2U9fxa4on6G21/jLOv555dn3Ol9+4ju1W9np3tWK44+OWPO+VzKo+P6NLz03dlPpgYq11VvPTVlROuWartUWvfNWFjnXKiPDVU/tUnxdciOiPeluO+9rqTXKC5gL3t2yTGe8Hbdy19rLuVPk7qq92GZTkmddPHu6znbDnbkd/beT7rQlHckVy8tueGB2f1/2pW+it69zX98X+tut8hZ7pvwix9+v3mQ3p82fVhs0683vje/bempVvhXu2KB/cB/Dvm3Vl9/pGpfpX98bseZd7a50zUu2Tt+/3dg5/ZncDN3vc+5oMz2511Ot5XXncMH7xqbq/ZU3V5y1NtPfn/mr92J+y78/Ys+3m6TUbf40e7LK/rc/ctu67zv8aUs8lM9a93vv27LqbbcNE3dfvbVWdNVds7dqKy/mNZTtVk7fbrS7cOem2ZPuNn248fZonprTG7fE7axsZY//rmZ7e39D/e6cv95f9UWW1/f9k+T6kn9uv2nav8Sf7Kkn98v9zzrwQ/3R/Dau/3x/qn9/zesuizZK2n5XKmWFgFDi3wfHBWTkY9PWlH3o3NLsv6S/SpyDYQc3UjrcwQUsojRKUitKFBgZNjTHb2FgcEBOpw6scxkYAmBFJBMQap77w8DmAS3XGODltQi4JALVWpBszQIu3zWg9QZIswS0fJGAlgPI5R1IiAMqfgIqBqsfhmtdaQGUdAS3GQBrRzYWOggAAA==",
};
/** Of 10 digits with 2 decimals, 30 with none twice, and 60 with 2; a stream that pyarrow 25 wrote. */
const DECIMALS =
  "H4sIAAAAAAACA/v///9/DUYGBgEGEOBi4GFgY2Bl4ACygICRBchnAPI4gCQLlITgPUBcAcQeUH4K0BygBnaQOSpQMRBgA+LyzJTU4hKI+QJgc3jA5tsAMRPYHgaGJUj6JZD0g+ic/Lx0EPsaUI0ckL6ApFYGSS0ryK6M/JxUoK0cQFGQ3SD1AgwiQD4bAzvYNwJQv0L0K6DpT07NKykG+5kH7FIOsKuh7gQCoNX/JYDuFYHyeRjEoCHGAzadgZkF7H4BRqgCoG4JqFkgc+YwQMKamQEBOJDYjGhiBlDaAk3eAU2+AE2+Ak1+BZr8BiidgGQ3C5K7YOpI5bNC6UssDHjB7/+ogFJ9p12cCsv8tjnNZcKu7ycOfWDw5OZikftRBgEFSXuquBlIAmz/CQOQOgDOYecxaAMAAA==";

const FOUR_HUNDRED = {
  n: Array.from({ length: 400 }, (_, row) => row % 5),
  s: Array.from({ length: 400 }, (_, row) => (row % 4 === 0 ? null : "text ".repeat(row % 4).trim())),
  t: Array.from({ length: 400 }, (_, row) => ["red", "green", "blue", "red"][row % 4]),
};

const vector = <Type extends arrow.DataType>(values: readonly unknown[], type: Type) =>
  arrow.vectorFromArray(values as Type["TValue"][], type);

const everything = () => {
  const days = [new Date("1970-01-03"), null, new Date("1969-12-31")];
  const times = [new Date("2000-01-01T12:00:00Z"), null, new Date("1969-12-31T18:00:00Z")];
  return new arrow.Table({
    age: vector([30, null, 41], new arrow.Int32()),
    count: vector([30n, null, -41n], new arrow.Int64()),
    wide: vector([4294967295, null, 0], new arrow.Uint32()),
    id: vector([9007199254740993n, null, 9007199254740995n], new arrow.Int64()),
    share: vector([1.5, null, Number.NaN], new arrow.Float64()),
    single: vector([0.5, null, Number.POSITIVE_INFINITY], new arrow.Float32()),
    sex: vector(["F", " M ", null], new arrow.Utf8()),
    color: vector(["red", null, "blue"], new arrow.Dictionary(new arrow.Utf8(), new arrow.Int8())),
    grade: vector([3, 1, null], new arrow.Dictionary(new arrow.Int32(), new arrow.Int32())),
    member: vector([true, false, null], new arrow.Bool()),
    day: vector(days, new arrow.DateDay()),
    milli: vector(times, new arrow.DateMillisecond()),
    at: vector(times, new arrow.TimestampMicrosecond()),
    nothing: vector([null, null, null], new arrow.Null()),
    clock: vector([45000, null, 1], new arrow.TimeSecond()),
    photo: vector([new Uint8Array([0, 255]), null, new Uint8Array([1])], new arrow.Binary()),
    list: vector([[1, 2], null, []], new arrow.List(new arrow.Field("item", new arrow.Int32()))),
  });
};

const EXPECTED = {
  age: [30, null, 41],
  count: [30, null, -41],
  wide: [4294967295, null, 0],
  id: ["9007199254740993", null, "9007199254740995"],
  share: [1.5, null, null],
  single: [0.5, null, null],
  sex: ["F", "M", null],
  color: ["red", null, "blue"],
  grade: ["3", "1", null],
  member: ["true", "false", null],
  day: [2, null, -1],
  milli: [10957.5, null, -0.25],
  at: [10957.5, null, -0.25],
  nothing: [null, null, null],
  clock: ["12:30:00", null, "00:00:01"],
  photo: [null, null, null],
  list: ["[1,2]", null, "[]"],
};

describe("Arrow", () => {
  test.each(["file", "stream"] as const)("as a %s, with all kinds of columns", async (kind) => {
    const path = file(`${kind}.arrow`, arrow.tableToIPC(everything(), kind));
    const table = await readTable(path);
    expect(contents(table)).toEqual(EXPECTED);
    expect(table.notes).toEqual([loadedTexts.bytes("photo")]);
    expect(table.columns[10]).toMatchObject({ kind: "numeric", unit: "days since 1970-01-01" });
    expect(table.columns[13].kind).toBe("numeric");
    const some = await readTable(path, { columns: ["sex", "age"], asText: ["age"], missing: ["F"] });
    expect(contents(some)).toEqual({ sex: [null, "M", null], age: ["30", null, "41"] });
    const query = "SELECT color, age + 1 AS older, day FROM data WHERE age > 30";
    expect(contents(await readTable(path, { query }))).toEqual({ color: ["blue"], older: [42], day: [-1] });
  });

  test("decimal numbers", async () => {
    expect(contents(await readTable(file("decimal.arrows", unpacked(DECIMALS))))).toEqual({
      cents: [12.34, null, -0.05],
      whole: [1234, null, -5],
      long: ["12345678901234567890123", null, "-7"],
      widest: [1e40, null, -2.5],
    });
  });

  test("several batches, in parts, with the same levels in every part", async () => {
    const rows = Array.from({ length: 7000 }, (_, row) => row);
    const batch = (from: number, to: number) =>
      new arrow.Table({
        n: vector(rows.slice(from, to), new arrow.Int32()),
        level: vector(
          rows.slice(from, to).map((row) => `level ${row % 3}`),
          new arrow.Utf8(),
        ),
      });
    const table = batch(0, 3000).concat(batch(3000, 3001)).concat(batch(3001, 7000));
    expect(table.batches).toHaveLength(3);
    for (const kind of ["file", "stream"] as const) {
      const path = file(`batches.${kind}`, arrow.tableToIPC(table, kind));
      const numbers: unknown[] = [];
      const sizes: number[] = [];
      for await (const part of streamTable(path, { chunkRows: 2999 })) {
        sizes.push(part.rows);
        const [n, level] = part.columns;
        numbers.push(...cells(n));
        if (level.kind !== "categorical") throw new Error("unexpected types");
        expect(level.levels).toEqual(["level 0", "level 1", "level 2"]);
        expect(cells(level)).toEqual(cells(n).map((each) => `level ${Number(each) % 3}`));
      }
      expect(sizes).toEqual([2999, 2999, 1002]);
      expect(numbers).toEqual(rows);
    }
  });

  test("columns with the same name, and none", async () => {
    const field = (name: string) => new arrow.Field(name, new arrow.Int32(), true);
    const schema = new arrow.Schema([field("a"), field("a"), field("A"), field("")]);
    const children = [1, 2, 3, 4].map((value) => vector([value], new arrow.Int32()).data[0]);
    const data = arrow.makeData({ type: new arrow.Struct(schema.fields), length: 1, children });
    const table = new arrow.Table(schema, new arrow.RecordBatch(schema, data));
    const read = await readTable(file("names.arrow", arrow.tableToIPC(table)));
    expect(contents(read)).toEqual({ a: [1], a_2: [2], A: [3], column4: [4] });
    expect(read.notes).toEqual([dialectTexts.headerNamed("a", "a_2")]);
  });

  test("that Python compressed", async () => {
    expect(contents(await readTable(file("lz4.feather", unpacked(PYARROW.lz4))))).toEqual(FOUR_HUNDRED);
    const path = file("zstd.feather", unpacked(PYARROW.zstd));
    if ("zstdDecompressSync" in zlib) expect(contents(await readTable(path))).toEqual(FOUR_HUNDRED);
    else {
      await expect(readTable(path)).rejects.toThrow(
        new EnvironmentError("arrow-codec", arrowTexts.noZstd(path)),
      );
    }
  });

  test("that is cut off, empty or something else gives one sentence", async () => {
    const nothing = file("nothing.arrow", "ARROW1\0\0 and nothing behind it");
    await expect(readTable(nothing)).rejects.toThrow(InputError);
    for (const kind of ["file", "stream"] as const) {
      const whole = arrow.tableToIPC(everything(), kind);
      for (const share of [0.3, 0.6, 0.9]) {
        const cut = file("cut.arrow", whole.subarray(0, Math.floor(share * whole.length)));
        await expect(readTable(cut), `${kind} ${share}`).rejects.toThrow(InputError);
      }
      const empty = file("empty.arrow", arrow.tableToIPC(everything().slice(0, 0), kind));
      await expect(readTable(empty)).rejects.toThrow(sourceTexts.noRows(empty));
    }
    const bare = new arrow.Table(new arrow.Schema([]));
    const without = file("without.arrow", arrow.tableToIPC(bare));
    await expect(readTable(without)).rejects.toThrow(loadedTexts.noColumns(without));
    const damaged = readFileSync(file("lz4.feather", unpacked(PYARROW.lz4)));
    damaged.fill(0xff, 700, 900);
    await expect(readTable(file("damaged.feather", damaged))).rejects.toThrow(InputError);
  });
});

describe("LZ4", () => {
  const bytes = (...parts: (string | number)[]) =>
    Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : Buffer.of(part))));
  const frame = (...blocks: Buffer[]) => {
    const head = Buffer.from([0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82]);
    const sized = blocks.flatMap((block) => {
      const size = Buffer.alloc(4);
      size.writeUInt32LE(block.length);
      return [size, block];
    });
    return Buffer.concat([head, ...sized, Buffer.alloc(4)]);
  };

  test("pieces that overlap with themselves, long ones, and a block without compression", () => {
    // Three letters, then nine more from three back, then one letter.
    const overlapping = bytes(0x35, "abc", 3, 0, 0x10, "d");
    expect(Buffer.from(decompressLz4(frame(overlapping))).toString()).toBe(`${"abc".repeat(4)}d`);
    // One letter, then 15 + 255 + 30 + 4 more of it.
    const long = bytes(0x1f, "x", 1, 0, 255, 30, 0x00);
    expect(Buffer.from(decompressLz4(frame(long))).toString()).toBe("x".repeat(305));
    // The second block refers to the first, as far back as it goes.
    const linked = frame(bytes(0x50, "hello"), bytes(0x10, " ", 5 + 1, 0, 0x00));
    expect(Buffer.from(decompressLz4(linked)).toString()).toBe("hello hell");
    const plain = frame(Buffer.from("as it is"));
    plain[10] |= 0x80;
    expect(Buffer.from(decompressLz4(plain)).toString()).toBe("as it is");
  });

  test("damage is refused and not read past", () => {
    for (const broken of [
      Buffer.from("short"),
      gzipSync("something else entirely"),
      frame(bytes(0x35, "abc", 4, 0)),
      frame(bytes(0x35, "abc", 0, 0)),
      frame(bytes(0x35, "ab")),
      frame(bytes(0xf0)),
      frame(Buffer.from("as it is")).subarray(0, 14),
    ]) {
      expect(() => decompressLz4(broken)).toThrow(lz4Texts.broken);
    }
  });
});

test("without the package it says which command installs it", async () => {
  vi.resetModules();
  vi.doMock("apache-arrow", () => {
    throw new Error("Cannot find package 'apache-arrow'");
  });
  const path = file("some.arrow", arrow.tableToIPC(everything()));
  // In this process: what is mocked here is not in another.
  const { arrowRelation } = await import("../../src/sources/arrow-relation.js");
  const { withDatabase } = await import("../../src/sources/duckdb.js");
  const read = withDatabase((connection) =>
    arrowRelation(connection, path, path, { missing: [], asText: [] }, {}),
  );
  await expect(read).rejects.toThrow(
    packageTexts.missing("reading an Arrow or Feather file", "apache-arrow"),
  );
  vi.doUnmock("apache-arrow");
  expect(at("some.arrow")).toBe(path);
});
