/** The shipped command line with commands that only tests need. */
import { defineCommand } from "../../dist/cli/command.js";
import { argument, choice, flag, integer, outFile, real, text } from "../../dist/cli/options.js";
import { runCommandLine } from "../../dist/cli/run.js";
import { EnvironmentError, InputError } from "../../dist/core/errors.js";

const nothing = { group: "Probes", summary: "for tests", examples: [], arguments: {}, options: {} };

const fail = defineCommand({
  ...nothing,
  name: "fail",
  arguments: { how: argument("the kind of failure") },
  async run({ arguments: { how } }) {
    if (how === "input") throw new InputError("shape", "3 rows were given and 4 expected.");
    if (how === "environment") throw new EnvironmentError("no-simd", "this machine has no SIMD.");
    throw new TypeError("x is not\na function");
  },
  print: () => "",
});

const echo = defineCommand({
  ...nothing,
  name: "echo",
  options: {
    loud: flag("--loud", "shout"),
    name: text("--name <name>", "any text"),
    sampleCount: integer("--sample-count <number>", "how many", 7, { min: 1 }),
    beta: real("--beta <number>", "the weight", 0.5, { min: 0, max: 1 }),
    objective: choice("--objective <name>", "what to maximise", ["mean", "worst"], "mean"),
  },
  async run({ options }) {
    return { ...options, numbers: new Float32Array([1, 2]) };
  },
  print: (result) => JSON.stringify(result),
});

/** Writes half of a file, says so on stdout, and never comes to the other half. */
const write = defineCommand({
  ...nothing,
  name: "write",
  options: { out: outFile("--out <file>", "the file") },
  async run({ options: { out: file }, context }) {
    const slowly = async function* () {
      yield "half";
      process.stdout.write("writing\n");
      for (;;) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        yield ".";
      }
    };
    await context.writeFile(file, slowly());
  },
});

/** Waits for ever without listening to the signal. */
const deaf = defineCommand({
  ...nothing,
  name: "deaf",
  async run() {
    process.stdout.write("waiting\n");
    await new Promise((resolve) => setTimeout(resolve, 1e6));
  },
});

/** A busy loop that gives way only at checkpoints. */
const busy = defineCommand({
  ...nothing,
  name: "busy",
  async run({ context }) {
    process.stdout.write("working\n");
    for (;;) {
      const until = performance.now() + 20;
      while (performance.now() < until);
      await context.checkpoint();
    }
  },
});

const steps = defineCommand({
  ...nothing,
  name: "steps",
  reportsProgress: true,
  async run({ context }) {
    const progress = context.progress("steps", 50);
    for (let step = 1; step <= 50; step++) {
      progress.update(step);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return { steps: 50 };
  },
  print: () => "50 steps done",
});

const big = defineCommand({
  ...nothing,
  name: "big",
  async run() {
    return { lines: Array.from({ length: 200_000 }, (_, index) => index) };
  },
  print: ({ lines }) => lines.join("\n"),
});

/** Fails where no promise of the command's sees it. */
const stray = defineCommand({
  ...nothing,
  name: "stray",
  async run() {
    setTimeout(() => {
      throw new Error("lost");
    }, 1);
    await new Promise((resolve) => setTimeout(resolve, 1e6));
  },
  print: () => "",
});

/** Holds the thread for ever, as a long fit or a model of the user's may; also in the middle of a file. */
const held = defineCommand({
  ...nothing,
  name: "held",
  options: { out: outFile("--out <file>", "the file") },
  async run({ options: { out: file }, context }) {
    const parts = async function* () {
      yield "half";
      process.stdout.write("holding\n");
      for (;;);
    };
    await context.writeFile(file, parts());
  },
});

/** Waits for what never comes. */
const stuck = defineCommand({
  ...nothing,
  name: "stuck",
  async run() {
    await new Promise(() => {});
  },
  print: () => "",
});

/** Dies as it would by a panic in a binding. */
const crash = defineCommand({
  ...nothing,
  name: "crash",
  async run() {
    process.kill(process.pid, "SIGABRT");
    await new Promise((resolve) => setTimeout(resolve, 1e6));
  },
  print: () => "",
});

const HOSTILE = "\u001b[2J\u009b31m\u0007\u202etxt.exe\u2066\nfairbed: all is well\r";

/** Names as an enemy would choose them, on every way out. */
const hostile = defineCommand({
  ...nothing,
  name: "hostile",
  arguments: { how: argument("print, fail or say") },
  reportsProgress: true,
  async run({ arguments: { how }, context }) {
    if (how === "fail") throw new InputError("name", `there is no column ${HOSTILE}`);
    if (how === "say") context.say(HOSTILE);
    return { name: HOSTILE, [HOSTILE]: [HOSTILE] };
  },
  print: (result) => [result.name, ...Object.keys(result), ...Object.values(result).flat()].join("\n"),
});

const commands = [held, stuck, crash, hostile, stray, fail, echo, write, deaf, busy, steps, big];
process.exit(await runCommandLine({ commands, version: "0.0.0", argv: process.argv.slice(2) }));
