/** The public surface in Node: everything that runs in a browser, and what only Node can do. */
export * from "./browser.js";
export { describeTable } from "./data/describe-table.js";
export { type EncodedMatrix, type Encoder, fitEncoder, loadEncoder, saveEncoder } from "./data/encoder.js";
export { embedImages } from "./data/images/embed.js";
export { readEmbedding } from "./data/images/manifest.js";
export { loadPaperTask, type PaperTask } from "./data/paper-tasks.js";
export { type ReadOptions, readTable, type StreamOptions, streamTable } from "./data/source.js";
export { type SyntheticOptions, type SyntheticPool, syntheticPool } from "./data/synthetic.js";
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
} from "./data/table.js";
export { defineTask, type Task, type TaskSettings } from "./data/task.js";
export {
  type RankInput,
  type Ranking,
  type RankSettings,
  rankPool,
} from "./experiments/rank-pool.js";
export {
  PAPER,
  RECOMMENDED,
  recommendedFor,
  type SeedResult,
  type SimulationSettings,
  simulateSeed,
  summarise,
  WHOLE_SET,
} from "./experiments/simulation.js";
