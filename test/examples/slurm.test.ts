import { execFile, execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { FAIRBED } from "../cli/invoke.js";
import { needsDist, ROOT } from "../setup/dist.js";
import { describeWithPostgres } from "../setup/postgres.js";

needsDist();
const folder = mkdtempSync(join(tmpdir(), "fairbed-slurm-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SCRIPTS = join(ROOT, "examples", "slurm");
const [WORKER, SUBMIT] = ["worker.sbatch", "submit.sh"].map((name) => join(SCRIPTS, name));

/** Programs in the place of Slurm's: the array's tasks run here, at once, and every call is written down. */
const pathWithSlurm = (): { readonly path: string; readonly calls: () => readonly string[] } => {
  const bin = join(folder, "bin");
  const log = join(folder, "calls");
  mkdirSync(bin, { recursive: true });
  const program = (name: string, lines: readonly string[]) => {
    writeFileSync(join(bin, name), ["#!/bin/bash", "set -eu", ...lines, ""].join("\n"));
    chmodSync(join(bin, name), 0o755);
  };
  program("sbatch", [
    `echo "sbatch $*" >> "${log}"`,
    // biome-ignore-start lint/suspicious/noTemplateCurlyInString: for the shell
    'for word in "$@"; do case "$word" in --array=*) last=${word##*-} ;; esac; done',
    "for ((task = 1; task <= last; task++)); do",
    `  SLURM_ARRAY_TASK_ID=$task SLURM_CPUS_PER_TASK=2 bash "\${!#}" > "${folder}/task-$task" 2>&1 &`,
    // biome-ignore-end lint/suspicious/noTemplateCurlyInString: for the shell
    "done",
    "echo 4711",
  ]);
  program("srun", [`echo "srun $*" >> "${log}"`, 'exec "$@"']);
  program("fairbed", [`exec "${process.execPath}" "${FAIRBED}" "$@"`]);
  return {
    path: `${bin}${delimiter}${process.env.PATH}`,
    calls: () => (existsSync(log) ? readFileSync(log, "utf8").trimEnd().split("\n") : []),
  };
};

describe("the scripts", () => {
  test("are valid, and what Slurm reads stands before the first command", () => {
    for (const script of [WORKER, SUBMIT]) execFileSync("bash", ["-n", script]);
    const lines = readFileSync(WORKER, "utf8").split("\n");
    const directives = lines.filter((line) => line.startsWith("#SBATCH"));
    for (const line of directives) expect(line).toMatch(/^#SBATCH --[a-z-]+(=\S+)?$/);
    const command = lines.findIndex((line) => line !== "" && !line.startsWith("#"));
    expect(lines.slice(0, command).filter((line) => line.startsWith("#SBATCH"))).toEqual(directives);
  });

  test("say what they need", () => {
    const { FAIRBED_QUEUE: _, ...env } = process.env;
    for (const [script, words] of [
      [WORKER, []],
      [SUBMIT, ["2", "table-location"]],
    ] as const) {
      expect(() => execFileSync("bash", [script, ...words], { env, stdio: "pipe" })).toThrow(/FAIRBED_QUEUE/);
    }
    expect(() => execFileSync("bash", [SUBMIT], { env, stdio: "pipe" })).toThrow(/usage/);
  });

  test("give a worker the options that stand behind the script", () => {
    const env = { ...process.env, FAIRBED_QUEUE: "postgres://me@host/db", FAIRBED: "echo" };
    const bin = join(folder, "srun-only");
    mkdirSync(bin);
    writeFileSync(join(bin, "srun"), '#!/bin/bash\nexec "$@"\n', { mode: 0o755 });
    const path = `${bin}${delimiter}${process.env.PATH}`;
    const words = [WORKER, "--models", "/shared/my models"];
    const said = execFileSync("bash", words, { env: { ...env, PATH: path }, encoding: "utf8" });
    expect(said).toBe("worker --concurrency 1 --idle-exit 120 --models /shared/my models\n");
  });
});

describeWithPostgres("on a cluster of this machine", (server) => {
  test("the workers of an array run a table between them, and end by themselves", async () => {
    const { path, calls } = pathWithSlurm();
    const out = join(folder, "out");
    const words = [SUBMIT, "2", "table-location", "--quick", "--seeds", "1", "--json", "--out", out];
    const stdout = await new Promise<string>((resolve, reject) => {
      const env = { ...process.env, PATH: path, FAIRBED_QUEUE: server().address, FAIRBED_IDLE_EXIT: "10" };
      execFile("bash", words, { env }, (error, text) => (error === null ? resolve(text) : reject(error)));
    });
    expect(JSON.parse(stdout).cells).toEqual({ wanted: 5, ran: 5, stored: 5 });
    const ends = () => [1, 2].map((task) => readFileSync(join(folder, `task-${task}`), "utf8").trimEnd());
    const last = (text: string) => /: (\d+) done, in [\d.]+ s\.$/.exec(text)?.[1];
    await expect
      .poll(() => ends().every((text) => last(text) !== undefined), { timeout: 120_000 })
      .toBe(true);
    const done = ends().map((text) => Number(last(text)));
    expect(done[0] + done[1]).toBe(5);
    const worker = "srun fairbed worker --concurrency 2 --idle-exit 10";
    expect(calls()).toEqual([`sbatch --parsable --array=1-2 ${WORKER}`, worker, worker]);
  }, 240_000);
});
