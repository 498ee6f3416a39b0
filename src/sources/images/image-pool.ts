/** A pool of images to be labelled: the folder of their features, and tables that name images in it. */
import type { Table } from "../../tables/table.js";
import { readTableWithIds } from "../read-task.js";
import type { ReadOptions } from "../source.js";
import { isEmbedding, requireImageColumn, withFeatures, withoutLabelled } from "./embedded-table.js";
import { IMAGE_COLUMN } from "./manifest.js";

export interface ImagePool {
  /** The column that names the images. */
  readonly id: string;
  /** The labelled images with their features. */
  readonly labelled: Table;
  /** The images that have no label. */
  readonly pool: Table;
  /** Another table of images, with their features. */
  read(source: string): Promise<Table>;
}

/** `labelled` names images by the column `image`, or is a folder of features with labels of its own. */
export const readImagePool = async (
  folder: string,
  labelled: string,
  reading: ReadOptions,
): Promise<ImagePool> => {
  const embedded = await readTableWithIds(folder, IMAGE_COLUMN, reading);
  const read = async (source: string): Promise<Table> => {
    const table = await readTableWithIds(source, IMAGE_COLUMN, reading);
    if (await isEmbedding(source)) return table;
    requireImageColumn(table);
    return withFeatures(embedded, table);
  };
  const known = await read(labelled);
  const pool = (await isEmbedding(labelled)) ? embedded : withoutLabelled(embedded, known);
  return { id: IMAGE_COLUMN, labelled: known, pool, read };
};
