import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { EnvironmentError, InputError } from "../../src/core/errors.js";
import { type EmbedOptions, embedImages, IMAGE_KINDS } from "../../src/sources/images/embed.js";
import { readEmbedding } from "../../src/sources/images/manifest.js";
import { openNetwork } from "../../src/sources/images/network.js";
import { beforeHead, readGraph } from "../../src/sources/images/onnx-graph.js";
import { PICTURE, PREPROCESSING, pictureReader, SIDE } from "../../src/sources/images/preprocess.js";
import { resizeAndCrop } from "../../src/sources/images/resize.js";
import { imageTexts } from "../../src/sources/images/texts.js";
import { describeWithData } from "../setup/data.js";
import { tinyNetwork } from "./tiny-network.js";

const folder = mkdtempSync(join(tmpdir(), "fairbed-images-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const at = (...parts: string[]) => join(folder, ...parts);

type Paint = (x: number, y: number) => readonly number[];

const draw = async (path: string, width: number, height: number, paint: Paint, channels: 1 | 3 | 4 = 3) => {
  const data = new Uint8Array(width * height * channels);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) data.set(paint(x, y), (y * width + x) * channels);
  }
  await sharp(data, { raw: { width, height, channels } }).toFile(path);
};

const normalised = (level: number, channel: number): number =>
  (level / 255 - PREPROCESSING.mean[channel]) / PREPROCESSING.standardDeviation[channel];

const failureOf = async (work: Promise<unknown>): Promise<string> => {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof InputError) return error.message;
  throw error ?? new Error("nothing was thrown");
};

/** A colour that is different for every pixel. */
const gradient: Paint = (x, y) => [x % 256, y % 256, (x * 7 + y * 3) % 256];

describe("reading a picture", () => {
  const read = async (path: string): Promise<Float32Array> => {
    const out = new Float32Array(PICTURE);
    await (await pictureReader())(path, out);
    return out;
  };
  const pixel = (picture: Float32Array, x: number, y: number): number[] =>
    [0, 1, 2].map((c) => picture[(c * SIDE + y) * SIDE + x]);

  it("leaves the pixels of a 224 x 224 picture as they are", async () => {
    await draw(at("exact.png"), SIDE, SIDE, gradient);
    const picture = await read(at("exact.png"));
    for (const [x, y] of [
      [0, 0],
      [223, 0],
      [5, 99],
      [223, 223],
    ]) {
      expect(pixel(picture, x, y)).toEqual(
        gradient(x, y).map((level, c) => Math.fround(normalised(level, c))),
      );
    }
  });

  it("keeps a constant colour at any size, up and down", async () => {
    for (const [width, height] of [
      [40, 90],
      [640, 300],
      [224, 1000],
    ]) {
      await draw(at("constant.png"), width, height, () => [200, 30, 117]);
      const picture = await read(at("constant.png"));
      for (let c = 0; c < 3; c++) {
        const plane = picture.subarray(c * SIDE * SIDE, (c + 1) * SIDE * SIDE);
        expect(new Set(plane)).toEqual(new Set([Math.fround(normalised([200, 30, 117][c], c))]));
      }
    }
  });

  it("crops the centre", async () => {
    // Green stripes of 100 pixels at the left and right fall away.
    await draw(at("wide.png"), SIDE + 200, SIDE, (x) => (x < 100 || x >= 324 ? [0, 255, 0] : [255, 0, 0]));
    const picture = await read(at("wide.png"));
    const red = [255, 0, 0].map((level, c) => Math.fround(normalised(level, c)));
    for (const [x, y] of [
      [0, 0],
      [223, 223],
      [111, 50],
    ]) {
      expect(pixel(picture, x, y)).toEqual(red);
    }
  });

  it("averages when it halves", async () => {
    // Black and white columns in turn: without antialiasing only one of the two would be seen.
    await draw(at("stripes.png"), 2 * SIDE, 2 * SIDE, (x) => (x % 2 === 0 ? [0, 0, 0] : [255, 255, 255]));
    const picture = await read(at("stripes.png"));
    const level = (picture[SIDE * 100 + 100] * 0.229 + 0.485) * 255;
    expect(Math.abs(level - 127.5)).toBeLessThan(1.5);
  });

  it("resizes as PIL does (bilinear, its own pixels)", () => {
    const resized = (width: number, height: number, side: number) => {
      const data = Uint8Array.from({ length: width * height }, (_, i) => {
        const [x, y] = [i % width, Math.floor(i / width)];
        return (x * 37 + y * 91 + x * y * 13) % 256;
      });
      return resizeAndCrop({ data, width, height, channels: 1 }, side);
    };
    // PIL rounds to 8 bits between its two passes, so a level may differ by one.
    const expectNear = (found: Uint8Array, expected: readonly number[]) => {
      expect(found).toHaveLength(expected.length);
      found.forEach((level, i) => {
        expect(Math.abs(level - expected[i])).toBeLessThanOrEqual(1);
      });
    };
    expectNear(resized(9, 6, 3), [96, 137, 139, 132, 147, 141, 120, 149, 126]);
    expectNear(
      resized(4, 3, 5),
      [
        [0, 19, 43, 68, 93],
        [36, 58, 85, 114, 142],
        [91, 116, 149, 183, 216],
        [146, 175, 187, 124, 137],
        [182, 214, 213, 84, 84],
      ].flat(),
    );
    expectNear(
      resized(5, 7, 4),
      [
        [41, 89, 137, 122],
        [156, 164, 147, 129],
        [83, 133, 167, 133],
        [144, 110, 137, 163],
      ].flat(),
    );
  });

  it("takes 16 bits a channel", async () => {
    const data = new Uint16Array(50 * 50 * 3).fill(200 * 257);
    await sharp(data, { raw: { width: 50, height: 50, channels: 3 } })
      .toColourspace("rgb16")
      .png()
      .toFile(at("deep.png"));
    expect((await sharp(at("deep.png")).metadata()).depth).toBe("ushort");
    expect(pixel(await read(at("deep.png")), 1, 1)).toEqual(
      [0, 1, 2].map((c) => Math.fround(normalised(200, c))),
    );
  });

  it("takes grey, transparent and turned pictures", async () => {
    await draw(at("grey.png"), 300, 300, () => [77], 1);
    expect(pixel(await read(at("grey.png")), 9, 9)).toEqual(
      [0, 1, 2].map((c) => Math.fround(normalised(77, c))),
    );
    await draw(at("clear.png"), 300, 300, () => [10, 20, 30, 128], 4);
    // Half transparent, on white: 255 (1 - a) + level a with a = 128 / 255.
    const clear = pixel(await read(at("clear.png")), 9, 9);
    [132.02, 137.04, 142.06].forEach((level, c) => {
      expect(Math.abs(clear[c] - normalised(level, c))).toBeLessThan(normalised(1, c) - normalised(0, c));
    });
    // Stored on its side (EXIF orientation 6: turn clockwise): left in the file is at the top.
    const data = new Uint8Array(SIDE * SIDE * 3);
    for (let i = 0; i < SIDE * SIDE; i++) data.fill(i % SIDE < 112 ? 255 : 0, 3 * i, 3 * i + 3);
    await sharp(data, { raw: { width: SIDE, height: SIDE, channels: 3 } })
      .withMetadata({ orientation: 6 })
      .jpeg({ quality: 100 })
      .toFile(at("turned.jpg"));
    const turned = await read(at("turned.jpg"));
    expect(turned[10 * SIDE + 200]).toBeGreaterThan(2);
    expect(turned[200 * SIDE + 10]).toBeLessThan(-2);
  });
});

describe("the layer of a network", () => {
  const model = (name: string, options: Parameters<typeof tinyNetwork>[0]): string => {
    const path = at(name);
    writeFileSync(path, tinyNetwork(options));
    return path;
  };
  const opened = async (path: string, layer?: string) => {
    const network = await openNetwork(path, layer);
    await network.close();
    return [network.layer, network.columns];
  };

  it("is what the head of an ImageNet classifier reads", async () => {
    expect(await opened(model("classifier.onnx", {}))).toEqual(["means", 3]);
  });

  it("is the output of anything else, and what was asked for", async () => {
    expect(await opened(model("ten.onnx", { classes: 10 }))).toEqual(["scores", 10]);
    expect(await opened(model("headless.onnx", { headless: true }))).toEqual(["means", 3]);
    expect(await opened(at("classifier.onnx"), "scores")).toEqual(["scores", 1000]);
    // [N, 3, 1, 1] is averaged over its one position.
    expect(await opened(at("classifier.onnx"), "pool")).toEqual(["pool", 3]);
  });

  it("has the numbers of the network, whether it was an output or not", async () => {
    const pictures = Float32Array.from({ length: 2 * PICTURE }, (_, i) => Math.sin(i));
    const planes = Array.from({ length: 6 }, (_, p) => {
      const plane = pictures.subarray(p * SIDE * SIDE, (p + 1) * SIDE * SIDE);
      return plane.reduce((sum, x) => sum + x, 0) / plane.length;
    });
    for (const name of ["classifier.onnx", "headless.onnx"]) {
      const network = await openNetwork(at(name));
      const features = await network.run(pictures, 2);
      await network.close();
      expect(features).toHaveLength(6);
      features.forEach((value, i) => {
        expect(value).toBeCloseTo(planes[i], 6);
      });
    }
  });

  it("is found behind a softmax and a bias", () => {
    const graph = {
      nodes: [
        { operator: "MatMul", inputs: ["x", "w"], outputs: ["product"] },
        { operator: "Add", inputs: ["bias", "product"], outputs: ["logits"] },
        { operator: "Softmax", inputs: ["logits"], outputs: ["p"] },
      ],
      outputs: ["p"],
    };
    expect(beforeHead(graph, "p")).toBe("x");
    expect(beforeHead({ ...graph, nodes: graph.nodes.slice(2) }, "p")).toBeUndefined();
    expect(readGraph(tinyNetwork()).nodes.map(({ operator }) => operator)).toEqual([
      "GlobalAveragePool",
      "Flatten",
      "Div",
      "Gemm",
    ]);
  });

  it("is asked for where it cannot be told", async () => {
    expect(await failureOf(openNetwork(model("odd.onnx", { oddHead: true })))).toBe(
      imageTexts.classHead("scores", ["most", "means", "flat"]),
    );
    expect(await failureOf(openNetwork(at("odd.onnx"), "mean"))).toBe(
      imageTexts.noLayer("mean", "means", ["scores"]),
    );
  });

  it("and a file that is no network is refused", async () => {
    expect(await failureOf(openNetwork(at("nothing.onnx")))).toBe(imageTexts.noModel(at("nothing.onnx")));
    writeFileSync(at("text.onnx"), "This is no network.");
    expect(await failureOf(openNetwork(at("text.onnx")))).toContain("is not a network that can be run");
    writeFileSync(at("half.onnx"), tinyNetwork().subarray(0, 200));
    expect(await failureOf(openNetwork(at("half.onnx")))).toContain("is not a network that can be run");
    writeFileSync(at("empty.onnx"), "");
    expect(await failureOf(openNetwork(at("empty.onnx")))).toBe(
      imageTexts.badModel(at("empty.onnx"), "it has no outputs"),
    );
  });
});

describe("features of a folder of images", () => {
  const photos = at("photos");
  const colours: Record<string, readonly number[]> = {};
  beforeAll(async () => {
    mkdirSync(join(photos, "more"), { recursive: true });
    for (let i = 0; i < 9; i++) {
      const colour = [10 * i, 255 - 20 * i, (i * 91) % 256];
      const name = i < 6 ? `${i}.png` : `more/${i}.PNG`;
      colours[name] = colour;
      await draw(join(photos, `${i}.png`), 60 + 5 * i, 80, () => colour);
      if (i >= 6) renameSync(join(photos, `${i}.png`), join(photos, name));
    }
    await draw(join(photos, "broken.jpg"), 300, 300, gradient);
    truncateSync(join(photos, "broken.jpg"), 4000);
    writeFileSync(join(photos, "note.png"), "not a picture");
    writeFileSync(join(photos, "README.txt"), "no image");
    writeFileSync(at("tiny.onnx"), tinyNetwork());
  });

  const embedInto = (out: string, options: Partial<EmbedOptions> = {}) =>
    embedImages({ folder: photos, model: at("tiny.onnx"), out, batch: 4, chunk: 4, writeFile, ...options });

  const expectRight = async (out: string, names = Object.keys(colours)) => {
    const { names: found, features } = await readEmbedding(out);
    expect(found.toSorted()).toEqual(names.toSorted());
    expect(features).toMatchObject({ rows: names.length, columns: 3 });
    found.forEach((name, row) => {
      colours[name].forEach((level, c) => {
        expect(features.values[3 * row + c]).toBeCloseTo(normalised(level, c), 3);
      });
    });
  };

  it("are the network's, and what could not be read is listed", async () => {
    const seen: number[] = [];
    const result = await embedInto(at("all"), {
      onProgress: async (done, total) => {
        expect(total).toBe(11);
        seen.push(done);
      },
    });
    expect(result).toMatchObject({ layer: "means", columns: 3, rows: 9, added: 9 });
    expect(result.skipped.map(({ name }) => name)).toEqual(["broken.jpg", "note.png"]);
    expect(seen).toEqual([4, 8, 11]);
    await expectRight(at("all"));
    const { manifest } = await readEmbedding(at("all"));
    expect(manifest).toMatchObject({
      complete: true,
      model: { sha256: createHash("sha256").update(tinyNetwork()).digest("hex"), layer: "means" },
      preprocessing: PREPROCESSING,
      skipped: result.skipped,
    });
    expect(readdirSync(at("all")).sort()).toEqual([
      ...manifest.chunks.map(({ file }) => file),
      "manifest.json",
    ]);
    // float32, little-endian
    const [first] = manifest.chunks;
    const bytes = readFileSync(at("all", first.file));
    expect(bytes.readFloatLE(4)).toBeCloseTo(normalised(colours[first.names[0]][1], 1), 3);
  });

  it("are the same for any batch, and for a network that takes a fixed number", async () => {
    for (const batch of [1, 5, 64]) {
      await embedInto(at(`batch-${batch}`), { batch });
      await expectRight(at(`batch-${batch}`));
    }
    writeFileSync(at("fixed.onnx"), tinyNetwork({ batch: 2 }));
    await embedInto(at("fixed"), { model: at("fixed.onnx"), batch: 7 });
    await expectRight(at("fixed"));
  });

  it("go on where a run was stopped, at every write", async () => {
    for (let stopAt = 0; ; stopAt++) {
      const out = at(`stopped-${stopAt}`);
      let writes = 0;
      const stopped = await embedInto(out, {
        writeFile: async (path, data) => {
          if (writes++ === stopAt) throw new Error("stop");
          await writeFile(path, data);
        },
      }).then(
        () => false,
        (error: Error) => error.message === "stop",
      );
      if (!stopped) {
        // The manifest, two chunks with the manifest after each, and the manifest as complete.
        expect(stopAt).toBe(6);
        break;
      }
      const before =
        existsSync(out) && existsSync(join(out, "manifest.json")) ? await readEmbedding(out) : undefined;
      expect(before?.manifest.complete ?? false).toBe(false);
      const rows = before?.features.rows ?? 0;
      const { added } = await embedInto(out);
      expect(added).toBe(9 - rows);
      await expectRight(out);
    }
  });

  it("take images that came later, and those that were mended", async () => {
    const copy = at("growing");
    cpSync(photos, copy, { recursive: true });
    rmSync(join(copy, "0.png"));
    const out = at("grown");
    expect(await embedInto(out, { folder: copy })).toMatchObject({ rows: 8, added: 8 });
    cpSync(join(photos, "0.png"), join(copy, "0.png"));
    await draw(join(copy, "note.png"), 30, 30, () => [1, 2, 3]);
    const again = await embedInto(out, { folder: copy });
    expect(again).toMatchObject({ rows: 10, added: 2 });
    expect(again.skipped.map(({ name }) => name)).toEqual(["broken.jpg"]);
    colours["note.png"] = [1, 2, 3];
    await expectRight(out);
    delete colours["note.png"];
    // And a third time there is nothing to do.
    expect(await embedInto(out, { folder: copy })).toMatchObject({ rows: 10, added: 0 });
  });

  it("are not mixed with other features or files", async () => {
    writeFileSync(at("ten2.onnx"), tinyNetwork({ classes: 10 }));
    expect(await failureOf(embedInto(at("all"), { model: at("ten2.onnx") }))).toBe(
      imageTexts.otherSettings(at("all"), "model"),
    );
    expect(await failureOf(embedInto(at("all"), { layer: "flat" }))).toBe(
      imageTexts.otherSettings(at("all"), "layer"),
    );
    expect(await failureOf(embedInto(photos))).toBe(imageTexts.notEmbedding(photos));
  });

  it("leave nothing behind where nothing could be done", async () => {
    const none = (options: Partial<EmbedOptions>) => failureOf(embedInto(at("none"), options));
    expect(await none({ folder: at("nowhere") })).toBe(imageTexts.noFolder(at("nowhere")));
    mkdirSync(at("hollow"));
    expect(await none({ folder: at("hollow") })).toBe(imageTexts.noImages(at("hollow"), IMAGE_KINDS));
    writeFileSync(at("hollow", "a.png"), "no");
    expect(await none({ folder: at("hollow") })).toContain(
      "none of the 1 images could be read (the first: a.png",
    );
    writeFileSync(at("infinite.onnx"), tinyNetwork({ headless: true, divisor: 0 }));
    expect(await none({ model: at("infinite.onnx") })).toBe(imageTexts.notFinite("0.png"));
    expect(existsSync(at("none"))).toBe(false);
  });

  it("are refused where they are damaged", async () => {
    cpSync(at("all"), at("damaged"), { recursive: true });
    const file = at("damaged", "000001.f32");
    truncateSync(file, 8);
    expect(await failureOf(readEmbedding(at("damaged")))).toBe(imageTexts.damaged(file));
    rmSync(file);
    expect(await failureOf(readEmbedding(at("damaged")))).toBe(imageTexts.damaged(file));
    const manifest = readFileSync(at("all", "manifest.json"), "utf8");
    writeFileSync(at("damaged", "manifest.json"), manifest.replace("000000.f32", "../../secret"));
    expect(await failureOf(readEmbedding(at("damaged")))).toBe(imageTexts.noEmbedding(at("damaged")));
    expect(await failureOf(readEmbedding(at("nowhere")))).toBe(imageTexts.noEmbedding(at("nowhere")));
  });
});

describe("without the packages for images", () => {
  it.each(["sharp", "onnxruntime-node"])("%s is asked for by name", async (name) => {
    vi.resetModules();
    vi.doMock(name, () => {
      throw new Error("not installed");
    });
    try {
      const { pictureReader } = await import("../../src/sources/images/preprocess.js");
      const { openNetwork } = await import("../../src/sources/images/network.js");
      const work = name === "sharp" ? pictureReader() : openNetwork(at("tiny.onnx"));
      const error: unknown = await work.catch((thrown: unknown) => thrown);
      // The classes too were loaded anew, so they are known by name.
      expect(error).toMatchObject({
        name: EnvironmentError.name,
        code: "no-image-packages",
        message: imageTexts.missingPackage(name),
      });
    } finally {
      vi.doUnmock(name);
      vi.resetModules();
    }
  });
});

const NETWORK = "resnet18-imagenet-truncated/resnet18-imagenet1k-conv1-to-layer3.onnx";

describeWithData("features of the truncated ResNet-18", [NETWORK], (data) => {
  const photos = at("drawn");
  beforeAll(async () => {
    mkdirSync(photos);
    await draw(join(photos, "a-gradient.png"), 300, 260, gradient);
    await draw(join(photos, "b-small.png"), 50, 50, () => [120, 60, 200]);
    await draw(join(photos, "c-large.png"), 500, 400, () => [120, 60, 200]);
    await draw(join(photos, "d-checks.png"), 256, 256, (x, y) =>
      ((x >> 4) + (y >> 4)) % 2 ? [255, 255, 255] : [0, 0, 0],
    );
    await draw(join(photos, "e-broken.jpg"), 300, 300, gradient);
    truncateSync(join(photos, "e-broken.jpg"), 5000);
  });

  it("are those of layer 3, of constant colours the same at any size, and the same for any batch", async () => {
    const embedded = async (out: string, batch: number) => {
      const result = await embedImages({ folder: photos, model: join(data, NETWORK), out, batch, writeFile });
      expect(result).toMatchObject({ layer: "layer3_gap", columns: 256, rows: 4 });
      expect(result.skipped.map(({ name }) => name)).toEqual(["e-broken.jpg"]);
      return (await readEmbedding(out)).features.values;
    };
    const one = await embedded(at("resnet-1"), 1);
    const three = await embedded(at("resnet-3"), 3);
    const row = (values: Float32Array, i: number) => values.subarray(256 * i, 256 * (i + 1));
    one.forEach((value, i) => {
      expect(Math.abs(value - three[i])).toBeLessThan(1e-4);
      // After ReLU.
      expect(value).toBeGreaterThanOrEqual(0);
    });
    row(one, 1).forEach((value, i) => {
      expect(Math.abs(value - row(one, 2)[i])).toBeLessThan(1e-4);
    });
    const distance = (a: Float32Array, b: Float32Array) =>
      Math.sqrt(a.reduce((sum, x, i) => sum + (x - b[i]) ** 2, 0));
    expect(distance(row(one, 0), row(one, 3))).toBeGreaterThan(1);
    expect(distance(row(one, 0), row(one, 1))).toBeGreaterThan(1);
  });

  it("may be read inside the network: the mean of a layer's map is its pooled output", async () => {
    const path = join(data, NETWORK);
    const graph = readGraph(readFileSync(path));
    const pooled = graph.nodes.find(({ outputs }) => outputs.includes("layer2_gap"));
    // Either the pool itself or the flattening of it.
    const pool =
      pooled?.operator === "GlobalAveragePool"
        ? pooled
        : graph.nodes.find(({ outputs }) => outputs.some((name) => name === pooled?.inputs[0]));
    const map = pool?.inputs[0];
    expect(map).toBeDefined();
    const picture = Float32Array.from({ length: PICTURE }, (_, i) => Math.sin(i / 50));
    const results: Float32Array[] = [];
    for (const layer of ["layer2_gap", map]) {
      const network = await openNetwork(path, layer);
      results.push(await network.run(picture, 1));
      await network.close();
    }
    expect(results[0]).toHaveLength(128);
    results[0].forEach((value, i) => {
      expect(value).toBeCloseTo(results[1][i], 4);
    });
  });
});
