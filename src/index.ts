/**
 * The root of the public surface in Node: what a newcomer needs, and no more. The rest is under `fairbed/design` and so
 * on. It has the names of `browser.ts`; only `readTable` is another one, which reads files and databases.
 */
export * from "./browser.js";
export { type ReadOptions, readTable } from "./sources/source.js";
