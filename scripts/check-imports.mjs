// @ts-check
/**
 * Imports point down only, and what must run in a browser never reaches Node.
 *
 *     node scripts/check-imports.mjs [folder with src/]
 *
 * Prints every offence as `file:line: rule` and fails when there is one.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync, Visitor } from "vite";

/** From the bottom up; a folder may import itself and the rows below its own, and nothing beside it. */
const ROWS = [
  ["core"],
  ["compute"],
  ["learners", "tables"],
  ["design", "active", "fairness", "mitigation"],
  ["workflows", "sources"],
  ["jobs", "campaign"],
  // Databases that keep campaigns; those of a page are in campaign/.
  ["stores"],
  ["reproduce"],
  ["report"],
  // The public surface: src/index.ts, src/browser.ts and one file for each sub-path.
  ["src"],
  ["server", "studio"],
  // Above the server, because one of its commands starts it.
  ["cli"],
];
const BROWSER = [
  "core",
  "compute",
  "tables",
  "learners",
  "design",
  "active",
  "fairness",
  "mitigation",
  "workflows",
  "campaign",
];

/**
 * @typedef {{ specifier: string, line: number, typeOnly: boolean }} Import
 * @typedef {{ file: string, line: number, description: string }} Offence
 */

/** @param {string} source */
const lineCounter = (source) => {
  /** @param {number} offset */
  return (offset) => source.slice(0, offset).split("\n").length;
};

/** Every way to name another module: import, export from, import(), import types, new URL(…, import.meta.url).
 * @param {string} file @returns {Import[]} */
const importsOf = (file) => {
  const source = readFileSync(file, "utf8");
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message}`);
  const lineAt = lineCounter(source);
  /** @type {Import[]} */
  const found = [];
  /** @param {unknown} node @param {boolean} typeOnly */
  const add = (node, typeOnly) => {
    const { type, value, start } = /** @type {{ type?: string, value?: unknown, start: number }} */ (
      node ?? {}
    );
    if (type !== "Literal" || typeof value !== "string") return;
    found.push({ specifier: value, line: lineAt(start), typeOnly });
  };
  new Visitor({
    ImportDeclaration: (node) => add(node.source, node.importKind === "type"),
    ExportNamedDeclaration: (node) => add(node.source, node.exportKind === "type"),
    ExportAllDeclaration: (node) => add(node.source, node.exportKind === "type"),
    ImportExpression: (node) => add(node.source, false),
    TSImportType: (node) => add(node.source, true),
    NewExpression: (node) => {
      const [address, base] = node.arguments;
      const isUrl = node.callee.type === "Identifier" && node.callee.name === "URL";
      const isHere = base?.type === "MemberExpression" && base.object.type === "MetaProperty";
      const isRelative = address?.type === "Literal" && /^\.\.?\//.test(String(address.value));
      if (isUrl && isHere && isRelative) add(address, false);
    },
  }).visit(program);
  return found;
};

/** @param {string} specifier */
const isNodeBuiltin = (specifier) => specifier.startsWith("node:") || builtinModules.includes(specifier);

/** The source file a relative specifier means: `.js` in an import is `.ts` on disk.
 * @param {string} from @param {string} specifier */
const resolveImport = (from, specifier) => {
  if (!specifier.startsWith(".")) return undefined;
  const path = resolve(dirname(from), specifier);
  return [path.replace(/\.js$/, ".ts"), path].find((candidate) => existsSync(candidate));
};

/** @param {string} root @returns {Offence[]} */
export const checkImports = (root) => {
  const src = join(root, "src");
  const files = readdirSync(src, { withFileTypes: true, recursive: true })
    .filter(
      (entry) => entry.isFile() && /\.(ts|mts|js|mjs)$/.test(entry.name) && !entry.name.endsWith(".d.ts"),
    )
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const imports = new Map(files.map((file) => [file, importsOf(file)]));
  /** @param {string} file */
  const folderOf = (file) => {
    const parts = relative(src, file).split("/");
    return parts.length > 1 ? String(parts[0]) : "src";
  };
  /** @param {string} folder */
  const rowOf = (folder) => ROWS.findIndex((row) => row.includes(folder));

  /** The chain of files from here to a Node module, by imports that exist at run time.
   * @param {string} file @param {Set<string>} seen @returns {string[] | undefined} */
  const wayToNode = (file, seen = new Set()) => {
    if (seen.has(file)) return undefined;
    seen.add(file);
    for (const { specifier, typeOnly } of imports.get(file) ?? []) {
      if (typeOnly) continue;
      if (isNodeBuiltin(specifier)) return [relative(root, file), specifier];
      const target = resolveImport(file, specifier);
      const rest = target === undefined ? undefined : wayToNode(target, seen);
      if (rest !== undefined) return [relative(root, file), ...rest];
    }
    return undefined;
  };

  /** @param {string} file @param {Import} found @returns {string | undefined} */
  const offenceOf = (file, { specifier, typeOnly }) => {
    const folder = folderOf(file);
    const inBrowser = BROWSER.includes(folder) || relative(src, file) === "browser.ts";
    if (inBrowser && isNodeBuiltin(specifier)) {
      return `${relative(src, file)} runs in a browser and must not import Node's ${specifier}`;
    }
    const target = resolveImport(file, specifier);
    if (target === undefined) return undefined;
    const other = folderOf(target);
    if (
      other !== folder &&
      relative(src, target).startsWith("..") === false &&
      rowOf(other) >= rowOf(folder)
    ) {
      const direction = rowOf(other) === rowOf(folder) ? "sideways" : "up";
      return `imports point down only, and ${folder}/ to ${other}/ points ${direction}`;
    }
    // Files of browser folders are reported themselves; only the way out of those folders is reported here.
    const leaves = inBrowser && !typeOnly && !BROWSER.includes(other) && other !== "src";
    const chain = leaves ? wayToNode(target) : undefined;
    return (
      chain &&
      `${folder === "src" ? relative(src, file) : `${folder}/`} runs in a browser and must not reach Node (${chain.join(" -> ")})`
    );
  };

  const unknown = files.filter((file) => rowOf(folderOf(file)) < 0);
  return [
    ...unknown.map((file) => ({
      file,
      line: 1,
      description: `${folderOf(file)}/ has no row in scripts/check-imports.mjs`,
    })),
    ...[...imports].flatMap(([file, found]) =>
      found.flatMap((each) => {
        const description = offenceOf(file, each);
        return description === undefined || unknown.includes(file)
          ? []
          : [{ file, line: each.line, description }];
      }),
    ),
  ].map((offence) => ({ ...offence, file: relative(root, offence.file) }));
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = resolve(process.argv[2] ?? join(dirname(fileURLToPath(import.meta.url)), ".."));
  const offences = checkImports(root);
  for (const { file, line, description } of offences)
    process.stdout.write(`${file}:${line}: ${description}\n`);
  if (offences.length > 0)
    process.stdout.write(`${offences.length} imports break the rules of CONTRIBUTING.md\n`);
  process.exitCode = offences.length > 0 ? 1 : 0;
}
