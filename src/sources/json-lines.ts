/** Where a file of JSON lines is broken: the database counts its lines differently from an editor. */
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { createGunzip } from "node:zlib";
import { inspectFile } from "./file-kind.js";

/** The first line, from 1, that is no JSON value; undefined where every line is one. */
export const brokenJsonLine = async (path: string): Promise<number | undefined> => {
  const { gzip } = await inspectFile(path);
  const source = createReadStream(path);
  let number = 0;
  try {
    const input = gzip ? source.pipe(createGunzip()) : source;
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      number += 1;
      if (line.trim() !== "" && !isJson(line)) return number;
    }
    return undefined;
  } finally {
    source.destroy();
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
