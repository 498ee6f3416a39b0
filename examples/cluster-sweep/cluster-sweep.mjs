/**
 * A sweep over beta on several machines: the frontier between what an experiment tells and what it gives away.
 *
 * For: somebody who has more policies to train than one machine can, and other machines that lend a few hours. Three
 * processes stand for the machines; one of them is told to end in the middle of its work, as a cluster does with jobs of
 * low priority. On a real cluster each is `fairbed worker`, started by whoever starts jobs there (examples/slurm).
 *
 * Run: FAIRBED_QUEUE=postgres://user@host:5432/database node cluster-sweep.mjs (about half a minute). The queue is a
 * PostgreSQL database in which the user may create a schema; nothing has to be set up in it. It must not have been a queue
 * before: what it knows already would not be computed again. It also needs two packages: npm install pg pg-boss
 *
 * What is printed: the frontier, computed by the machines that were left; whether any cell was lost; and whether the
 * policies are the same, byte for byte, as on this machine alone. They are: who computed a cell makes no difference.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

if (!process.env.FAIRBED_QUEUE) {
  console.error(
    "Set FAIRBED_QUEUE to the address of a PostgreSQL database, such as postgres://user@host:5432/database.",
  );
  process.exit(2);
}
const PROGRAM = fileURLToPath(new URL("bin/fairbed", import.meta.resolve("fairbed/package.json")));

/** Begins a command of fairbed; `done` is what it printed. */
const fairbed = (words, { queue = process.env.FAIRBED_QUEUE, errors = "inherit" } = {}) => {
  const env = { ...process.env, FAIRBED_QUEUE: queue };
  const child = spawn(process.execPath, [PROGRAM, ...words], { env, stdio: ["ignore", "pipe", errors] });
  let printed = "";
  child.stdout.on("data", (part) => {
    printed += part;
  });
  return { child, done: new Promise((resolve) => child.once("close", (code) => resolve({ code, printed }))) };
};

const counts = async () => {
  const { code, printed } = await fairbed(["queue", "status", "--json"]).done;
  if (code !== 0) process.exit(code);
  return JSON.parse(printed).counts;
};
if (Object.values(await counts()).some((count) => count > 0)) {
  console.error(
    "This database was a queue before. Use an empty one, or empty it with DROP SCHEMA fairbed_queue CASCADE.",
  );
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), "fairbed-sweep-"));
const machines = [];
const machine = () => {
  const worker = fairbed(["worker", "--idle-exit", "300", "--quiet"], { errors: "ignore" });
  machines.push(worker);
  return worker;
};
// Short training, so that this takes seconds; leave out the sizes for a sweep that counts.
const sweep = (name, queue) =>
  fairbed(
    [
      ...["design", "sweep", "--model", "location", "--betas", "0,0.5,1", "--horizons", "3"],
      ...["--steps", "300", "--starts", "4", "--outer", "50", "--inner", "2000", "--batches", "4"],
      ...["--figures", "none", "--quiet", "--out", join(folder, name)],
    ],
    { queue },
  );
const policies = (name) =>
  readdirSync(join(folder, name, "policies"))
    .sort()
    .map((file) => readFileSync(join(folder, name, "policies", file), "utf8"));

try {
  const asking = sweep("together");
  const preempted = machine();
  let ended = false;
  asking.done.then(() => {
    ended = true;
  });
  while (!ended && (await counts()).running === 0) await new Promise((resolve) => setTimeout(resolve, 100));
  preempted.child.kill("SIGTERM");
  machine();
  machine();
  const together = await asking.done;
  // Without the last lines, which say where the files are.
  console.log(together.printed.slice(0, together.printed.indexOf(folder)).trimEnd());
  const { done, failed } = await counts();
  console.log(
    `\nOne of three machines was told to end while it worked: ${done} cells done, ${failed} failed.`,
  );
  const alone = await sweep("alone", "").done;
  if (together.code !== 0 || alone.code !== 0) throw new Error("a sweep failed; what it said is above");
  const [there, here] = [policies("together"), policies("alone")];
  const same = there.length === here.length && there.every((text, i) => text === here[i]);
  console.log(
    `The ${here.length} policies are ${same ? "the same, byte for byte, as" : "not those"} of this machine alone.`,
  );
} finally {
  for (const { child } of machines) child.kill("SIGTERM");
  await Promise.all(machines.map(({ done }) => done));
  rmSync(folder, { recursive: true });
}
