/**
 * What lets Node import a user's model: `fairbed` and its sub-paths are this very package wherever the model lies, and TypeScript loses
 * its types on the way. The same two functions serve `module.registerHooks` (synchronous, from Node 22.15 on) and
 * `module.register` (Node 20), which is why they never look at what `next` returns.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { transform } from "sucrase";

const DIST = new URL("../../../", import.meta.url).href;
/** `fairbed` and its sub-paths, such as `fairbed/design`. */
const PACKAGE = /^fairbed(?:\/([a-z]+))?$/;
const TYPESCRIPT = /\.m?ts$/;

export const hookTexts = {
  noPart: (given: string, parts: readonly string[]) =>
    `fairbed has no part ${given}: import from one of ${parts.join(", ")}`,
};

/** As imports name them. */
const partsHere = (): readonly string[] => {
  const folders = readdirSync(new URL(DIST)).filter((name) => existsSync(new URL(`${name}/index.js`, DIST)));
  return ["fairbed", ...folders.map((name) => `fairbed/${name}`).sort()];
};

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
    const [, part] = own;
    const url = `${DIST}${part === undefined ? "" : `${part}/`}index.js`;
    if (!existsSync(new URL(url))) throw new Error(hookTexts.noPart(specifier, partsHere()));
    return { url, shortCircuit: true };
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
  return { format: "module", source: sourceOf(url), shortCircuit: true };
};

/** What Node compiles of a model file, line by line as it was written. */
export const sourceOf = (url: string): string => {
  const filePath = fileURLToPath(url);
  const source = readFileSync(filePath, "utf8");
  if (!TYPESCRIPT.test(filePath)) return source;
  return transform(source, { transforms: ["typescript"], disableESTransforms: true, filePath }).code;
};
