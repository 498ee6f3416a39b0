/** The public surface in Node: everything that runs in a browser, and what only Node can do. */
export * from "./browser.js";
export { embedImages } from "./sources/images/embed.js";
export { readEmbedding } from "./sources/images/manifest.js";
export { loadPaperTask, type PaperTask } from "./sources/paper-tasks.js";
export { type ReadOptions, readTable, type StreamOptions, streamTable } from "./sources/source.js";
export { describeTable } from "./tables/describe-table.js";
export { type EncodedMatrix, type Encoder, fitEncoder, loadEncoder, saveEncoder } from "./tables/encoder.js";
export { type SyntheticOptions, type SyntheticPool, syntheticPool } from "./tables/synthetic.js";
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
} from "./tables/table.js";
export { defineTask, type Task, type TaskSettings } from "./tables/task.js";
export {
  type RankInput,
  type Ranking,
  type RankSettings,
  rankPool,
} from "./workflows/rank-pool.js";
export {
  PAPER,
  RECOMMENDED,
  recommendedFor,
  type SeedResult,
  type SimulationSettings,
  simulateSeed,
  summarise,
  WHOLE_SET,
} from "./workflows/simulation.js";
