/** The public surface in Node: everything that runs in a browser, and what only Node can do. */
export * from "./browser.js";
