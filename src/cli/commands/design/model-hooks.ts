/**
 * What lets Node import a user's model: `fairbed` and its sub-paths are this very package wherever the model lies, and TypeScript loses
 * its types on the way. The same two functions serve `module.registerHooks` (synchronous, from Node 22.15 on) and
 * `module.register` (Node 20), which is why they never look at what `next` returns.
 */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { transform } from "sucrase";

const DIST = new URL("../../../", import.meta.url).href;
/** `fairbed` and its sub-paths, such as `fairbed/design`. */
const PACKAGE = /^fairbed(?:\/([a-z]+))?$/;
const TYPESCRIPT = /\.m?ts$/;

interface ResolveContext {
  readonly parentURL?: string | undefined;
}
interface Resolved {
  readonly url: string;
  readonly shortCircuit: true;
}

export const resolve = <Context extends ResolveContext, Result>(
  specifier: string,
  context: Context,
  next: (specifier: string, context: Context) => Result,
): Result | Resolved => {
  const own = PACKAGE.exec(specifier);
  if (own !== null) {
    return { url: `${DIST}${own[1] === undefined ? "" : `${own[1]}/`}index.js`, shortCircuit: true };
  }
  const { parentURL } = context;
  // TypeScript's own habit: "./signal.js" means signal.ts where only that exists.
  if (parentURL !== undefined && TYPESCRIPT.test(parentURL) && /^\.{1,2}\/.*\.m?js$/.test(specifier)) {
    const wanted = new URL(specifier, parentURL);
    const source = new URL(wanted.href.replace(/js$/, "ts"));
    if (!existsSync(wanted) && existsSync(source)) return { url: source.href, shortCircuit: true };
  }
  return next(specifier, context);
};

interface Loaded {
  readonly format: "module";
  readonly source: string;
  readonly shortCircuit: true;
}

export const load = <Context, Result>(
  url: string,
  context: Context,
  next: (url: string, context: Context) => Result,
): Result | Loaded => {
  if (!url.startsWith("file:") || !TYPESCRIPT.test(new URL(url).pathname)) return next(url, context);
  const filePath = fileURLToPath(url);
  const { code } = transform(readFileSync(filePath, "utf8"), {
    transforms: ["typescript"],
    disableESTransforms: true,
    filePath,
  });
  return { format: "module", source: code, shortCircuit: true };
};
