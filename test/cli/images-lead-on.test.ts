/** The folder that `data embed` writes is the table of the next command. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { InputError } from "../../src/core/errors.js";
import { imageTexts } from "../../src/sources/images/texts.js";
import { readTable, streamTable } from "../../src/sources/source.js";
import { joinTexts } from "../../src/tables/join-rows.js";
import { needsDist } from "../setup/dist.js";
import { tinyNetwork } from "../sources/tiny-network.js";
import { invoke } from "./one-process.js";

needsDist();
const folder = mkdtempSync(join(tmpdir(), "fairbed-images-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string) => join(folder, name);
const IMAGES = 80;
const nameOf = (i: number) => `faces/${i}.png`;

/** Red says whether somebody was hired, green their sex, each with noise that repeats every few images. */
const person = (i: number) => ({
  hired: i % 2 === 0 ? "yes" : "no",
  sex: Math.floor(i / 2) % 2 === 0 ? "f" : "m",
  red: (i % 2 === 0 ? 150 : 90) + ((i * 7) % 60),
  green: (Math.floor(i / 2) % 2 === 0 ? 140 : 100) + ((i * 11) % 60),
});

const labelsOf = (images: readonly number[]): string =>
  `image,hired,sex\n${images.map((i) => `${nameOf(i)},${person(i).hired},${person(i).sex}\n`).join("")}`;

const json = async (...words: string[]) => {
  const { code, stdout, stderr } = await invoke([...words, "--json", "--quiet"]);
  expect(stderr).toBe("");
  expect(code).toBe(0);
  return JSON.parse(stdout);
};

const all = Array.from({ length: IMAGES }, (_, i) => i);
const roles = ["--target", "hired=yes", "--sensitive", "sex"];

beforeAll(async () => {
  mkdirSync(at("photos/faces"), { recursive: true });
  writeFileSync(at("tiny.onnx"), tinyNetwork());
  for (const i of all) {
    const { red: r, green: g } = person(i);
    const create = { width: 8, height: 8, channels: 3 as const, background: { r, g, b: 128 } };
    await sharp({ create }).toFile(join(at("photos"), nameOf(i)));
  }
  writeFileSync(at("all.csv"), labelsOf(all));
  // Some images have no label, and one label no image.
  writeFileSync(at("some.csv"), `${labelsOf(all.slice(0, 40))}faces/none.png,yes,f\n`);
  const embed = ["data", "embed", at("photos"), "--model", at("tiny.onnx")];
  expect(await json(...embed, "--out", at("features"), "--labels", at("all.csv"))).toMatchObject({
    rows: IMAGES,
    labelled: IMAGES,
  });
  expect((await json(...embed, "--out", at("plain"))).labelled).toBe(undefined);
});

describe("a folder of features", () => {
  test("is a table: the image, what is known of it, its features", async () => {
    const table = await readTable(at("features"), { asText: ["image"] });
    expect(table.columns.map(({ name }) => name)).toEqual(["image", "hired", "sex", "f1", "f2", "f3"]);
    expect(table.rows).toBe(IMAGES);
    const [image, hired, , red] = table.columns;
    if (image.kind !== "categorical" || hired.kind !== "categorical" || red.kind !== "numeric") {
      throw new Error("unexpected types");
    }
    for (let row = 0; row < IMAGES; row++) {
      const { hired: expected, red: r } = person(Number(/\d+/.exec(image.levels[image.codes[row]])?.[0]));
      expect(hired.levels[hired.codes[row]]).toBe(expected);
      expect(red.values[row]).toBeCloseTo((r / 255 - 0.485) / 0.229, 3);
    }
    const parts: number[] = [];
    for await (const part of streamTable(at("features"), { chunkRows: 33 })) parts.push(part.rows);
    expect(parts).toEqual([33, 33, 14]);
    expect((await readTable(at("plain"))).columns.map(({ name }) => name)).toEqual([
      "image",
      "f1",
      "f2",
      "f3",
    ]);
  });

  test("is audited, acquired from and fitted", async () => {
    const audited = await json("audit", at("features"), ...roles, "--permutations", "99", "--plants", "2");
    expect(audited.certificate.inputs[0]).toMatchObject({
      rows: IMAGES,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const acquired = await json(
      "acquire",
      at("features"),
      ...roles,
      "--budget",
      "20",
      "--seeds",
      "1",
      "--method",
      "random",
    );
    expect(acquired.rows.table).toBe(IMAGES);
    // The third, of blue, is the same for all.
    expect(acquired.features).toEqual(["f1", "f2"]);
    const fitted = await json("fit", at("features"), ...roles, "--out", at("model.json"));
    expect(JSON.stringify(fitted)).toContain("f1");
  });

  test("is a pool, whose labels name images", async () => {
    const ranked = await json("rank", at("plain"), "--labelled", at("some.csv"), ...roles, "--top", "7");
    expect(ranked).toMatchObject({ rows: 40, labelled: 40 });
    const known = new Set(all.slice(0, 40).map(nameOf));
    expect(ranked.candidates).toHaveLength(7);
    for (const { id } of ranked.candidates) {
      expect(id).toMatch(/^faces\/\d+\.png$/);
      expect(known.has(id)).toBe(false);
    }
    expect(JSON.stringify(ranked)).not.toContain("none.png");
  });

  test("what does not fit is told in one sentence", async () => {
    writeFileSync(at("other.csv"), "name,hired\na,yes\n");
    writeFileSync(at("twice.csv"), `${labelsOf([0, 1, 0])}`);
    writeFileSync(at("elsewhere.csv"), "image,hired,sex\nx.png,yes,f\n");
    for (const [labelled, message] of [
      ["other.csv", imageTexts.noImageColumn(at("other.csv"))],
      ["twice.csv", joinTexts.twice(at("twice.csv"), "image", 1, 3)],
      ["elsewhere.csv", joinTexts.none(at("elsewhere.csv"), "image", at("plain"))],
    ]) {
      const { code, stderr } = await invoke(["rank", at("plain"), "--labelled", at(labelled), ...roles]);
      expect(code).toBe(2);
      expect(stderr).toContain(message);
    }
    await expect(readTable(at("plain"), { query: "SELECT 1" })).rejects.toThrow(
      new InputError("query", imageTexts.query(at("plain"))),
    );
    writeFileSync(at("features/labels.csv"), labelsOf([0]));
    await expect(readTable(at("features"))).rejects.toThrow(
      imageTexts.twoLabels(at("features"), ["labels.csv", "labels.jsonl"]),
    );
    rmSync(at("features/labels.csv"));
  });
});
