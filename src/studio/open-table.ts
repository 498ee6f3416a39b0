/** What the page shows of the table that is open; its rows stay in the workers. */
import type { ColumnDescription } from "../tables/describe-table.js";

export interface OpenColumn extends ColumnDescription {
  /** What may be chosen of it as the target or as sensitive, in words. */
  readonly choices: readonly string[];
}

export interface OpenTable {
  readonly name: string;
  readonly rows: number;
  readonly columns: readonly OpenColumn[];
  readonly notes: readonly string[];
  /** The built-in example, or a file. */
  readonly source: "example" | "file";
}
