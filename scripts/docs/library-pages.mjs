// @ts-check
/** The reference of the library, a page for each entry of the package, from its declarations and their doc comments. */
import { readFileSync } from "node:fs";
import { publicSurface } from "../public-surface.mjs";

/** @typedef {import("../public-surface.mjs").Exported} Exported */

const TITLES = /** @type {Record<string, string>} */ ({ ".": "fairbed" });
/** @param {string} entry */
const titleOf = (entry) => TITLES[entry] ?? `fairbed${entry.slice(1)}`;
/** @param {string} entry */
const nameOf = (entry) => (entry === "." ? "root" : entry.slice(2));

/** Words of a comment as Markdown: what is between backticks stays, tags and braces elsewhere mean nothing. @param {string} text */
const prose = (text) =>
  text
    .replace(/\{@link (\S+?)\}/g, "`$1`")
    .split(/(`[^`]*`)/)
    .map((part) =>
      part.startsWith("`") ? part : part.replace(/[&<>{}]/g, (sign) => `&#${sign.charCodeAt(0)};`),
    )
    .join("");

/** @param {string} doc the inside of a comment */
const markdown = (doc) =>
  doc
    .replace(/^[ \t]*\* ?/gm, "")
    .replace(/^@example\b.*$/gm, "**Example**\n")
    .split(/(^```[\s\S]*?^```$)/m)
    .map((part) => (part.startsWith("```") ? part : prose(part)))
    .join("")
    .trim();

/** @type {Map<string, string>} */
const sources = new Map();
/** @param {Exported} exported */
const declarationText = ({ place, declaration: { node } }) => {
  const source = sources.get(place.file) ?? readFileSync(place.file, "utf8");
  sources.set(place.file, source);
  return (
    source
      .slice(node.start, node.end)
      .replace(/^(export )?(declare )?/, "")
      // A build indents by one space; the star of a comment stands behind one of its own.
      .replace(/^ +(?=(\*?))/gm, (spaces, star) => " ".repeat(2 * spaces.length - (star === "*" ? 1 : 0)))
      .trim()
  );
};

/** The first sentence of a comment. @param {string} doc */
const summary = (doc) =>
  markdown(doc.replace(/@example[\s\S]*/, ""))
    .split(/(?<=\.)\s|\n\n/)[0]
    .replaceAll("\n", " ")
    .replaceAll("|", "\\|");

/** @param {Exported[]} exported all of one name: overloads, or a type and a value */
const section = (exported) => {
  const doc = exported.map(({ declaration }) => declaration.doc).find((each) => each !== "") ?? "";
  return [
    `## ${exported[0].name}`,
    "",
    ...(doc === "" ? [] : [markdown(doc), ""]),
    "```ts",
    ...exported.map(declarationText),
    "```",
    "",
  ];
};

/** @param {string} root of the package @returns {{ name: string, title: string, content: string }[]} */
export const libraryPages = (root) => {
  /** @type {Map<string, Map<string, Exported[]>>} */
  const entries = new Map();
  for (const exported of publicSurface(root)) {
    const names = entries.get(exported.entry) ?? new Map();
    entries.set(exported.entry, names);
    names.set(exported.name, [...(names.get(exported.name) ?? []), exported]);
  }
  return [...entries].map(([entry, names]) => {
    const all = [...names.values()];
    const values = all.filter((each) => each.some(({ declaration }) => !declaration.isType));
    const types = all.filter((each) => each.every(({ declaration }) => declaration.isType));
    return {
      name: nameOf(entry),
      title: titleOf(entry),
      content: [
        `# ${titleOf(entry)}`,
        "",
        "From the declarations and their comments. Every example here runs as it stands.",
        "",
        "| function or value | |",
        "| --- | --- |",
        ...values.map(
          ([{ name, declaration }]) => `| [${name}](#${name.toLowerCase()}) | ${summary(declaration.doc)} |`,
        ),
        "",
        ...values.flatMap(section),
        ...types.flatMap(section),
      ].join("\n"),
    };
  });
};
