/** Runs one command line from its words to its exit code. */
import { Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { writeFileAtomically } from "./atomic-write.js";
import type { Command, CommandContext } from "./command.js";
import { describeFailure, type Failure, failureText } from "./failure.js";
import { type Interruption, watchForInterruption } from "./interruption.js";
import { buildProgram, Finished, type Invocation } from "./program.js";
import { type Progress, progressStyle, startProgress } from "./progress.js";
import { toJson } from "./to-json.js";

export interface CommandLine {
  readonly commands: readonly Command[];
  readonly version: string;
  /** Without the interpreter and the program. */
  readonly argv: readonly string[];
}

/** Resolves to the exit code; everything it has to say is flushed by then. */
export const runCommandLine = async ({ commands, version, argv }: CommandLine): Promise<number> => {
  const interruption = watchForInterruption();
  const failed = (error: unknown) => report(error, interruption, wantsJson(argv));
  const stray = async (error: Error) => {
    // The reader went away (`fairbed info | head -1`): nobody is left to tell.
    const unread = "code" in error && error.code === "EPIPE";
    const exitCode = unread ? 0 : failed(error);
    if (!unread) await flush();
    process.exit(exitCode);
  };
  process.on("uncaughtException", stray);
  const program = buildProgram({
    commands,
    version,
    stdout: process.stdout,
    stderr: process.stderr,
    run: (invocation) => perform(invocation, interruption),
  });
  try {
    await program.parseAsync(argv, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof Finished) return error.exitCode;
    return failed(error);
  } finally {
    await flush();
    interruption.stop();
    process.off("uncaughtException", stray);
  }
};

const perform = async ({ command, input, json, quiet }: Invocation, interruption: Interruption) => {
  const { signal } = interruption;
  let progress: Progress | undefined;
  const context: CommandContext = {
    signal,
    async checkpoint() {
      await setImmediate();
      signal.throwIfAborted();
    },
    progress(label, total) {
      if (!command.reportsProgress) throw new Error(`${command.name} does not say that it reports progress`);
      progress?.end();
      const style = progressStyle(process.stderr, quiet || json);
      progress = startProgress({ stream: process.stderr, style, label, total });
      return progress;
    },
    writeFile: (path, data) => writeFileAtomically(path, data, { signal }),
  };
  const result = await command.run({ ...input, context }).finally(() => progress?.end());
  signal.throwIfAborted();
  if (command.print === undefined) return;
  process.stdout.write(`${json ? toJson(result) : command.print(result).trimEnd()}\n`);
};

/**
 * One sentence on stderr; with `--json` also `{ "error": { "code", "message" } }` on stdout, so that stdout is
 * always exactly one JSON document.
 */
const report = (error: unknown, interruption: Interruption, json: boolean): number => {
  const interrupted = interruption.exitCode();
  const { code, message, exitCode }: Failure =
    interrupted === undefined
      ? describeFailure(error)
      : { code: "interrupted", message: failureText.interrupted, exitCode: interrupted };
  process.stderr.write(`fairbed: ${message}\n`);
  if (process.env.FAIRBED_DEBUG === "1" && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  if (json) process.stdout.write(`${toJson({ error: { code, message } })}\n`);
  return exitCode;
};

/** Asked of the words themselves, because a mistake may have stopped the parser before it saw `--json`. */
const wantsJson = (argv: readonly string[]): boolean => {
  const end = argv.indexOf("--");
  return (end < 0 ? argv : argv.slice(0, end)).includes("--json");
};

/** Output to a pipe is written behind the program's back; an exit before that would cut it off. */
const flush = () =>
  Promise.all(
    [process.stdout, process.stderr]
      .filter(isPipe)
      .map((stream) => new Promise((done) => stream.write("", done))),
  );

/** Files are written at once, and one that failed (a full disk) would never answer. */
const isPipe = (stream: NodeJS.WriteStream): boolean => stream instanceof Socket;
