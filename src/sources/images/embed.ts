/** Features of all images in a folder, written as they are done and continued where a former run stopped. */
import { mkdir, readdir, stat } from "node:fs/promises";
import { basename, join, sep } from "node:path";
import { InputError } from "../../core/errors.js";
import type { Table } from "../../tables/table.js";
import { toRecords } from "../../tables/table-of.js";
import { readTableWithIds } from "../read-task.js";
import { labelsIn, requireImageColumn } from "./embedded-table.js";
import {
  chunkFile,
  findManifest,
  IMAGE_COLUMN,
  type LABEL_FILES,
  littleEndian,
  MANIFEST,
  type Manifest,
  newManifest,
  type SkippedImage,
} from "./manifest.js";
import { type Network, openNetwork } from "./network.js";
import { PICTURE, PREPROCESSING, pictureReader } from "./preprocess.js";
import { imageTexts } from "./texts.js";

/** Endings of files that count as images. */
export const IMAGE_KINDS = ["jpg", "jpeg", "png", "webp", "gif", "tif", "tiff", "avif"] as const;

export interface EmbedOptions {
  /** With its subfolders. */
  readonly folder: string;
  /** An ONNX file. */
  readonly model: string;
  readonly out: string;
  readonly layer?: string | undefined;
  /** A table that says more about the images, by its column `image`: what it says goes into the folder too. */
  readonly labels?: string | undefined;
  /** Images that go through the network at once. */
  readonly batch?: number | undefined;
  /** Images in a file of features. */
  readonly chunk?: number | undefined;
  /** Writes a whole file or nothing. */
  readonly writeFile: (path: string, data: string | Uint8Array) => Promise<void>;
  /** Called after each batch with how many images of how many are done; may throw to stop. */
  readonly onProgress?: ((done: number, total: number) => Promise<void>) | undefined;
}

export interface EmbedResult {
  readonly out: string;
  readonly layer: string;
  readonly columns: number;
  /** Rows of features there are now, and how many of them this run added. */
  readonly rows: number;
  readonly added: number;
  readonly skipped: readonly SkippedImage[];
  /** How many of the rows the table of labels knows, where one was given. */
  readonly labelled?: number | undefined;
}

/** The images below a folder, by name in an order that does not depend on the machine. */
export const listImages = async (folder: string): Promise<string[]> => {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch((cause) => {
    throw new InputError("no-folder", imageTexts.noFolder(folder), { cause });
  });
  const kinds = new Set<string>(IMAGE_KINDS);
  const names: string[] = [];
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    const kind = entry.name.slice(entry.name.lastIndexOf(".") + 1).toLowerCase();
    if (entry.name.startsWith(".") || !kinds.has(kind)) continue;
    const isFile = entry.isSymbolicLink()
      ? await stat(path).then(
          (target) => target.isFile(),
          () => false,
        )
      : entry.isFile();
    if (isFile) names.push(path.slice(join(folder, sep).length).split(sep).join("/"));
  }
  if (names.length === 0) throw new InputError("no-images", imageTexts.noImages(folder, IMAGE_KINDS));
  return names.sort();
};

/** Throws where the folder holds features that these would not fit to. */
const requireSame = (out: string, former: Manifest, now: Manifest): void => {
  const differs = (what: string) => {
    throw new InputError("other-embedding", imageTexts.otherSettings(out, what));
  };
  if (former.model.sha256 !== now.model.sha256) differs("model");
  if (former.model.layer !== now.model.layer || former.columns !== now.columns) differs("layer");
  if (JSON.stringify(former.preprocessing) !== JSON.stringify(PREPROCESSING)) differs("preprocessing");
};

/** What `labels` becomes. */
const LABELS = "labels.jsonl" satisfies (typeof LABEL_FILES)[number];

const readLabels = async (labels: string, out: string): Promise<Table> => {
  const found = await labelsIn(out);
  if (found !== undefined && !found.endsWith(LABELS)) {
    throw new InputError("two-labels", imageTexts.twoLabels(out, [basename(found), LABELS]));
  }
  const table = await readTableWithIds(labels, IMAGE_COLUMN);
  requireImageColumn(table);
  return table;
};

const reasonOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split("\n")[0].slice(0, 200);

type ReadPicture = (file: string, out: Float32Array) => Promise<void>;

/** The pictures of one batch that could be read, one behind the other, and the others. */
const readBatch = async (folder: string, names: readonly string[], read: ReadPicture) => {
  const pictures = new Float32Array(names.length * PICTURE);
  const reasons = await Promise.all(
    names.map((name, i) =>
      read(join(folder, name), pictures.subarray(i * PICTURE, (i + 1) * PICTURE)).then(
        () => undefined,
        reasonOf,
      ),
    ),
  );
  const good = names.filter((_, i) => reasons[i] === undefined);
  let place = 0;
  reasons.forEach((reason, i) => {
    if (reason !== undefined) return;
    if (place < i) pictures.copyWithin(place * PICTURE, i * PICTURE, (i + 1) * PICTURE);
    place++;
  });
  const skipped = names.flatMap((name, i): SkippedImage[] => {
    const reason = reasons[i];
    return reason === undefined ? [] : [{ name, reason }];
  });
  return { names: good, pictures, skipped };
};

/** A network that takes a fixed number of pictures gets black ones after the last. */
const featuresOf = async (network: Network, pictures: Float32Array, rows: number): Promise<Float32Array> => {
  if (network.batch === undefined || rows === network.batch) return network.run(pictures, rows);
  const padded = new Float32Array(network.batch * PICTURE);
  padded.set(pictures.subarray(0, rows * PICTURE));
  return (await network.run(padded, network.batch)).slice(0, rows * network.columns);
};

/**
 * Reads every image below `folder`, puts it through the network and writes its features to `out`. Images that a
 * former run into `out` did are left as they are, known by their names; images that could not be read are listed in
 * the manifest, and tried again by the next run.
 */
export const embedImages = async ({
  folder,
  model,
  out,
  layer,
  labels,
  batch = 16,
  chunk = 512,
  writeFile,
  onProgress = async () => {},
}: EmbedOptions): Promise<EmbedResult> => {
  const images = await listImages(folder);
  // Before the work, which may take hours.
  const table = labels === undefined ? undefined : await readLabels(labels, out);
  const read = await pictureReader();
  const network = await openNetwork(model, layer);
  try {
    const fresh = newManifest({ sha256: network.sha256, layer: network.layer }, network.columns);
    const former = await findManifest(out);
    if (former !== undefined) requireSame(out, former, fresh);
    let manifest: Manifest = { ...fresh, chunks: former?.chunks ?? [] };
    const finished = new Set(manifest.chunks.flatMap(({ names }) => names));
    const todo = images.filter((name) => !finished.has(name));
    const atOnce = network.batch ?? batch;

    const save = async (change: Partial<Manifest>) => {
      manifest = { ...manifest, ...change };
      await writeFile(join(out, MANIFEST), `${JSON.stringify(manifest, null, 1)}\n`);
    };
    let names: string[] = [];
    let parts: Float32Array[] = [];
    let added = 0;
    const skipped: SkippedImage[] = [];
    const saveChunk = async (complete: boolean) => {
      const { chunks } = manifest;
      if (names.length === 0) return save({ skipped, complete });
      const values = new Float32Array(names.length * network.columns);
      parts.reduce((at, part) => {
        values.set(part, at);
        return at + part.length;
      }, 0);
      const file = chunkFile(chunks.length);
      if (former === undefined && chunks.length === 0) {
        // First of all, so that a folder with a chunk always has a manifest and is known again.
        await mkdir(out, { recursive: true });
        await save({});
      }
      await writeFile(join(out, file), littleEndian(values));
      // From here on the chunk counts.
      await save({ chunks: [...chunks, { file, names }], skipped, complete });
      added += names.length;
      names = [];
      parts = [];
    };

    const start = (from: number) => readBatch(folder, todo.slice(from, from + atOnce), read);
    // The next pictures are read while the network works on these.
    let next = start(0);
    for (let from = 0; from < todo.length; from += atOnce) {
      const current = await next;
      next = start(from + atOnce);
      skipped.push(...current.skipped);
      const rows = current.names.length;
      if (rows > 0) {
        const features = await featuresOf(network, current.pictures, rows);
        const bad = features.findIndex((value) => !Number.isFinite(value));
        if (bad >= 0) {
          const name = current.names[Math.floor(bad / network.columns)];
          throw new InputError("bad-feature", imageTexts.notFinite(name));
        }
        names.push(...current.names);
        parts.push(features);
      }
      if (names.length >= chunk) await saveChunk(false);
      await onProgress(Math.min(from + atOnce, todo.length), todo.length);
    }
    if (manifest.chunks.length === 0 && names.length === 0) {
      const { name, reason } = skipped[0];
      throw new InputError("all-corrupt", imageTexts.allCorrupt(images.length, `${name}: ${reason}`));
    }
    await saveChunk(true);
    const rows = manifest.chunks.reduce((sum, each) => sum + each.names.length, 0);
    const done = { out, layer: network.layer, columns: network.columns, rows, added, skipped };
    if (table === undefined) return done;
    const known = new Set(manifest.chunks.flatMap((each) => each.names));
    const about = toRecords(table).filter((record) => known.has(String(record[IMAGE_COLUMN])));
    const lines = about.map((record) => `${JSON.stringify(record)}\n`).join("");
    await writeFile(join(out, LABELS), lines);
    return { ...done, labelled: about.length };
  } finally {
    await network.close();
  }
};
