/** Where tables come from, in Node: files, databases, the catalogue, images. */
export { type EmbedOptions, type EmbedResult, embedImages } from "./images/embed.js";
export {
  type Chunk,
  type Embedding,
  type Manifest,
  readEmbedding,
  type SkippedImage,
} from "./images/manifest.js";
export { loadPaperTask, type PaperTask, type PaperTaskOptions } from "./paper-tasks.js";
export { type ReadOptions, readTable, type StreamOptions, streamTable } from "./source.js";
export { parquetBytes, writeParquet } from "./write-parquet.js";
