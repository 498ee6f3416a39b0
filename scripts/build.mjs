// @ts-check
/**
 * Compiles `src/` into `dist/`, builds the page into `dist/studio/` and makes both small, silently unless something is
 * wrong. With `--readable` the modules keep their lines and names, for a debugger.
 *
 * The compiler writes beside `dist/` and the result replaces it in one step, so that files of deleted sources
 * never ship and a program that is reading `dist/` meanwhile does not see it half-built. When nothing changed,
 * `dist/` is left alone; when the sources, the tools and `dist/` are as they were after the last build, nothing is
 * compiled.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { shrinkBuild } from "./shrink-build.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, "dist");
// Beside `dist/`, so that what source maps say of where the sources are stays true when it takes its place.
const fresh = join(root, `.dist-${process.pid}`);
const old = `${fresh}-old`;

const isReadable = process.argv.includes("--readable");

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

/** What `dist/` is made from and by, beside `src/`; the lock file names the tools. */
const INPUTS = [
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "tsconfig.build.json",
  "vite.studio.config.ts",
  "scripts/build.mjs",
  "scripts/page-licences.mjs",
  "scripts/prune-declarations.mjs",
  "scripts/public-surface.mjs",
  "scripts/shrink-build.mjs",
];
/** In a folder that is nobody's work, so that it neither ships nor is committed. */
const stamp = join(root, "node_modules", ".fairbed-build");

/** Of everything that goes into a build, and of what came out of it. */
const stateOfBuild = () => {
  const hash = createHash("sha256").update(process.version);
  const add = (/** @type {string} */ path) => hash.update(`\0${path}\0`).update(readFileSync(path));
  for (const name of INPUTS) add(join(root, name));
  for (const folder of [join(root, "src"), dist]) {
    if (existsSync(folder)) for (const name of filesUnder(folder)) add(folder + name);
  }
  return hash.digest("hex");
};

const isBuilt = () => existsSync(stamp) && existsSync(dist) && readFileSync(stamp, "utf8") === stateOfBuild();

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

const build = () => {
  try {
    const before = stateOfBuild();
    process.exitCode = compile() || buildPage();
    if (process.exitCode !== 0) return;
    shrinkBuild(root, fresh, { readable: isReadable });
    const isChanged = !sameContents(fresh, dist);
    // Sources that changed meanwhile are built again next time.
    const isCurrent = stateOfBuild() === before;
    if (isChanged) {
      if (existsSync(dist)) renameSync(dist, old);
      renameSync(fresh, dist);
    }
    rmSync(stamp, { force: true });
    if (isCurrent && !isReadable) writeFileSync(stamp, stateOfBuild());
  } finally {
    for (const folder of [fresh, old]) rmSync(folder, { recursive: true, force: true });
  }
};

if (isReadable || !isBuilt()) build();
