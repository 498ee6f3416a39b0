/** What a campaign has acquired, as a table for whoever goes on with it. */
import { InputError } from "../core/errors.js";
import { toCsv } from "../tables/csv.js";
import { toJsonLines } from "../tables/json-lines.js";
import type { Table } from "../tables/table.js";
import type { Campaign } from "./campaign.js";
import { designExport } from "./design-export.js";
import { poolExport } from "./pool-export.js";

export interface ExportOptions {
  /**
   * Those that have a label, or all of the pool ("acquired"). Those who withdrew are in neither. Of a campaign of designs
   * every observation is a row either way.
   */
  readonly rows?: "acquired" | "all" | undefined;
  /** Leaves the columns of the sensitive attributes out (false). */
  readonly withoutSensitive?: boolean | undefined;
}

/** Formats of an export. */
export const EXPORT_FORMATS = ["csv", "jsonl"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** What an export refuses, and why. */
export const exportTexts = {
  rows: (given: unknown) => `there are no rows "${String(given)}" to export: choose acquired or all`,
  format: (given: unknown) =>
    `there is no text format "${String(given)}": choose from ${EXPORT_FORMATS.join(", ")}`,
};

/**
 * The rows of the pool with all labels filled in, and how each came to its label: see `PROVENANCE_COLUMNS`. Of a campaign of
 * designs: one row for each observation.
 */
export const exportTable = (
  campaign: Campaign,
  { rows = "acquired", withoutSensitive = false }: ExportOptions = {},
): Table => {
  if (rows !== "acquired" && rows !== "all") throw new InputError("rows", exportTexts.rows(rows));
  const { now } = campaign;
  const { content } = now;
  return content.kind === "design"
    ? designExport(now, content)
    : poolExport(now, content, { all: rows === "all", withoutSensitive });
};

/** As CSV, safe to open in a spreadsheet, or as JSON lines. */
export const exportText = (table: Table, format: ExportFormat): string => {
  if (format === "csv") return toCsv(table);
  if (format === "jsonl") return toJsonLines(table);
  throw new InputError("format", exportTexts.format(format));
};
