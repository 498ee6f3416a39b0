// @ts-check
/**
 * The software bill of materials (CycloneDX): what is installed with FairBED, by the lock file, and what is built into
 * its page, by the list of licences that the build wrote.
 *
 *     npm run -s build && node scripts/sbom.mjs [--check]
 *
 * Writes `sbom.cdx.json`; `--check` fails where that is out of date, and writes nothing. It has no date and no number of
 * its own, so that the same packages give the same file.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { reached } from "./licences.mjs";

const at = (/** @type {string} */ path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const read = (/** @type {string} */ path) => readFileSync(at(path), "utf8");

const nameOf = (/** @type {string} */ path) => path.replace(/^.*node_modules\//, "");
const purl = (/** @type {string} */ name, /** @type {string} */ version) =>
  `pkg:npm/${name.replace("@", "%40")}@${version}`;

const manifest = JSON.parse(read("package.json"));
const { packages } = JSON.parse(read("package-lock.json"));
const needed = reached(packages, Object.keys(manifest.dependencies));
const inPage = [...read("dist/studio/licences.md").matchAll(/^## (\S+) (\S+) \(.*\)$/gm)].map(
  ([, name, version]) => {
    const path = Object.keys(packages).find(
      (each) => nameOf(each) === name && packages[each].version === version,
    );
    if (path === undefined) throw new Error(`${name} ${version} is in the page and not in package-lock.json`);
    return path;
  },
);

const components = [...new Set([...needed, ...inPage])]
  .map((path) => {
    const { version, license, integrity } = packages[path];
    const [algorithm, hash] = integrity.split("-");
    if (algorithm !== "sha512") throw new Error(`${path} has no SHA-512 hash`);
    const name = nameOf(path);
    const isSimple = /^[\w.-]+$/.test(license);
    return {
      type: "library",
      "bom-ref": purl(name, version),
      name,
      version,
      scope: "required",
      hashes: [{ alg: "SHA-512", content: Buffer.from(hash, "base64").toString("hex") }],
      licenses: [isSimple ? { license: { id: license } } : { expression: license }],
      purl: purl(name, version),
      properties: [
        { name: "fairbed:use", value: needed.has(path) ? "installed with it" : "built into its page" },
      ],
    };
  })
  .sort((a, b) => (a.purl < b.purl ? -1 : 1));

const document = JSON.stringify({
  $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
  bomFormat: "CycloneDX",
  specVersion: "1.6",
  version: 1,
  metadata: {
    component: {
      type: "library",
      "bom-ref": purl(manifest.name, manifest.version),
      name: manifest.name,
      version: manifest.version,
      licenses: [{ license: { id: manifest.license } }],
      purl: purl(manifest.name, manifest.version),
    },
  },
  components: [],
  dependencies: [
    { ref: purl(manifest.name, manifest.version), dependsOn: components.map((each) => each["bom-ref"]) },
  ],
});
// A line for each component, so that a change is seen; without indentation, since it ships.
const lines = components.map((each) => JSON.stringify(each)).join(",\n");
const text = `${document.replace('"components":[]', () => `"components":[\n${lines}\n]`)}\n`;

if (!process.argv.includes("--check")) writeFileSync(at("sbom.cdx.json"), text);
else if (read("sbom.cdx.json") !== text) {
  process.stdout.write("sbom.cdx.json is out of date: run npm run -s build && node scripts/sbom.mjs\n");
  process.exitCode = 1;
}
