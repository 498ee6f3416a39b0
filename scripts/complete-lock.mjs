// @ts-check
/**
 * Adds to the lock file what npm leaves out of it: packages of other platforms, and integrity hashes.
 *
 *     node scripts/complete-lock.mjs [--check]
 *
 * npm leaves optional packages that the registry does not offer out of the lock file, and `npm ci` then calls the file
 * out of step and refuses everywhere. Each gets an entry with the platform that its name tells, and the licence and
 * integrity hash that the registry has for it; entries without a hash get theirs too. Where the registry does not have
 * a package, there is nothing to vouch for it, and the script fails: choose versions whose platforms are all there.
 * Run it after `npm install`; `--check` asks nobody and only says what is missing.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * @typedef {object} Entry
 * @property {string} [version]
 * @property {string} [integrity]
 * @property {string | undefined} [license]
 * @property {boolean} [link]
 * @property {boolean | undefined} [dev]
 * @property {boolean} [optional]
 * @property {string[] | undefined} [cpu]
 * @property {string[] | undefined} [libc]
 * @property {string[] | undefined} [os]
 * @property {Record<string, string>} [optionalDependencies]
 */

const SYSTEMS = [
  "aix",
  "android",
  "darwin",
  "freebsd",
  "linux",
  "netbsd",
  "openbsd",
  "openharmony",
  "sunos",
  "win32",
];
const PROCESSORS = [
  "arm64",
  "arm",
  "ia32",
  "loong64",
  "mips64el",
  "ppc64",
  "riscv64",
  "s390x",
  "wasm32",
  "x64",
];
/** @type {Record<string, string>} */
const LIBRARIES = { gnu: "glibc", gnueabihf: "glibc", musl: "musl", musleabihf: "musl" };

/** @param {string[]} words */
const unlessEmpty = (words) => (words.length > 0 ? words : undefined);

/** The platform in a name such as `@rolldown/binding-linux-arm64-gnu`.
 * @param {string} name */
const platformOf = (name) => {
  const words = (name.split("/").pop() ?? "").split("-");
  const os = SYSTEMS.filter((system) => words.includes(system));
  const cpu = PROCESSORS.filter((processor) => words.includes(processor));
  const libc = os.includes("linux") ? words.flatMap((word) => LIBRARIES[word] ?? []) : [];
  if (os.length === 0 && cpu.length === 0) throw new Error(`the name of ${name} does not tell its platform`);
  return { cpu: unlessEmpty(cpu), libc: unlessEmpty(libc), os: unlessEmpty(os) };
};

const file = fileURLToPath(new URL("../package-lock.json", import.meta.url));
/** @type {{ packages: Record<string, Entry> }} */
const lock = JSON.parse(readFileSync(file, "utf8"));

const missing = Object.values(lock.packages).flatMap(({ dev, optionalDependencies = {} }) =>
  Object.entries(optionalDependencies)
    .filter(([name]) => lock.packages[`node_modules/${name}`] === undefined)
    .map(([name, range]) => ({ name, version: range.replace(/^[\^~]/, ""), dev })),
);

const PREFIX = /^.*node_modules\//;
const withoutHash = Object.entries(lock.packages)
  .filter(([path, { integrity, link }]) => path !== "" && link !== true && integrity === undefined)
  .map(([path, { version = "" }]) => ({ path, name: path.replace(PREFIX, ""), version }));

/** What the registry says of one version.
 * @param {string} name @param {string} version
 * @returns {{ integrity: string, license: string | undefined }} */
const published = (name, version) => {
  const words = ["view", `${name}@${version}`, "dist.integrity", "license", "--json", "--loglevel=error"];
  const { stdout } = spawnSync("npm", words, { encoding: "utf8" });
  /** @type {{ "dist.integrity"?: string, license?: string }} */
  const found = stdout.trim() === "" ? {} : JSON.parse(stdout);
  const integrity = found["dist.integrity"];
  if (integrity === undefined) {
    process.stderr.write(
      `the registry has no integrity hash of ${name}@${version}: choose a version that it has for every platform\n`,
    );
    process.exit(1);
  }
  return { integrity, license: found.license };
};

if (process.argv.includes("--check")) {
  for (const { name } of missing) process.stdout.write(`package-lock.json has no entry for ${name}\n`);
  for (const { path } of withoutHash)
    process.stdout.write(`package-lock.json has no integrity hash for ${path}\n`);
  process.exitCode = missing.length + withoutHash.length > 0 ? 1 : 0;
} else {
  for (const { name, version, dev } of missing) {
    const { cpu, libc, os } = platformOf(name);
    const { integrity, license } = published(name, version);
    // In npm's own order; what is undefined is not written.
    lock.packages[`node_modules/${name}`] = {
      ...{ version, integrity, cpu, dev, libc, license },
      ...{ optional: true, os },
    };
  }
  for (const { path, name, version } of withoutHash) {
    const { version: _, ...rest } = lock.packages[path];
    lock.packages[path] = { version, ...published(name, version), ...rest };
  }
  const sorted = Object.entries(lock.packages).sort(([left], [right]) => left.localeCompare(right, "en"));
  if (missing.length + withoutHash.length > 0) {
    writeFileSync(
      file,
      `${JSON.stringify({ ...lock, packages: Object.fromEntries(sorted) }, undefined, 2)}\n`,
    );
  }
}
