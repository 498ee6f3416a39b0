// @ts-check
/**
 * Takes out of declaration files what no entry leads to: texts of errors, kernels, and whatever else modules export to
 * each other alone.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseSync } from "vite";
import { createReader } from "./public-surface.mjs";

export const pruneTexts = {
  /** @param {string} file @param {string} statement */
  statement: (file, statement) =>
    `${file} has a statement that cannot be pruned (${statement}): import a default by itself, and declare nothing for everybody`,
};

/** Words of a statement, without its comments: every name that it uses, and some more. @param {string} text */
const words = (text) => new Set(text.match(/[\p{ID_Start}$_][\p{ID_Continue}$]*/gu));

/**
 * Every name of every file that the entries' exports rest on.
 *
 * @param {readonly string[]} entries @returns {Map<string, Set<string>>}
 */
const namesInUse = (entries) => {
  const reader = createReader();
  /** @type {Map<string, Set<string>>} */
  const used = new Map();
  /** @param {string} file @param {string} name */
  const mark = (file, name) => {
    if (!file.endsWith(".d.ts")) return;
    const names = used.get(file) ?? new Set();
    used.set(file, names);
    if (name === "*") {
      for (const each of reader.names(file)) mark(file, each);
      return;
    }
    if (names.has(name)) return;
    names.add(name);
    const module = reader.read(file);
    const exported = module.exports.get(name);
    if (exported !== undefined && (exported.file !== file || exported.name !== name)) {
      mark(exported.file, exported.name);
      return;
    }
    const declarations = module.declarations.get(name);
    if (declarations === undefined) {
      const imported = module.imports.get(name);
      if (imported !== undefined) mark(imported.file, imported.name);
      else for (const star of module.stars) if (reader.names(star).includes(name)) mark(star, name);
      return;
    }
    for (const { node } of declarations) {
      const text = readFileSync(file, "utf8")
        .slice(node.start, node.end)
        .replace(/\/\*[\s\S]*?\*\//g, "");
      for (const word of words(text)) {
        if (module.declarations.has(word) || module.imports.has(word)) mark(file, word);
      }
      for (const [, path, to] of text.matchAll(/\bimport\("(\.[^"]+)\.js"\)(?:\.(\w+))?/g)) {
        mark(resolve(file, "..", `${path}.d.ts`), to ?? "*");
      }
    }
  };
  for (const entry of entries) mark(entry, "*");
  return used;
};

/** @param {string} file @param {ReadonlySet<string>} used */
const prune = (file, used) => {
  const source = readFileSync(file, "utf8");
  const { program } = parseSync(file, source);
  let text = "";
  let at = 0;
  /** What stands before a statement goes or stays with it. @param {any} node @param {string | undefined} instead */
  const put = (node, instead) => {
    if (instead !== undefined) text += source.slice(at, node.start) + instead;
    at = node.end;
  };
  for (const statement of /** @type {any[]} */ (program.body)) {
    const whole = source.slice(statement.start, statement.end);
    /** @type {readonly any[]} */
    const specifiers = statement.specifiers ?? [];
    const declared = statement.declaration ?? statement;
    const isDefault = specifiers.some(({ type }) => type === "ImportDefaultSpecifier");
    const isGlobal = declared.type === "TSModuleDeclaration" && declared.id.name === "global";
    if ((isDefault && specifiers.length > 1) || isGlobal) {
      throw new Error(pruneTexts.statement(file, whole.split("\n")[0]));
    }
    if (specifiers.length > 0) {
      const isImport = statement.type === "ImportDeclaration";
      const kept = specifiers.filter((each) => used.has(isImport ? each.local.name : each.exported.name));
      if (kept.length === 0) put(statement, undefined);
      else if (kept.length === specifiers.length) put(statement, whole);
      else {
        const list = kept.map(({ start, end }) => source.slice(start, end)).join(", ");
        put(statement, whole.replace(/\{[^}]*\}/, `{ ${list} }`));
      }
      continue;
    }
    /** @type {readonly any[]} */
    const ids = declared.declarations?.map((/** @type {any} */ each) => each.id) ?? [declared.id];
    const names = ids.flatMap((id) => (id?.name === undefined ? [] : [id.name]));
    put(statement, names.length === 0 || names.some((name) => used.has(name)) ? whole : undefined);
  }
  text += source.slice(at);
  // Without an import or an export it would be a script, whose names are everybody's.
  if (!/^(?:import|export)\b/m.test(text)) text += "export {};\n";
  if (text !== source) writeFileSync(file, text);
};

/** Prunes what the entries lead to, and says which files that is. @param {readonly string[]} entries @returns {ReadonlySet<string>} */
export const pruneDeclarations = (entries) => {
  const used = namesInUse(entries);
  for (const [file, names] of used) prune(file, names);
  return new Set(used.keys());
};
