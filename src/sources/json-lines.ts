/** Where a file of JSON lines is broken: the database counts its lines differently from an editor. */
import { linesOf } from "../tables/csv-rows.js";
import { inspectFile } from "./file-kind.js";
import { textOf } from "./text-encoding.js";

/** The first line, from 1, that is no JSON value; undefined where every line is one, or where lines cannot be told. */
export const brokenJsonLine = async (path: string): Promise<number | undefined> => {
  try {
    const { gzip, text, whole, encoding } = await inspectFile(path);
    const pieces = () => textOf({ path, name: path, gzip }, encoding, false);
    for await (const lines of linesOf(path, { start: text, whole, pieces })) {
      const broken = lines.find(({ line }) => line.trim() !== "" && !isJson(line));
      if (broken !== undefined) return broken.number;
    }
    return undefined;
  } catch {
    return undefined;
  }
};

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};
