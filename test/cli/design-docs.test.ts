/** The commands of docs/design.md run as they stand, with less work. */

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { needsDist, ROOT } from "../setup/dist.js";
import { FAIRBED } from "./invoke.js";

needsDist();
const folder = mkdtempSync(join(tmpdir(), "fairbed-docs-"));
afterAll(() => rmSync(folder, { recursive: true }));

const page = readFileSync(join(ROOT, "docs", "design.md"), "utf8");
const blocks = (language: string) =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, "g"))].map((match) => match[1]);

const evaluation = "--outer 4 --inner 50 --batches 2";
const LESS: Readonly<Record<string, string>> = {
  optimize: `--steps 4 --starts 1 --quiet ${evaluation}`,
  // The last of an option wins: a sweep of one cell.
  sweep: `--steps 4 --starts 1 --quiet ${evaluation} --betas 0.8 --horizons 2 --seeds 1`,
  evaluate: `--quiet ${evaluation}`,
  next: "",
};

const shell = (line: string) =>
  spawnSync("bash", ["-c", line], { cwd: folder, encoding: "utf8", env: { ...process.env, FAIRBED } });

const run = (line: string) => {
  const command = line.replace(
    /^fairbed design (\w+)(.*)$/,
    (_, name: string, rest: string) => `"${process.execPath}" "$FAIRBED" design ${name}${rest} ${LESS[name]}`,
  );
  const { status, stderr } = shell(command);
  expect({ line, status, stderr }).toEqual({ line, status: 0, stderr: "" });
};

test("every command of the page", () => {
  const lines = blocks("sh").flatMap((block) => block.trim().split("\n"));
  expect(lines.length).toBeGreaterThanOrEqual(7);
  // What four steps leak is no matter here: the budget is one that they meet.
  for (const line of lines) run(line.replace("--budget-nats 0.3", "--budget-nats 50"));
}, 300_000);

test("the model and the history of the page", () => {
  writeFileSync(join(folder, "my-model.ts"), blocks("ts")[0]);
  run("fairbed design optimize --model ./my-model.ts --horizon 2 --out mine.json");
  run("fairbed design optimize --model location --horizon 3 --out three.json");
  writeFileSync(join(folder, "two.json"), blocks("json")[0]);
  run("fairbed design next three.json --history two.json");
  writeFileSync(join(folder, "none.json"), "[]");
  run("fairbed design next mine.json --history none.json");
});

test("the program of the page", () => {
  run("fairbed design optimize --model location --horizon 2 --out program.json");
  const given = `import { readFileSync } from "node:fs";
    const bytes = readFileSync("program.json");
    const measure = async (x, y) => 0.1 * x - 0.1 * y;`;
  mkdirSync(join(folder, "node_modules"));
  symlinkSync(ROOT, join(folder, "node_modules", "fairbed"));
  writeFileSync(
    join(folder, "program.mjs"),
    `${given}\n${blocks("js")[0]}\nconsole.log(theta.role, session.history.length);`,
  );
  const { stdout, stderr } = shell(`"${process.execPath}" program.mjs`);
  expect({ stdout, stderr }).toEqual({ stdout: "target 2\n", stderr: "" });
});
