// @ts-check
/**
 * What the package exports, read from its declaration files: every name of every entry with its declaration, its doc
 * comment, and the types that its signature names.
 */
import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { parseSync, Visitor } from "vite";

/**
 * @typedef {{ file: string, name: string, typeOnly?: boolean }} Place
 * @typedef {{ start: number, end: number, type: string, [key: string]: unknown }} Node
 * @typedef {{ node: Node, doc: string, isType: boolean, isFunction: boolean }} Declaration
 * @typedef {{ entry: string, name: string, place: Place, declaration: Declaration }} Exported
 * @typedef {{ declarations: Map<string, Declaration[]>, imports: Map<string, Place>, exports: Map<string, Place>, stars: string[] }} Module
 */

/** @param {string} from @param {string} specifier */
const fileOf = (from, specifier) =>
  specifier.startsWith(".") ? resolve(dirname(from), specifier).replace(/\.js$/, ".d.ts") : specifier;

/** @param {any} node @returns {string[]} */
const namesOf = (node) =>
  node.type === "VariableDeclaration"
    ? node.declarations.map((/** @type {any} */ each) => each.id.name)
    : node.id == null
      ? []
      : [node.id.name];

const TYPES = ["TSInterfaceDeclaration", "TSTypeAliasDeclaration"];

/** @param {any} node */
const isFunction = (node) =>
  node.type === "TSDeclareFunction" ||
  node.type === "FunctionDeclaration" ||
  (node.type === "VariableDeclaration" &&
    node.declarations.some(
      (/** @type {any} */ each) => each.id.typeAnnotation?.typeAnnotation.type === "TSFunctionType",
    ));

/** Reads declaration files, each once. */
export const createReader = () => {
  /** @type {Map<string, Module>} */
  const modules = new Map();
  /** @param {string} file @returns {Module} */
  const read = (file) => {
    const known = modules.get(file);
    if (known !== undefined) return known;
    const source = readFileSync(file, "utf8");
    const { program, comments } = parseSync(file, source);
    /** @type {Module} */
    const module = { declarations: new Map(), imports: new Map(), exports: new Map(), stars: [] };
    modules.set(file, module);
    /** @param {number} start */
    const docBefore = (start) => {
      const comment = comments.findLast(
        (each) => each.end <= start && source.slice(each.end, start).trim() === "",
      );
      return comment?.type === "Block" && comment.value.startsWith("*") ? comment.value : "";
    };
    /** @param {any} node @param {number} start @param {boolean} exported */
    const declare = (node, start, exported) => {
      for (const name of namesOf(node)) {
        const all = module.declarations.get(name) ?? [];
        all.push({
          node,
          doc: docBefore(start),
          isType: TYPES.includes(node.type),
          isFunction: isFunction(node),
        });
        module.declarations.set(name, all);
        if (exported) module.exports.set(name, { file, name });
      }
    };
    for (const statement of /** @type {any[]} */ (program.body)) {
      if (statement.type === "ImportDeclaration") {
        for (const each of statement.specifiers) {
          module.imports.set(each.local.name, {
            file: fileOf(file, statement.source.value),
            name: each.type === "ImportSpecifier" ? each.imported.name : "*",
          });
        }
      } else if (statement.type === "ExportAllDeclaration") {
        module.stars.push(fileOf(file, statement.source.value));
      } else if (statement.type === "ExportNamedDeclaration" && statement.declaration != null) {
        declare(statement.declaration, statement.start, true);
      } else if (statement.type === "ExportNamedDeclaration") {
        for (const each of statement.specifiers) {
          const from = statement.source == null ? undefined : fileOf(file, statement.source.value);
          const typeOnly = statement.exportKind === "type" || each.exportKind === "type";
          const place = { file: from ?? file, name: each.local.name, typeOnly };
          module.exports.set(each.exported.name, place);
        }
      } else {
        declare(statement, statement.start, false);
      }
    }
    return module;
  };
  /** Where a name of a module is declared. @param {Place} place @returns {Place | undefined} */
  const declared = ({ file, name }) => {
    if (!file.endsWith(".d.ts")) return { file, name };
    const module = read(file);
    const exported = module.exports.get(name);
    if (exported !== undefined && (exported.file !== file || exported.name !== name))
      return declared(exported);
    if (module.declarations.has(name)) return { file, name };
    const imported = module.imports.get(name);
    if (imported !== undefined) return declared(imported);
    for (const star of module.stars) {
      const found =
        read(star).exports.has(name) || read(star).stars.length > 0
          ? declared({ file: star, name })
          : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  };
  /** All names of a module. @param {string} file @returns {string[]} */
  const names = (file) => {
    const module = read(file);
    return [...new Set([...module.exports.keys(), ...module.stars.flatMap(names)])];
  };
  /** Whether a module exports a name as a type alone. @param {string} file @param {string} name @returns {boolean} */
  const isTypeOnly = (file, name) => {
    const { exports, stars } = read(file);
    return (
      exports.get(name)?.typeOnly ??
      stars.some((star) => names(star).includes(name) && isTypeOnly(star, name))
    );
  };
  return { read, declared, names, isTypeOnly };
};

/**
 * Every export of every entry of the package in `root`, by its declaration files, which may be in another folder than
 * the one that ships.
 *
 * @param {string} root @param {string} [dist] @returns {Exported[]}
 */
export const publicSurface = (root, dist = join(root, "dist")) => {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const reader = createReader();
  return Object.entries(exports).flatMap(([entry, conditions]) => {
    if (typeof conditions === "string") return [];
    const file = join(dist, conditions.types.replace(/^\.\/dist\//, ""));
    return reader.names(file).flatMap((name) => {
      const place = reader.declared({ file, name });
      if (place === undefined) throw new Error(`${entry} exports ${name}, which is declared nowhere`);
      const all = reader.read(place.file).declarations.get(place.name) ?? [];
      const typeOnly = reader.isTypeOnly(file, name);
      return all.map((each) => ({
        entry,
        name,
        place,
        declaration: typeOnly ? { ...each, isType: true, isFunction: false } : each,
      }));
    });
  });
};

/**
 * Types of the package's own that public signatures name and no entry exports.
 *
 * @param {string} root @returns {string[]} `entry: name names Type of file`
 */
export const unnamedTypes = (root) => {
  const surface = publicSurface(root);
  const reader = createReader();
  const known = new Set(surface.map(({ place }) => `${place.file}#${place.name}`));
  /** @type {string[]} */
  const missing = [];
  for (const { entry, name, place, declaration } of surface) {
    const module = reader.read(place.file);
    /** @type {Set<string>} */
    const own = new Set();
    /** @type {Set<string>} */
    const used = new Set();
    new Visitor({
      TSTypeParameter: (/** @type {any} */ node) => void own.add(node.name.name ?? node.name),
      TSTypeReference: (/** @type {any} */ node) => {
        if (node.typeName.type === "Identifier") used.add(node.typeName.name);
      },
      TSInterfaceHeritage: (/** @type {any} */ node) => void used.add(node.expression.name),
      TSMappedType: (/** @type {any} */ node) => void own.add(node.key?.name ?? ""),
    }).visit(/** @type {any} */ ({ type: "Program", body: [declaration.node], start: 0, end: 0 }));
    for (const type of used) {
      if (own.has(type)) continue;
      if (!module.declarations.has(type) && !module.imports.has(type)) continue;
      const there = reader.declared({ file: place.file, name: type });
      if (there === undefined || !there.file.endsWith(".d.ts")) continue;
      if (!known.has(`${there.file}#${there.name}`)) {
        missing.push(`${entry}: ${name} names ${type} of ${relative(root, there.file)}`);
      }
    }
  }
  return [...new Set(missing)];
};

/** The code blocks of a doc comment's `@example`s. @param {string} doc @returns {string[]} */
export const examplesOf = (doc) =>
  doc
    .replace(/^[ \t]*\* ?/gm, "")
    .split(/^@example\b/m)
    .slice(1)
    .flatMap((part) => [...part.matchAll(/```(?:ts|js)?\n([\s\S]*?)```/g)].map(([, code]) => code));
