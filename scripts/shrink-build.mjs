// @ts-check
/**
 * Makes a build small: modules without comments, line breaks and long local names; declarations of what
 * the package exports and of what that rests on, with the doc comments of the former; and the page's files as one
 * archive, which is what ships of it.
 */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { minifySync, parseSync } from "vite";
import { pruneDeclarations } from "./prune-declarations.mjs";
import { publicSurface } from "./public-surface.mjs";

/** @param {string} folder @param {string} ending @returns {string[]} */
const filesUnder = (folder, ending) =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();

/** What a comment tells bundlers would be lost: modules with one stay as they are. */
const NOTES = /@vite-ignore|webpackIgnore|__PURE__|__NO_SIDE_EFFECTS__/;

/** @param {string} file */
const shrinkModule = (file) => {
  const source = readFileSync(file, "utf8");
  if (NOTES.test(source)) return;
  const { code, errors } = minifySync(file, source, { module: true });
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`);
  writeFileSync(file, code);
};

/** What `bin/fairbed` starts, and what scripts of this repository load, which does not ship (`files` in package.json). */
const STARTED = ["cli/main.js", "cli/supervise.js", "cli/work.js"];
const OF_SCRIPTS = ["reproduce/verify-cells.js", "tables/example-people.js"];

/** Takes modules away that nothing leads to: those of types alone, and those that only the page has. @param {string} root @param {string} dist */
const dropUnused = (root, dist) => {
  const { exports, browser } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const entries = Object.values(exports).flatMap((each) =>
    each.default === undefined ? [] : [each.default],
  );
  const found = [...entries, browser].map((path) => join(dist, path.replace(/^\.\/dist\//, "")));
  const used = new Set([...found, ...[...STARTED, ...OF_SCRIPTS].map((path) => join(dist, path))]);
  for (const file of used) {
    // Imports, and programs and threads that are started by their address.
    for (const [, path] of readFileSync(file, "utf8").matchAll(/["'`](\.{1,2}\/[^"'`]+\.js)["'`]/g)) {
      const to = resolve(dirname(file), path);
      if (existsSync(to)) used.add(to);
    }
  }
  const page = join(dist, "studio");
  for (const file of filesUnder(dist, ".js")) {
    if (!used.has(file) && !file.startsWith(page)) rmSync(file);
  }
};

/** Leaves the comments before and in these statements, indented by one space for four. @param {string} file @param {ReadonlySet<string>} names */
const keepComments = (file, names) => {
  const source = readFileSync(file, "utf8");
  const { program, comments } = parseSync(file, source);
  /** @type {readonly any[]} */
  const statements = program.body;
  const isPublic = statements.map((statement) => {
    const declared = statement.declaration ?? statement;
    /** @type {readonly any[]} */
    const identifiers = declared.declarations?.map((/** @type {any} */ each) => each.id) ?? [declared.id];
    return identifiers.some((id) => id != null && names.has(id.name));
  });
  let text = "";
  let at = 0;
  for (const { start, end } of comments) {
    const index = statements.findIndex((statement) => statement.end > start);
    const isDoc = isPublic[index] && source.startsWith("/**", start);
    // A second comment before a statement is about the file.
    const isNext = isDoc && !source.slice(end, statements[index].start).includes("/**");
    if (isNext) continue;
    text += source.slice(at, start);
    at = /^\s*/.exec(source.slice(end))?.[0].length ?? 0;
    at += end;
  }
  const narrow = (/** @type {string} */ spaces) => " ".repeat(spaces.length / 4);
  writeFileSync(file, (text + source.slice(at)).replace(/^(?: {4})+/gm, narrow));
};

/** @param {string} root @param {string} dist */
const shrinkDeclarations = (root, dist) => {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const entries = Object.values(exports).flatMap(({ types }) =>
    types === undefined ? [] : [join(dist, types.replace(/^\.\/dist\//, ""))],
  );
  /** @type {Map<string, Set<string>>} */
  const names = new Map();
  for (const { place } of publicSurface(root, dist)) {
    names.set(place.file, (names.get(place.file) ?? new Set()).add(place.name));
  }
  const kept = pruneDeclarations(entries.concat(join(dist, "browser.d.ts")));
  for (const file of filesUnder(dist, ".d.ts")) {
    if (kept.has(file)) keepComments(file, names.get(file) ?? new Set());
    else rmSync(file);
  }
};

/** Every file of a folder in one, texts by their paths: what two of them have in common is there once. @param {string} folder */
const archive = (folder) => {
  const texts = filesUnder(folder, "").map((file) => {
    const text = readFileSync(file, "utf8");
    if (!Buffer.from(text).equals(readFileSync(file))) throw new Error(`${file} is no text`);
    return [file.slice(folder.length + 1).replaceAll("\\", "/"), text];
  });
  const bytes = Buffer.from(JSON.stringify(Object.fromEntries(texts)));
  return brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      [constants.BROTLI_PARAM_LGWIN]: 24,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
    },
  });
};

/** @param {string} root @param {string} dist @param {{ readonly readable: boolean }} options */
export const shrinkBuild = (root, dist, { readable }) => {
  const page = join(dist, "studio");
  if (!readable) {
    for (const file of filesUnder(dist, ".js")) if (!file.startsWith(page)) shrinkModule(file);
  }
  dropUnused(root, dist);
  shrinkDeclarations(root, dist);
  writeFileSync(`${page}.json.br`, archive(page));
};
