import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { embedTexts } from "../../src/cli/commands/sources/embed.js";
import { readEmbedding } from "../../src/sources/images/manifest.js";
import { imageTexts } from "../../src/sources/images/texts.js";
import { needsDist, ROOT } from "../setup/dist.js";
import { tinyNetwork } from "../sources/tiny-network.js";
import { type InvokeOptions, invoke } from "./invoke.js";

needsDist();
const folder = mkdtempSync(join(tmpdir(), "fairbed-embed-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const photos = join(folder, "photos");
const model = join(folder, "tiny.onnx");
const IMAGES = 60;

const run = (words: readonly string[], options: InvokeOptions = {}) =>
  invoke(["data", "embed", ...words], { ...options, program: join(ROOT, "test", "cli", "data-embed.mjs") });

beforeAll(async () => {
  mkdirSync(photos);
  writeFileSync(model, tinyNetwork());
  for (let i = 0; i < IMAGES; i++) {
    const background = { r: 4 * i, g: 255 - 4 * i, b: 128 };
    const name = `${String(i).padStart(2, "0")}.png`;
    await sharp({ create: { width: 30, height: 40, channels: 3, background } }).toFile(join(photos, name));
  }
  writeFileSync(join(photos, "broken.jpg"), "not a picture");
});

/** Red of image i, normalised: what the network's first feature must be. */
const redOf = (i: number): number => ((4 * i) / 255 - 0.485) / 0.229;

const expectComplete = async (out: string) => {
  const { names, features, manifest } = await readEmbedding(out);
  expect(manifest.complete).toBe(true);
  expect(names).toHaveLength(IMAGES);
  names.forEach((name, row) => {
    expect(features.values[row * features.columns]).toBeCloseTo(redOf(Number.parseInt(name, 10)), 3);
  });
  expect(manifest.skipped.map(({ name }) => name)).toEqual(["broken.jpg"]);
};

describe("data embed", () => {
  test("writes features, names what it skipped, and has nothing to do the second time", async () => {
    const out = join(folder, "features");
    const words = [photos, "--model", model, "--out", out, "--batch", "7"];
    const { code, stdout } = await run([...words, "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      out,
      layer: "means",
      columns: 3,
      rows: IMAGES,
      added: IMAGES,
      skipped: [{ name: "broken.jpg" }],
    });
    await expectComplete(out);
    const again = await run(words);
    expect(again.code).toBe(0);
    expect(again.stdout).toContain(`0 images done, ${IMAGES} in ${out}: 3 features each, layer means`);
    expect(again.stdout).toContain("skipped 1 that could not be read:\n  broken.jpg (");
  });

  test("a kill at any moment leaves what the next run completes", async () => {
    for (const delay of [200, 400, 700]) {
      const out = join(folder, `killed-${delay}`);
      await run([photos, "--model", model, "--out", out, "--batch", "1"], {
        during: (child) => setTimeout(() => child.kill("SIGKILL"), delay),
      });
      expect((await run([photos, "--model", model, "--out", out])).code).toBe(0);
      await expectComplete(out);
      expect(readdirSync(out).filter((name) => name.endsWith(".f32"))).toHaveLength(1);
    }
  });

  test("wrong use is one sentence and leaves nothing", async () => {
    const out = join(folder, "nothing");
    for (const [words, message] of [
      [[photos, "--out", out], embedTexts.noModel],
      [
        [join(folder, "nowhere"), "--model", model, "--out", out],
        imageTexts.noFolder(join(folder, "nowhere")),
      ],
      [
        [photos, "--model", join(folder, "no.onnx"), "--out", out],
        imageTexts.noModel(join(folder, "no.onnx")),
      ],
      [
        [photos, "--model", model, "--out", out, "--layer", "flatt"],
        imageTexts.noLayer("flatt", "flat", ["scores"]),
      ],
    ] as const) {
      expect(await run(words)).toEqual({ code: 2, stdout: "", stderr: `fairbed: ${message}\n` });
    }
    expect((await run([photos, "--model", model, "--out", out, "--batch", "0"])).code).toBe(2);
    expect(existsSync(out)).toBe(false);
  });
});
