// @ts-check
/**
 * The public API, one line an export with its signature, so that a change to it is seen where it is read.
 *
 *     npm run -s build && node scripts/public-api.mjs [--check]
 *
 * Writes `docs/public-api.txt` from the declarations that ship. `--check` writes nothing and says what differs.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseSync } from "vite";
import { publicSurface } from "./public-surface.mjs";

const FILE = "docs/public-api.txt";

/** A declaration on one line, without comments. @param {string} file @param {{ start: number, end: number }} node */
const signature = (file, { start, end }) => {
  const source = readFileSync(file, "utf8");
  const { comments } = parseSync(file, source);
  let text = source.slice(start, end);
  for (const each of comments.toReversed()) {
    if (each.start >= start && each.end <= end) {
      text = text.slice(0, each.start - start) + text.slice(each.end - start);
    }
  }
  return text.replace(/\s+/g, " ").replace(/^declare /, "");
};

/** @param {string} root */
export const publicApi = (root) => {
  const lines = publicSurface(root).map(({ entry, name, declaration, place }) => {
    const said = place.file.endsWith(".d.ts") ? signature(place.file, declaration.node) : place.file;
    const type = declaration.isType ? "type " : "";
    const own =
      place.name === name
        ? ""
        : ` (${relative(join(root, "dist"), place.file).replaceAll("\\", "/")}: ${place.name})`;
    return `fairbed${entry.slice(1)} ${type}${name}${own}: ${said}`;
  });
  return `${[...new Set(lines)].sort().join("\n")}\n`;
};

/** @param {string} recorded @param {string} now */
export const apiDifference = (recorded, now) => {
  const [before, after] = [recorded, now].map((text) => new Set(text.split("\n")));
  return [
    ...[...before].filter((line) => !after.has(line)).map((line) => `- ${line}`),
    ...[...after].filter((line) => !before.has(line)).map((line) => `+ ${line}`),
  ].sort((a, b) => (a.slice(2) < b.slice(2) ? -1 : 1));
};

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const path = join(root, FILE);
  const now = publicApi(root);
  if (process.argv.includes("--check")) {
    const lines = apiDifference(readFileSync(path, "utf8"), now);
    for (const line of lines) process.stdout.write(`${line}\n`);
    process.exitCode = lines.length === 0 ? 0 : 1;
  } else {
    writeFileSync(path, now);
  }
}
