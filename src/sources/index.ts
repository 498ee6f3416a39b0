/** Where tables come from, in Node: files, databases, the catalogue, images. */
export { embedImages } from "./images/embed.js";
export { readEmbedding } from "./images/manifest.js";
export { loadPaperTask, type PaperTask } from "./paper-tasks.js";
export { type ReadOptions, readTable, type StreamOptions, streamTable } from "./source.js";
