// @ts-check
/**
 * The licences of all packages in the lock file: what is used, installed on request or only for development.
 *
 *     node scripts/licences.mjs [--check]
 *
 * Writes `docs/licences.md`. Fails on a licence that is unknown or asks for more than to be named, unless the package
 * stands in `EXCEPTIONS` with the reason why it may; `--check` also fails where the page is out of date, and writes
 * nothing. Versions are left out of the page, so that it changes when a package or a licence does.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";

/**
 * @typedef {"needed" | "optional" | "on request" | "development"} Use
 * @typedef {object} Entry
 * @property {string | undefined} [license]
 * @property {boolean} [link]
 * @property {Record<string, string>} [dependencies]
 * @property {Record<string, string>} [optionalDependencies]
 * @property {Record<string, string>} [peerDependencies]
 * @property {Record<string, string>} [devDependencies]
 * @typedef {Readonly<Record<string, Entry>>} Packages
 * @typedef {{ name: string, licence: string, use: Use }} Licensed
 */

/** Ask for no more than that they and their authors are named. */
const ALLOWED = new Set([
  ...["0BSD", "Apache-2.0", "BlueOak-1.0.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT"],
  ...["Python-2.0", "Unlicense", "Zlib"],
]);

/** @type {readonly { name: RegExp, licences: readonly string[], uses: readonly Use[], reason: string }[]} */
const EXCEPTIONS = [
  {
    name: /^@img\/sharp-/,
    licences: ["LGPL-3.0-or-later"],
    uses: ["on request", "development"],
    reason:
      "libvips is a shared library that sharp loads; it is neither linked into FairBED nor shipped with it, and a user who wants images installs it",
  },
  {
    name: /^lightningcss/,
    licences: ["MPL-2.0"],
    uses: ["development"],
    reason: "a part of Vite, which runs tests and benchmarks; nothing of it ships",
  },
  {
    name: /^axe-core$/,
    licences: ["MPL-2.0"],
    uses: ["development"],
    reason: "checks in tests that everybody can use the page; nothing of it ships",
  },
  {
    name: /^caniuse-lite$/,
    licences: ["CC-BY-4.0"],
    uses: ["development"],
    reason: "a table that webpack reads, with which tests bundle the library; nothing of it ships",
  },
];

/** @type {readonly (readonly [Use, string])[]} */
const USES = [
  ["needed", "Installed with FairBED, which does not run without them."],
  ["optional", "Installed with FairBED where the platform has them."],
  ["on request", "Not installed with FairBED; a message names them where they are needed."],
  [
    "development",
    "For tests, checks and benchmarks, and to build the page. Those of which something is in the built page are named, with their licences, in dist/studio/licences.md; nothing of the others ships.",
  ],
];

/** The words of an expression that are licences, all of which must be accepted; of alternatives, the first that is.
 * @param {string} expression @param {(licence: string) => boolean} accepts */
export const isAccepted = (expression, accepts) =>
  expression
    .replace(/^\((.*)\)$/, "$1")
    .split(" OR ")
    .some((alternative) => alternative.split(" AND ").every((licence) => accepts(licence)));

/** Where an import of `name` from the package at `path` leads.
 * @param {Packages} packages @param {string} path @param {string} name */
const resolved = (packages, path, name) => {
  for (let from = path; ; from = from.slice(0, Math.max(0, from.lastIndexOf("node_modules/") - 1))) {
    const found = from === "" ? `node_modules/${name}` : `${from}/node_modules/${name}`;
    if (packages[found] !== undefined) return found;
    if (from === "") return undefined;
  }
};

/** All packages that these lead to.
 * @param {Packages} packages @param {readonly string[]} names */
export const reached = (packages, names) => {
  /** @type {Set<string>} */
  const found = new Set();
  const left = names.map((name) => ({ path: "", name }));
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const path = resolved(packages, next.path, next.name);
    if (path === undefined || found.has(path)) continue;
    found.add(path);
    const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = packages[path];
    const further = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
    for (const name of further) left.push({ path, name });
  }
  return found;
};

/** Every package once, with its licence and the first use that needs it.
 * @param {Packages} packages
 * @returns {readonly Licensed[]} */
export const licencesOf = (packages) => {
  const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = packages[""];
  const needed = reached(packages, Object.keys(dependencies));
  const optional = reached(packages, Object.keys(optionalDependencies));
  const onRequest = reached(packages, Object.keys(peerDependencies));
  /** @type {Map<string, Licensed>} */
  const found = new Map();
  for (const [path, { license, link }] of Object.entries(packages)) {
    if (path === "" || link === true) continue;
    const name = path.replace(/^.*node_modules\//, "");
    const licence = license ?? "unknown";
    const use = needed.has(path)
      ? "needed"
      : optional.has(path)
        ? "optional"
        : onRequest.has(path)
          ? "on request"
          : "development";
    found.set(JSON.stringify([name, licence, use]), { name, licence, use });
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
};

/** One sentence for each package that may not be used.
 * @param {Packages} packages
 * @returns {readonly string[]} */
export const licenceOffences = (packages) =>
  licencesOf(packages)
    .filter(
      ({ name, licence, use }) =>
        !isAccepted(
          licence,
          (one) =>
            ALLOWED.has(one) ||
            EXCEPTIONS.some(
              (each) => each.name.test(name) && each.licences.includes(one) && each.uses.includes(use),
            ),
        ),
    )
    .map(
      ({ name, licence, use }) =>
        `${name} (${use}) has the licence ${licence}, which is unknown or asks for too much: use another package, or add it to scripts/licences.mjs with the reason why it may be used`,
    );

/** The page.
 * @param {Packages} packages */
export const licencesPage = (packages) => {
  const all = licencesOf(packages);
  const lines = [
    "# Licences",
    "",
    "FairBED itself is under the Apache License 2.0. These are the licences of every package that it uses, as the",
    "packages state them. Made by `node scripts/licences.mjs` from the lock file; CI fails on a licence that is unknown",
    "or asks for more than to be named, and where this page is out of date.",
    "",
    "Exceptions:",
    "",
    ...EXCEPTIONS.map(
      ({ name, licences, reason }) =>
        `- \`${`${name.source.replace(/[\\^]/g, "")}*`.replace("$*", "")}\` (${licences.join(", ")}): ${reason}.`,
    ),
  ];
  for (const [use, words] of USES) {
    const own = all.filter((each) => each.use === use);
    lines.push("", `## ${use[0].toUpperCase()}${use.slice(1)}`, "", words, "");
    lines.push("| package | licence |", "| --- | --- |");
    lines.push(...own.map(({ name, licence }) => `| ${name} | ${licence} |`));
  }
  return `${lines.join("\n")}\n`;
};

/** @param {string} path */
const inRoot = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  /** @type {{ packages: Packages }} */
  const { packages } = JSON.parse(readFileSync(inRoot("package-lock.json"), "utf8"));
  const page = inRoot("docs/licences.md");
  const offences = [...licenceOffences(packages)];
  if (!process.argv.includes("--check")) writeFileSync(page, licencesPage(packages));
  else if (readFileSync(page, "utf8") !== licencesPage(packages)) {
    offences.push("docs/licences.md is out of date: run node scripts/licences.mjs");
  }
  for (const offence of offences) process.stdout.write(`${offence}\n`);
  process.exitCode = offences.length > 0 ? 1 : 0;
}
