/** Typed columns, tasks (target, sensitive attributes, features), labels and encodings; no files. */
export type { LeftOutGroup } from "../core/left-out.js";
export type { ColumnTypes } from "./column-types.js";
export { type CsvValue, csvText, toCsv } from "./csv.js";
export { type ColumnDescription, describeTable, type TableDescription } from "./describe-table.js";
export type { DialectSettings } from "./dialect.js";
export {
  type CategoryEncoding,
  type CategoryRule,
  type EncodedMatrix,
  type Encoder,
  type EncoderRules,
  fitEncoder,
  loadEncoder,
  type NumberRule,
  saveEncoder,
} from "./encoder.js";
export { toJsonLines } from "./json-lines.js";
export type { Comparison, Label, LabelChoice, LabelOptions, LabelRule } from "./label.js";
export { labelChoices } from "./label-choices.js";
export type { NumberCode } from "./number-code.js";
export { type ParquetOptions, type ParquetSource, readParquet } from "./parquet.js";
export { type ParseTableOptions, parseTable } from "./parse-table.js";
export { type ReadTableFileOptions, readTableFile, type TableFile } from "./read-table-file.js";
export type { GroupSizes, SmallGroups } from "./small-groups.js";
export { type SuggestedRoles, suggestRoles } from "./suggest-roles.js";
export { type ExactLeakage, type SyntheticData, type SyntheticOptions, syntheticPool } from "./synthetic.js";
export {
  appendRows,
  type CategoricalColumn,
  type Column,
  columnNamed,
  columnNames,
  columnOfNumbers,
  columnOfTexts,
  dropColumns,
  type NumericColumn,
  selectRows,
  type Table,
  tableOfColumns,
} from "./table.js";
export { type RecordValue, type TableRecord, tableOf, toRecords } from "./table-of.js";
export {
  type TableWarning,
  type TableWarningKind,
  tableWarnings,
} from "./table-warnings.js";
export { defineTask, type Task, type TaskOptions, type TaskSettings } from "./task.js";
