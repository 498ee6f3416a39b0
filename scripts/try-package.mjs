// @ts-check
/**
 * Installs the packed tarball in empty folders, as users do, with several versions of Node from the npm registry, and
 * tries what is promised: no install scripts, no warnings, the library, the command line, CommonJS and the demo.
 *
 *     node scripts/try-package.mjs [--node 20.19,22,24,26] [--demo]
 *
 * Each Node gets a folder with nothing but the package and, where a step says so, an optional part. `--demo` also runs
 * `npx fairbed demo`, which takes half a minute. Needs the registry; nothing is published or written elsewhere.
 */
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    node: { type: "string", default: "20.19,22,24,26" },
    demo: { type: "boolean", default: false },
  },
});
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const work = mkdtempSync(join(tmpdir(), "fairbed-try-"));
process.on("exit", () => rmSync(work, { recursive: true, force: true }));

/** Settings of npm that the caller's own run sets are not those of a user. */
const plain = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_OPTIONS)/i.test(name)),
);
const npm =
  process.env.npm_execpath ??
  join(dirname(process.execPath), "..", "lib", "node_modules", "npm", "bin", "npm-cli.js");

/**
 * @param {string} program @param {readonly string[]} words
 * @param {{ cwd: string, node?: string, code?: number }} options
 */
const run = (program, words, { cwd, node = process.execPath, code = 0 }) => {
  const env = {
    ...plain,
    NO_COLOR: "1",
    FAIRBED_DEBUG: "",
    PATH: `${dirname(node)}${delimiter}${process.env.PATH}`,
  };
  const { status, stdout, stderr } = spawnSync(program, words, { cwd, env, encoding: "utf8" });
  if (status !== code) {
    throw new Error(
      `${[program, ...words].join(" ")} ended with ${status}, not ${code}:\n${stdout}${stderr}`,
    );
  }
  return { stdout, stderr };
};

/** @param {boolean} holds @param {string} sentence */
const require = (holds, sentence) => {
  if (!holds) throw new Error(sentence);
};

/** What npm says of the settings of a machine, which are no matter of the package. */
const SETTINGS = /Unknown (?:builtin|global|user|project|env) config/;

/** Files of a folder in bytes. @param {string} folder */
const weight = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);

/** A release of Node in a folder of its own, without its install script. @param {string} version */
const installNode = (version) => {
  const folder = join(work, `node ${version}`);
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), "{}");
  const name = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
  run(process.execPath, [npm, "install", "--silent", "--ignore-scripts", `${name}@${version}`], {
    cwd: folder,
  });
  const program = join(
    folder,
    "node_modules",
    name,
    "bin",
    process.platform === "win32" ? "node.exe" : "node",
  );
  require(existsSync(program), `the package ${name}@${version} has no Node in it`);
  return program;
};

const CSV = `age,skill,sex,hired\n${Array.from({ length: 240 }, (_, i) => {
  const [skill, sex] = [(i * 7) % 20, i % 2 === 0 ? "f" : "m"];
  return `${20 + ((i * 13) % 40)},${skill},${sex},${skill + (sex === "m" ? 4 : 0) > 11 ? "yes" : "no"}`;
}).join("\n")}\n`;

const LIBRARY = `import { acquisition, auditTable, parseTable } from "fairbed";
import { readTable } from "fairbed/sources";
import { readFileSync } from "node:fs";
const task = { target: "hired=yes", sensitive: ["sex"] };
const [parsed, read] = [await parseTable(readFileSync("people.csv", "utf8")), await readTable("people.csv")];
if (parsed.rows !== 240 || read.rows !== 240) throw new Error("the table has other rows");
const { attributes } = await auditTable(parsed, { ...task, adversaries: ["logistic"] });
console.log(attributes.length, typeof acquisition);
`;
const COMMON = `const { parseTable } = require("fairbed");
parseTable("a,b\\n1,2\\n").then(({ rows }) => console.log(rows));
`;
const IMPORTED = `import("fairbed")
  .then(({ parseTable }) => parseTable("a,b\\n1,2\\n"))
  .then(({ rows }) => console.log(rows));
`;

/** @param {string} version @param {string} tarball */
const tryOn = (version, tarball) => {
  const node = installNode(version);
  const cwd = join(work, `project ${version}`);
  mkdirSync(cwd);
  // As an empty folder is: npm makes the rest.
  const started = performance.now();
  const installed = run(node, [npm, "install", "--foreground-scripts", "--no-fund", "--no-audit", tarball], {
    cwd,
    node,
  });
  const seconds = (performance.now() - started) / 1000;
  const said = (installed.stdout + installed.stderr)
    .split("\n")
    .filter((line) => /warn|deprecated|> /i.test(line) && !SETTINGS.test(line));
  require(said.length === 0, `npm install says what frightens or runs scripts:\n${said.join("\n")}`);
  const modules = join(cwd, "node_modules");
  const scripts = JSON.parse(readFileSync(join(modules, ".package-lock.json"), "utf8")).packages;
  const withScript = Object.entries(scripts).filter(([, { hasInstallScript }]) => hasInstallScript);
  require(withScript.length ===
    0, `packages with install scripts: ${withScript.map(([name]) => name).join(", ")}`);
  writeFileSync(join(cwd, "people.csv"), CSV);

  // Declarations of a command's own shell scripts differ by platform; the program below them does not.
  const fairbed = join(modules, "fairbed", "bin", "fairbed");
  const command = (/** @type {readonly string[]} */ words, code = 0) =>
    run(node, [fairbed, ...words], { cwd, node, code });
  const { version: own } = JSON.parse(readFileSync(join(modules, "fairbed", "package.json"), "utf8"));
  require(command(["--version"]).stdout === `${own}\n`, "fairbed --version says another version");
  command(["info", "--json"]);
  const described = JSON.parse(command(["data", "describe", "people.csv", "--json"]).stdout);
  require(described.rows === 240, "fairbed data describe counts other rows");
  command([
    "design",
    "optimize",
    "--model",
    "linear-gaussian",
    "--steps",
    "5",
    "--starts",
    "1",
    "--out",
    "design.json",
  ]);
  command(["studio", "--save", "page"]);
  require(existsSync(join(cwd, "page", "index.html")), "fairbed studio --save writes no page");
  // A format that needs an optional part names the command that installs it.
  const refused = command(["data", "describe", "people.csv", "--query", "SELECT * FROM data"], 1);
  require(/^fairbed: [^\n]*npm install @duckdb\/node-api[^\n]*\n$/.test(
    refused.stderr,
  ), `not the sentence expected: ${refused.stderr}`);

  writeFileSync(join(cwd, "library.mjs"), LIBRARY);
  require(run(node, ["library.mjs"], { cwd, node }).stdout === "1 function\n", "the library does not work");
  writeFileSync(join(cwd, "common.cjs"), COMMON);
  writeFileSync(join(cwd, "imported.cjs"), IMPORTED);
  for (const file of ["common.cjs", "imported.cjs"]) {
    const { stdout } = run(node, ["--no-warnings", file], { cwd, node });
    require(stdout === "1\n", `${file} prints ${stdout}`);
  }
  if (values.demo) {
    const words = [join(dirname(npm), "npx-cli.js"), "--no-install", "fairbed", "demo", "--quiet"];
    const { stdout } = run(node, words, { cwd, node });
    require(stdout.includes("npm install vega"), "npx fairbed demo does not say what its report needs");
  }
  const running = run(node, ["--version"], { cwd }).stdout.trim();
  const packages = Object.keys(scripts).length;
  const megabytes = (weight(modules) / 1e6).toFixed(1);
  process.stdout.write(
    `Node ${running}: installed in ${seconds.toFixed(1)} s, ${packages} packages, ${megabytes} MB; everything works\n`,
  );
};

const { stdout } = run(
  process.execPath,
  [npm, "pack", "--silent", "--ignore-scripts", "--pack-destination", work],
  { cwd: root },
);
const tarball = join(work, stdout.trim());
process.stdout.write(`${stdout.trim()}: ${(statSync(tarball).size / 1e6).toFixed(2)} MB\n`);
for (const version of values.node.split(",")) tryOn(version.trim(), tarball);
