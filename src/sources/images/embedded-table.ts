/**
 * The folder that `fairbed data embed` wrote, as a table: the column `image`, what `labels.csv` or `labels.jsonl` in the
 * folder says about each image, and the features `f1`, `f2`, ...
 */
import { createHash } from "node:crypto";
import { open, stat } from "node:fs/promises";
import { join } from "node:path";
import { InputError } from "../../core/errors.js";
import { idsIn } from "../../tables/ids.js";
import { joinRows } from "../../tables/join-rows.js";
import {
  columnNamed,
  columnOfNumbers,
  columnOfTexts,
  selectRows,
  type Table,
  tableOfColumns,
} from "../../tables/table.js";
import { IMAGE_COLUMN, LABEL_FILES, MANIFEST, readEmbeddingBytes } from "./manifest.js";
import { imageTexts } from "./texts.js";

const isThere = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isFile() === true;

/** Whether a path is such a folder: other programs write files of that name too. */
export const isEmbedding = async (path: string): Promise<boolean> => {
  const file = await open(join(path, MANIFEST)).catch(() => undefined);
  if (file === undefined) return false;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(256), 0, 256, 0);
    return buffer.toString("latin1", 0, bytesRead).includes('"fairbed-embedding"');
  } catch {
    return false;
  } finally {
    await file.close();
  }
};

/** The table of labels that lies in the folder; undefined where there is none. */
export const labelsIn = async (folder: string): Promise<string | undefined> => {
  const found: string[] = [];
  for (const name of LABEL_FILES) if (await isThere(join(folder, name))) found.push(name);
  if (found.length > 1) throw new InputError("two-labels", imageTexts.twoLabels(folder, found));
  return found.length === 0 ? undefined : join(folder, found[0]);
};

/** Reads a table with the column `image` as text. */
type ReadLabels = (path: string, onHash: (sha256: string) => void) => Promise<Table>;

export const readEmbeddedTable = async (
  folder: string,
  name: string,
  readLabels: ReadLabels,
): Promise<{ readonly table: Table; readonly sha256: string }> => {
  const hash = createHash("sha256");
  const { names, features, manifest } = await readEmbeddingBytes(folder, (bytes) => hash.update(bytes));
  if (names.length === 0) throw new InputError("empty-table", imageTexts.noFeatures(name));
  const { values, rows, columns } = features;
  const numbers = Array.from({ length: columns }, (_, column) =>
    columnOfNumbers(
      `f${column + 1}`,
      Float64Array.from({ length: rows }, (_, row) => values[row * columns + column]),
    ),
  );
  const labels = await labelsIn(folder);
  const known = labels === undefined ? undefined : await readLabels(labels, (sum) => hash.update(sum));
  const images = tableOfColumns([columnOfTexts(IMAGE_COLUMN, names)], { name });
  const described = known === undefined ? images : joinRows(images, known, IMAGE_COLUMN);
  const notes = manifest.complete ? described.notes : [...described.notes, imageTexts.unfinished(name)];
  const table = tableOfColumns([...described.columns, ...numbers], { name, notes });
  return { table, sha256: hash.digest("hex") };
};

/** The rows of `labels`, each with the features of its image in place of those it has not. */
export const withFeatures = (embedded: Table, labels: Table): Table => {
  const ownNames = new Set(labels.columns.map(({ name }) => name));
  // What the folder says besides is left to the labels that were given.
  const plain = {
    ...embedded,
    columns: embedded.columns.filter(({ name }) => name === IMAGE_COLUMN || !ownNames.has(name)),
  };
  columnNamed(labels, IMAGE_COLUMN);
  const joined = joinRows(plain, labels, IMAGE_COLUMN);
  return { ...rowsOf(joined, idsIn(labels, IMAGE_COLUMN), true), name: labels.name };
};

/** The images that `labels` says nothing about. */
export const withoutLabelled = (embedded: Table, labels: Table): Table =>
  rowsOf(embedded, idsIn(labels, IMAGE_COLUMN), false);

const rowsOf = (table: Table, images: ReadonlySet<string>, those: boolean): Table => {
  const image = columnNamed(table, IMAGE_COLUMN);
  if (image.kind !== "categorical") return table;
  const { codes, levels } = image;
  const wanted = Array.from({ length: table.rows }, (_, row) => row).filter(
    (row) => images.has(levels[codes[row]]) === those,
  );
  return selectRows(table, wanted);
};

/** A table that says something about images, for a folder that is still to be written. */
export const requireImageColumn = (labels: Table): void => {
  if (!labels.columns.some(({ name }) => name === IMAGE_COLUMN)) {
    throw new InputError("no-image-column", imageTexts.noImageColumn(labels.name));
  }
};
