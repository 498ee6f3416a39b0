// @ts-check
/**
 * Runs the blocks of a page, one after the other, in a folder of their own and, as far as it goes, in this process. The
 * folder has the checkout's `bin/` and `examples/`, and the tables of `docs/public/data`.
 */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { format } from "node:util";
import { transform } from "sucrase";
import { agrees, blocksOf, promised, runs, simpleWords } from "./blocks.mjs";
import { ROOT } from "./pages.mjs";

/**
 * @typedef {import("./blocks.mjs").Block} Block
 * @typedef {{ block: Block, printed: string, problem: string | undefined, seconds: number }} Ran
 * @typedef {{ ran: Ran[], notRun: { block: Block, reason: string }[], unmarked: Block[] }} PageRun
 */

/** Processor time of this process so far, in seconds. */
export const processorTime = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

/** What is written by this process while `work` runs. @param {() => Promise<unknown>} work */
const captured = async (work) => {
  const [out, err, log] = [process.stdout.write, process.stderr.write, console.log];
  const parts = { stdout: "", stderr: "" };
  /** @param {"stdout" | "stderr"} name @returns {any} */
  const into =
    (name) =>
    (/** @type {unknown} */ data, /** @type {unknown[]} */ ...rest) => {
      parts[name] +=
        typeof data === "string" ? data : Buffer.from(/** @type {Uint8Array} */ (data)).toString();
      const done = rest.at(-1);
      if (typeof done === "function") done();
      return true;
    };
  process.stdout.write = into("stdout");
  process.stderr.write = into("stderr");
  console.log = (...values) => {
    parts.stdout += `${format(...values)}
`;
  };
  try {
    const value = await work();
    return { value, ...parts };
  } finally {
    process.stdout.write = out;
    process.stderr.write = err;
    console.log = log;
  }
};

/** Lines of a shell block; a backslash at the end joins it with the next. @param {string} code */
const commandLines = (code) =>
  code
    .replace(/\\\n\s*/g, "")
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.trim().startsWith("#"));

/** @param {string} folder @param {string} code @returns {Promise<{ printed: string, problem: string | undefined }>} */
const runShell = async (folder, code) => {
  const lines = commandLines(code);
  const commands = lines.map(simpleWords);
  if (commands.every((each) => each?.[0] === "fairbed")) {
    const { runCommandLine } = await import(pathToFileURL(join(ROOT, "dist/cli/run.js")).href);
    const { allCommands } = await import(pathToFileURL(join(ROOT, "dist/cli/main.js")).href);
    const known = await allCommands();
    let printed = "";
    for (const [i, argv] of commands.entries()) {
      const { value, stdout, stderr } = await captured(() =>
        runCommandLine({ commands: known, version: "docs", argv: argv?.slice(1) }),
      );
      printed += stdout;
      if (value !== 0) return { printed, problem: `${lines[i]}\n${stderr.trim()}` };
    }
    return { printed, problem: undefined };
  }
  const env = { ...process.env, PATH: join(folder, ".bin") + delimiter + process.env.PATH };
  const { status, stdout, stderr } = spawnSync("bash", ["-euc", code], {
    cwd: folder,
    encoding: "utf8",
    env,
  });
  return { printed: stdout, problem: status === 0 ? undefined : stderr.trim() || `exit code ${status}` };
};

/** Between the programs of a page that go on where the one before ended. */
const NEXT = "\u0001";

/** @param {string} folder @param {string} code @param {string} name */
const runProgram = async (folder, code, name) => {
  const file = join(folder, `${name}.mjs`);
  writeFileSync(file, transform(code, { transforms: ["typescript"], disableESTransforms: true }).code);
  /** @type {string | undefined} */
  let problem;
  const { stdout } = await captured(() =>
    import(pathToFileURL(file).href).catch((error) => {
      problem = String(error?.stack ?? error);
    }),
  );
  return { printed: stdout, problem };
};

/** @param {Block} block @param {string} printed @returns {string | undefined} */
const disagreement = ({ code, language, output }, printed) => {
  if (output !== undefined && !agrees(output.text, printed)) return `prints\n${printed.trimEnd()}`;
  if (language === "sh") return undefined;
  const lines = printed.split("\n");
  for (const [i, text] of promised(code).entries()) {
    if (text !== undefined && !agrees(text, lines[i] ?? "")) return `prints ${lines[i]} instead of ${text}`;
  }
  return undefined;
};

/** @param {string} text of a page @returns {Promise<PageRun>} */
export const runPage = async (text) => {
  const folder = mkdtempSync(join(tmpdir(), "fairbed-docs-"));
  const before = { folder: process.cwd(), store: process.env.FAIRBED_STORE };
  cpSync(join(ROOT, "docs/public/data"), folder, { recursive: true });
  for (const name of ["bin", "examples"]) symlinkSync(join(ROOT, name), join(folder, name));
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(ROOT, join(folder, "node_modules", "fairbed"));
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  mkdirSync(join(folder, ".bin"));
  const shim = `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, "bin/fairbed")}" "$@"\n`;
  writeFileSync(join(folder, ".bin", "fairbed"), shim, { mode: 0o755 });
  process.chdir(folder);
  delete process.env.FAIRBED_STORE;
  /** @type {PageRun} */
  const result = { ran: [], notRun: [], unmarked: [] };
  try {
    const blocks = blocksOf(text);
    for (const [at, block] of blocks.entries()) {
      const started = processorTime();
      const { language, code, marks } = block;
      if (marks["not run"] !== undefined) result.notRun.push({ block, reason: marks["not run"] });
      else if (marks.file !== undefined) {
        mkdirSync(dirname(join(folder, marks.file)), { recursive: true });
        writeFileSync(join(folder, marks.file), `${code}\n`);
      } else if (!runs(block)) result.unmarked.push(block);
      else if (language === "sh") {
        const given = marks.given === undefined ? undefined : await runShell(folder, marks.given);
        const extra = marks["run with"];
        const shorter =
          extra === undefined
            ? code
            : commandLines(code)
                .map((line) => (/^fairbed /.test(line) ? `${line.replace(/\s+#.*$/, "")} ${extra}` : line))
                .join("\n");
        const { printed, problem } = given?.problem === undefined ? await runShell(folder, shorter) : given;
        const seconds = processorTime() - started;
        result.ran.push({
          block,
          printed: printed.replaceAll(folder, "…"),
          problem: problem ?? disagreement(block, printed),
          seconds,
        });
      } else if (marks.continues === undefined) {
        const chain = [block];
        for (let next = at + 1; blocks[next]?.marks.continues !== undefined; next++) chain.push(blocks[next]);
        const program = chain
          .map((each) => `${each.marks.given ?? ""}\n${each.code}`)
          .join(`\nconsole.log("${NEXT}");\n`);
        const { printed, problem } = await runProgram(folder, program, `block-${block.line}`);
        const parts = printed.split(`${NEXT}\n`);
        for (const [i, each] of chain.entries()) {
          const own = parts[i] ?? "";
          const seconds = (processorTime() - started) / chain.length;
          result.ran.push({
            block: each,
            printed: own,
            problem: problem ?? disagreement(each, own),
            seconds,
          });
        }
      }
    }
  } finally {
    process.chdir(before.folder);
    if (before.store !== undefined) process.env.FAIRBED_STORE = before.store;
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
  return result;
};
