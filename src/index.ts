/** The root of the public surface in Node: what a newcomer needs, and no more. The rest is under `fairbed/design` and so on. */
export * from "./browser.js";
export { type ReadOptions, readTable } from "./sources/source.js";
