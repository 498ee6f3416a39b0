/** Databases that keep campaigns, and threads that fit their models: in Node alone. */
export { modelThread } from "../jobs/model-thread.js";
export { openStore } from "./open-store.js";
export type { StoreSettings } from "./sql-dialect.js";
