/** What the page shows of the table that is open; its rows stay in the workers. */
import type { ColumnDescription } from "../tables/describe-table.js";

export interface OpenTable {
  readonly name: string;
  readonly rows: number;
  readonly columns: readonly ColumnDescription[];
  readonly notes: readonly string[];
  /** The built-in example, or a file. */
  readonly source: "example" | "file";
}
