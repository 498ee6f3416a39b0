/** `readTable` in a page, where there are no paths: it reads a file that somebody chose, or fetches an address. */
import { EnvironmentError, InputError } from "../core/errors.js";
import { type ReadTableFileOptions, readTableFile, type TableFile } from "./read-table-file.js";
import type { Table } from "./table.js";

export const pageTexts = {
  query:
    "a page has no database engine, so `query` cannot be used here: read the whole table, or do it in Node.",
  unreachable: (address: string, reason: string) =>
    `${address} could not be fetched (${reason}): check the address, and that its server lets this page read it.`,
};

/**
 * The same call as in Node, for a web address of a table or for a `File`; `parseTable(text)` where the text is there
 * already.
 */
export const readTable = async (
  source: string | TableFile,
  options: ReadTableFileOptions & { readonly query?: string | undefined } = {},
): Promise<Table> => {
  if (options.query !== undefined) throw new InputError("query", pageTexts.query);
  if (typeof source !== "string") return readTableFile(source, options);
  return readTableFile(await fetched(source), { ...options, name: options.name ?? source });
};

const fetched = async (address: string): Promise<TableFile> => {
  const unreachable = (reason: string, cause?: unknown) =>
    new EnvironmentError("fetch", pageTexts.unreachable(address, reason), { cause });
  const response = await fetch(address).catch((error: unknown) => {
    throw unreachable(String(error), error);
  });
  if (!response.ok) throw unreachable(`status ${response.status}`);
  return response.blob().catch((error: unknown) => {
    throw unreachable(String(error), error);
  });
};
