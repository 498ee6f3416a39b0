/**
 * Features of images in a folder: chunks of float32 rows (little-endian, [rows, columns]) and `manifest.json`, which
 * says what they are. Only the chunks that it names count.
 */
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { InputError } from "../../core/errors.js";
import { PREPROCESSING } from "./preprocess.js";
import { imageTexts } from "./texts.js";

export interface Chunk {
  readonly file: string;
  /** The images of its rows, as paths below the folder of images, with / between the parts. */
  readonly names: readonly string[];
}

export interface SkippedImage {
  readonly name: string;
  readonly reason: string;
}

export interface Manifest {
  readonly format: "fairbed-embedding";
  readonly version: 1;
  /** The network by the hash of its file, and which of its values the features are. */
  readonly model: { readonly sha256: string; readonly layer: string };
  readonly preprocessing: typeof PREPROCESSING;
  readonly columns: number;
  readonly complete: boolean;
  readonly chunks: readonly Chunk[];
  readonly skipped: readonly SkippedImage[];
}

export const MANIFEST = "manifest.json";

/** What the images are called in tables, and the files in which the folder may say more about them. */
export const IMAGE_COLUMN = "image";
export const LABEL_FILES = ["labels.csv", "labels.jsonl"] as const;

export const newManifest = (model: Manifest["model"], columns: number): Manifest => ({
  format: "fairbed-embedding",
  version: 1,
  model,
  preprocessing: PREPROCESSING,
  columns,
  complete: false,
  chunks: [],
  skipped: [],
});

export const chunkFile = (index: number): string => `${String(index).padStart(6, "0")}.f32`;

/** More than any layer has; a manifest that says more is damaged. */
const MOST_COLUMNS = 10_000_000;

const isTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.every((x) => typeof x === "string");

const isManifest = (value: unknown): value is Manifest => {
  if (typeof value !== "object" || value === null) return false;
  const { format, version, model, columns, chunks, skipped } = value as Partial<Manifest>;
  return (
    format === "fairbed-embedding" &&
    version === 1 &&
    typeof model?.sha256 === "string" &&
    typeof model.layer === "string" &&
    Number.isInteger(columns) &&
    (columns ?? 0) >= 1 &&
    (columns ?? 0) <= MOST_COLUMNS &&
    Array.isArray(skipped) &&
    Array.isArray(chunks) &&
    // The names are made by this program alone, and a manifest from elsewhere must not lead out of its folder.
    chunks.every((chunk, index) => chunk?.file === chunkFile(index) && isTexts(chunk.names))
  );
};

/** The manifest of a folder, or undefined where the folder does not exist or is empty. */
export const findManifest = async (folder: string): Promise<Manifest | undefined> => {
  const entries = await readdir(folder).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === "ENOENT") return [];
    throw new InputError("not-embedding", imageTexts.notEmbedding(folder), { cause: error });
  });
  // What a kill left behind while the first file was being written does not make the folder someone else's.
  if (entries.every((name) => name.startsWith("."))) return undefined;
  if (!entries.includes(MANIFEST)) throw new InputError("not-embedding", imageTexts.notEmbedding(folder));
  return readManifest(folder);
};

export const readManifest = async (folder: string, onBytes: OnBytes = () => {}): Promise<Manifest> => {
  try {
    const bytes = await readFile(join(folder, MANIFEST));
    const value: unknown = JSON.parse(bytes.toString());
    onBytes(bytes);
    if (isManifest(value)) return value;
  } catch (cause) {
    throw new InputError("no-embedding", imageTexts.noEmbedding(folder), { cause });
  }
  throw new InputError("no-embedding", imageTexts.noEmbedding(folder));
};

export interface Embedding {
  /** The image of each row. */
  readonly names: readonly string[];
  /** Float32 [rows, columns], row-major. */
  readonly features: { readonly values: Float32Array; readonly rows: number; readonly columns: number };
  readonly manifest: Manifest;
}

/** Gets the bytes of every file that is read. */
type OnBytes = (bytes: Uint8Array) => unknown;

/** The features that `fairbed data embed` wrote; of an unfinished run those it has so far. */
export const readEmbedding = (folder: string): Promise<Embedding> => readEmbeddingBytes(folder, () => {});

export const readEmbeddingBytes = async (folder: string, onBytes: OnBytes): Promise<Embedding> => {
  const manifest = await readManifest(folder, onBytes);
  const { columns, chunks } = manifest;
  const names = chunks.flatMap((chunk) => chunk.names);
  // Before room is made for what the manifest says.
  for (const chunk of chunks) {
    const file = join(folder, chunk.file);
    const size = (await stat(file).catch(() => undefined))?.size;
    if (size !== 4 * chunk.names.length * columns) {
      throw new InputError("damaged-embedding", imageTexts.damaged(file));
    }
  }
  const values = new Float32Array(names.length * columns);
  let at = 0;
  for (const chunk of chunks) {
    const file = join(folder, chunk.file);
    const bytes = await readFile(file).catch((cause) => {
      throw new InputError("damaged-embedding", imageTexts.damaged(file), { cause });
    });
    const count = chunk.names.length * columns;
    if (bytes.length !== 4 * count) throw new InputError("damaged-embedding", imageTexts.damaged(file));
    onBytes(bytes);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let i = 0; i < count; i++) values[at++] = view.getFloat32(4 * i, true);
  }
  return { names, features: { values, rows: names.length, columns }, manifest };
};

/** Float32 as little-endian bytes, whatever the machine. */
export const littleEndian = (values: Float32Array): Uint8Array => {
  const view = new DataView(new ArrayBuffer(4 * values.length));
  for (let i = 0; i < values.length; i++) view.setFloat32(4 * i, values[i], true);
  return new Uint8Array(view.buffer);
};
