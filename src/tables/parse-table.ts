/** Tables from CSV or ARFF text, without a file: what `readTable` does, in a page. */
import type { RunOptions } from "../core/options.js";
import { type TextPieces, withCsvRows } from "./csv-rows.js";
import type { DialectSettings } from "./dialect.js";
import { isArff } from "./is-arff.js";
import type { Table } from "./table.js";
import { type TextRows, tableOfRows } from "./text-rows.js";

export interface ParseTableOptions extends DialectSettings, RunOptions {
  /** Only these columns, in this order; all unless given. */
  readonly columns?: readonly string[] | undefined;
  /** Texts that stand for nothing, besides the empty one; `NA`, `N/A`, `NaN`, `null` and `?` unless given. */
  readonly missing?: readonly string[] | undefined;
  /** Columns that stay text, such as identifiers, even where all their values are numbers. */
  readonly asText?: readonly string[] | undefined;
  /** What the table is called in messages; "the table" unless given. */
  readonly name?: string | undefined;
}

/** The beginning that the separator, the header and the types are found from, in characters. */
const SAMPLE = 4 * 1024 * 1024;
/** Characters between two chances for the page to answer. */
const PIECE = 64 * 1024;

/**
 * A table from the text of a CSV file, or of an ARFF file, which says itself what it holds. Of CSV the separator, header and types are found by the same rules as `readTable`
 * finds those of a file, quotes are as in RFC 4180, and texts such as `NA` and `?` are missing. Time grows with the
 * length of the text, and a page is not kept from answering.
 *
 * @example
 * ```ts
 * import { parseTable } from "fairbed/tables";
 *
 * const table = await parseTable("id;age;sex\n007;31;f\n008;?;m\n", { asText: ["id"] });
 * console.log(table.rows, table.columns.map(({ name, kind }) => `${name} is ${kind}`).join(", "));
 * // 2 id is categorical, age is numeric, sex is categorical
 * ```
 */
export const parseTable = async (text: string, options: ParseTableOptions = {}): Promise<Table> => {
  const { name = "the table" } = options;
  const pieces = piecesOf(text);
  const use = (rows: TextRows) => tableOfRows(rows, { ...options, name });
  if (!isArff(pieces.start)) return withCsvRows(name, pieces, options, use);
  const { arffRows } = await import("./arff.js");
  return use(await arffRows(name, pieces, options));
};

const piecesOf = (text: string): TextPieces => {
  const unmarked = text.startsWith("\ufeff") ? text.slice(1) : text;
  return {
    start: unmarked.slice(0, SAMPLE),
    whole: unmarked.length <= SAMPLE,
    *pieces() {
      for (let at = 0; at < unmarked.length; at += PIECE) yield unmarked.slice(at, at + PIECE);
    },
  };
};
