// @ts-check
/**
 * Compiles `src/` into `dist/` and builds the page into `dist/studio/`, silently unless something is wrong.
 *
 * The compiler writes beside `dist/` and the result replaces it in one step, so that files of deleted sources
 * never ship and a program that is reading `dist/` meanwhile does not see it half-built. When nothing changed,
 * `dist/` is left alone.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, "dist");
// Beside `dist/`, so that what source maps say of where the sources are stays true when it takes its place.
const fresh = join(root, `.dist-${process.pid}`);
const old = `${fresh}-old`;

/** @param {string} folder */
const filesUnder = (folder) =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length))
    .sort();

/** @param {string} left @param {string} right */
const sameContents = (left, right) => {
  if (!existsSync(right)) return false;
  const names = filesUnder(left);
  if (names.join("\n") !== filesUnder(right).join("\n")) return false;
  return names.every((name) => readFileSync(left + name).equals(readFileSync(right + name)));
};

const compile = () => {
  const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");
  const options = [tsc, "-p", join(root, "tsconfig.build.json"), "--outDir", fresh];
  // The compiler's complaints go to stderr: the stdout of `npm run -s bench -- --json` must stay pure JSON.
  return spawnSync(process.execPath, options, { stdio: ["ignore", 2, 2] }).status ?? 1;
};

/** The page, beside the library. */
const buildPage = () => {
  const vite = join(dirname(createRequire(import.meta.url).resolve("vite/package.json")), "bin", "vite.js");
  return (
    spawnSync(process.execPath, [vite, "build", "--config", join(root, "vite.studio.config.ts")], {
      stdio: ["ignore", 2, 2],
      env: { ...process.env, FAIRBED_STUDIO_OUT: join(fresh, "studio") },
    }).status ?? 1
  );
};

try {
  process.exitCode = compile() || buildPage();
  if (process.exitCode === 0 && !sameContents(fresh, dist)) {
    if (existsSync(dist)) renameSync(dist, old);
    renameSync(fresh, dist);
  }
} finally {
  for (const folder of [fresh, old]) rmSync(folder, { recursive: true, force: true });
}
