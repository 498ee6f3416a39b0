/** Typed columns, tasks (target, sensitive attributes, features), labels and encodings; no files. */
export { describeTable } from "./describe-table.js";
export { type EncodedMatrix, type Encoder, fitEncoder, loadEncoder, saveEncoder } from "./encoder.js";
export { type SyntheticOptions, type SyntheticPool, syntheticPool } from "./synthetic.js";
export {
  appendRows,
  type CategoricalColumn,
  type Column,
  categoricalColumn,
  columnNamed,
  columnNames,
  dropColumns,
  type NumericColumn,
  numericColumn,
  selectRows,
  type Table,
  tableOf,
} from "./table.js";
export { defineTask, type Task, type TaskSettings } from "./task.js";
