/** What must come of a file, however it is damaged: a table, or one sentence without anything that stands in it. */
import { writeFile } from "node:fs/promises";
import { EnvironmentError, InputError } from "../../src/core/errors.js";
import { readTable } from "../../src/sources/source.js";
import type { Table } from "../../src/tables/table.js";
import { SECRET } from "./kinds.js";

/** Far above what any reader needs, and far below what one that is not linear would take on a long file. */
export const LIMITS = {
  milliseconds: (bytes: number): number => 20_000 + 0.05 * bytes,
  /** Above what the process had before. */
  memory: (bytes: number): number => 400 * 1024 * 1024 + 1000 * bytes,
};

const LONGEST_SENTENCE = 400;

/** What is wrong with how the file was read; undefined where nothing is. A whole one must give a table. */
export const faultOf = async (
  path: string,
  contents: Uint8Array,
  isWhole = false,
): Promise<string | undefined> => {
  await writeFile(path, contents);
  const memoryBefore = process.resourceUsage().maxRSS * 1024;
  const start = performance.now();
  let fault: string | undefined;
  try {
    fault = faultOfTable(await readTable(path, { name: "the file" }));
  } catch (error) {
    fault = isWhole ? `is refused: ${error}` : faultOfError(error);
  }
  const took = performance.now() - start;
  const grown = process.resourceUsage().maxRSS * 1024 - memoryBefore;
  if (took > LIMITS.milliseconds(contents.length)) return `took ${Math.round(took)} ms`;
  if (grown > LIMITS.memory(contents.length)) return `took ${Math.round(grown / 1024 / 1024)} MB`;
  return fault;
};

const faultOfTable = ({ rows, columns, notes }: Table): string | undefined => {
  if (rows < 1 || columns.length < 1) return "gave a table without rows or columns";
  for (const column of columns) {
    const length = column.kind === "numeric" ? column.values.length : column.codes.length;
    if (length !== rows) return `gave a column of ${length} cells in a table of ${rows} rows`;
    if (column.kind === "categorical" && column.codes.some((code) => code >= column.levels.length)) {
      return "gave a code without a level";
    }
  }
  return notes.some((note) => /[\r\n]/.test(note)) ? "gave a note of several lines" : undefined;
};

const faultOfError = (error: unknown): string | undefined => {
  if (!(error instanceof InputError || error instanceof EnvironmentError)) {
    return `ended in ${error instanceof Error ? error.stack : String(error)}`;
  }
  const { message } = error;
  if (message.includes(SECRET)) return `repeats what the file holds: ${message}`;
  if (/[\r\n]/.test(message)) return `has several lines: ${message}`;
  if (message.length > LONGEST_SENTENCE) return `says too much: ${message}`;
  if (!message.endsWith(".")) return `is no sentence: ${message}`;
  return undefined;
};
