// @ts-check
/**
 * Adds to the lock file the packages of other platforms that the registry did not offer when it was written.
 *
 *     node scripts/complete-lock.mjs [--check]
 *
 * npm leaves optional packages that it cannot fetch out of the lock file, and `npm ci` then calls the file out of
 * step and refuses everywhere. An entry with the version and the platform, which is all that their names tell, is
 * enough for npm to pass over them. Run it after `npm install`; `--check` only says what is missing.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/**
 * @typedef {object} Entry
 * @property {string} [version]
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

if (process.argv.includes("--check")) {
  for (const { name } of missing) process.stdout.write(`package-lock.json has no entry for ${name}\n`);
  process.exitCode = missing.length > 0 ? 1 : 0;
} else {
  for (const { name, version, dev } of missing) {
    const { cpu, libc, os } = platformOf(name);
    // In npm's own order; what is undefined is not written.
    lock.packages[`node_modules/${name}`] = { version, cpu, dev, libc, optional: true, os };
  }
  const sorted = Object.entries(lock.packages).sort(([left], [right]) => left.localeCompare(right, "en"));
  if (missing.length > 0) {
    writeFileSync(
      file,
      `${JSON.stringify({ ...lock, packages: Object.fromEntries(sorted) }, undefined, 2)}\n`,
    );
  }
}
